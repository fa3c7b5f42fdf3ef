/* SPDX-License-Identifier: Apache-2.0
 * Sums of the grey values of a volume's components: as many voxels at a time as fit the first cache, in
 * numbers of one type. Of floats the order of the additions is part of the result: voxel after voxel. The
 * spread of integers is exact until it is rounded, so that it is the same from parts in any order; that of
 * floats is summed about the mean in a second pass, or, where voxels come once, about the means of parts
 * (Chan, Golub, LeVeque 1983, "Algorithms for computing the sample variance").
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
        uint64_t mass = 0, moment = 0, squares[2] = {0, 0}; /* below 2^48; halves of 32 bits apart */
        uint32_t low = UINT32_MAX, high = 0;
        take_integers(run->row, run->type, first, n, values);
        for (size_t i = 0; i < n; i++) {
            mass += values[i];
            moment += (uint64_t)values[i] * i;
            squares[0] += (uint32_t)((uint64_t)values[i] * values[i]);
            squares[1] += (uint64_t)values[i] * values[i] >> 32;
            low = values[i] < low ? values[i] : low;
            high = values[i] > high ? values[i] : high;
        }
        s->whole += mass;
        s->squares += ((slc_volume_wide)squares[1] << 32) + squares[0];
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

/* Of n values, with s = q n + r, the squared distances from the mean are those from q without r r / n: a
 * whole number and a fraction that is no more than it, so little is lost where it is rounded. */
static double apart_of(const slc_volume_grey_sums *s)
{
    const slc_volume_wide n = s->volume, q = s->whole / n, r = s->whole % n;
    const slc_volume_wide from_q = s->squares + q * q * n - 2 * q * s->whole; /* below 2^112 */
    const slc_volume_wide whole = from_q - r * r / n, rest = r * r % n;
    return (double)whole - (double)rest / (double)n;
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
            s->apart = s->volume > 0 ? apart_of(s) : 0;
        }
        if (!(s->low <= s->high)) { /* there was no number */
            s->low = s->high = (double)NAN;
        }
    }
}

static double apart_from(double mean, const slc_volume_grey_run *run, double sum)
{
    const float *row = run->row;
    for (size_t x = run->first; x < run->behind; x++) {
        const double value = (double)row[x];
        sum += (value - mean) * (value - mean);
    }
    return sum;
}

void slc_volume_grey_spread(slc_volume_grey_sums *s, const slc_volume_grey_run *run)
{
    s->apart = apart_from(s->mass / (double)s->volume, run, s->apart);
}

/* ---- runs that come once ----------------------------------------------------------------------- */

/* What the distances from two means are more about the mean of all. */
static double between(const slc_volume_grey_sums *a, const slc_volume_grey_sums *b)
{
    const double n_a = (double)a->volume, n_b = (double)b->volume;
    const double step = a->mass / n_a - b->mass / n_b;
    return a->volume > 0 && b->volume > 0 ? step * step * (n_a * n_b / (n_a + n_b)) : 0;
}

void slc_volume_grey_add_once(slc_volume_grey_sums *sums, const slc_volume_grey_run *run)
{
    if (run->type == SLC_IMAGE_F32) {
        slc_volume_grey_sums own;
        slc_volume_grey_begin(&own, 1);
        slc_volume_grey_add(&own, run);
        sums->apart += apart_from(own.mass / (double)own.volume, run, 0) + between(sums, &own);
    }
    slc_volume_grey_add(sums, run);
}

void slc_volume_grey_merge(slc_volume_grey_sums *to, const slc_volume_grey_sums *from)
{
    to->apart += from->apart + between(to, from);
    to->whole += from->whole;
    to->whole_x += from->whole_x;
    to->whole_y += from->whole_y;
    to->whole_z += from->whole_z;
    to->squares += from->squares;
    to->mass += from->mass;
    to->x += from->x;
    to->y += from->y;
    to->z += from->z;
    to->volume += from->volume;
    add_extremes(to, from->low, from->high);
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

void slc_volume_grey_row(const uint32_t *labels, size_t width, slc_volume_grey_run run,
                         slc_volume_grey_take *add, slc_volume_grey_sums *sums)
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
static void add_all(slc_volume_labeller *v, slc_volume_grey_take *add, slc_volume_grey_sums *sums,
                    uint32_t *labels)
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
            slc_volume_grey_row(labels + i * width, width, run, add, sums);
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
    if ((features & SLC_VOLUME_SPREAD) != 0 && v->grey.type == SLC_IMAGE_F32) {
        add_all(v, slc_volume_grey_spread, sums, labels);
    }
    slc_volume_grey_put(sums, v->n_labels, to, row);
}
