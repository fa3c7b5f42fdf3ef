/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: a label image, or a label volume, while it is measured.
 */
#ifndef SLUICE_IMAGE_MEASURE_PART_H
#define SLUICE_IMAGE_MEASURE_PART_H

#include "image/image_hull.h"

#include <sluice/image_measure.h>
#include <sluice/image_volume.h>

/* What is summed of a region beside its columns. */
typedef struct slc_image_outline {
    uint64_t runs;            /* rows' lines enter it so often */
    uint64_t above;           /* pixels with one of it above them */
    uint64_t falling, rising; /* and to the left, or the right, of that */
    uint64_t contacts;        /* of runs with runs of the row above */
} slc_image_outline;

typedef struct slc_image_measuring {
    uint32_t features, connectivity;
    const slc_image *image, *grey;
    slc_volume volume; /* the labels; of an image its one slice */
    /* Runs, row behind row; `value` is the label, and the number of its row in the table, from 1, later. */
    uint32_t *first, *behind, *value;
    size_t n_runs, capacity;
    size_t *row_at; /* of each row, slice after slice, the first run, and behind the last */
    uint64_t *bits; /* of a row, where its pixels are not as those before */
    uint8_t *bytes; /* a row of bits as bytes */
    /* Labels: of each its row in the table, or, where they are far apart, all of them, rising. */
    uint32_t *table, *labels;
    uint32_t n, largest;
    /* Of each region: sums, rows of pixels. */
    slc_image_components found;
    slc_image_outline *outlines;
    size_t *spans_at;
    slc_image_span *spans;
    slc_image_hull hull, whole;
} slc_image_measuring;

/* Of m->volume: sets n, labels and the runs, whose values are then numbers of rows, from 1. */
slc_status slc_image_measure_runs(slc_image_measuring *m, slc_error *error);
/* Frees runs and labels, also after an error. */
void slc_image_measure_runs_clear(slc_image_measuring *m);

#endif
