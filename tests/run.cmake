# SPDX-License-Identifier: Apache-2.0
# Batches through threads; what measurements come to.
sluice_test(test_run_flow_ends stages test_run_flow_ends.c support/flow_toy.c)
sluice_test(test_run_devices stages test_run_devices.c support/toy_devices.c)
sluice_test(test_run_devices_files stages test_run_devices_files.c support/toy_devices.c)
sluice_test(test_run_part stages test_run_part.c)
sluice_test(test_run_flow stages test_run_flow.c support/flow_toy.c)
sluice_test(test_run_flow_workers stages test_run_flow_workers.c support/flow_toy.c)
sluice_test(test_run_flow_pet stages test_run_flow_pet.c support/pet_frames.c)
sluice_test(test_bench_gpu stages test_bench_gpu.c)
sluice_test(test_io_deferred formats test_io_deferred.c support/support.c support/support_events.c support/support_pipeline.c)
target_link_libraries(test_io_deferred PRIVATE ZLIB::ZLIB)
# A file with damage all over it through eight workers; and a large one. By hand: test_run_read 4500.
sluice_test(test_run_read stages test_run_read.c support/support.c support/support_events.c)
target_link_libraries(test_run_read PRIVATE ZLIB::ZLIB)
add_test(NAME test_run_read_large COMMAND test_run_read 1000)
sluice_test_properties(test_run_read_large "stages;long")
sluice_test(test_mpi_shares stages test_mpi_shares.c ${PROJECT_SOURCE_DIR}/mpi/mpi_shares.c)
