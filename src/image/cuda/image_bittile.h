/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: the memory of `bittile`, this library's own algorithm, which its
 * kernels share: image_bittile_local.cu makes components within tiles, image_bittile_merge.cu joins them
 * across the tiles' borders, image_cuda_scan.cu numbers them, image_bittile_write.cu writes labels and
 * image_bittile_features.cu features. No kernel but the first reads pixels.
 *
 * A tile is 64 columns by 32 strips, a strip being 2 rows when 8-connected and 1 row when 4-connected, and is
 * the work of one warp (in small images of four): lane s has strip s. Nodes are runs: of set bits of the OR
 * of the strip's rows (they are connected within the strip, as columns next to each other that are not empty
 * always touch). A strip has at most 32 of them, a tile 1024; they are numbered from 0, strip after strip and
 * from the left.
 */
#ifndef SLUICE_IMAGE_BITTILE_H
#define SLUICE_IMAGE_BITTILE_H

#include "image/cuda/image_cuda_job.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLC_IMAGE_BITTILE_RUNS = 1024, /* places for the runs of a tile */
    SLC_IMAGE_BITTILE_SLOTS =
        128, /* and for its components at inner borders, of which there are at most 126 */
    SLC_IMAGE_BITTILE_NO_SLOT = 255,
    SLC_IMAGE_BITTILE_TOP = 0, /* edges */
    SLC_IMAGE_BITTILE_BOTTOM = 1,
    SLC_IMAGE_BITTILE_LEFT = 2,
    SLC_IMAGE_BITTILE_RIGHT = 3,
    SLC_IMAGE_BITTILE_EDGES = 4,
    /* runs[]: a run whose component of the tile has an earlier run is that root's number. A root has ROOT and
     * the place of the component's first pixel in the tile (row · 64 + column); or ROOT, BORDER and its slot,
     * where the component reaches a border behind which there is a tile of the same image. */
    SLC_IMAGE_BITTILE_ROOT = 0x8000,
    SLC_IMAGE_BITTILE_BORDER = 0x4000,
    SLC_IMAGE_BITTILE_SHARED =
        0x2000, /* of roots, if has_features: the component has further runs in the tile */
    SLC_IMAGE_BITTILE_PLACE = 0x0fff
};

/* All on the device. With R = rows, tiles = images · tiles_y · tiles_x, units as in image_cuda_job.h, bytes
 * are tiles · (8 R + 2048 + 256 + 1024 + 4) + units · (8 + 4) and what the scan needs, about 1.0 a pixel when
 * 8-connected and 1.9 when 4-connected, for large images; with features tiles · (2 R + 12288) more, 3 a pixel
 * and 6. */
typedef struct slc_image_bittiles {
    uint32_t rows;             /* of a tile: 64, 32 */
    uint32_t tiles_x, tiles_y; /* of an image */
    uint32_t tiles;            /* of all; tile (image · tiles_y + y) · tiles_x + x; at most 2^25 */
    uint32_t units;
    uint64_t *bits;   /* [tile][rows]: foreground; 0 beyond the image */
    uint16_t *runs;   /* [tile][1024], the first of them set */
    uint32_t *counts; /* [tile]: how many runs, and << 16 how many slots */
    uint8_t *edges;  /* [tile][4][64]: the slot of every pixel of the top row, the bottom row, the left column
                        and the right column, 255 for background; only edges with a tile behind them are set */
    uint64_t *nodes; /* [tile · 128 + slot] = key << 32 | node: key and number (tile · 128 + slot) of an
                        earlier or the same node of the same component, key being that of the node's first
                        pixel in its tile. It is the same for roots, whose key is that of the component. */
    uint64_t *roots; /* [unit]: after the local kernel first pixels within tiles, after the merge of all */
    uint32_t *prefix; /* [unit], after the scan */
    void *scan;       /* slc_image_cuda_scan_bound bytes */
    void *features;   /* slc_image_bittile_features_bound bytes, if has_features */
} slc_image_bittiles;

/* The kernels in their order. The first clears the scan's work; the scan also lets all nodes point to their
 * roots. */
slc_status slc_image_bittile_local(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                   slc_error *error);
slc_status slc_image_bittile_merge(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                   slc_error *error);
slc_status slc_image_bittile_scan(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                  slc_error *error);
slc_status slc_image_bittile_write(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                   slc_error *error);

/* Bytes for the features of a job (only sizes of `tiles` are set), a multiple of 256; called for jobs with
 * has_features alone. */
size_t slc_image_bittile_features_bound(const slc_image_cuda_job *job, const slc_image_bittiles *tiles);
/* After the scan: all columns of job->columns. Whatever it needs cleared, it clears itself. */
slc_status slc_image_bittile_features(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                      slc_error *error);

/* The end of it, in a file of its own (image_bittile_rows.cu): columns from what is known by tiles. */
slc_status slc_image_bittile_rows(const slc_image_cuda_job *job, const slc_image_bittiles *tiles,
                                  slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
