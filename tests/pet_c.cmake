# SPDX-License-Identifier: Apache-2.0
# Calibration: tables from frames, their file, their pictures, the command.
sluice_test(test_pet_calibrate stages test_pet_calibrate.c support/pet_sim.c)
sluice_test(test_pet_calibrate_faults stages test_pet_calibrate_faults.c support/pet_sim.c)
sluice_test(test_io_pet_tables formats test_io_pet_tables.c)
target_link_libraries(test_io_pet_tables PRIVATE ${HDF5_C_LIBRARIES})
target_include_directories(test_io_pet_tables SYSTEM PRIVATE ${HDF5_C_INCLUDE_DIRS})
cli_test(pet_calibrate cli)
