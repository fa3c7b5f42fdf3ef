/* SPDX-License-Identifier: Apache-2.0
 *
 * `bittile`, this library's own labelling and analysis on GPUs: rows of bits, tiles of 64 columns with one
 * warp each, and three or four kernels in all (image_bittile.h). This file shares out the working memory and
 * launches the kernels one after the other.
 */
#include "image/cuda/image_bittile.h"
#include "base/block.h"
#include "image/cuda/image_cuda_job.h"

enum { ALIGNMENT = 256 };

/* Nodes are counted in 32 bits. */
static const uint64_t most_tiles = UINT32_MAX / SLC_IMAGE_BITTILE_SLOTS;

/* Sizes of the tiles of a job; false where there are too many, which only images of few rows can have. */
static bool measure(const slc_image_cuda_job *job, slc_image_bittiles *tiles)
{
    *tiles = (slc_image_bittiles){.rows = job->connectivity == 8 ? 64 : 32};
    tiles->tiles_x = slc_image_cuda_units_x(job->width);
    tiles->tiles_y = job->height / tiles->rows + (job->height % tiles->rows != 0 ? 1 : 0);
    const uint64_t all = (uint64_t)tiles->tiles_x * tiles->tiles_y * job->images;
    if (all > most_tiles) {
        return false;
    }
    tiles->tiles = (uint32_t)all;
    tiles->units = slc_image_cuda_units(job);
    return true;
}

/* Shares out `work`, or counts bytes where it is NULL. */
static size_t share_out(const slc_image_cuda_job *job, slc_image_bittiles *tiles, void *work)
{
    const size_t n = tiles->tiles;
    slc_arena a = {.at = work, .align = ALIGNMENT};
    tiles->bits = slc_arena_take(&a, n * tiles->rows, sizeof(uint64_t));
    tiles->runs = slc_arena_take(&a, n * SLC_IMAGE_BITTILE_RUNS, sizeof(uint16_t));
    tiles->counts = slc_arena_take(&a, n, sizeof(uint32_t));
    tiles->edges = slc_arena_take(&a, n * SLC_IMAGE_BITTILE_EDGES, 64);
    tiles->nodes = slc_arena_take(&a, n * SLC_IMAGE_BITTILE_SLOTS, sizeof(uint64_t));
    tiles->roots = slc_arena_take(&a, tiles->units, sizeof(uint64_t));
    tiles->prefix = slc_arena_take(&a, tiles->units, sizeof(uint32_t));
    tiles->scan = slc_arena_take(&a, slc_image_cuda_scan_bound(tiles->units), 1);
    tiles->features = slc_arena_take(&a, job->has_features ? slc_image_bittile_features_bound(job, tiles) : 0,
                                     1);
    return a.used;
}

size_t slc_image_cuda_bittile_bound(const slc_image_cuda_job *job)
{
    slc_image_bittiles tiles;
    return measure(job, &tiles) ? share_out(job, &tiles, NULL) : 0;
}

slc_status slc_image_cuda_bittile_launch(const slc_image_cuda_job *job, slc_error *error)
{
    slc_image_bittiles tiles;
    if (!measure(job, &tiles)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "too many small images for one batch on a GPU");
    }
    share_out(job, &tiles, job->work);
    slc_status status = slc_image_bittile_local(job, &tiles, error);
    if (status == SLC_OK) {
        status = slc_image_bittile_merge(job, &tiles, error);
    }
    if (status == SLC_OK) {
        status = slc_image_bittile_scan(job, &tiles, error);
    }
    if (status == SLC_OK && job->labels != NULL) {
        status = slc_image_bittile_write(job, &tiles, error);
    }
    if (status == SLC_OK && job->has_features) {
        status = slc_image_bittile_features(job, &tiles, error);
    }
    return status;
}
