/* SPDX-License-Identifier: Apache-2.0
 *
 * The clustering on a GPU as a list of launches: empty tables, find the modules (CMS's countModules), find
 * their clusters (findClus) by three paths for small, middling and large modules, sum up, write the rows of
 * modules and of clusters. Sizes that depend on the data stay on the device; all grids are fixed.
 *
 * Modules are found in a table by event and module, with atomic minima and maxima of their first and last
 * digis, only where the module changes from digi to digi: so they may come in any order and repeatedly, what
 * is in between does not matter, and nobody looks back over digis that are none.
 */
#include "cms/cuda/cms_cluster_device.cuh"
#include "cuda/cuda_device.h"

#include <stdlib.h>

namespace
{

enum { THREADS = 256, SUM_THREADS = 512, CHUNK = WARP * PER_THREAD };

__global__ void __launch_bounds__(THREADS) empty_tables(const __grid_constant__ slc_cms_cuda_task task)
{
    const uint32_t thread = blockIdx.x * THREADS + threadIdx.x;
    for (uint32_t i = thread; i < task.n_slots; i += gridDim.x * THREADS) {
        task.range[i] = uint2{~0U, ~0U};
    }
    if (thread == 0) {
        *task.totals = slc_cms_cuda_counts{0, 0, 0, 0, 0, 0, {0, 0}};
        *task.block_queue.n = *task.large_queue.n = *task.feature_queue.n = *task.done = 0;
    }
}

enum { NONE = 0xFFFF }; /* is no module */

/* The event of a row. */
__device__ inline uint32_t event_of(const slc_cms_cuda_task &task, uint32_t row)
{
    uint32_t low = 0, high = task.n_events;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (task.event_begin[middle] <= row) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return low;
}

/* Where a lane's eight digis differ from the one before, as bits. `last` is the word with the last digi
 * before this chunk, in its upper half. */
__device__ inline uint32_t changes(const uint4 &w, uint32_t last)
{
    const uint32_t other = __shfl_up_sync(~0U, w.w, 1), before = threadIdx.x % WARP == 0 ? last : other;
    return high_bits(unequal(w.x, __funnelshift_l(before, w.x, 16)),
                     unequal(w.y, __funnelshift_l(w.x, w.y, 16)), unequal(w.z, __funnelshift_l(w.y, w.z, 16)),
                     unequal(w.w, __funnelshift_l(w.z, w.w, 16)));
}

/* Digi `row` begins something, the one before it, of module `old`, ends something. `event` is that of the
 * chunk's first digi. */
__device__ inline void change_at(const slc_cms_cuda_task &task, uint32_t event, uint32_t row, uint32_t module,
                                 uint32_t old)
{
    uint32_t end = task.event_begin[event + 1];
    if (old < task.modules && row > 0) {
        while (row - 1 >= end) {
            end = task.event_begin[++event + 1];
        }
        /* of the chunk's first digi the one before may be of an earlier event */
        const uint32_t its = row - 1 < task.event_begin[event] ? event_of(task, row - 1) : event;
        atomicMin(&task.range[its * task.modules + old].y, ~row);
    }
    if (module < task.modules) {
        while (row >= end) {
            end = task.event_begin[++event + 1];
        }
        atomicMin(&task.range[event * task.modules + module].x, row);
    }
}

/* One chunk: 256 digis from `start`, eight for each lane, those before `n`. `borders`: events begin in it. */
__device__ inline void look(const slc_cms_cuda_task &task, uint32_t event, bool borders, uint32_t start,
                            uint32_t n, const uint4 &w, uint32_t last)
{
    const uint32_t at = start + threadIdx.x % WARP * PER_THREAD;
    uint32_t changed = changes(w, last);
    for (uint32_t e = event; borders && e <= task.n_events; e++) {
        const uint32_t begin = task.event_begin[e];
        if (begin >= start + CHUNK || begin >= n) {
            break;
        }
        changed |= begin - at < PER_THREAD ? 1U << (begin - at) : 0;
    }
    const uint32_t modules = task.modules * 0x10001U, here = in_range(at, start, n);
    const uint32_t none = high_bits(not_below(w.x, modules), not_below(w.y, modules), not_below(w.z, modules),
                                    not_below(w.w, modules));
    const uint32_t before = __shfl_up_sync(~0U, w.w, 1);
    for (uint32_t todo = changed; todo != 0; todo &= todo - 1) {
        const uint32_t k = (uint32_t)__ffs((int)todo) - 1;
        const uint32_t upper = k < 4 ? (k < 2 ? w.x : w.y) : (k < 6 ? w.z : w.w);
        const uint32_t lower = k < 4 ? (k < 2 ? (threadIdx.x % WARP == 0 ? last : before) : w.x)
                                     : (k < 6 ? w.y : w.z);
        const uint32_t module = k % 2 == 0 ? upper & 0xFFFFU : upper >> 16;
        const uint32_t old = k % 2 == 0 ? lower >> 16 : upper & 0xFFFFU;
        if (at + k <= n) {
            change_at(task, event, at + k, at + k < n ? module : NONE, old);
        }
    }
    for (uint32_t todo = none & here; todo != 0; todo &= todo - 1) {
        task.cluster[at + (uint32_t)__ffs((int)todo) - 1] = SLC_CMS_NO_CLUSTER;
    }
}

/* Eight digis of a lane; what is behind the last digi is none. */
__device__ inline uint4 load_chunk(const slc_cms_cuda_task &task, uint32_t start, uint32_t n)
{
    const uint32_t at = start + threadIdx.x % WARP * PER_THREAD;
    uint4 w = {~0U, ~0U, ~0U, ~0U};
    if (at < n) {
        w = load_eight(task.module, at);
        if (n - at < PER_THREAD) {
            uint32_t *word[] = {&w.x, &w.y, &w.z, &w.w};
#pragma unroll
            for (uint32_t k = 0; k < PER_THREAD; k++) {
                *word[k / 2] |= at + k < n ? 0 : 0xFFFFU << k % 2 * 16;
            }
        }
    }
    return w;
}

/* Every warp takes a stretch of all digis, 256 at a time. A module begins where it differs from the digi
 * before, and ends where that differs from it. Where a warp's stretch begins or ends a module may not, and
 * digis that are none cut modules in pieces; minima and maxima do not mind. */
__global__ void __launch_bounds__(THREADS) count_modules(const __grid_constant__ slc_cms_cuda_task task)
{
    const uint32_t n = task.event_begin[task.n_events];
    const uint64_t chunks = ((uint64_t)n + CHUNK - 1) / CHUNK;
    const uint64_t warps = gridDim.x * (THREADS / WARP), warp = (blockIdx.x * THREADS + threadIdx.x) / WARP;
    const uint32_t begin = (uint32_t)(chunks * warp / warps) * CHUNK;
    const uint32_t end = (uint32_t)(chunks * (warp + 1) / warps) * CHUNK; /* rounded: may be beyond n */
    if (begin == end) {
        return;
    }
    uint32_t event = event_of(task, begin), event_end = task.event_begin[event + 1];
    bool borders = task.event_begin[event] == begin;
    uint32_t last = begin > 0 ? (uint32_t)task.module[begin - 1] << 16 : ~0U;
    uint4 next = load_chunk(task, begin, n);
    for (uint32_t start = begin; start < end; start += CHUNK) {
        const uint4 w = next;
        next = load_chunk(task, start + CHUNK, start + CHUNK < end ? n : 0);
        while (event_end <= start) {
            event_end = task.event_begin[++event + 1];
            borders = true;
        }
        look(task, event, borders || event_end < start + CHUNK, start, n, w, last);
        last = __shfl_sync(~0U, w.w, WARP - 1);
        borders = false;
    }
    if (threadIdx.x % WARP == 0 && end >= n && last >> 16 < task.modules) { /* nothing follows */
        atomicMin(&task.range[event_of(task, n - 1) * task.modules + (last >> 16)].y, ~n);
    }
}

/* Sums over the slots of an event. CUB's would take two launches and the C++ library. */
__device__ void sum_event(const slc_cms_cuda_task &task, uint32_t event, uint32_t *partial)
{
    uint2 sum = {0, 0};
    for (uint32_t start = 0; start < task.modules; start += SUM_THREADS) {
        const uint32_t module = start + threadIdx.x, slot = event * task.modules + module;
        const uint64_t count = module < task.modules ? task.count[slot] : 0;
        uint2 here;
        const uint32_t modules = team_sum_before<SUM_THREADS>((uint32_t)(count >> 32), partial, &here.x);
        const uint32_t clusters = team_sum_before<SUM_THREADS>((uint32_t)count, partial, &here.y);
        if (module < task.modules) {
            task.before[slot] = uint2{sum.x + modules, sum.y + clusters};
        }
        sum.x += here.x;
        sum.y += here.y;
    }
    if (threadIdx.x == 0) {
        task.events[event] = sum;
    }
}

/* Where events begin, and the totals. */
__device__ void sum_all(const slc_cms_cuda_task &task, uint32_t *partial)
{
    uint2 sum = {0, 0};
    for (uint32_t start = 0; start <= task.n_events; start += SUM_THREADS) {
        const uint32_t event = start + threadIdx.x;
        const uint2 count = event < task.n_events ? __ldcg(task.events + event) : uint2{0, 0};
        uint2 here;
        const uint32_t modules = team_sum_before<SUM_THREADS>(count.x, partial, &here.x);
        const uint32_t clusters = team_sum_before<SUM_THREADS>(count.y, partial, &here.y);
        if (event <= task.n_events) {
            task.modules_out.head.event_offset[event] = sum.x + modules;
            task.clusters_out.head.event_offset[event] = sum.y + clusters;
        }
        sum.x += here.x;
        sum.y += here.y;
    }
    if (threadIdx.x == 0) {
        task.totals->n_modules = sum.x;
        task.totals->n_clusters = sum.y;
        task.totals->n_large = *task.large_queue.n + *task.block_queue.n;
    }
}

/* A block for each event; the block that is the last to finish sums up the events. */
__global__ void __launch_bounds__(SUM_THREADS) sum_up(const __grid_constant__ slc_cms_cuda_task task)
{
    __shared__ uint32_t partial[WARP], last;
    for (uint32_t event = blockIdx.x; event < task.n_events; event += gridDim.x) {
        sum_event(task, event, partial);
    }
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(task.done, 1U) == gridDim.x - 1 ? 1 : 0;
        __threadfence();
    }
    __syncthreads();
    if (last != 0) {
        sum_all(task, partial);
    }
}

