/* SPDX-License-Identifier: Apache-2.0
 *
 * Union and find on a table of parents, and where runs of pixels begin and end in a warp's mask: algorithms
 * 6, 7 and 13 of A. Hennequin's thesis (2022). The union is that of D. Playne and K. Hawick (2018), which
 * goes back to Y. Komura (2015). An entry of the table names an ancestor, whose address is not larger, so the
 * root of a component is the address of its first pixel. Addresses are keys of pixels (image_cuda_job.h):
 * rows of the table are as long as the width rounded up to 64.
 *
 * Threads read the table while others change it. A value that has been overtaken still names an ancestor, and
 * the atomic operation tells what is true now; so no thread has to wait for another.
 */
#ifndef SLUICE_IMAGE_UNION_CUH
#define SLUICE_IMAGE_UNION_CUH

#include "cuda/cuda_kernel.cuh"

static __device__ __forceinline__ uint32_t slc_image_find(const uint32_t *table, uint32_t address)
{
    for (uint32_t parent = table[address]; parent != address; parent = table[address]) {
        address = parent;
    }
    return address;
}

/* The same, and makes every second entry on the way name its parent's parent. Where others unite at the same
 * time, this can undo that an entry which is no root was made to name a smaller address; but who did that
 * goes on to unite the entry's earlier parent with the smaller one, so nothing is lost. */
static __device__ __forceinline__ uint32_t slc_image_find_halving(uint32_t *table, uint32_t address)
{
    for (;;) {
        const uint32_t parent = table[address];
        if (parent == address) {
            return address;
        }
        const uint32_t above = table[parent];
        if (above == parent) {
            return parent;
        }
        table[address] = above;
        address = above;
    }
}

/* Unites two addresses that are, or have been, roots: the smaller one is handed to the larger one, and what
 * that held before is still to be united with it. */
static __device__ __forceinline__ void slc_image_unite_roots(uint32_t *table, uint32_t a, uint32_t b)
{
    while (a != b) {
        const uint32_t high = a > b ? a : b, low = a > b ? b : a;
        const uint32_t old = atomicMin(&table[high], low);
        /* `high` was a root and now hangs below `low`; or it had a parent, which is still to be united with
         * `low`, whether the entry has just been made to name `low` or not. */
        a = old == high ? low : old;
        b = low;
    }
}

/* Unites the components of two addresses (algorithm 7). The table may be in shared memory. */
static __device__ __forceinline__ void slc_image_unite(uint32_t *table, uint32_t a, uint32_t b)
{
    while (a != b) { /* up to the roots, or to where the paths meet */
        const uint32_t parent = table[a];
        if (parent == a) {
            break;
        }
        a = parent;
    }
    while (a != b) {
        const uint32_t parent = table[b];
        if (parent == b) {
            break;
        }
        b = parent;
    }
    slc_image_unite_roots(table, a, b);
}

/* ---- runs in a mask of 32 or 64 pixels (algorithms 6 and 13) ----------------------------------- */

/* Set pixels directly before pixel `at`, 0 <= at <= bits of the mask: where pixel `at` is set, the distance
 * to the start of its run; where not, the length of the run that ends before it. */
static __device__ __forceinline__ uint32_t slc_image_start_distance(uint32_t mask, uint32_t at)
{
    const uint32_t before = static_cast<uint32_t>((static_cast<uint64_t>(mask) << 32) >> at);
    return static_cast<uint32_t>(__clz(static_cast<int>(~before)));
}
static __device__ __forceinline__ uint32_t slc_image_start_distance(uint64_t mask, uint32_t at)
{
    const uint64_t before = at == 0 ? 0 : mask << (64 - at);
    return static_cast<uint32_t>(__clzll(static_cast<long long>(~before)));
}

/* Pixels of the run from pixel `at`, which is set, to its end in the mask, 0 <= at < bits. */
static __device__ __forceinline__ uint32_t slc_image_end_distance(uint32_t mask, uint32_t at)
{
    return static_cast<uint32_t>(__ffs(static_cast<int>(~((mask >> at) >> 1))));
}
static __device__ __forceinline__ uint32_t slc_image_end_distance(uint64_t mask, uint32_t at)
{
    return static_cast<uint32_t>(__ffsll(static_cast<long long>(~((mask >> at) >> 1))));
}

static __device__ __forceinline__ bool slc_image_bit(uint32_t mask, uint32_t at)
{
    return ((mask >> at) & 1U) != 0;
}
static __device__ __forceinline__ bool slc_image_bit(uint64_t mask, uint32_t at)
{
    return ((mask >> at) & 1U) != 0;
}

#endif
