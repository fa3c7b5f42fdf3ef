# SPDX-License-Identifier: Apache-2.0
# Labelling and analysis of connected components, on what is public, against oracles that share no code with them.
set(image_oracle oracle/image_oracle.c support/image_patterns.c)
set(image_run ${image_oracle} support/image_run.c support/image_compare.c support/image_components.c)
sluice_test(test_image_oracle stages test_image_oracle.c ${image_oracle})
foreach(test IN ITEMS small label analyse invariance fork guard errors large push)
    sluice_test(test_image_${test} stages test_image_${test}.c ${image_run})
endforeach()
sluice_test(test_image_mask stages test_image_mask.c oracle/image_mask_oracle.c support/image_patterns.c)
sluice_test(test_image_measure stages test_image_measure.c oracle/image_measure_oracle.c)
sluice_test(test_image_split stages test_image_split.c oracle/image_split_oracle.c support/image_patterns.c)
sluice_test(test_image_join stages test_image_join.c support/image_patterns.c)
sluice_test(test_image_volume stages test_image_volume.c oracle/volume_oracle.c)
sluice_test(test_image_volume_stream stages test_image_volume_stream.c oracle/volume_oracle.c)
sluice_test(test_image_volume_measure stages test_image_volume_measure.c)
sluice_test(test_image_photograph stages test_image_photograph.c support/image_photograph.c ${image_run})
# Among them are threads, gigabytes of address space, or a minute with sanitizers.
sluice_core_test(test_image_reserve stages "base;simd;image" test_image_reserve.c support/image_patterns.c)
target_link_options(test_image_reserve PRIVATE LINKER:--wrap=mmap64 LINKER:--wrap=munmap)
