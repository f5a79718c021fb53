// Packs of any bytes: truncated, flipped, forged, changed while open, and things that are no file.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <random>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/pack_fixtures.hpp"

namespace kiln::cache {
namespace {

using namespace testing;
using kiln::testing::contains;

// A pack in an unnamed file, where thousands of variants cost no folder.
class MemoryPack {
 public:
  MemoryPack() : file_(::memfd_create("pack", MFD_CLOEXEC)) { REQUIRE(file_); }
  std::string problem_with(std::string_view bytes) {
    REQUIRE(::ftruncate(file_.get(), 0) == 0);
    REQUIRE(::pwrite(file_.get(), bytes.data(), bytes.size(), 0) ==
            static_cast<ssize_t>(bytes.size()));
    const auto opened = Pack::open(Descriptor(::dup(file_.get())), "a pack");
    if (const auto* problem = std::get_if<Problem>(&opened)) return problem->text;
    const auto problems = std::get<Pack>(opened).verify();
    return problems.empty() ? std::string() : problems.front().reason;
  }

 private:
  Descriptor file_;
};

// A header, a checksum and a signature block that are right for these parts, as a forger would.
std::string forged(PackHeader header, std::string_view entries, const Bytes& index_and_manifest) {
  Bytes covered = encode_header(header);
  covered.insert(covered.end(), index_and_manifest.begin(), index_and_manifest.end());
  const Sha256 sum = sha256(covered);
  return std::string(as_text(encode_header(header))) + std::string(entries) +
         std::string(as_text(index_and_manifest)) +
         std::string(as_text(std::as_bytes(std::span(sum))));
}

TEST_CASE("every truncation of a pack, signed or not, is a reason", "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 2);
  const TestKeys keys(folder);
  MemoryPack memory;
  for (const bool with_signature : {false, true}) {
    if (with_signature) require_done(sign_pack(path.string(), keys.private_key));
    const std::string bytes = read_file(path);
    CHECK(memory.problem_with(bytes).empty());
    for (std::size_t size = 0; size < bytes.size(); ++size) {
      if (memory.problem_with(std::string_view(bytes).substr(0, size)).empty())
        FAIL("a prefix of " << size << " bytes of " << bytes.size() << " is a pack");
    }
    CHECK_FALSE(memory.problem_with(bytes + '\0').empty());
  }
}

TEST_CASE("every single flipped bit of a signed pack is a reason, whatever the policy", "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 2);
  const TestKeys keys(folder);
  require_done(sign_pack(path.string(), keys.private_key));
  std::string bytes = read_file(path);
  MemoryPack memory;
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    const char mask = static_cast<char>(1U << (bit % 8));
    bytes[bit / 8] ^= mask;
    if (memory.problem_with(bytes).empty()) FAIL("bit " << bit << " flipped is not seen");
    bytes[bit / 8] ^= mask;
  }
  CHECK(memory.problem_with(bytes).empty());
}

TEST_CASE("random damage is a reason, and random bytes are no pack", "[pack]") {
  const TemporaryFolder folder;
  const std::string bytes = read_file(make_pack(folder, 3));
  MemoryPack memory;
  std::mt19937 random(11);
  for (int round = 0; round < 2000; ++round) {
    std::string noise = bytes;
    for (int i = 0; i < 8; ++i) noise[random() % noise.size()] = static_cast<char>(random());
    if (round % 4 == 0) {
      for (char& c : noise) c = static_cast<char>(random());
      if (round % 8 == 0) noise.replace(0, 8, bytes.substr(0, 8));
    }
    if (noise != bytes) CHECK_FALSE(memory.problem_with(noise).empty());
  }
}

TEST_CASE("absurd sizes are refused before anything is allocated for them", "[pack]") {
  const TemporaryFolder folder;
  std::string bytes = read_file(make_pack(folder, 1));
  MemoryPack memory;
  const std::array<std::pair<std::size_t, std::size_t>, 4> fields{
      {{12, 4}, {16, 4}, {20, 4}, {24, 8}}};
  for (const auto& [offset, width] : fields) {
    for (const char value : {'\xff', '\x7f', '\x80'}) {
      std::string changed = bytes;
      changed.replace(offset, width, std::string(width, value));
      CHECK_THAT(memory.problem_with(changed), contains("sizes in the header"));
    }
  }
}

TEST_CASE("a forged index or manifest with a right checksum is a reason", "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 3);
  const Pack pack = open_pack(path);
  const std::string bytes = read_file(path);
  const std::vector<PackEntry> good(pack.entries().begin(), pack.entries().end());
  const std::uint64_t size = good.back().offset + good.back().bytes - kPackHeaderBytes;
  const std::string entries = bytes.substr(kPackHeaderBytes, size);
  MemoryPack memory;
  const auto with = [&](const std::vector<PackEntry>& index, const std::string& manifest) {
    return memory.problem_with(
        forged({index.size(), manifest.size(), 0, size}, entries, encode_index(index, manifest)));
  };
  const std::string manifest = pack.manifest_json();
  CHECK(with(good, manifest).empty());

  auto index = good;
  std::swap(index[0].digest, index[1].digest);
  CHECK_THAT(with(index, manifest), contains("not sorted"));
  index = good;
  index[1].digest = index[0].digest;
  CHECK_THAT(with(index, manifest), contains("not sorted"));
  index = good;
  index[1].offset = index[0].offset;  // one entry under two names
  CHECK_THAT(with(index, manifest), contains("follow one another"));
  index = good;
  index[2].bytes += 1;
  CHECK_THAT(with(index, manifest), contains("follow one another"));
  index = good;
  index[0].bytes = ~std::uint64_t{0} - 100;
  CHECK_THAT(with(index, manifest), contains("follow one another"));
  index = good;
  index.pop_back();
  CHECK_THAT(with(index, manifest), contains("follow one another"));
  index = good;
  index[0].checksum[0] ^= 1U;
  CHECK_THAT(with(index, manifest), contains("not those of the index"));
  index = good;
  index[2].digest.toolchain[31] ^= 1U;  // sorted still, and not the entry's own
  CHECK_THAT(with(index, manifest), contains("another key"));

  for (const std::string& wrong : {std::string(),
                                   std::string("{}"),
                                   std::string("[]"),
                                   manifest.substr(1),
                                   std::string(100000, '['),
                                   "{\"recipe\":1," + manifest.substr(1) + "x"}) {
    CHECK_THAT(with(good, wrong), contains("manifest"));
  }
  CHECK(with(good, "{\"later\":[[[[1]]],{\"a\":{}}]," + manifest.substr(1)).empty());
}

TEST_CASE("an entry whose own checksum is wrong is not verified, signed or unpacked", "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 1);
  PackEntry entry = open_pack(path).entries()[0];
  std::string bytes = read_file(path).substr(kPackHeaderBytes, entry.bytes);
  bytes.back() ^= 1;
  entry.checksum = sha256(bytes);
  const std::string manifest = open_pack(path).manifest_json();
  const std::vector index{entry};
  write_file(path,
             forged({1, manifest.size(), 0, entry.bytes}, bytes, encode_index(index, manifest)));
  const Pack pack = open_pack(path);
  REQUIRE(pack.verify().size() == 1);
  CHECK_THAT(pack.verify()[0].reason, contains("checksum does not match"));
  CHECK(unpack(pack, (folder / "root").string()).problems.size() == 1);
  CHECK(sign_pack(path.string(), TestKeys(folder).private_key));
}

TEST_CASE("a manifest has one spelling and refuses missing and wrong members", "[pack]") {
  const PackManifest manifest{{"nvrtc 13.0 a b"}, {"sm_80", "sm_90a"}, "r", {"a", "b"}, true};
  const std::string json = manifest_to_json(manifest);
  CHECK(manifest_from_json(json) == manifest);
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = json;
    changed.replace(changed.find(from), from.size(), to);
    return manifest_from_json(changed);
  };
  CHECK_FALSE(with("true", "1"));
  CHECK_FALSE(with("\"r\"", "null"));
  CHECK_FALSE(with("\"sm_80\"", "80"));
  CHECK_FALSE(with("[\"sm_80\",\"sm_90a\"]", "[\"sm_90a\",\"sm_80\"]"));
  CHECK_FALSE(with("[\"a\",\"b\"]", "[\"a\",\"a\"]"));
  CHECK_FALSE(with("[\"a\",\"b\"]", "{}"));
  CHECK_FALSE(with("\"complete\"", "\"completed\""));
  CHECK_FALSE(manifest_from_json(json + std::string(kMaxManifestBytes, ' ')));
  const PackManifest odd{{"\xff\xfe"}, {}, "\xff", {"\xc3"}, false};
  CHECK(manifest_from_json(manifest_to_json(odd)));  // replaced, not thrown
}

