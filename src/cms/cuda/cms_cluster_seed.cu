/* SPDX-License-Identifier: Apache-2.0
 *
 * The baseline `findclus-seed`: clusters as CMS's findClus finds them on a GPU ("gpuClustering.h"), kept to
 * compare with. A block takes a module: a histogram of its digis by column, for each digi the neighbours
 * behind it in its column and in the next one, in nn[16][10] of its thread, then rounds that carry the lower
 * of two labels along these pairs, alternating with rounds that follow the labels, until nothing changes.
 * Labels are in global memory. Then, unlike there, clusters are numbered in the order of their first digis.
 * Modules beyond 16 digis a thread, and digis beyond ten neighbours, are none of its business: they take the
 * path for large modules.
 */
#include "cms/cuda/cms_cluster_device.cuh"

namespace
{

enum { THREADS = BLOCK_THREADS, ITERATIONS = 16, NEIGHBOURS = 10, PLACES = THREADS * ITERATIONS };

struct histogram {
    uint16_t digis[PLACES];  /* from the module's first */
    uint32_t charge[PLACES]; /* of the cluster whose first digi is here; then its number */
    uint32_t partial[WARP], size, many;
    uint32_t end[]; /* of a column, in `digis`; counts first */
};

struct module_at {
    uint32_t slot, module, begin, first, size;
};

__device__ bool is_valid(const slc_cms_cuda_task &task, const module_at &at, uint32_t i)
{
    return task.module[i] == at.module && task.x[i] < task.rows && task.y[i] < task.columns;
}

/* Counts, sums up, fills; as there, in no order inside of a column. */
__device__ void fill(const slc_cms_cuda_task &task, const module_at &at, histogram &h)
{
    for (uint32_t c = threadIdx.x; c < task.columns; c += THREADS) {
        h.end[c] = 0;
    }
    if (threadIdx.x == 0) {
        h.many = 0;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < at.size; i += THREADS) {
        if (is_valid(task, at, at.first + i)) {
            atomicAdd(&h.end[task.y[at.first + i]], 1U);
        }
    }
    __syncthreads();
    uint32_t before = 0;
    for (uint32_t start = 0; start < task.columns; start += THREADS) {
        const uint32_t c = start + threadIdx.x, mine = c < task.columns ? h.end[c] : 0;
        uint32_t here;
        const uint32_t begin = before + team_sum_before<THREADS>(mine, h.partial, &here);
        if (c < task.columns) {
            h.end[c] = begin; /* filling moves it to the end */
        }
        before += here;
    }
    if (threadIdx.x == 0) {
        h.size = before;
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < at.size; i += THREADS) {
        if (is_valid(task, at, at.first + i)) {
            h.digis[atomicAdd(&h.end[task.y[at.first + i]], 1U)] = (uint16_t)i;
        }
    }
    __syncthreads();
}

/* The neighbours of digi j of the histogram that stand behind it. Returns their number. */
__device__ inline uint8_t neighbours(const slc_cms_cuda_task &task, const module_at &at, histogram &h,
                                     uint32_t j, uint16_t *found)
{
    const uint32_t i = at.first + h.digis[j];
    const uint32_t column = task.y[i];
    const uint32_t end = column + 1 < task.columns ? h.end[column + 1] : h.end[column];
    uint8_t n = 0;
    for (uint32_t p = j + 1; p < end; p++) {
        const uint32_t m = at.first + h.digis[p];
        if (abs((int)task.x[m] - (int)task.x[i]) > 1) {
            continue;
        }
        if (n == NEIGHBOURS) {
            h.many = 1;
            break;
        }
        found[n++] = h.digis[p];
    }
    return n;
}

/* A label that other threads of the block change by atomic operations. */
__device__ inline int32_t label_now(const int32_t *label)
{
    int32_t value;
    asm volatile("ld.relaxed.cta.global.s32 %0, [%1];" : "=r"(value) : "l"(label) : "memory");
    return value;
}

/* Lowest labels, by turns along pairs and along labels. */
__device__ void propagate(const slc_cms_cuda_task &task, const module_at &at, const histogram &h,
                          const uint16_t nn[ITERATIONS][NEIGHBOURS], const uint8_t *nnn)
{
    int32_t *label = task.cluster;
    bool more = true;
    for (int loop = 0; __syncthreads_or(more); loop++) {
        if (loop % 2 == 1) {
            for (uint32_t j = threadIdx.x; j < h.size; j += THREADS) {
                const uint32_t i = at.first + h.digis[j];
                int32_t m = label_now(label + i);
                for (int32_t up = label_now(label + m); up != m; up = label_now(label + m)) {
                    m = up;
                }
                label[i] = m;
            }
            continue;
        }
        more = false;
        for (uint32_t j = threadIdx.x, k = 0; j < h.size; j += THREADS, k++) {
            const uint32_t i = at.first + h.digis[j];
            for (int kk = 0; kk < nnn[k]; kk++) {
                const uint32_t m = at.first + nn[k][kk];
                const int32_t mine = label_now(label + i), was = atomicMin_block(label + m, mine);
                more |= was != mine;
                atomicMin_block(label + i, was);
            }
        }
    }
}

/* Adds up the charge of clusters at their first digis, and numbers those that pass. */
__device__ void number(const slc_cms_cuda_task &task, const module_at &at, histogram &h)
{
    for (uint32_t i = threadIdx.x; i < at.size; i += THREADS) {
        h.charge[i] = 0;
    }
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < h.size; j += THREADS) {
        const uint32_t i = at.first + h.digis[j];
        atomicAdd(&h.charge[(uint32_t)label_now(task.cluster + i) - at.first], (uint32_t)task.adc[i]);
    }
    __syncthreads();
    uint32_t n = 0;
    for (uint32_t start = 0; start < at.size; start += THREADS) {
        const uint32_t place = start + threadIdx.x, i = at.first + place;
        const bool first = place < at.size && is_valid(task, at, i) &&
                           (uint32_t)label_now(task.cluster + i) == i;
        const bool passing = first && passes(task, at.module, h.charge[place]);
        uint32_t here;
        const uint32_t before = n + team_sum_before<THREADS>(passing ? 1 : 0, h.partial, &here);
        if (first) {
            h.charge[place] = passing ? before : (uint32_t)SLC_CMS_NO_CLUSTER;
        }
        n += here;
    }
    __syncthreads();
    for (uint32_t j = threadIdx.x; j < h.size; j += THREADS) {
        const uint32_t i = at.first + h.digis[j];
        task.cluster[i] = (int32_t)h.charge[(uint32_t)label_now(task.cluster + i) - at.first];
    }
    if (threadIdx.x == 0) {
        task.count[at.slot] = (uint64_t)(h.size > 0 ? 1 : 0) << 32 | n;
    }
}

