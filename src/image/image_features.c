/* SPDX-License-Identifier: Apache-2.0
 * Features summed over runs.
 *
 * A run is an interval of a row, so every sum over its pixels has a closed form; unsigned arithmetic is exact
 * modulo 2^64, whatever the order. The perimeter has two vertical edges for each run, and as many upper edges
 * as lower ones, because every column of a component enters it as often as it leaves it: 2 (runs + area -
 * pixels whose upper neighbour is foreground). The Euler number: runs and their contacts with runs of the row
 * above are the nodes and edges of a plane graph, in which every cycle encloses a hole: runs - contacts.
 *
 * While sums of integer grey images are made, the columns mass, weighted_x and weighted_y hold the bit
 * patterns of 64-bit integers; slc_image_features_end turns them into what their type says.
 */
#include "image/image_features.h"

#include "image/image_features_core.h"
#include "image/image_shape.h"
#include "simd/simd_bits.h"

#include <math.h>
#include <string.h>

uint32_t slc_image_features_needed(uint32_t features)
{
    uint32_t needed = features;
    if ((features & SLC_IMAGE_CENTROID) != 0) {
        needed |= SLC_IMAGE_AREA | SLC_IMAGE_SUMS;
    }
    if ((features & SLC_IMAGE_SHAPE) != 0) {
        needed |= SLC_IMAGE_AREA | SLC_IMAGE_SUMS | SLC_IMAGE_SECOND;
    }
    return needed;
}

/* ---- bits of a row ----------------------------------------------------------------------------- */

/* The bits of word number i that are pixels begin … behind - 1. */
static inline uint64_t window(size_t i, size_t begin, size_t behind)
{
    uint64_t mask = ~(uint64_t)0;
    if (begin > 64 * i) {
        mask <<= begin % 64;
    }
    if (behind < 64 * (i + 1)) {
        mask &= ~(uint64_t)0 >> (64 * (i + 1) - behind);
    }
    return mask;
}

/* Pixels that are set in both rows, from begin to behind - 1. */
static uint64_t count_common(const uint64_t *a, const uint64_t *b, size_t begin, size_t behind)
{
    uint64_t n = 0;
    for (size_t i = begin / 64; 64 * i < behind; i++) {
        n += bits_count(a[i] & b[i] & window(i, begin, behind));
    }
    return n;
}

/* Runs of a row with a pixel from begin to behind - 1: one for each start behind the first pixel, and the one
 * that covers the first. */
static uint64_t count_runs(const uint64_t *bits, size_t begin, size_t behind)
{
    uint64_t n = bits[begin / 64] >> begin % 64 & 1;
    for (size_t i = begin / 64; 64 * i < behind; i++) {
        const uint64_t before = i > 0 ? bits[i - 1] : 0;
        uint64_t starts = bits_starts(bits[i], before) & window(i, begin, behind);
        if (i == begin / 64) {
            starts &= ~((uint64_t)1 << begin % 64);
        }
        n += bits_count(starts);
    }
    return n;
}

/* ---- one feature of one run -------------------------------------------------------------------- */

/* The sum of 0², 1², … (m - 1)², modulo 2^64: m (m - 1) / 2 · (2 m - 1) is three times that, and a multiple
 * of three is divided by multiplying with the inverse of three. m < 2^33. */
static inline uint64_t sum_of_squares(uint64_t m)
{
    const uint64_t half = m % 2 == 0 ? m / 2 * (m - 1) : (m - 1) / 2 * m;
    return half * (2 * m - 1) * 0xaaaaaaaaaaaaaaabULL;
}

/* The sum of the columns of a run: below 2^64, as each factor is below 2^33 and one of them is even. */
static inline uint64_t sum_of_columns(uint64_t first, uint64_t behind)
{
    const uint64_t n = behind - first, ends = first + behind - 1;
    return n % 2 == 0 ? n / 2 * ends : ends / 2 * n;
}

static inline void add_box(slc_image_components *c, size_t i, uint32_t first, uint32_t last, uint32_t y0,
                           uint32_t y1)
{
    c->x_min[i] = first < c->x_min[i] ? first : c->x_min[i];
    c->x_max[i] = last > c->x_max[i] ? last : c->x_max[i];
    c->y_min[i] = y0 < c->y_min[i] ? y0 : c->y_min[i];
    c->y_max[i] = y1 > c->y_max[i] ? y1 : c->y_max[i];
}

