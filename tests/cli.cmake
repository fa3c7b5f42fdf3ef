# SPDX-License-Identifier: Apache-2.0
# The command, by scripts with exact expected output; and what it writes.

# cli_test(NAME LABELS): runs tests/cli/NAME.sh with the command and the source folder.
function(cli_test name labels)
    add_test(NAME cli_${name} COMMAND ${CMAKE_CURRENT_SOURCE_DIR}/cli/${name}.sh $<TARGET_FILE:sluice-command>
        ${PROJECT_SOURCE_DIR})
    set_tests_properties(cli_${name} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 TIMEOUT 300
        ENVIRONMENT "SLUICE_TEST_DATA=$<IF:$<BOOL:$ENV{SLUICE_TEST_DATA}>,$ENV{SLUICE_TEST_DATA},${SLUICE_TEST_DATA}>")
endfunction()

cli_test(help cli)
cli_test(usage cli)
cli_test(inputs cli)
cli_test(inputs_cms cli)
cli_test(json cli)
cli_test(velo_threads cli)
cli_test(velo_races cli)
cli_test(bench cli)
cli_test(outputs cli)
cli_test(simulate cli)
cli_test(simulate_image cli)
cli_test(label cli)
cli_test(label_pages cli)
cli_test(bench_label cli)
cli_test(cluster cli)
cli_test(bench_cluster cli)
cli_test(bench_velo cli)
cli_test(simulate_pixels cli)
cli_test(simulate_cms cli)
cli_test(cms cli)
cli_test(bench_cms cli)
cli_test(bench_gpu cli)
cli_test(velo_select cli)
cli_test(velo_options cli)
cli_test(velo_report cli)
cli_test(real "cli;data")
cli_test(velo_banks "cli;data")
if(SLUICE_SANITIZE)
    # Sanitizers reserve terabytes of address space, so that a limit on it ends the program at once.
    message(STATUS "cli_stream is left out: it limits the address space, which sanitizers need")
else()
    cli_test(stream cli)
endif()

sluice_test(test_io_hdf5 formats test_io_hdf5.c)
target_link_libraries(test_io_hdf5 PRIVATE ${HDF5_C_LIBRARIES})
target_include_directories(test_io_hdf5 SYSTEM PRIVATE ${HDF5_C_INCLUDE_DIRS})
sluice_test(test_run_report stages test_run_report.c)
