/* SPDX-License-Identifier: Apache-2.0
 * Labels of volumes by two passes over voxels, with a decision tree.
 */
#include "bench/bench_volume_tree.h"

#include <stdlib.h>
#include <string.h>

/* Values of the row at work and of its neighbours; labels of the same voxels. */
enum { OWN = 0, ABOVE, BEFORE_UP, BEFORE, BEFORE_DOWN, ROWS };
typedef struct around {
    const uint32_t *value[ROWS], *label[ROWS];
    uint32_t *parent;
} around;

static inline uint32_t root(uint32_t *parent, uint32_t a)
{
    while (parent[a] != a) {
        parent[a] = parent[parent[a]];
        a = parent[a];
    }
    return a;
}

static inline uint32_t unite(uint32_t *parent, uint32_t a, uint32_t b)
{
    a = root(parent, a);
    b = root(parent, b);
    const uint32_t low = a < b ? a : b;
    parent[a] = parent[b] = low;
    return low;
}

/* Is the neighbour in `row`, `dx` columns away, of the value; and its label. */
#define IS(row, dx)    (a->value[row][(ptrdiff_t)x + (dx)] == own)
#define LABEL(row, dx) (a->label[row][(ptrdiff_t)x + (dx)])
#define WITH(row, dx)  unite(a->parent, label, LABEL(row, dx))

/* Without the middle column: the neighbours of one side are all joined by those of the own row's height, and
 * no neighbour of one side touches one of the other. 0: none is of the value. */
static inline uint32_t label_by_sides(const around *a, size_t x, uint32_t own)
{
    uint32_t label = 0;
    if (IS(OWN, -1)) {
        label = LABEL(OWN, -1);
    } else if (IS(BEFORE, -1)) {
        label = LABEL(BEFORE, -1);
    } else {
        label = IS(ABOVE, -1) ? LABEL(ABOVE, -1) : IS(BEFORE_UP, -1) ? LABEL(BEFORE_UP, -1) : 0;
        if (IS(BEFORE_DOWN, -1)) {
            label = label != 0 ? WITH(BEFORE_DOWN, -1) : LABEL(BEFORE_DOWN, -1);
        }
    }
    if (IS(BEFORE, 1)) {
        return label != 0 ? WITH(BEFORE, 1) : LABEL(BEFORE, 1);
    }
    if (IS(ABOVE, 1)) {
        label = label != 0 ? WITH(ABOVE, 1) : LABEL(ABOVE, 1);
    } else if (IS(BEFORE_UP, 1)) {
        label = label != 0 ? WITH(BEFORE_UP, 1) : LABEL(BEFORE_UP, 1);
    }
    if (IS(BEFORE_DOWN, 1)) {
        label = label != 0 ? WITH(BEFORE_DOWN, 1) : LABEL(BEFORE_DOWN, 1);
    }
    return label;
}

/* The label of a neighbour of the value, united with those that it does not touch; 0: none is. */
static inline uint32_t label_of(const around *a, size_t x, uint32_t own)
{
    if (IS(BEFORE, 0)) {
        return LABEL(BEFORE, 0); /* all others are its neighbours */
    }
    if (IS(ABOVE, 0)) { /* all but those of the row below, in the slice before */
        uint32_t label = LABEL(ABOVE, 0);
        if (IS(BEFORE_DOWN, 0)) {
            return WITH(BEFORE_DOWN, 0);
        }
        label = IS(BEFORE_DOWN, -1) ? WITH(BEFORE_DOWN, -1) : label;
        return IS(BEFORE_DOWN, 1) ? WITH(BEFORE_DOWN, 1) : label;
    }
    const bool left = IS(OWN, -1) || IS(BEFORE, -1), right = IS(BEFORE, 1); /* joins its side */
    if (IS(BEFORE_DOWN, 0)) {                                               /* all but those of rows above */
        uint32_t label = LABEL(BEFORE_DOWN, 0);
        if (IS(BEFORE_UP, 0)) {
            return WITH(BEFORE_UP, 0);
        }
        if (!left) {
            label = IS(ABOVE, -1) ? WITH(ABOVE, -1) : IS(BEFORE_UP, -1) ? WITH(BEFORE_UP, -1) : label;
        }
        if (!right) {
            label = IS(ABOVE, 1) ? WITH(ABOVE, 1) : IS(BEFORE_UP, 1) ? WITH(BEFORE_UP, 1) : label;
        }
        return label;
    }
    if (IS(BEFORE_UP, 0)) { /* all but those of the row below */
        uint32_t label = LABEL(BEFORE_UP, 0);
        label = !left && IS(BEFORE_DOWN, -1) ? WITH(BEFORE_DOWN, -1) : label;
        return !right && IS(BEFORE_DOWN, 1) ? WITH(BEFORE_DOWN, 1) : label;
    }
    return label_by_sides(a, x, own);
}
#undef IS
#undef LABEL
#undef WITH

