// Every file that a person may name on the command line, where something else is in its place.
// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/cli_program.hpp"
#include "tests/testing.hpp"

namespace {

using kiln::testing::contains;
using kiln::testing::Program;
using kiln::testing::Ran;
using Arguments = std::vector<std::string>;

const std::string kSignature = "rms_norm_backward:n=64,x=f32,w=none";
const std::string kDescription = KILN_SOURCE_DIR "/examples/l2_norm_backward.json";
const std::string kDescribed = "l2_norm_backward:n=64";

// Every place of the command line for a file that is read.
std::vector<Arguments> readers_of(const std::string& file) {
  return {
      {"warm", "--recipe", file, "--arch", "sm_90a"},
      {"warm", "--recipe", file, "--arch", "sm_90a", "--dry-run"},
      {"pack", file + ".kpack", "--recipe", file, "--arch", "sm_90a"},
      {"doctor", "--recipe", file, "--arch", "sm_90a"},
      {"warm", "--ops", file, "--signature", kSignature, "--arch", "sm_90a"},
      {"explain", kSignature, "--ops", file, "--arch", "sm_90a"},
      {"emit", kSignature, "--ops", file, "--arch", "sm_90a"},
      {"why", kSignature, "--ops", file, "--arch", "sm_90a"},
      {"show", file},
      {"why", file, file},
      {"unpack", file},
      {"sign", file, "--key", kDescription},
      {"trust", file},
      {"tune", kSignature, "--store", file},
  };
}

// Ends the program with a signal where it waits for ever.
Ran run_for_a_minute(const Program& program, const Arguments& arguments) {
  const pid_t pid = program.start(arguments);
  std::array<int, 2> done{};
  REQUIRE(::pipe2(done.data(), O_CLOEXEC) == 0);
  std::thread watch([&] {
    pollfd ended{done[0], POLLIN, 0};
    if (::poll(&ended, 1, 60'000) == 0) ::kill(pid, SIGKILL);
  });
  const Ran ran = program.finish(pid);
  ::close(done[1]);
  watch.join();
  ::close(done[0]);
  return ran;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// What is written into a FIFO once somebody reads it.
class Writer {
 public:
  Writer(std::string fifo, std::string text)
      : thread_([fifo = std::move(fifo), text = std::move(text)] {
          std::ofstream(fifo, std::ios::binary) << text;
        }) {}
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;
  ~Writer() { thread_.join(); }

 private:
  std::thread thread_;
};

TEST_CASE("a FIFO that nobody writes to, in place of any file, is an error that names it") {
  const Program program;
  const std::string fifo = program.folder() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  ::setenv("KILN_TRUSTED_KEYS", (program.folder() + "/keys").c_str(), 1);
  for (const Arguments& arguments : readers_of(fifo)) {
    const Ran ran = run_for_a_minute(program, arguments);
    CAPTURE(arguments[0], arguments[1], ran.out, ran.err);
    CHECK(ran.code > 0);
    CHECK_THAT(ran.out + ran.err, contains(fifo));  // doctor's findings are data
  }
  ::unsetenv("KILN_TRUSTED_KEYS");
}

TEST_CASE("a tuning file, a layer and a trusted key that are FIFOs hold nothing up") {
  const Program program;
  const std::string fifo = program.folder() + "/fifo.pem";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const Arguments plan{"explain", kSignature, "--arch", "sm_90a"};
  const Ran tuned = program.run(plan, {{"KILN_TUNING", fifo}});
  CHECK(tuned.code == 2);
  CHECK_THAT(tuned.err, contains(fifo) && contains("a regular file is needed"));
  for (const std::string option : {"", "?sign=require"})
    CHECK(program.run({"list"}, {{"KILN_CACHE_LAYERS", fifo + option}}).code == 0);
  const Ran trusting = program.run({"doctor"}, {{"KILN_TRUSTED_KEYS", program.folder()}});
  CHECK(trusting.code >= 0);
}

TEST_CASE("a FIFO with a writer serves as a recipe and as a description") {
  const Program program;
  const std::string fifo = program.folder() + "/fifo";
  REQUIRE(::mkfifo(fifo.c_str(), 0600) == 0);
  const auto given = [&](const std::string& text, const Arguments& arguments) {
    const Writer writer(fifo, text);
    return run_for_a_minute(program, arguments);
  };
  const Ran dry =
      given(kSignature + "\n", {"warm", "--recipe", fifo, "--arch", "sm_90a", "--dry-run"});
  CHECK(dry.code == 0);
  CHECK_THAT(dry.out, contains("1 kernels requested"));
  const std::string description = text_of(kDescription);
  const Ran explained =
      given(description, {"explain", kDescribed, "--ops", fifo, "--arch", "sm_90a"});
  CHECK(explained.code == 0);
  CHECK_THAT(explained.out, contains("l2_norm_backward"));
  // Worker processes read it again.
  const Ran warmed =
      given(description, {"warm", "--signature", kDescribed, "--ops", fifo, "--arch", "sm_90a"});
  CHECK(warmed.code == 1);
  CHECK_THAT(warmed.err, contains(fifo) && contains("regular file"));
}

}  // namespace
