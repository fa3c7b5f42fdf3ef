# SPDX-License-Identifier: Apache-2.0
# Clusters of sparse pixels: against brute force, against labels of images, bad input, and without a call to the allocator.
sluice_test(test_pixel_cluster stages test_pixel_cluster.c oracle/pixel_oracle.c support/pixel_lists.c)
sluice_test(test_pixel_cluster_errors stages test_pixel_cluster_errors.c support/pixel_lists.c)
sluice_test(test_pixel_cluster_image stages test_pixel_cluster_image.c support/pixel_lists.c)
sluice_core_test(test_pixel_cluster_memory stages "base;simd;pixel" test_pixel_cluster_memory.c support/pixel_lists.c)
sluice_test(test_pixel_cluster_crowded stages test_pixel_cluster_crowded.c support/pixel_lists.c)
