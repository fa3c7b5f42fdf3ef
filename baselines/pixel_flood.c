/* SPDX-License-Identifier: Apache-2.0
 *
 * Flood fill over a list of pixels, the baseline of A. Hennequin's thesis (2022, section 4.6.4), in two
 * forms. "flood-map" finds neighbours in a map of the whole area that holds the pixels' numbers. "flood-rows"
 * has no map: it looks for the neighbouring rows among those of the ordered list, and in them for the
 * columns.
 */
#include "baselines/pixel_baselines.h"

#include <string.h>

enum { MAP_AREA = 1 << 26 };
static const uint32_t unseen = UINT32_MAX;

/* Puts those of a place's entries, from `first` to in front of `behind`, onto the stack that are adjacent to
 * entry i and were not seen; returns its new height. */
static inline uint32_t push_place(const slc_pixel_rule *rule, const slc_pixel_image *image, uint32_t first,
                                  uint32_t behind, uint32_t i, uint32_t seed, uint32_t *stack,
                                  uint32_t height, uint32_t *root)
{
    uint32_t j = image->time == NULL ? first : slc_pixel_first_near(rule, image, first, behind, i);
    for (; j < behind && slc_pixel_adjacent(rule, image, i, j); j++) {
        if (root[j] == unseen) {
            root[j] = seed;
            stack[height++] = j;
        }
    }
    return height;
}

/* ---- with a map --------------------------------------------------------------------------------- */

/* The first pixel at every place of the area, plus 1; 0: none, or it was taken. A border of one place spares
 * nearest neighbours the question whether they are inside. Numbers of 16 bits where they are enough. */
typedef struct map {
    void *first;
    size_t stride;
    uint32_t *stack;
    bool narrow;
} map;

enum { MOST_NARROW = UINT16_MAX };

static size_t map_places(const slc_pixel_rule *rule)
{
    return ((size_t)rule->width + 2) * ((size_t)rule->height + 2) + 4; /* words are read a few places on */
}

static size_t map_bound(const slc_pixel_rule *rule, size_t pixels)
{
    const size_t area = (size_t)rule->width * rule->height;
    return area > MAP_AREA ? SIZE_MAX : (map_places(rule) + pixels + 1) * sizeof(uint32_t);
}

static inline size_t map_place(const map *m, const slc_pixel_image *image, uint32_t i)
{
    return ((size_t)image->y[i] + 1) * m->stride + image->x[i] + 1;
}

static inline uint32_t map_get(const map *m, size_t place)
{
    return m->narrow ? ((const uint16_t *)m->first)[place] : ((const uint32_t *)m->first)[place];
}

static inline void map_set(const map *m, size_t place, uint32_t number)
{
    if (m->narrow) {
        ((uint16_t *)m->first)[place] = (uint16_t)number;
    } else {
        ((uint32_t *)m->first)[place] = number;
    }
}

/* Only the first entry of a place is put there: others get its number. */
static inline void map_fill(const slc_pixel_image *image, const map *m, uint32_t *root, uint32_t *same)
{
    for (uint32_t i = 0; i < image->n; i++) {
        const size_t place = map_place(m, image, i);
        const uint32_t there = map_get(m, place);
        root[i] = unseen;
        if (same != NULL) {
            same[i] = there != 0 ? there - 1 : i;
        }
        if (there == 0) {
            map_set(m, place, i + 1);
        }
    }
}

/* Puts the neighbours of pixel i that were not seen onto the stack; returns its new height. */
static inline uint32_t map_push(const slc_pixel_rule *rule, const slc_pixel_image *image, const map *m,
                                uint32_t i, uint32_t seed, uint32_t height, uint32_t *root)
{
    const uint32_t r = rule->radius, x = image->x[i], y = image->y[i];
    const uint32_t x_first = x < r ? 0 : x - r, y_first = y < r ? 0 : y - r;
    const uint32_t x_last = x + r < rule->width ? x + r : rule->width - 1;
    const uint32_t y_last = y + r < rule->height ? y + r : rule->height - 1;
    for (uint32_t b = y_first; b <= y_last; b++) {
        for (uint32_t a = x_first; a <= x_last; a++) {
            const uint32_t j = map_get(m, (b + (size_t)1) * m->stride + a + 1);
            if (j != 0) {
                height = push_place(rule, image, j - 1, image->time != NULL ? image->behind[j - 1] : j, i,
                                    seed, m->stack, height, root);
            }
        }
    }
    return height;
}

