/* SPDX-License-Identifier: Apache-2.0
 *
 * `radix`: by digits of eight bits, from the lowest, each time stably. Digits begin at the lowest bit in
 * which times differ, and those in which none differs are left out, so that ticks of 40 bits need five. A
 * tile counts its digits, running sums over digits and tiles say where each tile's part of a digit goes, and
 * a tile brings its singles into that order in shared memory before they leave, so that what is written lies
 * together.
 *
 * To compare with; for input in which so many times are equal that no buckets help; and the first step of
 * `near` for input in no order: one such pass, by parts of the range in place of digits.
 */
#include "pet/cuda/pet_sort_device.cuh"

namespace
{
enum {
    DIGITS = 256,
    THREADS = 256,
    WARPS = THREADS / 32,
    EACH = 16,
    TILE = THREADS * EACH,
    WARP_TILE = 32 * EACH
};

struct output {
    int64_t *time;
    uint32_t *crystal, *energy;
};

/* Eight bits of the key. */
struct by_bits {
    uint32_t shift;
    __device__ __forceinline__ uint32_t of(uint64_t key) const
    {
        return static_cast<uint32_t>(key >> shift) & (DIGITS - 1);
    }
};

/* Which of 256 equal parts of a range. */
struct by_share {
    uint64_t least;
    uint32_t shift, scale;
    __device__ __forceinline__ uint32_t of(uint64_t key) const
    {
        return __umulhi(static_cast<uint32_t>((key - least) >> shift), scale);
    }
};

template <class digit>
__global__ void __launch_bounds__(THREADS)
    count_digits(const columns from, uint32_t n, const digit by, uint32_t *counts)
{
    __shared__ uint32_t digits[DIGITS];
    digits[threadIdx.x] = 0;
    __syncthreads();
    const uint64_t tile = static_cast<uint64_t>(blockIdx.x) * TILE;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint64_t at = tile + i * THREADS + threadIdx.x;
        if (at < n) {
            atomicAdd(digits + by.of(key_at(from, static_cast<uint32_t>(at))), 1U);
        }
    }
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = digits[threadIdx.x];
}

struct shared {
    uint64_t key[TILE];
    uint32_t crystal[TILE], energy[TILE];
    uint32_t counts[WARPS][DIGITS]; /* of a warp so far; then where its first goes in the tile */
    uint32_t shift[DIGITS];         /* from the place in the tile to that in all */
    uint32_t warps[WARPS];
};

/* Which lanes have this lane's digit. */
__device__ __forceinline__ uint32_t same_digit(uint32_t digit)
{
    uint32_t same = ALL_LANES;
#pragma unroll
    for (uint32_t bit = 1; bit < DIGITS; bit *= 2) {
        const uint32_t votes = __ballot_sync(ALL_LANES, (digit & bit) != 0);
        same &= (digit & bit) != 0 ? votes : ~votes;
    }
    return same;
}

/* For each single its number among those of its warp with its digit. Lanes beyond the end have the last
 * digit, behind all others. */
template <class digit>
__device__ __forceinline__ void rank_in_warp(uint32_t *counts, const uint64_t *keys, uint32_t some,
                                             const digit &by, uint32_t *ranks)
{
    const uint32_t lane = threadIdx.x % 32, first = threadIdx.x / 32 * WARP_TILE + lane;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const bool there = first + i * 32 < some;
        const uint32_t number = by.of(keys[i]);
        const uint32_t same = same_digit(number) & __ballot_sync(ALL_LANES, there);
        const uint32_t before = counts[number];
        ranks[i] = before + static_cast<uint32_t>(__popc(same & ((1U << lane) - 1)));
        __syncwarp();
        if (there && lane == 31U - static_cast<uint32_t>(__clz(static_cast<int>(same)))) {
            counts[number] = ranks[i] + 1;
        }
        __syncwarp();
    }
}