__global__ void __launch_bounds__(THREADS) write_modules(const __grid_constant__ slc_cms_cuda_task task)
{
    const slc_cms_modules &out = task.modules_out;
    for (uint32_t slot = blockIdx.x * THREADS + threadIdx.x; slot < task.n_slots;
         slot += gridDim.x * THREADS) {
        const uint64_t count = task.count[slot];
        const uint2 before = task.before[slot];
        const uint32_t event = slot / task.modules, row = out.head.event_offset[event] + before.x;
        if (count >> 32 != 0 && row < out.head.capacity) {
            out.module[row] = (uint16_t)(slot - event * task.modules);
            out.first_digi[row] = task.first_digi[slot];
            out.n_digis[row] = task.n_digis[slot];
            out.n_clusters[row] = (uint32_t)count;
            out.cluster_begin[row] = before.y;
        }
    }
}

/* ---- working memory --------------------------------------------------------------------------- */

/* Deals out working memory; with base NULL it only counts. */
struct dealer {
    unsigned char *base;
    size_t used;
};

void *deal(dealer &from, size_t bytes)
{
    void *at = from.base == NULL ? NULL : from.base + from.used;
    from.used += (bytes + 255) / 256 * 256;
    return at;
}

slc_status check(const slc_cms_cluster_config *c, uint64_t events, uint64_t digis, slc_error *error)
{
    if (c->modules < 1 || c->modules > 4096 || c->rows < 1 || c->rows > 2048 || c->columns < 1 ||
        c->columns > 2048 || (unsigned)c->duplicates >= SLC_PIXEL_DUPLICATES) {
        return slc_fail(
            error, SLC_ERR_USAGE,
            "clustering on a GPU: up to 4096 modules of up to 2048 rows and columns, not %u of %u x %u",
            c->modules, c->rows, c->columns);
    }
    if (events * c->modules >= UINT32_MAX / 2 || digis > INT32_MAX) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "clustering on a GPU: a batch of %llu events and %llu digis is too large",
                        (unsigned long long)events, (unsigned long long)digis);
    }
    return SLC_OK;
}

