# SPDX-License-Identifier: Apache-2.0
# Conversion of PET frames and the chain, on a GPU and by the emulator (tests/simt): the same sources.
foreach(part IN ITEMS convert chain)
    sluice_cuda_test(test_pet_${part}_cuda stages test_pet_${part}_cuda.c support/pet_frames.c)
    sluice_simt_test(test_pet_${part}_simt stages test_pet_${part}_cuda.c support/pet_frames.c)
    if(SLUICE_SANITIZE) # which makes the emulator ten times as slow
        set_property(TEST test_pet_${part}_simt APPEND PROPERTY ENVIRONMENT "SLUICE_TEST_SMALL=1")
    endif()
endforeach()
