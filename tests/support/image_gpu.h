/* SPDX-License-Identifier: Apache-2.0
 *
 * What tests of labelling on a GPU share: is there one (or what tests/simt calls one), memory on it, how much
 * a test can afford there, and configurations drawn at random that an algorithm can do.
 */
#ifndef TESTS_SUPPORT_IMAGE_GPU_H
#define TESTS_SUPPORT_IMAGE_GPU_H

#include "cuda/cuda_stream.h"
#include "support/image_run.h"

#include <sluice/image_label.h>

/* The features that every algorithm of analysis makes, and those that come from them alone. */
enum {
    IMAGE_GPU_MADE = SLC_IMAGE_AREA | SLC_IMAGE_BOX | SLC_IMAGE_FIRST | SLC_IMAGE_SUMS,
    IMAGE_GPU_PLAIN = IMAGE_GPU_MADE | SLC_IMAGE_CENTROID
};

/* False, and a line that says why, where there is no device: the program then ends with 77. */
bool image_gpu_there(void);
/* Before the program ends. */
void image_gpu_done(void);

/* So many of n cases as there is time for: all on a GPU, a tenth where SLUICE_TEST_SMALL is set, as for
 * compute-sanitizer, and fewer still where fibers play the GPU, and again with sanitizers. At least 1. */
size_t image_gpu_count(size_t n);
/* The same as a step, odd, so that all bits of what is counted vary. */
size_t image_gpu_step(void);
/* The highest of 1 … n that the device has time for, as a side of an image. */
size_t image_gpu_side(size_t n);

size_t image_gpu_algorithms(void);
/* All of them, or the one that the environment variable SLUICE_TEST_ALGORITHM names. */
bool image_gpu_wanted(size_t algorithm);

/* Memory on the device with what is in the host's memory, or poisoned where `from` is NULL. */
void *image_gpu_upload(const void *from, size_t bytes);
void image_gpu_download(void *to, const void *from, size_t bytes);
void image_gpu_free(void *memory);
slc_cuda_stream *image_gpu_stream(void);

/* Labels the foreground with the image (1), the labels (2) and the components (4) on the device, those of
 * which the bit is in `places`, and compares everything with the oracle. Grey values are the image's. */
void image_gpu_run_expect(slc_image_labeller *labeller, const slc_image_label_config *config,
                          const image_input *input, image_wish wish, uint32_t places, uint64_t *seed);

/* Draws a configuration for an algorithm, and what is wanted of it. */
void image_gpu_draw(size_t algorithm, slc_image_type type, slc_image_label_config *config, image_wish *wish,
                    uint64_t *seed);
slc_image_type image_gpu_type(uint64_t *seed);
/* A shape of 1 x 1 to about `most` x `most`, often about whole words. */
void image_gpu_shape(size_t most, size_t *width, size_t *height, uint64_t *seed);

#endif
