/* SPDX-License-Identifier: Apache-2.0
 *
 * Which singles of a stream are late: those whose time is more than the horizon before the latest time that
 * arrived before them. A tile finds its latest time; then each tile knows the latest before it, and looks at
 * its singles with a running maximum. Where there are late ones, they and the others are parted stably.
 */
#include "pet/cuda/pet_sort_device.cuh"

namespace
{
enum {
    THREADS = 256,
    WARPS = THREADS / 32,
    EACH = 8, /* of a lane; a warp has its singles together */
    TILE = THREADS * EACH,
    WARP_TILE = 32 * EACH,
    TOP = 1024
};

__device__ __forceinline__ int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

__device__ __forceinline__ int64_t latest_of_warp(int64_t time)
{
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2) {
        time = later(time, __shfl_xor_sync(ALL_LANES, time, step));
    }
    return time;
}

/* The latest of this lane and those before it. */
__device__ __forceinline__ int64_t latest_up_to(int64_t time)
{
    const uint32_t lane = threadIdx.x % 32;
#pragma unroll
    for (uint32_t step = 1; step < 32; step *= 2) {
        const int64_t other = __shfl_up_sync(ALL_LANES, time, step);
        time = lane >= step ? later(time, other) : time;
    }
    return time;
}

/* The latest over the warps before this one, and *all; `warps` is a word for each. */
template <int N>
__device__ __forceinline__ int64_t latest_before_warp(int64_t of_warp, int64_t *warps, int64_t *all)
{
    const uint32_t warp = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0) {
        warps[warp] = of_warp;
    }
    __syncthreads();
    int64_t before = INT64_MIN;
    *all = INT64_MIN;
    for (uint32_t i = 0; i < N; i++) {
        before = i < warp ? later(before, warps[i]) : before;
        *all = later(*all, warps[i]);
    }
    return before;
}

/* The times of a tile; those beyond the end are before all. Returns the latest of the warp. */
__device__ __forceinline__ int64_t load_tile(const int64_t *time, uint32_t n, int64_t *times)
{
    const uint64_t first = static_cast<uint64_t>(blockIdx.x) * TILE + threadIdx.x / 32 * WARP_TILE +
                           threadIdx.x % 32;
    int64_t latest = INT64_MIN;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        times[i] = first + i * 32 < n ? time[first + i * 32] : INT64_MIN;
    }
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        latest = later(latest, times[i]);
    }
    return latest_of_warp(latest);
}

__global__ void __launch_bounds__(THREADS) find_latest(const int64_t *time, uint32_t n, int64_t *latest)
{
    __shared__ int64_t warps[WARPS];
    int64_t times[EACH], all;
    (void)latest_before_warp<WARPS>(load_tile(time, n, times), warps, &all);
    if (threadIdx.x == 0) {
        latest[blockIdx.x] = all;
    }
}

/* One block: of each tile to before each tile. */
__global__ void __launch_bounds__(TOP)
    find_before(int64_t *tiles, uint32_t n, int64_t latest, slc_pet_sort_head *head)
{
    __shared__ int64_t warps[TOP / 32];
    for (uint32_t first = 0; first < n; first += TOP) {
        const uint32_t at = first + threadIdx.x;
        const int64_t up_to = latest_up_to(at < n ? tiles[at] : INT64_MIN);
        const int64_t previous = __shfl_up_sync(ALL_LANES, up_to, 1);
        int64_t all;
        const int64_t of_warp = __shfl_sync(ALL_LANES, up_to, 31);
        const int64_t before = later(latest, latest_before_warp<TOP / 32>(of_warp, warps, &all));
        if (at < n) {
            tiles[at] = threadIdx.x % 32 == 0 ? before : later(before, previous);
        }
        latest = later(latest, all);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        head->latest = latest;
    }
}

/* Looks at the singles of a tile: bit i of the result tells that this lane's single i is late. */
__device__ __forceinline__ uint32_t look(const slc_pet_sort_late &job, uint32_t n, const int64_t *times,
                                         int64_t of_warp, int64_t *warps, uint64_t *largest_lag)
{
    const uint64_t first = static_cast<uint64_t>(blockIdx.x) * TILE + threadIdx.x / 32 * WARP_TILE +
                           threadIdx.x % 32;
    int64_t all;
    int64_t latest = later(job.before[blockIdx.x], latest_before_warp<WARPS>(of_warp, warps, &all));
    uint32_t bits = 0;
    *largest_lag = 0;
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const int64_t up_to = later(latest, latest_up_to(times[i]));
        const uint64_t lag = static_cast<uint64_t>(up_to) - static_cast<uint64_t>(times[i]);
        if (first + i * 32 < n) {
            *largest_lag = max(*largest_lag, lag);
            bits |= lag > job.horizon ? 1U << i : 0;
        }
        latest = __shfl_sync(ALL_LANES, up_to, 31);
    }
    return bits;
}