cudaError_t find_limits(slc_cms_cuda_limits *limits)
{
    int device = 0, count = 0, shared = 0;
    cudaError_t error = cudaGetDevice(&device);
    error = error ? error : cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
    error = error ? error : cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    *limits = slc_cms_cuda_limits{(uint32_t)count, (size_t)shared};
    return error;
}

void take_config(slc_cms_cuda_task *task, const slc_cms_cluster_config *c, const slc_cms_cuda_limits *limits)
{
    task->modules = c->modules;
    task->rows = c->rows;
    task->columns = c->columns;
    task->cut_layer1 = c->min_charge_layer1_e;
    task->cut = c->min_charge_e;
    task->above = c->above ? 1 : 0;
    task->duplicates = (uint32_t)c->duplicates;
    task->most = c->truncate ? c->max_module_digis : UINT32_MAX;
    task->pitch = (c->columns + 31) / 32 + 1;
    task->n_words = 1 + (c->rows + 1) * task->pitch;
    const bool few = task->n_words <= 0xFFFF;
    const size_t warp = slc_cms_cuda_find_shared(WARP, task->n_words, task->duplicates);
    const size_t block = slc_cms_cuda_find_shared(BLOCK_THREADS, task->n_words, task->duplicates);
    task->warp_places = few && warp <= limits->block_shared ? (uint32_t)WARP_PLACES : 0;
    task->block_places = few && block <= limits->block_shared ? (uint32_t)BLOCK_PLACES : 0;
}

