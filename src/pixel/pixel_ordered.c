/* SPDX-License-Identifier: Apache-2.0
 *
 * SparseCCL on an ordered list: algorithm 24 of A. Hennequin's thesis (2022, section 4.6.1), by the template
 * of pixel_sparse.h. The window begins at the pixel that is radius rows up and radius columns to the left,
 * not at that row's begin, which halves it. Lists with a time window are in the order of time, and so is the
 * window; where it holds many hits, only the newest one of each place is looked at.
 */
#include "pixel/pixel_algorithm.h"

#include "base/block.h"

#include <string.h>

/* Radius and reach are written out where they are 1 and 2, so that the compiler knows them. */
typedef struct list {
    const slc_pixel_image *image;
    const slc_pixel_rule *rule;
    uint64_t back; /* key of a pixel less that of the first that may be adjacent */
} list;

static inline bool adjacent_8(const slc_pixel_image *image, uint32_t i, uint32_t j)
{
    return slc_pixel_distance(image->x[i], image->x[j]) <= 1 && image->y[i] - image->y[j] <= 1;
}
static inline bool adjacent_4(const slc_pixel_image *image, uint32_t i, uint32_t j)
{
    return slc_pixel_distance(image->x[i], image->x[j]) + (uint32_t)(image->y[i] - image->y[j]) <= 1;
}

#define SLC_SPARSE_NAME              eight
#define SLC_SPARSE_LIST              const list *
#define SLC_SPARSE_ADJACENT(p, i, j) adjacent_8((p)->image, i, j)
#define SLC_SPARSE_FAR(p, i, j)      ((p)->image->key[j] + (p)->back < (p)->image->key[i])
#include <sluice/pixel_sparse.h>

#define SLC_SPARSE_NAME              four
#define SLC_SPARSE_LIST              const list *
#define SLC_SPARSE_ADJACENT(p, i, j) adjacent_4((p)->image, i, j)
#define SLC_SPARSE_FAR(p, i, j)      ((p)->image->key[j] + (p)->back < (p)->image->key[i])
#include <sluice/pixel_sparse.h>

#define SLC_SPARSE_NAME              any
#define SLC_SPARSE_LIST              const list *
#define SLC_SPARSE_ADJACENT(p, i, j) slc_pixel_adjacent((p)->rule, (p)->image, i, j)
#define SLC_SPARSE_FAR(p, i, j)      ((p)->image->key[j] + (p)->back < (p)->image->key[i])
#include <sluice/pixel_sparse.h>

#define SLC_SPARSE_NAME              timed
#define SLC_SPARSE_LIST              const list *
#define SLC_SPARSE_ADJACENT(p, i, j) slc_pixel_adjacent((p)->rule, (p)->image, i, j)
#define SLC_SPARSE_FAR(p, i, j)                                                                              \
    (slc_pixel_delay((p)->image->time[i], (p)->image->time[j]) > (p)->rule->window)
#include <sluice/pixel_sparse.h>

/* ---- many hits within the time window ----------------------------------------------------------- */

/* Hits in the order of time, and the newest of each place. An older hit within the window of the one at hand
 * is in the newest one's cluster already: those of its place between them follow each other within the
 * window. So the newest stand for all: as a chain from the oldest of them, and in a hash table of places. */
typedef struct crowd {
    const slc_pixel_rule *rule;
    const slc_pixel_image *image;
    uint32_t *root;
    unsigned bits;   /* of a number in the table */
    uint64_t *place; /* the table: key, and the number of the newest hit plus 1; 0: empty */
    uint32_t *newest;
    uint32_t *before, *behind; /* of hits: the chain, ends are `none` */
    uint32_t first, last, held;
} crowd;

static const uint32_t none = UINT32_MAX;
enum { FEW = 64 };

static unsigned table_bits(size_t pixels)
{
    unsigned bits = 3;
    while (((size_t)1 << bits) / 2 < pixels) {
        bits++;
    }
    return bits;
}

static void lay_out(crowd *c, char **at, size_t pixels, unsigned bits)
{
    c->place = slc_block_take(at, sizeof *c->place << bits);
    c->newest = slc_block_take(at, sizeof *c->newest << bits);
    c->before = slc_block_take(at, pixels * sizeof *c->before);
    c->behind = slc_block_take(at, pixels * sizeof *c->behind);
}

static size_t bound(const slc_pixel_rule *rule, size_t pixels)
{
    char base[1], *at = base;
    crowd c;
    if (!rule->with_time) {
        return 0;
    }
    if (pixels > SIZE_MAX / 256) {
        return SIZE_MAX;
    }
    lay_out(&c, &at, pixels, table_bits(pixels));
    return (size_t)(at - base);
}

/* The number in the table of a place, or of where it would be put. Four places of a row are neighbours. */
static inline size_t seek(const crowd *c, uint64_t key)
{
    const size_t mask = ((size_t)1 << c->bits) - 1;
    size_t at = (size_t)((key >> 2) * UINT64_C(0x9e3779b97f4a7c15) >> (66 - c->bits) << 2 | (key & 3));
    while (c->newest[at] != 0 && c->place[at] != key) {
        at = (at + 1) & mask;
    }
    return at;
}

