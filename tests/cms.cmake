# SPDX-License-Identifier: Apache-2.0
# CMS pixels.
sluice_test(test_cms_cluster stages test_cms_cluster.c oracle/cms_cluster_oracle.c support/cms_events.c)
sluice_test(test_cms_synthetic stages test_cms_synthetic.c oracle/cms_cluster_oracle.c support/cms_events.c)
sluice_test(test_cms_decode stages test_cms_decode.c oracle/cms_decode_oracle.c)
sluice_test(test_cms_index stages test_cms_index.c)
sluice_test(test_cms_neighbours stages test_cms_neighbours.c)
set(cms_source ${PROJECT_SOURCE_DIR}/src/cms)
sluice_core_test(test_cms_decode_memory stages "base;simd" test_cms_decode_memory.c ${cms_source}/cms_decode.c
    ${cms_source}/cms_decode_kernels.c ${cms_source}/cms_cabling.c ${cms_source}/cms_fragment.c ${cms_source}/cms_index.c
    ${cms_source}/cms_types.c)
target_include_directories(test_cms_decode_memory PRIVATE ${PROJECT_BINARY_DIR}/generated)
sluice_test(test_io_cms formats test_io_cms.c)
sluice_test(test_io_cms_scout formats test_io_cms_scout.c)
sluice_test(test_io_cms_dump formats test_io_cms_dump.c)
sluice_test(test_cms_cluster_cases stages test_cms_cluster_cases.c oracle/cms_cluster_oracle.c support/cms_events.c
    support/cms_cases.c)
# From the sources, so that the linker sees every call to the allocator.
sluice_core_test(test_cms_cluster_memory stages "base;simd" test_cms_cluster_memory.c ${PROJECT_SOURCE_DIR}/src/cms/cms_calibrate.c
    ${PROJECT_SOURCE_DIR}/src/cms/cms_calibrate_kernels.c ${PROJECT_SOURCE_DIR}/src/cms/cms_cluster.c ${PROJECT_SOURCE_DIR}/src/cms/cms_cluster_kernels.c
    ${PROJECT_SOURCE_DIR}/src/cms/cms_position.c ${PROJECT_SOURCE_DIR}/src/cms/cms_position_kernels.c ${PROJECT_SOURCE_DIR}/src/cms/cms_types.c)
target_include_directories(test_cms_cluster_memory PRIVATE ${PROJECT_BINARY_DIR}/generated)
sluice_test(test_cms_calibrate stages test_cms_calibrate.c support/cms_events.c)
sluice_test(test_cms_position stages test_cms_position.c)
sluice_test(test_cms_position_truth stages test_cms_position_truth.c)
sluice_test(test_cms_round_trip stages test_cms_round_trip.c oracle/cms_decode_oracle.c support/cms_events.c support/pixel_lists.c)
sluice_test(test_cms_oracle stages test_cms_oracle.c oracle/cms_cluster_oracle.c oracle/cms_decode_oracle.c support/cms_events.c)
sluice_test(test_cms_chain stages test_cms_chain.c)
