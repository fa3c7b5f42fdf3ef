/* SPDX-License-Identifier: Apache-2.0
 *
 * Flood fill: one component at a time, by a walk over its pixels with a stack (A. Hennequin's thesis, 2022,
 * section 4.2.1). Only pixels at which the walk had another way to go are put on the stack. Components are
 * begun in raster order, so labels come out in that order.
 */
#include "baselines/image_baselines.h"

#include <string.h>

typedef struct place {
    uint32_t x, y;
} place;

/* Neighbours in the order in which they are tried: along the row first. */
static const struct {
    int x, y;
} steps[8] = {{1, 0}, {-1, 0}, {0, 1}, {0, -1}, {1, 1}, {-1, 1}, {1, -1}, {-1, -1}};

/* Is the neighbour in the image, foreground, and not visited yet? */
static inline bool is_open(const slc_image_strip *strip, place at, unsigned step, place *neighbour)
{
    /* Beyond the left or top border the coordinate wraps around to a large one. */
    neighbour->x = at.x + (uint32_t)steps[step].x;
    neighbour->y = at.y + (uint32_t)steps[step].y;
    return neighbour->x < strip->width && neighbour->y < strip->height &&
           slc_image_strip_pixels(strip, neighbour->y)[neighbour->x] != 0 &&
           slc_image_strip_labels(strip, neighbour->y)[neighbour->x] == 0;
}

/* Goes on from a pixel: to its first open neighbour. A second one makes it a branching pixel, to come back
 * to. */
static inline bool go_on(const slc_image_strip *strip, place *at, place *stack, size_t *depth)
{
    const unsigned n = strip->connectivity;
    place next, other;
    unsigned step = 0;
    while (!is_open(strip, *at, step, &next)) {
        step++;
        if (step == n) {
            return false;
        }
    }
    for (step++; step < n; step++) {
        if (is_open(strip, *at, step, &other)) {
            stack[*depth] = *at;
            ++*depth;
            break;
        }
    }
    *at = next;
    return true;
}

static void fill(const slc_image_strip *strip, place at, uint32_t label, place *stack)
{
    size_t depth = 0;
    for (;;) {
        slc_image_strip_labels(strip, at.y)[at.x] = label;
        while (!go_on(strip, &at, stack, &depth)) {
            if (depth == 0) {
                return;
            }
            depth--;
            at = stack[depth];
        }
    }
}

/* A pixel is on the stack at most once: it is taken from it before the walk goes on there. */
size_t slc_image_flood_scratch(size_t width, size_t height, uint32_t connectivity)
{
    (void)connectivity;
    return slc_image_part(width * height * sizeof(place));
}

uint32_t slc_image_flood_label(const slc_image_strip *strip)
{
    uint32_t count = 0;
    for (size_t y = 0; y < strip->height; y++) {
        memset(slc_image_strip_labels(strip, y), 0, strip->width * sizeof(uint32_t));
    }
    for (size_t y = 0; y < strip->height; y++) {
        const uint8_t *pixels = slc_image_strip_pixels(strip, y);
        const uint32_t *labels = slc_image_strip_labels(strip, y);
        for (size_t x = 0; x < strip->width; x++) {
            if (pixels[x] != 0 && labels[x] == 0) {
                count++;
                fill(strip, (place){(uint32_t)x, (uint32_t)y}, count, strip->scratch);
            }
        }
    }
    return count;
}
