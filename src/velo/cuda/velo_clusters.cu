/* SPDX-License-Identifier: Apache-2.0
 *
 * Words to hits on a GPU, a warp for each module of an event: the parts of super-pixels are nodes in shared
 * memory, linked to those before them that they touch, and the first node of a cluster is its root. What a
 * detector should not send is left to the processor: here it is only noticed. Velo_cluster.c has the rules.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

namespace
{
constexpr uint32_t ADDRESS = 0x007fff00U;
enum {
    WARPS = 4,
    NODES = SLC_VELO_CUDA_NODES,
    KEY_AT = 9, /* of a node: key, hint, pattern */
    HINT = 1 << 8,
    PATTERN = 0xff,
    KEY_COLUMN = 66,
    SENSOR_KEYS = 1 << 15,
    FARTHEST = KEY_COLUMN + 1,
    ROW_BITS = 20,     /* of a node's sums: pixels above those of rows */
    SORTED_MOST = 1024 /* words of a sensor: the work grows with the square */
};

struct nodes_of_module {
    uint32_t node[NODES], parent[NODES], pixels_rows[NODES], columns[NODES];
};

/* The lowest run of hit rows of a pattern: velo_cluster.c. */
__device__ __forceinline__ uint32_t lower_part(uint32_t pattern)
{
    uint32_t rows = (pattern | pattern >> 4) & 0xfU;
    rows &= ~(rows + (rows & (0U - rows)));
    return pattern & (rows | rows << 4);
}

__device__ __forceinline__ void put_node(nodes_of_module &s, uint32_t at, uint32_t key, uint32_t hint,
                                         uint32_t part, uint32_t word)
{
    const uint32_t column = word >> 14 & 0x1ffU, row = word >> 8 & 0x3fU, n = (uint32_t)__popc(part);
    s.node[at] = key << KEY_AT | hint | part;
    s.parent[at] = at;
    s.columns[at] = 2 * column * n + (uint32_t)__popc(part & 0xf0U);
    s.pixels_rows[at] = n << ROW_BITS |
                        (4 * row * n + (uint32_t)__popc(part & 0xaaU) + 2 * (uint32_t)__popc(part & 0xccU));
}

/* The place of a word among those of its sensor, which come in any order: of equal ones the first is first.
 */
__device__ __forceinline__ uint32_t rank_of(const uint32_t *words, uint32_t begin, uint32_t end, uint32_t i,
                                            uint32_t used)
{
    const uint32_t word = words[i] & used;
    uint32_t rank = begin;
    for (uint32_t k = begin; k < end; k++) {
        const uint32_t other = words[k] & used;
        rank += other < word || (other == word && k < i);
    }
    return rank;
}

/* Where the words of four sensors begin, and end. */
struct spans {
    uint32_t at[5];
};

/* The sensor of word i. */
__device__ __forceinline__ uint32_t sensor_of(const spans &s, uint32_t i)
{
    return (uint32_t)(i >= s.at[1]) + (uint32_t)(i >= s.at[2]) + (uint32_t)(i >= s.at[3]);
}

/* Without an index that is not known when compiling: variables stay in registers. */
__device__ __forceinline__ uint32_t begin_of(const spans &s, uint32_t k)
{
    return k < 2 ? (k == 0 ? s.at[0] : s.at[1]) : (k == 2 ? s.at[2] : k == 3 ? s.at[3] : s.at[4]);
}

/* Has no sensor more words than are sorted here? */
__device__ __forceinline__ bool are_few(const spans &s)
{
    bool few = true;
#pragma unroll
    for (uint32_t k = 0; k < 4; k++) {
        few = few && s.at[k + 1] - s.at[k] <= SORTED_MOST;
    }
    return few;
}

/* A module's words, sorted by address: where they are, or in `room`, where the detector did not send them so.
 */
__device__ __forceinline__ const uint32_t *sorted_words(const uint32_t *words, const spans &of,
                                                        uint32_t *room)
{
    bool sorted = true;
    for (uint32_t i = of.at[0] + velo_lane(); i < of.at[4]; i += 32) {
        const bool follows = i > begin_of(of, sensor_of(of, i));
        sorted = sorted && (!follows || (words[i - 1] & ADDRESS) <= (words[i] & ADDRESS));
    }
    if (__all_sync(velo_all_lanes, sorted) || !are_few(of)) {
        return words;
    }
    for (uint32_t i = of.at[0] + velo_lane(); i < of.at[4]; i += 32) {
        const uint32_t k = sensor_of(of, i);
        room[rank_of(words, begin_of(of, k), begin_of(of, k + 1), i, ADDRESS) - of.at[0]] = words[i];
    }
    __syncwarp();
    return room - of.at[0];
}

