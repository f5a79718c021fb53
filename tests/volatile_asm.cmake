# Fails on inline assembly that touches memory, a barrier or a clock and is not volatile: the compiler may then move it
# before the branch that guards it, or out of its loop.
# SPDX-License-Identifier: Apache-2.0
# Run: cmake -DROOT=<source folder> -P tests/volatile_asm.cmake

# PTX that reads registers and constants alone may be moved and merged.
set(movable "abs|min|max|cvt|mov|mapa|createpolicy|add|sub|mul|fma|mad|ex2|lg2|rcp|rsqrt|sqrt|tanh|sin|cos|selp|setp|prmt|shf|lop3|bfe|bfi")
file(GLOB_RECURSE files "${ROOT}/templates/*.cuh" "${ROOT}/templates/*.hpp" "${ROOT}/kernels/*.cuh" "${ROOT}/kernels/*.cu"
     "${ROOT}/kernels/*.hpp")
list(FILTER files EXCLUDE REGEX "/golden/")
set(checked 0)
set(violations "")
foreach(file IN LISTS files)
  file(READ "${file}" text)
  string(REGEX MATCHALL "asm[ \t\r\n]*\\([ \t\r\n]*\"[^\";]*" statements "${text}")
  foreach(statement IN LISTS statements)
    math(EXPR checked "${checked} + 1")
    string(REGEX REPLACE "^[^\"]*\"[{ \t]*([a-z0-9_]*).*" "\\1" instruction "${statement}")
    if(NOT instruction MATCHES "^(${movable})$")
      string(APPEND violations "\n  ${file}: ${instruction}")
    endif()
  endforeach()
endforeach()

if(checked EQUAL 0)
  message(FATAL_ERROR "no inline assembly below ${ROOT}: nothing was checked")
endif()
if(violations)
  message(FATAL_ERROR "inline assembly that must be volatile:${violations}\nWrite asm volatile.")
endif()
message(STATUS "${checked} statements that may be moved: registers and constants alone")
