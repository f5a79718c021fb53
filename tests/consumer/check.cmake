# Installs kiln into a new prefix, moves it, and builds and runs the consumer against it, by CMake and by pkg-config.
# SPDX-License-Identifier: Apache-2.0
# Run: cmake -DBUILD=<kiln's build folder> -DSOURCE=<this folder> -DWORK=<scratch folder> -DLIBDIR=<lib> -DCXX=<compiler>
#            -DNM=<nm> -DGENERATOR=<generator> -P check.cmake

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${status}): ${command}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE "${WORK}")
file(MAKE_DIRECTORY "${WORK}")
run(${CMAKE_COMMAND} --install "${BUILD}" --prefix "${WORK}/first")
file(RENAME "${WORK}/first" "${WORK}/prefix")

run(${CMAKE_COMMAND} -S "${SOURCE}" -B "${WORK}/build" -G "${GENERATOR}" -DCMAKE_CXX_COMPILER=${CXX}
    -DCMAKE_PREFIX_PATH=${WORK}/prefix -DCMAKE_BUILD_TYPE=Debug)
run(${CMAKE_COMMAND} --build "${WORK}/build")
run("${WORK}/build/consumer")
message(STATUS "by CMake: ${output}")

find_program(pkg_config NAMES pkg-config pkgconf REQUIRED)
set(ENV{PKG_CONFIG_PATH} "${WORK}/prefix/${LIBDIR}/pkgconfig")
run(${pkg_config} --cflags --libs kiln)
separate_arguments(flags UNIX_COMMAND "${output}")
run(${CXX} -std=c++20 "${SOURCE}/main.cpp" -o "${WORK}/by_pkg_config" ${flags} "-Wl,-rpath,${WORK}/prefix/${LIBDIR}")
run("${WORK}/by_pkg_config")
message(STATUS "by pkg-config: ${output}")

# The installed command line needs nothing of the build folder.
if(EXISTS "${WORK}/prefix/bin/kiln")
  run("${WORK}/prefix/bin/kiln" --version)
  message(STATUS "command line: ${output}")
endif()

# Nothing but kiln's public names is visible.
run(${NM} -D --defined-only --demangle "${WORK}/prefix/${LIBDIR}/libkiln.so")
string(REGEX MATCHALL "[^\n]*(nlohmann|fmt::v|spdlog|kiln::cache::|kiln::Driver|kiln::Nvrtc|kiln::sha256)[^\n]*" leaked "${output}")
list(FILTER leaked EXCLUDE REGEX " [WVu] ")
if(leaked)
  list(JOIN leaked "\n" leaked)
  message(FATAL_ERROR "internal names are visible in libkiln.so:\n${leaked}")
endif()
file(REMOVE_RECURSE "${WORK}")
