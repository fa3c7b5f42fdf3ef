/* SPDX-License-Identifier: Apache-2.0
 *
 * The multi-pass algorithm of R. Haralick (1981): every pixel begins with a label of its own, its address,
 * and takes the smallest label of its neighbours, in sweeps from the top left and from the bottom right in
 * turn, until nothing changes (A. Hennequin's thesis, 2022, section 4.2.2). The number of sweeps grows with
 * the turns of the longest path, which is why nobody uses it; it is here as what the others are measured
 * against.
 */
#include "baselines/image_baselines.h"

#include <string.h>

/* In all of this 0 is background, and subtracting 1 makes it the largest of all. */
static inline uint32_t smaller(uint32_t a, uint32_t b)
{
    return a - 1U < b - 1U ? a : b;
}

static void begin(const slc_image_strip *strip)
{
    uint32_t own = 0;
    for (size_t y = 0; y < strip->height; y++) {
        const uint8_t *pixels = slc_image_strip_pixels(strip, y);
        uint32_t *row = slc_image_strip_labels(strip, y);
        for (size_t x = 0; x < strip->width; x++) {
            own++;
            row[x] = pixels[x] != 0 ? own : 0;
        }
    }
}

/* The smallest label of pixel x, of its neighbour in `row` at x - step, and of those in `other`, the row that
 * was swept before. */
static inline uint32_t neighbourhood(const uint32_t *row, const uint32_t *other, size_t x, size_t width,
                                     size_t step, bool diagonal)
{
    uint32_t low = smaller(row[x], other[x]);
    if (x - step < width) {
        low = smaller(low, row[x - step]);
        low = diagonal ? smaller(low, other[x - step]) : low;
    }
    if (diagonal && x + step < width) {
        low = smaller(low, other[x + step]);
    }
    return low;
}

/* One row, from the left with step 1, from the right with step SIZE_MAX, which is -1. Did anything change? */
static bool sweep_row(uint32_t *row, const uint32_t *other, size_t width, size_t step, bool diagonal)
{
    bool changed = false;
    for (size_t x = step == 1 ? 0 : width - 1; x < width; x += step) {
        if (row[x] != 0) {
            const uint32_t low = neighbourhood(row, other, x, width, step, diagonal);
            changed = changed || low != row[x];
            row[x] = low;
        }
    }
    return changed;
}

static bool sweep(const slc_image_strip *strip, const uint32_t *zeros, bool down)
{
    const size_t height = strip->height;
    const uint32_t *other = zeros;
    bool changed = false;
    for (size_t i = 0; i < height; i++) {
        uint32_t *row = slc_image_strip_labels(strip, down ? i : height - 1 - i);
        if (sweep_row(row, other, strip->width, down ? 1 : SIZE_MAX, strip->connectivity == 8)) {
            changed = true;
        }
        other = row;
    }
    return changed;
}

/* The smallest address of a component is that of its first pixel, which therefore comes by before all others.
 */
static uint32_t number(const slc_image_strip *strip, uint32_t *numbers)
{
    uint32_t own = 0, count = 0;
    for (size_t y = 0; y < strip->height; y++) {
        uint32_t *row = slc_image_strip_labels(strip, y);
        for (size_t x = 0; x < strip->width; x++) {
            own++;
            if (row[x] != 0) {
                if (row[x] == own) {
                    count++;
                    numbers[own] = count;
                }
                row[x] = numbers[row[x]];
            }
        }
    }
    return count;
}

size_t slc_image_iterative_scratch(size_t width, size_t height, uint32_t connectivity)
{
    (void)connectivity;
    return slc_image_part(width * sizeof(uint32_t)) + slc_image_part((width * height + 1) * sizeof(uint32_t));
}

uint32_t slc_image_iterative_label(const slc_image_strip *strip)
{
    uint32_t *zeros = strip->scratch;
    uint32_t *numbers = (uint32_t *)(void *)((char *)strip->scratch +
                                             slc_image_part(strip->width * sizeof *zeros));
    memset(zeros, 0, strip->width * sizeof *zeros);
    begin(strip);
    /* After a sweep no label is larger than that of a neighbour which it met before; a sweep the other way
     * that changes nothing says the same of those that it met behind. */
    sweep(strip, zeros, true);
    for (bool down = false; sweep(strip, zeros, down);) {
        down = !down;
    }
    return number(strip, numbers);
}
