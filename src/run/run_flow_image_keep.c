/* SPDX-License-Identifier: Apache-2.0
 * Components that are kept by their features, and their labels. */
#include "run/run_flow_image_keep.h"

#include "base/columns.h"
#include "image/image_features.h"

#include <stdlib.h>

slc_status slc_flow_image_keep_open(slc_flow_image_keep *keep, const slc_flow_image_setup *setup,
                                    slc_error *error)
{
    *keep = (slc_flow_image_keep){.some = setup->filter != NULL || setup->largest > 0,
                                  .features = setup->config->features,
                                  .largest = setup->largest,
                                  .regions = setup->regions};
    if (keep->some) {
        keep->features |= SLC_IMAGE_LABEL | (setup->largest > 0 ? SLC_IMAGE_AREA : 0U);
    }
    const slc_status status = setup->filter != NULL
                                  ? slc_columns_filter_parse(setup->filter, &slc_image_components_all, NULL,
                                                             "components", &keep->filter, error)
                                  : SLC_OK;
    for (uint32_t i = 0; i < keep->filter.n && status == SLC_OK; i++) {
        keep->features |= slc_image_feature_of(keep->filter.term[i].column.name);
    }
    return status;
}

/* A component that may be kept, by its number of pixels. */
typedef struct rank {
    uint64_t area;
    size_t row;
} rank;

/* Most pixels first, and of equal ones the first in the table. */
static int compare(const void *a, const void *b)
{
    const rank *one = a, *other = b;
    return one->area != other->area ? (one->area < other->area ? 1 : -1)
                                    : (one->row > other->row) - (one->row < other->row);
}

/* Leaves the largest of those that are kept. */
static bool keep_largest(uint32_t largest, const slc_image_components *found, uint8_t *keeps)
{
    const size_t n = found->head.size;
    rank *ranks = malloc((n + 1) * sizeof *ranks);
    size_t n_kept = 0;
    for (size_t row = 0; row < n && ranks != NULL; row++) {
        if (keeps[row] != 0) {
            ranks[n_kept++] = (rank){found->area[row], row};
        }
    }
    if (n_kept > largest) {
        qsort(ranks, n_kept, sizeof *ranks, compare);
    }
    for (size_t i = largest; i < n_kept; i++) {
        keeps[ranks[i].row] = 0;
    }
    free(ranks);
    return ranks != NULL;
}

static int compare_labels(const void *a, const void *b)
{
    const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;
    return (one > other) - (one < other);
}

/* Labels of regions stay as they are, others are the numbers of rows and become those of kept rows. `becomes`
 * has one for each row. */
static void relabel(const slc_flow_image_keep *keep, const slc_image_components *found,
                    const uint32_t *becomes, slc_flow_image_result *result)
{
    const size_t n = result->image.width * result->image.height;
    uint32_t last = 0, last_becomes = 0; /* neighbours are mostly equal */
    for (size_t i = 0; i < n; i++) {
        const uint32_t label = result->labels[i];
        if (label != last) {
            const uint32_t *place = label == 0 || !keep->regions
                                        ? NULL
                                        : bsearch(&label, found->label, found->head.size, sizeof label,
                                                  compare_labels);
            last = label;
            last_becomes = label == 0      ? 0
                           : place != NULL ? becomes[place - found->label]
                                           : becomes[label - 1];
        }
        result->labels[i] = last_becomes;
    }
}

static bool choose(const slc_flow_image_keep *keep, const slc_image_components *found, uint8_t *keeps)
{
    for (size_t row = 0; row < found->head.size; row++) {
        keeps[row] = slc_columns_filter_holds(&keep->filter, found, row);
    }
    return keep->largest == 0 || keep_largest(keep->largest, found, keeps);
}

static slc_status keep_rows(const slc_flow_image_keep *keep, const slc_image_components *found,
                            const uint8_t *keeps, uint32_t *becomes, const slc_schema *schema,
                            slc_flow_image_result *result)
{
    const size_t n = found->head.size;
    uint32_t kept = 0;
    for (size_t row = 0; row < n; row++) {
        kept += keeps[row];
        becomes[row] = keeps[row] == 0 ? 0 : keep->regions ? found->label[row] : kept;
    }
    slc_columns_reset(&result->components);
    slc_status status = slc_columns_reserve(schema, &result->components, n, 1);
    status = status == SLC_OK ? slc_columns_copy_if(schema, found, keeps, &result->components) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (result->labels != NULL) {
        relabel(keep, found, becomes, result);
    }
    for (uint32_t i = 0; i < kept && result->components.label != NULL && !keep->regions; i++) {
        result->components.label[i] = i + 1;
    }
    result->filtered = (uint32_t)n - kept;
    return SLC_OK;
}

slc_status slc_flow_image_keep_run(const slc_flow_image_keep *keep, const slc_image_components *found,
                                   const slc_schema *schema, slc_flow_image_result *result, slc_error *error)
{
    const size_t n = found->head.size;
    uint8_t *keeps = malloc(n + 1);
    uint32_t *becomes = malloc((n + 1) * sizeof *becomes);
    slc_status status = SLC_ERR_MEMORY;
    if (keeps != NULL && becomes != NULL && choose(keep, found, keeps)) {
        status = keep_rows(keep, found, keeps, becomes, schema, result);
    }
    free(becomes);
    free(keeps);
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory for the components that are kept");
}
