// Making an entry visible, whole or not at all.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "cache/layout.hpp"
#include "cache/store.hpp"

namespace kiln::cache {

struct Published {
  PutResult result = PutResult::not_kept;
  std::optional<Problem> problem =
      {};         // why it was not kept, or what is doubtful about a stored one
  int error = 0;  // errno of that
};

// Writes to tmp/, syncs, and renames without replacing: an entry that is there already won, and is
// not read back.
[[nodiscard]] Published publish(const Root& root,
                                const EntryName& name,
                                std::span<const std::byte> bytes);

// Removes temporaries that a dead process left; young ones may still be written. Age is by the file
// system's own clock, and a time in the future counts as now.
void sweep_temporaries(const Root& root) noexcept;

}  // namespace kiln::cache