/* What countModules does beside: every digi is its own label. Returns whether the module is for the seed:
 * none of its digis is out of bounds or left out. */
__device__ bool label_all(const slc_cms_cuda_task &task, const module_at &at, histogram &h)
{
    uint32_t n = 0, least = ~0U, total, outside = 0;
    for (uint32_t i = at.first + threadIdx.x; i < at.first + at.size; i += THREADS) {
        if (is_valid(task, at, i)) {
            task.cluster[i] = (int32_t)i;
            least = min(least, i - at.begin);
            n++;
        } else if (task.module[i] == at.module) {
            outside = 1;
        }
    }
    team_sum_before<THREADS>(n, h.partial, &total);
    if (__syncthreads_or((int)outside) || total > task.most) {
        return false;
    }
    h.size = ~0U;
    __syncthreads();
    if (n > 0) {
        atomicMin(&h.size, least);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        task.first_digi[at.slot] = h.size;
        task.n_digis[at.slot] = total;
    }
    return true;
}

__global__ void __launch_bounds__(THREADS) find_seed(const __grid_constant__ slc_cms_cuda_task task)
{
    extern __shared__ uint4 shared_memory[];
    histogram &h = *reinterpret_cast<histogram *>(shared_memory);
    for (uint32_t slot = blockIdx.x; slot < task.n_slots; slot += gridDim.x) {
        const uint2 range = task.range[slot];
        if (range.x == ~0U) {
            if (threadIdx.x == 0) {
                task.count[slot] = 0;
            }
            continue;
        }
        module_at at = {slot, slot % task.modules, task.event_begin[slot / task.modules], range.x,
                        ~range.y - range.x};
        bool fits = at.size <= PLACES && label_all(task, at, h);
        if (fits) {
            fill(task, at, h);
            uint16_t nn[ITERATIONS][NEIGHBOURS];
            uint8_t nnn[ITERATIONS];
            for (uint32_t k = 0; k < ITERATIONS; k++) {
                nnn[k] = 0;
            }
            for (uint32_t j = threadIdx.x, k = 0; j < h.size; j += THREADS, k++) {
                nnn[k] = neighbours(task, at, h, j, nn[k]);
            }
            __syncthreads();
            fits = h.many == 0;
            if (fits) {
                propagate(task, at, h, nn, nnn);
                number(task, at, h);
            }
        }
        if (!fits && threadIdx.x == 0) {
            task.large_queue.slot[atomicAdd(task.large_queue.n, 1U)] = slot;
        }
        __syncthreads();
    }
}

} // namespace

extern "C" cudaError_t slc_cms_cuda_launch_seed(const slc_cms_cuda_task *task,
                                                const slc_cms_cuda_limits *limits, cudaStream_t stream)
{
    int blocks = 0;
    const size_t shared = sizeof(histogram) + task->columns * sizeof(uint32_t);
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, find_seed, THREADS,
                                                                            shared);
    if (error != cudaSuccess) {
        return error;
    }
    const uint32_t grid = limits->multiprocessors * slc_cms_cuda_clamp((uint32_t)blocks, 1, WARP);
    find_seed<<<grid, THREADS, shared, stream>>>(*task);
    return cudaGetLastError();
}
