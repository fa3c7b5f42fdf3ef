/* SPDX-License-Identifier: Apache-2.0
 *
 * Features of the regions of a label image. The image becomes runs of equal labels, which are all that is
 * looked at from then on: sums over runs (image_features.c), contacts of runs in neighbouring rows, and of
 * each region the first and the last pixel in each row, for hulls.
 */
#include <sluice/image_measure.h>

#include "base/config.h"
#include "image/image_check.h"
#include "image/image_features.h"
#include "image/image_measure_part.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    HULLS = SLC_IMAGE_HULL | SLC_IMAGE_FERET,
    OUTLINES = SLC_IMAGE_PERIMETER | SLC_IMAGE_EULER | SLC_IMAGE_CROFTON,
    GREYS = SLC_IMAGE_GREY | SLC_IMAGE_SPREAD,
    SIDE = 1 << 29
};

typedef slc_image_measuring measure;
typedef slc_image_outline outline;

static const double pi = 3.14159265358979323846;

static void clear(measure *m)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(SLC_IMAGE_MEASURES, columns);
    slc_columns_clear(&schema, &m->found);
    slc_image_measure_runs_clear(m);
    free(m->outlines);
    free(m->spans_at);
    free(m->spans);
    slc_image_hull_clear(&m->hull);
    slc_image_hull_clear(&m->whole);
}

/* ---- sums over runs ---------------------------------------------------------------------------- */

/* Columns that are needed, of the runs. */
static void sum_runs(measure *m, uint32_t features, size_t base)
{
    const slc_image_type type = m->grey != NULL ? m->grey->type : SLC_IMAGE_U8;
    slc_image_features_begin(features, &m->found, base, m->n, type);
    for (size_t y = 0; y < m->image->height && m->n_runs > 0; y++) { /* without runs there are no arrays */
        const size_t at = m->row_at[y];
        const slc_image_run_row row = {.y = y,
                                       .width = m->image->width,
                                       .n_runs = m->row_at[y + 1] - at,
                                       .first = m->first + at,
                                       .behind = m->behind + at,
                                       .label = m->value + at,
                                       .grey = m->grey != NULL ? slc_image_row(m->grey, y) : NULL,
                                       .grey_type = type};
        slc_image_features_row(features, &m->found, base, &row);
    }
    slc_image_features_end(features, &m->found, base, m->n, type);
}

/* How many columns a run has in common with another one that is moved by so many. */
static uint64_t common(const measure *m, size_t run, size_t upper, int64_t by)
{
    const int64_t first = m->first[run], behind = m->behind[run];
    const int64_t upper_first = m->first[upper] + by, upper_behind = m->behind[upper] + by;
    const int64_t from = first > upper_first ? first : upper_first;
    const int64_t to = behind < upper_behind ? behind : upper_behind;
    return to > from ? (uint64_t)(to - from) : 0;
}

/* Runs of a row with those of the one above that touch them, at corners, too, and have their label. */
static void add_contacts(measure *m, size_t y)
{
    const uint32_t reach = m->connectivity == 8 ? 1 : 0;
    size_t upper = y > 0 ? m->row_at[y - 1] : 0;
    const size_t upper_end = y > 0 ? m->row_at[y] : 0;
    for (size_t run = m->row_at[y]; run < m->row_at[y + 1]; run++) {
        outline *o = &m->outlines[m->value[run] - 1];
        o->runs++;
        while (upper < upper_end && m->behind[upper] < m->first[run]) {
            upper++;
        }
        for (size_t k = upper; k < upper_end && m->first[k] <= m->behind[run]; k++) {
            if (m->value[k] != m->value[run]) {
                continue;
            }
            o->above += common(m, run, k, 0);
            o->falling += common(m, run, k, 1);
            o->rising += common(m, run, k, -1);
            o->contacts += m->first[k] < m->behind[run] + reach && m->first[run] < m->behind[k] + reach;
        }
    }
}

