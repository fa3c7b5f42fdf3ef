/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the engine of labelling on GPUs: an image by strips, between image_cuda_strips.c, which has them
 * labelled, and image_cuda_join.c, which joins what came of it.
 */
#ifndef SLUICE_IMAGE_CUDA_STRIPS_H
#define SLUICE_IMAGE_CUDA_STRIPS_H

#include "image/cuda/image_cuda_plan.h"

typedef struct slc_image_cuda_strips {
    slc_image_cuda *engine;
    const slc_image_job *job;
    const slc_image_cuda_places *places;
    size_t height, n;          /* rows of a strip (the last may have fewer), how many strips */
    size_t step;               /* strip s has entries s · step + label, label 0 included */
    uint32_t *counts, *table;  /* of strips, of entries: parents, then final labels */
    uint32_t *edges;           /* of strip s the labels of its first row and of its last */
    slc_image_components sums; /* rows are entries, later final labels */
    bool has_columns;
    char *labels; /* of strips, on the host or the device; NULL: not wanted */
    ptrdiff_t label_stride;
    bool remote;      /* they are on the device */
    size_t host_rows; /* from the top: rows whose labels are on the host, the others being on a device */
    uint32_t parts;
    uint64_t n_labels;
} slc_image_cuda_strips;

/* From the edges, counts and columns of strips to final labels in the table, and the sums of whole components
 * in rows 1 … n_labels of the columns. */
void slc_image_cuda_strips_join(slc_image_cuda_strips *strips);

#endif
