/* SPDX-License-Identifier: Apache-2.0
 *
 * The rows of clusters: pixels, charge, box, and charge on its edges, by a team of threads for each module,
 * once the clusters are numbered and their rows are known. Two passes over the digis: the box, then the
 * edges. A thread adds up consecutive digis of a cluster before it touches shared memory. Modules with more
 * clusters than shared memory holds take several turns.
 */
#include "cms/cuda/cms_cluster_device.cuh"

namespace
{

/* Of one turn. SUM is 32 bits wide for a warp, whose digis cannot exceed it, else 64. */
template <typename SUM, int CLUSTERS> struct sums {
    SUM charge[CLUSTERS], x_min_charge[CLUSTERS], x_max_charge[CLUSTERS], y_min_charge[CLUSTERS],
        y_max_charge[CLUSTERS];
    uint32_t n[CLUSTERS], first[CLUSTERS];
    uint32_t x_min[CLUSTERS], x_max[CLUSTERS], y_min[CLUSTERS], y_max[CLUSTERS];
};

/* What a thread has of a cluster so far; `cluster` counts from the turn's first, CLUSTERS or more: none. */
template <typename SUM> struct part {
    uint32_t cluster, n, first, x_min, x_max, y_min, y_max;
    SUM charge;
};
template <typename SUM> struct edges {
    uint32_t cluster;
    SUM x_min, x_max, y_min, y_max;
};

struct digi {
    uint32_t x, y, adc, cluster, row; /* cluster counts from the turn's first */
    bool single;                      /* counts as a pixel */
};

__device__ inline void add(uint32_t *to, uint32_t value)
{
    atomicAdd(to, value);
}

__device__ inline void add(unsigned long long *to, unsigned long long value)
{
    atomicAdd(to, value);
}

template <typename SUM, int CLUSTERS> __device__ inline void put(sums<SUM, CLUSTERS> &s, const part<SUM> &p)
{
    if (p.cluster < CLUSTERS) {
        atomicAdd(&s.n[p.cluster], p.n);
        atomicMin(&s.first[p.cluster], p.first);
        atomicMin(&s.x_min[p.cluster], p.x_min);
        atomicMax(&s.x_max[p.cluster], p.x_max);
        atomicMin(&s.y_min[p.cluster], p.y_min);
        atomicMax(&s.y_max[p.cluster], p.y_max);
        add(&s.charge[p.cluster], p.charge);
    }
}

template <typename SUM, int CLUSTERS> __device__ inline void put(sums<SUM, CLUSTERS> &s, const edges<SUM> &p)
{
    if (p.cluster < CLUSTERS) {
        add(&s.x_min_charge[p.cluster], p.x_min);
        add(&s.x_max_charge[p.cluster], p.x_max);
        add(&s.y_min_charge[p.cluster], p.y_min);
        add(&s.y_max_charge[p.cluster], p.y_max);
    }
}

template <typename SUM, int CLUSTERS>
__device__ inline void gather(sums<SUM, CLUSTERS> &s, part<SUM> &p, const digi &d)
{
    if (d.cluster != p.cluster) {
        put(s, p);
        p = part<SUM>{d.cluster, 0, d.row, d.x, d.x, d.y, d.y, 0};
    }
    p.n += d.single ? 1 : 0;
    p.x_min = min(p.x_min, d.x);
    p.x_max = max(p.x_max, d.x);
    p.y_min = min(p.y_min, d.y);
    p.y_max = max(p.y_max, d.y);
    p.charge += d.adc;
}

template <typename SUM, int CLUSTERS>
__device__ inline void gather(sums<SUM, CLUSTERS> &s, edges<SUM> &p, const digi &d)
{
    if (d.cluster != p.cluster) {
        put(s, p);
        p = edges<SUM>{d.cluster, 0, 0, 0, 0};
    }
    if (d.cluster < CLUSTERS) {
        p.x_min += d.x == s.x_min[d.cluster] ? d.adc : 0;
        p.x_max += d.x == s.x_max[d.cluster] ? d.adc : 0;
        p.y_min += d.y == s.y_min[d.cluster] ? d.adc : 0;
        p.y_max += d.y == s.y_max[d.cluster] ? d.adc : 0;
    }
}

/* Eight digis. Bits of `ours`: of the module, and in a cluster; of `lost`: not counted as a pixel. */
struct eight {
    uint4 x, y, adc;
    int32_t cluster[PER_THREAD];
    uint32_t at, ours, lost;
};

__device__ inline void load(const slc_cms_cuda_task &task, eight &d, uint32_t module, uint32_t at,
                            uint32_t first, uint32_t end)
{
    const uint4 m = load_eight(task.module, at);
    const uint32_t both = module * 0x10001U;
    const int4 low = *reinterpret_cast<const int4 *>(task.cluster + at);
    const int4 high = *reinterpret_cast<const int4 *>(task.cluster + at + 4);
    const int32_t cluster[PER_THREAD] = {low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w};
    d.x = load_eight(task.x, at);
    d.y = load_eight(task.y, at);
    d.adc = load_eight(task.adc, at);
    d.at = at;
    d.lost = 0;
    d.ours = in_range(at, first, end) &
             ~high_bits(unequal(m.x, both), unequal(m.y, both), unequal(m.z, both), unequal(m.w, both));
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        d.cluster[k] = cluster[k];
        d.ours &= cluster[k] < 0 ? ~(1U << k) : ~0U;
    }
    if (task.duplicates != SLC_PIXEL_DUPLICATES_KEEP) {
        for (int k = 0; k < PER_THREAD; k++) {
            d.lost |= (d.ours >> k & 1) != 0 && task.counts[at + k] == 0 ? 1U << k : 0;
        }
    }
}

