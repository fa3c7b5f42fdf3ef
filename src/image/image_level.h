/* SPDX-License-Identifier: Apache-2.0
 *
 * A threshold in the terms of a type of pixels, so that each is compared as what it is: for the rows of bits
 * of the processor (image_bits.h) and of a GPU (image_cuda_pack.cu).
 */
#ifndef SLUICE_IMAGE_LEVEL_H
#define SLUICE_IMAGE_LEVEL_H

#include <sluice/image.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_image_level {
    slc_image_type type;
    bool none;      /* no pixel can reach it */
    uint32_t level; /* of integers: foreground is >= level */
    float real;     /* of floats: foreground is >= real; NaN never is */
} slc_image_level;

/* threshold is not NaN. */
slc_image_level slc_image_level_of(slc_image_type type, double threshold);

#ifdef __cplusplus
}
#endif
#endif