/* The nodes of a module's words; NODES + 1 where the words are not as they should be. */
__device__ __forceinline__ uint32_t place_nodes(nodes_of_module &s, const uint32_t *words, const spans &of,
                                                uint32_t *isolated)
{
    const uint32_t first = of.at[0], end = of.at[4];
    uint32_t n = 0;
    *isolated = 0;
    for (uint32_t base = first; base < end; base += 32) {
        const uint32_t i = base + velo_lane();
        const bool valid = i < end;
        const uint32_t word = valid ? words[i] : 0;
        const uint32_t sensor = sensor_of(of, i);
        const bool follows = valid && i > begin_of(of, sensor);
        const uint32_t address = word >> 8 & 0x7fffU, before = follows ? words[i - 1] >> 8 & 0x7fffU : 0;
        const uint32_t column = word >> 14 & 0x1ffU, row = word >> 8 & 0x3fU;
        const uint32_t pattern = word & PATTERN, lower = lower_part(pattern), upper = pattern & ~lower;
        const bool bad = valid && (pattern == 0 || column >= SLC_VELO_SUPERPIXEL_COLUMNS ||
                                   (follows && before >= address));
        const uint32_t here = __ballot_sync(velo_all_lanes, valid);
        const uint32_t two = __ballot_sync(velo_all_lanes, valid && upper != 0);
        const uint32_t more = (uint32_t)(__popc(here) + __popc(two));
        if (__any_sync(velo_all_lanes, bad) || n + more > NODES) {
            return NODES + 1;
        }
        *isolated += (uint32_t)__popc(__ballot_sync(velo_all_lanes, word >> 31 != 0));
        if (valid) {
            const uint32_t below = velo_lanes_below();
            const uint32_t at = n + (uint32_t)(__popc(here & below) + __popc(two & below));
            const uint32_t key = sensor * SENSOR_KEYS + KEY_COLUMN * column + row;
            const uint32_t hint = word >> 31 != 0 ? HINT : 0;
            put_node(s, at, key, hint, lower, word);
            if (upper != 0) {
                put_node(s, at + 1, key, hint, upper, word);
            }
        }
        n += more;
    }
    __syncwarp();
    return n;
}

__device__ __forceinline__ uint32_t find_root(const uint32_t *parent, uint32_t i)
{
    const volatile uint32_t *at = parent;
    for (uint32_t up = at[i]; up != i; up = at[i]) {
        i = up;
    }
    return i;
}

/* The smaller index becomes the root. */
__device__ __forceinline__ void unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    for (;;) {
        a = find_root(parent, a);
        b = find_root(parent, b);
        if (a == b) {
            return;
        }
        const uint32_t high = a > b ? a : b, low = a > b ? b : a;
        if (atomicCAS(&parent[high], high, low) == high) {
            return;
        }
    }
}

/* Do parts touch whose keys differ by `apart`? `here` is the later one. */
__device__ __forceinline__ bool touch(uint32_t apart, uint32_t here, uint32_t there)
{
    if (apart == 1) {
        return (here & 0x11U) != 0 && (there & 0x88U) != 0;
    }
    if (apart == KEY_COLUMN + 1) {
        return (here & 0x01U) != 0 && (there & 0x80U) != 0;
    }
    if (apart == KEY_COLUMN - 1) {
        return (here & 0x08U) != 0 && (there & 0x10U) != 0;
    }
    const uint32_t left = there >> 4 & 0xfU, right = here & 0xfU;
    return ((left | left << 1 | left >> 1) & right) != 0;
}

/* Links the nodes. False where a super-pixel that is hinted to be alone is not. */
__device__ __forceinline__ bool link_nodes(nodes_of_module &s, uint32_t n)
{
    bool sound = true;
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        const uint32_t node = s.node[i], key = node >> KEY_AT;
        for (uint32_t j = i; j-- > 0;) {
            const uint32_t other = s.node[j], apart = key - (other >> KEY_AT);
            if (apart > FARTHEST) {
                break;
            }
            if (apart == 1 || apart >= KEY_COLUMN - 1) {
                sound = sound && ((node | other) & HINT) == 0;
                if (touch(apart, node & PATTERN, other & PATTERN)) {
                    unite(s.parent, i, j);
                }
            }
        }
    }
    __syncwarp();
    return __all_sync(velo_all_lanes, sound);
}

