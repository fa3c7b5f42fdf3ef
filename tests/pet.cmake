# SPDX-License-Identifier: Apache-2.0
# PET: the stages in their order, the chain, the same on a GPU, the generator, files, runs, the command.
set(pet_frames support/pet_frames.c)
set(pet_stream support/pet_frames.c support/pet_stream.c)
set(pet_cases support/pet_cases.c)
set(pet_sim support/pet_sim.c)

# Stages. Those named _memory are linked from objects, so that each of their calls to the allocator may fail.
sluice_test(test_pet_scanner stages test_pet_scanner.c)
sluice_test(test_pet_layout stages test_pet_layout.c)
sluice_test(test_pet_convert stages test_pet_convert.c ${pet_frames})
sluice_test(test_pet_convert_seed stages test_pet_convert_seed.c)
sluice_test(test_pet_clock stages test_pet_clock.c)
sluice_test(test_pet_energies stages test_pet_energies.c)
sluice_test(test_pet_sort stages test_pet_sort.c)
sluice_core_test(test_pet_sort_memory stages base test_pet_sort_memory.c ${PROJECT_SOURCE_DIR}/src/pet/pet_sort.c
    ${PROJECT_SOURCE_DIR}/src/pet/pet_sort_spread.c
    ${PROJECT_SOURCE_DIR}/src/pet/pet_types.c)
sluice_test(test_pet_coincidence stages test_pet_coincidence.c oracle/pet_coincidence_oracle.c ${pet_cases})
sluice_test(test_pet_coincidence_ranges stages test_pet_coincidence_ranges.c ${pet_cases})
sluice_test(test_pet_coincidence_limits stages test_pet_coincidence_limits.c ${pet_cases})
sluice_core_test(test_pet_coincidence_memory stages "base;simd;pixel;lhcb;velo;cms;pet" test_pet_coincidence_memory.c)
sluice_test(test_pet_vectors "stages;data" test_pet_vectors.c support/support.c)
sluice_test(test_pet_rates stages test_pet_rates.c oracle/pet_rates_oracle.c)
sluice_test(test_pet_rates_chain stages test_pet_rates_chain.c oracle/pet_rates_oracle.c ${pet_stream})
sluice_test(test_pet_pairs stages test_pet_pairs.c ${pet_stream})
sluice_test(test_pet_randoms stages test_pet_randoms.c oracle/pet_coincidence_oracle.c ${pet_cases})
sluice_test(test_pet_randoms_truth stages test_pet_randoms_truth.c ${pet_sim})
sluice_test(test_pet_pair_randoms "stages;long" test_pet_pair_randoms.c oracle/pet_rates_oracle.c ${pet_sim})
sluice_test(test_pet_pair_randoms_found "stages" test_pet_pair_randoms_found.c)
sluice_test(test_pet_calibrate stages test_pet_calibrate.c ${pet_sim})
sluice_test(test_pet_calibrate_width stages test_pet_calibrate_width.c)
sluice_test(test_pet_line stages test_pet_line.c)
sluice_test(test_pet_normalise stages test_pet_normalise.c ${pet_sim})
sluice_test(test_pet_seen stages test_pet_seen.c)
sluice_test(test_pet_calibrate_faults stages test_pet_calibrate_faults.c ${pet_sim})
sluice_test(test_pet_check stages test_pet_check.c ${pet_sim})
sluice_test(test_pet_look stages test_pet_look.c ${pet_sim})

# The chain of them, and what may be wrong with its input.
sluice_test(test_pet_chain stages test_pet_chain.c ${pet_frames})
sluice_test(test_pet_faults stages test_pet_faults.c ${pet_frames})

