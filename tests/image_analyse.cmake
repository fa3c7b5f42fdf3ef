# SPDX-License-Identifier: Apache-2.0
# Features of components, rows as they come, and memory: parts of src/image on their own, and where they allocate.
sluice_test(test_image_features stages test_image_features.c oracle/image_oracle.c support/image_patterns.c)
sluice_core_test(test_image_stream stages "base;simd;image" test_image_stream.c oracle/image_oracle.c
                 support/image_patterns.c)
sluice_core_test(test_image_allocation hygiene "base;simd;image" test_image_allocation.c)
