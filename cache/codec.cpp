// How the cubin of an entry is stored: as it is, or compressed.
// SPDX-License-Identifier: Apache-2.0
#include "cache/codec.hpp"

#include <new>
#include <utility>

#include <zstd.h>

namespace kiln::cache {
namespace {

// Level 1: cubins halve at 400 MB/s, and a higher level saves a few percent for several times the
// time.
constexpr int kLevel = 1;

// More threads than this at once make their own.
constexpr std::size_t kKeptContexts = 8;

std::optional<std::vector<std::byte>> decompress_zstd(ZSTD_DCtx* context,
                                                      std::span<const std::byte> payload,
                                                      std::size_t image_bytes) {
  // The frame must announce the size that the header did, before anything is allocated for it.
  const unsigned long long announced = ZSTD_getFrameContentSize(payload.data(), payload.size());
  if (announced != image_bytes) return std::nullopt;
  const std::size_t frame = ZSTD_findFrameCompressedSize(payload.data(), payload.size());
  if (ZSTD_isError(frame) != 0 || frame != payload.size()) return std::nullopt;
  std::vector<std::byte> image(image_bytes);
  const std::size_t got =
      ZSTD_decompressDCtx(context, image.data(), image.size(), payload.data(), payload.size());
  if (ZSTD_isError(got) != 0 || got != image_bytes) return std::nullopt;
  return image;
}

}  // namespace

Payload compress(std::span<const std::byte> image) {
  Payload packed{Codec::zstd, std::vector<std::byte>(ZSTD_compressBound(image.size()))};
  const std::size_t size =
      ZSTD_compress(packed.bytes.data(), packed.bytes.size(), image.data(), image.size(), kLevel);
  if (ZSTD_isError(size) != 0 || size >= image.size()) {
    return {Codec::stored, std::vector<std::byte>(image.begin(), image.end())};
  }
  packed.bytes.resize(size);
  return packed;
}

Decompressor::Decompressor() = default;
Decompressor::~Decompressor() = default;

void Decompressor::Free::operator()(void* context) const noexcept {
  ZSTD_freeDCtx(static_cast<ZSTD_DCtx*>(context));
}

Decompressor::Context Decompressor::take() {
  {
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (lock && !idle_.empty()) {
      Context context = std::move(idle_.back());
      idle_.pop_back();
      return context;
    }
  }
  Context context(ZSTD_createDCtx());
  if (!context) throw std::bad_alloc();
  return context;
}

void Decompressor::give_back(Context context) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (lock && idle_.size() < kKeptContexts) idle_.push_back(std::move(context));
}

std::optional<std::vector<std::byte>> Decompressor::decompress(Codec codec,
                                                               std::span<const std::byte> payload,
                                                               std::size_t image_bytes) {
  switch (codec) {
    case Codec::stored:
      if (payload.size() != image_bytes) return std::nullopt;
      return std::vector<std::byte>(payload.begin(), payload.end());
    case Codec::zstd:
      Context context = take();
      auto image = decompress_zstd(static_cast<ZSTD_DCtx*>(context.get()), payload, image_bytes);
      give_back(std::move(context));
      return image;
  }
  return std::nullopt;
}

}  // namespace kiln::cache