__device__ __forceinline__ void put_hit(const slc_velo_cuda_job &job, uint32_t at, uint32_t sensor,
                                        uint32_t n, uint32_t columns, uint32_t rows)
{
    const uint32_t column = columns / n, row = rows / n;
    slc_velo_geometry_position(job.geometry, sensor, column, (float)(columns % n) / (float)n, row,
                               (float)(rows % n) / (float)n, &job.raw_x[at], &job.raw_y[at], &job.raw_z[at]);
    job.raw_channel[at] = 2U << 28 | sensor << 18 | column << 8 | row;
    job.raw_pixels[at] = n;
}

/* The hits of the nodes, in the order of the roots; returns how many, and their pixels. */
__device__ __forceinline__ uint32_t emit(const slc_velo_cuda_job &job, nodes_of_module &s, uint32_t n,
                                         uint32_t module, uint32_t to, uint32_t *pixels)
{
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        const uint32_t root = find_root(s.parent, i);
        if (root != i) {
            atomicAdd(&s.pixels_rows[root], s.pixels_rows[i]);
            atomicAdd(&s.columns[root], s.columns[i]);
        }
    }
    __syncwarp();
    uint32_t hits = 0;
    *pixels = 0;
    for (uint32_t base = 0; base < n; base += 32) {
        const uint32_t i = base + velo_lane();
        const bool root = i < n && s.parent[i] == i;
        const uint32_t bits = __ballot_sync(velo_all_lanes, root);
        if (root) {
            const uint32_t count = s.pixels_rows[i] >> ROW_BITS;
            const uint32_t sensor = 4 * module + (s.node[i] >> KEY_AT) / SENSOR_KEYS;
            put_hit(job, to + hits + (uint32_t)__popc(bits & velo_lanes_below()), sensor, count, s.columns[i],
                    s.pixels_rows[i] & ((1U << ROW_BITS) - 1));
            *pixels += count;
        }
        hits += (uint32_t)__popc(bits);
    }
    return hits;
}

/* Clusters of FPGAs, which are hits. False where one is beyond the sensor. */
__device__ __forceinline__ bool take_centroids(const slc_velo_cuda_job &job, const spans &of, uint32_t module,
                                               uint32_t bits, uint32_t to)
{
    const uint32_t column_at = 2 * bits + 8, used = (1U << (column_at + 10)) - 1;
    const float part = 1.0F / (float)(1U << bits);
    bool sound = are_few(of);
    for (uint32_t i = of.at[0] + velo_lane(); i < of.at[4] && sound; i += 32) {
        const uint32_t k = sensor_of(of, i), word = job.words[i] & used, sensor = 4 * module + k;
        const uint32_t row_parts = word & ((1U << bits) - 1), row = word >> bits & 0xffU;
        const uint32_t rest = word >> (bits + 8), column_parts = rest & ((1U << bits) - 1);
        const uint32_t column = rest >> bits;
        if (column >= SLC_VELO_COLUMNS) {
            sound = false;
            continue;
        }
        const uint32_t at = to + rank_of(job.words, begin_of(of, k), begin_of(of, k + 1), i, used) - of.at[0];
        const uint32_t fractions = (uint32_t)(column_parts > 0) << 27 | (uint32_t)(row_parts > 0) << 26;
        slc_velo_geometry_position(job.geometry, sensor, column, (float)column_parts * part, row,
                                   (float)row_parts * part, &job.raw_x[at], &job.raw_y[at], &job.raw_z[at]);
        job.raw_channel[at] = 2U << 28 | fractions | sensor << 18 | column << 8 | row;
        job.raw_pixels[at] = 0;
    }
    return __all_sync(velo_all_lanes, sound);
}

