/* SPDX-License-Identifier: Apache-2.0
 *
 * `bittile`, the last kernel for label images. A block does one tile: its threads find the label of every run
 * (from the record that image_bittile_local.cu left, by way of the nodes for components at inner borders, and
 * from the running sums of first pixels), and then write the tile's labels, four pixels at a time, from the
 * rows of bits: the run of a pixel is how many runs begin up to it.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_bittile.cuh"
#include "image/cuda/image_cuda_rank.cuh"

namespace
{
enum { WARPS = 4, THREADS = WARPS * 32, BEFORE = 2 };

struct labels_out {
    unsigned char *at;
    ptrdiff_t stride;
    size_t image_stride;
    uint32_t width, height, images, limit;
    const uint32_t *first;
    bool aligned; /* to 16 bytes */
};

/* Half of a strip: where its runs begin, and how many runs there are before it. */
struct half_strip {
    uint32_t starts, runs;
};

struct scratch {
    uint32_t labels[BEFORE + SLC_IMAGE_BITTILE_RUNS]; /* of runs; those before the first run do not count */
    half_strip strips[2 * SLC_IMAGE_BITTILE_STRIPS];
    uint64_t rows[64];
    uint64_t firsts[64]; /* first pixels of components in the row, and how many there are before it */
    uint32_t prefix[64];
};

/* The strips, by one warp. */
template <bool EIGHT>
__device__ __forceinline__ void load_strips(const slc_image_bittiles &tiles, uint32_t tile, uint32_t lane,
                                            scratch &own)
{
    uint64_t any;
    if (EIGHT) {
        const ulonglong2 both = __ldg(reinterpret_cast<const ulonglong2 *>(tiles.bits) +
                                      static_cast<size_t>(tile) * 32 + lane);
        own.rows[2 * lane] = both.x;
        own.rows[2 * lane + 1] = both.y;
        any = both.x | both.y;
    } else {
        any = __ldg(reinterpret_cast<const unsigned long long *>(tiles.bits) +
                    static_cast<size_t>(tile) * 32 + lane);
        own.rows[lane] = any;
    }
    const uint64_t starts = slc_image_bittile_starts(any);
    uint32_t sum;
    const uint32_t before = slc_image_bittile_sums(slc_image_bittile_count(starts), lane, &sum);
    half_strip left, right;
    left.starts = static_cast<uint32_t>(starts);
    left.runs = before;
    right.starts = static_cast<uint32_t>(starts >> 32);
    right.runs = before + static_cast<uint32_t>(__popc(left.starts));
    own.strips[2 * lane] = left;
    own.strips[2 * lane + 1] = right;
}

/* What the labels of components that end in the tile are made of. */
__device__ __forceinline__ void load_ranks(const slc_image_bittiles &tiles, uint32_t unit, uint32_t row,
                                           scratch &own)
{
    own.firsts[row] = __ldg(reinterpret_cast<const unsigned long long *>(tiles.roots) + unit +
                            row * tiles.tiles_x);
    own.prefix[row] = __ldg(tiles.prefix + unit + row * tiles.tiles_x);
}

/* Of a tile: its number, the unit of its first row, its runs, and the components of the images before. */
struct tile_job {
    uint32_t tile, unit, runs, before;
};

/* With many runs the ranks of a tile's rows are brought in at once, with few of them one by one. */
enum { MANY_RUNS = 96 };

