# Runs examples/image/build.sh into a fresh folder; a machine without chroot and user namespaces skips it.
# SPDX-License-Identifier: Apache-2.0
# Run: cmake -DSCRIPT=<build.sh> -DKILN=<program> -DFOLDER=<folder> -P tests/image.cmake
file(REMOVE_RECURSE "${FOLDER}")
get_filename_component(parent "${FOLDER}" DIRECTORY)
file(MAKE_DIRECTORY "${parent}")
execute_process(COMMAND bash "${SCRIPT}" "${KILN}" "${FOLDER}" RESULT_VARIABLE result OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
if(result EQUAL 77)
  message(STATUS "skipped: ${output}")
elseif(result)
  message(FATAL_ERROR "exit code ${result}:\n${output}")
else()
  file(REMOVE_RECURSE "${FOLDER}")
endif()
