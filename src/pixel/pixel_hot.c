/* SPDX-License-Identifier: Apache-2.0
 *
 * Hot pixels of a chip: counts against those of the pixels around, whatever the chip is lit by, as in the
 * VELO (src/velo/velo_monitor_pixels.c). A hot pixel hides others beside it, so that rounds go on until none
 * is found.
 */
#include "pixel/pixel_hot.h"

#include "base/improbable.h"

#include <stdlib.h>

enum { SIDE = SLC_PIXEL_HOT_SIDE, ALL = SLC_PIXEL_HOT_ALL, AROUND = SLC_PIXEL_HOT_AROUND, ROUNDS = 16 };

/* Sums over all pixels below and to the left; pixels that were hit are from x[0], y[0] to before x[1], y[1].
 */
typedef struct sums {
    uint64_t hits[SIDE + 1][SIDE + 1];
    uint64_t pixels[SIDE + 1][SIDE + 1];
    uint32_t x[2], y[2];
} sums;

static void find_box(sums *s, const uint32_t *hits)
{
    s->x[0] = s->y[0] = SIDE;
    s->x[1] = s->y[1] = 0;
    for (uint32_t i = 0; i < ALL; i++) {
        const uint32_t x = i % SIDE, y = i / SIDE;
        if (hits[i] > 0) {
            s->x[0] = x < s->x[0] ? x : s->x[0];
            s->y[0] = y < s->y[0] ? y : s->y[0];
            s->x[1] = x >= s->x[1] ? x + 1 : s->x[1];
            s->y[1] = y + 1;
        }
    }
}

static void sum_up(sums *s, const uint32_t *hits, const uint8_t *hot)
{
    for (uint32_t y = 0; y < SIDE; y++) {
        uint64_t n = 0;
        uint64_t pixels = 0;
        for (uint32_t x = 0; x < SIDE; x++) {
            const uint32_t i = y * SIDE + x;
            const bool inside = x >= s->x[0] && x < s->x[1] && y >= s->y[0] && y < s->y[1];
            n += hot[i] == 0 ? hits[i] : 0;
            pixels += hot[i] == 0 && inside;
            s->hits[y + 1][x + 1] = s->hits[y][x + 1] + n;
            s->pixels[y + 1][x + 1] = s->pixels[y][x + 1] + pixels;
        }
    }
}

/* Of a pixel the mean of the others around it; where they have none, as if all of them together had one. */
static double expect(const sums *s, const uint32_t *hits, const uint8_t *hot, uint32_t x, uint32_t y)
{
    const uint32_t left = x > AROUND ? x - AROUND : 0, right = x + AROUND < SIDE ? x + AROUND + 1 : SIDE;
    const uint32_t low = y > AROUND ? y - AROUND : 0, high = y + AROUND < SIDE ? y + AROUND + 1 : SIDE;
    const uint32_t own = y * SIDE + x;
    uint64_t n = s->hits[high][right] - s->hits[low][right] - s->hits[high][left] + s->hits[low][left];
    uint64_t pixels = s->pixels[high][right] - s->pixels[low][right] - s->pixels[high][left] +
                      s->pixels[low][left];
    if (hot[own] == 0) {
        n -= hits[own];
        pixels--;
    }
    return n > 0 ? (double)n / (double)pixels : 1.0 / 288;
}

slc_status slc_pixel_hot_find(const uint32_t *hits, uint8_t *hot, float *expected)
{
    sums *s = calloc(1, sizeof *s);
    if (s == NULL) {
        return SLC_ERR_MEMORY;
    }
    bool more = true;
    find_box(s, hits);
    for (int round = 0; round < ROUNDS && more; round++) {
        more = false;
        sum_up(s, hits, hot);
        for (uint32_t i = 0; i < ALL; i++) {
            if (hits[i] < 2 || hot[i] != 0) {
                continue;
            }
            const double mean = expect(s, hits, hot, i % SIDE, i / SIDE);
            if (hits[i] > SLC_PIXEL_HOT_FACTOR * mean &&
                slc_is_improbable(hits[i], mean, SLC_PIXEL_HOT_CHANCE)) {
                hot[i] = 3; /* from the next round on, as sums have it until then */
                more = true;
            }
        }
        for (uint32_t i = 0; i < ALL; i++) {
            hot[i] = hot[i] == 3 ? 2 : hot[i];
        }
    }
    sum_up(s, hits, hot);
    for (uint32_t i = 0; i < ALL; i++) {
        expected[i] = hot[i] == 2 ? (float)expect(s, hits, hot, i % SIDE, i / SIDE) : 0;
    }
    free(s);
    return SLC_OK;
}
