/* SPDX-License-Identifier: Apache-2.0
 *
 * SIMD Rosenfeld by pixels (v1) and by sub-segments (v2): the rows of both passes, around the loops of
 * image_rosenfeld.simd.c and the SIMD union-find of image_kernels.simd.c. See image_rosenfeld_simd.h for the
 * equivalence table that lies in the label image.
 */
#include "image/image_rosenfeld_simd.h"
#include "base/block.h"

#include "image/image_algorithms.h"
#include "image/image_kernels.h"

#include <assert.h>
#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_image_rosenfeld_kernels_##target,
static const slc_image_rosenfeld_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_image_rosenfeld_kernels *slc_image_rosenfeld_kernels_of(slc_simd_target target)
{
    return tables[target];
}

enum { SPARE = 256 }; /* bytes: the longest vector there is */

typedef struct parts {
    uint64_t *bits[2], *merge;
    uint32_t *none; /* the row above the first */
    uint32_t *a, *b;
    uint32_t *table;
    size_t bytes; /* of scratch */
} parts;

/* A label image that has gaps between its rows, or runs upwards, cannot be the table. */
static bool in_place(const slc_image_strip *strip)
{
    return strip->label_stride == (ptrdiff_t)(strip->width * sizeof(uint32_t));
}

static parts layout(const slc_image_strip *strip)
{
    const size_t width = strip->width, words = (width + 63) / 64 * 8 + SPARE;
    const size_t pairs = (width + 1) / 2 * sizeof(uint32_t) + SPARE;
    slc_arena a = {.at = strip->scratch, .align = SLC_COLUMN_ALIGN};
    parts p;
    p.bits[0] = slc_arena_take(&a, words, 1);
    p.bits[1] = slc_arena_take(&a, words, 1);
    p.merge = slc_arena_take(&a, words, 1);
    p.none = slc_arena_take(&a, width, sizeof(uint32_t));
    p.a = slc_arena_take(&a, pairs, 1);
    p.b = slc_arena_take(&a, pairs, 1);
    p.table = in_place(strip) ? strip->labels : slc_arena_take(&a, width * strip->height, sizeof(uint32_t));
    p.bytes = a.used;
    return p;
}

size_t slc_image_rosenfeld_simd_scratch(size_t width, size_t height, uint32_t connectivity)
{
    (void)connectivity;
    return layout(&(slc_image_strip){.width = width, .height = height}).bytes;
}

/* Where trees meet. Of eight neighbours: the right one above, if nothing is between it and one on the left,
 * for b would be a neighbour of both. Of four: above and left, if their common neighbour is not set.
 *
 *     a b c
 *     d x   */
static void find_merges(const uint64_t *above, const uint64_t *bits, size_t words, bool diagonal,
                        uint64_t *merge)
{
    uint64_t above_before = 0, before = 0;
    for (size_t i = 0; i < words; i++) {
        const uint64_t x = bits[i], b = above[i];
        const uint64_t a = b << 1 | above_before >> 63, d = x << 1 | before >> 63;
        const uint64_t c = b >> 1 | (i + 1 < words ? above[i + 1] << 63 : 0);
        merge[i] = diagonal ? x & c & ~b & (a | d) : x & b & d & ~a;
        above_before = b;
        before = x;
    }
    merge[words] = 0;
}

static void first_pass(const slc_image_strip *strip, const parts *p,
                       size_t (*row_kernel)(const slc_image_rosenfeld_row *))
{
    const slc_image_kernels *kernels = slc_image_kernels_of(strip->target);
    const size_t width = strip->width, words = (width + 63) / 64;
    memset(p->none, 0xff, width * sizeof(uint32_t));
    memset(p->bits[1], 0, words * sizeof(uint64_t));
    slc_image_rosenfeld_row row = {.merge = p->merge, .above = p->none, .width = width, .a = p->a, .b = p->b};
    for (size_t y = 0; y < strip->height; y++) {
        uint64_t *bits = p->bits[y % 2];
        kernels->threshold(slc_image_strip_pixels(strip, y), width, 1, bits);
        bits[words] = 0; /* a vector whose length is no power of two reads on there */
        find_merges(p->bits[1 - y % 2], bits, words, strip->connectivity == 8, p->merge);
        row.pixels = bits;
        row.row = p->table + y * width;
        row.address = (uint32_t)(y * width);
        const size_t pairs = row_kernel(&row);
        kernels->unite(p->table, p->a, p->b, pairs);
        row.above = row.row;
    }
}

static void copy_out(const slc_image_strip *strip, const uint32_t *table)
{
    for (size_t y = 0; y < strip->height; y++) {
        memcpy(slc_image_strip_labels(strip, y), table + y * strip->width, strip->width * sizeof(uint32_t));
    }
}

uint32_t slc_image_rosenfeld_v1_label(const slc_image_strip *strip)
{
    const slc_image_rosenfeld_kernels *kernels = slc_image_rosenfeld_kernels_of(strip->target);
    assert(strip->scratch != NULL);
    const parts p = layout(strip);
    first_pass(strip, &p, kernels->v1[strip->connectivity == 8]);
    const uint32_t labels = kernels->solve_v1(p.table, strip->width * strip->height);
    if (!in_place(strip)) {
        copy_out(strip, p.table);
    }
    return labels;
}

uint32_t slc_image_rosenfeld_v2_label(const slc_image_strip *strip)
{
    const slc_image_rosenfeld_kernels *kernels = slc_image_rosenfeld_kernels_of(strip->target);
    assert(strip->scratch != NULL);
    const parts p = layout(strip);
    first_pass(strip, &p, kernels->v2[strip->connectivity == 8]);
    const uint32_t labels = kernels->solve_v2(p.table, strip->width * strip->height);
    if (!in_place(strip)) {
        copy_out(strip, p.table);
    }
    return labels;
}
