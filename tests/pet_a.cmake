# SPDX-License-Identifier: Apache-2.0
# Raw files of PET, acquisition and sender.
sluice_test(test_io_pet_raw formats test_io_pet_raw.c)
sluice_test(test_io_pet_raw_damage formats test_io_pet_raw_damage.c)
foreach(stem IN ITEMS sequence ring acquire live)
    sluice_test(test_run_pet_${stem} stages test_run_pet_${stem}.c)
endforeach()
cli_test(pet_acquire cli)
cli_test(simulate_pet cli)
