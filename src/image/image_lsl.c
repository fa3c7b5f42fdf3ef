/* SPDX-License-Identifier: Apache-2.0
 *
 * Light speed labeling of L. Lacassagne and B. Zavidovique (J. Real-Time Image Processing 6, 2011):
 * equivalences between runs of foreground instead of pixels. Within its row a pixel has a relative label, the
 * number of changes up to it, so runs have odd ones; a look at the relative labels of the row above, at both
 * ends of a run, tells at once which runs it touches.
 *
 *     pixels   0 1 1 0 0 1
 *     ER       0 1 1 2 2 3    relative labels
 *     RLC      1 3 5 6        run boundaries
 *     ERA      0 e 0 e'       the absolute label of every relative one; `table` has their equivalences
 *
 * std: relative labels are kept, in the label image, and each is turned into its absolute one in the end.
 * rle: boundaries are kept; relative labels, of two rows at a time, and final ones are written run by run.
 */
#include "base/block.h"
#include "image/image_algorithms.h"

#include <assert.h>
#include <string.h>

typedef struct lsl {
    size_t *first;   /* of every row: where its boundaries and its ERA begin; and where the last ones end */
    uint32_t *er[2]; /* of two rows, for rle */
    uint32_t *boundaries; /* of all rows, for rle; of one for std */
    uint32_t *era;        /* of all rows */
    uint32_t *table;
    uint32_t labels;
    size_t bytes; /* of scratch */
} lsl;

/* Relative labels of a row are 0 to the number of its boundaries, which is at most its width, made even. */
static size_t all_rows(size_t width, size_t height)
{
    return (width + 2) * height;
}

static lsl layout(const slc_image_strip *strip)
{
    const size_t width = strip->width, all = all_rows(width, strip->height);
    slc_arena a = {.at = strip->scratch, .align = SLC_COLUMN_ALIGN};
    lsl s = {.first = slc_arena_take(&a, strip->height + 1, sizeof(size_t))};
    s.er[0] = slc_arena_take(&a, width + 8, sizeof(uint32_t));
    s.er[1] = slc_arena_take(&a, width + 8, sizeof(uint32_t));
    s.boundaries = slc_arena_take(&a, all, sizeof(uint32_t));
    s.era = slc_arena_take(&a, all, sizeof(uint32_t));
    s.table = slc_arena_take(&a, slc_image_table_entries(width, strip->height, strip->connectivity),
                             sizeof(uint32_t));
    s.bytes = a.used;
    return s;
}

size_t slc_image_lsl_scratch(size_t width, size_t height, uint32_t connectivity)
{
    return layout(&(slc_image_strip){.width = width, .height = height, .connectivity = connectivity}).bytes;
}

/* Run boundaries of a row, and for `std` its relative labels; returns the number of boundaries, made even.
 * Every boundary's place is written at every pixel, and the count moves on where there was a change. */
static inline uint32_t find_boundaries(const uint8_t *pixels, size_t width, uint32_t *boundaries,
                                       uint32_t *er)
{
    uint32_t n = 0, before = 0;
    for (size_t x = 0; x < width; x++) {
        const uint32_t pixel = pixels[x] != 0 ? 1 : 0;
        boundaries[n] = (uint32_t)x;
        n += pixel ^ before;
        if (er != NULL) {
            er[x] = n;
        }
        before = pixel;
    }
    boundaries[n] = (uint32_t)width;
    return n + (n & 1U);
}

/* At least from `begin` to before `end`, at most to `room`: what is written too much is written again by what
 * follows. So a short run is eight stores that compilers make few of, and no loop whose length nobody can
 * guess. */
static inline void fill(uint32_t *row, size_t begin, size_t end, size_t room, uint32_t value)
{
    for (; begin < end && begin + 8 <= room; begin += 8) {
        for (size_t k = 0; k < 8; k++) {
            row[begin + k] = value;
        }
    }
    for (; begin < end; begin++) {
        row[begin] = value;
    }
}

/* The relative labels of a row, a run at a time; there is room for 8 more. */
static void fill_relative(const uint32_t *boundaries, uint32_t n, size_t width, uint32_t *er)
{
    size_t x = 0;
    for (uint32_t k = 0; k < n; k++) {
        fill(er, x, boundaries[k], width + 8, k);
        x = boundaries[k];
    }
    fill(er, x, width, width + 8, n);
}

