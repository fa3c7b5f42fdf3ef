/* SPDX-License-Identifier: Apache-2.0
 *
 * The last step of `near`: a block sorts a bucket by (time, arrival) in its shared memory. The range of its
 * times is cut into as many slots as there may be singles; singles are counted and placed slot by slot, and
 * in its slot, where hardly another one is, each counts those that are less. Where a slot is crowded, as for
 * many equal times, the block's keys go through K. Batcher's bitonic network (1968) instead.
 *
 * Keys are 32 bits of time since the bucket's beginning and the arrival; where buckets are longer (WIDE), all
 * bits of the time, which are fetched from where the single came from.
 */
#include "pet/cuda/pet_sort_device.cuh"

namespace
{
enum {
    THREADS = 512,
    EACH = SLC_PET_SORT_MOST / THREADS,
    SLOTS = SLC_PET_SORT_MOST,
    SLOTS_EACH = SLOTS / THREADS,
    CROWDED = 24
};

template <bool WIDE> struct sort_key;
template <> struct sort_key<false> {
    uint64_t both;
    __device__ __forceinline__ static sort_key of(uint32_t since, uint32_t arrival)
    {
        return {static_cast<uint64_t>(since) << 32 | arrival};
    }
    __device__ __forceinline__ static sort_key most()
    {
        return {~0ULL};
    }
    __device__ __forceinline__ bool operator<(const sort_key &other) const
    {
        return both < other.both;
    }
};
template <> struct sort_key<true> {
    uint64_t since;
    uint32_t arrival, unused;
    __device__ __forceinline__ static sort_key of(uint64_t since, uint32_t arrival)
    {
        return {since, arrival, 0};
    }
    __device__ __forceinline__ static sort_key most()
    {
        return {~0ULL, ~0U, 0};
    }
    __device__ __forceinline__ bool operator<(const sort_key &other) const
    {
        return since < other.since || (since == other.since && arrival < other.arrival);
    }
};

template <bool WIDE> struct since_type {
    typedef uint32_t type;
};
template <> struct since_type<true> {
    typedef uint64_t type;
};

/* The sorted bucket on its way out; in the same memory as the keys, which are of no use any more. */
template <bool WIDE> struct rows {
    typename since_type<WIDE>::type since[SLC_PET_SORT_MOST];
    uint32_t crystal[SLC_PET_SORT_MOST], energy[SLC_PET_SORT_MOST];
};

template <bool WIDE> struct room {
    union {
        sort_key<WIDE> keys[SLC_PET_SORT_MOST];
        rows<WIDE> out;
    };
    uint32_t slots[SLOTS + 1];
    uint32_t least[THREADS / 32], most[THREADS / 32], warps[THREADS / 32];
};

struct output {
    int64_t *time;
    uint32_t *crystal, *energy;
};

/* Counts to first places; is a slot crowded? */
template <bool WIDE> __device__ __forceinline__ bool sum_slots(room<WIDE> &r)
{
    uint32_t counts[SLOTS_EACH], sum = 0, fullest = 0, all;
#pragma unroll
    for (uint32_t i = 0; i < SLOTS_EACH; i++) {
        counts[i] = r.slots[threadIdx.x * SLOTS_EACH + i];
        sum += counts[i];
        fullest = max(fullest, counts[i]);
    }
    uint32_t before = sum_before<THREADS>(sum, r.warps, &all);
#pragma unroll
    for (uint32_t i = 0; i < SLOTS_EACH; i++) {
        r.slots[threadIdx.x * SLOTS_EACH + i] = before;
        before += counts[i];
    }
    if (threadIdx.x == 0) {
        r.slots[SLOTS] = all;
    }
    return __syncthreads_or(fullest > CROWDED) != 0;
}

/* Sorts n keys; they are filled up to a power of two. */
template <bool WIDE> __device__ void sort_keys(sort_key<WIDE> *keys, uint32_t n)
{
    uint32_t all = 2;
    while (all < n) {
        all *= 2;
    }
    for (uint32_t i = n + threadIdx.x; i < all; i += THREADS) {
        keys[i] = sort_key<WIDE>::most();
    }
    for (uint32_t length = 2; length <= all; length *= 2) {
        for (uint32_t step = length / 2; step > 0; step /= 2) {
            __syncthreads();
            for (uint32_t pair = threadIdx.x; pair < all / 2; pair += THREADS) {
                const uint32_t low = 2 * pair - (pair & (step - 1)), high = low + step;
                const bool rising = (low & length) == 0;
                const sort_key<WIDE> a = keys[low], b = keys[high];
                if ((b < a) == rising) {
                    keys[low] = b;
                    keys[high] = a;
                }
            }
        }
    }
    __syncthreads();
}

/* How many of the keys from `begin` to before `end` are less. */
template <bool WIDE>
__device__ __forceinline__ uint32_t count_less(const sort_key<WIDE> *keys, uint32_t begin, uint32_t end,
                                               const sort_key<WIDE> &key)
{
    uint32_t less = 0;
    for (uint32_t i = begin; i < end; i++) {
        less += keys[i] < key ? 1 : 0;
    }
    return less;
}

/* The same among all, in order. */
template <bool WIDE>
__device__ __forceinline__ uint32_t find_key(const sort_key<WIDE> *keys, uint32_t n,
                                             const sort_key<WIDE> &key)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (keys[middle] < key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* What a thread has of a bucket. spot: slot and number in it; in the end, the place in order. */
template <bool WIDE> struct cargo {
    typename since_type<WIDE>::type since[EACH];
    uint32_t arrival[EACH], crystal[EACH], energy[EACH], spot[EACH];
};

/* Row i of a thread, if it is below n. */
__device__ __forceinline__ uint32_t row_of(uint32_t i)
{
    return i * THREADS + threadIdx.x;
}

template <bool WIDE>
__device__ __forceinline__ void load(cargo<WIDE> &c, const columns &from, const uint4 *records, uint32_t n,
                                     uint64_t lowest)
{
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        if (row_of(i) < n) {
            const uint4 record = __ldcs(records + row_of(i));
            c.since[i] = static_cast<typename since_type<WIDE>::type>(
                (WIDE ? key_at(from, record.y) : record.x) - lowest);
            c.arrival[i] = record.y;
            c.crystal[i] = record.z;
            c.energy[i] = record.w;
        }
    }
}

/* What cuts numbers of 32 bits from *least on into slots: the upper half of the product, which rises with the
 * number. The division's error is smaller than what is taken off. */
template <bool WIDE>
__device__ __forceinline__ uint32_t slot_scale(room<WIDE> &r, const cargo<WIDE> &c, uint32_t n,
                                               uint32_t shift, uint32_t *least)
{
    const uint32_t lane = threadIdx.x % 32;
    uint32_t mine_least = ~0U, mine_most = 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        if (row_of(i) < n) {
            mine_least = min(mine_least, static_cast<uint32_t>(c.since[i] >> shift));
            mine_most = max(mine_most, static_cast<uint32_t>(c.since[i] >> shift));
        }
    }
    mine_least = slc_warp_least(mine_least);
    mine_most = slc_warp_greatest(mine_most);
    if (lane == 0) {
        r.least[threadIdx.x / 32] = mine_least;
        r.most[threadIdx.x / 32] = mine_most;
    }
    __syncthreads();
    *least = slc_warp_least(r.least[lane % (THREADS / 32)]);
    const uint32_t span = slc_warp_greatest(r.most[lane % (THREADS / 32)]) - *least;
    const float scale = static_cast<float>(SLOTS) * 4294967296.0F / (static_cast<float>(span) + 1.0F);
    return static_cast<uint32_t>(fminf(scale * 0.99999F, 4294960000.0F));
}

