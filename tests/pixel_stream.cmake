# SPDX-License-Identifier: Apache-2.0
# Clusters of endless lists of pixels: against brute force, and without a call to the allocator; damaged times; pixels of clusters; what is
# refused.
sluice_core_test(test_pixel_stream stages "base;simd;pixel" test_pixel_stream.c oracle/pixel_stream_oracle.c)
sluice_core_test(test_pixel_stream_members stages "base;simd;pixel" test_pixel_stream_members.c)
sluice_core_test(test_pixel_stream_times stages "base;simd;pixel" test_pixel_stream_times.c)
sluice_core_test(test_pixel_list stages "base;simd;pixel" test_pixel_list.c)
sluice_core_test(test_pixel_stream_errors stages "base;simd;pixel" test_pixel_stream_errors.c)
sluice_core_test(test_pixel_stream_dense stages "base;simd;pixel" test_pixel_stream_dense.c oracle/pixel_stream_oracle.c)
