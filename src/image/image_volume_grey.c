/* SPDX-License-Identifier: Apache-2.0
 * Sums of the grey values of a volume's components: as many voxels at a time as fit the first cache, in
 * numbers of one type. Of floats the order of the additions is part of the result: voxel after voxel.
 */
#include "image/image_volume_grey.h"

#include "image/image_features_core.h"
#include "image/image_volume_part.h"

#include <math.h>

enum { AT_ONCE = 256 };

slc_status slc_volume_grey_check(const slc_volume *volume, const slc_volume *grey, slc_error *error)
{
    const slc_status status = slc_volume_check_layout("grey values", grey, error);
    if (status != SLC_OK) {
        return status;
    }
    if (grey->type == SLC_IMAGE_U64) {
        return slc_fail(error, SLC_ERR_USAGE, "grey values: they have up to 32 bits, not 64");
    }
    if (grey->width != volume->width || grey->height != volume->height || grey->depth != volume->depth) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "grey values: %zu x %zu x %zu voxels, and the volume has %zu x %zu x %zu",
                        grey->width, grey->height, grey->depth, volume->width, volume->height, volume->depth);
    }
    return SLC_OK;
}

void slc_volume_grey_begin(slc_volume_grey_sums *sums, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        sums[i] = (slc_volume_grey_sums){.low = (double)INFINITY, .high = -(double)INFINITY};
    }
}

/* ---- voxels ------------------------------------------------------------------------------------ */

#define TAKE(type)                                                                                           \
    for (size_t i = 0; i < n; i++) {                                                                         \
        to[i] = ((const type *)row)[first + i];                                                              \
    }

static void take_integers(const void *row, slc_image_type type, size_t first, size_t n, uint32_t *to)
{
    switch (type) {
    case SLC_IMAGE_U8:
        TAKE(uint8_t)
        return;
    case SLC_IMAGE_U16:
        TAKE(uint16_t)
        return;
    case SLC_IMAGE_U32:
        TAKE(uint32_t)
        return;
    default:
        for (size_t i = 0; i < n; i++) {
            to[i] = ((const uint8_t *)row)[(first + i) / 8] >> (first + i) % 8 & 1U;
        }
    }
}
#undef TAKE

/* ---- sums -------------------------------------------------------------------------------------- */

static void add_extremes(slc_volume_grey_sums *s, double low, double high)
{
    /* False for what is not a number, on either side. */
    s->low = low < s->low ? low : s->low;
    s->high = high > s->high ? high : s->high;
}

