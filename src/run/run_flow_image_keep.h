/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the chain of images: which components are kept, by any of their features.
 */
#ifndef SLUICE_RUN_FLOW_IMAGE_KEEP_H
#define SLUICE_RUN_FLOW_IMAGE_KEEP_H

#include "base/columns_filter.h"

#include <sluice/run_flow.h>

typedef struct slc_flow_image_keep {
    bool some;         /* not all are */
    uint32_t features; /* that are asked for, and those that decide */
    slc_columns_filter filter;
    uint32_t largest;
    bool regions;
} slc_flow_image_keep;

/* SLC_ERR_USAGE for a filter that is none. */
slc_status slc_flow_image_keep_open(slc_flow_image_keep *keep, const slc_flow_image_setup *setup,
                                    slc_error *error);
/* Those of `found`, an event with columns of keep->features, that are kept become the event of
 * result->components; others leave the label image, if there is one, and are counted. */
slc_status slc_flow_image_keep_run(const slc_flow_image_keep *keep, const slc_image_components *found,
                                   const slc_schema *schema, slc_flow_image_result *result, slc_error *error);

#endif
