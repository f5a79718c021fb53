// The symbol table of an ELF image in memory: a cubin's kernels.
// SPDX-License-Identifier: Apache-2.0
#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>

#include "src/cuda/elf.hpp"

namespace kiln {
namespace {

constexpr Elf64_Half kCudaMachine = 190;  // EM_CUDA
constexpr unsigned char kCudaEntryFlag =
    0x10;  // STO_CUDA_ENTRY in st_other: a __global__, not a __device__

template <class Record>
std::optional<Record> record_at(std::string_view image, std::uint64_t offset) {
  if (offset > image.size() || sizeof(Record) > image.size() - offset) return std::nullopt;
  Record record{};
  std::memcpy(&record, image.data() + offset, sizeof record);
  return record;
}

// The bytes of a section; empty when they are not inside the image.
std::string_view section_bytes(std::string_view image, const Elf64_Shdr& section) {
  if (section.sh_type == SHT_NOBITS || section.sh_offset > image.size() ||
      section.sh_size > image.size() - section.sh_offset) {
    return {};
  }
  return image.substr(section.sh_offset, section.sh_size);
}

std::string_view name_at(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  const std::string_view rest = names.substr(offset);
  const std::size_t end = rest.find('\0');
  return end == std::string_view::npos ? std::string_view{} : rest.substr(0, end);
}

bool defines_function(const Elf64_Sym& symbol, Elf64_Half machine) {
  return ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL &&
         symbol.st_shndx != SHN_UNDEF &&
         (machine != kCudaMachine || (symbol.st_other & kCudaEntryFlag) != 0);
}

}  // namespace

std::vector<std::string> elf_functions(std::string_view image) {
  std::vector<std::string> functions;
  const auto header = record_at<Elf64_Ehdr>(image, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
      header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
      header->e_shentsize != sizeof(Elf64_Shdr) || header->e_shoff > image.size()) {
    return functions;
  }
  const auto section = [&](std::uint64_t index) -> std::optional<Elf64_Shdr> {
    if (index >= header->e_shnum) return std::nullopt;
    return record_at<Elf64_Shdr>(image, header->e_shoff + index * sizeof(Elf64_Shdr));
  };
  for (std::uint64_t index = 0; index < header->e_shnum; ++index) {
    const auto table = section(index);
    if (!table) return functions;
    if (table->sh_type != SHT_SYMTAB) continue;
    const auto strings = section(table->sh_link);
    if (!strings) continue;
    const std::string_view names = section_bytes(image, *strings);
    const std::string_view symbols = section_bytes(image, *table);
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= symbols.size(); at += sizeof(Elf64_Sym)) {
      const auto symbol = record_at<Elf64_Sym>(symbols, at);
      if (!defines_function(*symbol, header->e_machine)) continue;
      const std::string_view name = name_at(names, symbol->st_name);
      if (!name.empty()) functions.emplace_back(name);
    }
  }
  return functions;
}

}  // namespace kiln
