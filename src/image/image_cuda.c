/* SPDX-License-Identifier: Apache-2.0
 *
 * What image_label.h has for GPUs, on the processor's side: the names of the algorithms, which every build
 * has, and tasks of the caller's stream, which are handed on to the labeller's engine.
 */
#include "cuda/cuda_engines.h"
#include "image/cuda/image_cuda_algorithms.h"
#include "image/cuda/image_cuda_engine.h"

#define ROW(function, name, can, text) {name, text, can},
static const struct {
    const char *name, *text;
    uint32_t can;
} rows[] = {SLC_IMAGE_CUDA_ALGORITHMS(ROW){NULL, NULL, 0}};

enum { LAST = sizeof rows / sizeof *rows - 1 }; /* which is empty */

const char *slc_image_cuda_algorithm_name(size_t algorithm)
{
    return rows[algorithm < LAST ? algorithm : LAST].name;
}

const char *slc_image_cuda_algorithm_text(size_t algorithm)
{
    return rows[algorithm < LAST ? algorithm : LAST].text;
}

bool slc_image_cuda_algorithm_labels(size_t algorithm)
{
    return (rows[algorithm < LAST ? algorithm : LAST].can & SLC_IMAGE_CUDA_LABELS) != 0;
}

bool slc_image_cuda_algorithm_features(size_t algorithm)
{
    return (rows[algorithm < LAST ? algorithm : LAST].can & SLC_IMAGE_CUDA_FEATURES) != 0;
}

size_t slc_image_cuda_work_bound(const slc_image_labeller *labeller, const slc_image_cuda_task *task)
{
    const slc_image_cuda *engine = slc_image_label_cuda(labeller);
    return engine != NULL ? slc_cuda_engines_of(NULL)->image->task_bound(engine, task) : 0;
}

slc_status slc_image_cuda_enqueue(slc_image_labeller *labeller, const slc_image_cuda_task *task, void *work,
                                  size_t work_bytes, void *stream, slc_error *error)
{
    const slc_image_cuda *engine = slc_image_label_cuda(labeller);
    if (engine == NULL) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "the labeller is not on one GPU");
    }
    return slc_cuda_engines_of(NULL)->image->task_enqueue(engine, task, work, work_bytes, stream, error);
}
