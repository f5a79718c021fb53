# Test binaries and how ctest sees them.
# SPDX-License-Identifier: Apache-2.0
include(Catch)

# A toolkit is found by kiln's own search; NVIDIA's wheels in build/venv are named to it.
set(KILN_TEST_NVRTC "")
set(KILN_TEST_ENVIRONMENT "")
if(KILN_CUDA_HOME MATCHES "/site-packages/")
  set(KILN_TEST_NVRTC "KILN_NVRTC=${KILN_NVRTC_LIBRARY}")
  set(KILN_TEST_ENVIRONMENT ENVIRONMENT "${KILN_TEST_NVRTC}")
endif()

# One ctest entry a test case.
function(kiln_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} kiln_includes kiln_warnings Catch2::Catch2WithMain)
  target_compile_definitions(${name} PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  catch_discover_tests(${name} TEST_PREFIX "${name}: " PROPERTIES TIMEOUT ${arg_TIMEOUT}
                                                                ${KILN_TEST_ENVIRONMENT})
endfunction()

# main of the GPU tests: compiled once, slow with Catch2 2.
add_library(kiln_gpu_main OBJECT "${PROJECT_SOURCE_DIR}/tests/gpu_main.cpp")
target_link_libraries(kiln_gpu_main PRIVATE kiln_cuda kiln_warnings Catch2::Catch2)

# One ctest entry a binary: without a device it exits 77 and is shown as skipped.
function(kiln_gpu_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT" "SOURCES;LIBRARIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_LIBRARIES} kiln_gpu_main kiln_cuda kiln_includes kiln_warnings
                                        Catch2::Catch2)
  target_compile_definitions(${name} PRIVATE KILN_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 LABELS gpu TIMEOUT ${arg_TIMEOUT} RESOURCE_LOCK gpu
                       ${KILN_TEST_ENVIRONMENT})
  # A runner refuses two test cases of one name: found without a device too. Catch2 2 exits with their number.
  add_test(NAME "${name}: every test case has a name of its own" COMMAND ${name} --list-tests)
  set_tests_properties("${name}: every test case has a name of its own" PROPERTIES
    PASS_REGULAR_EXPRESSION "[0-9]+ test case" FAIL_REGULAR_EXPRESSION "already defined")
endfunction()
