/* SPDX-License-Identifier: Apache-2.0
 *
 * Running sums of how many components begin in each unit of 64 pixels, for all algorithms of labelling on a
 * GPU, by one kernel. A block publishes the sum of its units and adds up those of the blocks before it, as
 * many at a time as it has threads, back to one that has published the sum of all before it: the decoupled
 * look-back of D. Merrill and M. Garland (NVIDIA NVR-2016-002) with a window of a block instead of a warp. An
 * image of 8192 by 8192 pixels is one window, so nothing is waited for twice.
 *
 * For `bittile` further blocks of the same launch let all nodes point to their roots meanwhile.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_bittile_features.cuh"

namespace
{
/* A lane has 2 units of each row of 64 units of its warp, which has one such row, in large images 4. */
enum { THREADS = 512, WARPS = THREADS / 32, ROW = 64, FEW = 1, MANY = 4, MANY_UNITS = 1 << 19 };

typedef unsigned long long state_t;

/* What a block publishes: the sum in the lower half, and what it is of in the upper one. */
constexpr state_t OF_BLOCK = 1ULL << 32, OF_ALL = 2ULL << 32;

struct scan_job {
    const uint64_t *roots;
    uint32_t *prefix;
    uint32_t units, images, image_units;
    uint32_t *first;
    state_t *states;
    uint32_t blocks; /* those that scan; further ones do nodes */
};

__device__ __forceinline__ uint32_t warp_sum(uint32_t value)
{
#pragma unroll
    for (uint32_t step = 16; step > 0; step /= 2) {
        value += __shfl_xor_sync(SLC_IMAGE_BITTILE_LANES, value, step);
    }
    return value;
}

/* Sum over the warps before this one of a value that all lanes of a warp have; *sum is that of all. */
__device__ __forceinline__ uint32_t block_sums(uint32_t value, uint32_t *warps, uint32_t *sum)
{
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (lane == 0) {
        warps[warp] = value;
    }
    __syncthreads();
    const uint32_t other = lane < WARPS ? warps[lane] : 0;
    *sum = warp_sum(other);
    return warp_sum(lane < warp ? other : 0);
}

__device__ __forceinline__ state_t published(const state_t *state)
{
    state_t value = *static_cast<const volatile state_t *>(state);
    while (value == 0) {
        __nanosleep(20);
        value = *static_cast<const volatile state_t *>(state);
    }
    return value;
}

/* The sum over all blocks before this one. Two windows in turn have their own nearest[] and sums[]. */
__device__ uint32_t look_back(const state_t *states, uint32_t block, uint32_t *nearest, uint32_t *sums)
{
    uint32_t before = 0;
    uint32_t window = 0;
    for (uint32_t end = block; end > 0; window ^= 1U) { /* blocks end - 1, end - 2, … */
        if (threadIdx.x == 0) {
            nearest[window] = THREADS;
            sums[window] = 0;
        }
        const state_t state = threadIdx.x < end ? published(states + (end - 1 - threadIdx.x)) : 0;
        __syncthreads();
        const uint32_t complete = __ballot_sync(SLC_IMAGE_BITTILE_LANES, state >= OF_ALL);
        if (complete != 0 && threadIdx.x % 32 == 0) {
            atomicMin(nearest + window, threadIdx.x + static_cast<uint32_t>(__ffs(complete)) - 1);
        }
        __syncthreads();
        const uint32_t last = nearest[window];
        const uint32_t sum = warp_sum(threadIdx.x <= last ? static_cast<uint32_t>(state) : 0);
        if (threadIdx.x % 32 == 0 && sum > 0) {
            atomicAdd(sums + window, sum);
        }
        __syncthreads();
        before += sums[window];
        end = last < THREADS || end < THREADS ? 0 : end - THREADS;
    }
    return before;
}

/* The counts of two units from `unit` on. */
__device__ __forceinline__ uint2 count_two(const scan_job &job, uint32_t unit)
{
    if (unit < job.units && job.units - unit >= 2) {
        const ulonglong2 bits = __ldg(reinterpret_cast<const ulonglong2 *>(job.roots + unit));
        return make_uint2(static_cast<uint32_t>(__popcll(bits.x)), static_cast<uint32_t>(__popcll(bits.y)));
    }
    return make_uint2(unit < job.units ? slc_image_bittile_count(job.roots[unit]) : 0, 0);
}

/* The sums of two units, and first[] of images that begin with one of them. */
__device__ __forceinline__ void write_two(const scan_job &job, uint32_t unit, uint32_t sum, uint2 counts)
{
    if (unit >= job.units) {
        return;
    }
    const bool two = job.units - unit >= 2;
    if (two) {
        *reinterpret_cast<uint2 *>(job.prefix + unit) = make_uint2(sum, sum + counts.x);
    } else {
        job.prefix[unit] = sum;
    }
    const uint32_t image = unit / job.image_units;
    const uint32_t rest = unit - image * job.image_units;
    if (rest == 0) {
        job.first[image] = sum;
    }
    if (two && rest + 1 == job.image_units) {
        job.first[image + 1] = sum + counts.x;
    }
    if (job.units - unit <= 2) {
        job.first[job.images] = sum + counts.x + counts.y;
    }
}

