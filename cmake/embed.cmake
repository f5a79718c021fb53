# Writes OUTPUT, which defines kiln::embedded_files(): the text of every file named in LIST (paths from ROOT).
# SPDX-License-Identifier: Apache-2.0
# Run while building: cmake -DROOT=... -DLIST=... -DOUTPUT=... -P embed.cmake

set(delimiter "kiln_file")
set(entries "")
set(count 0)
file(STRINGS "${LIST}" names)
list(SORT names)
foreach(name IN LISTS names)
  if(name STREQUAL "kernels/family.hpp" OR name STREQUAL "")
    continue()
  endif()
  file(READ "${ROOT}/${name}" text)
  string(FIND "${text}" ")${delimiter}\"" position)
  if(NOT position EQUAL -1)
    message(FATAL_ERROR "${name} contains the raw-string delimiter )${delimiter}\": change one of the two")
  endif()
  string(APPEND entries "    EmbeddedFile{\"${name}\", R\"${delimiter}(${text})${delimiter}\"},\n")
  math(EXPR count "${count} + 1")
endforeach()

file(WRITE "${OUTPUT}.new" "// The text of every device file, generated.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <span>

#include \"src/core/closure.hpp\"

namespace kiln {
namespace {
constexpr std::array<EmbeddedFile, ${count}> kFiles{
${entries}};
}  // namespace

std::span<const EmbeddedFile> embedded_files() noexcept { return kFiles; }

}  // namespace kiln
")
file(RENAME "${OUTPUT}.new" "${OUTPUT}")
