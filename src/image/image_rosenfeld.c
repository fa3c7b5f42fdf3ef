/* SPDX-License-Identifier: Apache-2.0
 *
 * The two-pass algorithm of A. Rosenfeld and J. Pfaltz (J. ACM 13, 1966), pixel by pixel: a pixel takes a
 * label of its neighbours above and on the left, which are merged where they differ; a second pass writes
 * roots. With all four neighbours looked at (A. Hennequin's thesis, 2022, algorithms 1 to 4), and with the
 * decision tree of K. Wu, E. Otoo and K. Suzuki (2009), which looks only as far as the answer needs
 * (figures 4.4 and 4.5: only stairs and concavities merge, so there is at most one merge a pixel).
 *
 *     a b c
 *     d x
 */
#include "image/image_algorithms.h"

#include <string.h>

typedef struct scan {
    const uint32_t *up; /* labels of the row above; zeros above the first */
    uint32_t *row;      /* and of this one */
    uint32_t *table;
    uint32_t labels; /* so many are given */
} scan;

static uint32_t new_label(scan *s)
{
    s->labels++;
    s->table[s->labels] = s->labels;
    return s->labels;
}

/* The smallest of two roots where 0 is none. */
static uint32_t smallest(uint32_t a, uint32_t b)
{
    return a - 1U < b - 1U ? a : b;
}

static uint32_t root_of(const scan *s, uint32_t label)
{
    return label != 0 ? slc_image_root(s->table, label) : 0;
}

static void hang(scan *s, uint32_t root, uint32_t low)
{
    if (root != 0 && root != low) {
        s->table[root] = low;
    }
}

/* Algorithm 1. `left` and `right`: is there a column on that side? */
static inline uint32_t visit_all(scan *s, size_t x, bool left, bool right, bool diagonal)
{
    const uint32_t a = left && diagonal ? s->up[x - 1] : 0, b = s->up[x];
    const uint32_t c = right && diagonal ? s->up[x + 1] : 0, d = left ? s->row[x - 1] : 0;
    if ((a | b | c | d) == 0) {
        return new_label(s);
    }
    const uint32_t root_a = root_of(s, a), root_b = root_of(s, b), root_c = root_of(s, c);
    const uint32_t root_d = root_of(s, d);
    const uint32_t low = smallest(smallest(root_a, root_b), smallest(root_c, root_d));
    hang(s, root_a, low);
    hang(s, root_b, low);
    hang(s, root_c, low);
    hang(s, root_d, low);
    return low;
}

static uint32_t merge(scan *s, uint32_t a, uint32_t b)
{
    return a == b ? a : slc_image_hang(s->table, slc_image_root(s->table, a), slc_image_root(s->table, b));
}

/* Figure 4.5. b is a neighbour of a, c and d, so where it is set they are merged already, as a and d are. */
static inline uint32_t visit_tree(scan *s, size_t x, bool left, bool right)
{
    const uint32_t b = s->up[x];
    if (b != 0) {
        return b;
    }
    const uint32_t c = right ? s->up[x + 1] : 0;
    const uint32_t a = left ? s->up[x - 1] : 0;
    if (c != 0) {
        if (a != 0) {
            return merge(s, a, c); /* concavity */
        }
        const uint32_t d = left ? s->row[x - 1] : 0;
        return d != 0 ? merge(s, c, d) : c; /* stairs */
    }
    if (a != 0) {
        return a;
    }
    const uint32_t d = left ? s->row[x - 1] : 0;
    return d != 0 ? d : new_label(s);
}

/* The tree of 4-connectivity. b and d are merged already where the pixel between them, a, is set. */
static inline uint32_t visit_tree4(scan *s, size_t x, bool left)
{
    const uint32_t b = s->up[x], d = left ? s->row[x - 1] : 0;
    if (b == 0) {
        return d != 0 ? d : new_label(s);
    }
    return d == 0 || s->up[x - 1] != 0 ? b : merge(s, b, d);
}

static inline uint32_t visit(scan *s, size_t x, bool left, bool right, bool diagonal, bool tree)
{
    if (!tree) {
        return visit_all(s, x, left, right, diagonal);
    }
    return diagonal ? visit_tree(s, x, left, right) : visit_tree4(s, x, left);
}

static inline void first_pass(const slc_image_strip *strip, scan *s, uint32_t *zeros, bool diagonal,
                              bool tree)
{
    const size_t width = strip->width;
    memset(zeros, 0, width * sizeof *zeros);
    s->up = zeros;
    for (size_t y = 0; y < strip->height; y++) {
        const uint8_t *pixels = slc_image_strip_pixels(strip, y);
        s->row = slc_image_strip_labels(strip, y);
        s->row[0] = pixels[0] != 0 ? visit(s, 0, false, width > 1, diagonal, tree) : 0;
        for (size_t x = 1; x + 1 < width; x++) {
            s->row[x] = pixels[x] != 0 ? visit(s, x, true, true, diagonal, tree) : 0;
        }
        if (width > 1) {
            const size_t x = width - 1;
            s->row[x] = pixels[x] != 0 ? visit(s, x, true, false, diagonal, tree) : 0;
        }
        s->up = s->row;
    }
}

static uint32_t second_pass(const slc_image_strip *strip, scan *s)
{
    const uint32_t roots = slc_image_number_roots(s->table, s->labels);
    for (size_t y = 0; y < strip->height; y++) {
        uint32_t *row = slc_image_strip_labels(strip, y);
        for (size_t x = 0; x < strip->width; x++) {
            row[x] = s->table[row[x]];
        }
    }
    return roots;
}

size_t slc_image_rosenfeld_scratch(size_t width, size_t height, uint32_t connectivity)
{
    return slc_image_part(width * sizeof(uint32_t)) +
           slc_image_part(slc_image_table_entries(width, height, connectivity) * sizeof(uint32_t));
}

static uint32_t *table_of(const slc_image_strip *strip)
{
    return (uint32_t *)(void *)((char *)strip->scratch + slc_image_part(strip->width * sizeof(uint32_t)));
}

uint32_t slc_image_rosenfeld_label(const slc_image_strip *strip)
{
    scan s = {.table = table_of(strip)};
    if (strip->connectivity == 8) {
        first_pass(strip, &s, strip->scratch, true, false);
    } else {
        first_pass(strip, &s, strip->scratch, false, false);
    }
    return second_pass(strip, &s);
}

uint32_t slc_image_rosenfeld_tree_label(const slc_image_strip *strip)
{
    scan s = {.table = table_of(strip)};
    if (strip->connectivity == 8) {
        first_pass(strip, &s, strip->scratch, true, true);
    } else {
        first_pass(strip, &s, strip->scratch, false, true);
    }
    return second_pass(strip, &s);
}
