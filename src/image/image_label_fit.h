/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling with room for components that is made as it is needed.
 */
#ifndef SLUICE_IMAGE_LABEL_FIT_H
#define SLUICE_IMAGE_LABEL_FIT_H

#include <sluice/image_label.h>

/* slc_image_label_run of the foreground, or with `inverse` of the background, of a labeller with that
 * configuration. The components of *out, if any, are emptied first and get room for nearly any image; one
 * that has more is labelled again. *seconds: labelling alone, of all attempts. */
slc_status slc_image_label_fit(slc_image_labeller *labeller, const slc_image_label_config *config,
                               const slc_schema *schema, const slc_image *image, const slc_image *grey,
                               bool inverse, slc_image_labels *out, double *seconds, slc_error *error);

#endif
