// What a description comes to for one choice of types and flags, kept for the signatures that
// choose alike.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/mix_order_reduction/program.hpp"
#include "kernels/mix_order_reduction/shape.hpp"

namespace kiln::mix_order_reduction {

// Made when it is first asked for. No lock: who comes at the same time makes it for itself alone.
template <class T>
class MadeOnce {
 public:
  MadeOnce() = default;
  ~MadeOnce() { delete made_.load(); }
  MadeOnce(const MadeOnce&) = delete;
  MadeOnce& operator=(const MadeOnce&) = delete;

  template <class Make>
  const T& get(Make&& make) const {
    if (const T* made = made_.load(std::memory_order_acquire)) return *made;
    auto mine = std::make_unique<const T>(make());
    const T* first = nullptr;
    if (made_.compare_exchange_strong(first, mine.get(), std::memory_order_acq_rel))
      return *mine.release();
    return *first;
  }

 private:
  mutable std::atomic<const T*> made_{nullptr};
};

// Of the composed kernels; empty where there is no such part.
struct ComposedEntries {
  std::string rows, columns;
};

// All that signatures with these keys have in common, whatever their n.
class Variant {
 public:
  // Throws Error{invalid_source} as specialise() and shape_of() do.
  Variant(const Description& description, const Signature& signature);
  Variant(const Variant&) = delete;
  Variant& operator=(const Variant&) = delete;

  [[nodiscard]] bool serves(const Signature& signature) const noexcept;
  // "_bf16_f32": types in the order in which tensors name them, then the flags that are set.
  [[nodiscard]] const std::string& types() const noexcept { return types_; }
  // fused_formula() of these, made when it is first asked for.
  [[nodiscard]] const std::string& formula() const;
  // composed_entry() of each part, likewise; `op` is the description's.
  [[nodiscard]] const ComposedEntries& composed_entries(std::string_view op) const;

  const Program program;
  const Shape shape;

 private:
  const std::vector<std::pair<std::string, std::string>> keys_;  // n aside
  const std::string types_;
  MadeOnce<std::string> formula_;
  MadeOnce<ComposedEntries> composed_;
};

// The variants of one description, which never changes: what is kept cannot go stale. Bounded, and
// nothing goes; those that come when it is full are made each time. No locks: a process may fork
// while a thread is in here.
class Variants {
 public:
  static constexpr std::size_t kMost = 64;

  Variants() = default;
  ~Variants();
  Variants(const Variants&) = delete;
  Variants& operator=(const Variants&) = delete;

  [[nodiscard]] std::shared_ptr<const Variant> of(const Description& description,
                                                  const Signature& signature);

 private:
  using Kept = std::shared_ptr<const Variant>;
  std::array<std::atomic<const Kept*>, kMost> kept_{};  // filled from the front
};

}  // namespace kiln::mix_order_reduction
