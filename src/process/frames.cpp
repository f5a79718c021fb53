// Framing: nothing but lengths.
// SPDX-License-Identifier: Apache-2.0
#include "src/process/frames.hpp"

#include <array>
#include <cerrno>
#include <cstdint>

#include <sys/socket.h>

namespace kiln::process {
namespace {

constexpr std::size_t kLengthBytes = 4;
constexpr std::size_t kBlockBytes = 65536;

bool send_all(int socket, const char* bytes, std::size_t count) {
  while (count > 0) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

}  // namespace

bool send_frame(int socket, std::string_view message) {
  if (message.size() > kMaxFrameBytes) return false;
  std::array<char, kLengthBytes> length{};
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length[i] = static_cast<char>((message.size() >> (8 * i)) & 0xFFU);
  }
  return send_all(socket, length.data(), length.size()) &&
         send_all(socket, message.data(), message.size());
}

std::optional<std::string> read_frame(int socket) {
  // Blocks in receive; one side sends only after the other has answered, so nothing of a next
  // message is lost with the buffer.
  FrameBuffer buffer;
  for (;;) {
    if (std::optional<std::string> message = buffer.next()) return message;
    if (!buffer.receive(socket)) return std::nullopt;
  }
}

bool FrameBuffer::receive(int socket) {
  std::array<char, kBlockBytes> block;
  const ssize_t count = ::recv(socket, block.data(), block.size(), 0);
  if (count < 0) return errno == EINTR || errno == EAGAIN;
  bytes_.append(block.data(), static_cast<std::size_t>(count));
  return count > 0 && length().value_or(0) <= kMaxFrameBytes;
}

std::optional<std::size_t> FrameBuffer::length() const {
  if (bytes_.size() < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) {
    length |= std::size_t{static_cast<unsigned char>(bytes_[i])} << (8 * i);
  }
  return length;
}

std::optional<std::string> FrameBuffer::next() {
  const std::optional<std::size_t> size = length();
  if (!size || *size > kMaxFrameBytes || bytes_.size() < kLengthBytes + *size) return std::nullopt;
  std::string message = bytes_.substr(kLengthBytes, *size);
  bytes_.erase(0, kLengthBytes + *size);
  return message;
}

}  // namespace kiln::process