__device__ __forceinline__ uint32_t root_label(const slc_image_bittiles &tiles, const tile_job &job,
                                               uint32_t record, const scratch &own)
{
    if ((record & SLC_IMAGE_BITTILE_BORDER) == 0 && job.runs > MANY_RUNS) {
        const uint32_t place = record & SLC_IMAGE_BITTILE_PLACE;
        const uint32_t row = place / SLC_IMAGE_BITTILE_WIDTH;
        const uint64_t earlier = own.firsts[row] & ((1ULL << (place % SLC_IMAGE_BITTILE_WIDTH)) - 1ULL);
        return own.prefix[row] + slc_image_bittile_count(earlier) - job.before + 1;
    }
    uint32_t key;
    if ((record & SLC_IMAGE_BITTILE_BORDER) == 0) {
        const uint32_t place = record & SLC_IMAGE_BITTILE_PLACE;
        const uint32_t unit = job.unit + place / SLC_IMAGE_BITTILE_WIDTH * tiles.tiles_x;
        key = unit * SLC_IMAGE_BITTILE_WIDTH + place % SLC_IMAGE_BITTILE_WIDTH;
    } else {
        uint32_t node = job.tile * SLC_IMAGE_BITTILE_SLOTS + (record & (SLC_IMAGE_BITTILE_SLOTS - 1));
        unsigned long long value = __ldg(reinterpret_cast<const unsigned long long *>(tiles.nodes) + node);
        while (static_cast<uint32_t>(value) != node) {
            node = static_cast<uint32_t>(value);
            value = __ldg(reinterpret_cast<const unsigned long long *>(tiles.nodes) + node);
        }
        key = static_cast<uint32_t>(value >> 32);
    }
    return slc_image_cuda_rank(tiles.roots, tiles.prefix, key) - job.before + 1;
}

/* Labels of all runs: `record` is that of run threadIdx.x. Roots first, then what points to them. */
__device__ __forceinline__ void label_runs(const slc_image_bittiles &tiles, const tile_job &job,
                                           uint32_t record, scratch &own)
{
    const uint16_t *records = tiles.runs + static_cast<size_t>(job.tile) * SLC_IMAGE_BITTILE_RUNS;
    const uint32_t runs = job.runs;
    uint32_t *labels = own.labels + BEFORE;
    for (uint32_t run = threadIdx.x, next = record; run < runs; run += THREADS) {
        if ((next & SLC_IMAGE_BITTILE_ROOT) != 0) {
            labels[run] = root_label(tiles, job, next, own);
        }
        next = run + THREADS < runs ? __ldg(records + run + THREADS) : 0;
    }
    __syncthreads();
    for (uint32_t run = threadIdx.x, next = record; run < runs; run += THREADS) {
        if ((next & SLC_IMAGE_BITTILE_ROOT) == 0) {
            labels[run] = labels[next];
        }
        next = run + THREADS < runs ? __ldg(records + run + THREADS) : 0;
    }
    __syncthreads();
}

/* Labels of the four pixels from column 4 · quad on. Among four columns there are pixels of at most two runs,
 * the last one that begins up to the fourth column and the one before it. */
template <bool EIGHT>
__device__ __forceinline__ uint4 four_labels(uint32_t row, uint32_t quad, const scratch &own)
{
    const uint32_t half = quad / 8, shift = quad % 8 * 4;
    const uint32_t set = reinterpret_cast<const uint32_t *>(own.rows)[2 * row + half] >> shift;
    const half_strip strip = own.strips[2 * (EIGHT ? row / 2 : row) + half];
    const uint32_t run = strip.runs +
                         static_cast<uint32_t>(__popc(strip.starts & (0xfU << shift | ((1U << shift) - 1U))));
    const uint32_t starts = strip.starts >> shift;
    const uint32_t last = own.labels[BEFORE - 1 + run];
    const uint32_t earlier = own.labels[BEFORE - 2 + run];
    uint4 labels;
    labels.x = (set & 1U) == 0 ? 0 : (starts & 0xeU) != 0 ? earlier : last;
    labels.y = (set & 2U) == 0 ? 0 : (starts & 0xcU) != 0 ? earlier : last;
    labels.z = (set & 4U) == 0 ? 0 : (starts & 0x8U) != 0 ? earlier : last;
    labels.w = (set & 8U) == 0 ? 0 : last;
    return labels;
}

