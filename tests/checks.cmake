# Checks of the tree itself: includes, headers, the installed package.
# SPDX-License-Identifier: Apache-2.0

add_test(NAME "tree: no include goes against an arrow"
         COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P "${CMAKE_CURRENT_SOURCE_DIR}/arrows.cmake")

# The check itself must be able to fail: a tree a folder, with one include too many.
foreach(case IN ITEMS src/core:cache/store.hpp src/process:kiln/error.hpp python/src:cache/store.hpp)
  string(REPLACE ":" ";" case "${case}")
  list(GET case 0 folder)
  list(GET case 1 included)
  set(bad_tree "${CMAKE_CURRENT_BINARY_DIR}/bad_tree/${folder}")
  file(WRITE "${bad_tree}/${folder}/upward.cpp" "#include \"${included}\"\n")
  set(name "tree: an include against an arrow is found in ${folder}")
  add_test(NAME "${name}" COMMAND ${CMAKE_COMMAND} -DROOT=${bad_tree} -P "${CMAKE_CURRENT_SOURCE_DIR}/arrows.cmake")
  set_tests_properties("${name}" PROPERTIES PASS_REGULAR_EXPRESSION "${folder}/upward.cpp includes ${included}")
endforeach()

add_test(NAME "tree: inline assembly that touches memory is volatile"
         COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P "${CMAKE_CURRENT_SOURCE_DIR}/volatile_asm.cmake")
set(bad_tree "${CMAKE_CURRENT_BINARY_DIR}/bad_tree/asm")
file(WRITE "${bad_tree}/templates/load.cuh" "asm(\"ld.global.b32 %0, [%1];\" : \"=r\"(out) : \"l\"(global))\n")
add_test(NAME "tree: inline assembly that lacks volatile is found"
         COMMAND ${CMAKE_COMMAND} -DROOT=${bad_tree} -P "${CMAKE_CURRENT_SOURCE_DIR}/volatile_asm.cmake")
set_tests_properties("tree: inline assembly that lacks volatile is found" PROPERTIES PASS_REGULAR_EXPRESSION "load.cuh: ld")

# Headers that no .cpp of their own includes first are compiled by themselves; the rest are by that .cpp.
add_test(NAME "tree: every source includes its own header first"
         COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -P "${CMAKE_CURRENT_SOURCE_DIR}/own_header_first.cmake")
file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/*.hpp" "${PROJECT_SOURCE_DIR}/src/*.hpp"
     "${PROJECT_SOURCE_DIR}/cache/*.hpp" "${PROJECT_SOURCE_DIR}/kernels/*.hpp" "${PROJECT_SOURCE_DIR}/templates/*.hpp"
     "${PROJECT_SOURCE_DIR}/tools/*.hpp")
set(lone_headers "")
foreach(header IN LISTS headers)
  cmake_path(REPLACE_EXTENSION header LAST_ONLY .cpp OUTPUT_VARIABLE source)
  if(NOT EXISTS "${source}")
    list(APPEND lone_headers "${header}")
  endif()
endforeach()
add_library(kiln_headers INTERFACE)
target_sources(kiln_headers INTERFACE FILE_SET HEADERS BASE_DIRS "${PROJECT_SOURCE_DIR}" FILES ${lone_headers})
target_link_libraries(kiln_headers INTERFACE kiln_includes kiln_cuda_headers)
set_target_properties(kiln_headers PROPERTIES VERIFY_INTERFACE_HEADER_SETS ON)
add_test(NAME "tree: every header stands alone"
         COMMAND ${CMAKE_COMMAND} --build "${PROJECT_BINARY_DIR}" --target all_verify_interface_header_sets)
set_tests_properties("tree: every header stands alone" PROPERTIES TIMEOUT 600 RESOURCE_LOCK build_folder)

# A sanitised shared library wants its runtime first in every program that loads it: not what a stranger builds.
if(NOT KILN_SANITIZE)
  add_test(NAME "tree: an installed kiln serves a stranger's project"
           COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -DSOURCE=${CMAKE_CURRENT_SOURCE_DIR}/consumer
                   -DWORK=${CMAKE_CURRENT_BINARY_DIR}/consumer -DLIBDIR=${CMAKE_INSTALL_LIBDIR}
                   -DCXX=${CMAKE_CXX_COMPILER} -DNM=${CMAKE_NM} -DGENERATOR=${CMAKE_GENERATOR} -P
                   "${CMAKE_CURRENT_SOURCE_DIR}/consumer/check.cmake")
  set_tests_properties("tree: an installed kiln serves a stranger's project"
                       PROPERTIES TIMEOUT 300 RESOURCE_LOCK build_folder)
endif()