static inline void add_first(slc_image_components *c, size_t i, uint32_t x, uint32_t y)
{
    if (y < c->first_y[i] || (y == c->first_y[i] && x < c->first_x[i])) {
        c->first_x[i] = x;
        c->first_y[i] = y;
    }
}

static inline void add_moments(uint32_t features, slc_image_components *c, size_t i, uint64_t first,
                               uint64_t behind, uint64_t y)
{
    const uint64_t n = behind - first, sum = sum_of_columns(first, behind);
    if ((features & SLC_IMAGE_SUMS) != 0) {
        c->sum_x[i] += sum;
        c->sum_y[i] += n * y;
    }
    if ((features & SLC_IMAGE_SECOND) != 0) {
        c->sum_xx[i] += sum_of_squares(behind) - sum_of_squares(first);
        c->sum_xy[i] += sum * y;
        c->sum_yy[i] += n * y * y;
    }
}

/* ---- grey -------------------------------------------------------------------------------------- */

/* An integer sum in the memory of a column of doubles. */
static inline void add_integer(double *sum, uint64_t more)
{
    uint64_t bits;
    memcpy(&bits, sum, sizeof bits);
    bits += more;
    memcpy(sum, &bits, sizeof bits);
}

static inline double as_double(double sum, bool integers)
{
    uint64_t bits;
    memcpy(&bits, &sum, sizeof bits);
    return integers ? (double)bits : sum;
}

static inline uint32_t grey_value(const slc_image_run_row *row, size_t x)
{
    switch (row->grey_type) {
    case SLC_IMAGE_U8:
        return ((const uint8_t *)row->grey)[x];
    case SLC_IMAGE_U16:
        return ((const uint16_t *)row->grey)[x];
    case SLC_IMAGE_U32:
        return ((const uint32_t *)row->grey)[x];
    default:
        return ((const uint8_t *)row->grey)[x / 8] >> x % 8 & 1U;
    }
}

static inline void add_extremes(slc_image_components *c, size_t i, double low, double high)
{
    /* False for what is not a number, on either side. */
    if (low < c->grey_min[i]) {
        c->grey_min[i] = low;
    }
    if (high > c->grey_max[i]) {
        c->grey_max[i] = high;
    }
}

static void add_grey_integers(slc_image_components *c, size_t i, const slc_image_run_row *row, size_t run)
{
    uint64_t mass = 0, moment = 0;
    uint32_t low = UINT32_MAX, high = 0;
    for (size_t x = row->first[run]; x < row->behind[run]; x++) {
        const uint32_t value = grey_value(row, x);
        mass += value;
        moment += (uint64_t)value * x;
        low = value < low ? value : low;
        high = value > high ? value : high;
    }
    add_integer(&c->mass[i], mass);
    add_integer(&c->weighted_x[i], moment);
    add_integer(&c->weighted_y[i], mass * row->y);
    add_extremes(c, i, low, high);
}

/* Straight into the component's sums, pixel after pixel, as the order of the additions is part of the result.
 */
static void add_grey_floats(slc_image_components *c, size_t i, const slc_image_run_row *row, size_t run)
{
    double mass = c->mass[i], moment_x = c->weighted_x[i], moment_y = c->weighted_y[i];
    for (size_t x = row->first[run]; x < row->behind[run]; x++) {
        const double value = ((const float *)row->grey)[x];
        mass += value;
        moment_x += value * (double)x;
        moment_y += value * (double)row->y;
        add_extremes(c, i, value, value);
    }
    c->mass[i] = mass;
    c->weighted_x[i] = moment_x;
    c->weighted_y[i] = moment_y;
}

/* ---- components -------------------------------------------------------------------------------- */