/* Counts slots, and puts the keys in the order of these. Is one crowded? */
template <bool WIDE>
__device__ __forceinline__ bool fill_slots(room<WIDE> &r, cargo<WIDE> &c, uint32_t n, uint32_t shift)
{
#pragma unroll
    for (uint32_t i = 0; i < SLOTS_EACH; i++) {
        r.slots[row_of(i)] = 0;
    }
    uint32_t least;
    const uint32_t scale = slot_scale<WIDE>(r, c, n, shift, &least);
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        if (row_of(i) < n) {
            const uint32_t slot = __umulhi(static_cast<uint32_t>(c.since[i] >> shift) - least, scale);
            c.spot[i] = slot << 16 | atomicAdd(r.slots + slot, 1U);
        }
    }
    __syncthreads();
    const bool crowded = sum_slots<WIDE>(r);
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        if (row_of(i) < n) {
            r.keys[r.slots[c.spot[i] >> 16] + (c.spot[i] & 0xFFFF)] = sort_key<WIDE>::of(c.since[i],
                                                                                         c.arrival[i]);
        }
    }
    return crowded;
}

template <bool WIDE>
__device__ __forceinline__ void find_places(const room<WIDE> &r, cargo<WIDE> &c, uint32_t n, bool crowded)
{
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        if (row_of(i) < n) {
            const sort_key<WIDE> key = sort_key<WIDE>::of(c.since[i], c.arrival[i]);
            if (crowded) {
                c.spot[i] = find_key<WIDE>(r.keys, n, key);
            } else {
                const uint32_t first = r.slots[c.spot[i] >> 16], end = r.slots[(c.spot[i] >> 16) + 1];
                c.spot[i] = end - first == 1 ? first : first + count_less<WIDE>(r.keys, first, end, key);
            }
        }
    }
}

