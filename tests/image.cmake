# SPDX-License-Identifier: Apache-2.0
# The kernels of dense images against their oracles.
add_executable(check_image check_image.c support/check.c support/check_case.c)
target_include_directories(check_image PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_image PRIVATE sluice m $<BUILD_INTERFACE:sluice_flags>)
add_test(NAME check_image COMMAND check_image)
sluice_test_properties(check_image kernels)

# Those of its algorithms that are written in vectors.
add_executable(check_image_rosenfeld check_image_rosenfeld.c support/check.c support/check_case.c)
target_include_directories(check_image_rosenfeld PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                                        ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_image_rosenfeld PRIVATE sluice m $<BUILD_INTERFACE:sluice_flags>)
add_test(NAME check_image_rosenfeld COMMAND check_image_rosenfeld)
sluice_test_properties(check_image_rosenfeld kernels)

# Those of the algorithm bitrun.
add_executable(check_bitrun check_bitrun.c support/check.c support/check_case.c)
target_include_directories(check_bitrun PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                               ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_bitrun PRIVATE sluice m $<BUILD_INTERFACE:sluice_flags>)
add_test(NAME check_bitrun COMMAND check_bitrun)
sluice_test_properties(check_bitrun kernels)