__device__ __forceinline__ void cluster_module(const slc_velo_cuda_job &job, nodes_of_module &s,
                                               uint32_t event, uint32_t module)
{
    const uint32_t *begin = job.sensor_begin + (size_t)event * SLC_VELO_SENSORS + 4 * (size_t)module;
    const spans of = {{begin[0], begin[1], begin[2], begin[3], begin[4]}};
    const uint32_t kind = job.kind[event], to = 2 * of.at[0];
    uint32_t hits = 0, pixels = 0, isolated = 0;
    bool sound = true;
    if (kind == SLC_VELO_CUDA_SUPERPIXELS) {
        const uint32_t *words = sorted_words(job.words, of, job.raw_pixels + to);
        const uint32_t n = place_nodes(s, words, of, &isolated);
        sound = n <= NODES && link_nodes(s, n);
        hits = sound ? emit(job, s, n, module, to, &pixels) : 0;
    } else if (kind != SLC_VELO_CUDA_LEFT) {
        sound = take_centroids(job, of, module, kind == SLC_VELO_CUDA_EIGHTHS ? 3 : 2, to);
        hits = sound ? of.at[4] - of.at[0] : 0;
    }
    (void)velo_sum_before(pixels, &pixels);
    if (velo_lane() == 0) {
        job.module_hits[(size_t)event * SLC_VELO_MODULES + module] = hits;
        atomicAdd(&job.sums[event], (unsigned long long)hits << SLC_VELO_CUDA_HITS_AT |
                                        (unsigned long long)isolated << SLC_VELO_CUDA_ISOLATED_AT | pixels);
        if (!sound) {
            atomicOr(&job.flags[event], (uint32_t)SLC_VELO_CUDA_WORDS);
        }
    }
    __syncwarp();
}

__global__ void __launch_bounds__(32 * WARPS) find_clusters(const slc_velo_cuda_job job)
{
    __shared__ nodes_of_module shared[WARPS];
    const uint32_t warp = threadIdx.x / 32, n = job.head->n_events * SLC_VELO_MODULES;
    for (uint32_t i = blockIdx.x * WARPS + warp; i < n; i += gridDim.x * WARPS) {
        cluster_module(job, shared[warp], i / SLC_VELO_MODULES, i % SLC_VELO_MODULES);
    }
}

/* Hits of the modules of an event before this one. */
__device__ __forceinline__ uint32_t hits_before(const uint32_t *of_modules, uint32_t module)
{
    const uint32_t lane = velo_lane();
    uint32_t all;
    const uint32_t low = lane < module ? of_modules[lane] : 0;
    const uint32_t high = lane + 32 < module ? of_modules[lane + 32] : 0;
    (void)velo_sum_before(low + high, &all);
    return all;
}

/* Clusters move together: a warp a module. */
__global__ void __launch_bounds__(32 * WARPS) gather_hits(const slc_velo_cuda_job job)
{
    const uint32_t n_all = job.head->n_events * SLC_VELO_MODULES;
    for (uint32_t i = blockIdx.x * WARPS + threadIdx.x / 32; i < n_all; i += gridDim.x * WARPS) {
        const uint32_t e = i / SLC_VELO_MODULES, m = i % SLC_VELO_MODULES, first = job.hit_offset[e];
        const uint32_t from = 2 * job.sensor_begin[(size_t)e * SLC_VELO_SENSORS + 4 * (size_t)m];
        const uint32_t n = job.hit_offset[e + 1] == first ? 0 : job.module_hits[i];
        const uint32_t to = first + hits_before(job.module_hits + (i - m), m);
        for (uint32_t k = velo_lane(); k < n; k += 32) {
            job.x[to + k] = job.raw_x[from + k];
            job.y[to + k] = job.raw_y[from + k];
            job.z[to + k] = job.raw_z[from + k];
            job.channel[to + k] = job.raw_channel[from + k];
            job.n_pixels[to + k] = job.raw_pixels[from + k];
            job.module[to + k] = (uint8_t)m;
        }
    }
}
} // namespace

slc_status slc_velo_cuda_clusters(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                  struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(find_clusters, 7 * multiprocessors, 32 * WARPS, 0, stream, *job);
    slc_status status = slc_cuda_check(cudaGetLastError(), "finding the VELO's clusters", error);
    status = status == SLC_OK ? slc_velo_cuda_offsets(job, SLC_VELO_CUDA_OF_HITS, stream, error) : status;
    if (status == SLC_OK) {
        SLC_LAUNCH(gather_hits, 16 * multiprocessors, 32 * WARPS, 0, stream, *job);
        status = slc_cuda_check(cudaGetLastError(), "gathering the VELO's hits", error);
    }
    return status;
}
