/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of the clustering on a GPU share: the task that they all get, and what a team of threads
 * does together. A slot is a module of an event, event · modules + module, occupied or not: sorting by module
 * comes for nothing, as slots are in order, and digis may come in any.
 */
#ifndef SLUICE_CMS_CLUSTER_DEVICE_CUH
#define SLUICE_CMS_CLUSTER_DEVICE_CUH

#include "cms/cuda/cms_cluster_cuda.h"

#include <cuda_runtime.h>

/* Places of digis that one thread holds in registers: 16 bytes of each column. */
enum { PER_THREAD = 8, WARP = 32, BLOCK_THREADS = 256 };
/* Digis of a module have places from 0, counted from a multiple of 8. Numbers 1 … of places must fit into a
 * byte for a warp, hence one less than could be held. */
enum { WARP_PLACES = WARP * PER_THREAD - 1, BLOCK_PLACES = BLOCK_THREADS * PER_THREAD - 1 };
enum { LARGE_THREADS = 512 };

/* Modules that a slower path takes, as slots. */
typedef struct slc_cms_cuda_queue {
    uint32_t *n, *slot;
} slc_cms_cuda_queue;

typedef struct slc_cms_cuda_task {
    const uint16_t *x, *y, *adc, *module;
    int32_t *cluster;
    const uint32_t *event_begin;
    uint32_t n_events, n_slots;
    /* The configuration. `most` digis of a module are clustered. */
    uint32_t modules, rows, columns, cut_layer1, cut, above, duplicates, most;
    /* Words of 32 columns: a row has `pitch`, the last of them empty. */
    uint32_t pitch, n_words;
    uint32_t warp_places, block_places; /* 0: this path cannot be used */
    uint2 *range; /* of a slot: its first digi, and the complement of the end of its last; ~0 where empty */
    uint32_t *n_digis, *first_digi; /* of a slot: the valid ones */
    uint64_t *count;                /* of a slot: 1 << 32 where it has valid digis, plus its clusters */
    uint2 *before;                  /* of a slot: modules and clusters before it in its event */
    uint2 *events;                  /* modules and clusters of an event */
    uint32_t *done;                 /* blocks that have summed up their events */
    uint8_t *counts;                /* of a digi, unless duplicates are kept: is it the one of its pixel */
    slc_cms_cuda_queue block_queue, large_queue, feature_queue;
    unsigned char *slabs; /* of the path for large modules, n_slabs of slab_bytes */
    uint32_t n_slabs;
    size_t slab_bytes;
    slc_cms_cuda_counts *totals;
    slc_cms_cuda_fault *faults;
    uint32_t fault_capacity;
    slc_cms_modules modules_out;
    slc_cms_clusters clusters_out;
} slc_cms_cuda_task;

/* What a launch needs to know of the device. */
typedef struct slc_cms_cuda_limits {
    uint32_t multiprocessors;
    size_t block_shared; /* bytes of shared memory that a block may have */
} slc_cms_cuda_limits;

/* The parts of a run, each one launch. */
extern "C" {
cudaError_t slc_cms_cuda_launch_find(const slc_cms_cuda_task *task, const slc_cms_cuda_limits *limits,
                                     cudaStream_t stream);
cudaError_t slc_cms_cuda_launch_find_block(const slc_cms_cuda_task *task, const slc_cms_cuda_limits *limits,
                                           cudaStream_t stream);
cudaError_t slc_cms_cuda_launch_find_large(const slc_cms_cuda_task *task, cudaStream_t stream);
cudaError_t slc_cms_cuda_launch_seed(const slc_cms_cuda_task *task, const slc_cms_cuda_limits *limits,
                                     cudaStream_t stream);
cudaError_t slc_cms_cuda_launch_features(const slc_cms_cuda_task *task, const slc_cms_cuda_limits *limits,
                                         cudaStream_t stream);
cudaError_t slc_cms_cuda_launch_features_block(const slc_cms_cuda_task *task,
                                               const slc_cms_cuda_limits *limits, cudaStream_t stream);
size_t slc_cms_cuda_slab_bound(uint32_t rows, uint32_t columns);
size_t slc_cms_cuda_find_shared(uint32_t threads, uint32_t n_words, uint32_t duplicates);
}

inline uint32_t slc_cms_cuda_clamp(uint64_t value, uint32_t least, uint32_t most)
{
    return value < least ? least : value > most ? most : (uint32_t)value;
}

/* ---- teams: a warp, or a block ---------------------------------------------------------------- */

template <int THREADS> __device__ inline uint32_t team_rank()
{
    return THREADS == WARP ? threadIdx.x % WARP : threadIdx.x;
}

template <int THREADS> __device__ inline void team_sync()
{
    if (THREADS == WARP) {
        __syncwarp();
    } else {
        __syncthreads();
    }
}

__device__ inline uint32_t warp_sum(uint32_t value)
{
#if __CUDA_ARCH__ >= 800
    return __reduce_add_sync(~0U, value);
#else
    for (int step = WARP / 2; step > 0; step /= 2) {
        value += __shfl_xor_sync(~0U, value, step);
    }
    return value;
#endif
}