# On a GPU, and by the emulator (tests/simt): the same sources.
foreach(part IN ITEMS convert chain)
    sluice_cuda_test(test_pet_${part}_cuda stages test_pet_${part}_cuda.c ${pet_frames})
    sluice_simt_test(test_pet_${part}_simt stages test_pet_${part}_cuda.c ${pet_frames})
    if(SLUICE_SANITIZE) # which makes the emulator ten times as slow
        set_property(TEST test_pet_${part}_simt APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_SMALL=1")
    endif()
endforeach()
set_property(TEST test_pet_chain_simt APPEND PROPERTY ENVIRONMENT "SLUICE_SIMT_DEVICES=2")
sluice_cuda_test(test_pet_look_cuda stages test_pet_look_cuda.c)
sluice_simt_test(test_pet_look_simt stages test_pet_look_cuda.c)
sluice_cuda_test(test_pet_sort_cuda stages test_pet_sort_cuda.c)
sluice_simt_test(test_pet_sort_simt stages test_pet_sort_cuda.c)
sluice_cuda_test(test_pet_coincidence_cuda stages test_pet_coincidence_cuda.c support/pet_gpu.c ${pet_cases})
sluice_simt_test(test_pet_coincidence_simt stages test_pet_coincidence_cuda.c support/pet_gpu.c ${pet_cases})
set_property(TEST test_pet_coincidence_simt APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_SMALL=1")
# Not label data: a machine without a GPU skips it, and what has that label may not be skipped (tools/require-data-tests.py).
sluice_cuda_test(test_pet_vectors_cuda stages test_pet_vectors.c support/support.c)
set_property(TEST test_pet_vectors_cuda APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_DEVICE=cuda")
sluice_simt_test(test_pet_vectors_simt "stages;data" test_pet_vectors.c support/support.c)
set_property(TEST test_pet_vectors_simt APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_DEVICE=cuda" "SLUICE_TEST_SMALL=1")

# The generator.
sluice_test(test_sim_pet stages test_sim_pet.c ${pet_sim})
sluice_test(test_sim_pet_physics stages test_sim_pet_physics.c ${pet_sim})
sluice_test(test_sim_pet_object stages test_sim_pet_object.c ${pet_sim})
sluice_test(test_sim_pet_detect stages test_sim_pet_detect.c ${pet_sim})
sluice_test(test_sim_pet_randoms stages test_sim_pet_randoms.c ${pet_sim})
sluice_core_test(test_sim_pet_memory stages "base;simd;pixel;lhcb;velo;ut;scifi;muon;hlt1;cms;pet;sim" test_sim_pet_memory.c)

# Files: raw frames, list mode, sinograms, tables.
foreach(part IN ITEMS sequence singles raw raw_damage raw_series raw_copies list gate place damage petsird petsird_damage scanner sinogram tables)
    sluice_test(test_io_pet_${part} formats test_io_pet_${part}.c)
endforeach()
target_link_libraries(test_io_pet_tables PRIVATE ${HDF5_C_LIBRARIES}) # it damages files by HDF5 itself
target_include_directories(test_io_pet_tables SYSTEM PRIVATE ${HDF5_C_INCLUDE_DIRS})
sluice_test(test_io_pet_stir "formats;data" test_io_pet_stir.c support/support.c)
target_link_libraries(test_io_pet_stir PRIVATE ZLIB::ZLIB)

# Runs: acquisition over loopback, and what a run writes.
sluice_test(test_io_pet_format formats test_io_pet_format.c)
cli_test(pet_frame_format cli)
cli_test(pet_tcp cli)
foreach(part IN ITEMS ring socket stream gaps acquire live)
    sluice_test(test_daq_pet_${part} stages test_daq_pet_${part}.c)
endforeach()
sluice_test(test_report_pet stages test_report_pet.c ${pet_stream})

# The command.
cli_test(pet_randoms cli)
cli_test(pet_normalise cli)
cli_test(pet_factors cli)
sluice_test(test_io_pet_image formats test_io_pet_image.c)
foreach(name IN ITEMS simulate_pet pet_corrections pet_other_scanner pet_acquire pet_resume pet_loss pet_live pet_files pet_scanner pet_table pet_calibrate pet_run pet_clock pet_energies pet_series pet_info pet pet_list bench_pet)
    cli_test(${name} cli)
endforeach()
cli_test(pet_measured cli)
cli_test(pet_check cli)
cli_test(pet_look cli)
cli_test(pet_castor_scanner cli)