TEST_CASE("a pack that is cut or overwritten while it is open gives reasons and no signal",
          "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 4);
  const Pack pack = open_pack(path);
  const PackEntry last = pack.entries().back();
  fs::resize_file(path, last.offset + last.bytes / 2);
  auto cut = pack.load(last);
  REQUIRE(std::holds_alternative<Problem>(cut));
  CHECK_THAT(std::get<Problem>(cut).text, contains("cut after it had been opened"));
  CHECK(std::holds_alternative<Entry>(pack.load(pack.entries().front())));
  CHECK(pack.verify().size() == 1);
  fs::resize_file(path, 0);
  CHECK(pack.verify().size() == 4);
  fs::resize_file(path, static_cast<std::uintmax_t>(pack.file_bytes()));  // zeros
  auto zeros = pack.load(last);
  CHECK_THAT(std::get<Problem>(zeros).text, contains("not those of the index"));
}

TEST_CASE("what is no regular file is no pack, and holds nobody up", "[pack]") {
  const TemporaryFolder folder;
  CHECK_THAT(refusal(folder / "absent.kpack"), contains("ENOENT"));
  fs::create_directory(folder / "d.kpack");
  CHECK_FALSE(refusal(folder / "d.kpack").empty());
  REQUIRE(::mkfifo((folder / "f.kpack").c_str(), 0600) == 0);
  CHECK_THAT(refusal(folder / "f.kpack"), contains("not a regular file"));
  fs::create_symlink("loop.kpack", folder / "loop.kpack");
  CHECK_THAT(refusal(folder / "loop.kpack"), contains("ELOOP"));
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  (folder / "s.kpack").string().copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  CHECK_FALSE(refusal(folder / "s.kpack").empty());
  ::close(listener);
  CHECK_FALSE(refusal("/dev/null").empty());
  fs::create_symlink(make_pack(folder, 1), folder / "link.kpack");
  CHECK(refusal(folder / "link.kpack").empty());
}