static void end_outlines(measure *m, size_t base)
{
    slc_image_components *c = &m->found;
    for (size_t i = 0; i < m->n; i++) {
        const outline *o = &m->outlines[i];
        const size_t row = base + i;
        const uint64_t straight = o->runs + c->area[row] - o->above;
        if ((m->features & SLC_IMAGE_PERIMETER) != 0) {
            c->perimeter[row] = 2 * straight;
        }
        if ((m->features & SLC_IMAGE_EULER) != 0) {
            c->euler[row] = (int64_t)(o->runs - o->contacts);
        }
        if ((m->features & SLC_IMAGE_CROFTON) != 0) {
            const uint64_t slanted = 2 * c->area[row] - o->falling - o->rising;
            const double length = pi / 4 * ((double)straight + (double)slanted / sqrt(2));
            c->crofton_2[row] = pi / 2 * (double)straight;
            c->crofton_4[row] = length;
            c->circularity[row] = 4 * pi * (double)c->area[row] / (length * length);
        }
    }
}

static slc_status find_outlines(measure *m, size_t base, slc_error *error)
{
    m->outlines = calloc((size_t)m->n + 1, sizeof *m->outlines);
    if (m->outlines == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the outlines of %u regions", m->n);
    }
    for (size_t y = 0; y < m->image->height; y++) {
        add_contacts(m, y);
    }
    end_outlines(m, base);
    return SLC_OK;
}

/* ---- hulls ------------------------------------------------------------------------------------- */

/* Counts, or with spans makes, one of each region in each row in which it has pixels. */
static void take_spans(measure *m, uint32_t *last_row)
{
    memset(last_row, 0, m->n * sizeof *last_row);
    for (size_t y = 0; y < m->image->height; y++) {
        for (size_t run = m->row_at[y]; run < m->row_at[y + 1]; run++) {
            const size_t i = m->value[run] - 1;
            const bool begins = last_row[i] != y + 1;
            last_row[i] = (uint32_t)y + 1;
            if (m->spans == NULL) {
                m->spans_at[i + 1] += begins;
            } else if (begins) {
                m->spans[m->spans_at[i]++] = (slc_image_span){(uint32_t)y, m->first[run], m->behind[run]};
            } else {
                m->spans[m->spans_at[i] - 1].behind = m->behind[run];
            }
        }
    }
}

static slc_status make_spans(measure *m, slc_error *error)
{
    uint32_t *last_row = malloc(((size_t)m->n + 1) * sizeof *last_row);
    m->spans_at = calloc((size_t)m->n + 1, sizeof *m->spans_at);
    if (last_row != NULL && m->spans_at != NULL) {
        take_spans(m, last_row);
        for (size_t i = 0; i < m->n; i++) {
            m->spans_at[i + 1] += m->spans_at[i];
        }
        m->spans = malloc((m->spans_at[m->n] + 1) * sizeof *m->spans);
    }
    if (m->spans != NULL) {
        take_spans(m, last_row); /* moves each beginning to the next one */
    }
    free(last_row);
    if (m->spans == NULL || slc_image_hull_reserve(&m->hull, m->image->height) != SLC_OK ||
        slc_image_hull_reserve(&m->whole, m->image->height) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the hulls of %u regions", m->n);
    }
    return SLC_OK;
}

static slc_status find_hulls(measure *m, size_t base, slc_error *error)
{
    slc_image_components *c = &m->found;
    const slc_status status = make_spans(m, error);
    for (size_t i = 0; i < m->n && status == SLC_OK; i++) {
        const size_t at = i > 0 ? m->spans_at[i - 1] : 0, n = m->spans_at[i] - at, row = base + i;
        if ((m->features & SLC_IMAGE_HULL) != 0) {
            c->convex_area[row] = slc_image_hull_area(&m->hull, m->spans + at, n);
            c->solidity[row] = (double)c->area[row] / (double)c->convex_area[row];
        }
        if ((m->features & SLC_IMAGE_FERET) != 0) {
            slc_image_hull_feret(&m->hull, m->spans + at, n, &c->feret_max[row], &c->feret_min[row]);
            c->feret_outline[row] = slc_image_hull_outline(&m->hull, &m->whole, m->spans + at, n);
        }
    }
    return status;
}

