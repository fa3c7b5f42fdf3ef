/* SPDX-License-Identifier: Apache-2.0
 * Components of a volume that are kept by their features. */
#include "image/image_volume_keep.h"

#include "base/columns.h"
#include "image/image_volume_part.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is asked for ------------------------------------------------------------------------- */

/* The feature that brings a column. */
static uint32_t feature_of(const char *name)
{
    for (uint32_t feature = 1; feature <= SLC_VOLUME_LABEL; feature <<= 1) {
        slc_column columns[SLC_VOLUME_COLUMNS];
        const slc_schema schema = slc_volume_components_schema(feature, columns);
        for (size_t i = 0; i < schema.n_columns; i++) {
            if (strcmp(schema.columns[i].name, name) == 0) {
                return feature;
            }
        }
    }
    return 0;
}

slc_status slc_volume_keep_take(const slc_volume_config *config, slc_volume_keep *keep, slc_error *error)
{
    const bool sized = config->min_volume > 1 || config->max_volume < UINT64_MAX;
    const bool bordered = config->border != SLC_IMAGE_BORDER_ANY;
    if (config->min_volume > config->max_volume) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "min_volume: %llu is more than max_volume, %llu: nothing would be left",
                        (unsigned long long)config->min_volume, (unsigned long long)config->max_volume);
    }
    if (config->border < 0 || config->border >= SLC_IMAGE_BORDERS) {
        return slc_fail(error, SLC_ERR_USAGE, "border: unknown choice %d", (int)config->border);
    }
    *keep = (slc_volume_keep){.some = sized || bordered || config->largest > 0 || config->filter != NULL,
                              .features = (sized || config->largest > 0 ? SLC_VOLUME_SIZE : 0U) |
                                          (bordered ? SLC_VOLUME_BOX : 0U),
                              .min_volume = config->min_volume,
                              .max_volume = config->max_volume,
                              .border = config->border,
                              .periodic = config->periodic,
                              .largest = config->largest};
    const slc_columns_alias area = {"area", "volume", 1}; /* the feature's name */
    const slc_status status = config->filter != NULL
                                  ? slc_columns_filter_parse(config->filter, &slc_volume_components_all,
                                                             &area, "components", &keep->filter, error)
                                  : SLC_OK;
    for (uint32_t i = 0; i < keep->filter.n && status == SLC_OK; i++) {
        keep->features |= feature_of(keep->filter.term[i].column.name);
    }
    return status;
}

slc_status slc_volume_config_needs(const slc_volume_config *given, uint32_t *features, slc_error *error)
{
    slc_volume_config config;
    slc_volume_keep keep = {.features = 0};
    slc_status status = slc_volume_config_take(given, &config, error);
    status = status == SLC_OK ? slc_volume_keep_take(&config, &keep, error) : status;
    *features = status == SLC_OK ? config.features | keep.features : 0;
    return status;
}

/* ---- which are kept ---------------------------------------------------------------------------- */

/* Has it a voxel in the first or last column, row or slice? Where these are joined there is no border, nor
 * above and below a single slice, which is an image. */
static bool touches(const slc_volume_keep *keep, const slc_volume *v, const slc_volume_components *f,
                    size_t row)
{
    const bool x = f->x_min[row] == 0 || f->x_max[row] + (size_t)1 == v->width;
    const bool y = f->y_min[row] == 0 || f->y_max[row] + (size_t)1 == v->height;
    const bool z = v->depth > 1 && (f->z_min[row] == 0 || f->z_max[row] + (size_t)1 == v->depth);
    return (x && (keep->periodic & SLC_VOLUME_PERIODIC_X) == 0) ||
           (y && (keep->periodic & SLC_VOLUME_PERIODIC_Y) == 0) ||
           (z && (keep->periodic & SLC_VOLUME_PERIODIC_Z) == 0);
}

bool slc_volume_keep_holds(const slc_volume_keep *keep, const slc_volume *volume,
                           const slc_volume_components *found, size_t row)
{
    const bool sized = keep->min_volume > 1 || keep->max_volume < UINT64_MAX;
    if (sized && (found->volume[row] < keep->min_volume || found->volume[row] > keep->max_volume)) {
        return false;
    }
    if (keep->border != SLC_IMAGE_BORDER_ANY &&
        touches(keep, volume, found, row) != (keep->border == SLC_IMAGE_BORDER_TOUCHING)) {
        return false;
    }
    return slc_columns_filter_holds(&keep->filter, found, row);
}