static void begin_one(uint32_t features, slc_image_components *c, size_t i)
{
    if ((features & SLC_IMAGE_AREA) != 0) {
        c->area[i] = 0;
    }
    if ((features & SLC_IMAGE_BOX) != 0) {
        c->x_min[i] = c->y_min[i] = UINT32_MAX;
        c->x_max[i] = c->y_max[i] = 0;
    }
    if ((features & SLC_IMAGE_FIRST) != 0) {
        c->first_x[i] = c->first_y[i] = UINT32_MAX;
    }
    if ((features & SLC_IMAGE_SUMS) != 0) {
        c->sum_x[i] = c->sum_y[i] = 0;
    }
    if ((features & SLC_IMAGE_SECOND) != 0) {
        c->sum_xx[i] = c->sum_xy[i] = c->sum_yy[i] = 0;
    }
    if ((features & SLC_IMAGE_PERIMETER) != 0) {
        c->perimeter[i] = 0;
    }
    if ((features & SLC_IMAGE_EULER) != 0) {
        c->euler[i] = 0;
    }
    if ((features & SLC_IMAGE_GREY) != 0) {
        /* All bits zero: the integer 0 as well as the double 0. */
        c->mass[i] = c->weighted_x[i] = c->weighted_y[i] = 0;
        c->grey_min[i] = (double)INFINITY;
        c->grey_max[i] = -(double)INFINITY;
    }
}

void slc_image_features_begin(uint32_t features, slc_image_components *components, size_t base, uint32_t n,
                              slc_image_type grey_type)
{
    (void)grey_type; /* integers and floats begin alike */
    for (size_t i = base; i < base + n; i++) {
        begin_one(slc_image_features_needed(features), components, i);
    }
}

/* What needs the rows of bits. */
static void add_outlines(uint32_t features, slc_image_components *c, size_t base,
                         const slc_image_run_row *row)
{
    const size_t reach = row->connectivity == 8 ? 1 : 0;
    for (size_t r = 0; r < row->n_runs; r++) {
        const size_t i = base + row->label[r] - 1, first = row->first[r], behind = row->behind[r];
        if (row->label[r] == 0) {
            continue;
        }
        if ((features & SLC_IMAGE_PERIMETER) != 0) {
            const uint64_t above = row->upper != NULL ? count_common(row->bits, row->upper, first, behind)
                                                      : 0;
            c->perimeter[i] += 2 * (1 + behind - first - above);
        }
        if ((features & SLC_IMAGE_EULER) != 0) {
            const size_t from = first - (first > 0 ? reach : 0);
            const size_t to = behind + (behind < row->width ? reach : 0);
            c->euler[i] += 1 - (row->upper != NULL ? (int64_t)count_runs(row->upper, from, to) : 0);
        }
    }
}

static void add_runs(uint32_t features, slc_image_components *c, size_t base, const slc_image_run_row *row)
{
    const uint32_t y = (uint32_t)row->y;
    for (size_t r = 0; r < row->n_runs; r++) {
        const size_t i = base + row->label[r] - 1;
        const uint32_t first = row->first[r], behind = row->behind[r];
        if (row->label[r] == 0) {
            continue;
        }
        if ((features & SLC_IMAGE_AREA) != 0) {
            c->area[i] += behind - first;
        }
        if ((features & SLC_IMAGE_BOX) != 0) {
            add_box(c, i, first, behind - 1, y, y);
        }
        if ((features & SLC_IMAGE_FIRST) != 0) {
            add_first(c, i, first, y);
        }
        if ((features & (SLC_IMAGE_SUMS | SLC_IMAGE_SECOND)) != 0) {
            add_moments(features, c, i, first, behind, y);
        }
    }
}

void slc_image_features_row(uint32_t features, slc_image_components *components, size_t base,
                            const slc_image_run_row *row)
{
    const uint32_t needed = slc_image_features_needed(features);
    const uint32_t outlines = SLC_IMAGE_PERIMETER | SLC_IMAGE_EULER;
    if ((needed & ~(outlines | SLC_IMAGE_GREY)) != 0) {
        add_runs(needed, components, base, row);
    }
    if ((needed & outlines) != 0) {
        add_outlines(needed, components, base, row);
    }
    for (size_t r = 0; r < row->n_runs && (needed & SLC_IMAGE_GREY) != 0; r++) {
        if (row->label[r] == 0) {
            continue;
        }
        if (row->grey_type == SLC_IMAGE_F32) {
            add_grey_floats(components, base + row->label[r] - 1, row, r);
        } else {
            add_grey_integers(components, base + row->label[r] - 1, row, r);
        }
    }
}

