/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a labeller's work on GPUs. image_label.c checks what it is given and hands one job for
 * each side over by way of the table at the end, as to the engines of the processor.
 */
#ifndef SLUICE_IMAGE_CUDA_ENGINE_H
#define SLUICE_IMAGE_CUDA_ENGINE_H

#include "image/image_job.h"

#include <sluice/image_label.h>

typedef struct slc_image_cuda slc_image_cuda;

/* config->exec.device names the devices, config->algorithm the algorithm (NULL, "auto": the first). */
slc_status slc_image_cuda_open(const slc_image_label_config *config, slc_image_cuda **engine,
                               slc_error *error);
void slc_image_cuda_close(slc_image_cuda *engine); /* NULL is allowed */
slc_status slc_image_cuda_reserve(slc_image_cuda *engine, size_t width, size_t height, slc_error *error);
slc_status slc_image_cuda_run(slc_image_cuda *engine, const slc_image_job *job, slc_error *error);
/* n images that are alike, for slc_image_label_batch. */
slc_status slc_image_cuda_run_batch(slc_image_cuda *engine, const slc_image_job *jobs, size_t n, size_t *done,
                                    slc_error *error);
/* slc_image_cuda_work_bound and slc_image_cuda_enqueue of the labeller's engine. */
size_t slc_image_cuda_task_bound(const slc_image_cuda *engine, const slc_image_cuda_task *task);
slc_status slc_image_cuda_task_enqueue(const slc_image_cuda *engine, const slc_image_cuda_task *task,
                                       void *work, size_t work_bytes, void *stream, slc_error *error);
/* The GPU's engine of a labeller, NULL on the processor (image_label.c). */
slc_image_cuda *slc_image_label_cuda(const slc_image_labeller *labeller);

/* One line on what algorithm number `algorithm` is and where it is from, as slc_image_cuda_algorithm_name
 * counts.
 */
const char *slc_image_cuda_algorithm_text(size_t algorithm);

/* ---- for measurements ---- */

/* Times the kernels alone by the device's clock: the image is put on the device once, `repetitions` runs are
 * made as one graph each, before each of which `flush` bytes of other memory are written so that the image is
 * not in the caches, and the output is poisoned once. seconds[i] of each run; *n_labels of the last. Where
 * `labels` no features are made, unless features are asked for in the configuration. */
typedef struct slc_image_cuda_timing {
    uint32_t repetitions;
    size_t flush_bytes; /* 0: warm */
    bool labels;
    bool raw;        /* slc_image_cuda_job.raw */
    double *seconds; /* repetitions */
    uint32_t n_labels;
    uint32_t launches; /* kernels in one run */
} slc_image_cuda_timing;
slc_status slc_image_cuda_time(slc_image_cuda *engine, const slc_image *image, slc_image_cuda_timing *timing,
                               slc_error *error);

/* ---- the table (cuda_engines.h) ---- */

struct slc_image_cuda_calls {
    __typeof__(slc_image_cuda_open) *open;
    __typeof__(slc_image_cuda_close) *close;
    __typeof__(slc_image_cuda_reserve) *reserve;
    __typeof__(slc_image_cuda_run) *run;
    __typeof__(slc_image_cuda_run_batch) *run_batch;
    __typeof__(slc_image_cuda_task_bound) *task_bound;
    __typeof__(slc_image_cuda_task_enqueue) *task_enqueue;
    __typeof__(slc_image_cuda_time) *time;
};
extern const struct slc_image_cuda_calls slc_image_cuda_calls;

#endif
