/* SPDX-License-Identifier: Apache-2.0
 * Drops components by their areas and boxes, keeps the others in their order, and numbers them anew.
 *
 * Rows move up in place. They are cut into tiles of 1024; kept rows of each tile are counted, and the counts
 * added up. Then blocks take the tiles in turn: a block loads its tile into registers, says that it has, and
 * writes the kept rows to where they belong. That is inside of at most two tiles which are not behind its
 * own, so it waits for these to be loaded, which blocks with earlier turns do without waiting for anybody.
 * Labels go through a table: of each old row, how many are kept before it, and whether it is.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_cuda_rows.cuh"
#include "image/cuda/image_cuda_stages.h"

namespace
{

using namespace slc_image_rows;

enum { PER_THREAD = 4, TILE = THREADS * PER_THREAD, ADD_THREADS = 1024, PER_PROCESSOR = 4, ALIGN = 256 };

/* Which components are kept. */
struct rule {
    uint64_t min_area, max_area;
    uint32_t right, bottom; /* the last column and row */
    slc_image_border border;
};

struct filter_task {
    slc_image_cuda_columns columns;
    rule keep;
    uint32_t *first; /* the job's */
    uint32_t images, limit;
    /* Working memory. */
    uint32_t *table;  /* of each old row: kept rows before it · 2, + 1 where it is kept */
    uint32_t *before; /* of each tile: how many are kept of it, later before it; in all behind the last */
    uint32_t *loaded; /* of each tile: 1 when its rows may be overwritten. Cleared, with `turn` behind it. */
    uint32_t *turn;
    uint32_t *new_first; /* images + 1 */
};

struct row {
    uint64_t area, sum_x, sum_y;
    uint32_t x_min, y_min, x_max, y_max, first_x, first_y;
};

/* Rows there are; 0 where nothing is to be done, as they were too many. */
__device__ inline uint32_t rows_of(const filter_task &t)
{
    const uint32_t n = t.first[t.images];
    return n > t.limit ? 0 : n;
}

__device__ inline bool keeps(const rule &r, uint64_t area, uint32_t x_min, uint32_t y_min, uint32_t x_max,
                             uint32_t y_max)
{
    const bool touches = x_min == 0 || y_min == 0 || x_max == r.right || y_max == r.bottom;
    return area >= r.min_area && area <= r.max_area &&
           (r.border == SLC_IMAGE_BORDER_ANY || (r.border == SLC_IMAGE_BORDER_TOUCHING) == touches);
}

/* ---- counts ------------------------------------------------------------------------------------ */

__global__ void __launch_bounds__(THREADS) count_kept(const filter_task t)
{
    const uint32_t n = rows_of(t), tiles = (n + TILE - 1) / TILE;
    for (uint32_t tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        uint32_t kept = 0;
        for (uint32_t k = 0; k < PER_THREAD; k++) {
            const uint32_t i = tile * TILE + k * THREADS + threadIdx.x;
            const slc_image_cuda_columns &c = t.columns;
            const bool keep = i < n &&
                              keeps(t.keep, c.area[i], c.x_min[i], c.y_min[i], c.x_max[i], c.y_max[i]);
            kept += (uint32_t)__syncthreads_count(keep);
        }
        if (threadIdx.x == 0) {
            t.before[tile] = kept;
        }
    }
}

/* The sum of `value` in this lane and those below it. */
__device__ inline uint32_t sum_up_to(uint32_t value)
{
    const uint32_t lane = threadIdx.x % WARP;
    for (uint32_t step = 1; step < WARP; step *= 2) {
        const uint32_t below = __shfl_up_sync(~0U, value, step);
        value += lane >= step ? below : 0;
    }
    return value;
}

