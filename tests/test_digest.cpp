// Digests: known answers, and that each input alone changes the digest and nothing else does.
// SPDX-License-Identifier: Apache-2.0
#include <kiln/error.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "src/core/digest.hpp"
#include "tests/testing.hpp"

using namespace kiln;

namespace {

// All that a key is made of, so that a test can change one thing.
struct Inputs {
  std::string family = "norm";
  int emitter_version = 1;
  Closure closure{{"text", "entry"}, {{"a.cuh", "one"}, {"b.cuh", "two"}}};
  CompileOptions options = CompileOptions::standard();
  Arch arch{9, 0, 'a'};
  Toolchain toolchain{13, 0, "aaaa", "bbbb"};

  [[nodiscard]] Key key() const {
    return with_toolchain(make_key(family, emitter_version, closure, options, arch), toolchain);
  }
};

struct Change {
  std::string name;
  std::function<void(Inputs&)> apply;
};

std::string hash_of(std::string_view text) { return hex(sha256(text)); }

}  // namespace

TEST_CASE("SHA-256 gives the answers of FIPS 180-4") {
  CHECK(hash_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(hash_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(hash_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(hash_of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("hex writes two lower-case digits a byte") {
  const std::vector<std::uint8_t> bytes = {0x00, 0x0f, 0xa0, 0xff};
  CHECK(hex(bytes) == "000fa0ff");
  CHECK(hex({}).empty());
}

TEST_CASE("each input alone changes the part of the digest it belongs to") {
  const std::vector<Change> kernel_changes = {
      {"family", [](Inputs& in) { in.family = "morn"; }},
      {"emitter version", [](Inputs& in) { in.emitter_version = 2; }},
      {"source", [](Inputs& in) { in.closure.source.text = "texu"; }},
      {"entry", [](Inputs& in) { in.closure.source.entry = "entrz"; }},
      {"a header's text", [](Inputs& in) { in.closure.headers[0].text = "onf"; }},
      {"a header's name", [](Inputs& in) { in.closure.headers[0].name = "c.cuh"; }},
      {"headers swapped",
       [](Inputs& in) { std::swap(in.closure.headers[0].text, in.closure.headers[1].text); }},
      {"a header less", [](Inputs& in) { in.closure.headers.pop_back(); }},
      {"a header more",
       [](Inputs& in) {
         in.closure.headers.push_back({"z.cuh", ""});
       }},
      {"an option's value", [](Inputs& in) { in.options.flags[1] = "--fmad=true"; }},
      {"an option more", [](Inputs& in) { in.options.flags.emplace_back("--restrict"); }},
      {"an option less", [](Inputs& in) { in.options.flags.pop_back(); }},
      {"the options' order",
       [](Inputs& in) { std::swap(in.options.flags[1], in.options.flags[2]); }},
      {"architecture",
       [](Inputs& in) {
         in.arch = {10, 0, 'a'};
       }},
      {"architecture's suffix",
       [](Inputs& in) {
         in.arch = {9, 0, '\0'};
       }},
  };
  const std::vector<Change> toolchain_changes = {
      {"NVRTC's major version", [](Inputs& in) { in.toolchain.major = 12; }},
      {"NVRTC's minor version", [](Inputs& in) { in.toolchain.minor = 1; }},
      {"NVRTC's build", [](Inputs& in) { in.toolchain.nvrtc_id = "aaab"; }},
      {"the builtins' build", [](Inputs& in) { in.toolchain.builtins_id = "bbbc"; }},
      {"builds swapped",
       [](Inputs& in) { std::swap(in.toolchain.nvrtc_id, in.toolchain.builtins_id); }},
  };
  const Digest base = digest(Inputs{}.key());
  std::set<Digest> all = {base};
  for (const Change& change : kernel_changes) {
    INFO(change.name);
    Inputs changed;
    change.apply(changed);
    const Digest other = digest(changed.key());
    CHECK(other.kernel != base.kernel);
    CHECK(other.toolchain == base.toolchain);
    all.insert(other);
  }
  for (const Change& change : toolchain_changes) {
    INFO(change.name);
    Inputs changed;
    change.apply(changed);
    const Digest other = digest(changed.key());
    CHECK(other.kernel == base.kernel);
    CHECK(other.toolchain != base.toolchain);
    all.insert(other);
  }
  CHECK(all.size() == 1 + kernel_changes.size() + toolchain_changes.size());
}

TEST_CASE("nothing else changes the digest") {
  const Digest base = digest(Inputs{}.key());
  CHECK(digest(Inputs{}.key()) == base);

  Inputs reordered;
  std::ranges::reverse(reordered.closure.headers);
  CHECK(digest(reordered.key()) == base);

  // The same text at another address.
  Inputs moved;
  const std::string copy = "one";
  moved.closure.headers[0].text = copy;
  CHECK(digest(moved.key()) == base);
}

TEST_CASE("no path, user or host is in a key") {
  for (const KeyField& field : Inputs{}.key().fields) {
    INFO(field.label << " = " << field.value);
    CHECK(field.value.find('/') == std::string::npos);
  }
}

TEST_CASE("the digest of a fixed key never changes by accident") {
  // A change here makes every cached kernel a miss: raise the schema in key.cpp and record it in
  // docs/caching.md.
  Inputs fixed;
  fixed.options.flags = {"--std=c++20"};
  const Digest known = digest(fixed.key());
  CHECK(known.kernel_hex() == "e8a081be43ac4d7968c240931b8312634a63683c6294bbbc6fbab49d54cfaca7");
  CHECK(known.toolchain_hex() == "5ca22789e5684acc");
}

TEST_CASE("a key without a toolchain has the toolchain digest zero") {
  const Inputs inputs;
  const Key any = make_key(inputs.family, 1, inputs.closure, inputs.options, inputs.arch);
  CHECK(digest(any).toolchain == Sha256{});
  CHECK(digest(any).toolchain_hex() == "0000000000000000");
  CHECK(digest(any).kernel == digest(inputs.key()).kernel);
  CHECK(digest(any).kernel_hex().size() == 64);
  CHECK(inputs.toolchain.text() == "nvrtc 13.0 aaaa bbbb");
}

TEST_CASE("fields that run together serialise apart") {
  std::set<std::string> seen;
  const std::vector<std::vector<KeyField>> lists = {{},
                                                    {{"", ""}},
                                                    {{"ab", "c"}},
                                                    {{"a", "bc"}},
                                                    {{"abc", ""}},
                                                    {{"", "abc"}},
                                                    {{"a", "b"}, {"c", ""}},
                                                    {{"a", ""}, {"b", "c"}},
                                                    {{"c", ""}, {"a", "b"}}};
  for (const auto& fields : lists) {
    const std::string bytes = serialize(fields);
    CHECK(deserialize_fields(bytes) == fields);
    seen.insert(bytes);
  }
  CHECK(seen.size() == lists.size());
}

TEST_CASE("bytes that are no key are refused, whatever they are") {
  // Bytes either read back as exactly themselves or are refused.
  const auto robust = [](const std::string& bytes) {
    try {
      return serialize(deserialize_fields(bytes)) == bytes;
    } catch (const Error& error) {
      return error.code == ErrorCode::internal;
    }
  };
  const std::string good = serialize(Inputs{}.key().fields);
  for (std::size_t size = 0; size <= good.size(); ++size) REQUIRE(robust(good.substr(0, size)));
  std::mt19937 random(5);
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = good;
    for (int edits = 0; edits < 3; ++edits) {
      bytes[random() % bytes.size()] = static_cast<char>(random() & 0xff);
    }
    REQUIRE(robust(bytes));
  }
  CHECK_THROWS_AS(deserialize_fields(std::string(8, '\xff')), Error);
  CHECK_THROWS_AS(deserialize_fields(std::string(16, '\xff')), Error);
  CHECK_THROWS_AS(deserialize_fields("short"), Error);
  CHECK_THROWS_AS(deserialize_fields(good.substr(0, good.size() - 1)), Error);
}

TEST_CASE("the standard options pin what decides bits and what keeps a compile hermetic") {
  const auto flags = CompileOptions::standard().flags;
  for (const char* flag : {"--std=c++20",
                           "--fmad=false",
                           "--ftz=false",
                           "--prec-div=true",
                           "--prec-sqrt=true",
                           "--no-cache",
                           "--no-source-include",
                           "--modify-stack-limit=false",
                           "--device-as-default-execution-space"}) {
    INFO(flag);
    CHECK(std::ranges::count(flags, flag) == 1);
  }
  for (const std::string& flag : flags) {
    CHECK(flag.find("fast") == std::string::npos);
    CHECK(flag.find("gpu-architecture") == std::string::npos);
    CHECK(flag.find("seed") == std::string::npos);
  }
}