/* ---- grey values ------------------------------------------------------------------------------- */

static double grey_at(const void *row, slc_image_type type, size_t x)
{
    switch (type) {
    case SLC_IMAGE_U8:
        return ((const uint8_t *)row)[x];
    case SLC_IMAGE_U16:
        return ((const uint16_t *)row)[x];
    case SLC_IMAGE_U32:
        return ((const uint32_t *)row)[x];
    case SLC_IMAGE_F32:
        return (double)((const float *)row)[x];
    default:
        return ((const uint8_t *)row)[x / 8] >> x % 8 & 1U;
    }
}

/* Distances from means that are known. */
static void find_spread(measure *m, size_t base)
{
    slc_image_components *c = &m->found;
    for (size_t row = base; row < base + m->n; row++) {
        c->grey_mean[row] = c->mass[row] / (double)c->area[row];
        c->grey_std[row] = 0;
    }
    for (size_t y = 0; y < m->image->height; y++) {
        const void *grey = slc_image_row(m->grey, y);
        for (size_t run = m->row_at[y]; run < m->row_at[y + 1]; run++) {
            const size_t row = base + m->value[run] - 1;
            const double mean = c->grey_mean[row];
            double sum = c->grey_std[row];
            for (size_t x = m->first[run]; x < m->behind[run]; x++) {
                const double apart = grey_at(grey, m->grey->type, x) - mean;
                sum += apart * apart;
            }
            c->grey_std[row] = sum;
        }
    }
    for (size_t row = base; row < base + m->n; row++) {
        c->grey_std[row] = sqrt(c->grey_std[row] / (double)c->area[row]);
    }
}

/* ---- all of them ------------------------------------------------------------------------------- */

/* What the columns that are asked for are made of. */
static uint32_t needed(uint32_t features)
{
    uint32_t all = features;
    if ((features & SLC_IMAGE_FORM) != 0) {
        all |= SLC_IMAGE_BOX | SLC_IMAGE_SHAPE;
    }
    if ((features & SLC_IMAGE_SPREAD) != 0) {
        all |= SLC_IMAGE_GREY;
    }
    return slc_image_features_needed(all | SLC_IMAGE_AREA);
}

static void find_form(measure *m, size_t base)
{
    slc_image_components *c = &m->found;
    for (size_t row = base; row < base + m->n; row++) {
        const double width = (double)c->x_max[row] - c->x_min[row] + 1;
        const double height = (double)c->y_max[row] - c->y_min[row] + 1;
        const double area = (double)c->area[row];
        c->extent[row] = area / (width * height);
        c->diameter[row] = sqrt(4 * area / pi);
        c->roundness[row] = 4 * area / (pi * c->major[row] * c->major[row]);
    }
}

static slc_status find_all(measure *m, slc_error *error)
{
    const uint32_t all = needed(m->features);
    slc_status status = SLC_OK;
    sum_runs(m, all & SLC_IMAGE_ALL & ~(uint32_t)OUTLINES, 0);
    for (size_t i = 0; i < m->n && (all & SLC_IMAGE_LABEL) != 0; i++) {
        m->found.label[i] = m->labels[i];
    }
    if ((all & SLC_IMAGE_FORM) != 0) {
        find_form(m, 0);
    }
    if ((all & SLC_IMAGE_SPREAD) != 0) {
        find_spread(m, 0);
    }
    if ((all & OUTLINES) != 0) {
        status = find_outlines(m, 0, error);
    }
    if (status == SLC_OK && (all & HULLS) != 0) {
        status = find_hulls(m, 0, error);
    }
    return status;
}