/* One block. */
__global__ void __launch_bounds__(ADD_THREADS) add_counts(const filter_task t)
{
    __shared__ uint32_t of_warp[WARP];
    const uint32_t tiles = (rows_of(t) + TILE - 1) / TILE, warp = threadIdx.x / WARP;
    const uint32_t lane = threadIdx.x % WARP;
    uint32_t total = 0;
    for (uint32_t base = 0; base < tiles; base += ADD_THREADS) {
        const uint32_t tile = base + threadIdx.x, mine = tile < tiles ? t.before[tile] : 0;
        const uint32_t with = sum_up_to(mine);
        if (lane == WARP - 1) {
            of_warp[warp] = with;
        }
        __syncthreads();
        const uint32_t sums = sum_up_to(of_warp[lane]);
        const uint32_t lower = __shfl_sync(~0U, sums, (int)(warp > 0 ? warp - 1 : 0));
        if (tile < tiles) {
            t.before[tile] = total + (warp > 0 ? lower : 0) + with - mine;
        }
        total += __shfl_sync(~0U, sums, WARP - 1);
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        t.before[tiles] = total;
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

__device__ inline row load(const slc_image_cuda_columns &c, uint32_t i)
{
    return row{c.area[i],  c.sum_x[i], c.sum_y[i],   c.x_min[i],  c.y_min[i],
               c.x_max[i], c.y_max[i], c.first_x[i], c.first_y[i]};
}

__device__ inline void store(const slc_image_cuda_columns &c, uint32_t i, const row &r)
{
    c.area[i] = r.area;
    c.sum_x[i] = r.sum_x;
    c.sum_y[i] = r.sum_y;
    c.x_min[i] = r.x_min;
    c.y_min[i] = r.y_min;
    c.x_max[i] = r.x_max;
    c.y_max[i] = r.y_max;
    c.first_x[i] = r.first_x;
    c.first_y[i] = r.first_y;
}

/* Says that the block has the rows of the tile in registers, and waits until the rows `from` … `from` + `n` -
 * 1 are in registers, too. By one thread, between barriers of the block. */
__device__ inline void exchange(const filter_task &t, uint32_t tile, uint32_t from, uint32_t n)
{
    __threadfence();
    atomicExch(&t.loaded[tile], 1U);
    for (uint32_t other = from / TILE; n > 0 && other <= (from + n - 1) / TILE; other++) {
        while (atomicAdd(&t.loaded[other], 0U) == 0) {
        }
    }
    __threadfence();
}

/* The kept rows of the block before each of its thread's rows; `kept` has a bit for each of these. The rows
 * of a tile are threads' first rows, then their second ones … */
__device__ inline void rank_rows(uint32_t kept, uint32_t rank[PER_THREAD])
{
    __shared__ uint32_t counts[PER_THREAD * WARPS];
    const uint32_t lane = threadIdx.x % WARP, warp = threadIdx.x / WARP;
#pragma unroll
    for (uint32_t k = 0; k < PER_THREAD; k++) {
        const uint32_t votes = __ballot_sync(~0U, (kept >> k & 1) != 0);
        rank[k] = (uint32_t)__popc(votes & ((1U << lane) - 1));
        if (lane == 0) {
            counts[k * WARPS + warp] = (uint32_t)__popc(votes);
        }
    }
    __syncthreads();
    static_assert(PER_THREAD * WARPS == WARP, "a lane for each count");
    const uint32_t sums = sum_up_to(counts[lane]) - counts[lane];
#pragma unroll
    for (uint32_t k = 0; k < PER_THREAD; k++) {
        rank[k] += __shfl_sync(~0U, sums, (int)(k * WARPS + warp));
    }
}

__device__ inline void move_tile(const filter_task &t, uint32_t tile, uint32_t n)
{
    row rows[PER_THREAD];
    uint32_t rank[PER_THREAD], kept = 0;
    const uint32_t to = t.before[tile], own = tile * TILE + threadIdx.x;
#pragma unroll
    for (uint32_t k = 0; k < PER_THREAD; k++) {
        const uint32_t i = own + k * THREADS;
        if (i < n) {
            rows[k] = load(t.columns, i);
            const row &r = rows[k];
            kept |= keeps(t.keep, r.area, r.x_min, r.y_min, r.x_max, r.y_max) ? 1U << k : 0;
        }
    }
    rank_rows(kept, rank);
    __threadfence(); /* this thread's loads, before the tile's */
    __syncthreads();
    if (threadIdx.x == 0) {
        exchange(t, tile, to, t.before[tile + 1] - to);
    }
    __syncthreads();
#pragma unroll
    for (uint32_t k = 0; k < PER_THREAD; k++) {
        const uint32_t i = own + k * THREADS;
        if (i < n) {
            t.table[i] = (to + rank[k]) * 2 | (kept >> k & 1);
        }
        if ((kept >> k & 1) != 0 && to + rank[k] != i) {
            store(t.columns, to + rank[k], rows[k]);
        }
    }
}

__global__ void __launch_bounds__(THREADS) move_rows(const filter_task t)
{
    __shared__ uint32_t turn;
    const uint32_t n = rows_of(t), tiles = (n + TILE - 1) / TILE;
    for (;;) {
        if (threadIdx.x == 0) {
            turn = atomicAdd(t.turn, 1U);
        }
        __syncthreads();
        const uint32_t tile = turn;
        __syncthreads();
        if (tile >= tiles) {
            return;
        }
        move_tile(t, tile, n);
    }
}

/* ---- numbers ----------------------------------------------------------------------------------- */

__global__ void __launch_bounds__(THREADS) count_images(const filter_task t)
{
    const uint32_t n = t.first[t.images], i = blockIdx.x * (uint32_t)THREADS + threadIdx.x;
    if (i <= t.images) {
        const uint32_t at = t.first[i], tiles = (n + TILE - 1) / TILE;
        t.new_first[i] = n > t.limit ? at : at < n ? t.table[at] / 2 : t.before[tiles];
    }
}

struct renumber_task {
    extent size;
    rows labels;
};

__global__ void __launch_bounds__(THREADS) renumber(const filter_task t, const renumber_task r)
{
    const stretch s = stretch_of_warp(r.size);
    if (!s.here || rows_of(t) == 0) {
        return;
    }
    uint32_t *labels = (uint32_t *)const_cast<char *>(row_of(r.labels, s.image, s.y));
    const uint32_t at = t.first[s.image] - 1, new_at = t.new_first[s.image] - 1;
    const uint32_t first = s.x + threadIdx.x % WARP;
    uint32_t label[STEPS], entry[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t x = first + (uint32_t)(k * WARP);
        label[k] = x < r.size.width ? labels[x] : 0;
    }
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        entry[k] = label[k] != 0 ? t.table[at + label[k]] : 0;
    }
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const uint32_t fresh = (entry[k] & 1) != 0 ? entry[k] / 2 - new_at : 0;
        if (fresh != label[k]) {
            labels[first + (uint32_t)(k * WARP)] = fresh;
        }
    }
}

