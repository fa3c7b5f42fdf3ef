/* SPDX-License-Identifier: Apache-2.0
 * Features of one region, slowly. */
#include "oracle/image_measure_oracle.h"

#include <math.h>
#include <stdlib.h>

enum { SIDE = ORACLE_MEASURE_SIDE, POINTS = 4 * SIDE * SIDE };

typedef struct region {
    bool on[SIDE + 2][SIDE + 2]; /* [y + 1][x + 1] */
} region;

typedef struct points {
    long x[POINTS], y[POINTS];
    size_t n;
} points;

static void add_point(points *p, long x, long y)
{
    for (size_t i = 0; i < p->n; i++) {
        if (p->x[i] == x && p->y[i] == y) {
            return;
        }
    }
    p->x[p->n] = x;
    p->y[p->n++] = y;
}

/* In half pixels, (0, 0) being the centre of the first one. */
static void corners_of(const region *r, points *p)
{
    p->n = 0;
    for (long y = 0; y < SIDE; y++) {
        for (long x = 0; x < SIDE; x++) {
            for (long k = 0; k < 4 && r->on[y + 1][x + 1]; k++) {
                add_point(p, 2 * x + (k % 2 == 0 ? 1 : -1), 2 * y + (k / 2 == 0 ? 1 : -1));
            }
        }
    }
}

static void middles_of(const region *r, points *p)
{
    p->n = 0;
    for (long y = 0; y < SIDE; y++) {
        for (long x = 0; x < SIDE; x++) {
            if (r->on[y + 1][x + 1]) {
                add_point(p, 2 * x - 1, 2 * y);
                add_point(p, 2 * x + 1, 2 * y);
                add_point(p, 2 * x, 2 * y - 1);
                add_point(p, 2 * x, 2 * y + 1);
            }
        }
    }
}

static long side_of(const points *p, size_t a, size_t b, long x, long y)
{
    return (p->x[b] - p->x[a]) * (y - p->y[a]) - (p->y[b] - p->y[a]) * (x - p->x[a]);
}

/* Are all points on the line from a to b or on one side of it? */
static bool is_edge(const points *p, size_t a, size_t b)
{
    for (size_t i = 0; i < p->n; i++) {
        if (side_of(p, a, b, p->x[i], p->y[i]) < 0) {
            return false;
        }
    }
    return a != b;
}

/* The lines that have all points on one side. */
typedef struct edges {
    size_t a[POINTS], b[POINTS], n;
} edges;

static void edges_of(const points *p, edges *e)
{
    e->n = 0;
    for (size_t a = 0; a < p->n; a++) {
        for (size_t b = 0; b < p->n; b++) {
            if (e->n < POINTS && is_edge(p, a, b)) {
                e->a[e->n] = a;
                e->b[e->n++] = b;
            }
        }
    }
}

static double largest_distance(const points *p)
{
    double most = 0;
    for (size_t a = 0; a < p->n; a++) {
        for (size_t b = 0; b < a; b++) {
            most = fmax(most, hypot((double)(p->x[a] - p->x[b]), (double)(p->y[a] - p->y[b])) / 2);
        }
    }
    return most;
}

static double smallest_width(const points *p, const edges *e)
{
    double least = (double)INFINITY;
    for (size_t i = 0; i < e->n; i++) {
        const size_t a = e->a[i], b = e->b[i];
        const double length = hypot((double)(p->x[a] - p->x[b]), (double)(p->y[a] - p->y[b]));
        double width = 0;
        for (size_t k = 0; k < p->n; k++) {
            width = fmax(width, (double)side_of(p, a, b, p->x[k], p->y[k]) / length / 2);
        }
        least = fmin(least, width);
    }
    return least;
}

static void hulls(const region *r, oracle_region *o)
{
    points *p = malloc(sizeof *p);
    edges *e = malloc(sizeof *e);
    region *whole = calloc(1, sizeof *whole);
    if (p == NULL || e == NULL || whole == NULL) {
        abort();
    }
    corners_of(r, p);
    edges_of(p, e);
    o->feret_max = largest_distance(p);
    o->feret_min = smallest_width(p, e);
    middles_of(r, p);
    edges_of(p, e);
    for (long y = 0; y < SIDE; y++) {
        for (long x = 0; x < SIDE; x++) {
            bool inside = true;
            for (size_t i = 0; i < e->n; i++) {
                inside = inside && side_of(p, e->a[i], e->b[i], 2 * x, 2 * y) >= 0;
            }
            whole->on[y + 1][x + 1] = inside;
            o->convex_area += inside;
        }
    }
    middles_of(whole, p);
    o->feret_outline = largest_distance(p);
    free(whole);
    free(e);
    free(p);
}

