// Starting, talking to and ending worker processes.
// SPDX-License-Identifier: Apache-2.0
#include "tools/warm/process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tools/environment.hpp"

namespace kiln::cli {
namespace {

constexpr std::size_t kBlockBytes = 65536;

// The environment with TMPDIR set to a fresh folder below `temporary`.
std::vector<std::string> environment_with(const std::string& temporary) {
  std::vector<std::string> variables;
  std::string folder = temporary + "/XXXXXX";
  const bool own = !temporary.empty() && mkdtemp(folder.data()) != nullptr;
  for (char** each = environ; *each != nullptr; ++each) {
    if (!own || std::strncmp(*each, "TMPDIR=", 7) != 0) variables.emplace_back(*each);
  }
  if (own) variables.push_back("TMPDIR=" + folder);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::optional<WorkerProcess> WorkerProcess::start(const std::string& temporary) {
  const std::optional<std::string> program = program_path();
  int ends[2];
  if (!program || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return std::nullopt;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  // The parent may have blocked signals in this thread; a worker must be endable.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);

  std::vector<std::string> arguments{*program, "worker"};
  std::vector<std::string> variables = environment_with(temporary);
  pid_t pid = -1;
  // /proc/self/exe rather than its target: it works for a program that was replaced or deleted
  // meanwhile.
  const int failed = posix_spawn(&pid,
                                 "/proc/self/exe",
                                 &actions,
                                 &attributes,
                                 pointers(arguments).data(),
                                 pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (failed != 0) {
    close(ends[0]);
    return std::nullopt;
  }
  return WorkerProcess(pid, ends[0]);
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      buffer_(std::move(other.buffer_)) {}

WorkerProcess& WorkerProcess::operator=(WorkerProcess&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::exchange(other.socket_, -1);
  buffer_ = std::move(other.buffer_);
  return *this;
}

WorkerProcess::~WorkerProcess() { end(); }

void WorkerProcess::end() noexcept {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  if (pid_ <= 0) return;
  kill(pid_, SIGTERM);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

bool WorkerProcess::send(const std::string& line) const {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool WorkerProcess::receive() {
  char block[kBlockBytes];
  const ssize_t count = recv(socket_, block, sizeof block, 0);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  buffer_.append(block, static_cast<std::size_t>(count));
  return count > 0;
}

std::optional<std::string> WorkerProcess::next_line() {
  const std::size_t end_of_line = buffer_.find('\n');
  if (end_of_line == std::string::npos) return std::nullopt;
  std::string line = buffer_.substr(0, end_of_line);
  buffer_.erase(0, end_of_line + 1);
  return line;
}

std::string WorkerProcess::how_it_ended() {
  int status = 0;
  pid_t waited = -1;
  do {
    waited = waitpid(pid_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited == pid_) pid_ = -1;
  if (WIFSIGNALED(status)) {
    return fmt::format(
        "it was killed by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)));
  }
  return fmt::format("it exited with code {}", WEXITSTATUS(status));
}

}  // namespace kiln::cli
