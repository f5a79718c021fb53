# Writes the first C++ block of README.md into a source file, so that what strangers copy is compiled and run.
# SPDX-License-Identifier: Apache-2.0
# Run as: cmake -DREADME=... -DOUTPUT=... -P readme_example.cmake

file(READ "${README}" text)
string(FIND "${text}" "```cpp\n" begin)
if(begin EQUAL -1)
  message(FATAL_ERROR "${README} has no block that starts with ```cpp")
endif()
math(EXPR begin "${begin} + 7")
string(SUBSTRING "${text}" ${begin} -1 text)
string(FIND "${text}" "```" end)
string(SUBSTRING "${text}" 0 ${end} text)
file(WRITE "${OUTPUT}" "${text}")
