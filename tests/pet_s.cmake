# SPDX-License-Identifier: Apache-2.0
# The generator of PET data and the rates.
sluice_test(test_sim_pet stages test_sim_pet.c support/pet_sim.c)
sluice_test(test_sim_pet_physics stages test_sim_pet_physics.c support/pet_sim.c)
sluice_test(test_sim_pet_randoms stages test_sim_pet_randoms.c support/pet_sim.c)
sluice_core_test(test_sim_pet_memory stages "base;simd;pixel;velo;cms;pet;sim" test_sim_pet_memory.c)
sluice_test(test_pet_rates stages test_pet_rates.c)
