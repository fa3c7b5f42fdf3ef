# SPDX-License-Identifier: Apache-2.0
# List-mode files, sinograms, and the command that reads them.
foreach(stem IN ITEMS list damage sinogram)
    sluice_test(test_io_pet_${stem} formats test_io_pet_${stem}.c)
endforeach()
sluice_test(test_io_pet_stir "formats;data" test_io_pet_stir.c support/support.c)
target_link_libraries(test_io_pet_stir PRIVATE ZLIB::ZLIB)
cli_test(pet_list cli)
