# SPDX-License-Identifier: Apache-2.0
# How every target of the project is compiled, and how a module joins the library.

add_library(sluice_flags INTERFACE)
target_compile_options(sluice_flags INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow
    $<$<COMPILE_LANGUAGE:C>:-Wconversion>
    $<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
    $<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
    # Results must not depend on whether a compiler fuses multiply and add.
    -ffp-contract=off
    # Nobody reads errno after a square root, and a loop with one cannot become vectors if somebody might.
    -fno-math-errno
    # A loop must not be a fifth slower because what was linked before it has grown by 16 bytes (PET's conversion was).
    -falign-functions=64)
if(SLUICE_WERROR)
    target_compile_options(sluice_flags INTERFACE -Werror)
endif()
if(SLUICE_SANITIZE)
    target_compile_options(sluice_flags INTERFACE -fsanitize=${SLUICE_SANITIZE} -fno-sanitize-recover=all
                                                  -fno-omit-frame-pointer)
    target_link_options(sluice_flags INTERFACE -fsanitize=${SLUICE_SANITIZE})
endif()
target_compile_definitions(sluice_flags INTERFACE _POSIX_C_SOURCE=200809L _XOPEN_SOURCE=700 _FILE_OFFSET_BITS=64)

# sluice_module(NAME file.c ...): compiles src/NAME and adds its objects to libsluice. A module that needs more than
# libc links it with target_link_libraries(sluice_NAME PRIVATE ...) and the library gets it too.
function(sluice_module name)
    add_library(sluice_${name} OBJECT ${ARGN})
    target_include_directories(sluice_${name} PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src
                                                      ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(sluice_${name} PRIVATE $<BUILD_INTERFACE:sluice_flags>)
    target_sources(sluice PRIVATE $<TARGET_OBJECTS:sluice_${name}>)
endfunction()

# sluice_program(NAME file.c ...): a program that is linked with libsluice and sees public headers alone.
function(sluice_program name)
    add_executable(${name} ${ARGN})
    target_link_libraries(${name} PRIVATE sluice $<BUILD_INTERFACE:sluice_flags>)
endfunction()
