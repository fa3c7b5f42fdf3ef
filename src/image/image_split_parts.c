/* SPDX-License-Identifier: Apache-2.0
 * The watershed of one component: its pixels in the order of their distance, hills as trees of pixels whose
 * roots are the pixels that they began with, then queues of the levels that there are. */
#include "image/image_split_work.h"

#include <math.h>
#include <string.h>

enum { FEW = 48 /* pixels: sorted by insertion */ };
static const uint32_t none = UINT32_MAX;

/* A component at work. */
typedef struct component {
    uint32_t *order, *spare; /* its pixels by rank; as many other places */
    size_t n, levels;
} component;

/* Is a place that is `step` from `at` one of n? */
static inline bool is_in(uint32_t at, int step, size_t n)
{
    return step < 0 ? at > 0 : step == 0 || at + (size_t)1 < n;
}

static inline size_t take_all(const uint32_t *level, const uint32_t *by, size_t n_steps, uint32_t pixel,
                              uint32_t *restrict to)
{
    size_t n = 0;
    for (size_t i = 0; i < n_steps; i++) {
        const uint32_t at = pixel + by[i];
        if (level[at] != 0) {
            to[n++] = at;
        }
    }
    return n;
}

/* Neighbours of the foreground, in raster order; returns how many. */
static inline size_t neighbours(const slc_split_work *w, uint32_t pixel, uint32_t *restrict to)
{
    const uint32_t width = (uint32_t)w->width, height = (uint32_t)w->height, x = pixel % width,
                   line = pixel / width;
    const uint32_t y = w->depth > 1 ? line % height : line, z = w->depth > 1 ? line / height : 0;
    const bool inside = x > 0 && x + 1 < width && y > 0 && y + 1 < height &&
                        (w->depth == 1 || (z > 0 && z + (size_t)1 < w->depth));
    const uint32_t *level = w->level;
    const size_t n_steps = w->n_steps;
    size_t n = 0;
    if (inside && n_steps == 8) { /* as mostly of images: unrolled */
        return take_all(level, w->by, 8, pixel, to);
    }
    if (inside) {
        return take_all(level, w->by, n_steps, pixel, to);
    }
    for (size_t i = 0; i < n_steps; i++) {
        if (is_in(x, w->steps[i].x, width) && is_in(y, w->steps[i].y, height) &&
            is_in(z, w->steps[i].z, w->depth) && level[pixel + w->by[i]] != 0) {
            to[n++] = pixel + w->by[i];
        }
    }
    return n;
}

/* ---- order ------------------------------------------------------------------------------------- */

static void insert(const uint32_t *level, component *c)
{
    for (size_t i = 1; i < c->n; i++) {
        const uint32_t pixel = c->order[i];
        size_t k = i;
        for (; k > 0 && level[c->order[k - 1]] < level[pixel]; k--) {
            c->order[k] = c->order[k - 1];
        }
        c->order[k] = pixel;
    }
}

/* One digit; falling, and equal ones stay as they are. Returns false where all digits are equal. */
static bool sort_digit(const uint32_t *level, component *c, unsigned shift)
{
    size_t count[257] = {0};
    for (size_t i = 0; i < c->n; i++) {
        count[256 - (level[c->order[i]] >> shift & 255)]++;
    }
    if (count[256 - (level[c->order[0]] >> shift & 255)] == c->n) {
        return false;
    }
    for (size_t i = 1; i < 257; i++) {
        count[i] += count[i - 1];
    }
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t pixel = c->order[i];
        c->spare[count[255 - (level[pixel] >> shift & 255)]++] = pixel;
    }
    return true;
}

/* By falling distance, equal ones in raster order, as they come. */
static void sort(const uint32_t *level, component *c)
{
    if (c->n <= FEW) {
        insert(level, c);
        return;
    }
    for (unsigned shift = 0; shift < 32; shift += 8) {
        if (sort_digit(level, c, shift)) {
            uint32_t *sorted = c->spare;
            c->spare = c->order;
            c->order = sorted;
        }
    }
}

/* Distances become ranks; what they were is in spare[rank - 1]. */
static void rank(uint32_t *level, component *c)
{
    c->levels = 0;
    for (size_t i = 0; i < c->n; i++) {
        uint32_t *at = &level[c->order[i]];
        if (c->levels == 0 || *at != c->spare[c->levels - 1]) {
            c->spare[c->levels++] = *at;
        }
        *at = (uint32_t)c->levels;
    }
}

