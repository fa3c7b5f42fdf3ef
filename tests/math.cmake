# SPDX-License-Identifier: Apache-2.0
# Mathematics on vectors: with 2^20 points a function where the check is run by hand or under an emulator, 2^24 here.
sluice_simd_objects(check_math check_math.simd.c)
add_executable(check_math check_math.c check_math_algebra.c support/check.c)
target_include_directories(check_math PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_math PRIVATE sluice_inside m $<BUILD_INTERFACE:sluice_flags>)
sluice_simd_program(check_math)
add_test(NAME check_math COMMAND check_math --points=24)
sluice_test_properties(check_math kernels)

# The kernels of src/velo against their oracle.
sluice_check(check_velo)
sluice_check(check_hlt1)