TEST_CASE("a pack that others can write is not used, unless its signature is trusted", "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 1);
  const TestKeys keys(folder);
  fs::permissions(path, fs::perms::all);
  CHECK_THAT(refusal(path), contains("can be written by anybody"));
  fs::permissions(path, fs::perms(0644));
  require_done(sign_pack(path.string(), keys.private_key));
  fs::permissions(path, fs::perms::all);
  CHECK_THAT(refusal(path), contains("can be written by anybody"));
  CHECK(refusal(path, keys.check(SignaturePolicy::require)).empty());
  CHECK(refusal(path, keys.check(SignaturePolicy::warn)).empty());
}

TEST_CASE("a pack of another owner is used as its folder's owner is trusted, an unreadable one not",
          "[pack]") {
  const TemporaryFolder folder;
  const fs::path path = make_pack(folder, 1);
  fs::permissions(folder.path(), fs::perms(0755));
  CHECK(as_nobody([&] { return refusal(path).empty() ? 0 : 1; }) == 0);
  fs::permissions(path, fs::perms(0600));
  if (::geteuid() == 0) {
    CHECK(as_nobody([&] { return refusal(path).find("EACCES") != std::string::npos ? 0 : 1; }) ==
          0);
  }
}

}  // namespace
}  // namespace kiln::cache
