# SPDX-License-Identifier: Apache-2.0
# The stage of coincidences.
sluice_test(test_pet_coincidence stages test_pet_coincidence.c oracle/pet_coincidence_oracle.c)
sluice_test(test_pet_vectors "stages;data" test_pet_vectors.c support/support.c)
sluice_test(test_pet_coincidence_limits stages test_pet_coincidence_limits.c)
sluice_core_test(test_pet_coincidence_memory stages "base;simd;pixel;velo;cms;pet" test_pet_coincidence_memory.c)
cli_test(pet cli)
