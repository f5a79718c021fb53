// What tests of the typed front ends share: whether the signature and the tensors of one are those
// of the description.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <kiln/arguments.hpp>
#include <kiln/error.hpp>
#include <kiln/signature.hpp>

#include "kernels/mix_order_reduction/op.hpp"
#include "tests/testing.hpp"

namespace kiln::mix_order_reduction::testing {

inline constexpr std::int64_t kRows = 3, kN = 24;
inline constexpr double kEps = 0.25;

// Pointers and strides of every argument, by the tensor's name: an address of its own for each.
class Memory {
 public:
  void* at(const std::string& name) {
    const auto [place, fresh] = places_.try_emplace(name, (places_.size() + 1) << 20);
    return reinterpret_cast<void*>(place->second);
  }
  float* floats(const std::string& name) { return static_cast<float*>(at(name)); }
  // A multiple of 16 bytes, so that no route matters; another for each.
  std::int64_t stride(const std::string& name) {
    const auto [place, fresh] = strides_.try_emplace(name, 32 + 8 * strides_.size());
    return place->second;
  }
  [[nodiscard]] bool has(const std::string& name) const { return places_.contains(name); }

 private:
  std::map<std::string, std::uintptr_t> places_;
  std::map<std::string, std::int64_t> strides_;
};

// The tensors are those of the description: no more, no fewer, each with its type, shape, address
// and stride.
inline void check_arguments(const Signature& signature,
                            const Arguments& arguments,
                            Memory& memory) {
  const Problem wanted = mix_order_reduction::problem(signature, kRows);
  REQUIRE(static_cast<std::size_t>(arguments.count) == wanted.tensors.size());
  for (const TensorSpec& spec : wanted.tensors) {
    CAPTURE(spec.name);
    const Tensor* t = nullptr;
    for (int i = 0; i < arguments.count; ++i) {
      if (arguments.tensors[static_cast<std::size_t>(i)].name == spec.name)
        t = &arguments.tensors[static_cast<std::size_t>(i)];
    }
    REQUIRE(t != nullptr);
    REQUIRE(static_cast<std::size_t>(t->rank) == spec.shape.size());
    if (spec.shape.empty()) {
      REQUIRE(t->is_scalar());
      REQUIRE(t->value == kEps);
      continue;
    }
    REQUIRE(memory.has(spec.name));
    REQUIRE(t->data == memory.at(spec.name));
    REQUIRE(t->type == spec.type);
    for (std::size_t d = 0; d < spec.shape.size(); ++d) REQUIRE(t->shape[d] == spec.shape[d]);
    if (t->rank == 2) REQUIRE(t->strides[0] == memory.stride(spec.name));
  }
}

class Trials {
 public:
  // `keys`: the options as a signature says them.
  template <class Op>
  void add(const Op& op,
           std::string_view name,
           const std::string& keys,
           const typename Op::Arguments& arguments,
           Memory& memory) {
    const std::string text = std::string(name) + ":n=" + std::to_string(kN) + keys;
    CAPTURE(text);
    std::optional<Signature> wanted;
    try {
      wanted = Signature::parse(text);
    } catch (const Error&) {  // keys that contradict each other
      REQUIRE_THROWS_AS(op.signature(), Error);
      return;
    }
    const Signature signature = op.signature();
    REQUIRE(signature.text() == wanted->text());
    signatures_[signature.text()] += 1;
    const Arguments packed = op.arguments(arguments);
    check_arguments(signature, packed, memory);
    const PlanResult planned = plan(signature, limits_of(Arch::parse("sm_90a")), {});
    const LaunchContext context{.sm_count = 132,
                                .workspace = reinterpret_cast<void*>(std::uintptr_t{1} << 40),
                                .workspace_bytes = 1 << 24};
    CallList calls;
    REQUIRE_NOTHROW(bind(std::get<Plan>(planned), packed, context, calls));
    REQUIRE(calls.count == 1);
  }
  [[nodiscard]] int count() const { return static_cast<int>(signatures_.size()); }

 private:
  std::map<std::string, int> signatures_;
};

using Type = std::optional<DType>;
inline const std::vector<DType> kTypes{DType::f32, DType::f16, DType::bf16};
inline const std::vector<Type> kMaybe{std::nullopt, DType::f32, DType::f16, DType::bf16};

inline std::string key(std::string_view name, DType type) {
  return "," + std::string(name) + "=" + std::string(to_string(type));
}
// An option that the front end always says.
inline std::string or_none(std::string_view name, Type type) {
  return "," + std::string(name) + "=" + (type ? std::string(to_string(*type)) : "none");
}
// One that is left out where it is not given.
inline std::string or_default(std::string_view name, Type type) {
  return type ? key(name, *type) : "";
}
inline std::string flag(std::string_view name, bool set) {
  return set ? "," + std::string(name) + "=1" : "";
}

template <class Visit>
void for_flags(int count, Visit visit) {
  for (unsigned bits = 0; bits < 1u << count; ++bits)
    visit([bits](int i) { return (bits >> i & 1u) != 0; });
}

}  // namespace kiln::mix_order_reduction::testing