/* The absolute label of a run that covers the relative labels from er0, which is odd, to er1 of the row
 * above. */
static uint32_t label_above(lsl *s, const uint32_t *era_above, uint32_t er0, uint32_t er1)
{
    uint32_t low = slc_image_root(s->table, era_above[er0]);
    for (uint32_t er = er0 + 2; er <= er1; er += 2) {
        const uint32_t root = slc_image_root(s->table, era_above[er]);
        if (root != low) {
            low = slc_image_hang(s->table, low, root);
        }
    }
    return low;
}

/* Equivalences of a row; er_above is NULL in the first. */
static void absolute(lsl *s, const uint32_t *boundaries, uint32_t n, const uint32_t *er_above,
                     const uint32_t *era_above, uint32_t *era, size_t width, size_t reach)
{
    era[0] = 0;
    for (uint32_t k = 0; k < n; k += 2) {
        const size_t begin = boundaries[k], last = boundaries[k + 1] - 1;
        uint32_t label = 0;
        if (er_above != NULL) {
            uint32_t er0 = er_above[begin >= reach ? begin - reach : 0];
            const uint32_t er1 = er_above[last + reach < width ? last + reach : width - 1];
            er0 += 1 - (er0 & 1U); /* from background on to the next run; beyond er1 where there is none */
            label = er0 <= er1 ? label_above(s, era_above, er0, er1) : 0;
        }
        if (label == 0) {
            s->labels++;
            label = s->labels;
            s->table[label] = label;
        }
        era[k + 1] = label;
        era[k + 2] = 0;
    }
}

static inline void first_pass(const slc_image_strip *strip, lsl *s, bool rle)
{
    const uint32_t *er_above = NULL, *era_above = NULL;
    const size_t reach = strip->connectivity == 8 ? 1 : 0;
    s->first[0] = 0;
    for (size_t y = 0; y < strip->height; y++) {
        const uint8_t *pixels = slc_image_strip_pixels(strip, y);
        uint32_t *er = rle ? s->er[y % 2] : slc_image_strip_labels(strip, y);
        uint32_t *boundaries = s->boundaries + (rle ? s->first[y] : 0), *era = s->era + s->first[y];
        const uint32_t n = find_boundaries(pixels, strip->width, boundaries, rle ? NULL : er);
        if (rle) {
            fill_relative(boundaries, n, strip->width, er);
        }
        absolute(s, boundaries, n, er_above, era_above, era, strip->width, reach);
        s->first[y + 1] = s->first[y] + n + 1;
        er_above = er;
        era_above = era;
    }
}

/* Final labels for relative ones: pixel by pixel. */
uint32_t slc_image_lsl_std_label(const slc_image_strip *strip)
{
    assert(strip->scratch != NULL);
    lsl s = layout(strip);
    first_pass(strip, &s, false);
    const uint32_t roots = slc_image_number_roots(s.table, s.labels);
    for (size_t y = 0; y < strip->height; y++) {
        uint32_t *row = slc_image_strip_labels(strip, y), *era = s.era + s.first[y];
        for (size_t k = 0; k < s.first[y + 1] - s.first[y]; k++) {
            era[k] = s.table[era[k]];
        }
        for (size_t x = 0; x < strip->width; x++) {
            row[x] = era[row[x]];
        }
    }
    return roots;
}

/* The same, run by run. */
uint32_t slc_image_lsl_rle_label(const slc_image_strip *strip)
{
    assert(strip->scratch != NULL);
    lsl s = layout(strip);
    first_pass(strip, &s, true);
    const uint32_t roots = slc_image_number_roots(s.table, s.labels);
    for (size_t y = 0; y < strip->height; y++) {
        uint32_t *row = slc_image_strip_labels(strip, y);
        const uint32_t *era = s.era + s.first[y], *boundaries = s.boundaries + s.first[y];
        const size_t n = s.first[y + 1] - s.first[y] - 1;
        size_t x = 0;
        for (size_t k = 0; k < n; k += 2) {
            fill(row, x, boundaries[k], strip->width, 0);
            fill(row, boundaries[k], boundaries[k + 1], strip->width, s.table[era[k + 1]]);
            x = boundaries[k + 1];
        }
        fill(row, x, strip->width, strip->width, 0);
    }
    return roots;
}
