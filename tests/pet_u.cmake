# SPDX-License-Identifier: Apache-2.0
# From raw frames to files of coincidences: what may be wrong with the data, outputs of a run, the commands.
sluice_test(test_pet_scanner stages test_pet_scanner.c)
sluice_test(test_pet_faults stages test_pet_faults.c)
sluice_test(test_run_pet_output stages test_run_pet_output.c)
cli_test(pet_run cli)
cli_test(pet_files cli)
cli_test(pet_scanner cli)
