// Build-ids are read out of memory, not out of the file: a file replaced after it was mapped would
// lie.
// SPDX-License-Identifier: Apache-2.0
#include "src/cuda/mapped_files.hpp"

#include <link.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "src/cuda/elf.hpp"
#include "src/cuda/toolchain_files.hpp"

namespace kiln {
namespace {

struct Mapped {
  std::string path;
  std::optional<std::string> build_id;
  bool holds_function = false;
};

struct Collection {
  std::uintptr_t function = 0;
  std::vector<Mapped> objects;
};

std::string_view file_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);  // npos + 1 is 0
}

int collect(dl_phdr_info* info, std::size_t, void* argument) {
  auto& collection = *static_cast<Collection*>(argument);
  Mapped mapped;
  mapped.path = info->dlpi_name;
  for (int index = 0; index < info->dlpi_phnum; ++index) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[index];
    const std::uintptr_t start = info->dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && collection.function >= start &&
        collection.function - start < segment.p_memsz) {
      mapped.holds_function = true;
    }
    if (segment.p_type == PT_NOTE && !mapped.build_id) {
      mapped.build_id = build_id_in_notes({reinterpret_cast<const char*>(start), segment.p_memsz},
                                          segment.p_align);
    }
  }
  if (mapped.holds_function || file_name(mapped.path).starts_with("libnvrtc-builtins.so")) {
    collection.objects.push_back(std::move(mapped));
  }
  return 0;
}

bool is_file(const Mapped& mapped, const std::string& path, const std::string& id) {
  if (mapped.build_id) return *mapped.build_id == id;
  return mapped.path == path && file_identity(path) == id;  // no build-id: path and the file's hash
}

}  // namespace

std::string mapped_files_problem(const ToolchainFiles& files, const void* nvrtc_function) {
  Collection collection{.function = reinterpret_cast<std::uintptr_t>(nvrtc_function),
                        .objects = {}};
  ::dl_iterate_phdr(&collect, &collection);

  const std::string builtins_name =
      fmt::format("libnvrtc-builtins.so.{}.{}", files.id.major, files.id.minor);
  bool has_nvrtc = false;
  bool has_builtins = false;
  for (const Mapped& mapped : collection.objects) {
    if (mapped.holds_function) {
      has_nvrtc = true;
      if (!is_file(mapped, files.nvrtc_path, files.id.nvrtc_id)) {
        return fmt::format("the loaded NVRTC is {}, which is not the file that was identified, {}",
                           mapped.path,
                           files.nvrtc_path);
      }
    } else if (file_name(mapped.path).starts_with(builtins_name)) {
      has_builtins = true;
      if (!is_file(mapped, files.builtins_path, files.id.builtins_id)) {
        return fmt::format(
            "other NVRTC builtins are loaded in this process, {}, and may be used instead of {}",
            mapped.path,
            files.builtins_path);
      }
    }
  }
  if (!has_nvrtc) return "the loaded NVRTC is in no mapped file";
  return has_builtins ? "" : fmt::format("{} was not mapped", files.builtins_path);
}

}  // namespace kiln
