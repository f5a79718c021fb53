// What an element of a program costs.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/program.hpp"

namespace kiln::mix_order_reduction {

using Kind = Node::Kind;

int flops_per_element(const Program& program) {
  int flops = 0;
  for (const Node& node : program.nodes) {
    if (node.kind == Kind::row_sum) flops += node.b >= 0 ? 2 : 1;
    if (node.extent != Extent::matrix) continue;
    switch (node.kind) {
      case Kind::fma:
        flops += 2;
        break;
      case Kind::exp:
      case Kind::log:
      case Kind::tanh:
      case Kind::sigmoid:
      case Kind::erf:
        flops += 20;  // about what elementary.hpp comes to
        break;
      case Kind::abs:
      case Kind::sqrt:
      case Kind::add:
      case Kind::subtract:
      case Kind::multiply:
      case Kind::divide:
      case Kind::min:
      case Kind::max:
        flops += 1;
        break;
      case Kind::input:
      case Kind::constant:
      case Kind::inverse_n:
      case Kind::negate:
      case Kind::round:
      case Kind::less:
      case Kind::less_equal:
      case Kind::equal:
      case Kind::not_equal:
      case Kind::select:
      case Kind::row_sum:
        break;
    }
  }
  for (const ColumnSum& sum : program.column_sums) flops += sum.b >= 0 ? 2 : 1;
  return flops;
}

}  // namespace kiln::mix_order_reduction
