/* SPDX-License-Identifier: Apache-2.0
 *
 * Words to hits on a GPU, a warp for each module of an event, which takes them out of what came: the parts of
 * super-pixels are nodes in shared memory, linked to those before them that they touch, and the first node of
 * a cluster is its root. What a detector should not send is left to the processor: here it is only noticed.
 * Velo_cluster.c has the rules.
 */
#include "cuda/cuda_device.h"
#include "velo/cuda/velo_cuda_kernels.h"
#include "velo/cuda/velo_cuda_warp.cuh"

#include <stddef.h>

namespace
{
/* Of a word: its address, to which the number of its sensor in the module is added above, and what is kept.
 */
constexpr uint32_t ADDRESS = 0x01ffff00U, KEPT = 0x807fffffU;
enum {
    WARPS = 4,
    NODES = SLC_VELO_CUDA_NODES, /* of a module; nearly all have FEW at most, and more of those fit in */
    FEW = 256,
    BLOCKS = 12, /* on a multiprocessor */
    KEY_AT = 9,  /* of a node: key, hint, pattern */
    HINT_AT = 8,
    HINT = 1 << HINT_AT,
    PATTERN = 0xff,
    COLUMN_AT = 7, /* of a key: sensor, column, row */
    SENSOR_AT = 16,
    WORD_SENSOR_AT = 23,
    ONE_COLUMN = 1 << COLUMN_AT,
    FARTHEST = ONE_COLUMN + 1,
    PLACE_BITS = 9,     /* of the number that a word is sorted by: sensor, address, place */
    ROW_BITS = 20,      /* of a node's sums: pixels above those of rows */
    COUNT_AT = 16,      /* of a lane's sums: single super-pixels above pixels */
    SORTED_MOST = 1024, /* words of a sensor: the work grows with the square */
    AT_ONCE = 2         /* modules that a warp takes */
};
constexpr uint32_t MANY = 0xffffffffU; /* hits of a module whose parts are more than FEW */
static_assert((int)NODES <= 1 << PLACE_BITS && NODES % 4 == 0 && FEW % 4 == 0, "places in a module");
static_assert(NODES * 8 < 1 << (32 - ROW_BITS) && NODES * 8 < 1 << COUNT_AT, "pixels of a cluster");

/* What words are sorted by becomes nodes; words as they come become sums, and those that are sorted, too. */
template <uint32_t MOST> struct nodes_of_module {
    alignas(16) uint32_t node[MOST + 4]; /* padded to eights from fours on */
    uint32_t parent[MOST], pixels_rows[MOST], columns[MOST];
};

/* The lowest run of hit rows of a pattern: velo_cluster.c. */
__device__ __forceinline__ uint32_t lower_part(uint32_t pattern)
{
    uint32_t rows = (pattern | pattern >> 4) & 0xfU;
    rows &= ~(rows + (rows & (0U - rows)));
    return pattern & (rows | rows << 4);
}

/* Where the words of a module's four sensors begin, and end, from 0 on; and how much farther on they are in
 * what came. */
struct spans {
    uint32_t at[5], from[4];
};

/* The sensor of word i. */
__device__ __forceinline__ uint32_t sensor_of(const spans &s, uint32_t i)
{
    return (uint32_t)(i >= s.at[1]) + (uint32_t)(i >= s.at[2]) + (uint32_t)(i >= s.at[3]);
}

/* Of the sensor of word i, without an index that is not known when compiling, nor branches. */
__device__ __forceinline__ uint32_t begin_of(const spans &s, uint32_t i)
{
    const uint32_t low = i >= s.at[1] ? s.at[1] : s.at[0], high = i >= s.at[3] ? s.at[3] : s.at[2];
    return i >= s.at[2] ? high : low;
}

__device__ __forceinline__ uint32_t end_of(const spans &s, uint32_t i)
{
    const uint32_t low = i >= s.at[1] ? s.at[2] : s.at[1], high = i >= s.at[3] ? s.at[4] : s.at[3];
    return i >= s.at[2] ? high : low;
}

/* Words of the sensor of word i: word k of the module is number k. */
__device__ __forceinline__ uint32_t word_at(const slc_velo_cuda_job &job, const spans &s, uint32_t i,
                                            uint32_t k)
{
    const uint32_t low = i >= s.at[1] ? s.from[1] : s.from[0], high = i >= s.at[3] ? s.from[3] : s.from[2];
    return job.source[(i >= s.at[2] ? high : low) + k];
}

/* The place of word i among those of its sensor, which come in any order: of equal ones the first is first.
 */
__device__ __forceinline__ uint32_t rank_of(const slc_velo_cuda_job &job, const spans &of, uint32_t i,
                                            uint32_t used)
{
    const uint32_t word = word_at(job, of, i, i) & used, end = end_of(of, i);
    uint32_t rank = begin_of(of, i);
    for (uint32_t k = rank; k < end; k++) {
        const uint32_t other = word_at(job, of, i, k) & used;
        rank += other < word || (other == word && k < i);
    }
    return rank;
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

struct __attribute__((aligned(16))) four {
    uint32_t at[4];
};

/* The place of number i, all below 2^31, among those in shared memory from `begin` to `end` - 1, padded by
 * seven. What lies before `begin` is smaller, what lies behind is larger. TIES: of equal ones the first is
 * first. */
template <bool TIES>
__device__ __forceinline__ uint32_t rank_in(const uint32_t *numbers, uint32_t begin, uint32_t end, uint32_t i)
{
    const uint32_t mine = numbers[i];
    uint32_t rank = begin & ~3U;
#pragma unroll 1
    for (uint32_t k = begin & ~3U; k < end; k += 8) {
        const four f[2] = {*(const four *)(numbers + k), *(const four *)(numbers + k + 4)};
#pragma unroll
        for (uint32_t j = 0; j < 8; j++) {
            rank += (f[j / 4].at[j % 4] - mine - (TIES && k + j < i ? 1U : 0U)) >> 31;
        }
    }
    return rank;
}

__device__ __forceinline__ void pad_numbers(uint32_t *numbers, uint32_t n)
{
    if (velo_lane() < (0U - n) % 4 + 4) { /* the last eight begin at a four */
        numbers[n + velo_lane()] = 0x7fffffffU;
    }
    __syncwarp();
}

/* A module's n words in shared memory, sorted by sensor and address, of equal ones as they come; with the
 * sensor, for bits that nobody reads. */
template <uint32_t MOST>
__device__ __forceinline__ const uint32_t *take_words(const slc_velo_cuda_job &job, nodes_of_module<MOST> &s,
                                                      const spans &of, uint32_t n)
{
    const uint32_t lane = velo_lane(), lane_before = (lane + 31) % 32;
    bool sorted = true;
    uint32_t last = 0;
#pragma unroll 1
    for (uint32_t pair = 0; pair < n; pair += 64) { /* two words a lane, read at the same time */
        uint32_t word[2];
#pragma unroll
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t i = pair + 32 * j + lane;
            word[j] = i < n ? word_at(job, of, i, i) : 0;
        }
#pragma unroll
        for (uint32_t j = 0; j < 2; j++) {
            const uint32_t i = pair + 32 * j + lane;
            const uint32_t kept = (word[j] & KEPT) | sensor_of(of, i) << WORD_SENSOR_AT;
            const uint32_t number = (kept & ADDRESS) << 1 | i;
            const uint32_t before = __shfl_sync(velo_all_lanes, number, (int)lane_before);
            sorted = sorted & ((i >= n) | ((lane > 0 ? before : last) <= number));
            last = before; /* of the first lane: the last one's */
            if (i < n) {
                s.node[i] = number;
                s.pixels_rows[i] = kept;
            }
        }
    }
    if (__all_sync(velo_all_lanes, sorted)) {
        __syncwarp();
        return s.pixels_rows;
    }
    pad_numbers(s.node, n);
#pragma unroll 1
    for (uint32_t i = velo_lane(); i < n; i += 32) {
        s.columns[rank_in<false>(s.node, begin_of(of, i), end_of(of, i), i)] = s.pixels_rows[i];
    }
    __syncwarp();
    return s.columns;
}

/* The nodes of a module's n sorted words; MOST + 1 where they are too many, MOST + 2 where the words are not
 * as they should be. To `single` are added those of the lane that are hinted to be alone. */
template <uint32_t MOST>
__device__ __forceinline__ uint32_t place_nodes(nodes_of_module<MOST> &s, const uint32_t *words,
                                                uint32_t n_words, uint32_t *single)
{
    const uint32_t lane = velo_lane(), lane_before = (lane + 31) % 32;
    uint32_t n = 0, last = ~0U;
#pragma unroll 1
    for (uint32_t base = 0; base < n_words; base += 32) {
        const uint32_t i = base + lane;
        const bool valid = i < n_words;
        const uint32_t word = valid ? words[i] : 0, hinted = word >> 31;
        const uint32_t key = (word >> 8 & 0x3fU) | (word >> (14 - COLUMN_AT) & (0x7ffU << COLUMN_AT));
        const uint32_t pattern = word & PATTERN, lower = lower_part(pattern), upper = pattern & ~lower;
        const uint32_t before = __shfl_sync(velo_all_lanes, key, (int)lane_before);
        const uint32_t column_of = key & (0x1ffU << COLUMN_AT);
        const bool bad = valid & ((pattern == 0) | (column_of >= SLC_VELO_SUPERPIXEL_COLUMNS << COLUMN_AT) |
                                  (key == (lane > 0 ? before : last)));
        const uint32_t two = __ballot_sync(velo_all_lanes, upper != 0);
        const uint32_t more = min(n_words - base, 32U) + (uint32_t)__popc(two);
        if (__any_sync(velo_all_lanes, bad)) {
            return MOST + 2;
        }
        if (n + more > MOST) {
            return MOST + 1;
        }
        last = before; /* of the first lane: the last one's */
        *single += hinted;
        if (valid) {
            const uint32_t at = n + lane + (uint32_t)__popc(two & velo_lanes_below());
            const uint32_t node = key << KEY_AT | hinted << HINT_AT;
            s.node[at] = node | lower;
            s.parent[at] = at;
            if (upper != 0) {
                s.node[at + 1] = node | upper;
                s.parent[at + 1] = at + 1;
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

/* Do parts touch whose keys differ by `apart`, 1 or that of a neighbour in the column before? `here` is the
 * later one. Pixels of the right column of `there` lie in a frame of twelve rows, the middle four of which
 * are those of `here`. Without branches, as few lanes come here. */
__device__ __forceinline__ bool touch(uint32_t apart, uint32_t here, uint32_t there)
{
    const uint32_t frame = (there >> 4 & 0xfU) << 4 * ((FARTHEST - apart) & 3U);
    const uint32_t beside = (frame | frame << 1 | frame >> 1) >> 4 & here & 0xfU;
    const uint32_t above = (there & 0x88U) != 0 ? here & 0x11U : 0;
    return (apart == 1 ? above : beside) != 0;
}

/* What the pixels of a part come to: a node by itself. */
template <uint32_t MOST>
__device__ __forceinline__ void set_sums(nodes_of_module<MOST> &s, uint32_t i, uint32_t node)
{
    const uint32_t key = node >> KEY_AT, part = node & PATTERN, n = (uint32_t)__popc(part);
    const uint32_t column = key >> COLUMN_AT & 0x1ffU, row = key & (ONE_COLUMN - 1);
    s.columns[i] = 2 * column * n + (uint32_t)__popc(part & 0xf0U);
    s.pixels_rows[i] = n << ROW_BITS |
                       (4 * row * n + (uint32_t)__popc(part & 0xaaU) + 2 * (uint32_t)__popc(part & 0xccU));
}

/* Links the nodes to those before them that they touch: first each to one, which needs no agreement, then the
 * few that touch several. False where a super-pixel that is hinted to be alone is not. */
template <uint32_t MOST> __device__ __forceinline__ bool link_nodes(nodes_of_module<MOST> &s, uint32_t n)
{
    uint32_t near = 0; /* those that have neighbours */
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 32) {
        const uint32_t i = base + velo_lane();
        const uint32_t node = i < n ? s.node[i] : 0, key = node >> KEY_AT;
        unsigned long long touched = 0; /* how far before: eight parts at most, of eight bits */
#pragma unroll 1
        for (uint32_t j = i < n ? i : 0; j-- > 0;) {
            const uint32_t other = s.node[j], apart = key - (other >> KEY_AT);
            if (apart > FARTHEST) {
                break;
            }
            if (apart == 1 || apart >= ONE_COLUMN - 1) {
                near |= node | other;
                touched = touch(apart, node, other) ? touched << 8 | (i - j) : touched;
            }
        }
        __syncwarp();
        if (i < n) {
            set_sums(s, i, node);
        }
        if (touched != 0) {
            s.parent[i] = i - (uint32_t)(touched & 0xffU);
        }
        __syncwarp();
#pragma unroll 1
        for (touched >>= 8; touched != 0; touched >>= 8) {
            unite(s.parent, i, i - (uint32_t)(touched & 0xffU));
        }
        __syncwarp();
    }
    return __all_sync(velo_all_lanes, (near & HINT) == 0);
}

/* 1 / n, of a whole number: nearly always the nearest. */
__device__ __forceinline__ float reciprocal(float n)
{
#ifdef SLUICE_SIMT
    const float about = 1.0F / n;
#else
    float about;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(about) : "f"(n));
#endif
    return fmaf(about, fmaf(-n, about, 1.0F), about);
}

/* x / n, of whole numbers x < n: what a division does where nothing is very large or small, and as exact. */
__device__ __forceinline__ float part_of(uint32_t x, float n, float one_nth)
{
    const float whole = (float)x, about = whole * one_nth;
    return fmaf(one_nth, fmaf(-n, about, whole), about);
}

/* A sum of n numbers, as what it comes to for each and what is left over: quotients are below 768 and n is
 * below 4 096, so that what is rounded off is less than half a part. */
__device__ __forceinline__ uint32_t share_of(uint32_t sum, uint32_t n, float one_nth, uint32_t *rest)
{
    const uint32_t share = (uint32_t)(((float)sum + 0.5F) * one_nth);
    *rest = sum - share * n;
    return share;
}

/* Where a sensor is, in three reads. */
struct __attribute__((aligned(16))) placed_sensor {
    float g[12];
};
static_assert(offsetof(slc_velo_geometry, to_global) % sizeof(four) == 0 &&
                  sizeof(placed_sensor) == sizeof(slc_velo_geometry::to_global[0]),
              "read as it lies");

__device__ __forceinline__ void set_position(const slc_velo_cuda_job &job, uint32_t sensor, uint32_t column,
                                             float column_part, uint32_t row, float row_part,
                                             slc_velo_cuda_hit *hit)
{
    const placed_sensor at = *(const placed_sensor *)(const void *)job.geometry->to_global[sensor];
    slc_velo_geometry_place(job.geometry, at.g, column, column_part, row, row_part, &hit->x, &hit->y,
                            &hit->z);
}

__device__ __forceinline__ void put_hit(const slc_velo_cuda_job &job, uint32_t at, uint32_t sensor,
                                        uint32_t n, uint32_t columns, uint32_t rows)
{
    const float number = (float)n, one_nth = reciprocal(number);
    uint32_t column_rest, row_rest;
    const uint32_t column = share_of(columns, n, one_nth, &column_rest);
    const uint32_t row = share_of(rows, n, one_nth, &row_rest);
    slc_velo_cuda_hit hit;
    set_position(job, sensor, column, part_of(column_rest, number, one_nth), row,
                 part_of(row_rest, number, one_nth), &hit);
    hit.key = (int32_t)n;
    job.raw[at] = hit;
    if (job.channels != 0) {
        job.raw_channel[at] = 2U << 28 | sensor << 18 | column << 8 | row;
    }
}

/* The hits of the nodes, in the order of the roots; returns how many, and adds the pixels of the lane's. */
template <uint32_t MOST>
__device__ __forceinline__ uint32_t emit(const slc_velo_cuda_job &job, nodes_of_module<MOST> &s, uint32_t n,
                                         uint32_t module, uint32_t to, uint32_t *pixels)
{
#pragma unroll 1
    for (uint32_t base = 0; base < n; base += 32) {
        const uint32_t i = base + velo_lane(), root = i < n ? find_root(s.parent, i) : i;
        __syncwarp(); /* else lanes go on by themselves */
        if (root != i) {
            atomicAdd(&s.pixels_rows[root], s.pixels_rows[i]);
            atomicAdd(&s.columns[root], s.columns[i]);
        }
        __syncwarp();
    }
    uint32_t hits = 0;
    for (uint32_t base = 0; base < n; base += 32) {
        const uint32_t i = base + velo_lane();
        const bool root = i < n && s.parent[i] == i;
        const uint32_t bits = __ballot_sync(velo_all_lanes, root);
        if (root) {
            const uint32_t count = s.pixels_rows[i] >> ROW_BITS;
            const uint32_t sensor = 4 * module + (s.node[i] >> (KEY_AT + SENSOR_AT));
            put_hit(job, to + hits + (uint32_t)__popc(bits & velo_lanes_below()), sensor, count, s.columns[i],
                    s.pixels_rows[i] & ((1U << ROW_BITS) - 1));
            *pixels += count;
        }
        hits += (uint32_t)__popc(bits);
    }
    return hits;
}

/* Clusters of FPGAs, which are hits. False where one is beyond the sensor. */
template <uint32_t MOST>
__device__ __forceinline__ bool take_centroids(const slc_velo_cuda_job &job, nodes_of_module<MOST> &s,
                                               const spans &of, uint32_t module, uint32_t bits, uint32_t to)
{
    const uint32_t column_at = 2 * bits + 8, used = (1U << (column_at + 10)) - 1;
    const float part = 1.0F / (float)(1U << bits);
    const uint32_t n = of.at[4];
    bool sound = are_few(of);
    if (n <= MOST) {
#pragma unroll 1
        for (uint32_t i = velo_lane(); i < n; i += 32) {
            s.node[i] = sensor_of(of, i) << (column_at + 10) | (word_at(job, of, i, i) & used);
        }
        pad_numbers(s.node, n);
    }
#pragma unroll 1
    for (uint32_t i = velo_lane(); i < n && sound; i += 32) {
        const uint32_t sensor = 4 * module + sensor_of(of, i);
        const uint32_t word = (n <= MOST ? s.node[i] : word_at(job, of, i, i)) & used;
        const uint32_t row_parts = word & ((1U << bits) - 1), row = word >> bits & 0xffU;
        const uint32_t rest = word >> (bits + 8), column_parts = rest & ((1U << bits) - 1);
        const uint32_t column = rest >> bits;
        if (column >= SLC_VELO_COLUMNS) {
            sound = false;
            continue;
        }
        const uint32_t at = to + (n <= MOST ? rank_in<true>(s.node, begin_of(of, i), end_of(of, i), i)
                                            : rank_of(job, of, i, used));
        const uint32_t fractions = (uint32_t)(column_parts > 0) << 27 | (uint32_t)(row_parts > 0) << 26;
        slc_velo_cuda_hit hit;
        set_position(job, sensor, column, (float)column_parts * part, row, (float)row_parts * part, &hit);
        hit.key = 0;
        job.raw[at] = hit;
        if (job.channels != 0) {
            job.raw_channel[at] = 2U << 28 | fractions | sensor << 18 | column << 8 | row;
        }
    }
    return __all_sync(velo_all_lanes, sound);
}

template <uint32_t MOST>
__device__ __forceinline__ void cluster_module(const slc_velo_cuda_job &job, nodes_of_module<MOST> &s,
                                               uint32_t event, uint32_t module)
{
    const size_t sensor = (size_t)event * SLC_VELO_SENSORS + 4 * (size_t)module;
    const uint32_t lane = velo_lane(), all = velo_all_lanes;
    const uint32_t begins = job.sensor_begin[sensor + min(lane, 4U)],
                   where = job.where[sensor + min(lane, 3U)];
    const uint32_t kind = job.kind[event], first = __shfl_sync(all, begins, 0), at = begins - first;
    const uint32_t behind = where - at, to = 2 * first;
    const spans of = {{0, __shfl_sync(all, at, 1), __shfl_sync(all, at, 2), __shfl_sync(all, at, 3),
                       __shfl_sync(all, at, 4)},
                      {__shfl_sync(all, behind, 0), __shfl_sync(all, behind, 1), __shfl_sync(all, behind, 2),
                       __shfl_sync(all, behind, 3)}};
    /* What a bank's first word says, which is how many follow, else its event is the processor's. */
    const uint32_t follow = __shfl_down_sync(all, at, 1) - at;
    const uint32_t told = lane < 4 && where != SLC_VELO_CUDA_NOWHERE ? job.source[where - 1] : follow;
    const uint32_t n_words = of.at[4];
    uint32_t hits = 0, sums = 0;
    bool sound = true, as_told = true;
    if (kind == SLC_VELO_CUDA_SUPERPIXELS) {
        uint32_t n = MOST + 1;
        if (n_words <= MOST) {
            const uint32_t *words = take_words(job, s, of, n_words);
            as_told = __all_sync(all, told == follow);
            uint32_t single = 0;
            n = place_nodes(s, words, n_words, &single);
            sums = single << COUNT_AT;
        }
        if (n == MOST + 1 && MOST < NODES) {
            if (lane == 0) {
                job.module_hits[(size_t)event * SLC_VELO_MODULES + module] = MANY;
            }
            __syncwarp();
            return;
        }
        sound = as_told && n <= MOST && link_nodes(s, n);
        hits = sound ? emit(job, s, n, module, to, &sums) : 0;
    } else if (kind != SLC_VELO_CUDA_LEFT) {
        sound = take_centroids(job, s, of, module, kind == SLC_VELO_CUDA_EIGHTHS ? 3 : 2, to) &&
                __all_sync(all, told == follow);
        hits = sound ? n_words : 0;
    }
    sums = slc_warp_sum(sums);
    if (lane == 0) {
        job.module_hits[(size_t)event * SLC_VELO_MODULES + module] = hits;
        atomicAdd(&job.sums[event], (unsigned long long)hits << SLC_VELO_CUDA_HITS_AT |
                                        (unsigned long long)(sums >> COUNT_AT) << SLC_VELO_CUDA_ISOLATED_AT |
                                        (sums & ((1U << COUNT_AT) - 1)));
        if (!sound) {
            atomicOr(&job.flags[event], (uint32_t)SLC_VELO_CUDA_WORDS);
        }
    }
    __syncwarp();
}

__global__ void __launch_bounds__(32 * WARPS, slc_blocks_there<32 * WARPS, BLOCKS>)
    find_clusters(const slc_velo_cuda_job job)
{
    __shared__ nodes_of_module<FEW> shared[WARPS];
    const uint32_t warp = threadIdx.x / 32, n = job.head->n_events * SLC_VELO_MODULES;
    uint32_t next = 0;
    for (uint32_t i = (blockIdx.x * WARPS + warp) * AT_ONCE; i < n;) {
        const bool is_first = i % AT_ONCE == 0;
        if (is_first && velo_lane() == 0) { /* which are next, before they are wanted */
            next = atomicAdd(&job.head->next[SLC_VELO_CUDA_NEXT_CLUSTERS], (uint32_t)AT_ONCE);
        }
        cluster_module(job, shared[warp], i / SLC_VELO_MODULES, i % SLC_VELO_MODULES);
        i = is_first ? i + 1 : gridDim.x * WARPS * AT_ONCE + __shfl_sync(velo_all_lanes, next, 0);
    }
}

/* Those of the modules with more parts: a warp looks for them among 32, which are far from each other, as a
 * crowded event has several. */
__global__ void __launch_bounds__(32 * WARPS) find_many_clusters(const slc_velo_cuda_job job)
{
    __shared__ nodes_of_module<NODES> shared[WARPS];
    const uint32_t warp = threadIdx.x / 32, n = job.head->n_events * SLC_VELO_MODULES;
    const uint32_t step = gridDim.x * WARPS;
    for (uint32_t base = blockIdx.x * WARPS + warp; base < n; base += 32 * step) {
        const uint32_t mine = base + velo_lane() * step;
        const bool many = mine < n && job.module_hits[mine] == MANY;
        for (uint32_t bits = __ballot_sync(velo_all_lanes, many); bits != 0; bits &= bits - 1) {
            const uint32_t i = base + ((uint32_t)__ffs((int)bits) - 1) * step;
            cluster_module(job, shared[warp], i / SLC_VELO_MODULES, i % SLC_VELO_MODULES);
        }
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

/* Hits as columns without gaps: a warp a module. */
__global__ void __launch_bounds__(32 * WARPS) gather_hits(const slc_velo_cuda_job job)
{
    const uint32_t n_all = job.head->n_events * SLC_VELO_MODULES;
    for (uint32_t i = blockIdx.x * WARPS + threadIdx.x / 32; i < n_all; i += gridDim.x * WARPS) {
        const uint32_t e = i / SLC_VELO_MODULES, m = i % SLC_VELO_MODULES, first = job.hit_offset[e];
        const uint32_t from = 2 * job.sensor_begin[(size_t)e * SLC_VELO_SENSORS + 4 * (size_t)m];
        const uint32_t n = job.hit_offset[e + 1] == first ? 0 : job.module_hits[i];
        const uint32_t to = first + hits_before(job.module_hits + (i - m), m);
        for (uint32_t k = velo_lane(); k < n; k += 32) {
            const slc_velo_cuda_hit hit = job.raw[from + k];
            job.x[to + k] = hit.x;
            job.y[to + k] = hit.y;
            job.z[to + k] = hit.z;
            job.n_pixels[to + k] = (uint32_t)hit.key;
            job.channel[to + k] = job.raw_channel[from + k];
            job.module[to + k] = (uint8_t)m;
        }
    }
}
} // namespace

slc_status slc_velo_cuda_clusters(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                                  struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(find_clusters, BLOCKS * multiprocessors, 32 * WARPS, 0, stream, *job);
    SLC_LAUNCH(find_many_clusters, 6 * multiprocessors, 32 * WARPS, 0, stream, *job);
    const slc_status status = slc_cuda_check(cudaGetLastError(), "finding the VELO's clusters", error);
    return status == SLC_OK ? slc_velo_cuda_offsets(job, SLC_VELO_CUDA_OF_HITS, stream, error) : status;
}

slc_status slc_velo_cuda_hits(const slc_velo_cuda_job *job, uint32_t multiprocessors,
                              struct CUstream_st *stream, slc_error *error)
{
    SLC_LAUNCH(gather_hits, 16 * multiprocessors, 32 * WARPS, 0, stream, *job);
    return slc_cuda_check(cudaGetLastError(), "gathering the VELO's hits", error);
}
