// Splitting host work over the cores.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/parallel.hpp"

#include <algorithm>
#include <thread>
#include <vector>

namespace kiln::verify {

void parallel_for(std::int64_t count, const std::function<void(std::int64_t, std::int64_t)>& body) {
  // Below this a thread costs more than it saves.
  constexpr std::int64_t kLeastShare = 1 << 15;
  const std::int64_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::int64_t parts = std::clamp<std::int64_t>(count / kLeastShare, 1, cores);
  std::vector<std::jthread> threads;
  for (std::int64_t part = 1; part < parts; ++part) {
    threads.emplace_back([&, part] { body(count * part / parts, count * (part + 1) / parts); });
  }
  body(0, count / parts);
}

}  // namespace kiln::verify
