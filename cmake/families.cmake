# Turns family folders into a library: adding a family is adding a folder, with no edit elsewhere.
# SPDX-License-Identifier: Apache-2.0
#
# A family folder <root>/<name> has a family.cpp that defines `namespace kiln::<name> { extern const kiln::Family
# family; }`. It may have further .cpp files, device files (*.cuh, *.hpp), a composed.cu that is compiled for every
# architecture while building, an include/ folder of public headers, and tests (test*.cpp, gpu_test*.cpp).

# The family folders below `roots` (relative to the source folder), sorted.
function(kiln_family_folders out)
  set(folders "")
  foreach(root IN LISTS ARGN)
    file(GLOB found CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/${root}/*/family.cpp")
    foreach(file IN LISTS found)
      cmake_path(GET file PARENT_PATH folder)
      list(APPEND folders "${folder}")
    endforeach()
  endforeach()
  list(SORT folders)
  set(${out} "${folders}" PARENT_SCOPE)
endfunction()

# The device files a kernel may include, and the descriptions that device code is generated from, relative to the
# source folder, sorted.
function(kiln_device_files out)
  set(patterns templates/*.cuh templates/*.hpp)
  foreach(root IN LISTS ARGN)
    list(APPEND patterns ${root}/*/*.cuh ${root}/*/*.hpp ${root}/*/ops/*.json)
  endforeach()
  list(TRANSFORM patterns PREPEND "${PROJECT_SOURCE_DIR}/")
  file(GLOB files CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}" ${patterns})
  list(FILTER files EXCLUDE REGEX "/(gpu_)?test[^/]*\\.hpp$")
  list(SORT files)
  set(${out} "${files}" PARENT_SCOPE)
endfunction()

# The object library kiln_family_<name>; made once, however many libraries list the family.
function(kiln_add_family folder)
  cmake_path(GET folder FILENAME name)
  if(TARGET kiln_family_${name})
    return()
  endif()
  file(GLOB sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${folder}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/(gpu_)?test[^/]*\\.cpp$")
  add_library(kiln_family_${name} OBJECT ${sources})
  target_link_libraries(kiln_family_${name} PUBLIC kiln_core PRIVATE kiln_warnings)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/include")
    target_include_directories(kiln_family_${name} PUBLIC "${PROJECT_SOURCE_DIR}/${folder}/include")
  endif()
endfunction()

# The object library kiln_composed_<name>: composed.cu, compiled for every architecture and embedded.
function(kiln_add_composed folder device_files)
  cmake_path(GET folder FILENAME name)
  if(TARGET kiln_composed_${name})
    return()
  endif()
  set(output "${PROJECT_BINARY_DIR}/generated/composed/${name}.cpp")
  list(TRANSFORM device_files PREPEND "${PROJECT_SOURCE_DIR}/")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND kiln_embed_composed --family ${name} --source ${folder}/composed.cu --root "${PROJECT_SOURCE_DIR}" --output
            "${output}" --nvrtc "${KILN_NVRTC_LIBRARY}"
    DEPENDS kiln_embed_composed "${PROJECT_SOURCE_DIR}/${folder}/composed.cu" ${device_files} "${KILN_NVRTC_LIBRARY}"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    COMMENT "Compiling ${folder}/composed.cu for every architecture"
    VERBATIM)
  add_library(kiln_composed_${name} OBJECT "${output}")
  target_link_libraries(kiln_composed_${name} PRIVATE kiln_core kiln_warnings)
endfunction()

# families(): an explicit list, because registration by static initialisers is silently dropped from an archive.
function(kiln_generate_family_list output)
  set(declarations "")
  set(entries "")
  foreach(folder IN LISTS ARGN)
    cmake_path(GET folder FILENAME name)
    string(APPEND declarations "namespace kiln::${name} {\nextern const kiln::Family family;\n}\n")
    string(APPEND entries "    &kiln::${name}::family,\n")
  endforeach()
  list(LENGTH ARGN KILN_COUNT)
  set(KILN_DECLARATIONS "${declarations}")
  set(KILN_ENTRIES "${entries}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/families.cpp.in" "${output}" @ONLY)
endfunction()

# composed_images(): the images of every family that has a composed.cu, one list.
function(kiln_generate_composed_list output)
  set(declarations "")
  set(entries "")
  foreach(folder IN LISTS ARGN)
    cmake_path(GET folder FILENAME name)
    string(APPEND declarations
           "namespace kiln::composed::${name} {\nstd::span<const kiln::ComposedImage> images() noexcept;\n}\n")
    string(APPEND entries "    append(kiln::composed::${name}::images());\n")
  endforeach()
  set(KILN_DECLARATIONS "${declarations}")
  set(KILN_ENTRIES "${entries}")
  configure_file("${PROJECT_SOURCE_DIR}/cmake/composed_images.cpp.in" "${output}" @ONLY)
endfunction()

# kiln_add_service_library(<target> FAMILY_ROOTS <folder>...)
#
# <target>_families: kiln_core, the families below the roots, their list and the embedded device files.
# <target>: that, the composed kernels, the cache, CUDA and the service. Both are interface targets that carry object
# files, so that a second library with more families compiles only its lists anew.
function(kiln_add_service_library target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FAMILY_ROOTS")
  kiln_family_folders(folders ${arg_FAMILY_ROOTS})
  kiln_device_files(device_files ${arg_FAMILY_ROOTS})
  set(generated "${PROJECT_BINARY_DIR}/generated/${target}")

  add_library(${target}_families INTERFACE)
  add_library(${target} INTERFACE)
  set(composed_folders "")
  foreach(folder IN LISTS folders)
    cmake_path(GET folder FILENAME name)
    kiln_add_family("${folder}")
    target_sources(${target}_families INTERFACE $<TARGET_OBJECTS:kiln_family_${name}>)
    if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/include")
      target_include_directories(${target}_families INTERFACE "${PROJECT_SOURCE_DIR}/${folder}/include")
    endif()
    if(EXISTS "${PROJECT_SOURCE_DIR}/${folder}/composed.cu" AND TARGET kiln_embed_composed)
      kiln_add_composed("${folder}" "${device_files}")
      list(APPEND composed_folders "${folder}")
      target_sources(${target} INTERFACE $<TARGET_OBJECTS:kiln_composed_${name}>)
    endif()
  endforeach()

  kiln_generate_family_list("${generated}/families.cpp" ${folders})
  kiln_generate_composed_list("${generated}/composed_images.cpp" ${composed_folders})
  kiln_embed_files("${generated}/embedded_files.cpp" ${device_files})

  add_library(${target}_family_list OBJECT "${generated}/families.cpp" "${generated}/embedded_files.cpp")
  target_link_libraries(${target}_family_list PRIVATE kiln_includes kiln_warnings)
  add_library(${target}_composed_list OBJECT "${generated}/composed_images.cpp")
  target_link_libraries(${target}_composed_list PRIVATE kiln_includes kiln_warnings)

  target_sources(${target}_families INTERFACE $<TARGET_OBJECTS:${target}_family_list>)
  target_link_libraries(${target}_families INTERFACE kiln_core)
  target_sources(${target} INTERFACE $<TARGET_OBJECTS:${target}_composed_list>)
  target_link_libraries(${target} INTERFACE ${target}_families kiln_service kiln_cache kiln_cuda)
  set_property(TARGET ${target} PROPERTY KILN_FAMILY_FOLDERS "${folders}")
endfunction()

# A source file that defines kiln::embedded_files(), written anew whenever one of the files changes.
function(kiln_embed_files output)
  set(list_file "${output}.list")
  string(REPLACE ";" "\n" lines "${ARGN}")
  file(CONFIGURE OUTPUT "${list_file}" CONTENT "${lines}\n" @ONLY)
  set(depends ${ARGN})
  list(TRANSFORM depends PREPEND "${PROJECT_SOURCE_DIR}/")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DLIST=${list_file} -DOUTPUT=${output} -P
            "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    DEPENDS ${depends} "${list_file}" "${PROJECT_SOURCE_DIR}/cmake/embed.cmake"
    COMMENT "Embedding device files"
    VERBATIM)
endfunction()
