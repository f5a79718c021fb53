// A program's operations as device code: one statement a node, every rounding spelled out.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/mix_order_reduction/program.hpp"
#include "kernels/mix_order_reduction/shape.hpp"

namespace kiln::mix_order_reduction {

// Names in the printed code, of one element or of one row:
//   m: matrices   v: row vectors   c: row values   u: scalars   s: row sums   q: column sums
//   o: matrix outputs   inverse_n
class Printer {
 public:
  Printer(const Program& program, const Shape& shape) : program_(program), shape_(shape) {}

  // What is done with an element: its share of a pass's row sums s; its matrix outputs o; its share
  // of the column sums q of a pass, or of all of them.
  struct Uses {
    static constexpr int kNone = -1, kAll = -2;
    int row_pass = kNone;
    bool outputs = false;
    int column_pass = kNone;
  };
  [[nodiscard]] std::string element(const Uses& uses) const;
  // The row values c that are known once `passes` passes are over; s holds the last one's sums.
  [[nodiscard]] std::string know(int passes) const;
  // The nodes that element() reads or computes.
  [[nodiscard]] std::vector<bool> read(const Uses& uses) const;

 private:
  using Known = std::function<bool(int)>;

  [[nodiscard]] bool row_value(int i) const;
  [[nodiscard]] bool adds(const Uses& uses, std::size_t column_sum) const;
  [[nodiscard]] std::vector<int> roots(const Uses& uses) const;
  [[nodiscard]] std::string statements(const std::vector<int>& roots, const Known& known) const;
  [[nodiscard]] std::string join(Reduction reduction, std::string_view into, int a, int b) const;
  [[nodiscard]] std::string name(int i) const;
  [[nodiscard]] std::string input(int tensor) const;
  [[nodiscard]] std::string operation(const Node& node) const;

  const Program& program_;
  const Shape& shape_;
  mutable int passes_ = -1;         // while know() prints: row sums of that pass are s
  mutable std::vector<int> local_;  // the number of each node that is printed
};

}  // namespace kiln::mix_order_reduction
