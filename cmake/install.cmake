# The shared library that is installed, with its CMake and pkg-config packages.
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/kiln")

# One self-contained library; only what public headers mark is visible. The objects that define public names are listed,
# because nothing inside the library refers to all of them; the rest comes out of the archives.
add_library(kiln_shared SHARED $<TARGET_OBJECTS:kiln_core> $<TARGET_OBJECTS:kiln_registry>
                               $<TARGET_OBJECTS:kiln_service>)
add_library(kiln::kiln ALIAS kiln_shared)
target_link_libraries(kiln_shared PRIVATE kiln)
set_target_properties(
  kiln_shared
  PROPERTIES OUTPUT_NAME kiln
             EXPORT_NAME kiln
             VERSION ${PROJECT_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# Public headers: include/ and every family's include/. The build checks that each stands alone.
get_property(family_folders TARGET kiln PROPERTY KILN_FAMILY_FOLDERS)
set(public_folders "${PROJECT_SOURCE_DIR}/include")
foreach(folder IN LISTS family_folders)
  if(IS_DIRECTORY "${PROJECT_SOURCE_DIR}/${folder}/include")
    list(APPEND public_folders "${PROJECT_SOURCE_DIR}/${folder}/include")
  endif()
endforeach()
list(TRANSFORM public_folders APPEND "/*.hpp" OUTPUT_VARIABLE public_patterns)
file(GLOB_RECURSE public_headers CONFIGURE_DEPENDS ${public_patterns})
target_sources(kiln_shared PUBLIC FILE_SET HEADERS BASE_DIRS ${public_folders} FILES ${public_headers})
target_compile_features(kiln_shared PUBLIC cxx_std_20)

install(
  TARGETS kiln_shared
  EXPORT kiln-targets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  FILE_SET HEADERS DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT kiln-targets NAMESPACE kiln:: FILE kilnTargets.cmake DESTINATION "${config_dir}")

write_basic_package_version_file("${PROJECT_BINARY_DIR}/kilnConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/kilnConfig.cmake.in" "${PROJECT_BINARY_DIR}/kilnConfig.cmake"
                              INSTALL_DESTINATION "${config_dir}")
install(FILES "${PROJECT_BINARY_DIR}/kilnConfig.cmake" "${PROJECT_BINARY_DIR}/kilnConfigVersion.cmake"
        DESTINATION "${config_dir}")

# Paths in kiln.pc are relative to where it lies, so that an installed tree can be moved.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
           OUTPUT_VARIABLE KILN_PC_INCLUDE)
configure_file("${PROJECT_SOURCE_DIR}/cmake/kiln.pc.in" "${PROJECT_BINARY_DIR}/kiln.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/kiln.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

if(TARGET kiln_cli)
  install(TARGETS kiln_cli RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
