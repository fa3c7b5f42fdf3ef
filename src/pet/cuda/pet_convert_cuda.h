/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: what the host's side of the conversion on a GPU
 * (pet_convert_cuda.c) gives its kernels (pet_convert.cu). All pointers are to the device's memory.
 */
#ifndef SLUICE_PET_CONVERT_CUDA_H
#define SLUICE_PET_CONVERT_CUDA_H

#include <sluice/pet_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLC_PET_CUDA_FRAMES = 2048, /* of one tile: frames of a block of threads */
    SLC_PET_CUDA_CHUNK = 128,   /* tiles whose clocks are joined by one block */
};

/* Of a module's unit: the number of its first crystal, and of its block; both UINT32_MAX where there is none.
 */
typedef struct slc_pet_cuda_slot {
    uint32_t base, block;
} slc_pet_cuda_slot;

/* Of a crystal. */
typedef struct slc_pet_cuda_cell {
    float gain;
    int32_t offset_ps;
} slc_pet_cuda_cell;

/* What a call counts; the kernels add to it. */
typedef struct slc_pet_cuda_converted {
    uint64_t below, above, backwards, module, unit, position, no_crystal, clock;
    uint64_t singles;
} slc_pet_cuda_converted;

/* Faults in the order of the frames. */
typedef struct slc_pet_cuda_bad {
    uint32_t n, code[SLC_FAULTS_KEPT], module[SLC_FAULTS_KEPT];
    uint64_t frame[SLC_FAULTS_KEPT];
} slc_pet_cuda_bad;

/* Clocks of modules: of many tiles (or chunks of tiles) by [tile][module], or one for each module. What a row
 * is: the first and the last ticks of a module in the tile. */
typedef struct slc_pet_cuda_clocks {
    uint64_t *first, *last;
    uint32_t *began; /* a bit for each module: 8 words a tile */
} slc_pet_cuda_clocks;

typedef struct slc_pet_cuda_conversion {
    const void *frames; /* 16 bytes each, aligned to that; of counters that begin again, from pet_clock.h */
    uint64_t n;
    uint32_t tiles, chunks;
    /* tables */
    uint32_t modules, units, side, locals;
    uint32_t map_stride;           /* 0: one map for all blocks; a map has at most 2^16 places */
    uint32_t add_stride;           /* 0: one `add` for all blocks; else the bases are 0 */
    const slc_pet_cuda_slot *slot; /* by [256 modules][16 units] */
    /* By [y · side + x]: what a crystal adds to the first one of its block, or UINT32_MAX. NULL where blocks
     * have maps of their own; then `map` has the crystal in the block, and `add` what it adds. */
    const uint32_t *places;
    const uint16_t *map;
    const uint32_t *add;           /* of a crystal in its block to the block's first */
    const slc_pet_cuda_cell *cell; /* NULL: nothing is changed */
    const float *energy;           /* by [crystal][bin], or NULL */
    uint32_t energy_bins;
    float bins_per_kev;
    /* configuration */
    uint32_t tick_numerator, tick_denominator, tick_bits;
    float low_kev, high_kev;
    /* out */
    int64_t *time_ps;
    uint32_t *crystal;
    float *energy_kev;
    /* work: next_tile, states and totals are 0 when it begins */
    uint32_t *next_tile;
    unsigned long long *states; /* of tiles: how many singles are in and before them */
    uint32_t *bad_of_tile;
    slc_pet_cuda_converted *totals;
    slc_pet_cuda_bad *bad;
    slc_pet_cuda_clocks tile, chunk; /* rows by [tile][modules] */
    slc_pet_cuda_clocks clock;       /* from call to call: `last`, `began` by module */
} slc_pet_cuda_conversion;

/* The kernels of a conversion of n > 0 frames. */
slc_status slc_pet_cuda_convert(const slc_pet_cuda_conversion *job, void *stream, slc_error *error);
/* The first faults of the same frames, into `bad`. */
slc_status slc_pet_cuda_find_bad(const slc_pet_cuda_conversion *job, void *stream, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