enum { SLABS = 64 };
const size_t SLAB_MEMORY = (size_t)128 << 20;

/* Sets the task's pointers into the working memory. Returns the bytes. */
size_t lay_out(slc_cms_cuda_task *task, size_t digis, unsigned char *work)
{
    dealer from = {work, 0};
    const size_t slots = task->n_slots;
    task->range = (uint2 *)deal(from, slots * sizeof *task->range);
    task->count = (uint64_t *)deal(from, slots * sizeof *task->count);
    task->before = (uint2 *)deal(from, slots * sizeof *task->before);
    task->events = (uint2 *)deal(from, task->n_events * sizeof *task->events);
    task->n_digis = (uint32_t *)deal(from, slots * sizeof *task->n_digis);
    task->first_digi = (uint32_t *)deal(from, slots * sizeof *task->first_digi);
    task->block_queue.slot = (uint32_t *)deal(from, slots * sizeof(uint32_t));
    task->large_queue.slot = (uint32_t *)deal(from, slots * sizeof(uint32_t));
    task->feature_queue.slot = (uint32_t *)deal(from, slots * sizeof(uint32_t));
    uint32_t *n = (uint32_t *)deal(from, 4 * sizeof(uint32_t));
    task->block_queue.n = n;
    task->large_queue.n = n + 1;
    task->feature_queue.n = n + 2;
    task->done = n + 3;
    if (task->duplicates != SLC_PIXEL_DUPLICATES_KEEP) {
        task->counts = (uint8_t *)deal(from, digis);
    }
    task->slab_bytes = slc_cms_cuda_slab_bound(task->rows, task->columns);
    task->n_slabs = slc_cms_cuda_clamp(SLAB_MEMORY / task->slab_bytes, 1, SLABS);
    task->slabs = (unsigned char *)deal(from, task->n_slabs * task->slab_bytes);
    return from.used;
}

