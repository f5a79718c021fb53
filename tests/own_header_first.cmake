# Fails on a source whose first include is not the header of its name: that order proves that the header stands alone.
# SPDX-License-Identifier: Apache-2.0
# Run: cmake -DROOT=<source folder> -P tests/own_header_first.cmake

set(violations "")
set(checked 0)
foreach(folder IN ITEMS src cache kernels tools python)
  file(GLOB_RECURSE headers RELATIVE "${ROOT}" "${ROOT}/${folder}/*.hpp")
  foreach(header IN LISTS headers)
    cmake_path(REPLACE_EXTENSION header LAST_ONLY .cpp OUTPUT_VARIABLE source)
    if(NOT EXISTS "${ROOT}/${source}")
      continue()
    endif()
    math(EXPR checked "${checked} + 1")
    file(STRINGS "${ROOT}/${source}" first LIMIT_COUNT 1 REGEX "^[ \t]*#[ \t]*include")
    string(FIND "${first}" "\"${header}\"" position)
    if(position EQUAL -1)
      string(APPEND violations "\n  ${source} begins with ${first}")
    endif()
  endforeach()
endforeach()

if(checked EQUAL 0)
  message(FATAL_ERROR "no sources below ${ROOT}: nothing was checked")
endif()
if(violations)
  message(FATAL_ERROR "sources that do not include their own header first:${violations}")
endif()
message(STATUS "${checked} sources, each includes its own header first")
