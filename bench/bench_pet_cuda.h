/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: the part of slc_bench_pet for a GPU, and its inputs. */
#ifndef SLUICE_BENCH_PET_CUDA_H
#define SLUICE_BENCH_PET_CUDA_H

#include "bench/bench_pet.h"
#include <sluice/sim_pet.h>

/* config->device is not NULL. */
slc_status slc_bench_pet_cuda(const slc_bench_pet_config *config, slc_bench_pet_result *result,
                              slc_error *error);

/* ---- inputs (bench_pet_cuda_input.c) ------------------------------------------------------- */

/* Frames of sim_pet, the fast way, which the caller frees, and the generator, which has the tables and is
 * closed behind them; `chain` gets the configuration that goes with them. */
slc_status slc_bench_pet_frames(const slc_bench_pet_config *config, slc_sim_pet **sim, slc_pet_frame **frames,
                                size_t *n, slc_pet_config *chain, slc_error *error);

/* n times as 128 channels send them: in order in each channel, in packets of one channel, at 200 Mcps. Times
 * are in picoseconds. Returns how many records one is away from its place at most; 0 without memory. */
uint64_t slc_bench_pet_channels(int64_t *time_ps, size_t n, uint64_t seed);
/* The same span of time in no order at all. */
void slc_bench_pet_shuffled(int64_t *time_ps, size_t n, uint64_t seed);

#endif
