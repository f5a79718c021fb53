// Problems and the double-precision reference of an op, from its description.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/evaluate.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/registry.hpp"

namespace kiln::mix_order_reduction {

Problem problem(const Signature& signature, std::int64_t rows) {
  const Program program = specialise(description_of(signature.op), signature);
  return problem_of(program, signature.integer("n"), rows);
}

std::vector<Expected> reference(const Signature& signature,
                                std::int64_t rows,
                                std::span<const HostTensor> tensors) {
  const Program program = specialise(description_of(signature.op), signature);
  return evaluate(program, signature.integer("n"), rows, tensors);
}

}  // namespace kiln::mix_order_reduction