/* Rows of the columns that were asked for, behind those of the caller. */
static slc_status append(measure *m, slc_image_components *components, slc_error *error)
{
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema asked = slc_image_components_schema(m->features, columns);
    const size_t rows = components->head.size + m->n;
    if (rows > components->head.capacity || components->head.n_events == components->head.event_capacity) {
        const slc_status status = slc_columns_reserve(&asked, components, rows,
                                                      components->head.n_events + 1);
        if (status != SLC_OK) {
            return slc_fail(error, status, "no memory for %zu regions", rows);
        }
    }
    m->found.head.size = m->n;
    const slc_status status = slc_columns_append(&asked, &m->found, 0, m->n, components);
    if (status == SLC_OK) {
        slc_columns_end_event(components);
    }
    return status;
}

static slc_status run(measure *m, slc_image_components *components, slc_error *error)
{
    slc_status status = slc_image_measure_runs(m, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_column columns[SLC_IMAGE_COLUMNS];
    const slc_schema schema = slc_image_components_schema(needed(m->features), columns);
    if (slc_columns_reserve(&schema, &m->found, m->n, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u regions", m->n);
    }
    status = find_all(m, error);
    return status == SLC_OK ? append(m, components, error) : status;
}

static void config_default(slc_image_measure_config *config)
{
    *config = (slc_image_measure_config){
        .size = sizeof *config, .features = SLC_IMAGE_LABEL, .connectivity = 8};
}
SLC_CONFIG_DEFAULT(slc_image_measure_config, config_default)

/* As an image of numbers, of which labels may be of 64 bits. */
static slc_status check_labels(const slc_image *labels, slc_error *error)
{
    slc_image as = *labels;
    if (labels->type == SLC_IMAGE_F32) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "label image: of floats; labels are whole numbers");
    }
    if (labels->type != SLC_IMAGE_U64) {
        return slc_image_check("label image", labels, error);
    }
    as.type = SLC_IMAGE_U32;
    const slc_status status = slc_image_check("label image", &as, error);
    return status == SLC_OK ? slc_image_check_rows("label image", labels->pixels, labels->stride,
                                                   slc_image_row_bytes(SLC_IMAGE_U64, labels->width),
                                                   labels->height, sizeof(uint64_t), error)
                            : status;
}

static slc_status check(const slc_image_measure_config *config, const slc_image *labels,
                        const slc_image *grey, const slc_image_components *components, slc_error *error)
{
    if (config->connectivity != 4 && config->connectivity != 8) {
        return slc_fail(error, SLC_ERR_USAGE, "connectivity: %u, and it can be 4 or 8", config->connectivity);
    }
    if ((config->features & ~(uint32_t)SLC_IMAGE_MEASURES) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "features: unknown ones, 0x%x",
                        config->features & ~(uint32_t)SLC_IMAGE_MEASURES);
    }
    slc_status status = check_labels(labels, error);
    status = status == SLC_OK ? slc_image_check_components("components", components, config->features, error)
                              : status;
    status = status == SLC_OK ? slc_image_check_sums(labels, grey, needed(config->features), error) : status;
    if (status == SLC_OK && (config->features & HULLS) != 0 &&
        (labels->width > SIDE || labels->height > SIDE)) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "hulls of %zu x %zu pixels: sides are up to %d pixels",
                        labels->width, labels->height, SIDE);
    }
    return status;
}

slc_status slc_image_measure(const slc_image_measure_config *given, const slc_image *labels,
                             const slc_image *grey, slc_image_components *components, slc_error *error)
{
    slc_image_measure_config config;
    if (labels == NULL || components == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: none given",
                        labels == NULL ? "label image" : "components");
    }
    config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_image_measure_config", error);
    status = status == SLC_OK ? check(&config, labels, grey, components, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    measure m = {.features = config.features,
                 .connectivity = config.connectivity,
                 .image = labels,
                 .volume = {.voxels = labels->pixels,
                            .width = labels->width,
                            .height = labels->height,
                            .depth = 1,
                            .stride = labels->stride,
                            .type = labels->type},
                 .grey = (config.features & GREYS) != 0 ? grey : NULL};
    status = run(&m, components, error);
    clear(&m);
    return status;
}