/* Is no pixel left around a place of a narrow map? Of four places of each row the first three, or the second,
 * as all targets have the lowest byte first; most are empty. */
static inline bool is_alone(const map *m, size_t place, bool sides)
{
    const uint16_t *middle = (const uint16_t *)m->first + place - 1;
    const uint64_t wanted = sides ? UINT64_C(0xffffffffffff) : UINT64_C(0xffff0000);
    const uint64_t sides_only = UINT64_C(0xffff0000ffff);
    uint64_t up, own, down;
    memcpy(&up, middle - m->stride, sizeof up);
    memcpy(&own, middle, sizeof own);
    memcpy(&down, middle + m->stride, sizeof down);
    return (((up | down) & wanted) | (own & sides_only)) == 0;
}

/* The three places of a row of which `place` is the middle, or that alone: taken from the map, pushed. */
static inline uint32_t map_take(const map *m, size_t place, bool sides, uint32_t seed, uint32_t height,
                                uint32_t *root)
{
    for (size_t at = sides ? place - 1 : place; at <= place + (sides ? 1 : 0); at++) {
        const uint32_t j = map_get(m, at);
        if (j != 0) {
            map_set(m, at, 0);
            root[j - 1] = seed;
            m->stack[height++] = j - 1;
        }
    }
    return height;
}

/* Flood fill among nearest neighbours, with no time to look at. Pixels leave the map as they are met, so none
 * is met twice, and nothing is left to be cleared. */
static inline void flood_near(const slc_pixel_rule *rule, const slc_pixel_image *image, const map *m,
                              uint32_t *root, const uint32_t *same)
{
    const bool sides = rule->reach > 1;
    for (uint32_t seed = 0; seed < image->n; seed++) {
        if (root[seed] != unseen) {
            continue;
        }
        if (same[seed] != seed) {
            root[seed] = root[same[seed]];
            continue;
        }
        root[seed] = seed;
        m->stack[0] = seed;
        for (uint32_t height = 1; height > 0;) {
            const size_t place = map_place(m, image, m->stack[--height]);
            const bool alone = m->narrow && is_alone(m, place, sides);
            map_set(m, place, 0); /* after the look: words that were just written in part are read slowly */
            if (alone) {
                continue;
            }
            height = map_take(m, place - m->stride, sides, seed, height, root);
            height = map_take(m, place, true, seed, height, root);
            height = map_take(m, place + m->stride, sides, seed, height, root);
        }
    }
}

static inline void flood_far(const slc_pixel_rule *rule, const slc_pixel_image *image, const map *m,
                             uint32_t *root, const uint32_t *same)
{
    for (uint32_t seed = 0; seed < image->n; seed++) {
        if (root[seed] == unseen && (same == NULL || same[seed] == seed)) {
            root[seed] = seed;
            m->stack[0] = seed;
            for (uint32_t height = 1; height > 0;) {
                const uint32_t i = m->stack[height - 1];
                height = map_push(rule, image, m, i, seed, height - 1, root);
            }
        }
    }
    for (uint32_t i = 0; i < image->n; i++) {
        root[i] = same != NULL ? root[same[i]] : root[i];
        map_set(m, map_place(m, image, i), 0);
    }
}

/* Inlined for both kinds of maps, which the compiler then knows. */
static inline void flood(const slc_pixel_rule *rule, const slc_pixel_image *image, const map *m,
                         uint32_t *root, uint32_t *same)
{
    map_fill(image, m, root, same);
    if (rule->radius == 1 && image->time == NULL) {
        flood_near(rule, image, m, root, same);
    } else {
        flood_far(rule, image, m, root, same);
    }
}

static void map_run(const slc_pixel_rule *rule, const slc_pixel_image *image, void *memory, size_t pixels,
                    uint32_t *root, uint32_t *same)
{
    (void)pixels;
    const size_t stride = (size_t)rule->width + 2;
    uint32_t *stack = (uint32_t *)memory + map_places(rule);
    if (image->n < MOST_NARROW) {
        const map m = {memory, stride, stack, true};
        flood(rule, image, &m, root, same);
    } else {
        const map m = {memory, stride, stack, false};
        flood(rule, image, &m, root, same);
    }
}

