/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters of modules that shared memory cannot hold: any number of digis, any size of module, digis of other
 * modules between. A block takes one module, in global memory: a map of its pixels gives each pixel its first
 * digi, the column `cluster` serves as the table of union-find, and what belongs to a cluster stands at the
 * cell of 2 × 2 pixels of its first digi, as a cell has pixels of one cluster only. Slow, and whole.
 */
#include "cms/cuda/cms_cluster_device.cuh"

namespace
{

enum { THREADS = LARGE_THREADS };
const uint32_t NOBODY = ~0U;

/* The tables of one block: by pixel, and by cell. Everything is read past the first cache, because it is
 * written by atomic operations, which act behind that. */
struct tables {
    unsigned long long *best, *charge; /* of a pixel: the digi that counts; of a cell */
    uint32_t *map;                     /* of a pixel: its first digi, or nobody */
    int32_t *number;                   /* of a cell */
};

struct module_at {
    uint32_t slot, event, module, begin, first, end, stop; /* stop: digis from here on are left out */
};

__host__ __device__ size_t cells_of(uint32_t rows, uint32_t columns)
{
    return (size_t)((rows + 1) / 2) * ((columns + 1) / 2);
}

__device__ tables tables_at(const slc_cms_cuda_task &task, unsigned char *slab)
{
    const size_t pixels = (size_t)task.rows * task.columns, cells = cells_of(task.rows, task.columns);
    tables t;
    t.best = reinterpret_cast<unsigned long long *>(slab);
    t.charge = t.best + pixels;
    t.map = reinterpret_cast<uint32_t *>(t.charge + cells);
    t.number = reinterpret_cast<int32_t *>(t.map + pixels);
    return t;
}

__device__ bool is_valid(const slc_cms_cuda_task &task, const module_at &at, uint32_t i)
{
    return task.module[i] == at.module && task.x[i] < task.rows && task.y[i] < task.columns;
}

__device__ uint32_t pixel_of(const slc_cms_cuda_task &task, uint32_t i)
{
    return task.x[i] * task.columns + task.y[i];
}

__device__ uint32_t cell_of(const slc_cms_cuda_task &task, uint32_t i)
{
    return task.x[i] / 2U * ((task.columns + 1) / 2) + task.y[i] / 2U;
}

/* Goes through the module's stretch in order, to find its first digi, their number, and where to stop. */
__device__ void count(const slc_cms_cuda_task &task, module_at &at, uint32_t *partial, uint32_t *stop)
{
    uint32_t n = 0;
    if (threadIdx.x == 0) {
        *stop = at.end;
    }
    for (uint32_t start = at.first; start < at.end; start += THREADS) {
        const uint32_t i = start + threadIdx.x;
        const bool ours = i < at.end && task.module[i] == at.module;
        const bool valid = ours && is_valid(task, at, i);
        uint32_t here;
        const uint32_t rank = n + team_sum_before<THREADS>(valid ? 1 : 0, partial, &here);
        if (ours && !valid) {
            task.cluster[i] = SLC_CMS_NO_CLUSTER;
            add_fault(task, SLC_FAULT_CMS_PIXEL, at.event, at.module, i - at.begin);
        }
        if (valid && rank == 0) {
            task.first_digi[at.slot] = i - at.begin;
        }
        if (valid && rank == task.most) {
            *stop = i;
            add_fault(task, SLC_FAULT_CMS_MODULE_CROWDED, at.event, at.module, i - at.begin);
        }
        n += here;
    }
    if (threadIdx.x == 0) {
        task.n_digis[at.slot] = n;
        task.count[at.slot] = (uint64_t)(n > 0 ? 1 : 0) << 32;
    }
    __syncthreads();
    at.stop = *stop;
    for (uint32_t i = at.stop + threadIdx.x; i < at.end; i += THREADS) {
        if (is_valid(task, at, i)) {
            task.cluster[i] = SLC_CMS_NO_CLUSTER;
        }
    }
}

/* Every pixel gets its first digi, every digi the first of its pixel as its parent. Digis count from `first`.
 */
__device__ void map_pixels(const slc_cms_cuda_task &task, const module_at &at, const tables &t)
{
    const bool largest = task.duplicates == SLC_PIXEL_DUPLICATES_LARGEST;
    for (uint32_t i = at.first + threadIdx.x; i < at.stop; i += THREADS) {
        if (is_valid(task, at, i)) {
            const uint32_t me = i - at.first;
            const unsigned long long charge = largest ? task.adc[i] : 0;
            atomicMin(t.map + pixel_of(task, i), me);
            if (task.duplicates != SLC_PIXEL_DUPLICATES_KEEP) {
                atomicMax(t.best + pixel_of(task, i), charge << 32 | (NOBODY - me));
            }
        }
    }
    __syncthreads();
    for (uint32_t i = at.first + threadIdx.x; i < at.stop; i += THREADS) {
        if (is_valid(task, at, i)) {
            task.cluster[i] = (int32_t)__ldcg(t.map + pixel_of(task, i));
        }
    }
    __syncthreads();
}

__device__ void unite_with(const slc_cms_cuda_task &task, const tables &t, uint32_t *parent, uint32_t me,
                           int x, int y)
{
    if (x >= 0 && y >= 0 && y < (int)task.columns) {
        const uint32_t other = __ldcg(t.map + (uint32_t)x * task.columns + (uint32_t)y);
        if (other != NOBODY) {
            set_unite(parent, me, other);
        }
    }
}

/* Afterwards `cluster` is the first digi of the cluster. */
__device__ void unite(const slc_cms_cuda_task &task, const module_at &at, const tables &t)
{
    uint32_t *parent = reinterpret_cast<uint32_t *>(task.cluster) + at.first;
    for (uint32_t i = at.first + threadIdx.x; i < at.stop; i += THREADS) {
        const uint32_t me = i - at.first;
        if (is_valid(task, at, i) && __ldcg(t.map + pixel_of(task, i)) == me) {
            const int x = task.x[i], y = task.y[i];
            unite_with(task, t, parent, me, x, y - 1);
            unite_with(task, t, parent, me, x - 1, y - 1);
            unite_with(task, t, parent, me, x - 1, y);
            unite_with(task, t, parent, me, x - 1, y + 1);
        }
    }
    __syncthreads();
    for (uint32_t i = at.first + threadIdx.x; i < at.stop; i += THREADS) {
        if (is_valid(task, at, i)) {
            const uint32_t root = set_find(parent, i - at.first);
            __stcg(parent + (i - at.first), root);
            if (root == i - at.first) {
                t.charge[cell_of(task, i)] = 0;
            }
        }
    }
    __syncthreads();
}

__device__ void add_up(const slc_cms_cuda_task &task, const module_at &at, const tables &t)
{
    for (uint32_t i = at.first + threadIdx.x; i < at.stop; i += THREADS) {
        if (!is_valid(task, at, i)) {
            continue;
        }
        bool counts = true;
        if (task.duplicates != SLC_PIXEL_DUPLICATES_KEEP) {
            counts = (uint32_t)__ldcg(t.best + pixel_of(task, i)) == NOBODY - (i - at.first);
            task.counts[i] = counts ? 1 : 0;
        }
        if (counts || task.duplicates == SLC_PIXEL_DUPLICATES_SUM) {
            const uint32_t root = at.first + (uint32_t)__ldcg(task.cluster + i);
            atomicAdd(t.charge + cell_of(task, root), (unsigned long long)task.adc[i]);
        }
    }
    __syncthreads();
}

/* Numbers the clusters that pass by their first digis. */
__device__ void number(const slc_cms_cuda_task &task, const module_at &at, const tables &t, uint32_t *partial)
{
    uint32_t n = 0;
    for (uint32_t start = at.first; start < at.stop; start += THREADS) {
        const uint32_t i = start + threadIdx.x;
        const bool valid = i < at.stop && is_valid(task, at, i);
        const bool first = valid && (uint32_t)__ldcg(task.cluster + i) == i - at.first;
        bool passing = false;
        if (first) {
            const unsigned long long charge = __ldcg(t.charge + cell_of(task, i));
            passing = passes(task, at.module, charge > 0xFFFFFFFFULL ? 0xFFFFFFFFU : (uint32_t)charge);
        }
        uint32_t here;
        const uint32_t before = n + team_sum_before<THREADS>(passing ? 1 : 0, partial, &here);
        if (first) {
            __stcg(t.number + cell_of(task, i), passing ? (int32_t)before : (int32_t)SLC_CMS_NO_CLUSTER);
        }
        n += here;
    }
    if (threadIdx.x == 0) {
        task.count[at.slot] += n;
    }
    __syncthreads();
}

/* Writes the numbers, and makes the tables by pixel empty again. */
__device__ void write(const slc_cms_cuda_task &task, const module_at &at, const tables &t)
{
    for (uint32_t i = at.first + threadIdx.x; i < at.stop; i += THREADS) {
        if (is_valid(task, at, i)) {
            const uint32_t root = at.first + (uint32_t)__ldcg(task.cluster + i);
            task.cluster[i] = __ldcg(t.number + cell_of(task, root));
            __stcg(t.map + pixel_of(task, i), NOBODY);
            __stcg(t.best + pixel_of(task, i), 0ULL);
        }
    }
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS) find_large(const __grid_constant__ slc_cms_cuda_task task)
{
    __shared__ uint32_t partial[THREADS / WARP], stop;
    const uint32_t n = *task.large_queue.n;
    const tables t = tables_at(task, task.slabs + blockIdx.x * task.slab_bytes);
    if (blockIdx.x < n) {
        for (size_t i = threadIdx.x; i < (size_t)task.rows * task.columns; i += THREADS) {
            __stcg(t.map + i, NOBODY);
            __stcg(t.best + i, 0ULL);
        }
        __syncthreads();
    }
    for (uint32_t j = blockIdx.x; j < n; j += gridDim.x) {
        module_at at;
        at.slot = task.large_queue.slot[j];
        at.event = at.slot / task.modules;
        at.module = at.slot % task.modules;
        at.begin = task.event_begin[at.event];
        at.first = task.range[at.slot].x;
        at.end = ~task.range[at.slot].y;
        count(task, at, partial, &stop);
        map_pixels(task, at, t);
        unite(task, at, t);
        add_up(task, at, t);
        number(task, at, t, partial);
        write(task, at, t);
    }
}

} // namespace

extern "C" size_t slc_cms_cuda_slab_bound(uint32_t rows, uint32_t columns)
{
    const size_t bytes = (size_t)rows * columns * 12 + cells_of(rows, columns) * 12;
    return (bytes + 255) / 256 * 256;
}

extern "C" cudaError_t slc_cms_cuda_launch_find_large(const slc_cms_cuda_task *task, cudaStream_t stream)
{
    find_large<<<task->n_slabs, THREADS, 0, stream>>>(*task);
    return cudaGetLastError();
}