/* One sum of a grey image into another. */
static void merge_grey(double *column, size_t into, size_t from, bool integers)
{
    if (integers) {
        uint64_t more;
        memcpy(&more, &column[from], sizeof more);
        add_integer(&column[into], more);
    } else {
        column[into] += column[from];
    }
}

void slc_image_features_merge(uint32_t features, slc_image_components *c, size_t into, size_t from,
                              slc_image_type grey_type)
{
    const uint32_t needed = slc_image_features_needed(features);
    if ((needed & SLC_IMAGE_AREA) != 0) {
        c->area[into] += c->area[from];
    }
    if ((needed & SLC_IMAGE_BOX) != 0) {
        add_box(c, into, c->x_min[from], c->x_max[from], c->y_min[from], c->y_max[from]);
    }
    if ((needed & SLC_IMAGE_FIRST) != 0) {
        add_first(c, into, c->first_x[from], c->first_y[from]);
    }
    if ((needed & SLC_IMAGE_SUMS) != 0) {
        c->sum_x[into] += c->sum_x[from];
        c->sum_y[into] += c->sum_y[from];
    }
    if ((needed & SLC_IMAGE_SECOND) != 0) {
        c->sum_xx[into] += c->sum_xx[from];
        c->sum_xy[into] += c->sum_xy[from];
        c->sum_yy[into] += c->sum_yy[from];
    }
    if ((needed & SLC_IMAGE_PERIMETER) != 0) {
        c->perimeter[into] += c->perimeter[from];
    }
    if ((needed & SLC_IMAGE_EULER) != 0) {
        c->euler[into] += c->euler[from];
    }
    if ((needed & SLC_IMAGE_GREY) != 0) {
        const bool integers = grey_type != SLC_IMAGE_F32;
        merge_grey(c->mass, into, from, integers);
        merge_grey(c->weighted_x, into, from, integers);
        merge_grey(c->weighted_y, into, from, integers);
        add_extremes(c, into, c->grey_min[from], c->grey_max[from]);
    }
}

/* ---- derived columns --------------------------------------------------------------------------- */

static void end_shape(slc_image_components *c, size_t i)
{
    const slc_image_sums sums = {c->area[i],   c->sum_x[i],  c->sum_y[i],
                                 c->sum_xx[i], c->sum_xy[i], c->sum_yy[i]};
    const slc_image_shape shape = slc_image_shape_of(&sums);
    c->orientation[i] = shape.orientation;
    c->eccentricity[i] = shape.eccentricity;
    c->major[i] = shape.major;
    c->minor[i] = shape.minor;
}

static void end_grey(slc_image_components *c, size_t i, bool integers)
{
    const double mass = as_double(c->mass[i], integers);
    const double moment_x = as_double(c->weighted_x[i], integers);
    const double moment_y = as_double(c->weighted_y[i], integers);
    c->mass[i] = mass;
    c->weighted_x[i] = slc_image_weighted_of(moment_x, mass);
    c->weighted_y[i] = slc_image_weighted_of(moment_y, mass);
    if (!(c->grey_min[i] <= c->grey_max[i])) { /* there was no number */
        c->grey_min[i] = c->grey_max[i] = (double)NAN;
    }
}

void slc_image_features_mean(const uint64_t *sum, const uint64_t *area, size_t n, double *restrict mean)
{
    for (size_t i = 0; i < n; i++) {
        mean[i] = slc_image_mean_of(sum[i], area[i]);
    }
}

void slc_image_features_end(uint32_t features, slc_image_components *c, size_t base, uint32_t n,
                            slc_image_type grey_type)
{
    if ((features & SLC_IMAGE_CENTROID) != 0) {
        slc_image_features_mean(c->sum_x + base, c->area + base, n, c->x + base);
        slc_image_features_mean(c->sum_y + base, c->area + base, n, c->y + base);
    }
    if ((features & (SLC_IMAGE_SHAPE | SLC_IMAGE_GREY)) == 0) {
        return;
    }
    for (size_t i = base; i < base + n; i++) {
        if ((features & SLC_IMAGE_SHAPE) != 0) {
            end_shape(c, i);
        }
        if ((features & SLC_IMAGE_GREY) != 0) {
            end_grey(c, i, grey_type != SLC_IMAGE_F32);
        }
    }
}
