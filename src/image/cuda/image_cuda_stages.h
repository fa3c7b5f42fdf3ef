/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: what is done before and after an algorithm of labelling, for all
 * of them. Everything is enqueued into the stream, and all pointers are to the device's memory.
 */
#ifndef SLUICE_IMAGE_CUDA_STAGES_H
#define SLUICE_IMAGE_CUDA_STAGES_H

#include "image/cuda/image_cuda_job.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- before ------------------------------------------------------------------------------------ */

/* Pixels of any type to rows of bits (width rounded up to 64 pixels a row, unused bits 0) or to bytes 0 and 1
 * (row behind row without gaps), the foreground being at or above the threshold as on the processor, or below
 * with inverse. `task` gives pixels, strides, type and sizes. */
slc_status slc_image_cuda_pack_bits(const slc_image_cuda_task *task, double threshold, bool inverse,
                                    uint64_t *bits, struct CUstream_st *stream, slc_error *error);
slc_status slc_image_cuda_pack_bytes(const slc_image_cuda_task *task, double threshold, bool inverse,
                                     uint8_t *bytes, struct CUstream_st *stream, slc_error *error);

/* ---- after ------------------------------------------------------------------------------------- */

/* Drops components by area and border (slc_image_label_config) and numbers the others anew: rows of `columns`
 * move up, label images are changed in place (job->labels may be NULL), first[] counts what is left. Nothing
 * is done where first[images] was over job->limit. Work: slc_image_cuda_filter_bound(job, rows) bytes, rows
 * being the most components that there can be. */
size_t slc_image_cuda_filter_bound(const slc_image_cuda_job *job, size_t rows);
slc_status slc_image_cuda_filter(const slc_image_cuda_job *job, const slc_image_label_config *config,
                                 size_t rows, void *work, slc_error *error);

/* Fills the columns of `components` (device memory, those of `features` that are not NULL) which algorithms
 * do not make: centroid, second moments, perimeter, Euler number, grey sums. The centroid needs job->columns
 * (area and sums), all others job->labels. `grey` are the grey values, integers (SLC_ERR_UNSUPPORTED for
 * floats); NULL where they are not asked for. Row r of `components` is row r of job->columns, after the
 * filter. Nothing is done where first[images] is over job->limit. Work: at present none.
 *
 * The shape is not made here: its square roots and angles are those of the C library, to the last bit.
 * Whoever has copied the columns to the host calls slc_image_features_end(SLC_IMAGE_SHAPE, components, base,
 * n, type) of image_features.h there, for which area, sums and second moments must have come along: ask this
 * for slc_image_features_needed(features) (in which the flag of the shape is ignored), with device columns
 * for all of them. */
size_t slc_image_cuda_extra_bound(const slc_image_cuda_job *job, uint32_t features, size_t rows);
slc_status slc_image_cuda_extra(const slc_image_cuda_job *job, uint32_t features,
                                const slc_image_cuda_task *grey, const slc_image_components *components,
                                void *work, slc_error *error);

/* Label images of 16 bits from those of 32. */
slc_status slc_image_cuda_narrow(const slc_image_cuda_job *job, uint16_t *labels, ptrdiff_t stride,
                                 size_t image_stride, slc_error *error);

/* Replaces every label l of width · height by table[l]; job->labels, of one image. */
slc_status slc_image_cuda_relabel(const slc_image_cuda_job *job, const uint32_t *table, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
