/* SPDX-License-Identifier: Apache-2.0
 *
 * One side of one image (its foreground or its background) to be labelled: what image_label.c hands to
 * whoever does the work.
 */
#ifndef SLUICE_IMAGE_JOB_H
#define SLUICE_IMAGE_JOB_H

#include "base/team.h"

#include <sluice/image_label.h>

typedef struct slc_image_job {
    const slc_image_label_config *config; /* checked; its connectivity is that of the foreground */
    uint32_t connectivity;                /* of this side */
    bool inverse;                         /* this side is the background */
    const slc_image *image, *grey;        /* checked; grey is never NULL where SLC_IMAGE_GREY is asked for */
    bool again;                           /* image and grey are those of the job before, unchanged */
    slc_image_labels *out;
    slc_team *team; /* config.exec.threads threads, counted from 1 */
} slc_image_job;

#endif
