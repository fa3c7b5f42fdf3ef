/* SPDX-License-Identifier: Apache-2.0
 *
 * Labelling by whole runs with vectors, in the line of FLSL: F. Lemaitre, A. Hennequin and L. Lacassagne,
 * "How to speed connected component labeling up with SIMD RLE algorithms" (WPMVP 2020); A. Hennequin's thesis
 * (2022), section 4.4.1. Rows become bit rows and those become run boundaries by compress-store; two pointers
 * walk along the runs of a row and of the one above and unite those that touch; when equivalences are
 * resolved, runs are written as labels by vector stores. There are no relative labels, and no label is
 * written twice.
 */
#include "image/image_flsl.h"

#include "base/block.h"
#include "image/image_algorithms.h"
#include "image/image_kernels.h"

#include <assert.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_image_flsl_kernels_##target,
static const slc_image_flsl_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_image_flsl_kernels *slc_image_flsl_kernels_of(slc_simd_target target)
{
    return tables[target];
}

enum {
    EDGES_SPARE = 64, /* elements that `edges` may write too many */
    BITS_SPARE = 256  /* and bytes of `threshold`: the longest vector */
};

typedef struct flsl {
    size_t *first;            /* of every row: its first run; and one behind the last */
    uint64_t *bits;           /* of one row */
    uint32_t *edges, *labels; /* of all runs; two edges each */
    uint32_t *table;
    uint32_t n_labels;
    size_t reach; /* how far runs may lie apart, in columns, and touch: 8-connected 1, 4-connected 0 */
    size_t bytes; /* of scratch */
} flsl;

static size_t all_runs(size_t width, size_t height)
{
    return (width + 1) / 2 * height;
}

/* A row of width n has up to n + 1 edges, and `edges` is told that there is room for 64 more. */
static flsl layout(const slc_image_strip *strip)
{
    const size_t width = strip->width, height = strip->height, runs = all_runs(width, height);
    slc_arena a = {.at = strip->scratch, .align = SLC_COLUMN_ALIGN};
    flsl s = {.reach = strip->connectivity == 8 ? 1 : 0};
    s.first = slc_arena_take(&a, height + 1, sizeof(size_t));
    s.bits = slc_arena_take(&a, width / 8 + 8 + BITS_SPARE, 1);
    s.edges = slc_arena_take(&a, 2 * runs + EDGES_SPARE, sizeof(uint32_t));
    s.labels = slc_arena_take(&a, runs, sizeof(uint32_t));
    s.table = slc_arena_take(&a, slc_image_table_entries(width, height, strip->connectivity),
                             sizeof(uint32_t));
    s.bytes = a.used;
    return s;
}

size_t slc_image_flsl_scratch(size_t width, size_t height, uint32_t connectivity)
{
    return layout(&(slc_image_strip){.width = width, .height = height, .connectivity = connectivity}).bytes;
}

/* The label of a run from those runs above that it touches, the first of which is *at; 0 where there is none.
 * The last one that was looked at may touch the next run too, so *at stays there. */
static inline uint32_t label_above(flsl *s, uint32_t begin, uint32_t end, size_t *at, size_t above_end)
{
    const uint32_t *edges = s->edges;
    size_t above = *at;
    /* Runs that end before this one begins. */
    while (above < above_end && edges[2 * above + 1] + s->reach <= begin) {
        above++;
    }
    uint32_t low = 0;
    for (; above < above_end && edges[2 * above] < end + s->reach; above++) {
        const uint32_t root = slc_image_root(s->table, s->labels[above]);
        low = low == 0 || low == root ? root : slc_image_hang(s->table, low, root);
        if (edges[2 * above + 1] + s->reach > end) {
            break;
        }
    }
    *at = above;
    return low;
}

static void unite_rows(flsl *s, size_t above, size_t begin, size_t end)
{
    for (size_t run = begin; run < end; run++) {
        uint32_t label = label_above(s, s->edges[2 * run], s->edges[2 * run + 1], &above, begin);
        if (label == 0) {
            s->n_labels++;
            label = s->n_labels;
            s->table[label] = label;
        }
        s->labels[run] = label;
    }
}

uint32_t slc_image_flsl_label(const slc_image_strip *strip)
{
    const slc_image_kernels *kernels = slc_image_kernels_of(strip->target);
    const slc_image_flsl_kernels *flsl_kernels = slc_image_flsl_kernels_of(strip->target);
    assert(strip->scratch != NULL);
    flsl s = layout(strip);
    size_t above = 0, runs = 0;
    for (size_t y = 0; y < strip->height; y++) {
        s.first[y] = runs;
        kernels->threshold(slc_image_strip_pixels(strip, y), strip->width, 1, s.bits);
        runs += kernels->edges(s.bits, strip->width, s.edges + 2 * runs) / 2;
        unite_rows(&s, above, s.first[y], runs);
        above = s.first[y];
    }
    s.first[strip->height] = runs;
    const uint32_t roots = slc_image_number_roots(s.table, s.n_labels);
    for (size_t run = 0; run < runs; run++) {
        s.labels[run] = s.table[s.labels[run]];
    }
    for (size_t y = 0; y < strip->height; y++) {
        const size_t first = s.first[y];
        flsl_kernels->expand(s.edges + 2 * first, s.labels + first, s.first[y + 1] - first, strip->width,
                             slc_image_strip_labels(strip, y));
    }
    return roots;
}
