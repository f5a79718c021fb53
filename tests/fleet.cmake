# The command line for fleets, forked children, the image example and the man page.
# SPDX-License-Identifier: Apache-2.0
kiln_test(test_fleet
  SOURCES cli_program.cpp test_cli_fleet.cpp test_service_fork.cpp
  LIBRARIES kiln kiln_process nlohmann_json::nlohmann_json fmt::fmt)
target_compile_definitions(test_fleet PRIVATE KILN_PROGRAM="$<TARGET_FILE:kiln_cli>")
add_dependencies(test_fleet kiln_cli kiln_worker)

# kiln takes NVRTC from where the tests do; in the image it gets none.
add_test(NAME "examples: the image is baked and runs without a compiler"
         COMMAND ${CMAKE_COMMAND} -DSCRIPT=${PROJECT_SOURCE_DIR}/examples/image/build.sh -DKILN=$<TARGET_FILE:kiln_cli>
                 -DFOLDER=${CMAKE_CURRENT_BINARY_DIR}/image -P "${CMAKE_CURRENT_SOURCE_DIR}/image.cmake")
set_tests_properties("examples: the image is baked and runs without a compiler" PROPERTIES TIMEOUT 300
                     ENVIRONMENT "${KILN_TEST_NVRTC}")