/* ---- hills ------------------------------------------------------------------------------------- */

static uint32_t find(uint32_t *tree, uint32_t i)
{
    while (tree[i] != i) {
        tree[i] = tree[tree[i]];
        i = tree[i];
    }
    return i;
}

/* The pixel that a part begins with has itself as its label; others of the component have none. */
static void begin_part(const slc_split_work *w, uint32_t pixel)
{
    w->part[pixel] = pixel + 1;
}

/* Hills a and b meet: one ends. Returns the other. */
static uint32_t join(const slc_split_work *w, const component *c, uint32_t a, uint32_t b, uint32_t level,
                     bool *several)
{
    const bool a_first = w->level[a] < w->level[b] || (w->level[a] == w->level[b] && a < b);
    const uint32_t goes_on = a_first ? a : b, ends = a_first ? b : a;
    w->tree[ends] = goes_on;
    if (w->level[ends] != level) {
        const double high = sqrt((double)c->spare[w->level[ends] - 1]),
                     low = sqrt((double)c->spare[level - 1]);
        if (high - low >= w->config->depth) {
            begin_part(w, ends);
            *several = true;
        }
    }
    return goes_on;
}

/* Returns whether there are several parts. */
static bool find_parts(const slc_split_work *w, const component *c)
{
    uint32_t around[SLC_SPLIT_NEIGHBOURS];
    bool several = false;
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t pixel = c->order[i];
        uint32_t own = pixel;
        const size_t n = neighbours(w, pixel, around);
        w->tree[pixel] = pixel;
        w->part[pixel] = 0;
        for (size_t k = 0; k < n; k++) {
            if (w->tree[around[k]] != none) {
                const uint32_t other = find(w->tree, around[k]);
                own = other != own ? join(w, c, own, other, w->level[pixel], &several) : own;
            }
        }
    }
    begin_part(w, c->order[0]);
    return several;
}

/* ---- the flood --------------------------------------------------------------------------------- */

/* Pixels that wait, by rank; the first and the last of each. */
typedef struct queues {
    uint32_t *first, *last, *next;
    size_t at; /* no rank before this one waits */
} queues;

static void enqueue(queues *q, uint32_t level, uint32_t pixel)
{
    const size_t i = level - 1;
    if (q->first[i] == none) {
        q->first[i] = pixel;
    } else {
        q->next[q->last[i]] = pixel;
    }
    q->last[i] = pixel;
    q->next[pixel] = none;
    q->at = i < q->at ? i : q->at;
}

/* From now on the lists hold queues. A rank is never larger than the place of its first pixel, so that those
 * are read before the queues' ends are written over them. */
static void flood(const slc_split_work *w, const component *c)
{
    uint32_t around[SLC_SPLIT_NEIGHBOURS];
    queues q = {c->spare, c->order, w->tree, c->levels};
    memset(q.first, 0xFF, c->levels * sizeof *q.first);
    for (size_t i = 0; i < c->n; i++) {
        const uint32_t pixel = c->order[i];
        if (w->part[pixel] != 0) {
            enqueue(&q, w->level[pixel], pixel);
        }
    }
    while (q.at < c->levels) {
        const uint32_t pixel = q.first[q.at];
        if (pixel == none) {
            q.at++;
            continue;
        }
        q.first[q.at] = q.next[pixel];
        const size_t n = neighbours(w, pixel, around);
        for (size_t k = 0; k < n; k++) {
            if (w->part[around[k]] == 0) {
                w->part[around[k]] = w->part[pixel];
                enqueue(&q, w->level[around[k]], around[k]);
            }
        }
    }
}

/* ---- a component --------------------------------------------------------------------------------- */

void slc_split_component(const slc_split_work *w, uint32_t number)
{
    const uint64_t at = w->first[number];
    component c = {w->list + at, w->spare + at, (size_t)(w->first[number + 1] - at), 0};
    sort(w->level, &c);
    /* No hill but the first has a larger dynamics than this. */
    const double most = sqrt((double)w->level[c.order[0]]) - 1;
    if (most > 0 && most >= w->config->depth) {
        rank(w->level, &c);
        if (find_parts(w, &c)) {
            flood(w, &c);
            return;
        }
    }
    for (size_t i = 0; i < c.n; i++) {
        w->part[c.order[i]] = c.order[0] + 1;
    }
}