/* The task of a job, and what it needs; *bytes is the working memory. */
slc_status prepare(const slc_cms_cuda_cluster *job, slc_cms_cuda_task *task, slc_cms_cuda_limits *limits,
                   size_t *bytes, slc_error *error)
{
    const uint32_t events = job->digis.head.n_events;
    const slc_status status = check(job->config, events, job->digis.head.capacity, error);
    if (status != SLC_OK) {
        return status;
    }
    const cudaError_t code = find_limits(limits);
    if (code != cudaSuccess) {
        return slc_cuda_check(code, "limits of the device", error);
    }
    *task = slc_cms_cuda_task{};
    take_config(task, job->config, limits);
    task->n_events = events;
    task->n_slots = events * task->modules;
    task->x = job->digis.x;
    task->y = job->digis.y;
    task->adc = job->digis.adc;
    task->module = job->digis.module;
    task->cluster = job->digis.cluster;
    task->event_begin = job->digis.head.event_offset;
    task->totals = job->counts;
    task->faults = job->faults;
    task->fault_capacity = job->fault_capacity;
    task->modules_out = job->modules;
    task->clusters_out = job->clusters;
    *bytes = lay_out(task, job->digis.head.capacity, (unsigned char *)job->work);
    if (job->work != NULL && job->work_bytes < *bytes) {
        return slc_fail(error, SLC_ERR_CAPACITY,
                        "clustering on a GPU: %zu bytes of working memory, %zu needed", job->work_bytes,
                        *bytes);
    }
    return SLC_OK;
}

cudaError_t launch_count(const slc_cms_cuda_task *task, const slc_cms_cuda_limits *limits,
                         cudaStream_t stream)
{
    int blocks = 0;
    const cudaError_t error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, count_modules, THREADS,
                                                                            0);
    if (error != cudaSuccess) {
        return error;
    }
    const uint32_t grid = limits->multiprocessors * slc_cms_cuda_clamp((uint32_t)blocks, 1, WARP);
    empty_tables<<<4 * limits->multiprocessors, THREADS, 0, stream>>>(*task);
    count_modules<<<grid, THREADS, 0, stream>>>(*task);
    return cudaGetLastError();
}

cudaError_t launch_all(const slc_cms_cuda_cluster *job, const slc_cms_cuda_task *task,
                       const slc_cms_cuda_limits *limits, cudaStream_t stream)
{
    cudaError_t error = launch_count(task, limits, stream);
    const bool seed = job->algorithm == SLC_CMS_CUDA_SEED;
    error = error  ? error
            : seed ? slc_cms_cuda_launch_seed(task, limits, stream)
                   : slc_cms_cuda_launch_find(task, limits, stream);
    if (task->block_places != 0 && !seed) {
        error = error ? error : slc_cms_cuda_launch_find_block(task, limits, stream);
    }
    error = error ? error : slc_cms_cuda_launch_find_large(task, stream);
    if (error != cudaSuccess) {
        return error;
    }
    const uint32_t most = 4 * limits->multiprocessors;
    sum_up<<<slc_cms_cuda_clamp(task->n_events, 1, most), SUM_THREADS, 0, stream>>>(*task);
    write_modules<<<most, THREADS, 0, stream>>>(*task);
    error = cudaGetLastError();
    if (!job->labels_only) {
        error = error ? error : slc_cms_cuda_launch_features(task, limits, stream);
        error = error ? error : slc_cms_cuda_launch_features_block(task, limits, stream);
    }
    return error;
}

/* ---- faults on the host ----------------------------------------------------------------------- */

