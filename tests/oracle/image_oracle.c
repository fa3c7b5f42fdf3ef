/* SPDX-License-Identifier: Apache-2.0
 *
 * Connected components by flood fill and by a fixpoint, and their features by counting.
 */
#include "oracle/image_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

/* Neighbours: the first four share an edge, the others a corner. */
static const int step_x[8] = {0, -1, 1, 0, -1, 1, -1, 1};
static const int step_y[8] = {-1, 0, 0, 1, -1, -1, 1, 1};

/* Index of neighbour number k of a pixel, SIZE_MAX outside of the image. */
static size_t neighbour(size_t at, int k, size_t width, size_t height)
{
    const size_t x = at % width + (size_t)step_x[k], y = at / width + (size_t)step_y[k];
    return x < width && y < height ? y * width + x : SIZE_MAX;
}

static void *room(size_t n, size_t size)
{
    void *memory = malloc(n * size + 1);
    if (memory == NULL) {
        abort();
    }
    return memory;
}

/* Gives `label` to the pixel `start` and to all that can be reached from it through pixels that are on and
 * have no label. */
static void flood(const uint8_t *on, size_t width, size_t height, uint32_t connectivity, size_t start,
                  uint32_t label, uint32_t *labels, size_t *stack)
{
    size_t depth = 0;
    stack[depth++] = start;
    labels[start] = label;
    while (depth > 0) {
        const size_t at = stack[--depth];
        for (int k = 0; k < (int)connectivity; k++) {
            const size_t next = neighbour(at, k, width, height);
            if (next != SIZE_MAX && on[next] != 0 && labels[next] == 0) {
                labels[next] = label;
                stack[depth++] = next;
            }
        }
    }
}

uint32_t oracle_image_label(const uint8_t *on, size_t width, size_t height, uint32_t connectivity,
                            uint32_t *labels)
{
    const size_t n = width * height;
    size_t *stack = room(n, sizeof *stack);
    uint32_t count = 0;
    memset(labels, 0, n * sizeof *labels);
    for (size_t i = 0; i < n; i++) {
        if (on[i] != 0 && labels[i] == 0) {
            flood(on, width, height, connectivity, i, ++count, labels, stack);
        }
    }
    free(stack);
    return count;
}

/* Labels that are any numbers from 1, the same for the same component, to consecutive ones in the order in
 * which they are met. No number is larger than n. */
static uint32_t renumber(uint32_t *labels, size_t n)
{
    uint32_t *number = room(n + 1, sizeof *number), count = 0;
    memset(number, 0, (n + 1) * sizeof *number);
    for (size_t i = 0; i < n; i++) {
        if (labels[i] != 0) {
            if (number[labels[i]] == 0) {
                number[labels[i]] = ++count;
            }
            labels[i] = number[labels[i]];
        }
    }
    free(number);
    return count;
}

/* Takes over the smallest label of the neighbours. */
static bool lower(uint32_t *labels, size_t i, size_t width, size_t height, uint32_t connectivity)
{
    bool changed = false;
    for (int k = 0; labels[i] != 0 && k < (int)connectivity; k++) {
        const size_t next = neighbour(i, k, width, height);
        if (next != SIZE_MAX && labels[next] != 0 && labels[next] < labels[i]) {
            labels[i] = labels[next];
            changed = true;
        }
    }
    return changed;
}

uint32_t oracle_image_label_fixpoint(const uint8_t *on, size_t width, size_t height, uint32_t connectivity,
                                     uint32_t *labels)
{
    const size_t n = width * height;
    for (size_t i = 0; i < n; i++) {
        labels[i] = on[i] != 0 ? (uint32_t)i + 1 : 0;
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t i = 0; i < n; i++) {
            changed |= lower(labels, i, width, height, connectivity);
        }
        for (size_t i = n; i-- > 0;) {
            changed |= lower(labels, i, width, height, connectivity);
        }
    }
    return renumber(labels, n);
}

uint32_t oracle_image_filter(uint32_t *labels, size_t width, size_t height, uint32_t n, uint64_t min_area,
                             uint64_t max_area, slc_image_border border)
{
    uint64_t *area = room((size_t)n + 1, sizeof *area);
    bool *touching = room((size_t)n + 1, sizeof *touching);
    memset(area, 0, ((size_t)n + 1) * sizeof *area);
    memset(touching, 0, ((size_t)n + 1) * sizeof *touching);
    for (size_t i = 0; i < width * height; i++) {
        const size_t x = i % width, y = i / width;
        area[labels[i]]++;
        if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
            touching[labels[i]] = true;
        }
    }
    for (size_t i = 0; i < width * height; i++) {
        const uint32_t l = labels[i];
        if (area[l] < min_area || area[l] > max_area || (border == SLC_IMAGE_BORDER_INSIDE && touching[l]) ||
            (border == SLC_IMAGE_BORDER_TOUCHING && !touching[l])) {
            labels[i] = 0;
        }
    }
    free(area);
    free(touching);
    return renumber(labels, width * height);
}

/* ---- features ---------------------------------------------------------------------------------- */

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}
static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Sides of the pixel behind which there is not the same label. */
static uint64_t edges(const uint32_t *labels, size_t at, size_t width, size_t height)
{
    uint64_t n = 0;
    for (int k = 0; k < 4; k++) {
        const size_t next = neighbour(at, k, width, height);
        n += next == SIZE_MAX || labels[next] != labels[at];
    }
    return n;
}

