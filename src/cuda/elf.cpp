// ELF files on disk: build-ids, and whether a shared library is whole.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "src/core/digest.hpp"

namespace kiln {
namespace {

#if defined(__x86_64__)
constexpr Elf64_Half kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr Elf64_Half kMachine = EM_AARCH64;
#else
#error "kiln runs where NVIDIA ships NVRTC: x86-64 and 64-bit ARM Linux"
#endif

// Linkers write about ten program headers and a few hundred bytes of notes; more is not a library.
constexpr std::uint64_t kMostSegments = 256;
constexpr std::uint64_t kMostNoteBytes = 64 * 1024;

class File {
 public:
  // O_NONBLOCK: a FIFO of that name must not hang us.
  explicit File(const std::string& path)
      : fd_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
    struct stat status {};
    if (fd_ < 0 || ::fstat(fd_, &status) != 0) {
      problem_ = fmt::format("cannot be read: {}", std::strerror(errno));
    } else if (!S_ISREG(status.st_mode)) {
      problem_ = S_ISDIR(status.st_mode) ? "is a folder" : "is not a regular file";
    } else {
      size_ = static_cast<std::uint64_t>(status.st_size);
    }
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  File(File&&) = delete;
  File& operator=(File&&) = delete;
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  [[nodiscard]] bool covers(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return offset <= size_ && bytes <= size_ - offset;
  }

  [[nodiscard]] bool read(std::uint64_t offset, void* target, std::size_t bytes) const noexcept {
    if (!covers(offset, bytes)) return false;
    auto* out = static_cast<char*>(target);
    while (bytes > 0) {
      const ssize_t got = ::pread(fd_, out, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      out += got;
      offset += static_cast<std::uint64_t>(got);
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
  std::uint64_t size_ = 0;
  std::string problem_;
};

bool is_elf64(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

// Nothing when the headers are not those of a 64-bit little-endian ELF file.
std::optional<std::pair<Elf64_Ehdr, std::vector<Elf64_Phdr>>> read_headers(const File& file) {
  Elf64_Ehdr header{};
  if (!file.read(0, &header, sizeof header) || !is_elf64(header)) return std::nullopt;
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum > kMostSegments) {
    return std::nullopt;
  }
  std::vector<Elf64_Phdr> segments(header.e_phnum);
  if (!file.read(header.e_phoff, segments.data(), segments.size() * sizeof(Elf64_Phdr))) {
    return std::nullopt;
  }
  return std::pair{header, std::move(segments)};
}

}  // namespace

std::optional<std::string> build_id_in_notes(std::string_view notes, std::size_t alignment) {
  const std::uint64_t mask = alignment == 8 ? 7 : 3;
  const auto padded = [mask](std::uint64_t bytes) { return (bytes + mask) & ~mask; };
  while (notes.size() >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr note{};
    std::memcpy(&note, notes.data(), sizeof note);
    const std::uint64_t name_at = sizeof note;
    const std::uint64_t value_at = name_at + padded(note.n_namesz);
    if (value_at > notes.size() || note.n_descsz > notes.size() - value_at) return std::nullopt;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_descsz > 0 &&
        notes.substr(name_at, note.n_namesz) == std::string_view("GNU\0", 4)) {
      const std::string_view value = notes.substr(value_at, note.n_descsz);
      return hex(std::span(reinterpret_cast<const std::uint8_t*>(value.data()), value.size()));
    }
    const std::uint64_t next = value_at + padded(note.n_descsz);
    if (next > notes.size()) return std::nullopt;
    notes.remove_prefix(next);
  }
  return std::nullopt;
}

std::optional<std::string> elf_build_id(const std::string& path) {
  const File file(path);
  if (!file.problem().empty()) return std::nullopt;
  const auto headers = read_headers(file);
  if (!headers) return std::nullopt;
  for (const Elf64_Phdr& segment : headers->second) {
    if (segment.p_type != PT_NOTE || segment.p_filesz > kMostNoteBytes) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!file.read(segment.p_offset, notes.data(), notes.size())) continue;
    if (auto id = build_id_in_notes(notes, segment.p_align)) return id;
  }
  return std::nullopt;
}

std::string shared_library_problem(const std::string& path) {
  const File file(path);
  if (!file.problem().empty()) return file.problem();
  const auto headers = read_headers(file);
  if (!headers) return "is not a 64-bit ELF file, or is cut off within its headers";
  const auto& [header, segments] = *headers;
  if (header.e_type != ET_DYN) return "is not a shared library";
  if (header.e_machine != kMachine) return "is for another processor";
  bool loads = false;
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD) continue;
    loads = true;
    if (!file.covers(segment.p_offset, segment.p_filesz)) {
      return "is truncated: a segment ends behind the end of the file";
    }
  }
  return loads ? "" : "has nothing to load";
}

}  // namespace kiln