/* By way of shared memory, so that what is written lies together. */
template <bool WIDE>
__device__ __forceinline__ void store(room<WIDE> &r, const cargo<WIDE> &c, uint32_t n, uint64_t lowest,
                                      size_t begin, const output &to)
{
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        if (row_of(i) < n) {
            r.out.since[c.spot[i]] = c.since[i];
            r.out.crystal[c.spot[i]] = c.crystal[i];
            r.out.energy[c.spot[i]] = c.energy[i];
        }
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t at = row_of(i);
        if (at < n) {
            to.time[begin + at] = time_of(lowest + r.out.since[at]);
            to.crystal[begin + at] = r.out.crystal[at];
            to.energy[begin + at] = r.out.energy[at];
        }
    }
}

template <bool WIDE>
__global__ void __launch_bounds__(THREADS, WIDE ? 2 : RESIDENT / THREADS)
    sort_buckets(const columns from, const uint4 *records, const uint32_t *cursor, const uint64_t *low,
                 const slc_pet_sort_head *head, const output to)
{
    __shared__ room<WIDE> r;
    const uint32_t begin = blockIdx.x == 0 ? 0 : cursor[blockIdx.x - 1];
    const uint32_t n = cursor[blockIdx.x] - begin;
    const uint64_t lowest = low[blockIdx.x];
    if (n == 0) {
        return;
    }
    /* As a number of 32 bits, a time has those of the range of all times that are the highest. */
    const uint64_t span = head->most - ~head->not_least;
    const uint32_t bits = 64U - static_cast<uint32_t>(__clzll(static_cast<long long>(span)));
    const uint32_t shift = WIDE && bits > 32 ? bits - 32 : 0;
    cargo<WIDE> c;
    load<WIDE>(c, from, records + begin, n, lowest);
    const bool crowded = fill_slots<WIDE>(r, c, n, shift);
    if (crowded) {
        sort_keys<WIDE>(r.keys, n);
    }
    __syncthreads();
    find_places<WIDE>(r, c, n, crowded);
    __syncthreads(); /* keys are where rows are to be */
    store<WIDE>(r, c, n, lowest, begin, to);
}
} // namespace

slc_status slc_pet_sort_near_finish(const slc_pet_sort_near *job, bool wide, slc_error *error)
{
    const columns from = columns_of(job->from);
    const output to = {job->to.time_ps, job->to.crystal, reinterpret_cast<uint32_t *>(job->to.energy_kev)};
    const uint32_t buckets = blocks_for(job->n, SLC_PET_SORT_BUCKET);
    const uint4 *records = static_cast<const uint4 *>(job->records);
    if (wide) {
        SLC_LAUNCH(sort_buckets<true>, buckets, THREADS, 0, job->stream, from, records, job->cursor, job->low,
                   job->head, to);
    } else {
        SLC_LAUNCH(sort_buckets<false>, buckets, THREADS, 0, job->stream, from, records, job->cursor,
                   job->low, job->head, to);
    }
    return slc_cuda_check(cudaGetLastError(), "launching the sort of buckets", error);
}
