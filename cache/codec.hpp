// How the cubin of an entry is stored: as it is, or compressed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

namespace kiln::cache {

// On disk: numbers are never reused.
enum class Codec : std::uint8_t { stored = 0, zstd = 1 };

struct Payload {
  Codec codec = Codec::stored;
  std::vector<std::byte> bytes;
};

// zstd level 1 where that is smaller, else the bytes themselves.
[[nodiscard]] Payload compress(std::span<const std::byte> image);

// Keeps what zstd needs to decompress, 96 KB a thread at work, which takes as long to make as a
// cubin of 20 KB to decompress. Any number of threads.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Nothing unless the payload gives exactly `image_bytes` bytes; allocates no more than that.
  [[nodiscard]] std::optional<std::vector<std::byte>> decompress(Codec codec,
                                                                 std::span<const std::byte> payload,
                                                                 std::size_t image_bytes);

 private:
  struct Free {
    void operator()(void* context) const noexcept;
  };
  using Context = std::unique_ptr<void, Free>;
  [[nodiscard]] Context take();
  void give_back(Context context);

  // Never waited for: a child that is forked while another thread holds it would wait for ever.
  std::mutex mutex_;
  std::vector<Context> idle_;
};

}  // namespace kiln::cache
