// What a description says of its op's keys, for signatures to be parsed by.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/keys.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include <kiln/error.hpp>

#include "src/core/diagnostics.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Kind = KeyDescription::Kind;

constexpr std::array<std::string_view, 4> kTypesOrNone{"f32", "f16", "bf16", "none"};

constexpr std::string_view kNDoc = "columns of a row";

template <class Visit>
void for_each_tensor(const Description& d, Visit visit) {
  for (const auto* tensors : {&d.inputs, &d.outputs}) {
    for (const TensorDescription& t : *tensors) visit(t);
  }
}

KeyDescription* find(std::vector<KeyDescription>& keys, std::string_view name) {
  const auto found = std::find_if(
      keys.begin(), keys.end(), [&](const KeyDescription& key) { return key.name == name; });
  return found == keys.end() ? nullptr : &*found;
}

// The first type key that tensors name.
std::string first_type(const Description& d) {
  std::string first;
  for_each_tensor(d, [&](const TensorDescription& t) {
    if (first.empty() && !parse_dtype(t.type) && t.given != t.type) first = t.type;
  });
  return first;
}

void check_default(const Description& d, const KeyDescription& key) {
  const std::string& value = key.default_value;
  const auto refuse = [&](std::string_view what) {
    throw Error(
        ErrorCode::invalid_source,
        fmt::format(
            "{}, key {}: the default {} is {}", d.where, quote(key.name), quote(value), what));
  };
  if (key.kind == Kind::flag) {
    if (value != "0" && value != "1") refuse("not 0 or 1, and this is a flag");
    return;
  }
  const std::size_t choices = key.kind == Kind::type ? 3 : 4;
  if (std::count(kTypesOrNone.begin(), kTypesOrNone.begin() + choices, value) > 0) return;
  // Another key's value, whose default may be another's in turn, and a type in the end.
  std::string_view at = value;
  for (std::size_t steps = 0; !parse_dtype(at); ++steps) {
    const auto other = std::find_if(d.keys.begin(), d.keys.end(), [&](const auto& one) {
      return one.name == at && one.kind == Kind::type;
    });
    if (other == d.keys.end()) refuse("no type, nor a key that is a type");
    if (steps == d.keys.size()) refuse("a key whose default leads back to itself");
    at = other->default_value;
  }
}

std::string& slot(Signature& signature, std::string_view key) {
  for (auto& [name, value] : signature.keys) {
    if (name == key) return value;
  }
  throw Error(ErrorCode::internal, fmt::format("{} has no key {}", signature.op, key));
}

void check_type(const TensorDescription& t,
                const std::string& place,
                const std::set<std::string>& givers) {
  const auto fail = [&](const std::string& problem) {
    throw Error(ErrorCode::invalid_source, fmt::format("{}: {}", place, problem));
  };
  const std::optional<DType> type = parse_dtype(t.type);
  if (type == DType::i32)
    fail(fmt::format("{} is i32; f32, f16 and bf16 are served", quote(t.name)));
  if (t.extent == Extent::scalar && type != DType::f32)
    fail(fmt::format("{} is a scalar; its type must be f32", quote(t.name)));
  if (t.extent == Extent::column && type != DType::f32)
    fail(fmt::format("{} is a column; its type must be f32", quote(t.name)));
  // A key that makes a tensor present may be none, and then it is no type.
  if (givers.contains(t.type) && t.given != t.type) {
    fail(fmt::format("{} makes tensors present, so {} of that type needs \"given\": {}",
                     quote(t.type),
                     quote(t.name),
                     quote(t.type)));
  }
}

bool set(std::string_view value) { return value != "none" && value != "0"; }

}  // namespace

void check_keys(const Description& d) {
  const auto fail = [&](const std::string& place, const std::string& problem) {
    throw Error(ErrorCode::invalid_source,
                fmt::format("{}{}{}: {}", d.where, place.empty() ? "" : ", ", place, problem));
  };
  std::set<std::string> all, declared, types, flags, givers;
  for (std::size_t i = 0; i < d.keys.size(); ++i) {
    if (!declared.insert(d.keys[i].name).second)
      fail(fmt::format("key {}", i + 1),
           fmt::format("{} is declared twice", quote(d.keys[i].name)));
  }
  for_each_tensor(d, [&](const TensorDescription& t) {
    if (!parse_dtype(t.type)) types.insert(t.type);
    if (!t.accumulate.empty()) flags.insert(t.accumulate);
    if (!t.given.empty()) givers.insert(t.given);
  });
  for (const auto* tensors : {&d.inputs, &d.outputs}) {
    for (std::size_t i = 0; i < tensors->size(); ++i)
      check_type(
          (*tensors)[i],
          fmt::format("{}, {} {}", d.where, tensors == &d.inputs ? "input" : "output", i + 1),
          givers);
  }
  const auto matrix = std::find_if(
      d.inputs.begin(), d.inputs.end(), [](const auto& t) { return t.extent == Extent::matrix; });
  if (matrix == d.inputs.end())
    fail("", "no input is a matrix; the first one gives the number of rows");
  if (!matrix->given.empty()) {
    fail(fmt::format("input {}", matrix - d.inputs.begin() + 1),
         fmt::format("{} gives the number of rows, so it must always be there; list a matrix "
                     "without \"given\" first",
                     quote(matrix->name)));
  }
  for (const auto* part : {&declared, &types, &flags, &givers})
    all.insert(part->begin(), part->end());
  for (const std::string& key : all) {
    if (key == "n" || key == "op" || key == "none" || parse_dtype(key))
      fail("", fmt::format("{} cannot be a key; choose another name", quote(key)));
    if (flags.contains(key) && types.contains(key))
      fail("", fmt::format("{} is both a type and the flag of \"accumulate\"", quote(key)));
  }
}

