// Every signature of every op, a kernel for each entry that one of them names.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/composed_source.hpp"

#include <map>
#include <vector>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/composed_formula.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"

namespace kiln::mix_order_reduction {
namespace {

// Every combination of what the keys choose, as far as the op allows it; n aside.
std::vector<Signature> signatures(const OpSpec& op) {
  std::vector<std::string> texts{std::string(op.name) + ":n=1"};
  for (const KeySpec& key : op.keys) {
    std::vector<std::string> values;
    if (key.kind == KeySpec::Kind::flag) values = {"0", "1"};
    for (const std::string_view choice : key.choices) values.emplace_back(choice);
    if (values.empty()) continue;
    std::vector<std::string> next;
    for (const std::string& text : texts) {
      for (const std::string& value : values)
        next.push_back(fmt::format("{},{}={}", text, key.name, value));
    }
    texts = std::move(next);
  }
  const OpSpec* const list[] = {&op};
  std::vector<Signature> out;
  for (const std::string& text : texts) {
    try {
      out.push_back(parse_signature(text, list));
    } catch (const Error& error) {
      if (error.code != ErrorCode::invalid_signature) throw;  // keys that contradict each other
    }
  }
  return out;
}

std::string kernel(std::string_view entry, std::string_view body) {
  return fmt::format(
      "extern \"C\" __global__ void __launch_bounds__(256)\n"
      "    {}(const __grid_constant__ ReductionParameters p) {{\n  {}(p);\n}}\n\n",
      entry,
      body);
}

constexpr std::string_view kPrelude =
    "#include \"kernels/mix_order_reduction/composed.cuh\"\n\n"
    "using namespace kiln::mix_order_reduction;\n\n";

std::string part_kernel(const Program& program,
                        const Shape& shape,
                        Part part,
                        const std::string& entry) {
  const std::string name = "formula_" + entry;
  return composed_formula(program, shape, part, name) +
         kernel(entry, fmt::format("{}<{}>", composed_body(shape, part), name));
}

}  // namespace

Source composed_kernel(const Op& op, const std::string& entry) {
  for (const Part part : {Part::rows, Part::columns}) {
    if (entry == composed_entry(op.name, op.program, op.shape, part))
      return {std::string(kPrelude) + part_kernel(op.program, op.shape, part, entry), entry};
  }
  if (entry == kFinishEntry)
    return {std::string(kPrelude) + kernel(kFinishEntry, "composed_finish"), entry};
  throw Error(ErrorCode::internal, fmt::format("{} has no composed kernel {}", op.name, entry));
}

std::string composed_source() {
  std::string out =
      "// The composed route: any n at run time, small kernels, the bits of the fused ones.\n"
      "// Generated from ops/*.json; KILN_UPDATE_GOLDENS=1 renews it in the tests of the family.\n"
      "// SPDX-License-Identifier: Apache-2.0\n"
      "// clang-format off\n";
  out += kPrelude;
  std::map<std::string, std::string> kernels;
  const auto add = [&](const Program& program, const Shape& shape, std::string_view op, Part part) {
    const std::string entry = composed_entry(op, program, shape, part);
    const std::string text = part_kernel(program, shape, part, entry);
    const auto [found, fresh] = kernels.try_emplace(entry, text);
    if (!fresh && found->second != text)
      throw Error(ErrorCode::internal, "two kernels are called " + entry);
  };
  for (const OpSpec* spec : op_specs()) {
    const OpSpec& op = *spec;
    if (!is_builtin(op.name)) continue;
    for (const Signature& signature : signatures(op)) {
      const Program program = specialise(description_of(op.name), signature);
      const Shape shape = shape_of(program);
      if (has_rows(shape)) add(program, shape, op.name, Part::rows);
      if (!shape.column_sums.empty()) add(program, shape, op.name, Part::columns);
    }
  }
  for (const auto& [entry, text] : kernels) out += text;
  out += kernel(kFinishEntry, "composed_finish");
  out.pop_back();
  return out;
}

}  // namespace kiln::mix_order_reduction
