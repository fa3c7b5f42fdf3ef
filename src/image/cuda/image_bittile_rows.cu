/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of `bittile`, the last kernel: rows of columns from the records that image_bittile_features.cu has
 * left with the tiles. A warp takes the first pixels of 32 units at a time, which are neighbours in raster
 * order and so in the columns, lists them, and writes their rows, lane by lane.
 */
#include "cuda/cuda_device.h"
#include "image/cuda/image_bittile_features.cuh"

namespace
{

enum {
    WARPS = 8,
    THREADS = 32 * WARPS,
    MOST = 32 * 32 /* first pixels in 32 units: no two are neighbours in a row */
};

struct rows_job {
    slc_image_bittiles tiles;
    features_memory memory;
    slc_image_cuda_columns columns;
    const uint32_t *first; /* of the image behind the last: how many components there are */
    uint32_t limit, height;
};

/* A lane's unit of 64 pixels. */
struct unit_at {
    uint32_t tile, x, y; /* the first pixel, in the image */
    uint32_t record;     /* of the unit's first component, in the tile */
};

__device__ __forceinline__ unit_at find_unit(const rows_job &job, uint32_t unit)
{
    const uint32_t line = unit / job.tiles.tiles_x, image = line / job.height;
    const uint32_t tile_x = unit - line * job.tiles.tiles_x, y = line - image * job.height;
    const uint32_t tile_y = y / job.tiles.rows;
    const uint32_t tile = (image * job.tiles.tiles_y + tile_y) * job.tiles.tiles_x + tile_x;
    return {tile, tile_x * SLC_IMAGE_BITTILE_WIDTH, y,
            job.memory.bases[static_cast<size_t>(tile) * job.tiles.rows + (y - tile_y * job.tiles.rows)]};
}

/* The component whose first pixel is x, y. */
__device__ __forceinline__ void write_row(const rows_job &job, uint32_t row, uint32_t x, uint32_t y,
                                          uint32_t tile, uint64_t record)
{
    const slc_image_cuda_columns &columns = job.columns;
    const uint32_t left = x - x % SLC_IMAGE_BITTILE_WIDTH, top = y - y % job.tiles.rows;
    columns.first_x[row] = x;
    columns.first_y[row] = y;
    columns.y_min[row] = y;
    if (is_border(record)) {
        const border_sums all =
            job.memory.borders[static_cast<size_t>(tile) * SLC_IMAGE_BITTILE_SLOTS + border_slot(record)];
        columns.area[row] = all.area;
        columns.sum_x[row] = all.x;
        columns.sum_y[row] = all.y;
        columns.x_min[row] = all.x_min;
        columns.x_max[row] = all.x_max;
        columns.y_max[row] = all.y_max;
    } else {
        const tile_share all = share_in(record);
        columns.area[row] = all.area;
        columns.sum_x[row] = all.x + static_cast<uint64_t>(all.area) * left;
        columns.sum_y[row] = all.y + static_cast<uint64_t>(all.area) * top;
        columns.x_min[row] = left + all.x_min;
        columns.x_max[row] = left + all.x_max;
        columns.y_max[row] = top + all.y_max;
    }
}

/* The components that begin in 32 units, of which a lane has `firsts` of its unit; the first of them has that
 * row. */
__device__ void write_units(const rows_job &job, uint32_t unit, uint64_t firsts, uint32_t row, uint16_t *list,
                            uint32_t lane)
{
    uint32_t n, before = slc_image_bittile_sums(slc_image_bittile_count(firsts), lane, &n);
    unit_at at = {0, 0, 0, 0};
    if (firsts != 0) {
        at = find_unit(job, unit);
        at.record -= before;
    }
    for (; firsts != 0; firsts &= firsts - 1) {
        list[before++] = static_cast<uint16_t>(lane << 6 | (__ffsll(static_cast<long long>(firsts)) - 1));
    }
    __syncwarp();
    /* From a multiple of 32 on, so that what a warp writes at once is whole. */
    for (uint32_t i = 0 - row % 32; static_cast<int32_t>(i) < static_cast<int32_t>(n); i += 32) {
        const uint32_t k = i + lane;
        const uint32_t code = k < n ? list[k] : 0, from = code >> 6;
        const uint32_t tile = __shfl_sync(SLC_IMAGE_BITTILE_LANES, at.tile, from);
        const uint32_t x = __shfl_sync(SLC_IMAGE_BITTILE_LANES, at.x, from) + (code & 63U);
        const uint32_t y = __shfl_sync(SLC_IMAGE_BITTILE_LANES, at.y, from);
        const uint32_t record = __shfl_sync(SLC_IMAGE_BITTILE_LANES, at.record, from) + k;
        if (k < n) {
            write_row(job, row + k, x, y, tile,
                      job.memory.records[static_cast<size_t>(tile) * SLC_IMAGE_BITTILE_RUNS + record]);
        }
    }
}

__global__ void __launch_bounds__(THREADS) write_rows(const rows_job job)
{
    __shared__ uint16_t lists[WARPS][MOST];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const uint32_t begin = (blockIdx.x * WARPS + warp) * 32, unit = begin + lane;
    /* These are there since the last kernel but one. */
    const uint32_t row = begin < job.tiles.units ? job.tiles.prefix[begin] : 0;
    const uint64_t firsts = unit < job.tiles.units ? job.tiles.roots[unit] : 0;
    const bool fit = *job.first <= job.limit;
    slc_image_bittile_wait();
    if (fit && __any_sync(SLC_IMAGE_BITTILE_LANES, firsts != 0)) {
        write_units(job, unit, firsts, row, lists[warp], lane);
    }
}

} // namespace

slc_status slc_image_bittile_rows(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                  slc_error *error)
{
    const rows_job task = {
        *tiles, features_layout(*tiles), job->columns, job->first + job->images, job->limit, job->height};
    const uint32_t each = WARPS * 32;
    SLC_IMAGE_BITTILE_LAUNCH(slc_image_bittile_few(job, tiles), false, job->stream, write_rows,
                             (tiles->units + each - 1) / each, THREADS, task);
    return slc_cuda_check(cudaGetLastError(), "launching the writing of features", error);
}
