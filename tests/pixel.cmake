# SPDX-License-Identifier: Apache-2.0
# The kernels of sparse pixels.
add_executable(check_pixel check_pixel.c support/check.c support/check_case.c)
target_include_directories(check_pixel PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_pixel PRIVATE sluice m $<BUILD_INTERFACE:sluice_flags>)
add_test(NAME check_pixel COMMAND check_pixel)
sluice_test_properties(check_pixel kernels)
