/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling and analysis of dense images on NVIDIA GPUs: the algorithms there are, and labelling of what is
 * on the device already, in a stream of the caller's. Whoever has images in the host's memory uses
 * image_label.h with config.device = "cuda". The functions are in every build; without CUDA a labeller for a
 * GPU cannot be opened, and says why.
 *
 * Algorithms: sections 4.3 and 4.4 of A. Hennequin's thesis (2022) with the baselines that it compares, and
 * `bittile`, which is this library's own and what "auto" takes. Results are those of the processor, bit for
 * bit: labels consecutive from 1 in the raster order of first pixels, features exact in integers.
 */
#ifndef SLUICE_IMAGE_CUDA_H
#define SLUICE_IMAGE_CUDA_H

#include <sluice/image_label.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The algorithms by number, from 0; NULL beyond the last. "naive", "playne", "dlp", "ha4-32", "flsl" … */
SLC_API const char *slc_image_cuda_algorithm_name(size_t algorithm);
/* One line on what it is and where it is from. */
SLC_API const char *slc_image_cuda_algorithm_text(size_t algorithm);
/* Can it make a label image? Features (area, box, first pixel, sums)? At least one of them. */
SLC_API bool slc_image_cuda_algorithm_labels(size_t algorithm);
SLC_API bool slc_image_cuda_algorithm_features(size_t algorithm);

/* Images that are on the device, all of one size and type. */
typedef struct slc_image_cuda_task {
    const void
        *pixels; /* of image 0; image i is i · image_stride bytes further, its rows stride bytes apart */
    ptrdiff_t stride;
    size_t image_stride; /* not used with one image */
    slc_image_type type;
    size_t width, height, images;
    uint32_t *labels; /* as pixels; NULL: no label images. Strides are multiples of 4. */
    ptrdiff_t label_stride;
    size_t label_image_stride;
    /* Columns in the device's memory for config.features, which may be area, box, first, sums and centroid
     * here. Rows from 0 up are those of all images in turn; head.capacity says how many fit, and the rest of
     * the head is not used. NULL: none. */
    const slc_image_components *components;
    /* images + 1 numbers on the device: image i has the components from row first[i] to before first[i + 1],
     * labelled from 1. Where first[images] is more than fit into `components`, nothing else was written. */
    uint32_t *first;
} slc_image_cuda_task;

/* Bytes of working memory on the device for a task of that shape; 0 where it is too large for one task
 * (2^32 pixels, with the width rounded up to a multiple of 64). */
SLC_API size_t slc_image_cuda_work_bound(const slc_image_labeller *labeller, const slc_image_cuda_task *task);

/* Enqueues the labelling of the foreground into `stream` (a cudaStream_t of the labeller's device; NULL: the
 * default stream) and returns at once; it can be captured into a graph, but the first call on a device must
 * not be, as the runtime then loads the kernels. `work`: slc_image_cuda_work_bound bytes on the device,
 * aligned to 256. Filters (areas, border) of the configuration must not be set. The labeller's device is the
 * calling thread's afterwards. SLC_ERR_USAGE and SLC_ERR_UNSUPPORTED as slc_image_label_run, also for a
 * labeller that is not on one GPU. */
SLC_API slc_status slc_image_cuda_enqueue(slc_image_labeller *labeller, const slc_image_cuda_task *task,
                                          void *work, size_t work_bytes, void *stream, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
