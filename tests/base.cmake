# SPDX-License-Identifier: Apache-2.0
# Tests of src/base, of the raw banks, and of output files.

# sluice_core_test(NAME LABELS MODULES file.c ...): linked from the objects of these modules instead of with libsluice, so
# that the linker sees every call of theirs to the allocator and sends it to tests/support/failing_allocator.h.
function(sluice_core_test name labels modules)
    sluice_test_sources(sources sluice_inside ${ARGN})
    add_executable(${name} ${sources})
    foreach(module IN LISTS modules)
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:sluice_${module}>)
    endforeach()
    if("simd" IN_LIST modules) # and the kernels with it
        foreach(target IN LISTS SLUICE_SIMD_TARGETS)
            target_sources(${name} PRIVATE $<TARGET_OBJECTS:simd_${target}>)
        endforeach()
    endif()
    if("image" IN_LIST modules OR "velo" IN_LIST modules OR "cms" IN_LIST modules OR "pet" IN_LIST modules) # which ask for GPUs
        target_sources(${name} PRIVATE $<TARGET_OBJECTS:sluice_cuda>)
    endif()
    target_include_directories(${name} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src
                                               ${PROJECT_SOURCE_DIR}/include)
    target_link_libraries(${name} PRIVATE PkgConfig::CMOCKA m sluice_flags)
    foreach(function IN ITEMS malloc calloc realloc aligned_alloc posix_memalign free)
        target_link_options(${name} PRIVATE LINKER:--wrap=${function})
    endforeach()
    add_test(NAME ${name} COMMAND ${name})
    sluice_test_properties(${name} "${labels}")
endfunction()

sluice_core_test(test_base_columns stages "base;simd" test_base_columns.c)
sluice_core_test(test_base_batch stages base test_base_batch.c)
sluice_core_test(test_base_block stages base test_base_block.c)
sluice_test(test_simd_checksum stages test_simd_checksum.c)
target_include_directories(test_simd_checksum PRIVATE ${PROJECT_BINARY_DIR}/generated) # the targets of this build
sluice_test(test_base_config stages test_base_config.c)
sluice_test(test_base_bytes stages test_base_bytes.c)
sluice_test(test_base_decimal stages test_base_decimal.c)
sluice_test(test_base_faults stages test_base_faults.c)
sluice_test(test_base_histogram stages test_base_histogram.c)
sluice_test(test_base_status stages test_base_status.c)
sluice_test(test_base_team stages test_base_team.c)
sluice_test(test_lhcb_bank formats test_lhcb_bank.c)
sluice_test(test_io_output formats test_io_output.c)
sluice_test(test_io_outbox formats test_io_outbox.c)
sluice_test(test_io_text formats test_io_text.c)
sluice_test(test_io_arrow formats test_io_arrow.c)
sluice_test(test_io_results_read formats test_io_results_read.c)
