// A worker process: spawned, limited, listened to, ended.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "src/process/frames.hpp"
#include "src/process/private_folder.hpp"

namespace kiln::process {

// Where a worker finds its end of the socket.
inline constexpr int kWorkerSocket = 3;

struct ChildOptions {
  std::string program;  // path of the executable
  std::vector<std::string> arguments;
  std::int64_t memory_bytes = 0;  // RLIMIT_AS; 0: as this process
};

class Child {
 public:
  // The child has /dev/null for stdin, its end of the socket as kWorkerSocket, a log file for
  // stdout and stderr, a private TMPDIR, no other descriptor of ours, no blocked signal and no core
  // dumps. Nothing, with the reason, when it cannot be started.
  [[nodiscard]] static std::optional<Child> start(const ChildOptions& options, std::string& why);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();  // ends it: by itself within a moment, else by force, even when it is stopped

  [[nodiscard]] int socket() const noexcept { return socket_; }
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  [[nodiscard]] bool send(std::string_view message) const { return send_frame(socket_, message); }
  // False when the child closed its end, or sends what is no message.
  [[nodiscard]] bool receive() { return frames_.receive(socket_); }
  [[nodiscard]] std::optional<std::string> next() { return frames_.next(); }

  void kill() noexcept;
  // Waits for the end; says how it ended: "it exited with code 1", "it was killed by signal 11
  // (Segmentation fault)".
  [[nodiscard]] std::string how_it_ended();
  // The last 4 KiB of what it wrote to stdout and stderr since the last call.
  [[nodiscard]] std::string take_log();

 private:
  Child(pid_t pid, int socket, PrivateFolder folder);
  void end() noexcept;

  pid_t pid_ = -1;
  int socket_ = -1;
  PrivateFolder folder_;
  std::int64_t log_read_ = 0;
  FrameBuffer frames_;
};

}  // namespace kiln::process
