/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels that find the clusters of small modules, a warp for each, and of middling ones, a block for
 * each. Both go through the steps of cms_cluster_steps.cuh. Small ones are nearly all of them: many warps on
 * a multiprocessor, each with the few kilobytes that 255 digis need, hide each other's waiting.
 */
#include "cms/cuda/cms_cluster_steps.cuh"

namespace
{

/* ---- kernels ---------------------------------------------------------------------------------- */

enum { MOST_GROUP = 8 }; /* slots that a warp fetches together */

/* Blocks of one warp on a multiprocessor: as many as registers should allow. Some GPUs take 16 at most. */
#if defined(__CUDA_ARCH__) && (__CUDA_ARCH__ == 800 || __CUDA_ARCH__ >= 900)
enum { RESIDENT = 26 };
#else
enum { RESIDENT = 16 };
#endif

extern __shared__ uint4 shared_memory[];

__device__ inline void put(const slc_cms_cuda_task &task, uint32_t slot, const found &f)
{
    task.count[slot] = (uint64_t)(f.digis > 0 ? 1 : 0) << 32 | f.clusters;
    task.n_digis[slot] = f.digis;
    task.first_digi[slot] = f.first_digi;
}

/* A block is one warp. It takes `group` slots at a time: their ranges come with one load. Those that a warp
 * cannot hold are queued for the other paths. */
template <bool DUPLICATES>
__global__ void __launch_bounds__(WARP, RESIDENT)
    find_by_warp(const __grid_constant__ slc_cms_cuda_task task, uint32_t group)
{
    room<WARP> &s = *reinterpret_cast<room<WARP> *>(shared_memory);
    const tables<WARP> t = tables_of<WARP>(task, s);
    const uint32_t lane = threadIdx.x;
    if (task.warp_places != 0) { /* otherwise there is no shared memory, and modules are only dealt out */
        clear<WARP>(task, s, t);
    }
    for (uint32_t g = blockIdx.x; g * group < task.n_slots; g += gridDim.x) {
        const uint32_t slot = g * group + lane;
        const bool here = lane < group && slot < task.n_slots;
        const uint2 range = here ? task.range[slot] : uint2{~0U, ~0U};
        const uint32_t event = here ? slot / task.modules : 0, begin = task.event_begin[event];
        const module_at m = {event, slot - event * task.modules, begin, range.x, ~range.y};
        const uint32_t places = m.first == ~0U ? 0 : m.end - (m.first & ~(uint32_t)(PER_THREAD - 1));
        const bool large = places > task.warp_places;
        found result = {0, 0, 0};
        if (large) {
            const slc_cms_cuda_queue &queue = places > task.block_places ? task.large_queue
                                                                         : task.block_queue;
            queue.slot[atomicAdd(queue.n, 1U)] = slot;
        }
        for (uint32_t todo = __ballot_sync(~0U, places != 0 && !large); todo != 0; todo &= todo - 1) {
            const int turn = __ffs((int)todo) - 1;
            const module_at now = {__shfl_sync(~0U, m.event, turn), __shfl_sync(~0U, m.module, turn),
                                   __shfl_sync(~0U, m.begin, turn), __shfl_sync(~0U, m.first, turn),
                                   __shfl_sync(~0U, m.end, turn)};
            const found f = find<WARP, DUPLICATES>(task, s, t, now);
            result = (int)lane == turn ? f : result;
        }
        if (here && !large) {
            put(task, slot, result);
        }
    }
}

template <bool DUPLICATES>
__global__ void __launch_bounds__(BLOCK_THREADS) find_by_block(const __grid_constant__ slc_cms_cuda_task task)
{
    room<BLOCK_THREADS> &s = *reinterpret_cast<room<BLOCK_THREADS> *>(shared_memory);
    const uint32_t n = *task.block_queue.n;
    const tables<BLOCK_THREADS> t = tables_of<BLOCK_THREADS>(task, s);
    if (blockIdx.x < n) {
        clear<BLOCK_THREADS>(task, s, t);
    }
    for (uint32_t i = blockIdx.x; i < n; i += gridDim.x) {
        const uint32_t slot = task.block_queue.slot[i], event = slot / task.modules;
        const uint2 range = task.range[slot];
        const module_at m = {event, slot - event * task.modules, task.event_begin[event], range.x, ~range.y};
        const found f = find<BLOCK_THREADS, DUPLICATES>(task, s, t, m);
        if (threadIdx.x == 0) {
            put(task, slot, f);
        }
    }
}

} // namespace

/* Shared memory of a team of so many threads, which is a block: then addresses in it are constants. */
extern "C" size_t slc_cms_cuda_find_shared(uint32_t threads, uint32_t n_words, uint32_t duplicates)
{
    const bool more = duplicates != SLC_PIXEL_DUPLICATES_KEEP;
    return threads == WARP ? room_bound<WARP>(n_words, more) : room_bound<BLOCK_THREADS>(n_words, more);
}

extern "C" cudaError_t slc_cms_cuda_launch_find(const slc_cms_cuda_task *task,
                                                const slc_cms_cuda_limits *limits, cudaStream_t stream)
{
    const size_t shared = task->warp_places == 0
                              ? 0
                              : slc_cms_cuda_find_shared(WARP, task->n_words, task->duplicates);
    const bool keep = task->duplicates == SLC_PIXEL_DUPLICATES_KEEP;
    void (*kernel)(slc_cms_cuda_task, uint32_t) = keep ? find_by_warp<false> : find_by_warp<true>;
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   (int)shared);
    if (error != cudaSuccess) {
        return error;
    }
    int blocks = 0;
    const cudaError_t asked = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, WARP, shared);
    if (asked != cudaSuccess) {
        return asked;
    }
    const uint32_t grid = limits->multiprocessors * slc_cms_cuda_clamp((uint32_t)blocks, 1, WARP);
    const uint32_t group = slc_cms_cuda_clamp(task->n_slots / (4 * grid), 1, MOST_GROUP);
    kernel<<<grid, WARP, shared, stream>>>(*task, group);
    return cudaGetLastError();
}

extern "C" cudaError_t slc_cms_cuda_launch_find_block(const slc_cms_cuda_task *task,
                                                      const slc_cms_cuda_limits *limits, cudaStream_t stream)
{
    const size_t shared = slc_cms_cuda_find_shared(BLOCK_THREADS, task->n_words, task->duplicates);
    const bool keep = task->duplicates == SLC_PIXEL_DUPLICATES_KEEP;
    void (*kernel)(slc_cms_cuda_task) = keep ? find_by_block<false> : find_by_block<true>;
    const cudaError_t error = cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   (int)shared);
    if (error != cudaSuccess) {
        return error;
    }
    kernel<<<2 * limits->multiprocessors, BLOCK_THREADS, shared, stream>>>(*task);
    return cudaGetLastError();
}
