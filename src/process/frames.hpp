// Messages over a socket between a process and its worker: a length, then that many bytes.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace kiln::process {

// A cubin is at most 64 MiB, a source at most 4 MiB; anything longer is no message of ours.
inline constexpr std::size_t kMaxFrameBytes = std::size_t{128} << 20U;

// 4 bytes, little-endian, and the message. False when the other side is gone or the message is too
// long. Raises no SIGPIPE.
[[nodiscard]] bool send_frame(int socket, std::string_view message);

// Waits for one whole message. Nothing at the end of the stream, and for a length over the limit.
[[nodiscard]] std::optional<std::string> read_frame(int socket);

// Puts messages together out of whatever pieces arrive.
class FrameBuffer {
 public:
  // Reads what is there; false at the end of the stream, and when what came is no message.
  [[nodiscard]] bool receive(int socket);
  // A whole message received so far, taken off the buffer.
  [[nodiscard]] std::optional<std::string> next();

 private:
  [[nodiscard]] std::optional<std::size_t> length() const;

  std::string bytes_;
};

}  // namespace kiln::process
