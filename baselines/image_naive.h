/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library, in builds with CUDA: the last steps of labelling and analysis with a thread for each
 * pixel. They are those of the naive algorithm, and the same for Playne's and Cabaret's, whose papers end
 * with a search for the root of every pixel and know no features.
 */
#ifndef SLUICE_IMAGE_NAIVE_H
#define SLUICE_IMAGE_NAIVE_H

#include "image/cuda/image_cuda_number.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All foreground pixels must be nodes of numbers->table. Makes what the job asks for: first[], labels,
 * columns. */
slc_status slc_image_naive_finish(const slc_image_cuda_job *job, const slc_image_cuda_numbers *numbers,
                                  slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
