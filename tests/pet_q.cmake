# SPDX-License-Identifier: Apache-2.0
# Frames to pairs: conversion, sort, chain.
sluice_test(test_pet_convert stages test_pet_convert.c)
sluice_test(test_pet_convert_seed stages test_pet_convert_seed.c)
sluice_test(test_pet_sort stages test_pet_sort.c)
sluice_core_test(test_pet_sort_memory stages base test_pet_sort_memory.c ${PROJECT_SOURCE_DIR}/src/pet/pet_sort.c
    ${PROJECT_SOURCE_DIR}/src/pet/pet_types.c)
sluice_test(test_pet_chain stages test_pet_chain.c)
cli_test(bench_pet cli)
