// Every described op: those that the build embeds, and those that a process registers.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/mix_order_reduction/description.hpp"
#include "kernels/mix_order_reduction/variants.hpp"

namespace kiln::mix_order_reduction {

// Descriptions and specs live as long as the process. All of these may be called from any thread,
// and in a child that was forked meanwhile.

// Throws Error{internal} for an op that is not described.
[[nodiscard]] const Description& description_of(std::string_view op);
// What the description of its op comes to for a signature. Throws Error{internal} as well.
[[nodiscard]] std::shared_ptr<const Variant> variant_of(const Signature& signature);
// ops/*.json.
[[nodiscard]] bool is_builtin(std::string_view op);

// Reads every description that is built in.
[[nodiscard]] std::vector<const OpSpec*> op_specs();
// Reads the one of this op alone; null for one that is not described.
[[nodiscard]] const OpSpec* find_op_spec(std::string_view op);

// Adds the description's op to the family's and returns its name. `where` names the text in errors.
// Registering the same text again does nothing. Throws Error{invalid_source} for a mistake in the
// text, or when another description or another family has the op already.
std::string register_description(std::string_view json, std::string_view where);

}  // namespace kiln::mix_order_reduction
