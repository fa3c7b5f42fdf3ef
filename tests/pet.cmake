# SPDX-License-Identifier: Apache-2.0
# The kernels of PET singles against their oracles.
add_executable(check_pet check_pet.c support/check.c support/check_case.c)
target_include_directories(check_pet PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                              ${PROJECT_BINARY_DIR}/generated)
target_link_libraries(check_pet PRIVATE sluice m $<BUILD_INTERFACE:sluice_flags>)
add_test(NAME check_pet COMMAND check_pet)
sluice_test_properties(check_pet kernels)