/* Gathers them in order. */
template <typename SUM, int CLUSTERS, typename WHAT>
__device__ inline void gather_eight(const slc_cms_cuda_task &task, sums<SUM, CLUSTERS> &s, WHAT &p,
                                    const eight &d, uint32_t turn)
{
    const bool all = task.duplicates == SLC_PIXEL_DUPLICATES_SUM;
#pragma unroll
    for (int k = 0; k < PER_THREAD; k++) {
        if ((d.ours >> k & 1) != 0) {
            const bool single = (d.lost >> k & 1) == 0;
            gather(s, p,
                   digi{sixteen(d.x, k), sixteen(d.y, k), single || all ? sixteen(d.adc, k) : 0,
                        (uint32_t)d.cluster[k] - turn, d.at + k, single});
        }
    }
}

template <int THREADS, typename SUM, int CLUSTERS>
__device__ inline void start(sums<SUM, CLUSTERS> &s, uint32_t n)
{
    for (uint32_t c = team_rank<THREADS>(); c < n; c += THREADS) {
        s.charge[c] = s.x_min_charge[c] = s.x_max_charge[c] = s.y_min_charge[c] = s.y_max_charge[c] = 0;
        s.n[c] = s.x_max[c] = s.y_max[c] = 0;
        s.first[c] = s.x_min[c] = s.y_min[c] = ~0U;
    }
    team_sync<THREADS>();
}

__device__ inline uint32_t narrow(uint32_t sum)
{
    return sum;
}

__device__ inline uint32_t narrow(unsigned long long sum)
{
    return sum > 0xFFFFFFFFULL ? 0xFFFFFFFFU : (uint32_t)sum;
}

template <int THREADS, typename SUM, int CLUSTERS>
__device__ inline void write(const slc_cms_cuda_task &task, const sums<SUM, CLUSTERS> &s, uint32_t n,
                             uint32_t module, uint32_t begin, size_t row)
{
    const slc_cms_clusters &out = task.clusters_out;
    for (uint32_t c = team_rank<THREADS>(); c < n && row + c < out.head.capacity; c += THREADS) {
        const size_t at = row + c;
        out.module[at] = (uint16_t)module;
        out.n_pixels[at] = (uint16_t)min(s.n[c], 0xFFFFU);
        out.charge_e[at] = narrow(s.charge[c]);
        out.first_digi[at] = s.first[c] - begin;
        out.x_min[at] = (uint16_t)s.x_min[c];
        out.x_max[at] = (uint16_t)s.x_max[c];
        out.y_min[at] = (uint16_t)s.y_min[c];
        out.y_max[at] = (uint16_t)s.y_max[c];
        out.charge_x_min[at] = narrow(s.x_min_charge[c]);
        out.charge_x_max[at] = narrow(s.x_max_charge[c]);
        out.charge_y_min[at] = narrow(s.y_min_charge[c]);
        out.charge_y_max[at] = narrow(s.y_max_charge[c]);
    }
    team_sync<THREADS>();
}