/* The sum over this lane and those before. The shuffle tells itself whether there was a lane so far before.
 */
__device__ inline uint32_t warp_sum_up_to(uint32_t value)
{
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        asm volatile(
            "{ .reg .u32 other; .reg .pred there; shfl.sync.up.b32 other|there, %0, %1, 0, 0xFFFFFFFF;"
            " @there add.u32 %0, %0, other; }"
            : "+r"(value)
            : "r"(step));
    }
    return value;
}

/* The sum of `value` over the threads before this one; *total over all. `partial` has a word for each warp.
 * A synchronisation, too. */
template <int THREADS>
__device__ inline uint32_t team_sum_before(uint32_t value, uint32_t *partial, uint32_t *total)
{
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
    const uint32_t sum = warp_sum_up_to(value);
    if (THREADS == WARP) {
        *total = __shfl_sync(~0U, sum, WARP - 1);
        return sum - value;
    }
    __syncthreads(); /* `partial` may still be read */
    if (lane == WARP - 1) {
        partial[warp] = sum;
    }
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (uint32_t i = 0; i < THREADS / WARP; i++) {
        const uint32_t part = partial[i];
        before += i < warp ? part : 0;
        all += part;
    }
    *total = all;
    return before + sum - value;
}

/* ---- digis ------------------------------------------------------------------------------------ */

/* Value k of eight 16-bit values. */
__device__ inline uint32_t sixteen(const uint4 &eight, int k)
{
    const uint32_t word = k < 2 ? eight.x : k < 4 ? eight.y : k < 6 ? eight.z : eight.w;
    return k % 2 == 0 ? word & 0xFFFFU : word >> 16;
}

__device__ inline uint4 load_eight(const uint16_t *column, size_t row)
{
    return *reinterpret_cast<const uint4 *>(column + row);
}

/* Collects the highest bits of the halves of four words into eight bits. */
__device__ inline uint32_t high_bits(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const uint32_t top = 0x80008000U;
    const uint32_t bits = (a & top) >> 15 | (b & top) >> 13 | (c & top) >> 11 | (d & top) >> 9;
    return (bits | bits >> 15) & 0xFFU;
}

/* The highest bits of the halves tell which are not equal, or not below a limit of at most 2^15. */
__device__ inline uint32_t unequal(uint32_t a, uint32_t b)
{
    const uint32_t differ = a ^ b;
    return ((differ & 0x7FFF7FFFU) + 0x7FFF7FFFU) | differ;
}

__device__ inline uint32_t not_below(uint32_t a, uint32_t limit)
{
    return ((a | 0x80008000U) - limit) | a;
}

/* Which of the eight digis from `at` on are in first … end - 1, as bits. */
__device__ inline uint32_t in_range(uint32_t at, uint32_t first, uint32_t end)
{
    const uint32_t from = first > at ? first - at : 0;
    const uint32_t to = end > at ? end - at : 0;
    const uint32_t low = from < PER_THREAD ? (0xFFU << from) & 0xFFU : 0;
    return to < PER_THREAD ? low & ~(~0U << to) : low;
}

__device__ inline bool passes(const slc_cms_cuda_task &task, uint32_t module, uint32_t charge)
{
    const uint32_t cut = module < SLC_CMS_LAYER1_END ? task.cut_layer1 : task.cut;
    return task.above ? charge > cut : charge >= cut;
}

__device__ inline void add_fault(const slc_cms_cuda_task &task, slc_fault_code code, uint32_t event,
                                 uint32_t module, uint32_t digi)
{
    const uint32_t at = atomicAdd(&task.totals->n_faults, 1U);
    atomicAdd(code == SLC_FAULT_CMS_PIXEL ? &task.totals->n_pixel : &task.totals->n_crowded, 1U);
    if (at < task.fault_capacity) {
        task.faults[at] = slc_cms_cuda_fault{event, digi, (uint16_t)module, (uint16_t)(code & 0xff)};
    }
}

/* ---- sets ------------------------------------------------------------------------------------- */

/* The lowest member of a's set. Others unite sets at the same time, so no value may be kept in a register. */
__device__ inline uint32_t set_find(const uint32_t *parent, uint32_t a)
{
    const volatile uint32_t *now = parent;
    for (uint32_t up = now[a]; up != a; up = now[a]) {
        a = up;
    }
    return a;
}

/* Unites two sets under the lower of their lowest members: it is hung below the other one, unless somebody
 * hung that one elsewhere meanwhile; then what it hangs below is united in turn. */
__device__ inline void set_unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    const volatile uint32_t *now = parent;
    for (;;) {
        for (;;) { /* both at once: one waits for memory anyhow */
            const uint32_t up_a = now[a], up_b = now[b];
            if (up_a == a && up_b == b) {
                break;
            }
            a = up_a;
            b = up_b;
        }
        if (a == b) {
            return;
        }
        const uint32_t high = max(a, b), low = min(a, b);
        const uint32_t was = atomicMin(parent + high, low);
        if (was == high) {
            return;
        }
        a = was;
        b = low;
    }
}

#endif
