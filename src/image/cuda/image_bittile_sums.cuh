/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of `bittile`, within one tile: the sums of its components in the shared memory of the warp that
 * has the tile. Everything is relative to the tile's corner, so that 32 bits do: at most 4096 pixels (13
 * bits) whose columns add up to at most 64 · 2016 = 129 024 (17 bits), which share one word and one atomic
 * addition. The box comes from the columns that are used, 64 bits by two atomic ors, and the last row.
 */
#ifndef SLUICE_IMAGE_BITTILE_SUMS_CUH
#define SLUICE_IMAGE_BITTILE_SUMS_CUH

#include "image/cuda/image_bittile.cuh"

namespace
{

enum {
    SUMS = 160,    /* components whose sums a warp keeps at a time; more than the slots of a tile */
    STAGED = 128,  /* records that a warp keeps until it writes them together */
    AREA_BIT = 17, /* the area is from this bit up, the sum of columns below */
    /* Codes of runs: of a root ROOT and the component's number, or if it is the component's only run and
     * reaches no border, ROOT, ALONE and its first pixel; of others the root. */
    ALONE = 0x4000
};
constexpr uint32_t NOTHING = 0xffffffffU;

/* What a warp has in shared memory. */
struct __align__(16) tile_sums
{
    uint64_t records[STAGED];
    uint64_t firsts[64]; /* first pixels of components, by rows */
    uint32_t area_x[SUMS], y[SUMS], low[SUMS], high[SUMS], last[SUMS];
    uint16_t place[SUMS]; /* the first pixel, of components that reach no border */
    uint16_t bases[64];   /* how many components begin in the rows before */
    uint16_t code[SLC_IMAGE_BITTILE_RUNS];
};

/* One component's share of one strip. */
struct strip_sums {
    uint32_t area_x, y, low, high, last;
};

/* The sum of the places of the bits that are set: place k of the sum's binary digits by one count each, in
 * both halves at once by adding their bits without carries (`once`, `twice`); both have the same bit set only
 * where a run is longer than 32. */
__device__ __forceinline__ uint32_t sum_of_places(uint64_t bits)
{
    const uint32_t low = static_cast<uint32_t>(bits), high = static_cast<uint32_t>(bits >> 32);
    const uint32_t once = low ^ high, twice = low & high;
    uint32_t sum = 32 * __popc(high) + __popc(once & 0xaaaaaaaaU) + 2 * __popc(once & 0xccccccccU) +
                   4 * __popc(once & 0xf0f0f0f0U) + 8 * __popc(once & 0xff00ff00U) +
                   16 * __popc(once & 0xffff0000U);
    if (twice != 0) {
        sum += 2 * __popc(twice & 0xaaaaaaaaU) + 4 * __popc(twice & 0xccccccccU) +
               8 * __popc(twice & 0xf0f0f0f0U) + 16 * __popc(twice & 0xff00ff00U) +
               32 * __popc(twice & 0xffff0000U);
    }
    return sum;
}

/* Any columns of a strip. `a` and `b` are its rows, b being 0 where a strip is one row. */
template <bool EIGHT>
__device__ __forceinline__ strip_sums sum_columns(uint64_t columns, uint64_t a, uint64_t b, uint32_t strip)
{
    a &= columns;
    b &= columns;
    const uint32_t lower = EIGHT ? slc_image_bittile_count(b) : 0, area = slc_image_bittile_count(a) + lower;
    const uint32_t x = sum_of_places(a) + (EIGHT ? sum_of_places(b) : 0);
    const uint32_t y = EIGHT ? 2 * strip : strip;
    return {area << AREA_BIT | x, area * y + lower, static_cast<uint32_t>(columns),
            static_cast<uint32_t>(columns >> 32), area == 0 ? 0 : y + (lower != 0)};
}

/* A run of the OR of the rows: all of its columns have a pixel in one row, which has a closed form, and some
 * in both. */
template <bool EIGHT>
__device__ __forceinline__ strip_sums sum_run(uint64_t run, uint64_t a, uint64_t b, uint32_t strip)
{
    const uint32_t first = static_cast<uint32_t>(__ffsll(static_cast<long long>(run))) - 1;
    const uint32_t length = slc_image_bittile_count(run), closed = length * (2 * first + length - 1) / 2;
    const uint32_t low = static_cast<uint32_t>(run), high = static_cast<uint32_t>(run >> 32);
    if (!EIGHT) {
        return {length << AREA_BIT | closed, length * strip, low, high, strip};
    }
    const uint64_t both = a & b & run;
    const uint32_t area = length + slc_image_bittile_count(both), lower = slc_image_bittile_count(b & run);
    return {area << AREA_BIT | (closed + sum_of_places(both)), area * 2 * strip + lower, low, high,
            2 * strip + (lower != 0)};
}

/* By any lane, while others add to the same. */
__device__ __forceinline__ void add_strip(tile_sums *sums, uint32_t i, const strip_sums &more)
{
    atomicAdd(&sums->area_x[i], more.area_x);
    atomicAdd(&sums->y[i], more.y);
    if (more.low != 0) {
        atomicOr(&sums->low[i], more.low);
    }
    if (more.high != 0) {
        atomicOr(&sums->high[i], more.high);
    }
    atomicMax(&sums->last[i], more.last);
}

/* ---- all lanes together ------------------------------------------------------------------------ */

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
__device__ __forceinline__ uint32_t warp_sum(uint32_t value)
{
    for (int step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(SLC_IMAGE_BITTILE_LANES, value, step);
    }
    return value;
}
__device__ __forceinline__ uint32_t warp_or(uint32_t value)
{
    for (int step = 16; step > 0; step /= 2) {
        value |= __shfl_xor_sync(SLC_IMAGE_BITTILE_LANES, value, step);
    }
    return value;
}
__device__ __forceinline__ uint32_t warp_max(uint32_t value)
{
    for (int step = 16; step > 0; step /= 2) {
        const uint32_t other = __shfl_xor_sync(SLC_IMAGE_BITTILE_LANES, value, step);
        value = other > value ? other : value;
    }
    return value;
}
#else
__device__ __forceinline__ uint32_t warp_sum(uint32_t value)
{
    return __reduce_add_sync(SLC_IMAGE_BITTILE_LANES, value);
}
__device__ __forceinline__ uint32_t warp_or(uint32_t value)
{
    return __reduce_or_sync(SLC_IMAGE_BITTILE_LANES, value);
}
__device__ __forceinline__ uint32_t warp_max(uint32_t value)
{
    return __reduce_max_sync(SLC_IMAGE_BITTILE_LANES, value);
}
#endif

/* One component's shares of all strips. */
__device__ __forceinline__ strip_sums sum_strips(const strip_sums &mine)
{
    return {warp_sum(mine.area_x), warp_sum(mine.y), warp_or(mine.low), warp_or(mine.high),
            warp_max(mine.last)};
}

} // namespace

#endif
