// Fuzzes descriptions: a checked one that can be specialised and evaluated, or a typed error.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/description.hpp"
#include "kernels/mix_order_reduction/emulate.hpp"
#include "kernels/mix_order_reduction/evaluate.hpp"
#include "tests/fuzz/targets.hpp"

namespace kiln::fuzz {
namespace {

namespace mix = mix_order_reduction;

void check_text(const mix::Statement& statement) {
  const std::string text = mix::to_string(statement);
  try {
    expect(mix::to_string(mix::parse_statement(text, "text")) == text,
           "a statement's text is the statement");
  } catch (const Error& error) {
    // Brackets may make it longer or deeper than a statement may be, and nothing else.
    const bool limit = error.detail.find("nested more than") != std::string::npos ||
                       error.detail.find("at most") != std::string::npos;
    expect(limit, "a statement's text is a statement");
  }
}

// With every key given, or none.
Signature signature_of(const mix::Description& description, bool given) {
  std::set<std::string> types, flags;
  for (const auto* tensors : {&description.inputs, &description.outputs}) {
    for (const mix::TensorDescription& t : *tensors) {
      if (!parse_dtype(t.type)) types.insert(t.type);
      if (!t.given.empty()) flags.insert(t.given);
      if (!t.accumulate.empty()) flags.insert(t.accumulate);
    }
  }
  Signature out;
  out.op = description.op;
  for (const std::string& key : types)
    out.keys.push_back({key, given || !flags.contains(key) ? "bf16" : "none"});
  for (const std::string& key : flags) {
    if (!types.contains(key)) out.keys.push_back({key, given ? "1" : "0"});
  }
  return out;
}

void check_program(const mix::Description& description, bool given) {
  constexpr std::int64_t kColumns = 3, kRows = 2;
  const mix::Program program = mix::specialise(description, signature_of(description, given));
  for (const mix::Node& node : program.nodes) {
    const int place = static_cast<int>(&node - program.nodes.data());
    expect(node.a < place && node.b < place && node.c < place, "operands come before users");
  }
  std::vector<HostTensor> tensors;
  for (const TensorSpec& spec : mix::problem_of(program, kColumns, kRows).tensors) {
    std::size_t elements = 1;
    for (const std::int64_t extent : spec.shape) elements *= static_cast<std::size_t>(extent);
    tensors.push_back({spec.name, spec.shape, std::vector<double>(elements, 0.75)});
  }
  const auto expected = mix::evaluate(program, kColumns, kRows, tensors);
  const auto made = mix::emulate(program, kColumns, kRows, tensors);
  expect(expected.size() == made.size(), "one result an output");
  for (std::size_t o = 0; o < made.size(); ++o)
    expect(expected[o].values.size() == made[o].values.size(), "one value an element");
}

}  // namespace

void description(std::span<const std::byte> bytes) {
  try {
    check_text(mix::parse_statement(text_of(bytes), "statement"));
  } catch (const Error& error) {
    expect(error.code == ErrorCode::invalid_source, "a bad statement is invalid source");
  }
  try {
    const mix::Description read = mix::parse_description(text_of(bytes), "description");
    for (const mix::Statement& statement : read.formula) check_text(statement);
    check_program(read, true);
    check_program(read, false);
  } catch (const Error& error) {
    expect(error.code == ErrorCode::invalid_source, "a bad description is invalid source");
  }
}

}  // namespace kiln::fuzz