template <int ROWS>
__device__ __forceinline__ void scan_block(const scan_job &job, uint32_t *warps, uint32_t *nearest,
                                           uint32_t *sums)
{
    const uint32_t lane = threadIdx.x % 32;
    const uint32_t unit = (blockIdx.x * WARPS + threadIdx.x / 32) * (ROW * ROWS) + 2 * lane;
    uint2 counts[ROWS];
    uint32_t before_lane[ROWS], all = 0, sum;
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        counts[i] = count_two(job, unit + ROW * i);
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        uint32_t row;
        before_lane[i] = all + slc_image_bittile_sums(counts[i].x + counts[i].y, lane, &row);
        all += row;
    }
    const uint32_t before_warp = block_sums(all, warps, &sum);
    if (threadIdx.x == 0) {
        atomicExch(job.states + blockIdx.x, (blockIdx.x == 0 ? OF_ALL : OF_BLOCK) | sum);
    }
    const uint32_t before = look_back(job.states, blockIdx.x, nearest, sums);
    if (threadIdx.x == 0 && blockIdx.x > 0) {
        atomicExch(job.states + blockIdx.x, OF_ALL | (before + sum));
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++) {
        write_two(job, unit + ROW * i, before + before_warp + before_lane[i], counts[i]);
    }
}

/* A warp for each tile: its nodes get their root, and with features their sums begin. Other warps do the same
 * with what is between, so that long ways are short soon. */
__device__ __forceinline__ void shorten(const slc_image_bittiles &tiles, uint32_t tile)
{
    if (tile >= tiles.tiles) {
        return;
    }
    const uint32_t slots = __ldg(tiles.counts + tile) >> 16;
    if (tiles.features != nullptr) {
        begin_borders(tiles, tile, slots, threadIdx.x % 32);
    }
    for (uint32_t slot = threadIdx.x % 32; slot < slots; slot += 32) {
        volatile uint64_t *node = tiles.nodes + (tile * SLC_IMAGE_BITTILE_SLOTS + slot);
        uint64_t value = *node;
        uint64_t next = *static_cast<const volatile uint64_t *>(tiles.nodes + static_cast<uint32_t>(value));
        while (next != value) {
            *node = next;
            value = next;
            next = *static_cast<const volatile uint64_t *>(tiles.nodes + static_cast<uint32_t>(value));
        }
    }
}

template <int ROWS>
__global__ void __launch_bounds__(THREADS) scan_units(const scan_job job, const slc_image_bittiles tiles)
{
    __shared__ uint32_t warps[WARPS], nearest[2], sums[2];
    slc_image_bittile_wait();
    slc_image_bittile_release();
    if (blockIdx.x < job.blocks) {
        scan_block<ROWS>(job, warps, nearest, sums);
    } else {
        shorten(tiles, (blockIdx.x - job.blocks) * WARPS + threadIdx.x / 32);
    }
}

uint32_t blocks_of(uint32_t units)
{
    const uint32_t each = WARPS * ROW * (units >= MANY_UNITS ? MANY : FEW);
    return units / each + (units % each != 0 ? 1 : 0);
}
} // namespace

size_t slc_image_cuda_scan_bound(uint32_t units)
{
    return (blocks_of(units) * sizeof(state_t) + 255) / 256 * 256;
}

static scan_job job_of(const uint64_t *roots, uint32_t *prefix, uint32_t units, uint32_t images,
                       uint32_t *first, void *work)
{
    scan_job job;
    job.roots = roots;
    job.prefix = prefix;
    job.units = units;
    job.images = images;
    job.image_units = units / images;
    job.first = first;
    job.states = static_cast<state_t *>(work);
    job.blocks = blocks_of(units);
    return job;
}

slc_status slc_image_bittile_scan(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                  slc_error *error)
{
    const scan_job scan = job_of(tiles->roots, tiles->prefix, tiles->units, job->images, job->first,
                                 tiles->scan);
    const bool borders = tiles->tiles_x > 1 || tiles->tiles_y > 1;
    slc_image_bittiles with = *tiles;
    with.features = job->has_features ? tiles->features : nullptr;
    const uint32_t more = borders ? (tiles->tiles + WARPS - 1) / WARPS : 0;
    if (tiles->units >= MANY_UNITS) {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, scan_units<MANY>,
                                 scan.blocks + more, THREADS, scan, with);
    } else {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, scan_units<FEW>,
                                 scan.blocks + more, THREADS, scan, with);
    }
    return slc_cuda_check(cudaGetLastError(), "launching the numbering of components", error);
}

slc_status slc_image_cuda_scan(const uint64_t *roots, uint32_t *prefix, uint32_t units, uint32_t images,
                               uint32_t *first, void *work, struct CUstream_st *stream, slc_error *error)
{
    const slc_status status = slc_cuda_check(
        cudaMemsetAsync(work, 0, slc_image_cuda_scan_bound(units), stream),
        "clearing for the numbering of components", error);
    if (status != SLC_OK) {
        return status;
    }
    const scan_job scan = job_of(roots, prefix, units, images, first, work);
    const slc_image_bittiles none = {};
    if (units >= MANY_UNITS) {
        SLC_LAUNCH(scan_units<MANY>, scan.blocks, THREADS, 0, stream, scan, none);
    } else {
        SLC_LAUNCH(scan_units<FEW>, scan.blocks, THREADS, 0, stream, scan, none);
    }
    return slc_cuda_check(cudaGetLastError(), "launching the numbering of components", error);
}
