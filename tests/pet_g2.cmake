# SPDX-License-Identifier: Apache-2.0
# Coincidences on a GPU, and by the emulator (tests/simt): the same sources.
sluice_cuda_test(test_pet_coincidence_cuda stages test_pet_coincidence_cuda.c support/pet_gpu.c)
sluice_simt_test(test_pet_coincidence_simt stages test_pet_coincidence_cuda.c support/pet_gpu.c)
set_property(TEST test_pet_coincidence_simt APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_SMALL=1")
# Not label data: a machine without a GPU skips it, and what has that label may not be skipped (tools/require-data-tests.py).
sluice_cuda_test(test_pet_vectors_cuda stages test_pet_vectors.c support/support.c)
set_property(TEST test_pet_vectors_cuda APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_DEVICE=cuda")
sluice_simt_test(test_pet_vectors_simt "stages;data" test_pet_vectors.c support/support.c)
set_property(TEST test_pet_vectors_simt APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_DEVICE=cuda" "SLUICE_TEST_SMALL=1")