__global__ void __launch_bounds__(THREADS) count_late(const slc_pet_sort_late job, uint32_t n)
{
    __shared__ int64_t warps[WARPS];
    __shared__ uint32_t late;
    int64_t times[EACH];
    uint64_t lag;
    const int64_t of_warp = load_tile(job.from.time_ps, n, times);
    if (threadIdx.x == 0) {
        late = 0;
    }
    const uint32_t bits = look(job, n, times, of_warp, warps, &lag);
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2) {
        lag = max(lag, __shfl_xor_sync(ALL_LANES, lag, step));
    }
    if (threadIdx.x % 32 == 0 && lag > 0) {
        unsigned long long *const largest = &job.head->largest_lag;
        if (lag > *static_cast<volatile unsigned long long *>(largest)) {
            atomicMax(largest, static_cast<unsigned long long>(lag));
        }
    }
    if (bits != 0) {
        atomicAdd(&late, static_cast<uint32_t>(__popc(bits)));
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        job.counts[blockIdx.x] = late;
    }
}

__global__ void tell_late(const uint32_t *all, slc_pet_sort_head *head)
{
    head->late = *all;
}

__device__ __forceinline__ void put(const slc_pet_cuda_singles &from, uint32_t row,
                                    const slc_pet_cuda_singles &to, uint32_t place)
{
    to.time_ps[place] = from.time_ps[row];
    to.crystal[place] = from.crystal[row];
    to.energy_kev[place] = from.energy_kev[row];
}

__global__ void __launch_bounds__(THREADS)
    part_late(const slc_pet_sort_late job, uint32_t n, const slc_pet_cuda_singles kept,
              const slc_pet_cuda_singles late)
{
    __shared__ int64_t warps[WARPS];
    __shared__ uint32_t sums[WARPS];
    const uint32_t lane = threadIdx.x % 32;
    const uint64_t first = static_cast<uint64_t>(blockIdx.x) * TILE + threadIdx.x / 32 * WARP_TILE + lane;
    int64_t times[EACH];
    uint64_t lag;
    const int64_t of_warp = load_tile(job.from.time_ps, n, times);
    const uint32_t bits = look(job, n, times, of_warp, warps, &lag);
    uint32_t all;
    const uint32_t before = sum_before<THREADS>(static_cast<uint32_t>(__popc(bits)), sums, &all);
    uint32_t place = job.counts[blockIdx.x] +
                     __shfl_sync(ALL_LANES, before, 0); /* of the warp's next late one */
#pragma unroll
    for (uint32_t i = 0; i < EACH; i++) {
        const bool is_late = (bits >> i & 1U) != 0;
        const uint32_t votes = __ballot_sync(ALL_LANES, is_late);
        const uint32_t number = place + static_cast<uint32_t>(__popc(votes & ((1U << lane) - 1)));
        if (first + i * 32 < n) {
            const uint32_t row = static_cast<uint32_t>(first + i * 32);
            put(job.from, row, is_late ? late : kept, is_late ? number : row - number);
        }
        place += static_cast<uint32_t>(__popc(votes));
    }
}
} // namespace

uint32_t slc_pet_sort_late_tiles(uint32_t n)
{
    return blocks_for(n, TILE);
}

slc_status slc_pet_sort_late_find(const slc_pet_sort_late *job, slc_error *error)
{
    const uint32_t n = static_cast<uint32_t>(job->from.n), tiles = blocks_for(n, TILE);
    SLC_LAUNCH(find_latest, tiles, THREADS, 0, job->stream, job->from.time_ps, n, job->before);
    SLC_LAUNCH(find_before, 1, TOP, 0, job->stream, job->before, tiles, job->latest, job->head);
    SLC_LAUNCH(count_late, tiles, THREADS, 0, job->stream, *job, n);
    const slc_status status = slc_pet_sort_scan(job->counts, tiles, job->sums, job->stream, error);
    if (status != SLC_OK) {
        return status;
    }
    SLC_LAUNCH(tell_late, 1, 1, 0, job->stream, job->counts + tiles, job->head);
    return slc_cuda_check(cudaGetLastError(), "launching the search for late singles", error);
}

slc_status slc_pet_sort_late_part(const slc_pet_sort_late *job, const slc_pet_cuda_singles *kept,
                                  const slc_pet_cuda_singles *late, slc_error *error)
{
    const uint32_t n = static_cast<uint32_t>(job->from.n);
    SLC_LAUNCH(part_late, blocks_for(n, TILE), THREADS, 0, job->stream, *job, n, *kept, *late);
    return slc_cuda_check(cudaGetLastError(), "launching the parting of late singles", error);
}