static void add_integers(slc_volume_grey_sums *s, const slc_volume_grey_run *run)
{
    uint32_t values[AT_ONCE];
    for (size_t first = run->first; first < run->behind; first += AT_ONCE) {
        const size_t n = run->behind - first < AT_ONCE ? run->behind - first : AT_ONCE;
        uint64_t mass = 0, moment = 0; /* below 2^48 */
        uint32_t low = UINT32_MAX, high = 0;
        take_integers(run->row, run->type, first, n, values);
        for (size_t i = 0; i < n; i++) {
            mass += values[i];
            moment += (uint64_t)values[i] * i;
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
        s->whole += mass;
        s->whole_x += moment + (slc_volume_wide)mass * first;
        s->whole_y += (slc_volume_wide)mass * run->y;
        s->whole_z += (slc_volume_wide)mass * run->z;
        add_extremes(s, low, high);
    }
}

static void add_floats(slc_volume_grey_sums *s, const slc_volume_grey_run *run)
{
    const float *row = run->row;
    for (size_t x = run->first; x < run->behind; x++) {
        const double value = (double)row[x];
        s->mass += value;
        s->x += value * (double)x;
        s->y += value * (double)run->y;
        s->z += value * (double)run->z;
        add_extremes(s, value, value);
    }
}

void slc_volume_grey_add(slc_volume_grey_sums *sums, const slc_volume_grey_run *run)
{
    sums->volume += run->behind - run->first;
    if (run->type == SLC_IMAGE_F32) {
        add_floats(sums, run);
    } else {
        add_integers(sums, run);
    }
}

void slc_volume_grey_end(slc_volume_grey_sums *sums, size_t n, slc_image_type type)
{
    for (size_t i = 0; i < n; i++) {
        slc_volume_grey_sums *s = &sums[i];
        if (type != SLC_IMAGE_F32) {
            s->mass = (double)s->whole;
            s->x = (double)s->whole_x;
            s->y = (double)s->whole_y;
            s->z = (double)s->whole_z;
        }
        if (!(s->low <= s->high)) { /* there was no number */
            s->low = s->high = (double)NAN;
        }
    }
}

void slc_volume_grey_spread(slc_volume_grey_sums *s, const slc_volume_grey_run *run)
{
    const double mean = s->mass / (double)s->volume;
    double sum = s->apart;
    uint32_t values[AT_ONCE];
    for (size_t first = run->first; first < run->behind; first += AT_ONCE) {
        const size_t n = run->behind - first < AT_ONCE ? run->behind - first : AT_ONCE;
        if (run->type != SLC_IMAGE_F32) {
            take_integers(run->row, run->type, first, n, values);
        }
        for (size_t i = 0; i < n; i++) {
            const double value = run->type == SLC_IMAGE_F32 ? (double)((const float *)run->row)[first + i]
                                                            : (double)values[i];
            sum += (value - mean) * (value - mean);
        }
    }
    s->apart = sum;
}

/* ---- rows of the collection -------------------------------------------------------------------- */

#define PUT(column, value)                                                                                   \
    for (size_t i = 0; i < n && to->column != NULL; i++) {                                                   \
        const slc_volume_grey_sums *s = &sums[i];                                                            \
        to->column[row + i] = (value);                                                                       \
    }

void slc_volume_grey_put(const slc_volume_grey_sums *sums, size_t n, slc_volume_components *to, size_t row)
{
    PUT(mass, s->mass)
    PUT(weighted_x, slc_image_weighted_of(s->x, s->mass))
    PUT(weighted_y, slc_image_weighted_of(s->y, s->mass))
    PUT(weighted_z, slc_image_weighted_of(s->z, s->mass))
    PUT(grey_min, s->low)
    PUT(grey_max, s->high)
    PUT(grey_mean, s->mass / (double)s->volume)
    PUT(grey_std, sqrt(s->apart / (double)s->volume))
}
#undef PUT

/* ---- a labelled volume ------------------------------------------------------------------------- */

typedef void add_run(slc_volume_grey_sums *sums, const slc_volume_grey_run *run);

/* The runs of equal labels in a row. */
static void add_row(const uint32_t *labels, size_t width, slc_volume_grey_run run, add_run *add,
                    slc_volume_grey_sums *sums)
{
    for (size_t x = 0; x < width; x = run.behind) {
        const uint32_t label = labels[x];
        run.first = x;
        run.behind = x + 1;
        while (run.behind < width && labels[run.behind] == label) {
            run.behind++;
        }
        if (label != 0) {
            add(&sums[label - 1], &run);
        }
    }
}

/* Labels are made a layer at a time, so that they stay in the caches. */
static void add_all(slc_volume_labeller *v, add_run *add, slc_volume_grey_sums *sums, uint32_t *labels)
{
    const size_t width = v->volume.width, height = v->volume.height, depth = v->volume.depth;
    const ptrdiff_t row = (ptrdiff_t)(width * sizeof *labels);
    for (size_t layer = 0; layer < v->layers; layer++) {
        const size_t first = layer * v->across, n = depth - first < v->across ? depth - first : v->across;
        const slc_volume_window window = {labels, row, row * (ptrdiff_t)height, first, n, false};
        slc_volume_write_layer(v, &window, layer);
        for (size_t i = 0; i < n * height; i++) {
            const size_t y = i % height, z = first + i / height;
            const slc_volume_grey_run run = {
                .row = slc_volume_row(&v->grey, y, z), .type = v->grey.type, .y = y, .z = z};
            add_row(labels + i * width, width, run, add, sums);
        }
    }
}

/* Sums, and labels of a layer behind them. */
static size_t sums_bytes(const slc_volume_labeller *v)
{
    return ((size_t)v->n_labels + 1) * sizeof(slc_volume_grey_sums);
}

slc_status slc_volume_greys_reserve(slc_volume_labeller *v)
{
    const size_t plane = slc_image_times(v->volume.width, v->volume.height);
    return slc_image_memory_reserve(
        &v->greys, slc_image_plus(sums_bytes(v), slc_image_times(plane, v->across * sizeof(uint32_t))));
}

void slc_volume_greys_find(slc_volume_labeller *v, uint32_t features, slc_volume_components *to, size_t row)
{
    slc_volume_grey_sums *sums = v->greys.at;
    uint32_t *labels = (uint32_t *)(void *)((char *)v->greys.at + sums_bytes(v));
    slc_volume_grey_begin(sums, v->n_labels);
    add_all(v, slc_volume_grey_add, sums, labels);
    slc_volume_grey_end(sums, v->n_labels, v->grey.type);
    if ((features & SLC_VOLUME_SPREAD) != 0) {
        add_all(v, slc_volume_grey_spread, sums, labels);
    }
    slc_volume_grey_put(sums, v->n_labels, to, row);
}
