// Filling device memory with repeated random values by doubling copies.
// SPDX-License-Identifier: Apache-2.0
#include "tools/verify/workload.hpp"

#include <algorithm>
#include <cstddef>

#include "tools/verify/element.hpp"
#include "tools/verify/groups.hpp"
#include "tools/verify/parallel.hpp"
#include "tools/verify/random.hpp"

namespace kiln::verify {
namespace {

// Enough values that repeating them changes neither power nor timing; 4 MiB of bf16.
constexpr std::int64_t kSeedElements = 1 << 21;

void fill_with_values(const Driver& driver,
                      const TensorSpec& spec,
                      const Layout& layout,
                      const Block& block,
                      std::uint64_t seed) {
  const std::int64_t size = size_bytes(spec.type);
  if (!spec.values.empty()) {
    std::vector<std::byte> bytes(spec.values.size() * static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < spec.values.size(); ++i)
      store(spec.type, spec.values[i], bytes.data() + i * static_cast<std::size_t>(size));
    block.upload(bytes, layout.base_bytes);
    return;
  }
  const std::int64_t count = std::min(layout.elements(), kSeedElements);
  const std::uint64_t stream = stream_of(seed, spec.name);
  std::vector<std::byte> bytes(static_cast<std::size_t>(count * size));
  parallel_for(count, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      store(spec.type, sample(spec.fill, stream, i), bytes.data() + i * size);
    }
  });
  block.upload(bytes, layout.base_bytes);
  const std::uint64_t start = block.address() + static_cast<std::uint64_t>(layout.base_bytes);
  const std::int64_t all = layout.elements() * size;
  for (std::int64_t done = count * size; done < all;) {
    const std::int64_t more = std::min(done, all - done);
    driver.check(driver.copy_on_device_async(start + static_cast<std::uint64_t>(done),
                                             start,
                                             static_cast<std::size_t>(more),
                                             nullptr),
                 "repeating random values");
    done += more;
  }
  driver.check(driver.context_synchronize(), "repeating random values");
}

}  // namespace

Workload::Workload(const Driver& driver,
                   const Signature& signature,
                   std::int64_t rows,
                   std::uint64_t seed,
                   const std::vector<std::int64_t>& sizes)
    : problem_(make_problem(signature, rows, sizes)) {
  for (const TensorSpec& spec : problem_.tensors) {
    layouts_.push_back(make_layout(spec, {}));
    blocks_.emplace_back(driver, layouts_.back().total_bytes);
    if (spec.role == Role::output || layouts_.back().elements() == 0) continue;
    fill_with_values(driver, spec, layouts_.back(), blocks_.back(), seed);
  }
}

Arguments Workload::arguments() const {
  Arguments arguments;
  for (std::size_t i = 0; i < blocks_.size(); ++i) {
    const Layout& layout = layouts_[i];
    arguments.add(layout.rank == 0 ? scalar(layout.name, 1.0)
                                   : layout.tensor(blocks_[i].address()));
  }
  return arguments;
}

}  // namespace kiln::verify