template <class digit>
__global__ void __launch_bounds__(THREADS, 2)
    distribute(const columns from, uint32_t n, const digit by, const uint32_t *counts, const output to)
{
    SLC_DYNAMIC_SHARED(shared, all);
    shared &s = all[0];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint64_t tile = static_cast<uint64_t>(blockIdx.x) * TILE;
    const uint32_t some = static_cast<uint32_t>(min(static_cast<uint64_t>(TILE), n - tile));
    const uint32_t first = warp * WARP_TILE + lane;
    uint64_t keys[EACH];
    uint32_t crystal[EACH], energy[EACH], ranks[EACH];
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t at = static_cast<uint32_t>(tile) + (first + i * 32 < some ? first + i * 32 : 0);
        keys[i] = key_at(from, at);
        crystal[i] = crystal_at(from, at);
        energy[i] = energy_at(from, at);
    }
    for (uint32_t i = threadIdx.x; i < WARPS * DIGITS; i += THREADS) {
        s.counts[i / DIGITS][i % DIGITS] = 0;
    }
    __syncthreads();
    rank_in_warp(s.counts[warp], keys, some, by, ranks);
    __syncthreads();
    /* A thread for each digit. */
    uint32_t sum = 0, unused;
    for (uint32_t w = 0; w < WARPS; w++) {
        const uint32_t count = s.counts[w][threadIdx.x];
        s.counts[w][threadIdx.x] = sum;
        sum += count;
    }
    const uint32_t before = sum_before<THREADS>(sum, s.warps, &unused);
    s.shift[threadIdx.x] = counts[threadIdx.x * gridDim.x + blockIdx.x] - before;
    for (uint32_t w = 0; w < WARPS; w++) {
        s.counts[w][threadIdx.x] += before;
    }
    __syncthreads();
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        if (first + i * 32 < some) {
            const uint32_t place = s.counts[warp][by.of(keys[i])] + ranks[i];
            s.key[place] = keys[i];
            s.crystal[place] = crystal[i];
            s.energy[place] = energy[i];
        }
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < some; i += THREADS) {
        const uint64_t key = s.key[i];
        const uint32_t place = s.shift[by.of(key)] + i;
        to.time[place] = time_of(key);
        to.crystal[place] = s.crystal[i];
        to.energy[place] = s.energy[i];
    }
}

/* As they are. */
__global__ void __launch_bounds__(THREADS) copy(const columns from, uint32_t n, const output to)
{
    const uint64_t at = static_cast<uint64_t>(blockIdx.x) * THREADS + threadIdx.x;
    if (at < n) {
        const uint32_t row = static_cast<uint32_t>(at);
        to.time[at] = time_of(key_at(from, row));
        to.crystal[at] = crystal_at(from, row);
        to.energy[at] = energy_at(from, row);
    }
}

output output_of(const slc_pet_cuda_singles &to)
{
    return {to.time_ps, to.crystal, reinterpret_cast<uint32_t *>(to.energy_kev)};
}

/* The digits' lowest bits. Returns how many. */
uint32_t choose_digits(uint64_t differing, uint32_t *shifts)
{
    uint32_t n = 0;
    for (uint32_t bit = 0; bit < 64; bit++) {
        if ((differing >> bit & 1) != 0) {
            shifts[n++] = bit;
            bit += 7;
        }
    }
    return n;
}

template <class digit>
slc_status pass(const slc_pet_sort_radix *job, const columns &from, const output &to, const digit &by,
                slc_error *error)
{
    const uint32_t tiles = blocks_for(job->n, TILE);
    slc_status status = slc_cuda_check(cudaFuncSetAttribute(distribute<digit>,
                                                            cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                            static_cast<int>(sizeof(shared))),
                                       "room for a radix sort", error);
    if (status != SLC_OK) {
        return status;
    }
    SLC_LAUNCH(count_digits<digit>, tiles, THREADS, 0, job->stream, from, job->n, by, job->counts);
    status = slc_pet_sort_scan(job->counts, tiles * DIGITS, job->sums, job->stream, error);
    if (status != SLC_OK) {
        return status;
    }
    SLC_LAUNCH(distribute<digit>, tiles, THREADS, sizeof(shared), job->stream, from, job->n, by, job->counts,
               to);
    return slc_cuda_check(cudaGetLastError(), "launching a radix sort", error);
}
} // namespace

uint32_t slc_pet_sort_radix_counts(uint32_t n)
{
    return blocks_for(n, TILE) * DIGITS;
}

slc_status slc_pet_sort_radix_run(const slc_pet_sort_radix *job, slc_error *error)
{
    uint32_t shifts[8];
    const uint32_t digits = choose_digits(job->differing, shifts);
    columns from = columns_of(job->from);
    if (digits == 0) {
        SLC_LAUNCH(copy, blocks_for(job->n, THREADS), THREADS, 0, job->stream, from, job->n,
                   output_of(job->to));
        return slc_cuda_check(cudaGetLastError(), "launching a copy of singles", error);
    }
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < digits && status == SLC_OK; i++) {
        /* So that the last one ends where it should. */
        const slc_pet_cuda_singles *to = (digits - i) % 2 != 0 ? &job->to : &job->work;
        status = pass(job, from, output_of(*to), by_bits{shifts[i]}, error);
        slc_pet_sort_source next = {};
        next.part[0] = *to;
        next.part[0].n = job->n;
        from = columns_of(next);
    }
    return status;
}

slc_status slc_pet_sort_radix_group(const slc_pet_sort_radix *job, uint64_t least, uint64_t most,
                                    slc_error *error)
{
    by_share by = {least, 0, 0};
    while ((most - least) >> by.shift > UINT32_MAX) {
        by.shift++;
    }
    const uint64_t scale = (static_cast<uint64_t>(DIGITS) << 32) / (((most - least) >> by.shift) + 1);
    by.scale = static_cast<uint32_t>(scale < UINT32_MAX ? scale : UINT32_MAX);
    return pass(job, columns_of(job->from), output_of(job->work), by, error);
}
