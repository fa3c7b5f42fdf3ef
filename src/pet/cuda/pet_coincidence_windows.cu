/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences on a GPU: whether the input is in time order, which of it is in the energy window, which
 * windows somebody is in, and what has to wait for the next call. Each is one pass over the singles, a thread
 * for each; what is kept stays in order (pet_coincidence_device.cuh).
 */
#include "pet/cuda/pet_coincidence_device.cuh"

namespace
{
/* ---- order ---------------------------------------------------------------------------------------- */

/* True where t does not follow `before`, also for what is not a number. */
template <class T> __device__ __forceinline__ bool disorder(T before, T t)
{
    return !(before <= t);
}

__device__ __forceinline__ void least(unsigned long long bits, int64_t *t)
{
    *t = static_cast<int64_t>(bits);
}
__device__ __forceinline__ void least(unsigned long long bits, double *t)
{
    *t = __longlong_as_double(static_cast<long long>(bits));
}
/* What is not after any time, where nothing came before. */
__device__ __forceinline__ void nothing_before(int64_t *t)
{
    *t = INT64_MIN;
}
__device__ __forceinline__ void nothing_before(double *t)
{
    *t = __longlong_as_double(static_cast<long long>(0xFFF0000000000000ULL));
}

/* The batch alone. */
template <class T> __global__ void __launch_bounds__(THREADS) find_disorder(const slc_pet_cuda_job job)
{
    const T *t = static_cast<const T *>(job.time);
    const uint32_t n = job.n - job.split;
    T before;
    if (job.behind) {
        least(job.newest, &before);
    } else {
        nothing_before(&before);
    }
    const uint32_t step = gridDim.x * THREADS;
    for (uint32_t i = blockIdx.x * THREADS + threadIdx.x; i<n; i = n - i> step ? i + step : n) {
        if (disorder(i > 0 ? t[i - 1] : before, t[i])) {
            atomicMin(&job.told->disorder, static_cast<u64>(i));
        }
        if (i == n - 1) {
            job.told->newest = static_cast<const unsigned long long *>(job.time)[i];
        }
    }
}

/* ---- energies ------------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(THREADS)
    select_energies(const slc_pet_cuda_job job, double low, double high, const slc_pet_cuda_store to)
{
    __shared__ uint32_t counts[ROWS * WARPS];
    __shared__ number_room room;
    const uint32_t n = job.n - job.split;
    const uint32_t tile = blockIdx.x;
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t begin = tile * SLC_PET_CUDA_TILE + warp * (32 * ROWS) + lane;
    unsigned in[ROWS];
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const uint32_t i = begin + 32 * static_cast<uint32_t>(r);
        const double energy = i < n ? static_cast<double>(job.energy[i]) : low - 1;
        in[r] = __ballot_sync(ALL, i < n && energy >= low && energy < high);
        if (lane == 0) {
            counts[warp * ROWS + r] = static_cast<uint32_t>(__popc(in[r]));
        }
    }
    u64 base;
    const uint32_t sum = number_rows(counts, job.states, tile, &room, &base);
    const uint64_t *time = static_cast<const uint64_t *>(job.time);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        if (in[r] >> lane & 1U) {
            const uint32_t i = begin + 32 * static_cast<uint32_t>(r);
            const u64 row = base + counts[warp * ROWS + r] + lanes_before(in[r], lane);
            static_cast<uint64_t *>(to.time)[row] = time[i];
            to.crystal[row] = job.crystal[i];
            to.energy[row] = job.energy[i];
        }
    }
    if (threadIdx.x == 0 && tile == gridDim.x - 1) {
        job.told->selected = base + sum;
    }
}

/* ---- windows -------------------------------------------------------------------------------------- */

/* A window: members are a … b - 1. */
struct window {
    uint32_t a, b;
};

/* Windows of this row's places. Of delayed windows *from is where the first may have its first member, and
 * becomes that of the next row. */
template <class T, bool DELAYED>
__device__ __forceinline__ window window_of(const times<T> &t, uint32_t i, bool wanted, uint32_t *from)
{
    window w = {i + 1, i + 1};
    if (DELAYED) {
        const T opener = t[i < t.n ? i : t.n - 1];
        const uint32_t begin = *from > i + 1 ? *from : i + 1;
        w.a = first_where(begin < t.n ? begin : t.n, t.n,
                          [&](uint32_t k) { return !(apart(t[k], opener) < t.low); });
        *from = __shfl_sync(ALL, w.a, 31);
        w.b = w.a;
        if (wanted) {
            w.b = first_beyond(t, w.a, opener);
        }
    } else if (wanted) {
        w.b = first_beyond(t, i + 1, t[i]);
    }
    return w;
}

/* Openers of 32 places from `place` on. */
template <bool SINGLE> __device__ __forceinline__ bool opens(const slc_pet_cuda_job &job, uint32_t i)
{
    return i < job.n && (!SINGLE || (static_cast<uint32_t>(job.openers[i / 32]) >> (i % 32) & 1U) != 0);
}

/* Windows by their size: two or more together. */
__device__ __forceinline__ void count_sizes(unsigned taken, uint32_t size, uint32_t *sizes)
{
    const unsigned lane = threadIdx.x % 32;
    const bool is = taken >> lane & 1U;
    const unsigned pairs = __ballot_sync(ALL, is && size == 2);
    if (lane == 0 && pairs != 0) {
        atomicAdd(sizes + 2, static_cast<uint32_t>(__popc(pairs)));
    }
    if (is && size != 2) {
        atomicAdd(sizes + (size < SLC_PET_MULTIPLICITIES ? size : SLC_PET_MULTIPLICITIES - 1), 1U);
    }
}

template <class T, bool DELAYED, bool SINGLE>
__global__ void __launch_bounds__(THREADS) find_windows(const slc_pet_cuda_job job)
{
    __shared__ uint32_t counts[ROWS * WARPS], sizes[SLC_PET_MULTIPLICITIES];
    __shared__ number_room room;
    const times<T> t = times_of<T>(job);
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x < SLC_PET_MULTIPLICITIES) {
        sizes[threadIdx.x] = 0;
    }
    __syncthreads();
    const uint32_t tile = blockIdx.x;
    const uint32_t first = tile * SLC_PET_CUDA_TILE + warp * (32 * ROWS);
    uint32_t from = first + 1;
    window w[ROWS];
    unsigned taken[ROWS];
    if (DELAYED && first < t.n) { /* the same for all lanes */
        const T opener = t[first];
        from = first_where(first + 1 < t.n ? first + 1 : t.n, t.n,
                           [&](uint32_t k) { return !(apart(t[k], opener) < t.low); });
    }
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const uint32_t i = first + 32 * static_cast<uint32_t>(r) + lane;
        const bool opener = opens<SINGLE>(job, i);
        w[r] = window_of<T, DELAYED>(t, i, opener, &from);
        const bool open_end = opener && w[r].b >= t.n && !job.last;
        const unsigned waiting = __ballot_sync(ALL, open_end);
        if (waiting != 0 && lane == 0) {
            atomicMin(&job.told->carry,
                      static_cast<u64>(i + static_cast<unsigned>(__ffs(static_cast<int>(waiting))) - 1));
        }
        taken[r] = __ballot_sync(ALL, opener && !open_end && w[r].b > w[r].a);
        count_sizes(taken[r], w[r].b - w[r].a + 1, sizes);
        if (lane == 0) {
            counts[warp * ROWS + r] = static_cast<uint32_t>(__popc(taken[r]));
        }
    }
    u64 base;
    const uint32_t sum = number_rows(counts, job.states, tile, &room, &base);
