/* SPDX-License-Identifier: Apache-2.0
 *
 * Moments of clusters in integers that hold all of them, and what follows: columns peak, squared, shape,
 * kind. Python's tests compare these with NumPy's eigenvalues; here they are to be the same to the last bit.
 */
#ifndef TESTS_ORACLE_PIXEL_SHAPE_ORACLE_H
#define TESTS_ORACLE_PIXEL_SHAPE_ORACLE_H

#include <sluice/pixel.h>

#include <math.h>

__extension__ typedef unsigned __int128 oracle_wide;

typedef struct oracle_pixel_moments {
    oracle_wide n, x, y, xx, xy, yy, squares, squared_x, squared_y;
    uint64_t peak, x_min, x_max, y_min, y_max;
} oracle_pixel_moments;

static inline void oracle_pixel_moments_add(oracle_pixel_moments *m, uint64_t x, uint64_t y, uint64_t charge)
{
    const oracle_wide square = (oracle_wide)charge * charge;
    m->x_min = m->n == 0 || x < m->x_min ? x : m->x_min;
    m->y_min = m->n == 0 || y < m->y_min ? y : m->y_min;
    m->x_max = x > m->x_max ? x : m->x_max;
    m->y_max = y > m->y_max ? y : m->y_max;
    m->n += 1;
    m->x += x;
    m->y += y;
    m->xx += x * x;
    m->xy += x * y;
    m->yy += y * y;
    m->squares += square;
    m->squared_x += square * x;
    m->squared_y += square * y;
    m->peak = charge > m->peak ? charge : m->peak;
}

static inline double oracle_wide_real(oracle_wide value)
{
    return (double)(uint64_t)(value >> 64) * 0x1p64 + (double)(uint64_t)value;
}

/* a - b in units of n². */
static inline double oracle_per_square(oracle_wide a, oracle_wide b, oracle_wide n)
{
    const double size = a < b ? -oracle_wide_real(b - a) : oracle_wide_real(a - b);
    return size / oracle_wide_real(n * n);
}

typedef struct oracle_pixel_shape {
    double length, width, linearity, roundness, squared_x, squared_y;
    uint16_t kind;
} oracle_pixel_shape;

/* As docs/howto/cluster-pixels.md has it. */
static inline uint16_t oracle_pixel_kind(const oracle_pixel_shape *s, const oracle_pixel_moments *m)
{
    const bool is_round = s->roundness >= 0.5, is_short = s->length < 3.5, is_wide = s->width >= 3.5;
    const bool is_full = (double)m->n >= 0.6 * s->length * s->width;
    if (m->x_max - m->x_min < 2 && m->y_max - m->y_min < 2) {
        return SLC_PIXEL_DOT;
    }
    if (is_round || is_short) {
        return is_wide ? SLC_PIXEL_HEAVY_BLOB : SLC_PIXEL_SMALL_BLOB;
    }
    if (s->linearity >= 0.9 && is_full) {
        return (double)m->n >= 3 * s->length ? SLC_PIXEL_HEAVY_TRACK : SLC_PIXEL_STRAIGHT_TRACK;
    }
    return SLC_PIXEL_CURLY_TRACK;
}

static inline oracle_pixel_shape oracle_pixel_shape_of(const oracle_pixel_moments *m)
{
    oracle_pixel_shape s = {.squared_x = (double)NAN, .squared_y = (double)NAN};
    const double a = oracle_per_square(m->n * m->xx, m->x * m->x, m->n);
    const double b = oracle_per_square(m->n * m->xy, m->x * m->y, m->n);
    const double c = oracle_per_square(m->n * m->yy, m->y * m->y, m->n);
    const double root = sqrt((a - c) / 2 * ((a - c) / 2) + b * b), p = (a + c) / 2 + 1.0 / 12 + root;
    double q = root > 0 ? (a * c - b * b + (a + c) / 12 + 1.0 / 144) / p : p;
    q = q < 1.0 / 12 ? 1.0 / 12 : q > p ? p : q;
    s.length = sqrt(12 * p);
    s.width = sqrt(12 * q);
    s.linearity = 1 - q / p;
    s.roundness = (double)m->n / (4 * 3.14159265358979323846 * p);
    s.kind = oracle_pixel_kind(&s, m);
    if (m->squares > 0) {
        s.squared_x = oracle_wide_real(m->squared_x) / oracle_wide_real(m->squares);
        s.squared_y = oracle_wide_real(m->squared_y) / oracle_wide_real(m->squares);
    }
    return s;
}

/* Whether all columns of a row are so. */
static inline bool oracle_pixel_shape_same(const slc_pixel_clusters *c, size_t row,
                                           const oracle_pixel_moments *m)
{
    const oracle_pixel_shape s = oracle_pixel_shape_of(m);
    const bool squared = m->squares > 0 ? c->squared_x[row] == s.squared_x && c->squared_y[row] == s.squared_y
                                        : isnan(c->squared_x[row]) && isnan(c->squared_y[row]);
    return squared && c->peak[row] == m->peak && c->length[row] == s.length && c->width[row] == s.width &&
           c->linearity[row] == s.linearity && c->roundness[row] == s.roundness && c->kind[row] == s.kind;
}

#endif
