// Which sanitizer this is built with: GCC defines names, clang answers __has_feature.
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace kiln::testing {

#if defined(__has_feature)
#define KILN_HAS_FEATURE(name) __has_feature(name)
#else
#define KILN_HAS_FEATURE(name) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || KILN_HAS_FEATURE(address_sanitizer)
inline constexpr bool kAddressSanitizer = true;
#else
inline constexpr bool kAddressSanitizer = false;
#endif
#if defined(__SANITIZE_THREAD__) || KILN_HAS_FEATURE(thread_sanitizer)
inline constexpr bool kThreadSanitizer = true;
#else
inline constexpr bool kThreadSanitizer = false;
#endif
#undef KILN_HAS_FEATURE

}  // namespace kiln::testing