static void add_pixel(oracle_component *c, uint64_t x, uint64_t y)
{
    if (c->area == 0) {
        c->first_x = c->x_min = c->x_max = x;
        c->first_y = c->y_min = c->y_max = y;
    }
    c->area++;
    c->x_min = smaller(c->x_min, x);
    c->x_max = larger(c->x_max, x);
    c->y_min = smaller(c->y_min, y);
    c->y_max = larger(c->y_max, y);
    c->sum_x += x;
    c->sum_y += y;
    c->sum_xx += x * x;
    c->sum_xy += x * y;
    c->sum_yy += y * y;
}

/* 1 minus the number of parts, in the other connectivity, of what is not the component, the one that
 * surrounds its box left out. */
static int64_t euler(const uint32_t *labels, size_t width, uint32_t label, uint32_t connectivity,
                     const oracle_component *c)
{
    const size_t w = c->x_max - c->x_min + 3, h = c->y_max - c->y_min + 3;
    uint8_t *other = room(w * h, sizeof *other);
    uint32_t *parts = room(w * h, sizeof *parts);
    memset(other, 1, w * h);
    for (size_t y = 1; y < h - 1; y++) {
        for (size_t x = 1; x < w - 1; x++) {
            const size_t at = (c->y_min + y - 1) * width + c->x_min + x - 1;
            other[y * w + x] = labels[at] != label;
        }
    }
    const uint32_t n = oracle_image_label(other, w, h, connectivity == 8 ? 4 : 8, parts);
    free(other);
    free(parts);
    return 1 - ((int64_t)n - 1);
}

/* The ellipse from central moments; those times the square of the area are whole numbers. */
static void shape(oracle_component *c)
{
    const wide n = (wide)c->area;
    const wide xx = n * (wide)c->sum_xx - (wide)c->sum_x * (wide)c->sum_x;
    const wide yy = n * (wide)c->sum_yy - (wide)c->sum_y * (wide)c->sum_y;
    const wide xy = n * (wide)c->sum_xy - (wide)c->sum_x * (wide)c->sum_y;
    const long double nn = (long double)n * (long double)n;
    const long double a = (long double)xx / nn + 1.0L / 12, b = (long double)xy / nn,
                      d = (long double)yy / nn + 1.0L / 12;
    const long double difference = (long double)(xx - yy) / nn;
    const long double root = sqrtl(difference * difference + 4 * b * b);
    const long double large = (a + d + root) / 2, small = (a * d - b * b) / large;
    c->isotropic = xx == yy && xy == 0;
    c->upright = xy == 0;
    /* The direction (cos, sin) in which the variance is largest, as half the angle of the doubled one. */
    c->orientation = c->isotropic ? 0.0 : (double)(atan2l(2 * b, difference) / 2);
    if (c->upright && !c->isotropic) {
        c->orientation = xx > yy ? 0.0 : acos(0.0);
    }
    c->major = (double)(4 * sqrtl(large));
    c->minor = (double)(4 * sqrtl(small));
    c->eccentricity = (double)sqrtl(root / large);
}

typedef struct grey_sums {
    double v, vx, vy; /* of floats */
    uint64_t n, nx, ny;
} grey_sums;

static void add_grey(oracle_component *c, grey_sums *sums, double value, bool real, uint64_t x, uint64_t y)
{
    if (real) {
        sums->v += value;
        sums->vx += value * (double)x;
        sums->vy += value * (double)y;
    } else {
        sums->n += (uint64_t)value;
        sums->nx += (uint64_t)value * x;
        sums->ny += (uint64_t)value * y;
    }
    /* fmin and fmax pass over what is not a number. */
    c->grey_min = fmin(c->grey_min, value);
    c->grey_max = fmax(c->grey_max, value);
}

static void derive(oracle_component *c, const grey_sums *sums, bool real)
{
    c->x = (double)((long double)c->sum_x / (long double)c->area);
    c->y = (double)((long double)c->sum_y / (long double)c->area);
    shape(c);
    c->mass = real ? sums->v : (double)sums->n;
    c->weighted_x = (real ? sums->vx : (double)sums->nx) / c->mass;
    c->weighted_y = (real ? sums->vy : (double)sums->ny) / c->mass;
}

void oracle_image_components(const uint32_t *labels, size_t width, size_t height, uint32_t n,
                             uint32_t connectivity, const double *grey, bool real,
                             oracle_component *components)
{
    grey_sums *sums = room(n, sizeof *sums);
    for (uint32_t l = 0; l < n; l++) {
        components[l] = (oracle_component){.grey_min = NAN, .grey_max = NAN};
        sums[l] = (grey_sums){0};
    }
    for (size_t i = 0; i < width * height; i++) {
        if (labels[i] != 0) {
            oracle_component *c = &components[labels[i] - 1];
            add_pixel(c, i % width, i / width);
            c->perimeter += edges(labels, i, width, height);
            if (grey != NULL) {
                add_grey(c, &sums[labels[i] - 1], grey[i], real, i % width, i / width);
            }
        }
    }
    for (uint32_t l = 0; l < n; l++) {
        components[l].euler = euler(labels, width, l + 1, connectivity, &components[l]);
        derive(&components[l], &sums[l], real);
    }
    free(sums);
}