static inline uint64_t key_of(const slc_pixel_image *image, uint32_t i)
{
    return (image->z != NULL ? (uint64_t)image->z[i] << 32 : 0) | (uint64_t)image->y[i] << 16 | image->x[i];
}

static inline void meet(const crowd *c, uint32_t i, uint32_t j)
{
    if (slc_pixel_adjacent(c->rule, c->image, i, j)) {
        const uint32_t a = slc_sparse_find(c->root, i), b = slc_sparse_find(c->root, j);
        if (a != b) {
            (void)slc_sparse_unite(c->root, a, b);
        }
    }
}

static void take_off(crowd *c, uint32_t i)
{
    const uint32_t before = c->before[i], behind = c->behind[i];
    *(before != none ? &c->behind[before] : &c->first) = behind;
    *(behind != none ? &c->before[behind] : &c->last) = before;
    c->held--;
}

static void append(crowd *c, uint32_t i)
{
    c->before[i] = c->last;
    c->behind[i] = none;
    *(c->last != none ? &c->behind[c->last] : &c->first) = i;
    c->last = i;
    c->held++;
}

/* Meets the newest hits of all places around, its own among them. */
static void look_around(const crowd *c, uint32_t i)
{
    const int64_t r = c->rule->radius, x = c->image->x[i], y = c->image->y[i];
    const int64_t z = c->image->z != NULL ? c->image->z[i] : 0, deep = c->image->z != NULL ? r : 0;
    for (int64_t k = z - deep; k <= z + deep; k++) {
        for (int64_t b = y - r; b <= y + r; b++) {
            for (int64_t a = x - r; a <= x + r; a++) {
                if (((k | b | a) & ~INT64_C(0xffff)) != 0) { /* outside, on either side */
                    continue;
                }
                const uint32_t there =
                    c->newest[seek(c, (uint64_t)k << 32 | (uint64_t)b << 16 | (uint64_t)a)];
                if (there != 0) {
                    meet(c, i, there - 1);
                }
            }
        }
    }
}

static bool is_old(const crowd *c, uint32_t i, uint32_t j)
{
    return slc_pixel_delay(c->image->time[i], c->image->time[j]) > c->rule->window;
}

static void run_crowd(crowd *c)
{
    const uint64_t side = 2 * c->rule->radius + 1,
                   box = c->image->z != NULL ? side * side * side : side * side;
    c->first = c->last = none;
    c->held = 0;
    for (uint32_t i = 0; i < c->image->n; i++) {
        c->root[i] = i;
        while (c->first != none && is_old(c, i, c->first)) {
            take_off(c, c->first);
        }
        if (c->held > box) {
            look_around(c, i);
        } else {
            for (uint32_t j = c->first; j != none; j = c->behind[j]) {
                meet(c, i, j);
            }
        }
        const uint64_t key = key_of(c->image, i);
        const size_t at = seek(c, key);
        if (c->newest[at] != 0 && !is_old(c, i, c->newest[at] - 1)) {
            take_off(c, c->newest[at] - 1);
        }
        c->place[at] = key;
        c->newest[at] = i + 1;
        append(c, i);
    }
    memset(c->newest, 0, sizeof *c->newest << c->bits);
}

/* Does the window hold more than a few hits, on the average? */
static bool is_crowded(const slc_pixel_rule *rule, const slc_pixel_image *image)
{
    uint64_t held = 0;
    for (uint32_t i = 0, window = 0; i < image->n; i++) {
        while (slc_pixel_delay(image->time[i], image->time[window]) > rule->window) {
            window++;
        }
        held += i - window;
    }
    return held > (uint64_t)FEW * image->n;
}

static void run_timed(const list *l, void *memory, size_t pixels, uint32_t *root)
{
    if (!is_crowded(l->rule, l->image)) {
        (void)timed_unite(l, l->image->n, root);
        return;
    }
    crowd c = {.rule = l->rule, .image = l->image, .root = root};
    char *at = memory;
    lay_out(&c, &at, pixels, table_bits(pixels));
    c.bits = table_bits(l->image->n);
    run_crowd(&c);
}

/* ---- all ---------------------------------------------------------------------------------------- */

static void run(const slc_pixel_rule *rule, const slc_pixel_image *image, void *memory, size_t pixels,
                uint32_t *root, uint32_t *same)
{
    (void)same;
    const uint64_t r = rule->radius, row = r << 16 | r;
    const list l = {image, rule, image->z != NULL ? r << 32 | row : row};
    if (image->time != NULL) {
        run_timed(&l, memory, pixels, root);
    } else if (image->z != NULL || r > 1) {
        (void)any_unite(&l, image->n, root);
    } else if (rule->reach > 1) {
        (void)eight_unite(&l, image->n, root);
    } else {
        (void)four_unite(&l, image->n, root);
    }
    slc_pixel_flatten(root, image->n);
}

const slc_pixel_algorithm slc_pixel_ordered = {.name = "ordered",
                                               .wants = SLC_PIXEL_WANTS_RASTER,
                                               .wants_with_time = SLC_PIXEL_WANTS_TIME,
                                               .bound = bound,
                                               .run = run};
