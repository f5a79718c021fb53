# Fails on an include that goes against an arrow: core <- cache, core <- cuda, process alone, all <- kiln <- tools, python.
# SPDX-License-Identifier: Apache-2.0
# Run: cmake -DROOT=<source folder> -P tests/arrows.cmake

set(project "^(kiln|src|cache|kernels|templates|tools|tests|bench|python)/")
set(violations "")
set(checked 0)

# Files of `folder` may include what matches `allowed`, of the project's own.
macro(check folder allowed)
  file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${folder}/*.hpp" "${ROOT}/${folder}/*.cpp"
       "${ROOT}/${folder}/*.cu" "${ROOT}/${folder}/*.cuh")
  list(FILTER files EXCLUDE REGEX "/golden/|/(gpu_)?test[^/]*\\.[ch]pp$")
  foreach(file IN LISTS files)
    math(EXPR checked "${checked} + 1")
    file(STRINGS "${ROOT}/${file}" lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^[^<\"]*[<\"]([^>\"]*).*" "\\1" path "${line}")
      if(path MATCHES "${project}" AND NOT path MATCHES "${allowed}")
        string(APPEND violations "\n  ${file} includes ${path}; files of ${folder} may include ${allowed}")
      endif()
    endforeach()
  endforeach()
endmacro()

check(include "^kiln/")
check(templates "^templates/")
check(src/core "^(kiln|src/core)/")
check(cache "^(kiln|src/core|cache)/")
check(src/process "^src/process/")
check(src/cuda "^(kiln|src/core|src/cuda)/")
check(kernels "^(kiln|src/core|kernels|templates)/")
check(src/service "^(kiln|src|cache|kernels)/")
check(tools "^(kiln|src|cache|kernels|tools)/")
check(python "^(kiln|python)/|^src/cuda/(device|dynamic_library).hpp$|^kernels/family.hpp$|^tools/recipe.hpp$")

if(checked EQUAL 0)
  message(FATAL_ERROR "no sources below ${ROOT}: nothing was checked")
endif()
if(violations)
  message(FATAL_ERROR "includes against an arrow:${violations}\nMove what both need to the lower folder.")
endif()
message(STATUS "${checked} files, no include against an arrow")