/* A component that may be kept, by its number of voxels. */
typedef struct rank {
    uint64_t volume;
    size_t row;
} rank;

/* Most voxels first, and of equal ones the first in the table. */
static int compare(const void *a, const void *b)
{
    const rank *one = a, *other = b;
    return one->volume != other->volume ? (one->volume < other->volume ? 1 : -1)
                                        : (one->row > other->row) - (one->row < other->row);
}

bool slc_volume_keep_largest(const uint64_t *volumes, size_t n, uint32_t largest, uint8_t *keeps)
{
    rank *ranks = malloc((n + 1) * sizeof *ranks);
    if (ranks == NULL) {
        return false;
    }
    size_t n_kept = 0;
    for (size_t row = 0; row < n; row++) {
        if (keeps[row] != 0) {
            ranks[n_kept++] = (rank){volumes[row], row};
        }
    }
    if (n_kept > largest) {
        qsort(ranks, n_kept, sizeof *ranks, compare);
        for (size_t i = largest; i < n_kept; i++) {
            keeps[ranks[i].row] = 0;
        }
    }
    free(ranks);
    return true;
}

bool slc_volume_keep_choose(const slc_volume_keep *keep, const slc_volume *volume,
                            const slc_volume_components *found, uint8_t *keeps)
{
    for (size_t row = 0; row < found->head.size; row++) {
        keeps[row] = slc_volume_keep_holds(keep, volume, found, row);
    }
    return keep->largest == 0 ||
           slc_volume_keep_largest(found->volume, found->head.size, keep->largest, keeps);
}

/* ---- a labelled volume ------------------------------------------------------------------------- */

/* The labels of all runs become those of the components that are kept, 0 of the others. */
static void relabel(slc_volume_labeller *v, const uint32_t *becomes)
{
    for (uint32_t p = 0; p < v->n_parts; p++) {
        const slc_volume_part *part = &v->parts[p];
        for (size_t i = 0; i < part->run_at[part->n_layers]; i++) {
            part->runs[i] = becomes[part->runs[i]];
        }
    }
}

/* Rows that are kept, of the columns that the caller has, as one event. */
static slc_status take_rows(slc_volume_labeller *v, const slc_volume_components *found, const uint8_t *keeps)
{
    slc_volume_components *to = v->out->components;
    slc_column columns[SLC_VOLUME_COLUMNS];
    if (to == NULL) {
        return SLC_OK;
    }
    const slc_schema schema = slc_volume_components_schema(v->config.features, columns);
    const slc_status status = slc_columns_reserve(&schema, to, to->head.size + found->head.size,
                                                  to->head.n_events + 1);
    return status == SLC_OK ? slc_columns_copy_if(&schema, found, keeps, to) : status;
}

slc_status slc_volume_sift(slc_volume_labeller *v, slc_error *error)
{
    const size_t n = v->n_labels;
    const uint32_t features = v->keep.features | (v->out->components != NULL ? v->config.features : 0);
    slc_volume_components found = {.volume = NULL};
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(features, columns);
    uint8_t *keeps = calloc(n + 1, 1);
    uint32_t *becomes = malloc((n + 1) * sizeof *becomes), kept = 0;
    slc_status status = keeps != NULL && becomes != NULL
                            ? slc_volume_features_reserve(v, features, &found, error)
                            : SLC_ERR_MEMORY;
    if (status == SLC_OK) {
        slc_volume_features(v, features, &found);
        status = slc_volume_keep_choose(&v->keep, &v->volume, &found, keeps) ? take_rows(v, &found, keeps)
                                                                             : SLC_ERR_MEMORY;
    }
    if (status == SLC_OK) {
        becomes[0] = 0;
        for (size_t row = 0; row < n; row++) {
            kept += keeps[row];
            becomes[row + 1] = keeps[row] != 0 ? kept : 0;
        }
        relabel(v, becomes);
        v->n_labels = kept;
        v->n_filtered = (uint32_t)n - kept;
    }
    slc_columns_clear(&schema, &found);
    free(becomes);
    free(keeps);
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory for the components that are kept");
}
