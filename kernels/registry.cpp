// From the generated list of families to ops: looking one up, and parsing signatures against all of
// them.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>
#include <kiln/signature.hpp>

#include <fmt/format.h>

#include "kernels/family.hpp"
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

const Family& find_family(std::string_view op) {
  std::vector<std::string_view> names;
  for (const Family* family : families()) {
    for (const OpSpec* spec : family->ops()) {
      if (spec->name == op) return *family;
      names.push_back(spec->name);
    }
  }
  throw Error{ErrorCode::unknown_op,
              fmt::format("no family serves op {}{}; known: {}",
                          quote(op),
                          did_you_mean(op, names),
                          names.empty() ? std::string("none") : listed(names))};
}

Signature Signature::parse(std::string_view text) { return parse_signature(text, op_specs()); }

Signature Signature::parse_json(std::string_view json) {
  return parse_signature_json(json, op_specs());
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
