/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's own algorithm: rows to bit rows, 64 pixels a word; runs of foreground are found, compared
 * with the runs above and united by operations on whole words and vectors; a second pass writes labels.
 * Labels and features come from the same pass, and either can be had without the other.
 */
#ifndef SLUICE_IMAGE_BITRUN_H
#define SLUICE_IMAGE_BITRUN_H

#include "image/image_job.h"

typedef struct slc_image_bitrun slc_image_bitrun;

/* The configuration must be a checked one. SLC_ERR_MEMORY. */
slc_status slc_image_bitrun_open(const slc_image_label_config *config, slc_image_bitrun **bitrun);
/* The limits of the shape are checked by the caller. After a failure it can do nothing until it is reserved
 * again. */
slc_status slc_image_bitrun_reserve(slc_image_bitrun *bitrun, size_t width, size_t height);
void slc_image_bitrun_close(slc_image_bitrun *bitrun);

/* Does the whole job: labels, filters, components. Errors as slc_image_label_run tells, for capacity alone.
 */
slc_status slc_image_bitrun_run(slc_image_bitrun *bitrun, const slc_image_job *job, slc_error *error);

#endif
