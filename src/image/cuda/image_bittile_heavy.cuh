/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of `bittile`, across tiles: what a tile has of a component that reaches beyond it is added to the
 * component's sums by atomics. Atomics to one address come one after the other, about one a nanosecond, and a
 * large component gets some from most tiles; so the warps of a block first add up what they have of
 * components that have many pixels in one of their tiles, in a small table in the block's shared memory.
 */
#ifndef SLUICE_IMAGE_BITTILE_HEAVY_CUH
#define SLUICE_IMAGE_BITTILE_HEAVY_CUH

#include "image/cuda/image_bittile_features.cuh"

namespace
{

enum {
    HEAVY = 512, /* pixels in a tile from which a component gets a place in the table */
    HEAVY_PLACES = 32,
    HEAVY_PROBES = 4, /* places where a component may be; one that finds none free is not in the table */
};
constexpr uint32_t HEAVY_FREE = 0xffffffffU; /* no node: there are fewer than 2^32 - 1 */

struct heavy_table {
    border_sums sums[HEAVY_PLACES];
    uint32_t node[HEAVY_PLACES];
};

__device__ __forceinline__ border_sums no_sums()
{
    return {0, UINT32_MAX, 0, 0, 0, 0};
}

__device__ __forceinline__ void add_sums(border_sums *to, const border_sums &more)
{
    atomicAdd(&to->area, more.area);
    atomicAdd(&to->x, more.x);
    atomicAdd(&to->y, more.y);
    atomicMin(&to->x_min, more.x_min);
    atomicMax(&to->x_max, more.x_max);
    atomicMax(&to->y_max, more.y_max);
}

__device__ __forceinline__ void heavy_clear(heavy_table *table, uint32_t i)
{
    table->node[i] = HEAVY_FREE;
    table->sums[i] = no_sums();
}

/* Where a component is; takes a place for it if it has none and `insert`. HEAVY_PLACES: it has none. Other
 * warps may be taking places at the same time. */
__device__ __forceinline__ uint32_t heavy_place(heavy_table *table, uint32_t node, bool insert)
{
    uint32_t i = node * 0x9e3779b1U >> 27;
    static_assert(HEAVY_PLACES == 1 << (32 - 27), "as many places as the hash has values");
    for (uint32_t probe = 0; probe < HEAVY_PROBES; probe++) {
        uint32_t there = *static_cast<volatile uint32_t *>(&table->node[i]);
        if (there == HEAVY_FREE && insert) {
            there = atomicCAS(&table->node[i], HEAVY_FREE, node);
            there = there == HEAVY_FREE ? node : there;
        }
        if (there == node) {
            return i;
        }
        if (there == HEAVY_FREE) {
            break;
        }
        i = (i + 1) % HEAVY_PLACES;
    }
    return HEAVY_PLACES;
}

__device__ __forceinline__ void heavy_add(heavy_table *table, uint32_t i, const border_sums &more)
{
    add_sums(&table->sums[i], more);
}

__device__ __forceinline__ void heavy_flush(const heavy_table *table, uint32_t i, border_sums *borders)
{
    if (table->node[i] != HEAVY_FREE) {
        add_sums(borders + table->node[i], table->sums[i]);
    }
}

} // namespace

#endif
