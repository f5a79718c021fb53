// Bytes as string literals: GCC reads them about a hundred times faster than lists of numbers.
// SPDX-License-Identifier: Apache-2.0
#include "tools/composed_source.hpp"

#include <cstddef>

#include <fmt/format.h>

namespace kiln::composed {
namespace {

constexpr std::size_t kBytesPerLine = 64;

// Always three octal digits: an octal escape never swallows what follows it. '?' too, because of
// trigraphs.
void append_escaped(std::string& out, unsigned char byte) {
  if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\' && byte != '?') {
    out += static_cast<char>(byte);
    return;
  }
  out += '\\';
  out += static_cast<char>('0' + (byte >> 6));
  out += static_cast<char>('0' + ((byte >> 3) & 7));
  out += static_cast<char>('0' + (byte & 7));
}

std::string literal(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size() * 3);
  for (std::size_t at = 0; at < bytes.size(); at += kBytesPerLine) {
    out += "\n    \"";
    for (const char byte : bytes.substr(at, kBytesPerLine)) {
      append_escaped(out, static_cast<unsigned char>(byte));
    }
    out += '"';
  }
  return out.empty() ? "\"\"" : out;
}

void append_image(std::string& out, const Image& image, std::size_t index) {
  // 16: images are read in place, and the driver reads ELF headers as structs. The literal's own
  // zero is not counted.
  out += fmt::format("alignas(16) constexpr char kBytes{}[] ={};\n\n", index, literal(image.bytes));
  out += fmt::format(
      "constexpr std::array<ComposedEntry, {}> kEntries{}{{{{\n", image.entries.size(), index);
  for (const Cubin& entry : image.entries) {
    out += fmt::format("    {{\"{}\", {}, {}, {}}},\n",
                       entry.entry,
                       entry.registers,
                       entry.spill_bytes,
                       entry.static_smem_bytes);
  }
  out += "}};\n\n";
}

std::string suffix_literal(const Arch& arch) {
  return arch.suffix == '\0' ? "'\\0'" : fmt::format("'{}'", arch.suffix);
}

}  // namespace

std::string composed_source(std::string_view family, const std::vector<Image>& images) {
  std::string out = fmt::format(
      "// The composed kernels of {}, compiled; generated.\n"
      "// SPDX-License-Identifier: Apache-2.0\n"
      "#include <array>\n#include <cstddef>\n#include <span>\n\n"
      "#include \"src/service/composed_images.hpp\"\n\n"
      "#pragma GCC diagnostic ignored \"-Woverlength-strings\"\n\n"
      "namespace kiln::composed::{} {{\nnamespace {{\n\n",
      family,
      family);
  for (std::size_t index = 0; index < images.size(); ++index)
    append_image(out, images[index], index);
  out +=
      "}  // namespace\n\n"
      "std::span<const ComposedImage> images() noexcept;\n\n"
      "std::span<const ComposedImage> images() noexcept {\n"
      "  const auto bytes = [](const char* text, std::size_t size) {\n"
      "    return std::span(reinterpret_cast<const std::byte*>(text), size);\n"
      "  };\n";
  out += fmt::format("  static const std::array<ComposedImage, {}> all{{{{\n", images.size());
  for (std::size_t index = 0; index < images.size(); ++index) {
    const Image& image = images[index];
    out += fmt::format("      {{\"{}\", {{{}, {}, {}}}, {}, bytes(kBytes{}, {}), kEntries{}}},\n",
                       family,
                       image.arch.major,
                       image.arch.minor,
                       suffix_literal(image.arch),
                       image.ptx,
                       index,
                       image.bytes.size(),
                       index);
  }
  out += fmt::format("  }}}};\n  return all;\n}}\n\n}}  // namespace kiln::composed::{}\n", family);
  return out;
}

}  // namespace kiln::composed
