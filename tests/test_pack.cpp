// Packs: round trips, the same bytes for the same contents, searching, many entries, many readers.
// SPDX-License-Identifier: Apache-2.0
#include "cache/pack.hpp"

#include <atomic>
#include <random>
#include <thread>

#include <sys/resource.h>

#include "tests/pack_fixtures.hpp"

namespace kiln::cache {
namespace {

using namespace testing;
using kiln::testing::contains;

TEST_CASE("a pack gives back the bytes of its entries and what it says about itself", "[pack]") {
  const TemporaryFolder folder;
  const Pack pack = open_pack(make_pack(folder, 5));
  REQUIRE(pack.entries().size() == 5);
  for (const PackEntry& entry : pack.entries()) {
    const EntryName name = entry_name(entry.digest);
    const std::string file = read_file(folder / "entries" / "v1/e" / name.folder / name.file);
    CHECK(as_text(std::get<Bytes>(pack.read(entry))) == file);
    CHECK(digest(std::get<Entry>(pack.load(entry)).key) == entry.digest);
  }
  CHECK(pack.manifest().architectures == std::vector<std::string>{"sm_90a"});
  CHECK(pack.manifest().toolchains == std::vector<std::string>{"nvrtc 13.0 aa bb"});
  CHECK(pack.manifest().recipe == "models");
  CHECK(pack.manifest().signatures == std::vector<std::string>{"op:n=1", "op:n=2"});
  CHECK(pack.manifest().complete);
  CHECK(pack.verify().empty());
  CHECK(pack.signature() == PackSignature::none);
  CHECK(pack.warning().empty());
  CHECK(mode_of(folder / "p.kpack") == 0644);
}

TEST_CASE("a pack of nothing is a pack", "[pack]") {
  const TemporaryFolder folder;
  const Pack pack = open_pack(make_pack(folder, 0));
  CHECK(pack.entries().empty());
  CHECK(pack.find({}) == nullptr);
  CHECK(pack.find_kernel({}).empty());
  CHECK(pack.verify().empty());
}

TEST_CASE("the bytes do not depend on the order, the place or repetition of the sources",
          "[pack]") {
  const TemporaryFolder folder;
  const std::string first = read_file(make_pack(folder, 20));
  PackContents contents;
  contents.sources = put_entries(folder / "elsewhere", 20);
  std::shuffle(contents.sources.begin(), contents.sources.end(), std::mt19937(3));
  contents.sources.push_back(contents.sources.front());
  contents.recipe = "models";
  contents.signatures = {"op:n=1", "op:n=2"};
  contents.complete = true;
  require_done(write_pack((folder / "other.kpack").string(), contents));
  CHECK(read_file(folder / "other.kpack") == first);

  // Out of the pack itself, and half out of a folder.
  const Pack pack = open_pack(folder / "p.kpack");
  for (std::size_t i = 0; i < contents.sources.size(); i += 2) {
    PackSource& source = contents.sources[i];
    source.path = pack_entry_path(pack.path(), source.digest);
  }
  require_done(write_pack((folder / "third.kpack").string(), contents));
  CHECK(read_file(folder / "third.kpack") == first);
}

TEST_CASE("format 1 of packs does not drift", "[pack]") {
  const TemporaryFolder folder;
  Cubin cubin{{}, "entry_name", 40, 4, 8, 1024};
  // Too small to compress, so that the bytes do not depend on the version of zstd.
  for (const char c : std::string_view("kiln cubin"))
    cubin.image.push_back(static_cast<std::byte>(c));
  const Key key = make_test_key("s");
  write_file(folder / "entry.k", as_text(std::get<Bytes>(encode_entry({key, cubin, "op"}))));
  PackContents contents;
  contents.sources = {{digest(key), (folder / "entry.k").string()}};
  contents.recipe = "r";
  contents.signatures = {"op:n=1"};
  require_done(write_pack((folder / "p.kpack").string(), contents));
  const std::string bytes = read_file(folder / "p.kpack");
  CHECK(bytes.size() == 686);
  CHECK(hex(sha256(bytes)) == "a2c1058a243ce5c6fe47b1496b8ac31b9c2575922567f5b2da59a7494656fa4a");
}

TEST_CASE("a kernel is found by its whole digest, and by its first part for any toolchain",
          "[pack]") {
  const TemporaryFolder folder;
  PackContents contents;
  contents.sources = put_entries(folder / "entries", 50);
  for (const std::string id : {"cc", "dd"}) {
    contents.sources.push_back(
        put_entry(folder / "entries", make_test_key("the kernel", "13.1", id)));
  }
  require_done(write_pack((folder / "p.kpack").string(), contents));
  const Pack pack = open_pack(folder / "p.kpack");
  const Digest wanted = digest(make_test_key("the kernel", "13.1", "cc"));
  REQUIRE(pack.find(wanted) != nullptr);
  CHECK(pack.find(wanted)->digest == wanted);
  CHECK(pack.find(digest(make_test_key("the kernel", "13.1", "aa"))) == nullptr);
  const auto both = pack.find_kernel(wanted.kernel);
  REQUIRE(both.size() == 2);
  CHECK(both[0].digest.kernel == wanted.kernel);
  CHECK(both[0].digest.toolchain < both[1].digest.toolchain);
  CHECK(pack.find_kernel(digest(make_test_key("absent")).kernel).empty());
}

TEST_CASE("thousands of entries are found, each, by many readers at once", "[pack]") {
  const TemporaryFolder folder;
  constexpr int kEntries = 3000;
  const Pack pack = open_pack(make_pack(folder, kEntries));
  CHECK(pack.entries().size() == kEntries);
  std::atomic<int> right{0};
  std::vector<std::thread> readers;
  for (int reader = 0; reader < 8; ++reader) {
    readers.emplace_back([&, reader] {
      for (int i = reader; i < kEntries; i += 8) {
        const Key key = make_test_key("source " + std::to_string(i));
        const PackEntry* entry = pack.find(digest(key));
        if (entry == nullptr) continue;
        const auto loaded = pack.load(*entry);
        if (std::holds_alternative<Entry>(loaded) && std::get<Entry>(loaded).key == key) ++right;
      }
    });
  }
  for (std::thread& reader : readers) reader.join();
  CHECK(right == kEntries);
}

TEST_CASE("a source that is not the entry it is said to be is refused, and no pack appears",
          "[pack]") {
  const TemporaryFolder folder;
  PackContents contents;
  contents.sources = put_entries(folder / "entries", 3);
  const std::string path = (folder / "p.kpack").string();
  const auto refused = [&](const std::string& part) {
    const auto problem = write_pack(path, contents);
    REQUIRE(problem);
    CHECK_THAT(problem->text, contains(part));
    CHECK_FALSE(fs::exists(path));
    CHECK(count_in(folder.path()) == 1);  // no temporary either
  };
  std::swap(contents.sources[0].path, contents.sources[1].path);
  refused("another key");
  std::swap(contents.sources[0].path, contents.sources[1].path);
  std::string bytes = read_file(contents.sources[2].path);
  write_file(contents.sources[2].path, bytes.substr(0, bytes.size() - 1));
  refused("sizes in the header");
  fs::remove(contents.sources[2].path);
  refused("ENOENT");
  fs::create_directory(contents.sources[2].path);
  refused("not a regular file");
  fs::remove(contents.sources[2].path);
  REQUIRE(::mkfifo(contents.sources[2].path.c_str(), 0600) == 0);
  refused("not a regular file");
}

TEST_CASE("a pack replaces the one of its name, and an open one stays what it was", "[pack]") {
  const TemporaryFolder folder;
  const Pack before = open_pack(make_pack(folder, 3));
  const Pack after = open_pack(make_pack(folder, 4));
  CHECK(before.entries().size() == 3);
  CHECK(before.verify().empty());
  CHECK(after.entries().size() == 4);
  CHECK(count_in(folder.path()) == 2);  // entries and the pack
}

TEST_CASE("what killed processes left of a pack is swept after an hour, and nothing else",
          "[pack]") {
  const TemporaryFolder folder;
  const fs::path old = folder / ".p.kpack.0123456789abcdef.tmp";
  const fs::path young = folder / ".p.kpack.1123456789abcdef.tmp";
  const fs::path other = folder / ".q.kpack.0123456789abcdef.tmp";
  for (const fs::path& path : {old, young, other}) write_file(path, "x");
  for (const fs::path& path : {old, other})
    fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::hours(2));
  (void)make_pack(folder, 1);
  CHECK_FALSE(fs::exists(old));
  CHECK(fs::exists(young));
  CHECK(fs::exists(other));
}

TEST_CASE("a pack that cannot be written is one reason", "[pack]") {
  const TemporaryFolder folder;
  write_file(folder / "file", "x");
  for (const std::string& path : {(folder / "absent" / "p.kpack").string(),
                                  (folder / "file" / "p.kpack").string(),
                                  folder.path().string() + "/",
                                  std::string()}) {
    const auto problem = write_pack(path, {});
    REQUIRE(problem);
    CHECK_THAT(problem->text, contains(path));
  }
  fs::create_directory(folder / "d.kpack");
  CHECK(write_pack((folder / "d.kpack").string(), {}));
}

TEST_CASE("a pack over the limit of file sizes is a reason, not a signal", "[pack]") {
  const TemporaryFolder folder;
  PackContents contents;
  contents.sources = put_entries(folder / "entries", 3);
  const std::string path = (folder / "p.kpack").string();
  CHECK(in_child([&] {
          const rlimit limit{500, 500};
          if (::setrlimit(RLIMIT_FSIZE, &limit) != 0) return 2;
          const auto problem = write_pack(path, contents);
          return problem && problem->text.find("EFBIG") != std::string::npos ? 0 : 1;
        }) == 0);
  CHECK(count_in(folder.path()) == 1);
}

TEST_CASE("a writer that is killed leaves the old pack or the new one, whole", "[pack]") {
  const TemporaryFolder folder;
  PackContents contents;
  contents.sources = put_entries(folder / "entries", 40);
  const std::string path = (folder / "p.kpack").string();
  require_done(write_pack(path, contents));
  std::mt19937 random(5);
  for (int round = 0; round < 40; ++round) {
    const pid_t writer = fork_child([&] {
      for (;;) {
        if (write_pack(path, contents)) return 1;
        contents.sources.pop_back();
        if (contents.sources.size() < 20) return 0;
      }
    });
    ::usleep(static_cast<useconds_t>(random() % 8000));
    ::kill(writer, SIGKILL);
    (void)wait_for(writer);
    const Pack pack = open_pack(path);
    CHECK(pack.entries().size() >= 20);
    CHECK(pack.verify().empty());
  }
}

TEST_CASE("a pack goes back into a folder as the same files", "[pack]") {
  const TemporaryFolder folder;
  const Pack pack = open_pack(make_pack(folder, 10));
  const std::string root = (folder / "root").string();
  Unpacked outcome = unpack(pack, root);
  CHECK(outcome.stored == 10);
  CHECK(outcome.problems.empty());
  for (const PackEntry& entry : pack.entries()) {
    const EntryName name = entry_name(entry.digest);
    const fs::path file = fs::path("v1/e") / name.folder / name.file;
    CHECK(read_file(root / file) == read_file(folder / "entries" / file));
  }
  outcome = unpack(pack, root);
  CHECK(outcome.stored == 0);
  CHECK(outcome.already_there == 10);
  write_file(folder / "file", "x");
  CHECK(unpack(pack, (folder / "file").string()).problems.size() == 1);
}

}  // namespace
}  // namespace kiln::cache
