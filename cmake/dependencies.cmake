# Finds the packages kiln builds with; a missing one is an error that names the package to install.
# SPDX-License-Identifier: Apache-2.0

set(KILN_SETUP_HINT "or let `./dev setup` install everything that is missing.")

# kiln_find(<name> <Debian and Ubuntu package> [find_package arguments])
macro(kiln_find name package)
  find_package(${name} QUIET ${ARGN})
  if(NOT ${name}_FOUND)
    message(FATAL_ERROR "kiln needs ${name}, which was not found (wanted: ${name} ${ARGN}). "
                        "On Debian and Ubuntu: apt-get install ${package}; ${KILN_SETUP_HINT}")
  endif()
endmacro()

kiln_find(Threads libc6-dev)
kiln_find(fmt libfmt-dev 9 CONFIG)
kiln_find(spdlog libspdlog-dev 1.10 CONFIG)
kiln_find(nlohmann_json nlohmann-json3-dev 3.11 CONFIG)
kiln_find(OpenSSL libssl-dev 3 COMPONENTS Crypto)
kiln_find(zstd libzstd-dev CONFIG)
if(NOT TARGET zstd::libzstd_shared)
  message(FATAL_ERROR "kiln needs zstd's shared library. On Debian and Ubuntu: apt-get install libzstd-dev; "
                      "${KILN_SETUP_HINT}")
endif()
if(KILN_BUILD_CLI)
  kiln_find(CLI11 libcli11-dev 2.1 CONFIG)
endif()
if(KILN_BUILD_TESTS)
  # Debian 12 has Catch2 2.13, Ubuntu 24.04 has 3.4; tests/testing.hpp covers both.
  find_package(Catch2 3 QUIET CONFIG)
  if(NOT Catch2_FOUND)
    kiln_find(Catch2 catch2 2.13 CONFIG)
  endif()
endif()
if(KILN_BUILD_BENCH)
  kiln_find(benchmark libbenchmark-dev CONFIG)
endif()

include(find_cuda)
message(STATUS "CUDA headers: ${KILN_CUDA_INCLUDE}; NVRTC: ${KILN_NVRTC_LIBRARY}")
add_library(kiln_cuda_headers INTERFACE)
target_include_directories(kiln_cuda_headers SYSTEM INTERFACE "${KILN_CUDA_INCLUDE}")
