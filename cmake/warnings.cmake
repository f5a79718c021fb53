# One target with the warnings and sanitizers of kiln's own code; linked privately.
# SPDX-License-Identifier: Apache-2.0

add_library(kiln_warnings INTERFACE)
# Aggregates are filled by designated initialisers that name what differs from the default: no warning for the rest.
target_compile_options(kiln_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                               -Wno-missing-field-initializers)
if(KILN_WERROR)
  target_compile_options(kiln_warnings INTERFACE -Werror)
endif()
if(KILN_SANITIZE)
  target_compile_options(kiln_warnings INTERFACE -fsanitize=${KILN_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(kiln_warnings INTERFACE -fsanitize=${KILN_SANITIZE})
endif()
