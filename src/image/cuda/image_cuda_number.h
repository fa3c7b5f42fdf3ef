/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: from a table of parents to numbers, for the algorithms of others'
 * papers, which end with the addresses of roots. The steps of such an algorithm are
 *
 *     numbers = slc_image_cuda_numbers_place(job)           tables in job->work
 *     own kernels                                           table[key] = parent's key (image_union.cuh)
 *     slc_image_cuda_numbers_run(job, &numbers)             roots, numbers of them, first[]
 *     own kernel, where job->labels                         slc_image_label_of (image_cuda_number.cuh)
 *     own kernel, where job->has_features                   slc_image_sums_add, at the root's key
 *     slc_image_cuda_numbers_gather(job, &numbers)          from there to the columns
 *
 * Addresses are keys (image_cuda_job.h), with the row padded to 64 pixels, so that a key is its unit and bit
 * without a division. The papers number pixels without padding; where the width is a multiple of 64 that is
 * the same.
 */
#ifndef SLUICE_IMAGE_CUDA_NUMBER_H
#define SLUICE_IMAGE_CUDA_NUMBER_H

#include "image/cuda/image_cuda_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Features by the key of a component's root, an array for each field. The smallest y is the root's own, as
 * section 4.3.4 of the thesis notes. */
typedef struct slc_image_cuda_sums {
    unsigned long long *sum_x, *sum_y;
    uint32_t *area, *x_min, *x_max, *y_max;
} slc_image_cuda_sums;

typedef struct slc_image_cuda_numbers {
    uint32_t *table;  /* a parent for every key; only what the algorithm writes is read */
    uint64_t *roots;  /* units */
    uint32_t *prefix; /* units */
    void *scan;
    slc_image_cuda_sums sums; /* NULL without features */
} slc_image_cuda_numbers;

/* Bytes of the tables: about 4.2 a pixel, 36.2 with features. Whoever needs more puts it behind them: the
 * size is a multiple of 256. */
size_t slc_image_cuda_numbers_bound(const slc_image_cuda_job *job);
slc_image_cuda_numbers slc_image_cuda_numbers_place(const slc_image_cuda_job *job);

/* Finds the roots, which are those first pixels of runs (the left neighbour is background or outside) whose
 * parent is their own key: so the table must be valid there, and is not read elsewhere. Numbers them and
 * writes job->first. Where features are wanted and `clear`, the sums at roots are made empty. For `raw`
 * without features nothing is to be numbered, and nothing is done. */
slc_status slc_image_cuda_numbers_run(const slc_image_cuda_job *job, const slc_image_cuda_numbers *numbers,
                                      bool clear, slc_error *error);
/* Columns of the job from the sums at the roots. */
slc_status slc_image_cuda_numbers_gather(const slc_image_cuda_job *job, const slc_image_cuda_numbers *numbers,
                                         slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
