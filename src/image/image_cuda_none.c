/* SPDX-License-Identifier: Apache-2.0
 * Labelling on GPUs in a build without CUDA: it cannot be opened, and says why. */
#include "image/cuda/image_cuda_engine.h"

static const char reason[] = "built without CUDA";

slc_status slc_image_cuda_open(const slc_image_label_config *config, slc_image_cuda **engine,
                               slc_error *error)
{
    *engine = NULL;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "device \"%s\": %s", config->device, reason);
}

void slc_image_cuda_close(slc_image_cuda *engine)
{
    (void)engine;
}

slc_status slc_image_cuda_reserve(slc_image_cuda *engine, size_t width, size_t height, slc_error *error)
{
    (void)engine;
    (void)width;
    (void)height;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

slc_status slc_image_cuda_run(slc_image_cuda *engine, const slc_image_job *job, slc_error *error)
{
    (void)engine;
    (void)job;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

slc_status slc_image_cuda_run_batch(slc_image_cuda *engine, const slc_image_job *jobs, size_t n, size_t *done,
                                    slc_error *error)
{
    (void)engine;
    (void)jobs;
    (void)n;
    *done = 0;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

slc_status slc_image_cuda_time(slc_image_cuda *engine, const slc_image *image, slc_image_cuda_timing *timing,
                               slc_error *error)
{
    (void)engine;
    (void)image;
    (void)timing;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

size_t slc_image_cuda_work_bound(const slc_image_labeller *labeller, const slc_image_cuda_task *task)
{
    (void)labeller;
    (void)task;
    return 0;
}

slc_status slc_image_cuda_enqueue(slc_image_labeller *labeller, const slc_image_cuda_task *task, void *work,
                                  size_t work_bytes, void *stream, slc_error *error)
{
    (void)labeller;
    (void)task;
    (void)work;
    (void)work_bytes;
    (void)stream;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "the labeller is not on one GPU: %s", reason);
}
