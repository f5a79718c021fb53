// How error messages quote untrusted input and suggest what was meant.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace kiln {

// The text in double quotes, clipped, with every byte that is not printable ASCII escaped as \xNN:
// a message is always one line of valid UTF-8, whatever the input was.
[[nodiscard]] std::string quote(std::string_view text, std::size_t most = 64);

// The candidate with the smallest edit distance, when it is near enough to be a likely typing slip;
// empty otherwise.
[[nodiscard]] std::string_view nearest(std::string_view text,
                                       std::span<const std::string_view> candidates);

// " (did you mean \"n\"?)", or nothing when no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view text,
                                       std::span<const std::string_view> candidates);

// "f32, f16, bf16"
[[nodiscard]] std::string listed(std::span<const std::string_view> names);

}  // namespace kiln