__global__ void __launch_bounds__(THREADS) write_first(const filter_task t)
{
    const uint32_t i = blockIdx.x * (uint32_t)THREADS + threadIdx.x;
    if (i <= t.images) {
        t.first[i] = t.new_first[i];
    }
}

/* ---- working memory ---------------------------------------------------------------------------- */

size_t padded(size_t entries)
{
    return (entries * sizeof(uint32_t) + ALIGN - 1) / ALIGN * ALIGN / sizeof(uint32_t);
}

size_t tiles_of(size_t rows)
{
    return (rows + TILE - 1) / TILE;
}

filter_task task_of(const slc_image_cuda_job *job, const slc_image_label_config *config, size_t rows,
                    void *work)
{
    filter_task t = {};
    t.columns = job->columns;
    t.keep = rule{config->min_area, config->max_area, job->width - 1, job->height - 1, config->border};
    t.first = job->first;
    t.images = job->images;
    t.limit = job->limit < rows ? job->limit : (uint32_t)rows;
    t.table = (uint32_t *)work;
    t.before = t.table + padded(rows);
    t.loaded = t.before + padded(tiles_of(rows) + 1);
    t.turn = t.loaded + tiles_of(rows);
    t.new_first = t.loaded + padded(tiles_of(rows) + 1);
    return t;
}

} // namespace

size_t slc_image_cuda_filter_bound(const slc_image_cuda_job *job, size_t rows)
{
    return sizeof(uint32_t) *
           (padded(rows) + 2 * padded(tiles_of(rows) + 1) + padded((size_t)job->images + 1));
}

slc_status slc_image_cuda_filter(const slc_image_cuda_job *job, const slc_image_label_config *config,
                                 size_t rows, void *work, slc_error *error)
{
    if (job->columns.area == nullptr || job->columns.x_min == nullptr) {
        return slc_fail(error, SLC_ERR_USAGE, "components are dropped by their features, and there are none");
    }
    const filter_task t = task_of(job, config, rows, work);
    const renumber_task r = {
        extent{job->width, job->height, job->images},
        slc_image_rows::rows{(const char *)job->labels, job->label_stride, job->label_image_stride}};
    const size_t tiles = tiles_of(rows), most = (size_t)job->multiprocessors * PER_PROCESSOR;
    const uint32_t blocks = (uint32_t)(tiles < most ? tiles + (tiles == 0) : most);
    const uint32_t image_blocks = job->images / THREADS + 1;
    const slc_status cleared = slc_cuda_check(
        cudaMemsetAsync(t.loaded, 0, (tiles + 1) * sizeof *t.loaded, job->stream), "clearing tiles", error);
    if (cleared != SLC_OK) {
        return cleared;
    }
    SLC_LAUNCH((count_kept), blocks, THREADS, 0, job->stream, t);
    SLC_LAUNCH((add_counts), 1, ADD_THREADS, 0, job->stream, t);
    SLC_LAUNCH((move_rows), blocks, THREADS, 0, job->stream, t);
    SLC_LAUNCH((count_images), image_blocks, THREADS, 0, job->stream, t);
    if (job->labels != nullptr) {
        SLC_LAUNCH((renumber), blocks_for(r.size), THREADS, 0, job->stream, t, r);
    }
    SLC_LAUNCH((write_first), image_blocks, THREADS, 0, job->stream, t);
    return slc_cuda_check(cudaGetLastError(), "launching the filter of components", error);
}
