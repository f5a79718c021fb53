// The build tool that compiles composed kernels, run as the build runs it.
// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cuda_fixtures.hpp"
#include "tests/testing.hpp"
#include "tools/composed_source.hpp"

namespace fs = std::filesystem;

namespace kiln {
namespace {

using testing::contains;
using testing::TempFolder;

testing::ChildResult embed(const TempFolder& root,
                           const std::string& output,
                           const std::string& jobs) {
  return testing::run_program({KILN_EMBED_COMPOSED,
                               "--family",
                               "twice",
                               "--source",
                               "kernels/twice/composed.cu",
                               "--root",
                               root.path().string(),
                               "--output",
                               output,
                               "--jobs",
                               jobs,
                               "--nvrtc",
                               testing::machine_toolchain().nvrtc_path});
}

void write_family(const TempFolder& root) {
  (void)root.write("templates/two.cuh", "#pragma once\ninline constexpr int kTwo = 2;\n");
  (void)root.write("kernels/twice/composed.cu",
                   "#include \"templates/two.cuh\"\n"
                   "extern \"C\" __global__ void twice_b(int* p) { p[threadIdx.x] *= kTwo; }\n"
                   "extern \"C\" __global__ void twice_a(int* p) { __shared__ int s[32]; "
                   "s[threadIdx.x] = p[threadIdx.x];\n"
                   "  __syncthreads(); p[threadIdx.x] = s[31 - threadIdx.x]; }\n");
}

TEST_CASE("composed kernels are embedded for every architecture, the same in every build",
          "[embed]") {
  const TempFolder root;
  write_family(root);
  const std::string first = (root.path() / "out/first.cpp").string();
  const std::string second = (root.path() / "out/second.cpp").string();
  const testing::ChildResult made = embed(root, first, "2");
  INFO(made.output);
  REQUIRE(made.status == 0);
  CHECK(made.output.empty());  // no spills, no warnings
  REQUIRE(embed(root, second, "3").status == 0);

  const std::string text = testing::read_bytes(first);
  CHECK(text == testing::read_bytes(second));
  CHECK_THAT(text, contains("namespace kiln::composed::twice {"));
  for (const char* arch : {"{8, 0, '\\0'}, false",
                           "{8, 6, '\\0'}, false",
                           "{8, 9, '\\0'}, false",
                           "{9, 0, '\\0'}, false",
                           "{10, 0, '\\0'}, false",
                           "{10, 3, '\\0'}, false",
                           "{12, 0, '\\0'}, false",
                           "{8, 0, '\\0'}, true"}) {
    CHECK_THAT(text, contains(arch));
  }
  // Entries sorted, with their shared memory; PTX does not know its own.
  CHECK(text.find("{\"twice_a\"") < text.find("{\"twice_b\""));
  CHECK_THAT(text, contains(", 0, 128},"));
  CHECK_THAT(text, contains("{\"twice_b\", -1, -1, -1},"));
  // Nothing is left beside the outputs.
  CHECK(std::distance(fs::directory_iterator(root.path() / "out"), fs::directory_iterator()) == 2);
}

TEST_CASE("an output whose inputs did not change is only touched", "[embed]") {
  const TempFolder root;
  write_family(root);
  const std::string output = (root.path() / "out.cpp").string();
  REQUIRE(embed(root, output, "2").status == 0);
  const std::string before = testing::read_bytes(output);
  fs::last_write_time(output, fs::file_time_type::clock::now() - std::chrono::hours(1));
  const auto old_time = fs::last_write_time(output);
  (void)root.write("templates/unused.cuh", "// not in the closure\n");
  REQUIRE(embed(root, output, "2").status == 0);
  CHECK(fs::last_write_time(output) > old_time);
  CHECK(testing::read_bytes(output) == before);
  (void)root.write("templates/two.cuh", "#pragma once\ninline constexpr int kTwo = 3;\n");
  REQUIRE(embed(root, output, "2").status == 0);
  CHECK(testing::read_bytes(output) != before);
}

TEST_CASE("a composed source that does not compile fails the build and leaves no output",
          "[embed]") {
  const TempFolder root;
  (void)root.write("kernels/twice/composed.cu",
                   "extern \"C\" __global__ void k(int* p) { p[0] = oops; }\n");
  const std::string output = (root.path() / "out.cpp").string();
  const testing::ChildResult broken = embed(root, output, "2");
  CHECK(broken.status == 1);
  CHECK_THAT(broken.output, contains("identifier \"oops\" is undefined"));
  CHECK_FALSE(fs::exists(output));
  (void)root.write("kernels/twice/composed.cu", "#include \"absent.cuh\"\n");
  const testing::ChildResult unclosed = embed(root, output, "2");
  CHECK(unclosed.status == 1);
  CHECK_THAT(unclosed.output, contains("absent.cuh"));
  fs::remove(root.path() / "kernels/twice/composed.cu");
  CHECK_THAT(embed(root, output, "2").output, contains("cannot read"));
}

TEST_CASE("wrong command lines of the build tool are usage errors", "[embed]") {
  const std::vector<std::vector<std::string>> lines{
      {},
      {"--family"},
      {"--family", "x"},
      {"--what", "x"},
      {"--family", "f", "--source", "s", "--root", "r", "--output", "o", "--jobs", "0"},
      {"--family", "f", "--source", "s", "--root", "r", "--output", "o", "--jobs", "two"},
  };
  for (std::vector<std::string> words : lines) {
    words.insert(words.begin(), KILN_EMBED_COMPOSED);
    const testing::ChildResult result = testing::run_program(words);
    CHECK(result.status == 2);
    CHECK_THAT(result.output, contains("usage: kiln_embed_composed"));
  }
}

TEST_CASE("any byte survives being written as a literal", "[embed]") {
  composed::Image image{.arch = {9, 0, '\0'}, .ptx = false, .bytes = {}, .entries = {}};
  image.bytes = std::string("\0\x7f\"?\\1a\xff", 8);
  const std::string text = composed::composed_source("f", {image});
  CHECK_THAT(text, contains("\"\\000\\177\\042\\077\\1341a\\377\""));
  CHECK_THAT(text, contains("bytes(kBytes0, 8)"));
}

}  // namespace
}  // namespace kiln
