/* SPDX-License-Identifier: Apache-2.0
 *
 * How the segments of a row add themselves to the features of their components: each for itself, by atomic
 * operations (algorithm 11 of A. Hennequin's thesis, 2022), or with conflict detection (CD, section 4.4.3,
 * algorithm 16), where the lanes of a warp whose segments belong to one component add up among themselves
 * first and one of them goes to memory. That sum is made by halving ranks with shuffles, or by the sums that
 * the hardware has from sm_80 on, which it makes one after the other for different components.
 *
 * Beyond the thesis: the lanes that vote together hold segments of one row in rising order. So y and the box
 * need no reduction (the first peer is the leftmost, the last one has the right end), sum_y follows from the
 * area, and where all columns of a row add up to less than 2^32 sum_x is reduced in 32 bits.
 */
#ifndef SLUICE_IMAGE_VOTE_CUH
#define SLUICE_IMAGE_VOTE_CUH

#include "image/cuda/image_cuda_number.cuh"

namespace
{

typedef unsigned long long wide; /* what atomic operations and shuffles take as 64 bits */

enum vote_kind { VOTE_EACH, VOTE_DETECT, VOTE_REDUCE };
__device__ __forceinline__ uint32_t lanes_below(uint32_t lane)
{
    return (1U << lane) - 1U;
}

/* The sum over a lane's peers, for the first of them; other lanes get parts of it. In every round each lane
 * adds what its next peer has, and peers of odd rank, having been added to their neighbours, leave. */
template <typename SUM>
__device__ __forceinline__ void halve_ranks(uint32_t mask, uint32_t peers, uint32_t *area, SUM *sum_x)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t rank = static_cast<uint32_t>(__popc(peers & lanes_below(lane)));
    uint32_t rest = peers & ~lanes_below(lane) & ~(1U << lane);
    while (__any_sync(mask, rest != 0) != 0) {
        const int next = rest != 0 ? __ffs(static_cast<int>(rest)) - 1 : static_cast<int>(lane);
        const uint32_t more_area = __shfl_sync(mask, *area, next);
        const SUM more_sum_x = __shfl_sync(mask, *sum_x, next);
        if (rest != 0) {
            *area += more_area;
            *sum_x += more_sum_x;
        }
        rest &= __ballot_sync(mask, rank % 2 == 0);
        rank /= 2;
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
__device__ __forceinline__ uint32_t reduce(uint32_t peers, uint32_t value)
{
    return __reduce_add_sync(peers, value);
}

/* In parts of 27 bits, 32 of which cannot overflow. */
__device__ __forceinline__ wide reduce(uint32_t peers, wide value)
{
    const uint32_t part = (1U << 27) - 1;
    const wide low = __reduce_add_sync(peers, static_cast<uint32_t>(value) & part);
    const wide middle = __reduce_add_sync(peers, static_cast<uint32_t>(value >> 27) & part);
    const wide high = __reduce_add_sync(peers, static_cast<uint32_t>(value >> 54));
    return low + (middle << 27) + (high << 54);
}
#endif

template <vote_kind KIND, typename SUM>
__device__ __forceinline__ void sum_peers(uint32_t mask, uint32_t peers, uint32_t *area, SUM *sum_x)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (KIND == VOTE_REDUCE) {
        *area = reduce(peers, *area);
        *sum_x = reduce(peers, *sum_x);
        return;
    }
#endif
    halve_ranks(mask, peers, area, sum_x);
}

/* Adds the segments of the lanes in `mask` to the sums of their components, whose slot is `slot`. All these
 * lanes call it together, with segments of one row of the image that rise with the lanes. NARROW: the columns
 * of all their pixels add up to less than 2^32. */
template <vote_kind KIND, bool NARROW>
__device__ __forceinline__ void vote(const slc_image_cuda_sums &sums, uint32_t mask, uint32_t slot,
                                     slc_image_part part)
{
    if (KIND == VOTE_EACH) {
        slc_image_sums_add(sums, slot, part);
        return;
    }
    const uint32_t peers = __match_any_sync(mask, slot);
    part.x_max = __shfl_sync(mask, part.x_max, 31 - __clz(static_cast<int>(peers)));
    if (NARROW) {
        uint32_t sum_x = static_cast<uint32_t>(part.sum_x);
        sum_peers<KIND>(mask, peers, &part.area, &sum_x);
        part.sum_x = sum_x;
    } else {
        wide sum_x = part.sum_x;
        sum_peers<KIND>(mask, peers, &part.area, &sum_x);
        part.sum_x = sum_x;
    }
    part.sum_y = static_cast<wide>(part.area) * part.y_max;
    if ((peers & lanes_below(threadIdx.x % 32)) == 0) {
        slc_image_sums_add(sums, slot, part);
    }
}

} // namespace

#endif