int by_place(const void *a, const void *b)
{
    const slc_cms_cuda_fault *f = (const slc_cms_cuda_fault *)a, *g = (const slc_cms_cuda_fault *)b;
    if (f->event != g->event) {
        return f->event < g->event ? -1 : 1;
    }
    if (f->code != g->code) {
        return f->code < g->code ? -1 : 1;
    }
    if (SLC_FAULT_OF_CMS(f->code) == SLC_FAULT_CMS_MODULE_CROWDED && f->module != g->module) {
        return f->module < g->module ? -1 : 1;
    }
    return f->digi < g->digi ? -1 : f->digi > g->digi ? 1 : 0;
}

} // namespace

static_assert(SLC_FAULT_CMS_PIXEL < SLC_FAULT_CMS_MODULE_CROWDED,
              "faults of pixels come before those of modules");

extern "C" slc_status slc_cms_cuda_cluster_bound(const slc_cms_cluster_config *config, uint32_t events,
                                                 size_t digis, size_t *bytes, slc_error *error)
{
    slc_cms_cuda_cluster job = {};
    slc_cms_cuda_task task;
    slc_cms_cuda_limits limits;
    job.config = config;
    job.digis.head.n_events = events;
    job.digis.head.capacity = digis;
    return prepare(&job, &task, &limits, bytes, error);
}

extern "C" slc_status slc_cms_cuda_cluster_run(const slc_cms_cuda_cluster *job, struct CUstream_st *stream,
                                               slc_error *error)
{
    slc_cms_cuda_task task;
    slc_cms_cuda_limits limits;
    size_t bytes;
    if (job->work == NULL) {
        return slc_fail(error, SLC_ERR_CAPACITY, "clustering on a GPU: no working memory");
    }
    if (job->algorithm == SLC_CMS_CUDA_SEED && job->config->duplicates != SLC_PIXEL_DUPLICATES_KEEP) {
        return slc_fail(error, SLC_ERR_USAGE, "findclus-seed keeps duplicates, it has no other policy");
    }
    const slc_status status = prepare(job, &task, &limits, &bytes, error);
    if (status != SLC_OK) {
        return status;
    }
    const cudaError_t code = launch_all(job, &task, &limits, stream);
    return slc_cuda_check(code, "launch of the clustering", error);
}

extern "C" slc_status slc_cms_cuda_count_modules(const slc_cms_cuda_cluster *job, struct CUstream_st *stream,
                                                 slc_error *error)
{
    slc_cms_cuda_task task;
    slc_cms_cuda_limits limits;
    size_t bytes;
    const slc_status status = prepare(job, &task, &limits, &bytes, error);
    if (status != SLC_OK) {
        return status;
    }
    const cudaError_t code = launch_count(&task, &limits, stream);
    return slc_cuda_check(code, "launch of the count of modules", error);
}

extern "C" void slc_cms_cuda_cluster_faults(slc_cms_cuda_fault *faults, uint32_t capacity,
                                            const slc_cms_cuda_counts *counts, uint64_t first_event,
                                            slc_faults *into)
{
    const uint32_t n = counts->n_faults < capacity ? counts->n_faults : capacity;
    uint32_t pixel = 0, crowded = 0;
    if (n > 0) {
        qsort(faults, n, sizeof *faults, by_place);
    }
    for (uint32_t i = 0; i < n; i++) {
        const slc_fault_code code = SLC_FAULT_OF_CMS(faults[i].code);
        slc_faults_add(into, code, first_event + faults[i].event, faults[i].module, faults[i].digi);
        pixel += code == SLC_FAULT_CMS_PIXEL ? 1 : 0;
        crowded += code == SLC_FAULT_CMS_MODULE_CROWDED ? 1 : 0;
    }
    slc_faults_count(into, SLC_FAULT_CMS_PIXEL, counts->n_pixel - pixel);
    slc_faults_count(into, SLC_FAULT_CMS_MODULE_CROWDED, counts->n_crowded - crowded);
}