void complete_keys(Description& d) {
  const auto add = [&](const std::string& name) -> KeyDescription& {
    KeyDescription* key = find(d.keys, name);
    if (key != nullptr) return *key;
    d.keys.push_back({.name = name});
    return d.keys.back();
  };
  const auto raise = [&](const std::string& name, Kind kind) {
    KeyDescription& key = add(name);
    if (key.kind == Kind::flag) key.kind = kind;
  };
  for_each_tensor(d, [&](const TensorDescription& t) {
    if (!t.given.empty()) add(t.given);
    if (!t.accumulate.empty()) add(t.accumulate);
    if (!parse_dtype(t.type)) raise(t.type, t.given == t.type ? Kind::optional_type : Kind::type);
  });
  const std::string first = first_type(d);
  for (KeyDescription& key : d.keys) {
    if (key.kind == Kind::type && key.default_value == "none") key.kind = Kind::optional_type;
    if (!key.default_value.empty()) continue;
    const bool leads = key.name == first || first.empty();
    key.default_value = key.kind == Kind::flag ? "0" : leads ? "bf16" : first;
  }
  std::sort(d.keys.begin(), d.keys.end(), [](const KeyDescription& a, const KeyDescription& b) {
    return a.name < b.name;
  });
  for (const KeyDescription& key : d.keys) check_default(d, key);
}

std::vector<KeySpec> key_specs(const Description& d) {
  std::vector<KeySpec> out{{.name = "n",
                            .kind = KeySpec::Kind::integer,
                            .minimum = 1,
                            .maximum = 1 << 24,
                            .required = true,
                            .doc = kNDoc}};
  for (const KeyDescription& key : d.keys) {
    KeySpec spec{.name = key.name, .doc = key.doc};
    if (key.kind == Kind::flag) {
      spec.kind = KeySpec::Kind::flag;
      spec.default_value = key.default_value;
    } else {
      spec.kind = KeySpec::Kind::choice;
      spec.choices = std::span(kTypesOrNone).first(key.kind == Kind::type ? 3 : 4);
    }
    out.push_back(spec);
  }
  std::sort(
      out.begin(), out.end(), [](const KeySpec& a, const KeySpec& b) { return a.name < b.name; });
  return out;
}

void complete_signature(const Description& d, Signature& signature) {
  for (const TensorDescription& t : d.outputs) {
    if (t.accumulate.empty() || parse_dtype(t.type)) continue;
    std::string& type = slot(signature, t.type);
    if (type.empty() && set(signature.value(t.accumulate))) type = "f32";
  }
  // A default that is another key's value waits until that one is filled.
  for (std::size_t round = 0; round <= d.keys.size(); ++round) {
    for (const KeyDescription& key : d.keys) {
      std::string& value = slot(signature, key.name);
      const bool other =
          key.kind != Kind::flag && !parse_dtype(key.default_value) && key.default_value != "none";
      if (value.empty()) value = other ? slot(signature, key.default_value) : key.default_value;
    }
  }
  for_each_tensor(d, [&](const TensorDescription& t) {
    const bool there = t.given.empty() || set(signature.value(t.given));
    if (!there || parse_dtype(t.type) || signature.value(t.type) != "none") return;
    throw Error(
        ErrorCode::invalid_signature,
        fmt::format(
            "{}: {}=none, but the signature has {}, of that type", signature.op, t.type, t.name));
  });
  for (const TensorDescription& t : d.outputs) {
    if (t.accumulate.empty() || !set(signature.value(t.accumulate))) continue;
    const bool any = std::any_of(d.outputs.begin(), d.outputs.end(), [&](const auto& o) {
      return o.accumulate == t.accumulate && (o.given.empty() || set(signature.value(o.given)));
    });
    if (any) continue;
    throw Error(ErrorCode::invalid_signature,
                fmt::format("{}: {}=1 contradicts {}={}: there is nothing to add into",
                            signature.op,
                            t.accumulate,
                            t.given,
                            signature.value(t.given)));
  }
}

}  // namespace kiln::mix_order_reduction
