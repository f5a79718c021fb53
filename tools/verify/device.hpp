// Owners of device state for checking and timing: a current context, streams, events, memory.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/cuda/driver.hpp"

namespace kiln::verify {

// Makes the primary context of a device current in this thread while it lives. `driver` must
// outlive it.
class CurrentDevice {
 public:
  CurrentDevice(const Driver& driver, int ordinal);
  ~CurrentDevice();
  CurrentDevice(const CurrentDevice&) = delete;
  CurrentDevice& operator=(const CurrentDevice&) = delete;

 private:
  const Driver& driver_;
  int device_ = 0;
};

// A stream that does not wait for the legacy default stream.
class Stream {
 public:
  explicit Stream(const Driver& driver);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  [[nodiscard]] CUstream_st* get() const noexcept { return stream_; }
  // Waits for everything on it; throws what a kernel did wrong.
  void synchronize(const char* doing) const;

 private:
  const Driver& driver_;
  CUstream_st* stream_ = nullptr;
};

class Event {
 public:
  explicit Event(const Driver& driver);
  ~Event();
  Event(Event&& other) noexcept;
  Event& operator=(Event&&) = delete;

  void record(CUstream_st* stream) const;
  // Waits for this event.
  [[nodiscard]] double microseconds_since(const Event& start) const;

 private:
  const Driver& driver_;
  void* event_ = nullptr;
};

// Device memory; throws Error{out_of_memory} when there is none.
class Block {
 public:
  Block(const Driver& driver, std::int64_t bytes);
  ~Block();
  Block(Block&& other) noexcept;
  Block& operator=(Block&&) = delete;

  [[nodiscard]] std::uint64_t address() const noexcept { return address_; }
  [[nodiscard]] std::int64_t bytes() const noexcept { return bytes_; }
  // Returns when the bytes are there, so that work on any stream may follow.
  void upload(std::span<const std::byte> bytes, std::int64_t offset = 0) const;
  [[nodiscard]] std::vector<std::byte> download() const;
  // Sets every byte; returns when done.
  void fill(unsigned char value) const;

 private:
  const Driver& driver_;
  std::uint64_t address_ = 0;
  std::int64_t bytes_ = 0;
};

}  // namespace kiln::verify
