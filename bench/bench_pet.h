/* SPDX-License-Identifier: Apache-2.0
 *
 * Measurements of the PET chain, frames in memory to pairs, by stage and beside what moving the bytes takes
 * (`sluice bench pet`); of the policies of coincidences; and of plain code for the same tasks.
 */
#ifndef SLUICE_BENCH_PET_H
#define SLUICE_BENCH_PET_H

#include <sluice/pet_chain.h>

typedef struct slc_bench_pet_config {
    const char *scanner; /* slc_pet_scanner_name */
    double singles_hz;
    uint64_t frames, batch; /* batch: frames of a call */
    uint32_t threads, repetitions;
    uint64_t seed;
    double window_ns;
    bool
        policies; /* also every policy of the stage of coincidences, in single windows and in all-open ones */
    bool baselines; /* also a plain loop of the seed's rule, a radix sort and the C library's qsort */
    /* NULL: the processor. "cuda", "cuda:N" (slc_cuda_choose): stages on a GPU with all frames at once, by
     * the device's clock, and the chain from page-locked memory, by the host's; threads, batch and baselines
     * are not used. SLC_ERR_UNSUPPORTED where there is none. */
    const char *device;
} slc_bench_pet_config;
/* "mouse20", 20 Mcps, 4 000 000 frames by 65 536, one thread, 5 repetitions, 4 ns. */
void slc_bench_pet_config_default(slc_bench_pet_config *config);

/* A line of the table: the median over the repetitions. */
typedef struct slc_bench_pet_row {
    /* "convert", "sort", "coincidence", "chain", "takeAllGoods, all-open", "qsort" …; on a GPU also "sort
     * merge-seed, 128 channels" … */
    char name[64];
    uint64_t singles, pairs; /* pairs: rows that came out, 0 where it makes none */
    double seconds, least_seconds;
    double bytes;         /* that the work must move: frames or singles in, singles or pairs out */
    double bound_seconds; /* what moving them takes at the bandwidth measured with as many threads */
} slc_bench_pet_row;
enum { SLC_BENCH_PET_ROWS = 64, SLC_BENCH_PET_MACHINE = 128 };
typedef struct slc_bench_pet_result {
    slc_bench_pet_row row[SLC_BENCH_PET_ROWS];
    uint32_t n_rows;
    double bytes_per_second;     /* read and written by copying, with as many threads */
    double bus_bytes_per_second; /* from page-locked memory to the GPU; 0 on the processor */
    int64_t lag_ps;              /* how far out of order the singles came */
    /* Of a GPU: records between where one of "128 channels" is and where it belongs, at most. */
    uint64_t displacement;
    char machine[SLC_BENCH_PET_MACHINE]; /* the GPU */
} slc_bench_pet_result;

/* Frames are those of sim_pet, the fast way, a fifth of the singles in pairs. SLC_ERR_USAGE for a
 * configuration that cannot be. */
slc_status slc_bench_pet(const slc_bench_pet_config *config, slc_bench_pet_result *result, slc_error *error);

#endif