/* The clusters of a slot. */
template <int THREADS, typename SUM, int CLUSTERS>
__device__ inline void features(const slc_cms_cuda_task &task, sums<SUM, CLUSTERS> &s, uint32_t slot,
                                uint32_t first, uint32_t end)
{
    const uint32_t event = slot / task.modules, module = slot - event * task.modules;
    const uint32_t n_clusters = (uint32_t)task.count[slot];
    const uint32_t row = task.clusters_out.head.event_offset[event] + task.before[slot].y;
    const uint32_t start_at = (first & ~(uint32_t)(PER_THREAD - 1)) + team_rank<THREADS>() * PER_THREAD;
    for (uint32_t turn = 0; turn < n_clusters; turn += CLUSTERS) {
        const uint32_t n = min(n_clusters - turn, (uint32_t)CLUSTERS);
        start<THREADS>(s, n);
        eight d;
        part<SUM> p = {~0U, 0, 0, 0, 0, 0, 0, 0};
        edges<SUM> q = {~0U, 0, 0, 0, 0};
        for (uint32_t at = start_at; at < end; at += THREADS * PER_THREAD) {
            load(task, d, module, at, first, end);
            gather_eight(task, s, p, d, turn);
            if (THREADS == WARP) { /* that is all, and it stays in registers */
                break;
            }
        }
        put(s, p);
        team_sync<THREADS>();
        for (uint32_t at = start_at; at < end; at += THREADS * PER_THREAD) {
            if (THREADS != WARP) {
                load(task, d, module, at, first, end);
            }
            gather_eight(task, s, q, d, turn);
            if (THREADS == WARP) {
                break;
            }
        }
        put(s, q);
        team_sync<THREADS>();
        write<THREADS>(task, s, n, module, task.event_begin[event], (size_t)row + turn);
    }
}

enum { FEATURE_THREADS = 128, WARP_CLUSTERS = 64, BLOCK_CLUSTERS = 512, MOST_GROUP = 8 };

__global__ void __launch_bounds__(FEATURE_THREADS, 8)
    features_by_warp(const __grid_constant__ slc_cms_cuda_task task, uint32_t group)
{
    __shared__ sums<uint32_t, WARP_CLUSTERS> all[FEATURE_THREADS / WARP];
    sums<uint32_t, WARP_CLUSTERS> &s = all[threadIdx.x / WARP];
    const uint32_t lane = threadIdx.x % WARP;
    const uint32_t warps = gridDim.x * (FEATURE_THREADS / WARP);
    for (uint32_t g = (blockIdx.x * FEATURE_THREADS + threadIdx.x) / WARP; g * group < task.n_slots;
         g += warps) {
        const uint32_t slot = g * group + lane;
        const bool here = lane < group && slot < task.n_slots;
        const uint2 range = here ? task.range[slot] : uint2{~0U, ~0U};
        const uint32_t first = range.x, end = ~range.y;
        const uint32_t places = first == ~0U ? 0 : end - (first & ~(uint32_t)(PER_THREAD - 1));
        for (uint32_t todo = __ballot_sync(~0U, places != 0 && places <= (uint32_t)WARP_PLACES); todo != 0;
             todo &= todo - 1) {
            const uint32_t turn = (uint32_t)__ffs((int)todo) - 1;
            features<WARP>(task, s, g * group + turn, __shfl_sync(~0U, first, turn),
                           __shfl_sync(~0U, end, turn));
        }
        if (places > (uint32_t)WARP_PLACES) {
            task.feature_queue.slot[atomicAdd(task.feature_queue.n, 1U)] = slot;
        }
    }
}

__global__ void __launch_bounds__(BLOCK_THREADS)
    features_by_block(const __grid_constant__ slc_cms_cuda_task task)
{
    __shared__ sums<unsigned long long, BLOCK_CLUSTERS> s;
    const uint32_t n = *task.feature_queue.n;
    for (uint32_t i = blockIdx.x; i < n; i += gridDim.x) {
        const uint32_t slot = task.feature_queue.slot[i];
        features<BLOCK_THREADS>(task, s, slot, task.range[slot].x, ~task.range[slot].y);
    }
}

} // namespace

extern "C" cudaError_t slc_cms_cuda_launch_features(const slc_cms_cuda_task *task,
                                                    const slc_cms_cuda_limits *limits, cudaStream_t stream)
{
    int blocks = 0;
    const cudaError_t asked = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, features_by_warp,
                                                                            FEATURE_THREADS, 0);
    if (asked != cudaSuccess) {
        return asked;
    }
    const uint32_t grid = limits->multiprocessors * slc_cms_cuda_clamp((uint32_t)blocks, 1, WARP);
    const uint32_t warps = grid * (FEATURE_THREADS / WARP);
    const uint32_t group = slc_cms_cuda_clamp(task->n_slots / (4 * warps), 1, MOST_GROUP);
    features_by_warp<<<grid, FEATURE_THREADS, 0, stream>>>(*task, group);
    return cudaGetLastError();
}

extern "C" cudaError_t slc_cms_cuda_launch_features_block(const slc_cms_cuda_task *task,
                                                          const slc_cms_cuda_limits *limits,
                                                          cudaStream_t stream)
{
    features_by_block<<<2 * limits->multiprocessors, BLOCK_THREADS, 0, stream>>>(*task);
    return cudaGetLastError();
}
