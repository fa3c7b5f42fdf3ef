/* SPDX-License-Identifier: Apache-2.0
 *
 * Features that move while labels are merged (OTF): A. Hennequin's thesis (2022), section 4.4.2, algorithm
 * 15. Every label has a slot with the features of what is known to belong to it. Who hangs a root below
 * another moves what is in its slot to the other's; when all labels are merged, the slots of roots have all.
 *
 * No part is lost. Who adds to a slot looks, behind a fence, whether its label still is a root, and if not
 * moves the slot's content on; who hangs a root below another takes its content behind a fence. Of the two
 * one comes later, in the order of all fences, and sees what the other did. A sum is taken with an exchange,
 * so that it is taken once.
 *
 * Beyond the thesis: minima and maxima may be taken twice. They are read and not exchanged, so that they only
 * ever fall or rise, and an atomic operation that would change nothing is left out.
 */
#ifndef SLUICE_IMAGE_OTF_CUH
#define SLUICE_IMAGE_OTF_CUH

#include "image/cuda/image_cuda_number.cuh"

namespace
{

/* What a slot begins with. */
__device__ __forceinline__ void otf_begin(const slc_image_cuda_sums &sums, uint32_t slot,
                                          const slc_image_part &part)
{
    sums.sum_x[slot] = part.sum_x;
    sums.sum_y[slot] = part.sum_y;
    sums.area[slot] = part.area;
    sums.x_min[slot] = part.x_min;
    sums.x_max[slot] = part.x_max;
    sums.y_max[slot] = part.y_max;
}

/* Past the multiprocessor's own cache, as other blocks write. */
__device__ __forceinline__ uint32_t look(const uint32_t *at)
{
    return *static_cast<const volatile uint32_t *>(at);
}

__device__ inline void otf_move(const slc_image_cuda_sums &sums, uint32_t from, uint32_t to)
{
    const uint32_t area = atomicExch(sums.area + from, 0U);
    const unsigned long long sum_x = atomicExch(sums.sum_x + from, 0ULL);
    const unsigned long long sum_y = atomicExch(sums.sum_y + from, 0ULL);
    const uint32_t x_min = look(sums.x_min + from), x_max = look(sums.x_max + from);
    const uint32_t y_max = look(sums.y_max + from);
    if (area != 0) {
        atomicAdd(sums.area + to, area);
    }
    if (sum_x != 0) {
        atomicAdd(sums.sum_x + to, sum_x);
    }
    if (sum_y != 0) {
        atomicAdd(sums.sum_y + to, sum_y);
    }
    if (x_min < look(sums.x_min + to)) {
        atomicMin(sums.x_min + to, x_min);
    }
    if (x_max > look(sums.x_max + to)) {
        atomicMax(sums.x_max + to, x_max);
    }
    if (y_max > look(sums.y_max + to)) {
        atomicMax(sums.y_max + to, y_max);
    }
}

__device__ __forceinline__ uint32_t otf_root(const uint32_t *table, uint32_t label)
{
    for (uint32_t parent = look(table + label); parent != label; parent = look(table + label)) {
        label = parent;
    }
    return label;
}

/* Behind an addition to the slot of `label` and a fence: sees to it that it arrives at a root. Returns that.
 */
__device__ __forceinline__ uint32_t otf_follow(const uint32_t *table, const slc_image_cuda_sums &sums,
                                               uint32_t label)
{
    for (uint32_t root = otf_root(table, label); root != label; root = otf_root(table, label)) {
        otf_move(sums, label, root);
        __threadfence();
        label = root;
    }
    return label;
}

/* Merges two labels, whose numbers are those of their slots. Returns what was their root at the end. */
__device__ inline uint32_t otf_unite(uint32_t *table, const slc_image_cuda_sums &sums, uint32_t a, uint32_t b)
{
    a = otf_root(table, a);
    b = otf_root(table, b);
    if (a == b) {
        return a;
    }
    while (a != b) {
        const uint32_t low = a < b ? a : b, high = a < b ? b : a;
        const uint32_t old = atomicMin(table + high, low);
        __threadfence();
        otf_move(sums, high, low);
        __threadfence();
        a = low;
        /* Where somebody else has hung `high` below `old` meanwhile, that is to be merged, too. */
        b = old == high ? low : old;
    }
    return otf_follow(table, sums, a);
}

/* Adds to the component of a label that may hang below others already and has no part of its own. */
__device__ inline void otf_add(const uint32_t *table, const slc_image_cuda_sums &sums, uint32_t label,
                               const slc_image_part &part)
{
    const uint32_t root = otf_root(table, label);
    slc_image_sums_add(sums, root, part);
    __threadfence();
    otf_follow(table, sums, root);
}

} // namespace

#endif