/* Row y of slice z with a zero at either side; zeros where the volume has none. */
static void read_row(const slc_volume *v, bool equal, ptrdiff_t y, ptrdiff_t z, uint32_t *row)
{
    const size_t width = v->width;
    memset(row, 0, (width + 2) * sizeof *row);
    if (y < 0 || z < 0 || y >= (ptrdiff_t)v->height) {
        return;
    }
    const char *from = (const char *)v->voxels + z * v->slice_stride + y * v->stride;
    if (v->type == SLC_IMAGE_U8) {
        const uint8_t *values = (const uint8_t *)from;
        for (size_t x = 0; x < width; x++) {
            row[1 + x] = equal ? values[x] : values[x] != 0;
        }
    } else {
        const uint32_t *values = (const uint32_t *)(const void *)from;
        for (size_t x = 0; x < width; x++) {
            row[1 + x] = equal ? values[x] : values[x] != 0;
        }
    }
}

/* The rows of two slices in turn: row y of slice z, from -1 to height. */
static uint32_t *row_at(const slc_bench_tree *tree, const slc_volume *v, ptrdiff_t y, ptrdiff_t z)
{
    const size_t slice = (size_t)(z & 1);
    return tree->rows + (slice * (v->height + 2) + (size_t)(y + 1)) * (v->width + 2);
}

/* Provisional labels; returns the one behind the last. */
static uint32_t scan(slc_bench_tree *tree, const slc_volume *v, bool equal, uint32_t *labels)
{
    static const ptrdiff_t dy[ROWS] = {0, -1, -1, 0, 1}, dz[ROWS] = {0, 0, -1, -1, -1};
    const size_t width = v->width, slice = width * v->height;
    around a = {.parent = tree->parent};
    uint32_t fresh = 1;
    for (ptrdiff_t y = -1; y <= (ptrdiff_t)v->height; y++) {
        read_row(v, equal, y, -1, row_at(tree, v, y, -1));
    }
    for (ptrdiff_t z = 0; z < (ptrdiff_t)v->depth; z++) {
        for (ptrdiff_t y = -1; y <= (ptrdiff_t)v->height; y++) {
            read_row(v, equal, y, z, row_at(tree, v, y, z));
        }
        for (ptrdiff_t y = 0; y < (ptrdiff_t)v->height; y++) {
            for (int i = 0; i < ROWS; i++) { /* labels of rows that there are not are not looked at */
                const bool is = y + dy[i] >= 0 && z + dz[i] >= 0 && y + dy[i] < (ptrdiff_t)v->height;
                a.value[i] = row_at(tree, v, y + dy[i], z + dz[i]) + 1;
                a.label[i] = is ? labels + (size_t)(z + dz[i]) * slice + (size_t)(y + dy[i]) * width : labels;
            }
            uint32_t *out = labels + (size_t)z * slice + (size_t)y * width;
            for (size_t x = 0; x < width; x++) {
                const uint32_t own = a.value[OWN][x];
                uint32_t label = own != 0 ? label_of(&a, x, own) : 0;
                if (own != 0 && label == 0) {
                    label = fresh;
                    a.parent[fresh] = fresh;
                    fresh++;
                }
                out[x] = label;
            }
        }
    }
    return fresh;
}

uint32_t slc_bench_tree_run(slc_bench_tree *tree, const slc_volume *v, bool equal, uint32_t *labels)
{
    const size_t n = v->width * v->height * v->depth;
    uint32_t *parent = tree->parent, found = 0;
    const uint32_t fresh = scan(tree, v, equal, labels);
    parent[0] = 0;
    for (uint32_t i = 1; i < fresh; i++) { /* parents are smaller, and have their numbers */
        parent[i] = parent[i] == i ? ++found : parent[parent[i]];
    }
    for (size_t i = 0; i < n; i++) {
        labels[i] = parent[labels[i]];
    }
    return found;
}

slc_status slc_bench_tree_reserve(slc_bench_tree *tree, const slc_volume *v, slc_error *error)
{
    /* Of voxels in a 2 x 2 x 2 cube one alone begins a component, of equal values all may. */
    const size_t n = v->width * v->height * v->depth + 1;
    *tree = (slc_bench_tree){.parent = malloc(n * sizeof *tree->parent),
                             .n_parents = n,
                             .rows = malloc(2 * (v->height + 2) * (v->width + 2) * sizeof *tree->rows)};
    if (tree->parent == NULL || tree->rows == NULL) {
        slc_bench_tree_clear(tree);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to label a volume in two passes");
    }
    return SLC_OK;
}

void slc_bench_tree_clear(slc_bench_tree *tree)
{
    free(tree->parent);
    free(tree->rows);
    *tree = (slc_bench_tree){.parent = NULL};
}
