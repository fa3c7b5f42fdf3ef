/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the labelling of volumes: which components are kept, by their features.
 */
#ifndef SLUICE_IMAGE_VOLUME_KEEP_H
#define SLUICE_IMAGE_VOLUME_KEEP_H

#include "base/columns_filter.h"
#include <sluice/image_volume.h>

typedef struct slc_volume_keep {
    bool some;         /* not all are kept */
    uint32_t features; /* that it looks at */
    uint64_t min_volume, max_volume;
    slc_image_border border;
    uint32_t periodic, largest;
    slc_columns_filter filter;
} slc_volume_keep;

/* What a configuration asks for; SLC_ERR_USAGE. */
slc_status slc_volume_keep_take(const slc_volume_config *config, slc_volume_keep *keep, slc_error *error);
/* Is this row kept, but for `largest`? It has the features that `keep` looks at. */
bool slc_volume_keep_holds(const slc_volume_keep *keep, const slc_volume *volume,
                           const slc_volume_components *found, size_t row);
/* Of the rows whose byte is not 0 the largest; the others' become 0. False if there is no memory. */
bool slc_volume_keep_largest(const uint64_t *volumes, size_t n, uint32_t largest, uint8_t *keeps);
/* Which rows are kept: 1 or 0 for each. False if there is no memory. */
bool slc_volume_keep_choose(const slc_volume_keep *keep, const slc_volume *volume,
                            const slc_volume_components *found, uint8_t *keeps);

#endif
