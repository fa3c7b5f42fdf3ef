/* SPDX-License-Identifier: Apache-2.0
 * Parts of objects that touch, over lists that are searched from end to end. */
#include "oracle/image_split_oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct plane {
    size_t width, height, depth, n;
    uint32_t connectivity;
    uint32_t *distance;
    uint32_t *hill;  /* of each pixel that was taken: the pixel that its hill began with, + 1; or 0 */
    uint8_t *begins; /* a part */
    double rise;
} plane;

/* The square of the distance of two pixels. */
static int64_t apart(size_t width, size_t height, size_t a, size_t b)
{
    const int64_t dx = (int64_t)(a % width) - (int64_t)(b % width),
                  dy = (int64_t)(a / width % height) - (int64_t)(b / width % height),
                  dz = (int64_t)(a / width / height) - (int64_t)(b / width / height);
    return dx * dx + dy * dy + dz * dz;
}

uint32_t image_distance_oracle(const uint8_t *on, size_t width, size_t height, size_t depth, size_t pixel)
{
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < width * height * depth; i++) {
        const uint32_t d = (uint32_t)apart(width, height, pixel, i);
        least = on[i] == 0 && d < least ? d : least;
    }
    return least;
}

/* Is b a neighbour of a? They share a face, an edge or a corner. */
static bool beside(const plane *p, size_t a, size_t b)
{
    const uint32_t c = p->connectivity;
    const int64_t most = c == 4 || c == 6    ? 1
                         : c == 8 || c == 18 ? 2
                                             : 3,
                  d = apart(p->width, p->height, a, b);
    return d > 0 && d <= most;
}

/* The next pixel in the order: of those not taken the highest, of equal ones the first; n: none. */
static size_t next_of(const plane *p, const uint8_t *taken)
{
    size_t best = p->n;
    for (size_t i = 0; i < p->n; i++) {
        if (p->distance[i] > 0 && taken[i] == 0 && (best == p->n || p->distance[i] > p->distance[best])) {
            best = i;
        }
    }
    return best;
}

/* Hill `ends` is joined to `goes_on` by a pixel. */
static void end_hill(plane *p, size_t pixel, uint32_t goes_on, uint32_t ends)
{
    const uint32_t high = p->distance[ends - 1], low = p->distance[pixel];
    if (high != low && sqrt((double)high) - sqrt((double)low) >= p->rise) {
        p->begins[ends - 1] = 1;
    }
    for (size_t i = 0; i < p->n; i++) {
        p->hill[i] = p->hill[i] == ends ? goes_on : p->hill[i];
    }
}

/* order[k]: when pixel k was taken. The earliest hill beside a pixel, + 1; 0: none. */
static uint32_t earliest(const plane *p, size_t pixel, const uint32_t *order)
{
    uint32_t found = 0;
    for (size_t i = 0; i < p->n; i++) {
        const uint32_t hill = p->hill[i];
        if (hill != 0 && beside(p, pixel, i) && (found == 0 || order[hill - 1] < order[found - 1])) {
            found = hill;
        }
    }
    return found;
}

static void find_beginnings(plane *p)
{
    uint8_t *taken = calloc(p->n, 1);
    uint32_t *order = calloc(p->n, sizeof *order), time = 0;
    for (size_t pixel = next_of(p, taken); pixel < p->n; pixel = next_of(p, taken)) {
        const uint32_t goes_on = earliest(p, pixel, order);
        for (size_t i = 0; i < p->n; i++) {
            if (p->hill[i] != 0 && p->hill[i] != goes_on && beside(p, pixel, i)) {
                end_hill(p, pixel, goes_on, p->hill[i]);
            }
        }
        taken[pixel] = 1;
        order[pixel] = time++;
        p->hill[pixel] = goes_on != 0 ? goes_on : (uint32_t)pixel + 1;
    }
    for (size_t i = 0; i < p->n; i++) { /* what is left has not ended */
        if (p->hill[i] != 0) {
            p->begins[p->hill[i] - 1] = 1;
        }
    }
    free(taken);
    free(order);
}

/* Into `part`: of each pixel the one that its part began with, + 1. */
static void flood(const plane *p, uint32_t *part)
{
    size_t *waits = calloc(p->n + 1, sizeof *waits), n = 0; /* the longest first */
    for (size_t i = 0; i < p->n; i++) {
        if (p->begins[i] != 0) {
            part[i] = (uint32_t)i + 1;
            waits[n++] = i;
        }
    }
    while (n > 0) {
        size_t best = 0;
        for (size_t i = 1; i < n; i++) {
            best = p->distance[waits[i]] > p->distance[waits[best]] ? i : best;
        }
        const size_t pixel = waits[best];
        memmove(waits + best, waits + best + 1, (n - best - 1) * sizeof *waits);
        n--;
        for (size_t i = 0; i < p->n; i++) {
            if (p->distance[i] > 0 && part[i] == 0 && beside(p, pixel, i)) {
                part[i] = part[pixel];
                waits[n++] = i;
            }
        }
    }
    free(waits);
}

static bool is_kept(const slc_image_split_config *c, const plane *p, const uint32_t *part, uint32_t which)
{
    uint64_t area = 0;
    bool border = false;
    for (size_t i = 0; i < p->n; i++) {
        const size_t x = i % p->width, y = i / p->width % p->height, z = i / p->width / p->height;
        const bool edge = x == 0 || y == 0 || x + 1 == p->width || y + 1 == p->height ||
                          (p->depth > 1 && (z == 0 || z + 1 == p->depth));
        area += part[i] == which;
        border = border || (part[i] == which && edge);
    }
    return area >= c->min_area && area <= c->max_area &&
           (c->border == SLC_IMAGE_BORDER_ANY || border == (c->border == SLC_IMAGE_BORDER_TOUCHING));
}

uint32_t image_split_oracle(const slc_image_split_config *config, const uint8_t *on, size_t width,
                            size_t height, size_t depth, uint32_t *labels)
{
    plane p = {.width = width,
               .height = height,
               .depth = depth,
               .n = width * height * depth,
               .connectivity = config->connectivity,
               .rise = config->depth};
    uint32_t *part = calloc(p.n, sizeof *part), found = 0;
    p.distance = calloc(p.n, sizeof *p.distance);
    p.hill = calloc(p.n, sizeof *p.hill);
    p.begins = calloc(p.n, 1);
    for (size_t i = 0; i < p.n; i++) {
        p.distance[i] = on[i] != 0 ? image_distance_oracle(on, width, height, depth, i) : 0;
    }
    find_beginnings(&p);
    flood(&p, part);
    memset(labels, 0, p.n * sizeof *labels);
    for (size_t i = 0; i < p.n; i++) {
        if (part[i] != 0 && labels[i] == 0 && is_kept(config, &p, part, part[i])) {
            found++;
            for (size_t k = i; k < p.n; k++) {
                labels[k] = part[k] == part[i] ? found : labels[k];
            }
        }
    }
    free(part);
    free(p.distance);
    free(p.hill);
    free(p.begins);
    return found;
}
