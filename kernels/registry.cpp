// From the generated list of families to ops: looking one up, and parsing signatures against all of
// them.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/signature.hpp>

#include <fmt/format.h>

#include "kernels/family.hpp"
#include "src/core/canonical.hpp"
#include "src/core/diagnostics.hpp"
#include "src/core/op_spec.hpp"

namespace kiln {

std::vector<const OpSpec*> op_specs() {
  std::vector<const OpSpec*> all;
  for (const Family* family : families()) {
    for (const OpSpec* op : family->ops()) all.push_back(op);
  }
  return all;
}

namespace {

const OpSpec* find_in(const Family& family, std::string_view op) {
  if (family.find_op != nullptr) return family.find_op(op);
  for (const OpSpec* spec : family.ops()) {
    if (spec->name == op) return spec;
  }
  return nullptr;
}

// The other ops are made only for the error.
const OpSpec& known_op(std::string_view name, std::string_view where) {
  if (const OpSpec* op = find_op_spec(name)) return *op;
  return find_op(name, where, op_specs());
}

}  // namespace

const OpSpec* find_op_spec(std::string_view op) {
  for (const Family* family : families()) {
    if (const OpSpec* spec = find_in(*family, op)) return spec;
  }
  return nullptr;
}

const Family& find_family(std::string_view op) {
  for (const Family* family : families()) {
    if (find_in(*family, op) != nullptr) return *family;
  }
  std::vector<std::string_view> names;
  for (const OpSpec* spec : op_specs()) names.push_back(spec->name);
  throw Error{ErrorCode::unknown_op,
              fmt::format("no family serves op {}{}; known: {}",
                          quote(op),
                          did_you_mean(op, names),
                          names.empty() ? std::string("none") : listed(names))};
}

Signature Signature::parse(std::string_view text) { return parse_signature(text, known_op); }

Signature Signature::parse_json(std::string_view json) {
  return parse_signature_json(json, known_op);
}

KernelCall& CallList::add() {
  if (count >= kCapacity) {
    throw Error{ErrorCode::internal,
                fmt::format("a launch makes at most {} kernel calls", kCapacity)};
  }
  KernelCall& call = calls[static_cast<std::size_t>(count)];
  // A list is reused when a launch is re-bound: nothing of the former call may stay.
  call = KernelCall{};
  ++count;
  return call;
}

}  // namespace kiln
