// One worker process and the socket to it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

namespace kiln::cli {

class WorkerProcess {
 public:
  // Starts this program's hidden verb `worker`, with a temporary folder of its own below
  // `temporary` (empty: shared). Nothing when it cannot be started.
  [[nodiscard]] static std::optional<WorkerProcess> start(const std::string& temporary);

  WorkerProcess(WorkerProcess&& other) noexcept;
  WorkerProcess& operator=(WorkerProcess&& other) noexcept;
  ~WorkerProcess();  // ends it

  [[nodiscard]] int socket() const noexcept { return socket_; }
  // False when the worker is gone.
  [[nodiscard]] bool send(const std::string& line) const;
  // Reads what is there; false when the worker closed its end.
  [[nodiscard]] bool receive();
  // A whole line received so far, taken off the buffer.
  [[nodiscard]] std::optional<std::string> next_line();
  // Waits for the end; says how it ended: "it exited with code 1", "it was killed by signal 11
  // (Segmentation fault)".
  [[nodiscard]] std::string how_it_ended();

 private:
  WorkerProcess(pid_t pid, int socket) : pid_(pid), socket_(socket) {}
  void end() noexcept;

  pid_t pid_ = -1;
  int socket_ = -1;
  std::string buffer_;
};

}  // namespace kiln::cli