/* Windows of 2 x 2 pixels. The Euler number: S. B. Gray, IEEE Trans. Comp. 20, 1971, 551. Crofton's formula
 * with the weights of windows that scikit-image 0.19 has (measure/_regionprops_utils.py), where a window's
 * pixels count 1 (upper left), 4 (upper right), 2 (lower left), 8 (lower right). */
static void windows(const region *r, uint32_t connectivity, oracle_region *o)
{
    const double pi = acos(-1), root = sqrt(2);
    const double two[16] = {0, pi / 2, 0, 0, 0, pi / 2, 0, 0, pi / 2, pi, 0, 0, pi / 2, pi, 0, 0};
    const double four[16] = {0,
                             pi / 4 * (1 + 1 / root),
                             pi / (4 * root),
                             pi / (2 * root),
                             0,
                             pi / 4 * (1 + 1 / root),
                             0,
                             pi / (4 * root),
                             pi / 4,
                             pi / 2,
                             pi / (4 * root),
                             pi / (4 * root),
                             pi / 4,
                             pi / 2,
                             0,
                             0};
    long quads = 0;
    for (size_t y = 0; y + 1 < SIDE + 2; y++) {
        for (size_t x = 0; x + 1 < SIDE + 2; x++) {
            const bool a = r->on[y][x], b = r->on[y][x + 1], c = r->on[y + 1][x], d = r->on[y + 1][x + 1];
            const int n = a + b + c + d;
            const bool diagonal = n == 2 && a == d;
            quads += n == 1 ? 1 : n == 3 ? -1 : diagonal ? (connectivity == 8 ? -2 : 2) : 0;
            /* scipy's convolution turns its weights round: (1, 4 / 2, 8) lie as in (8, 2 / 4, 1) of a picture
             */
            const int code = 1 * d + 4 * c + 2 * b + 8 * a;
            o->crofton_2 += two[code];
            o->crofton_4 += four[code];
        }
    }
    o->euler = quads / 4;
}

static void take_pixel(oracle_region *o, const region *r, size_t x, size_t y, double grey)
{
    if (o->area == 0) {
        *o = (oracle_region){.x_min = x,
                             .x_max = x,
                             .y_min = y,
                             .y_max = y,
                             .first_x = x,
                             .first_y = y,
                             .grey_min = grey,
                             .grey_max = grey};
    }
    o->area++;
    o->x_min = x < o->x_min ? x : o->x_min;
    o->x_max = x > o->x_max ? x : o->x_max;
    o->y_max = y;
    o->sum_x += x;
    o->sum_y += y;
    o->sum_xx += x * x;
    o->sum_xy += x * y;
    o->sum_yy += y * y;
    const int sides = !r->on[y][x + 1] + !r->on[y + 2][x + 1] + !r->on[y + 1][x] + !r->on[y + 1][x + 2];
    o->perimeter += (uint64_t)sides;
    o->mass += grey;
    o->grey_min = fmin(o->grey_min, grey);
    o->grey_max = fmax(o->grey_max, grey);
}

oracle_region oracle_image_measure(const uint64_t *labels, size_t width, size_t height, uint64_t label,
                                   uint32_t connectivity, const double *grey)
{
    oracle_region o = {.area = 0};
    region *r = calloc(1, sizeof *r);
    long double squares = 0;
    if (r == NULL || width > SIDE || height > SIDE) {
        abort();
    }
    for (size_t i = 0; i < width * height; i++) {
        r->on[i / width + 1][i % width + 1] = labels[i] == label;
    }
    for (size_t i = 0; i < width * height; i++) {
        if (labels[i] == label) {
            take_pixel(&o, r, i % width, i / width, grey[i]);
        }
    }
    o.mean = o.mass / (double)o.area;
    for (size_t i = 0; i < width * height; i++) {
        const long double apart = (long double)grey[i] - o.mean;
        squares += labels[i] == label ? apart * apart : 0;
    }
    o.std = (double)sqrtl(squares / o.area);
    hulls(r, &o);
    windows(r, connectivity, &o);
    free(r);
    return o;
}
