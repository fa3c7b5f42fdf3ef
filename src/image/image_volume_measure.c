/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of the regions of a label volume. As of an image, the volume becomes runs of equal labels
 * (image_measure_runs.c), and the sums over them are those of volumes that are labelled here.
 */
#include "base/columns.h"
#include "base/config.h"
#include "image/image_measure_part.h"
#include "image/image_volume_grey.h"
#include "image/image_volume_part.h"
#include "image/image_volume_sums.h"

#include <stdlib.h>

/* Of the labels at hand. */
typedef struct measure {
    slc_image_measuring runs;
    slc_volume grey;
    slc_volume_keep keep;
    uint32_t wanted, features; /* wanted by the caller; with what `keep` looks at */
    slc_volume_sums *sums;
    slc_volume_grey_sums *greys;
    slc_volume_components found;
    uint8_t *keeps;
} measure;

static void config_default(slc_volume_measure_config *config)
{
    *config = (slc_volume_measure_config){.size = sizeof *config, .features = SLC_VOLUME_LABEL};
}
SLC_CONFIG_DEFAULT(slc_volume_measure_config, config_default)

static void clear(measure *m)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(m->features, columns);
    slc_columns_clear(&schema, &m->found);
    slc_image_measure_runs_clear(&m->runs);
    free(m->sums);
    free(m->greys);
    free(m->keeps);
}

/* ---- sums -------------------------------------------------------------------------------------- */

typedef void take_run(measure *m, uint32_t number, const slc_volume_grey_run *run);

static void each_run(measure *m, take_run *take)
{
    const slc_image_measuring *r = &m->runs;
    const size_t height = r->volume.height;
    for (size_t row = 0; row < height * r->volume.depth; row++) {
        slc_volume_grey_run run = {.type = m->grey.type, .y = row % height, .z = row / height};
        run.row = m->greys != NULL ? slc_volume_row(&m->grey, run.y, run.z) : NULL;
        for (size_t i = r->row_at[row]; i < r->row_at[row + 1]; i++) {
            run.first = r->first[i];
            run.behind = r->behind[i];
            take(m, r->value[i] - 1, &run);
        }
    }
}

static void add_run(measure *m, uint32_t number, const slc_volume_grey_run *run)
{
    slc_volume_sums_add(&m->sums[number], run->first, run->behind, run->y, run->z);
    if (m->greys != NULL) {
        slc_volume_grey_add(&m->greys[number], run);
    }
}

static void add_spread(measure *m, uint32_t number, const slc_volume_grey_run *run)
{
    slc_volume_grey_spread(&m->greys[number], run);
}

static void find_all(measure *m)
{
    const uint32_t n = m->runs.n;
    if (m->greys != NULL) {
        slc_volume_grey_begin(m->greys, n);
    }
    each_run(m, add_run);
    slc_volume_sums_put(m->sums, n, &m->found, 0);
    for (uint32_t i = 0; i < n && m->found.label != NULL; i++) {
        m->found.label[i] = m->runs.labels[i];
    }
    if (m->greys != NULL) {
        slc_volume_grey_end(m->greys, n, m->grey.type);
        if ((m->features & SLC_VOLUME_SPREAD) != 0 && m->grey.type == SLC_IMAGE_F32) {
            each_run(m, add_spread);
        }
        slc_volume_grey_put(m->greys, n, &m->found, 0);
    }
    m->found.head.size = n;
    slc_columns_end_event(&m->found);
}

/* ---- all of it --------------------------------------------------------------------------------- */

static slc_status reserve(measure *m, slc_error *error)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(m->features, columns);
    const size_t n = (size_t)m->runs.n + 1;
    const bool grey = (m->features & SLC_VOLUME_GREYS) != 0;
    m->sums = calloc(n, sizeof *m->sums);
    m->greys = grey ? aligned_alloc(_Alignof(slc_volume_grey_sums), n * sizeof *m->greys) : NULL;
    m->keeps = calloc(n, 1);
    return m->sums != NULL && m->keeps != NULL && (m->greys != NULL || !grey) &&
                   slc_columns_reserve(&schema, &m->found, n, 1) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "no memory for %u regions", m->runs.n);
}

/* Rows that are kept, of the columns that are wanted, behind those of the caller. */
static slc_status append(measure *m, slc_volume_components *to, uint32_t *filtered, slc_error *error)
{
    slc_column columns[SLC_VOLUME_COLUMNS];
    const slc_schema schema = slc_volume_components_schema(m->wanted, columns);
    const size_t n = m->found.head.size;
    size_t kept = 0;
    slc_status status = slc_volume_keep_choose(&m->keep, &m->runs.volume, &m->found, m->keeps)
                            ? SLC_OK
                            : SLC_ERR_MEMORY;
    status = status == SLC_OK ? slc_columns_reserve(&schema, to, to->head.size + n, to->head.n_events + 1)
                              : status;
    status = status == SLC_OK ? slc_columns_copy_if(&schema, &m->found, m->keeps, to) : status;
    for (size_t i = 0; i < n; i++) {
        kept += m->keeps[i];
    }
    if (filtered != NULL) {
        *filtered = (uint32_t)(n - kept);
    }
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "no memory for %zu regions", n);
}

static slc_status check(const slc_volume_measure_config *config, measure *m, const slc_volume *labels,
                        const slc_volume *grey, slc_error *error)
{
    slc_volume_config keeps;
    slc_volume_config_default(&keeps);
    keeps.filter = config->filter;
    keeps.largest = config->largest;
    if ((config->features & ~(uint32_t)SLC_VOLUME_MEASURES) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "features: unknown ones, 0x%x",
                        config->features & ~(uint32_t)SLC_VOLUME_MEASURES);
    }
    if (labels->type == SLC_IMAGE_F32) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "label volume: of floats; labels are whole numbers");
    }
    slc_status status = slc_volume_check_layout("label volume", labels, error);
    status = status == SLC_OK ? slc_volume_keep_take(&keeps, &m->keep, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    m->wanted = config->features;
    m->features = config->features | m->keep.features;
    if ((m->features & SLC_VOLUME_GREYS) != 0) {
        if (grey == NULL) {
            return slc_fail(error, SLC_ERR_USAGE, "grey values: none given, and labels are no such values");
        }
        m->grey = *grey;
        status = slc_volume_grey_check(labels, grey, error);
    }
    return status == SLC_OK ? slc_volume_check_sums(labels, m->features, error) : status;
}

slc_status slc_volume_measure(const slc_volume_measure_config *given, const slc_volume *labels,
                              const slc_volume *grey, slc_volume_components *components, uint32_t *filtered,
                              slc_error *error)
{
    slc_volume_measure_config config;
    measure m = {.wanted = 0};
    if (labels == NULL || components == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: none given",
                        labels == NULL ? "label volume" : "components");
    }
    config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_volume_measure_config", error);
    status = status == SLC_OK ? check(&config, &m, labels, grey, error) : status;
    if (status == SLC_OK) {
        m.runs.volume = *labels;
        status = slc_image_measure_runs(&m.runs, error);
        status = status == SLC_OK ? reserve(&m, error) : status;
    }
    if (status == SLC_OK) {
        find_all(&m);
        status = append(&m, components, filtered, error);
    }
    clear(&m);
    return status;
}
