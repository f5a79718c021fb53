// A service on fakes: fake driver, compiler and family, a real store in a temporary folder.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <unistd.h>

#include <kiln/error.hpp>
#include <kiln/service.hpp>

#include "src/service/backends.hpp"
#include "tests/fakes/fake_driver.hpp"
#include "tests/fakes/fake_family.hpp"

namespace kiln::fakes {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "kiln-service-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::filesystem::path path;
};

// What fakes are told and count. Must outlive the services made from it.
struct FakeWorld {
  explicit FakeWorld(std::string cache_dir) { options.policy.cache_dir = std::move(cache_dir); }

  Options options;
  FakeGpu gpu;
  bool driver_present = true;
  bool nvrtc_present = true;  // found; loading it may still fail
  bool nvrtc_loads = true;
  std::string nvrtc_id = "aa";
  std::string uncacheable_reason;
  std::function<void(const CompileRequest&)> on_compile;  // throws to fail, blocks to be slow
  std::string image = "cubin";  // of what is compiled, with the compile's number

  std::atomic<int> compiles{0};
  std::atomic<int> nvrtc_loads_done{0};
  std::atomic<int> searches{0};
  std::mutex log_mutex;
  std::vector<std::string> warnings;

  [[nodiscard]] Backends backends();
  [[nodiscard]] Service service() { return Service(logged(), backends()); }
  // Warnings that contain the piece.
  [[nodiscard]] int warned(std::string_view piece);

 private:
  [[nodiscard]] Options logged();
};

}  // namespace kiln::fakes
