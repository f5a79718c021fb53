// A driver that runs nothing and remembers what it was told.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "src/cuda/driver.hpp"

namespace kiln::fakes {

struct RecordedLaunch {
  CUstream_st* stream = nullptr;
  CUfunc_st* function = nullptr;
  std::array<unsigned, 3> grid{};
  unsigned threads = 0;
  unsigned smem_bytes = 0;
  CUctx_st* context = nullptr;  // current when it was launched
  std::array<std::byte, 64> parameters{};
};

struct FakeDevice {
  int major = 9;
  int minor = 0;
  int sm_count = 132;
};

// The functions of a Driver carry no state, so they find it through the youngest FakeGpu that
// lives.
class FakeGpu {
 public:
  explicit FakeGpu(std::vector<FakeDevice> present = {FakeDevice{}});
  ~FakeGpu();
  FakeGpu(const FakeGpu&) = delete;
  FakeGpu& operator=(const FakeGpu&) = delete;

  [[nodiscard]] std::shared_ptr<const Driver> driver() const;

  std::vector<FakeDevice> devices;
  int cuda_version = 13000;
  // What loading an image, given as text, returns; null: success.
  std::function<int(const std::string& image)> on_load;
  int launch_result = 0;
  int resident_ctas = 2;
  int resident_clusters = 66;

  std::mutex mutex;                 // of everything below
  std::vector<std::string> loaded;  // images, as text
  int unloads = 0;
  std::vector<int> allowed_smem;         // in the order they were set
  std::vector<RecordedLaunch> launches;  // capacity is reserved: recording allocates nothing
  std::map<std::uint64_t, std::vector<std::byte>> memory;
  int retained = 0;
  int pushes = 0;
  int synchronisations = 0;

 private:
  FakeGpu* older_ = nullptr;
};

}  // namespace kiln::fakes
