/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: components of rows of bits that are taken out of them, or holes put in, by what they
 * weigh. No labels are made: what is kept of a component is one number for each of its runs.
 */
#ifndef SLUICE_IMAGE_SIEVE_H
#define SLUICE_IMAGE_SIEVE_H

#include "base/team.h"
#include "image/image_kernels.h"
#include "image/image_level.h"

typedef struct slc_image_sieve {
    unsigned char *mask; /* rows of bits, which are changed */
    ptrdiff_t stride;
    size_t width, height;
    uint32_t connectivity; /* of the components that are looked at */
    /* Either: components of the foreground without a pixel of `seeds` at this level are taken out. */
    const slc_image *seeds;
    slc_image_level level;
    /* Or, where seeds is NULL: components of the background with up to so many pixels, none of them in the
     * first or last row or column, are put in. */
    uint64_t most;
    const slc_image_kernels *kernels;
    slc_team *team; /* NULL: the caller alone */
    uint32_t strips;
} slc_image_sieve;

/* SLC_ERR_UNSUPPORTED, SLC_ERR_MEMORY: the mask is as it was. */
slc_status slc_image_sieve_run(const slc_image_sieve *sieve, slc_error *error);

#endif
