// The list of described ops. Process-wide, as Signature::parse is: it only grows.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/registry.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/keys.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/shape.hpp"
#include "src/core/closure.hpp"
#include "src/core/diagnostics.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::string_view kFolder = "kernels/mix_order_reduction/ops/";

// A description with what refers to it: never moved.
struct Described {
  std::string text;
  Description description;
  std::vector<KeySpec> keys;
  OpSpec spec;
  bool builtin = false;
};

void complete_described(Signature& signature) {
  complete_signature(description_of(signature.op), signature);
}

std::unique_ptr<Described> describe(std::string_view text, std::string_view where) {
  auto out = std::make_unique<Described>();
  out->text = text;
  out->description = parse_description(text, where);
  out->keys = key_specs(out->description);
  const auto special = completion_of(out->description.op);
  out->spec = {.name = out->description.op,
               .keys = out->keys,
               .summary = out->description.summary,
               .complete = special != nullptr ? special : complete_described};
  return out;
}

class Registry {
 public:
  Registry() {
    for (const EmbeddedFile& file : embedded_files()) {
      if (!file.name.starts_with(kFolder)) continue;
      std::unique_ptr<Described> one = describe(file.text, file.name);
      one->builtin = true;
      std::string op = one->description.op;
      all_.emplace(std::move(op), std::move(one));
    }
  }

  const Described* find(std::string_view op) const {
    const std::lock_guard lock(mutex_);
    const auto found = all_.find(op);
    return found == all_.end() ? nullptr : found->second.get();
  }

  std::vector<const OpSpec*> specs() const {
    const std::lock_guard lock(mutex_);
    std::vector<const OpSpec*> out;
    for (const auto& [op, one] : all_) out.push_back(&one->spec);
    return out;
  }

  // The description that has the op: this one, or the one that was there before it.
  const Described& add(std::unique_ptr<Described> one) {
    const std::lock_guard lock(mutex_);
    std::string op = one->description.op;
    return *all_.try_emplace(std::move(op), std::move(one)).first->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Described>, std::less<>> all_;
};

Registry& registry() {
  static Registry one;
  return one;
}

// Every type, and every tensor that may be there.
void check_limits(const Description& description) {
  Signature signature;
  signature.op = description.op;
  for (const KeyDescription& key : description.keys) {
    const bool flag = key.kind == KeyDescription::Kind::flag;
    signature.keys.emplace_back(key.name, flag ? "1" : "f32");
  }
  try {
    static_cast<void>(shape_of(specialise(description, signature)));
  } catch (const Error& error) {
    throw Error(error.code, fmt::format("{}: {}", description.where, error.detail));
  }
}

}  // namespace

const Description& description_of(std::string_view op) {
  const Described* found = registry().find(op);
  if (found == nullptr)
    throw Error(ErrorCode::internal, "no description of " + std::string(op) + " is known");
  return found->description;
}

bool is_builtin(std::string_view op) {
  const Described* found = registry().find(op);
  return found != nullptr && found->builtin;
}

std::vector<const OpSpec*> op_specs() { return registry().specs(); }

std::string register_description(std::string_view json, std::string_view where) {
  std::unique_ptr<Described> one = describe(json, where);
  check_limits(one->description);
  const std::string op = one->description.op;
  for (const OpSpec* other : kiln::op_specs()) {
    if (other->name == op && registry().find(op) == nullptr) {
      throw Error(
          ErrorCode::invalid_source,
          fmt::format(
              "{}: {} is built in already; choose another name for \"op\"", where, quote(op)));
    }
  }
  const Described& there = registry().add(std::move(one));
  if (there.text == json) return op;
  throw Error(ErrorCode::invalid_source,
              fmt::format("{}: {} is {} already{}; choose another name for \"op\"",
                          where,
                          quote(op),
                          there.builtin ? "built in" : "described",
                          there.builtin ? "" : " by " + there.description.where));
}

}  // namespace kiln::mix_order_reduction
