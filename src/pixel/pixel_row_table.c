/* SPDX-License-Identifier: Apache-2.0
 *
 * SparseCCL for lists in any order, with a table of rows: A. Hennequin's thesis (2022), section 4.6.2. Pixels
 * are put into their row one after the other, and each is compared with those that its own and the
 * neighbouring rows hold by then. Rows get room as they are met first, just as much as they need, which a
 * count beforehand tells; so the table is small whatever the pixels are. Only rows that were used are
 * emptied. A place is put into its row once, whatever the list repeats.
 */
#include "pixel/pixel_algorithm.h"

#include <sluice/pixel_sparse.h>

enum { SLOTS = 65536 };

/* A row: where its pixels begin, how many it holds, how many it will. */
typedef struct row {
    uint32_t begin, held, due;
} row;

typedef struct table {
    row *rows;
    uint32_t *entries; /* pixels, row by row */
} table;

/* Rows of a third coordinate share the slots; that a slot holds pixels of several rows costs time alone. */
static inline uint32_t slot_of(int64_t y, int64_t z)
{
    return (uint32_t)((uint64_t)y + (uint64_t)z * 40503U) & (SLOTS - 1);
}

static inline bool is_same_place(const slc_pixel_image *image, uint32_t i, uint32_t j)
{
    return image->x[i] == image->x[j] && image->y[i] == image->y[j] &&
           (image->z == NULL || image->z[i] == image->z[j]);
}

static size_t bound(const slc_pixel_rule *rule, size_t pixels)
{
    (void)rule;
    return SLOTS * sizeof(row) + pixels * sizeof(uint32_t);
}

/* Compares pixel i with the row's pixels; returns the root of i's tree. Stops at one with the same
 * coordinates, which `same` gets the number of: that one's neighbours are i's. */
static uint32_t search(const slc_pixel_rule *rule, const slc_pixel_image *image, const table *t, const row *r,
                       uint32_t i, uint32_t *root, uint32_t at, uint32_t *same)
{
    for (uint32_t e = 0; e < r->held; e++) {
        const uint32_t j = t->entries[r->begin + e];
        if (!slc_pixel_adjacent(rule, image, i, j)) {
            continue;
        }
        const uint32_t other = slc_sparse_find(root, j);
        at = other == at ? at : slc_sparse_unite(root, at, other);
        if (is_same_place(image, i, j)) {
            *same = j;
            return at;
        }
    }
    return at;
}

/* The same with times: the table holds the first entry of each place, and the others stand behind it. */
static uint32_t search_timed(const slc_pixel_rule *rule, const slc_pixel_image *image, const table *t,
                             const row *r, uint32_t i, uint32_t *root, uint32_t at)
{
    for (uint32_t e = 0; e < r->held; e++) {
        const uint32_t j = t->entries[r->begin + e], behind = image->behind[j];
        if (is_same_place(image, i, j) || slc_pixel_distance(image->x[i], image->x[j]) > rule->radius) {
            continue;
        }
        for (uint32_t k = slc_pixel_first_near(rule, image, j, behind, i);
             k < behind && slc_pixel_adjacent(rule, image, i, k); k++) {
            const uint32_t other = slc_sparse_find(root, k);
            at = other == at ? at : slc_sparse_unite(root, at, other);
        }
    }
    return at;
}

static void put(const table *t, row *own, uint32_t i, uint32_t *next)
{
    if (own->held == 0) {
        own->begin = *next;
        *next += own->due;
    }
    t->entries[own->begin + own->held++] = i;
}

static void insert(const slc_pixel_rule *rule, const slc_pixel_image *image, const table *t, uint32_t i,
                   uint32_t *next, uint32_t *root, uint32_t *same)
{
    const int64_t r = rule->radius, y = image->y[i], z = image->z != NULL ? image->z[i] : 0;
    const int64_t first_z = image->z != NULL ? z - r : z, last_z = image->z != NULL ? z + r : z;
    const bool timed = image->time != NULL;
    row *own = &t->rows[slot_of(y, z)];
    uint32_t at = i, twin = i;
    root[i] = i;
    if (!timed) { /* its own row first, where another entry of its place may be */
        at = search(rule, image, t, own, i, root, at, &twin);
        same[i] = twin;
    }
    for (int64_t c = first_z; c <= last_z && twin == i; c++) {
        for (int64_t b = y - r; b <= y + r; b++) {
            if (b < 0 || c < 0) {
                continue;
            }
            const row *there = &t->rows[slot_of(b, c)];
            if (timed) {
                at = search_timed(rule, image, t, there, i, root, at);
            } else if (there != own) {
                at = search(rule, image, t, there, i, root, at, &twin);
            }
        }
    }
    if (timed ? i == 0 || image->key[i] != image->key[i - 1] : twin == i) {
        put(t, own, i, next);
    }
}

static void run(const slc_pixel_rule *rule, const slc_pixel_image *image, void *memory, size_t pixels,
                uint32_t *root, uint32_t *same)
{
    (void)pixels;
    const table t = {memory, (uint32_t *)((row *)memory + SLOTS)};
    uint32_t next = 0;
    for (uint32_t i = 0; i < image->n; i++) {
        t.rows[slot_of(image->y[i], image->z != NULL ? image->z[i] : 0)].due++;
    }
    for (uint32_t i = 0; i < image->n; i++) {
        insert(rule, image, &t, i, &next, root, same);
    }
    for (uint32_t i = 0; i < image->n; i++) {
        t.rows[slot_of(image->y[i], image->z != NULL ? image->z[i] : 0)] = (row){0};
    }
    slc_pixel_flatten(root, image->n);
}

const slc_pixel_algorithm slc_pixel_row_table = {.name = "row-table",
                                                 .wants = SLC_PIXEL_WANTS_LIST,
                                                 .wants_with_time = SLC_PIXEL_WANTS_RASTER,
                                                 .bound = bound,
                                                 .run = run};
