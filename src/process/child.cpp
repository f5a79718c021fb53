// Spawning without fork in our own memory, and limits that need no help of the child.
// SPDX-License-Identifier: Apache-2.0
#include "src/process/child.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace kiln::process {
namespace {

constexpr std::int64_t kLogTailBytes = 4096;
constexpr int kPatienceMs = 300;

std::string log_path(const std::string& folder) { return folder + "/log"; }

// The environment with TMPDIR set to that folder.
std::vector<std::string> environment_with(const std::string& temporary) {
  std::vector<std::string> variables;
  for (char** each = environ; *each != nullptr; ++each) {
    if (std::strncmp(*each, "TMPDIR=", 7) != 0) variables.emplace_back(*each);
  }
  variables.push_back("TMPDIR=" + temporary);
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

// A socket pair whose ends are none of the child's own three descriptors and its socket: one may
// be free in this process.
bool socket_pair(int (&ends)[2]) {
  int low[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, low) != 0) return false;
  for (int i = 0; i < 2; ++i) {
    ends[i] = ::fcntl(low[i], F_DUPFD_CLOEXEC, kWorkerSocket + 1);
    ::close(low[i]);
  }
  if (ends[0] >= 0 && ends[1] >= 0) return true;
  for (const int end : ends) {
    if (end >= 0) ::close(end);
  }
  return false;
}

class SpawnPlan {
 public:
  SpawnPlan(int socket, const std::string& log) {
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(
        &actions, STDOUT_FILENO, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_adddup2(&actions, socket, kWorkerSocket);
    posix_spawn_file_actions_addclosefrom_np(&actions, kWorkerSocket + 1);
    // The parent may have blocked or ignored signals in this thread; a worker must be endable.
    posix_spawnattr_init(&attributes);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes, &signals);
    sigaddset(&signals, SIGPIPE);
    sigaddset(&signals, SIGTERM);
    posix_spawnattr_setsigdefault(&attributes, &signals);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnPlan() {
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
  }
  SpawnPlan(const SpawnPlan&) = delete;
  SpawnPlan& operator=(const SpawnPlan&) = delete;

  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
};

// Never above the hard limit that is there already.
void limit(pid_t pid, __rlimit_resource resource, rlim_t value) {
  struct rlimit limits {};
  if (::prlimit(pid, resource, nullptr, &limits) != 0) return;
  if (limits.rlim_max != RLIM_INFINITY && limits.rlim_max < value) value = limits.rlim_max;
  limits.rlim_cur = value;
  limits.rlim_max = value;
  (void)::prlimit(pid, resource, &limits, nullptr);
}

}  // namespace

std::optional<Child> Child::start(const ChildOptions& options, std::string& why) {
  PrivateFolder folder;
  const std::string temporary = folder.path() + "/tmp";
  if (folder.path().empty() || ::mkdir(temporary.c_str(), 0700) != 0) {
    why = fmt::format("no temporary folder can be made: {}", std::strerror(errno));
    return std::nullopt;
  }
  int ends[2];
  if (!socket_pair(ends)) {
    why = fmt::format("no socket can be made: {}", std::strerror(errno));
    return std::nullopt;
  }
  const SpawnPlan plan(ends[1], log_path(folder.path()));
  std::vector<std::string> arguments{options.program};
  arguments.insert(arguments.end(), options.arguments.begin(), options.arguments.end());
  std::vector<std::string> variables = environment_with(temporary);
  pid_t pid = -1;
  const int failed = ::posix_spawn(&pid,
                                   options.program.c_str(),
                                   &plan.actions,
                                   &plan.attributes,
                                   pointers(arguments).data(),
                                   pointers(variables).data());
  ::close(ends[1]);
  if (failed != 0) {
    ::close(ends[0]);
    why = fmt::format("{} cannot be started: {}", options.program, std::strerror(failed));
    return std::nullopt;
  }
  limit(pid, RLIMIT_CORE, 0);
  if (options.memory_bytes > 0) limit(pid, RLIMIT_AS, static_cast<rlim_t>(options.memory_bytes));
  return Child(pid, ends[0], std::move(folder));
}

Child::Child(pid_t pid, int socket, PrivateFolder folder)
    : pid_(pid), socket_(socket), folder_(std::move(folder)) {}

Child::Child(Child&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      folder_(std::move(other.folder_)),
      log_read_(other.log_read_),
      frames_(std::move(other.frames_)) {}

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  end();
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::exchange(other.socket_, -1);
  folder_ = std::move(other.folder_);
  log_read_ = other.log_read_;
  frames_ = std::move(other.frames_);
  return *this;
}

Child::~Child() { end(); }

// SIGKILL: a stopped child would keep any other signal until it is continued. A put is atomic.
void Child::kill() noexcept {
  if (pid_ > 0) ::kill(pid_, SIGKILL);
}

void Child::end() noexcept {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (pid_ <= 0) return;
  // An idle worker ends by itself when the socket does, and saves what it counted.
  for (int i = 0; i < kPatienceMs; ++i) {
    if (::waitpid(pid_, nullptr, WNOHANG) != 0) {
      pid_ = -1;
      return;
    }
    ::usleep(1000);
  }
  kill();
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
}

std::string Child::how_it_ended() {
  int status = 0;
  pid_t waited = -1;
  do {
    waited = ::waitpid(pid_, &status, 0);
  } while (waited < 0 && errno == EINTR);
  if (waited == pid_) pid_ = -1;
  if (WIFSIGNALED(status)) {
    return fmt::format(
        "it was killed by signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fmt::format("it exited with code {}", WEXITSTATUS(status));
}

std::string Child::take_log() {
  const int file = ::open(log_path(folder_.path()).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat status {};
  std::string text;
  if (file >= 0 && ::fstat(file, &status) == 0 && status.st_size > log_read_) {
    const std::int64_t from = std::max(log_read_, status.st_size - kLogTailBytes);
    text.resize(static_cast<std::size_t>(status.st_size - from));
    const ssize_t count = ::pread(file, text.data(), text.size(), from);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    log_read_ = status.st_size;
  }
  if (file >= 0) ::close(file);
  return text;
}

}  // namespace kiln::process
