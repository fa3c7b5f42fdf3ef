/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the labelling of volumes: rows as lists of spans of voxels, and which spans of two rows are joined.
 * Slower than rows of bits; for volumes that come slice by slice, and for borders that are joined.
 */
#ifndef SLUICE_IMAGE_VOLUME_SPANS_H
#define SLUICE_IMAGE_VOLUME_SPANS_H

#include <sluice/image_volume.h>

typedef struct slc_volume_span {
    uint32_t first, behind; /* columns */
    uint32_t label;
    uint64_t value; /* of equal values; else always the same */
} slc_volume_span;

/* A row of spans, from the left. */
typedef struct slc_volume_spans {
    slc_volume_span *at;
    size_t n;
} slc_volume_spans;

/* Rows that come before a row: those at (y - 1, z), and at y, y - 1 and y + 1 of z - 1. Each joins the row
 * with voxels in the same column, where `reach` is 1 with those in the next columns, too. */
enum { SLC_VOLUME_STEPS = 4 };
typedef struct slc_volume_step {
    int y, z;
    bool joins;
    uint32_t reach;
} slc_volume_step;
slc_volume_step slc_volume_step_of(uint32_t connectivity, int number);

/* A row or slice of the volume by one step from `at`: false where there is none. `wraps` is set where it is
 * on the other side of the volume. */
bool slc_volume_step_to(size_t at, int step, size_t side, bool periodic, size_t *to, bool *wraps);

typedef void (*slc_volume_unite)(void *context, slc_volume_span *a, slc_volume_span *b);

/* Calls `unite` for all spans of a row and of one that comes before it which are joined, at least once for
 * each two. */
void slc_volume_spans_join(slc_volume_spans row, slc_volume_spans other, uint32_t reach,
                           slc_volume_unite unite, void *context);
/* The same for the first and the last column, as neighbours over the border of a periodic volume; of rows
 * that are joined with the next columns, and of a row with itself. */
void slc_volume_spans_wrap(slc_volume_spans row, slc_volume_spans other, size_t width, slc_volume_unite unite,
                           void *context);

/* Of volumes of equal values: the value of a voxel of a row. */
uint64_t slc_volume_value(const void *row, slc_image_type type, size_t x);

#endif
