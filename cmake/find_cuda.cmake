# Finds a tree with cuda.h and libnvrtc: only headers are compiled against, nothing of CUDA is linked.
# SPDX-License-Identifier: Apache-2.0
#
# Sets KILN_CUDA_HOME (the tree that was chosen), KILN_CUDA_INCLUDE and KILN_NVRTC_LIBRARY (a file). A tree serves when
# its cuda.h says at least 12.9 (sm_103a, and NVRTC's --no-cache) and it has a libnvrtc of the same major version.
# Also a script: `cmake -P cmake/find_cuda.cmake` fails when there is none, which is how `./dev setup` asks.

set(KILN_CUDA_MINIMUM 12090)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH kiln_root)

# Sets `out` to the reason why `root` will not do, or to an empty string and the variables above.
function(kiln_try_cuda_root root out)
  set(header "")
  foreach(folder IN ITEMS include targets/x86_64-linux/include targets/sbsa-linux/include)
    if(EXISTS "${root}/${folder}/cuda.h")
      set(header "${root}/${folder}/cuda.h")
      break()
    endif()
  endforeach()
  if(NOT header)
    set(${out} "no cuda.h" PARENT_SCOPE)
    return()
  endif()
  file(STRINGS "${header}" line REGEX "^#define[ \t]+CUDA_VERSION[ \t]+[0-9]+")
  string(REGEX MATCH "[0-9]+$" version "${line}")
  if(NOT version OR version LESS KILN_CUDA_MINIMUM)
    set(${out} "cuda.h is of version '${version}', ${KILN_CUDA_MINIMUM} is the least" PARENT_SCOPE)
    return()
  endif()
  math(EXPR major "${version} / 1000")
  file(GLOB nvrtc "${root}/lib64/libnvrtc.so.${major}" "${root}/lib/libnvrtc.so.${major}"
       "${root}/targets/*-linux/lib/libnvrtc.so.${major}")
  if(NOT nvrtc)
    set(${out} "cuda.h is there, libnvrtc.so.${major} is not" PARENT_SCOPE)
    return()
  endif()
  list(GET nvrtc 0 nvrtc)
  cmake_path(GET header PARENT_PATH include)
  set(${out} "" PARENT_SCOPE)
  set(KILN_CUDA_HOME "${root}" PARENT_SCOPE)
  set(KILN_CUDA_INCLUDE "${include}" PARENT_SCOPE)
  set(KILN_NVRTC_LIBRARY "${nvrtc}" PARENT_SCOPE)
endfunction()

# The caller's word, the environment, the usual toolkit folders (newest first), NVIDIA's wheels in build/venv.
file(GLOB kiln_toolkits LIST_DIRECTORIES true /usr/local/cuda-1[2-9]* /opt/cuda)
list(SORT kiln_toolkits COMPARE NATURAL ORDER DESCENDING)
file(GLOB kiln_wheels LIST_DIRECTORIES true "${kiln_root}/build/venv/lib/python3*/site-packages/nvidia/cu1*")
if(KILN_CUDA_ROOT)
  set(kiln_cuda_roots "${KILN_CUDA_ROOT}")
else()
  set(kiln_cuda_roots $ENV{CUDA_HOME} $ENV{CUDA_PATH} /usr/local/cuda ${kiln_toolkits} ${kiln_wheels})
endif()

set(kiln_cuda_tried "")
set(KILN_CUDA_HOME "")
foreach(root IN LISTS kiln_cuda_roots)
  kiln_try_cuda_root("${root}" reason)
  if(NOT reason)
    break()
  endif()
  string(APPEND kiln_cuda_tried "\n  ${root}: ${reason}")
endforeach()
if(NOT KILN_CUDA_HOME)
  message(FATAL_ERROR "kiln needs cuda.h and libnvrtc of CUDA 12.9 or newer. Tried:${kiln_cuda_tried}\n"
                      "Install NVIDIA's toolkit, name one with -DKILN_CUDA_ROOT=..., or let `./dev setup` put "
                      "NVIDIA's wheels (nvidia-cuda-nvrtc, nvidia-cuda-runtime) into build/venv.")
endif()
