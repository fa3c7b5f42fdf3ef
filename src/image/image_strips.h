/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: everything around an algorithm that labels strips of bytes (image_algorithm.h): pixels
 * of other types, strips for threads, the merge of their borders, filters, features, label images of other
 * types.
 */
#ifndef SLUICE_IMAGE_STRIPS_H
#define SLUICE_IMAGE_STRIPS_H

#include "image/image_algorithm.h"
#include "image/image_job.h"

typedef struct slc_image_strips slc_image_strips;

/* The configuration must be a checked one, its threads counted from 1, and live as long. SLC_ERR_MEMORY. */
slc_status slc_image_strips_open(const slc_image_label_config *config, const slc_image_algorithm *algorithm,
                                 slc_image_strips **strips);
slc_status slc_image_strips_reserve(slc_image_strips *strips, size_t width, size_t height);
void slc_image_strips_close(slc_image_strips *strips);

/* Does the whole job, of a shape that was reserved. Errors as slc_image_label_run tells. */
slc_status slc_image_strips_run(slc_image_strips *strips, const slc_image_job *job, slc_error *error);

#endif
