// Made without a lock: whoever comes first is kept, and one who comes at the same time made it for
// itself alone.
// SPDX-License-Identifier: Apache-2.0
#include "kernels/mix_order_reduction/variants.hpp"

#include <set>
#include <string_view>

#include "kernels/mix_order_reduction/composed_formula.hpp"
#include "kernels/mix_order_reduction/formula.hpp"

namespace kiln::mix_order_reduction {
namespace {

using Keys = std::vector<std::pair<std::string, std::string>>;

Keys without_n(const Signature& signature) {
  Keys keys = signature.keys;
  std::erase_if(keys, [](const auto& pair) { return pair.first == "n"; });
  return keys;
}

std::string types_text(const Description& d, const Signature& signature) {
  std::string out;
  std::set<std::string_view> seen;
  const auto add = [&](std::string_view text) { out.append("_").append(text); };
  for (const auto* tensors : {&d.inputs, &d.outputs}) {
    for (const TensorDescription& t : *tensors) {
      if (!t.accumulate.empty()) seen.insert(t.accumulate);  // said by _acc
      if (!parse_dtype(t.type) && seen.insert(t.type).second) add(signature.value(t.type));
    }
  }
  for (const KeyDescription& key : d.keys) {
    const bool flag = key.kind == KeyDescription::Kind::flag && !seen.contains(key.name);
    if (flag && signature.value(key.name) == "1") add(key.name);
  }
  return out;
}

}  // namespace

Variant::Variant(const Description& description, const Signature& signature)
    : program(specialise(description, signature)),
      shape(shape_of(program)),
      keys_(without_n(signature)),
      types_(types_text(description, signature)) {}

bool Variant::serves(const Signature& signature) const noexcept {
  auto kept = keys_.begin();
  for (const auto& pair : signature.keys) {
    if (pair.first == "n") continue;
    if (kept == keys_.end() || *kept != pair) return false;
    ++kept;
  }
  return kept == keys_.end();
}

const std::string& Variant::formula() const {
  return formula_.get([&] { return fused_formula(program, shape); });
}

const ComposedEntries& Variant::composed_entries(std::string_view op) const {
  return composed_.get([&] {
    ComposedEntries out;
    if (has_rows(shape)) out.rows = composed_entry(op, program, shape, Part::rows);
    if (!shape.column_sums.empty()) out.columns = composed_entry(op, program, shape, Part::columns);
    return out;
  });
}

Variants::~Variants() {
  for (const auto& kept : kept_) delete kept.load();
}

std::shared_ptr<const Variant> Variants::of(const Description& description,
                                            const Signature& signature) {
  std::unique_ptr<const Kept> fresh;
  for (auto& place : kept_) {
    const Kept* there = place.load(std::memory_order_acquire);
    if (there == nullptr) {
      if (!fresh) {
        fresh =
            std::make_unique<const Kept>(std::make_shared<const Variant>(description, signature));
      }
      if (place.compare_exchange_strong(there, fresh.get(), std::memory_order_acq_rel)) {
        return *fresh.release();
      }
    }
    if ((*there)->serves(signature)) return *there;
  }
  return fresh ? *fresh : std::make_shared<const Variant>(description, signature);
}

}  // namespace kiln::mix_order_reduction