#pragma unroll
    for (int r = 0; r < ROWS; r++) {
        const u64 row = base + counts[warp * ROWS + r] + lanes_before(taken[r], lane);
        if ((taken[r] >> lane & 1U) != 0 && row < job.window_capacity) {
            job.windows.opener[row] = first + 32 * static_cast<uint32_t>(r) + lane;
            job.windows.first[row] = w[r].a;
            job.windows.end[row] = w[r].b;
        }
    }
    if (threadIdx.x < SLC_PET_MULTIPLICITIES && sizes[threadIdx.x] != 0) {
        atomicAdd(&sums_of(job)->multiplicity[threadIdx.x], static_cast<u64>(sizes[threadIdx.x]));
    }
    if (threadIdx.x == 0 && tile == gridDim.x - 1) {
        job.told->windows = base + sum;
    }
}

/* ---- what waits ----------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(THREADS)
    keep(const slc_pet_cuda_job job, uint32_t from, const slc_pet_cuda_store to)
{
    const uint32_t n = job.n - from, step = gridDim.x * THREADS;
    for (uint32_t k = blockIdx.x * THREADS + threadIdx.x; k<n; k = n - k> step ? k + step : n) {
        const uint32_t i = from + k;
        const bool before = i < job.split;
        const uint64_t *time = static_cast<const uint64_t *>(before ? job.time_before : job.time);
        const uint32_t at = before ? i : i - job.split;
        static_cast<uint64_t *>(to.time)[k] = time[at];
        to.crystal[k] = before ? job.crystal_before[at] : job.crystal[at];
        to.energy[k] = before ? job.energy_before[at] : job.energy[at];
        to.opener[k] = job.terms.delayed && !job.terms.all_open && opens<true>(job, i);
    }
}

uint32_t tiles_of(uint64_t n, uint64_t tile)
{
    return static_cast<uint32_t>((n + tile - 1) / tile);
}

template <class T> void launch_windows(const slc_pet_cuda_job &job, cudaStream_t stream)
{
    const uint32_t tiles = tiles_of(job.n, SLC_PET_CUDA_TILE);
    const bool single = !job.terms.all_open;
    if (job.terms.delayed && single) {
        SLC_LAUNCH((find_windows<T, true, true>), tiles, THREADS, 0, stream, job);
    } else if (job.terms.delayed) {
        SLC_LAUNCH((find_windows<T, true, false>), tiles, THREADS, 0, stream, job);
    } else if (single) {
        SLC_LAUNCH((find_windows<T, false, true>), tiles, THREADS, 0, stream, job);
    } else {
        SLC_LAUNCH((find_windows<T, false, false>), tiles, THREADS, 0, stream, job);
    }
}
} // namespace

extern "C" int slc_pet_cuda_order(const slc_pet_cuda_job *job, void *stream)
{
    const uint32_t tiles = tiles_of(job->n - job->split, SLC_PET_CUDA_TILE);
    if (job->is_f64) {
        SLC_LAUNCH(find_disorder<double>, tiles, THREADS, 0, static_cast<cudaStream_t>(stream), *job);
    } else {
        SLC_LAUNCH(find_disorder<int64_t>, tiles, THREADS, 0, static_cast<cudaStream_t>(stream), *job);
    }
    return static_cast<int>(cudaGetLastError());
}

extern "C" int slc_pet_cuda_select(const slc_pet_cuda_job *job, double low_kev, double high_kev,
                                   const slc_pet_cuda_store *to, void *stream)
{
    SLC_LAUNCH(select_energies, tiles_of(job->n - job->split, SLC_PET_CUDA_TILE), THREADS, 0,
               static_cast<cudaStream_t>(stream), *job, low_kev, high_kev, *to);
    return static_cast<int>(cudaGetLastError());
}

extern "C" int slc_pet_cuda_find_windows(const slc_pet_cuda_job *job, void *stream)
{
    if (job->is_f64) {
        launch_windows<double>(*job, static_cast<cudaStream_t>(stream));
    } else {
        launch_windows<int64_t>(*job, static_cast<cudaStream_t>(stream));
    }
    return static_cast<int>(cudaGetLastError());
}

extern "C" int slc_pet_cuda_keep(const slc_pet_cuda_job *job, uint32_t from, const slc_pet_cuda_store *to,
                                 void *stream)
{
    SLC_LAUNCH(keep, tiles_of(job->n - from, SLC_PET_CUDA_TILE), THREADS, 0,
               static_cast<cudaStream_t>(stream), *job, from, *to);
    return static_cast<int>(cudaGetLastError());
}