template <bool EIGHT>
__device__ __forceinline__ void write_tile(const labels_out &out, unsigned char *corner, uint32_t width,
                                           uint32_t height, const scratch &own)
{
    const uint32_t quad = threadIdx.x % 16;
    unsigned char *at = corner + static_cast<ptrdiff_t>(threadIdx.x / 16) * out.stride + 16 * quad;
    const bool whole = out.aligned && 4 * quad + 4 <= width;
    for (uint32_t row = threadIdx.x / 16; row < height; row += THREADS / 16) {
        const uint4 labels = four_labels<EIGHT>(row, quad, own);
        if (whole) {
            *reinterpret_cast<uint4 *>(at) = labels;
        } else {
            uint32_t *to = reinterpret_cast<uint32_t *>(at);
            if (4 * quad < width) {
                to[0] = labels.x;
            }
            if (4 * quad + 1 < width) {
                to[1] = labels.y;
            }
            if (4 * quad + 2 < width) {
                to[2] = labels.z;
            }
            if (4 * quad + 3 < width) {
                to[3] = labels.w;
            }
        }
        at += THREADS / 16 * out.stride;
    }
}

template <bool EIGHT>
__global__ void __launch_bounds__(THREADS) tile_write(const labels_out out, const slc_image_bittiles tiles)
{
    __shared__ __align__(16) scratch own;
    const uint32_t tile = blockIdx.x;
    const slc_image_bittile_place place = slc_image_bittile_at(tiles, tile);
    const uint32_t height = slc_image_bittile_height(tiles, out.height, place);
    const uint32_t x = place.x * SLC_IMAGE_BITTILE_WIDTH;
    const uint32_t width = out.width - x < 64 ? out.width - x : 64;
    /* What the first kernel left can be read at once, as the one before this has waited for it. */
    tile_job job = {tile, slc_image_bittile_unit(tiles, out.height, place),
                    __ldg(tiles.counts + tile) & 0xffffU, 0};
    const uint16_t *records = tiles.runs + static_cast<size_t>(tile) * SLC_IMAGE_BITTILE_RUNS;
    const uint32_t record = threadIdx.x < job.runs ? __ldg(records + threadIdx.x) : 0;
    if (threadIdx.x < 32) {
        load_strips<EIGHT>(tiles, tile, threadIdx.x, own);
    }
    slc_image_bittile_wait();
    if (job.runs > MANY_RUNS && threadIdx.x >= 32 && threadIdx.x - 32 < height) {
        load_ranks(tiles, job.unit, threadIdx.x - 32, own);
    }
    job.before = __ldg(out.first + place.image);
    const uint32_t all = __ldg(out.first + out.images);
    __syncthreads();
    if (all > out.limit) {
        return;
    }
    label_runs(tiles, job, record, own);
    unsigned char *corner = out.at + place.image * out.image_stride +
                            static_cast<ptrdiff_t>(place.y * (EIGHT ? 64 : 32)) * out.stride +
                            static_cast<size_t>(x) * sizeof(uint32_t);
    write_tile<EIGHT>(out, corner, width, height, own);
}
} // namespace

slc_status slc_image_bittile_write(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                   slc_error *error)
{
    const uintptr_t strides = static_cast<uintptr_t>(job->label_stride) |
                              (job->images > 1 ? job->label_image_stride : 0);
    labels_out out;
    out.at = reinterpret_cast<unsigned char *>(job->labels);
    out.stride = job->label_stride;
    out.image_stride = job->label_image_stride;
    out.width = job->width;
    out.height = job->height;
    out.images = job->images;
    out.limit = job->limit;
    out.first = job->first;
    out.aligned = (reinterpret_cast<uintptr_t>(job->labels) | strides) % 16 == 0;
    if (job->connectivity == 8) {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, (tile_write<true>),
                                 tiles->tiles, THREADS, out, *tiles);
    } else {
        SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, (tile_write<false>),
                                 tiles->tiles, THREADS, out, *tiles);
    }
    return slc_cuda_check(cudaGetLastError(), "launching the writing of labels", error);
}
