// Files that a person names: whatever is there is read whole or refused, and never waited for
// without end.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "src/core/named_file.hpp"
#include "tests/temporary_folder.hpp"
#include "tests/testing.hpp"

namespace {

namespace fs = std::filesystem;
using kiln::NamedFile;
using kiln::read_named_file;
using kiln::read_regular_file;
using kiln::testing::contains;

constexpr std::size_t kMost = 1 << 20;

struct Folder {
  [[nodiscard]] std::string operator/(const char* name) const { return (folder / name).string(); }
  [[nodiscard]] std::string fifo(const char* name) const {
    REQUIRE(::mkfifo((*this / name).c_str(), 0600) == 0);
    return *this / name;
  }

  kiln::testing::TemporaryFolder folder;
};

// A pipe as a shell gives it: by the name of its descriptor.
struct Pipe {
  Pipe() { REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0); }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  ~Pipe() {
    ::close(ends[0]);
    close_writer();
  }
  void close_writer() { ::close(std::exchange(ends[1], -1)); }
  [[nodiscard]] std::string name() const { return "/dev/fd/" + std::to_string(ends[0]); }
  std::array<int, 2> ends{};
};

void write_to(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = ::write(fd, text.data() + done, text.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

void pause() { std::this_thread::sleep_for(std::chrono::milliseconds(100)); }

TEST_CASE("a regular file and a link to it are read whole") {
  const Folder folder;
  const std::string text(200'000, 'x');
  std::ofstream(folder / "file") << text;
  fs::create_symlink("file", folder / "link");
  for (const char* name : {"file", "link"}) {
    CHECK(read_named_file(folder / name, kMost).text == text);
    CHECK(read_regular_file(folder / name, kMost).text == text);
    CHECK_THAT(read_named_file(folder / name, text.size() - 1).problem,
               contains("larger than 199999 bytes"));
  }
  CHECK(read_regular_file(folder / "file", text.size()).problem.empty());
}

TEST_CASE("what is no file is refused at once, by name of what it is") {
  const Folder folder;
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string socket = folder / "socket";
  socket.copy(address.sun_path, sizeof address.sun_path - 1);
  REQUIRE(::bind(listener, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  for (const auto& read : {read_named_file, read_regular_file}) {
    CHECK(read(folder / "absent", kMost).problem == "No such file or directory");
    CHECK_THAT(read(folder / ".", kMost).problem, contains("a folder"));
    CHECK_FALSE(read(socket, kMost).problem.empty());
  }
  ::close(listener);
  CHECK(read_named_file("/dev/null", kMost).problem.empty());
  CHECK_THAT(read_named_file("/dev/zero", kMost).problem, contains("larger than"));
  CHECK_THAT(read_regular_file("/dev/null", kMost).problem, contains("no regular file"));
  CHECK_THAT(read_regular_file("/dev/zero", kMost).problem, contains("no regular file"));
}

TEST_CASE("a FIFO that nobody writes to is refused, soon") {
  const Folder folder;
  const std::string fifo = folder.fifo("fifo");
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(read_named_file(fifo, kMost).problem, contains("a FIFO that nobody writes to"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  CHECK_THAT(read_regular_file(fifo, kMost).problem, contains("a regular file is needed"));
}

TEST_CASE("a FIFO's writer may come late, write slowly, and write nothing") {
  const Folder folder;
  const std::string text(150'000, 'y');
  for (const bool writes : {true, false}) {
    const std::string fifo = folder.fifo(writes ? "writes" : "closes");
    std::thread writer([&] {
      pause();
      const int fd = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
      pause();
      if (writes) {
        write_to(fd, text.substr(0, 10));
        pause();
        write_to(fd, text.substr(10));
      }
      ::close(fd);
    });
    const NamedFile file = read_named_file(fifo, kMost);
    writer.join();
    CHECK(file.problem.empty());
    CHECK(file.text == (writes ? text : ""));
  }
}

TEST_CASE("a writer that has opened a FIFO is waited for longer than one that has not") {
  const Folder folder;
  const std::string fifo = folder.fifo("fifo");
  std::thread writer([&] {
    const int fd = ::open(fifo.c_str(), O_WRONLY | O_CLOEXEC);
    std::this_thread::sleep_for(std::chrono::milliseconds(2500));
    write_to(fd, "late");
    ::close(fd);
  });
  const NamedFile file = read_named_file(fifo, kMost);
  writer.join();
  CHECK(file.problem.empty());
  CHECK(file.text == "late");
}

TEST_CASE("a pipe without a name is read to its end") {
  const std::string text(150'000, 'z');
  Pipe slow;
  std::thread writer([&] {
    pause();
    write_to(slow.ends[1], text);
    slow.close_writer();
  });
  CHECK(read_named_file(slow.name(), kMost).text == text);
  writer.join();

  Pipe ended;
  write_to(ended.ends[1], "all of it");
  ended.close_writer();
  CHECK_THAT(read_regular_file(ended.name(), kMost).problem, contains("it is a pipe"));
  CHECK(read_named_file(ended.name(), kMost).text == "all of it");
  CHECK(read_named_file(ended.name(), kMost).problem.empty());  // nothing is left, and nobody

  Pipe endless;
  std::thread filler([&] { write_to(endless.ends[1], std::string(60'000, 'e')); });
  CHECK_THAT(read_named_file(endless.name(), 50'000).problem, contains("larger than 50000 bytes"));
  filler.join();
}

}  // namespace
