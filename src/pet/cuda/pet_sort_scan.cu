/* SPDX-License-Identifier: Apache-2.0
 *
 * What all methods of sorting on a GPU need first: the range of the times, and running sums of 32-bit counts.
 * Sums are made in three steps, of chunks, over chunks by one block, and in chunks, each of which reads what
 * the one before wrote; there are few counts beside the singles, so that this costs little.
 */
#include "pet/cuda/pet_sort_device.cuh"

namespace
{
enum { THREADS = 256, EACH = 16, CHUNK = THREADS * EACH, TOP = 1024, IN_FLIGHT = 8 };

/* ---- range ------------------------------------------------------------------------------------- */

struct range {
    unsigned long long most, not_least, ones, zeros;
};

__device__ __forceinline__ void widen(range &r, uint64_t key)
{
    r.most = max(r.most, static_cast<unsigned long long>(key));
    r.not_least = max(r.not_least, static_cast<unsigned long long>(~key));
    r.ones |= key;
    r.zeros |= ~key;
}

__global__ void __launch_bounds__(THREADS) find_range(const columns from, uint32_t n, slc_pet_sort_head *head)
{
    range r = {0, 0, 0, 0};
    const uint64_t step = static_cast<uint64_t>(gridDim.x) * THREADS * IN_FLIGHT;
    for (uint64_t at = static_cast<uint64_t>(blockIdx.x) * THREADS * IN_FLIGHT + threadIdx.x; at < n;
         at += step) {
        uint64_t keys[IN_FLIGHT];
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; i++) {
            const uint64_t row = at + static_cast<uint64_t>(i) * THREADS;
            keys[i] = key_at(from, static_cast<uint32_t>(row < n ? row : at));
        }
#pragma unroll
        for (int i = 0; i < IN_FLIGHT; i++) {
            widen(r, keys[i]);
        }
    }
#pragma unroll
    for (uint32_t lanes = 16; lanes > 0; lanes /= 2) {
        r.most = max(r.most, __shfl_xor_sync(ALL_LANES, r.most, lanes));
        r.not_least = max(r.not_least, __shfl_xor_sync(ALL_LANES, r.not_least, lanes));
        r.ones |= __shfl_xor_sync(ALL_LANES, r.ones, lanes);
        r.zeros |= __shfl_xor_sync(ALL_LANES, r.zeros, lanes);
    }
    __shared__ range warps[THREADS / 32];
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = r;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 1; i < THREADS / 32; i++) {
            r.most = max(r.most, warps[i].most);
            r.not_least = max(r.not_least, warps[i].not_least);
            r.ones |= warps[i].ones;
            r.zeros |= warps[i].zeros;
        }
        atomicMax(&head->most, r.most);
        atomicMax(&head->not_least, r.not_least);
        atomicOr(&head->ones, r.ones);
        atomicOr(&head->zeros, r.zeros);
    }
}

/* ---- running sums ------------------------------------------------------------------------------ */

__global__ void __launch_bounds__(THREADS) sum_chunks(const uint32_t *counts, uint32_t n, uint32_t *sums)
{
    __shared__ uint32_t warps[THREADS / 32];
    uint32_t sum = 0, all;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const uint32_t at = blockIdx.x * CHUNK + i * THREADS + threadIdx.x;
        sum += at < n ? counts[at] : 0;
    }
    (void)sum_before<THREADS>(sum, warps, &all);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = all;
    }
}

/* One block. */
__global__ void __launch_bounds__(TOP) sum_sums(uint32_t *sums, uint32_t n, uint32_t *total)
{
    __shared__ uint32_t warps[TOP / 32];
    uint32_t before = 0;
    for (uint32_t first = 0; first < n; first += TOP) {
        const uint32_t at = first + threadIdx.x, value = at < n ? sums[at] : 0;
        uint32_t all;
        const uint32_t sum = sum_before<TOP>(value, warps, &all);
        if (at < n) {
            sums[at] = before + sum;
        }
        before += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        *total = before;
    }
}

__global__ void __launch_bounds__(THREADS) sum_in_chunks(uint32_t *counts, uint32_t n, const uint32_t *sums)
{
    __shared__ uint32_t warps[THREADS / 32];
    __shared__ uint32_t room[CHUNK];
    for (uint32_t i = threadIdx.x; i < CHUNK; i += THREADS) {
        const uint32_t at = blockIdx.x * CHUNK + i;
        room[i] = at < n ? counts[at] : 0;
    }
    __syncthreads();
    uint32_t values[EACH], sum = 0, all;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        values[i] = room[threadIdx.x * EACH + i];
        sum += values[i];
    }
    uint32_t before = sums[blockIdx.x] + sum_before<THREADS>(sum, warps, &all);
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        room[threadIdx.x * EACH + i] = before;
        before += values[i];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < CHUNK; i += THREADS) {
        const uint32_t at = blockIdx.x * CHUNK + i;
        if (at < n) {
            counts[at] = room[i];
        }
    }
}

/* ---- a bound ----------------------------------------------------------------------------------- */

__global__ void find_below(const int64_t *time, uint32_t n, int64_t bound, slc_pet_sort_head *head)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (time[middle] < bound) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    head->below = low;
}
} // namespace

slc_status slc_pet_sort_range(const slc_pet_sort_source *from, slc_pet_sort_head *head,
                              uint32_t multiprocessors, struct CUstream_st *stream, slc_error *error)
{
    const uint32_t n = static_cast<uint32_t>(from->part[0].n + from->part[1].n);
    const uint32_t blocks = blocks_for(n, THREADS * IN_FLIGHT), most = 8 * multiprocessors;
    SLC_LAUNCH(find_range, blocks < most ? blocks : most, THREADS, 0, stream, columns_of(*from), n, head);
    return slc_cuda_check(cudaGetLastError(), "launching the search for the range of times", error);
}

uint32_t slc_pet_sort_scan_sums(uint32_t n)
{
    return blocks_for(n, CHUNK);
}

slc_status slc_pet_sort_scan(uint32_t *counts, uint32_t n, uint32_t *sums, struct CUstream_st *stream,
                             slc_error *error)
{
    const uint32_t chunks = blocks_for(n, CHUNK);
    SLC_LAUNCH(sum_chunks, chunks, THREADS, 0, stream, counts, n, sums);
    SLC_LAUNCH(sum_sums, 1, TOP, 0, stream, sums, chunks, counts + n);
    SLC_LAUNCH(sum_in_chunks, chunks, THREADS, 0, stream, counts, n, sums);
    return slc_cuda_check(cudaGetLastError(), "launching running sums", error);
}

slc_status slc_pet_sort_below(const int64_t *time, uint32_t n, int64_t bound, slc_pet_sort_head *head,
                              struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(find_below, 1, 1, 0, stream, time, n, bound, head);
    return slc_cuda_check(cudaGetLastError(), "launching the search for a time", error);
}
