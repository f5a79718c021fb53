// The list of described ops. Process-wide, as Signature::parse is: it only grows. It has no locks,
// since a process may fork while a thread is in here, and nothing of it is ever freed.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/registry.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "kernels/mix_order_reduction/keys.hpp"
#include "kernels/mix_order_reduction/op.hpp"
#include "kernels/mix_order_reduction/shape.hpp"
#include "kernels/mix_order_reduction/variants.hpp"
#include "src/core/closure.hpp"
#include "src/core/diagnostics.hpp"

namespace kiln::mix_order_reduction {
namespace {

constexpr std::string_view kFolder = "kernels/mix_order_reduction/ops/";
constexpr std::string_view kEnding = ".json";

// A description with what refers to it: never moved.
struct Described {
  std::string text;
  Description description;
  std::vector<KeySpec> keys;
  OpSpec spec;
  bool builtin = false;
  Variants variants;
  Described* before = nullptr;  // in the list
};

std::atomic<Described*> latest{nullptr};

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

Described* listed(std::string_view op, Described* from) {
  while (from != nullptr && from->description.op != op) from = from->before;
  return from;
}

// The description that has the op: this one, or the one that was there before it.
Described& add(std::unique_ptr<Described> one) {
  one->before = latest.load(std::memory_order_acquire);
  do {
    if (Described* there = listed(one->description.op, one->before)) return *there;
  } while (!latest.compare_exchange_weak(one->before, one.get(), std::memory_order_acq_rel));
  return *one.release();
}

// The op that an embedded file describes, which names the file; empty for other files.
std::string_view op_in(const EmbeddedFile& file) {
  std::string_view name = file.name;
  if (!name.starts_with(kFolder) || !name.ends_with(kEnding)) return {};
  name.remove_prefix(kFolder.size());
  name.remove_suffix(kEnding.size());
  return name;
}

// Null for an op that is not described. Built-in descriptions are read when they are first asked
// for: most processes need one or two of them, and reading all costs a start more than all the
// rest.
Described* find(std::string_view op) {
  if (Described* known = listed(op, latest.load(std::memory_order_acquire))) return known;
  if (op.empty()) return nullptr;
  for (const EmbeddedFile& file : embedded_files()) {
    if (op_in(file) != op) continue;
    std::unique_ptr<Described> one = describe(file.text, file.name);
    if (one->description.op != op) {
      throw Error(
          ErrorCode::internal,
          fmt::format(
              "{} describes {}; name the file after it", file.name, quote(one->description.op)));
    }
    one->builtin = true;
    return &add(std::move(one));
  }
  return nullptr;
}

Described& described(std::string_view op) {
  if (Described* known = find(op)) return *known;
  throw Error(ErrorCode::internal, "no description of " + std::string(op) + " is known");
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

const Description& description_of(std::string_view op) { return described(op).description; }

std::shared_ptr<const Variant> variant_of(const Signature& signature) {
  Described& one = described(signature.op);
  return one.variants.of(one.description, signature);
}

bool is_builtin(std::string_view op) {
  const Described* found = find(op);
  return found != nullptr && found->builtin;
}

std::vector<const OpSpec*> op_specs() {
  for (const EmbeddedFile& file : embedded_files()) static_cast<void>(find(op_in(file)));
  std::vector<const OpSpec*> out;
  for (const Described* one = latest.load(std::memory_order_acquire); one != nullptr;
       one = one->before) {
    out.push_back(&one->spec);
  }
  std::sort(
      out.begin(), out.end(), [](const OpSpec* a, const OpSpec* b) { return a->name < b->name; });
  return out;
}

const OpSpec* find_op_spec(std::string_view op) {
  const Described* found = find(op);
  return found == nullptr ? nullptr : &found->spec;
}

std::string register_description(std::string_view json, std::string_view where) {
  std::unique_ptr<Described> one = describe(json, where);
  check_limits(one->description);
  const std::string op = one->description.op;
  // Also reads what is built in, so that it is there before this.
  if (find(op) == nullptr && kiln::find_op_spec(op) != nullptr) {
    throw Error(
        ErrorCode::invalid_source,
        fmt::format(
            "{}: {} is built in already; choose another name for \"op\"", where, quote(op)));
  }
  const Described& there = add(std::move(one));
  if (there.text == json) return op;
  throw Error(ErrorCode::invalid_source,
              fmt::format("{}: {} is {} already{}; choose another name for \"op\"",
                          where,
                          quote(op),
                          there.builtin ? "built in" : "described",
                          there.builtin ? "" : " by " + there.description.where));
}

}  // namespace kiln::mix_order_reduction
