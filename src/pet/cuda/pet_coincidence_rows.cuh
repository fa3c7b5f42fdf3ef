/* SPDX-License-Identifier: Apache-2.0
 *
 * Rows of coincidences on a GPU: where they are written, and the pairs of a window that is so large that a
 * warp looks at them together. What a look finds does not depend on the order (pet_coincidence_core.h).
 */
#ifndef SLUICE_PET_COINCIDENCE_ROWS_CUH
#define SLUICE_PET_COINCIDENCE_ROWS_CUH

#include "pet/cuda/pet_coincidence_device.cuh"

namespace
{
enum { MANY_PAIRS = 256 }; /* so many are a warp's business */

struct members {
    uint32_t opener, a, b; /* a … b - 1 */
};

__device__ __forceinline__ u64 pairs_of(members w, bool opener_only)
{
    const u64 n = static_cast<u64>(w.b) - w.a + 1;
    return opener_only ? n - 1 : n * (n - 1) / 2;
}

/* ---- looking -------------------------------------------------------------------------------------- */

/* Is pair (i, k) before (j, l)? */
__device__ __forceinline__ bool is_before(const size_t *one, const size_t *other)
{
    return one[0] != other[0] ? one[0] < other[0] : one[1] < other[1];
}

__device__ __forceinline__ void from_lane(const size_t *pair, int step, size_t *other)
{
    other[0] = __shfl_xor_sync(ALL, static_cast<u64>(pair[0]), step);
    other[1] = __shfl_xor_sync(ALL, static_cast<u64>(pair[1]), step);
}

/* The better of two lanes' pairs, of which n and other_n were found. */
__device__ __forceinline__ void better(size_t *pair, double *energy, bool any, int step, bool other_any)
{
    size_t other[2];
    from_lane(pair, step, other);
    const double other_energy = __shfl_xor_sync(ALL, *energy, step);
    const bool wins = other_energy > *energy || (other_energy == *energy && is_before(other, pair));
    if (other_any && (!any || wins)) {
        pair[0] = other[0];
        pair[1] = other[1];
        *energy = other_energy;
    }
}

/* What all lanes have found. */
__device__ inline void join_looks(slc_pet_look *look)
{
    for (int step = 16; step > 0; step /= 2) {
        const u64 n = __shfl_xor_sync(ALL, static_cast<u64>(look->n), step);
        const u64 goods = __shfl_xor_sync(ALL, static_cast<u64>(look->goods), step);
        size_t good[2];
        better(look->winner, &look->most, look->n > 0, step, n > 0);
        better(look->best, &look->most_good, look->goods > 0, step, goods > 0);
        from_lane(look->good, step, good);
        if (goods > 0 && (look->goods == 0 || is_before(good, look->good))) {
            look->good[0] = good[0];
            look->good[1] = good[1];
        }
        look->n += n;
        look->goods += goods;
    }
}

/* slc_pet_look_at by a warp, whose lanes have the same window. */
__device__ inline slc_pet_look look_together(const slc_pet_terms &terms, slc_pet_asked asked, members w)
{
    const unsigned lane = threadIdx.x % 32;
    slc_pet_look look = slc_pet_look_none();
    for (uint32_t i = w.opener, k = w.a;; k = i + 1) {
        for (u64 at = static_cast<u64>(k) + lane; at < w.b; at += 32) {
            slc_pet_look_add(&terms, asked.different, i, at, &look);
        }
        i = i < w.a ? w.a : i + 1;
        if (asked.opener_only || i + 1 >= w.b) {
            break;
        }
        if (asked.enough != 0 && warp_sum(look.goods) >= asked.enough) {
            break;
        }
    }
    join_looks(&look);
    if (asked.enough != 0 && look.goods > asked.enough) {
        look.goods = asked.enough;
    }
    return look;
}

/* ---- pairs that are rows -------------------------------------------------------------------------- */

__device__ __forceinline__ u64 count_goods(const slc_pet_terms &terms, members w, bool opener_only)
{
    slc_pet_walk walk = slc_pet_walk_of(w.opener, w.a, w.b, opener_only);
    size_t first = 0, second = 0;
    u64 n = 0;
    while (slc_pet_walk_next(&walk, &first, &second)) {
        n += slc_pet_takes(&terms, first, second);
    }
    return n;
}

/* Gives put(first, second, number) all pairs of a window, or those that the rule takes, in their order; by a
 * warp. Returns how many they are. */
template <class Put>
__device__ __forceinline__ u64 go_together(const slc_pet_terms &terms, members w, bool opener_only, bool all,
                                           Put put)
{
    const unsigned lane = threadIdx.x % 32;
    u64 n = 0;
    for (uint32_t i = w.opener, k = w.a;; k = i + 1) {
        for (u64 begin = k; begin < w.b; begin += 32) {
            const u64 at = begin + lane;
            const unsigned taken = __ballot_sync(ALL, at < w.b && (all || slc_pet_takes(&terms, i, at)));
            if ((taken >> lane & 1U) != 0) {
                put(i, static_cast<uint32_t>(at), n + lanes_before(taken, lane));
            }
            n += static_cast<unsigned>(__popc(taken));
        }
        i = i < w.a ? w.a : i + 1;
        if (opener_only || i + 1 >= w.b) {
            return n;
        }
    }
}

/* Neighbours in time, in the same way. */
template <class Put>
__device__ __forceinline__ u64 go_along(const slc_pet_terms &terms, members w, bool opener_only, Put put)
{
    u64 n = 0;
    const uint32_t end = opener_only ? w.a + 1 : w.b;
    for (uint32_t i = w.opener, k = w.a; k < end; i = k++) {
        if (slc_pet_good_pair(&terms, i, k)) {
            put(i, k, n++);
        }
    }
    return n;
}

/* ---- rows ----------------------------------------------------------------------------------------- */

__device__ __forceinline__ int64_t time_at(const slc_pet_cuda_job &job, uint32_t i)
{
    return i < job.split ? static_cast<const int64_t *>(job.time_before)[i]
                         : static_cast<const int64_t *>(job.time)[i - job.split];
}

__device__ __forceinline__ void write_pair(const slc_pet_cuda_job &job, u64 row, uint32_t first,
                                           uint32_t second)
{
    const int64_t one = time_at(job, first), two = time_at(job, second);
    const slc_pet_cuda_pairs &to = job.pairs;
    to.time_ps[row] = one;
    to.dt_ps[row] = static_cast<int64_t>(apart(two, one) - job.limits.low);
    to.crystal1[row] = slc_pet_crystal_of(&job.terms, first);
    to.crystal2[row] = slc_pet_crystal_of(&job.terms, second);
    to.energy1_kev[row] = slc_pet_energy_of(&job.terms, first);
    to.energy2_kev[row] = slc_pet_energy_of(&job.terms, second);
}

__device__ __forceinline__ void write_group(const slc_pet_cuda_job &job, u64 row, uint32_t first,
                                            uint32_t second, uint32_t size)
{
    job.groups.first[row] = job.base + first;
    job.groups.second[row] = job.base + second;
    job.groups.size[row] = size;
}

__device__ __forceinline__ void write_row(const slc_pet_cuda_job &job, u64 row, uint32_t first,
                                          uint32_t second)
{
    if (job.as_pairs) {
        write_pair(job, row, first, second);
    } else {
        write_group(job, row, first, second, 2);
    }
}
} // namespace

#endif
