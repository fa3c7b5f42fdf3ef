/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a configuration of masks as a caller gave it.
 */
#ifndef SLUICE_IMAGE_MASK_PART_H
#define SLUICE_IMAGE_MASK_PART_H

#include <sluice/image_mask.h>

/* The defaults with what is given over them; SLC_ERR_USAGE if that is not as image_mask.h tells. `low`, if it
 * is not NULL, is in the place of what is given. */
slc_status slc_image_mask_take(const slc_image_mask_config *given, const double *low,
                               slc_image_mask_config *own, slc_error *error);

/* Has the rule no threshold for all pixels? */
static inline bool slc_image_mask_is_local(slc_image_rule rule)
{
    return rule == SLC_IMAGE_RULE_MEAN || rule == SLC_IMAGE_RULE_SAUVOLA;
}

#endif
