# SPDX-License-Identifier: Apache-2.0
# The vocabulary of vectors, every operation on every instruction set; without cmocka, so that it can be cross-compiled.
sluice_simd_objects(check_simd check_simd.simd.c)
add_executable(check_simd check_simd.c oracle/simd_oracle.c support/check.c)
target_include_directories(check_simd PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_simd PRIVATE sluice_inside m $<BUILD_INTERFACE:sluice_flags>)
sluice_simd_program(check_simd)
add_test(NAME check_simd COMMAND check_simd)
sluice_test_properties(check_simd kernels)

# Every operation of simd_c.h and simd_bits.h is in the list that check_simd goes through.
add_test(NAME check_simd_list COMMAND ${PROJECT_SOURCE_DIR}/tests/hygiene/simd_list.sh $<TARGET_FILE:check_simd>
    ${PROJECT_SOURCE_DIR})
sluice_test_properties(check_simd_list hygiene)

# Operations on rows in memory, which are no operations on vectors and so not in that list.
sluice_simd_objects(check_rows check_rows.simd.c)
add_executable(check_rows check_rows.c support/check.c)
target_include_directories(check_rows PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_rows PRIVATE sluice_inside m $<BUILD_INTERFACE:sluice_flags>)
sluice_simd_program(check_rows)
add_test(NAME check_rows COMMAND check_rows)
sluice_test_properties(check_rows kernels)

# The hash under the checksums of results.
sluice_check(check_checksum)