const slc_pixel_algorithm slc_pixel_flood_map = {.name = "flood-map",
                                                 .wants = SLC_PIXEL_WANTS_LIST,
                                                 .wants_with_time = SLC_PIXEL_WANTS_RASTER,
                                                 .flat = true,
                                                 .bound = map_bound,
                                                 .run = map_run};

/* ---- with a search for rows --------------------------------------------------------------------- */

/* Rows that have pixels, in their order: their z and y, and where they begin; one more that ends the last. */
typedef struct rows {
    uint64_t *key;
    uint32_t *begin, *stack;
    uint32_t n;
} rows;

static size_t rows_bound(const slc_pixel_rule *rule, size_t pixels)
{
    (void)rule;
    return (pixels + 1) * (sizeof(uint64_t) + 2 * sizeof(uint32_t));
}

static rows rows_find(const slc_pixel_image *image, void *memory, size_t pixels)
{
    rows r = {.key = memory};
    r.begin = (uint32_t *)(r.key + pixels + 1);
    r.stack = r.begin + pixels + 1;
    for (uint32_t i = 0; i < image->n; i++) {
        if (i == 0 || image->key[i] >> 16 != r.key[r.n - 1]) {
            r.key[r.n] = image->key[i] >> 16;
            r.begin[r.n++] = i;
        }
    }
    r.begin[r.n] = image->n;
    return r;
}

/* The first of `n` rising keys that is not below. */
static uint32_t search(const uint64_t *keys, uint32_t n, uint64_t key)
{
    uint32_t low = 0;
    while (n > 0) {
        const uint32_t half = n / 2;
        const bool below = keys[low + half] < key;
        low = below ? low + half + 1 : low;
        n = below ? n - half - 1 : half;
    }
    return low;
}

/* The same for neighbours in one row, by columns. */
static uint32_t rows_push_row(const slc_pixel_rule *rule, const slc_pixel_image *image, const rows *r,
                              uint32_t row, uint32_t i, uint32_t seed, uint32_t height, uint32_t *root)
{
    const uint32_t x = image->x[i] < rule->radius ? 0 : image->x[i] - rule->radius;
    const uint32_t begin = r->begin[row], end = r->begin[row + 1];
    uint32_t j = begin + search(image->key + begin, end - begin, r->key[row] << 16 | x);
    for (uint32_t next; j < end && image->x[j] <= image->x[i] + rule->radius; j = next) {
        next = image->time == NULL ? j + 1 : image->behind[j];
        height = push_place(rule, image, j, next, i, seed, r->stack, height, root);
    }
    return height;
}

static uint32_t rows_push(const slc_pixel_rule *rule, const slc_pixel_image *image, const rows *r, uint32_t i,
                          uint32_t seed, uint32_t height, uint32_t *root)
{
    const uint64_t own = image->key[i] >> 16, y = own & 0xffff, z = own >> 16, d = rule->radius;
    const uint64_t y_first = y < d ? 0 : y - d, z_first = z < d ? 0 : z - d;
    for (uint64_t c = z_first; c <= z + (image->z != NULL ? d : 0); c++) {
        uint32_t row = search(r->key, r->n, c << 16 | y_first);
        for (; row < r->n && r->key[row] <= (c << 16) + y + d; row++) {
            height = rows_push_row(rule, image, r, row, i, seed, height, root);
        }
    }
    return height;
}

static void rows_run(const slc_pixel_rule *rule, const slc_pixel_image *image, void *memory, size_t pixels,
                     uint32_t *root, uint32_t *same)
{
    (void)same;
    const rows r = rows_find(image, memory, pixels);
    for (uint32_t i = 0; i < image->n; i++) {
        root[i] = unseen;
    }
    for (uint32_t seed = 0; seed < image->n; seed++) {
        if (root[seed] != unseen) {
            continue;
        }
        root[seed] = seed;
        r.stack[0] = seed;
        for (uint32_t height = 1; height > 0;) {
            height = rows_push(rule, image, &r, r.stack[height - 1], seed, height - 1, root);
        }
    }
}

const slc_pixel_algorithm slc_pixel_flood_rows = {.name = "flood-rows",
                                                  .wants = SLC_PIXEL_WANTS_RASTER,
                                                  .wants_with_time = SLC_PIXEL_WANTS_RASTER,
                                                  .bound = rows_bound,
                                                  .run = rows_run};
