// The keys of a described op's signatures: their kinds, defaults, and how a signature is completed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/mix_order_reduction/description.hpp"

namespace kiln::mix_order_reduction {

// Throws Error{invalid_source} for a key that is declared twice, has a name that signatures use for
// something else, or means two things; and for a number of rows that no tensor gives.
void check_keys(const Description& description);

// Adds the keys that tensors name to those that are declared, sorts them, and fills in kinds and
// defaults. Throws Error{invalid_source} for a default that the key cannot have.
void complete_keys(Description& description);

// n and the description's keys, sorted by name. Views into the description.
[[nodiscard]] std::vector<KeySpec> key_specs(const Description& description);

// Fills empty values: the key's default; that of a type that accumulates is f32. Throws
// Error{invalid_signature} where a tensor that is there has no type, or a flag says to accumulate
// and every such output is absent.
void complete_signature(const Description& description, Signature& signature);

}  // namespace kiln::mix_order_reduction
