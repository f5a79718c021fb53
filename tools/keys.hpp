// The keys a signature's kernels are looked up under, without compiling anything.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <kiln/service.hpp>

#include "cache/store.hpp"
#include "src/core/digest.hpp"

namespace kiln::cli {

// Policy's cache folders with warnings on stderr; says so when there is no folder.
[[nodiscard]] cache::StoreOptions store_options(const Policy& policy);

// The toolchain this machine would compile with; nothing without NVRTC or under KILN_DISABLE_JIT=1.
[[nodiscard]] std::optional<Toolchain> current_toolchain(const Policy& policy);

// One key a kernel of the fused plan, with the toolchain where there is one; none for a composed
// plan.
[[nodiscard]] std::vector<Key> keys_of(const Plan& plan, const std::optional<Toolchain>& toolchain);

// Entries that serve a key now: of exactly its toolchain, or of any when it names none.
[[nodiscard]] std::optional<cache::Found> find_entry(cache::Store& store, const Key& key);

}  // namespace kiln::cli
