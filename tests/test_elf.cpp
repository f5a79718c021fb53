// ELF files: build-ids, whole libraries, a cubin's kernels; and nothing crashes on damage.
// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/cuda/elf.hpp"
#include "tests/cuda_fixtures.hpp"
#include "tests/testing.hpp"

namespace kiln {
namespace {

using testing::contains;
using testing::TempFolder;

const std::string kId("\x01\x02\xab\xff", 4);

// The same every run, on every machine.
class Random {
 public:
  std::uint64_t next() {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return state_ >> 33;
  }

 private:
  std::uint64_t state_ = 20240607;
};

const std::string& two_kernels() {
  static const std::string image = [] {
    const auto bytes =
        testing::compile_text(
            "__device__ __noinline__ float twice(float x) { return sinf(x) * 2.0f; }\n"
            "extern \"C\" __global__ void second(float* p) { p[1] = twice(p[0]); }\n"
            "extern \"C\" __global__ void first(float* p) { p[0] = twice(p[1]); }\n",
            "")
            .cubin.image;
    return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }();
  return image;
}

TEST_CASE("the build-id of a library is read from its notes", "[elf]") {
  const TempFolder folder;
  CHECK(elf_build_id(folder.write("lib.so", testing::elf_library(kId))) == "0102abff");
  CHECK(elf_build_id(folder.write("none.so", testing::elf_library(""))) == std::nullopt);
}

TEST_CASE("a note of another kind before the build-id is stepped over", "[elf]") {
  const std::string other("\x04\0\0\0\x05\0\0\0\x01\0\0\0GNU\0abcde\0\0\0", 24);
  const std::string build_id("\x04\0\0\0\x02\0\0\0\x03\0\0\0GNU\0\x12\x34\0\0", 20);
  CHECK(build_id_in_notes(other + build_id, 4) == "1234");
  CHECK(build_id_in_notes(other, 4) == std::nullopt);
  CHECK(build_id_in_notes(std::string("\xff\xff\xff\xff\xff\xff\xff\xff\x03\0\0\0GNU\0", 16), 4) ==
        std::nullopt);
}

TEST_CASE("a whole library has no problem, and one that is cut off anywhere has", "[elf]") {
  const TempFolder folder;
  const std::string whole = testing::elf_library(kId, std::string(64, 'x'));
  CHECK(shared_library_problem(folder.write("whole.so", whole)).empty());
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const std::string path = folder.write("cut.so", whole.substr(0, size));
    INFO("cut to " << size << " bytes");
    CHECK_FALSE(shared_library_problem(path).empty());
    (void)elf_build_id(path);
  }
}

TEST_CASE("what is no library is named as what it is", "[elf]") {
  const TempFolder folder;
  CHECK_THAT(shared_library_problem(folder.path().string()), contains("is a folder"));
  CHECK_THAT(shared_library_problem((folder.path() / "absent").string()), contains("No such file"));
  CHECK_THAT(shared_library_problem("/dev/null"), contains("is not a regular file"));
  CHECK_THAT(shared_library_problem(
                 folder.write("script", "INPUT(libnvrtc.so.13)\n" + std::string(99, ' '))),
             contains("is not a 64-bit ELF file"));
  const std::string fifo = (folder.path() / "fifo").string();
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THAT(shared_library_problem(fifo), contains("is not a regular file"));
  CHECK(elf_build_id(fifo) == std::nullopt);
  CHECK(elf_build_id(folder.path().string()) == std::nullopt);

  std::string other = testing::elf_library(kId);
  other[18] = 40;  // e_machine: 32-bit ARM
  other[19] = 0;
  CHECK_THAT(shared_library_problem(folder.write("arm.so", other)), contains("another processor"));
}

TEST_CASE("damaged headers of a library never crash the reader", "[elf]") {
  const TempFolder folder;
  const std::string whole = testing::elf_library(kId, "filler");
  Random random;
  for (int round = 0; round < 1000; ++round) {
    std::string damaged = whole;
    for (int change = 0; change < 4; ++change) {
      damaged[random.next() % damaged.size()] = static_cast<char>(random.next());
    }
    const std::string path = folder.write("damaged.so", damaged);
    (void)shared_library_problem(path);
    (void)elf_build_id(path);
  }
  SUCCEED();
}

TEST_CASE("the functions of a cubin are its kernels and nothing they call", "[elf][nvrtc]") {
  std::vector<std::string> names = elf_functions(two_kernels());
  std::sort(names.begin(), names.end());
  CHECK(names == std::vector<std::string>{"first", "second"});
}

TEST_CASE("a cubin cut off anywhere gives no kernels and no crash", "[elf][nvrtc]") {
  // Exact copies on the heap: under a sanitizer, one byte read too far is seen.
  const std::string& whole = two_kernels();
  for (std::size_t size = 0; size < whole.size(); size += size < 256 ? 1 : 37) {
    const std::vector<char> cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    CHECK(elf_functions({cut.data(), cut.size()}).size() <= 2);
  }
  CHECK(elf_functions("").empty());
  CHECK(elf_functions(".version 8.0").empty());
}

TEST_CASE("damaged bytes of a cubin never crash the reader", "[elf][nvrtc]") {
  const std::string& whole = two_kernels();
  Random random;
  for (int round = 0; round < 2000; ++round) {
    std::string damaged = whole;
    // Half of the changes hit the file header, half anything.
    const std::size_t span = round % 2 == 0 ? 64 : damaged.size();
    for (int change = 0; change < 8; ++change) {
      damaged[random.next() % span] = static_cast<char>(random.next());
    }
    (void)elf_functions(damaged);
  }
  SUCCEED();
}

}  // namespace
}  // namespace kiln
