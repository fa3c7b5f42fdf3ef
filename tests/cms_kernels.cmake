# SPDX-License-Identifier: Apache-2.0
# The kernels of CMS's pixels.
foreach(check IN ITEMS check_cms check_cms_decode)
    add_executable(${check} ${check}.c support/check.c support/check_case.c)
    target_include_directories(${check} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                                ${PROJECT_BINARY_DIR}/generated)
    target_link_libraries(${check} PRIVATE sluice m $<BUILD_INTERFACE:sluice_flags>)
    add_test(NAME ${check} COMMAND ${check})
    sluice_test_properties(${check} kernels)
endforeach()
