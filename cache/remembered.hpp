// Compiles and loads that failed, remembered for a while in v1/neg, so that a broken kernel is not
// rebuilt in a loop. The grammar is in docs/caching.md.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cache/layout.hpp"
#include "cache/store.hpp"

namespace kiln::cache {

inline constexpr std::int64_t kRememberedSeconds = 600;
// The end of a longer log is cut off: the first error is at its beginning.
inline constexpr std::size_t kMaxRememberedLog = std::size_t{64} << 10U;

// "<64 hex>.<16 hex>.f" for a compile; "….<16 hex of the driver>.l" for a load.
[[nodiscard]] std::string failure_name(const Digest& digest);
[[nodiscard]] std::string refusal_name(const Digest& digest, std::string_view driver);

// The whole subject is kept and compared, as an entry's key is. False where it cannot be kept.
bool remember(const Root& root,
              const std::string& name,
              std::string_view subject,
              std::string_view log);
// Anything but a right and young file is nothing; a time in the future is as good as ended.
[[nodiscard]] std::optional<Remembered> recall(const Root& root,
                                               const std::string& name,
                                               std::string_view subject);
// Removes what has ended.
void sweep_remembered(const Root& root, std::int64_t now);

}  // namespace kiln::cache
