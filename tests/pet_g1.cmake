# SPDX-License-Identifier: Apache-2.0
# The sort of singles on a GPU, and in the emulator.
sluice_cuda_test(test_pet_sort_cuda stages test_pet_sort_cuda.c)
sluice_simt_test(test_pet_sort_simt stages test_pet_sort_cuda.c)
