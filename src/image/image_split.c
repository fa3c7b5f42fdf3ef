/* SPDX-License-Identifier: Apache-2.0
 * Watershed of distances. Each component of the foreground is worked on alone: its pixels in the order of
 * their distance, hills as trees of pixels whose roots are the pixels that they began with, then queues of
 * the levels that there are. F. Meyer, Signal Processing 38 (1994) 113; dynamics: M. Grimaud, SPIE 1769
 * (1992) 292. */
#include <sluice/image_split.h>

#include "base/config.h"
#include "base/team.h"
#include "image/image_check.h"
#include "image/image_distance.h"
#include "image/image_memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_THREADS = 4096,
    FEW = 48 /* pixels: sorted by insertion */,
    SHARES = 16 /* a thread */,
    STRIP_PIXELS = 1 << 16
};
static const uint32_t none = UINT32_MAX;

static void image_split_config_default(slc_image_split_config *config)
{
    *config = (slc_image_split_config){.size = sizeof *config,
                                       .depth = 1,
                                       .connectivity = 8,
                                       .max_area = UINT64_MAX,
                                       .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_image_split_config, image_split_config_default)

/* Arrays of the whole image but for `list` and `spare`, which have a place for each pixel of the foreground,
 * one component behind the other. What they hold changes as the work goes on. */
typedef struct work {
    const slc_image_split_config *config;
    size_t width, height;
    uint32_t *part;  /* components; then of each pixel the pixel that its part began with, + 1 */
    uint32_t *level; /* squared distances; then their rank in the component, from 1 for the largest */
    uint32_t *tree;  /* a pixel nearer to the root; then the next that waits */
    uint32_t *list, *spare;
    uint64_t *first; /* of each component and behind the last one: places in the lists */
    uint32_t n_components, shares;
    slc_image_memory memory;
    slc_team *team;
} work;

/* A component at work. */
typedef struct component {
    uint32_t *order, *spare; /* its pixels by rank; as many other places */
    size_t n, levels;
} component;

/* Neighbours of the foreground, in raster order; returns how many. */
static inline size_t neighbours(const work *w, uint32_t pixel, uint32_t *to)
{
    const uint32_t width = (uint32_t)w->width, x = pixel % width, y = pixel / width;
    const bool left = x > 0, right = x + 1 < width, corners = w->config->connectivity == 8;
    size_t n = 0;
#define TAKE(there, at)                                                                                      \
    if ((there) && w->level[at] != 0) {                                                                      \
        to[n++] = (at);                                                                                      \
    }
    if (y > 0) {
        TAKE(left && corners, pixel - width - 1)
        TAKE(true, pixel - width)
        TAKE(right && corners, pixel - width + 1)
    }
    TAKE(left, pixel - 1)
    TAKE(right, pixel + 1)
    if (y + 1 < w->height) {
        TAKE(left && corners, pixel + width - 1)
        TAKE(true, pixel + width)
        TAKE(right && corners, pixel + width + 1)
    }
#undef TAKE
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
static void begin_part(const work *w, uint32_t pixel)
{
    w->part[pixel] = pixel + 1;
}

/* Hills a and b meet: one ends. Returns the other. */
static uint32_t join(const work *w, const component *c, uint32_t a, uint32_t b, uint32_t level, bool *several)
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
static bool find_parts(const work *w, const component *c)
{
    uint32_t around[8];
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
static void flood(const work *w, const component *c)
{
    uint32_t around[8];
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

/* ---- components -------------------------------------------------------------------------------- */

static void split(const work *w, uint32_t number)
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

/* Components are shared out by their pixels: those that begin in the part's share of the list. */
static void split_share(void *context, uint32_t share)
{
    const work *w = context;
    const uint64_t n = w->first[w->n_components];
    const uint64_t begin = n * share / w->shares, end = n * (share + 1) / w->shares;
    uint32_t low = 0, high = w->n_components;
    while (low < high) { /* the first component that begins at `begin` or behind it */
        const uint32_t middle = low + (high - low) / 2;
        low = w->first[middle] < begin ? middle + 1 : low;
        high = w->first[middle] < begin ? high : middle;
    }
    for (; low < w->n_components && w->first[low] < end; low++) {
        split(w, low);
    }
}

/* Lists of the pixels of each component, in raster order. */
static slc_status list_pixels(work *w)
{
    const size_t n = w->width * w->height;
    w->first = calloc((size_t)w->n_components + 2, sizeof *w->first);
    if (w->first == NULL) {
        return SLC_ERR_MEMORY;
    }
    uint64_t *count = w->first + 1; /* moved by one: what is counted becomes where the next one begins */
    for (size_t i = 0; i < n; i++) {
        count[w->part[i]] += w->part[i] != 0;
    }
    for (uint32_t i = 1; i <= w->n_components; i++) {
        count[i] += count[i - 1];
    }
    /* Where component i begins is count[i - 1], which moves to where it ends, and so where the next begins.
     */
    for (size_t i = 0; i < n; i++) {
        w->tree[i] = none;
        if (w->part[i] != 0) {
            w->list[count[w->part[i] - 1]++] = (uint32_t)i;
        }
    }
    return SLC_OK;
}

/* ---- numbers ----------------------------------------------------------------------------------- */

/* Parts that are dropped have the number `none` afterwards, others from 1. */
static uint32_t number_parts(const work *w, uint32_t *number, uint32_t *area)
{
    const slc_image_split_config *c = w->config;
    const size_t n = w->width * w->height;
    uint8_t *border = (uint8_t *)w->level; /* of each beginning: does the part reach the border? */
    uint32_t found = 0;
    memset(number, 0, n * sizeof *number);
    memset(area, 0, n * sizeof *area);
    memset(border, 0, n);
    for (size_t i = 0; i < n; i++) {
        if (w->part[i] != 0) {
            const size_t x = i % w->width, y = i / w->width;
            area[w->part[i] - 1]++;
            border[w->part[i] - 1] |= x == 0 || y == 0 || x + 1 == w->width || y + 1 == w->height;
        }
    }
    for (size_t i = 0; i < n; i++) {
        const size_t at = w->part[i] - (size_t)1;
        if (w->part[i] != 0 && number[at] == 0) {
            const bool kept = area[at] >= c->min_area && area[at] <= c->max_area &&
                              (c->border == SLC_IMAGE_BORDER_ANY ||
                               (c->border == SLC_IMAGE_BORDER_TOUCHING) == (border[at] != 0));
            number[at] = kept ? ++found : none;
        }
    }
    return found;
}

static void write_labels(const work *w, const uint32_t *number, uint32_t *labels, ptrdiff_t stride)
{
    for (size_t y = 0; y < w->height; y++) {
        uint32_t *row = (uint32_t *)(void *)((char *)labels + (ptrdiff_t)y * stride);
        const uint32_t *part = w->part + y * w->width;
        for (size_t x = 0; x < w->width; x++) {
            const uint32_t to = part[x] != 0 ? number[part[x] - 1] : 0;
            row[x] = to != none ? to : 0;
        }
    }
}

/* ---- all of it --------------------------------------------------------------------------------- */

static slc_status check(const slc_image_split_config *c, const slc_image *foreground, const uint32_t *labels,
                        ptrdiff_t stride, slc_error *error)
{
    slc_status status = slc_image_check("foreground", foreground, error);
    if (status == SLC_OK && foreground->type != SLC_IMAGE_BITS) {
        status = slc_fail(error, SLC_ERR_USAGE, "foreground: of %s, and it is to be rows of bits",
                          slc_image_type_name(foreground->type));
    }
    status = status == SLC_OK
                 ? slc_image_check_choices(c->connectivity, 1, 0, c->min_area, c->max_area, error)
                 : status;
    if (status == SLC_OK && !(c->depth >= 0 && isfinite(c->depth))) {
        status = slc_fail(error, SLC_ERR_USAGE, "depth: %g, and it is a number from 0", c->depth);
    }
    if (status == SLC_OK && (c->border < 0 || c->border >= SLC_IMAGE_BORDERS)) {
        status = slc_fail(error, SLC_ERR_USAGE, "border: unknown choice %d", (int)c->border);
    }
    if (status == SLC_OK && c->exec.device != NULL && strcmp(c->exec.device, "cpu") != 0) {
        status = slc_fail(error, SLC_ERR_USAGE, "device \"%s\": parts are found by the processor",
                          c->exec.device);
    }
    status = status == SLC_OK
                 ? slc_image_check_rows("label image", labels, stride, foreground->width * sizeof *labels,
                                        foreground->height, sizeof *labels, error)
                 : status;
    const uint64_t width = status == SLC_OK ? foreground->width : 1,
                   height = status == SLC_OK ? foreground->height : 1;
    if (width > UINT16_MAX || height > UINT16_MAX || width * width + height * height > UINT32_MAX) {
        status = slc_fail(error, SLC_ERR_UNSUPPORTED,
                          "split: %zu x %zu pixels, whose distances may not fit 32 bits", foreground->width,
                          foreground->height);
    }
    return status;
}

/* Components into `part`. */
static slc_status label(work *w, const slc_image *foreground, slc_error *error)
{
    slc_image_labeller *labeller = NULL;
    slc_image_label_config config;
    slc_image_labels out = {
        .labels = w->part, .stride = (ptrdiff_t)(w->width * sizeof *w->part), .type = SLC_TYPE_U32};
    slc_image_label_config_default(&config);
    config.connectivity = w->config->connectivity;
    config.exec = w->config->exec;
    slc_status status = slc_image_label_open(&config, &labeller, error);
    status = status == SLC_OK ? slc_image_label_reserve(labeller, w->width, w->height, error) : status;
    status = status == SLC_OK ? slc_image_label_run(labeller, foreground, NULL, &out, NULL, error) : status;
    slc_image_label_close(labeller);
    w->n_components = out.n_labels;
    return status;
}

static slc_status prepare(work *w, const slc_image *foreground, slc_error *error)
{
    const size_t n = w->width * w->height;
    const uint32_t wanted = w->config->exec.threads, processors = slc_team_processors();
    const uint32_t most = wanted != 0 ? wanted : processors < MOST_THREADS ? processors : MOST_THREADS;
    const size_t worth = n / STRIP_PIXELS + 1;
    const uint32_t threads = worth < most ? (uint32_t)worth : most;
    slc_status status = slc_image_memory_reserve(&w->memory, 5 * n * sizeof *w->part);
    status = status == SLC_OK ? slc_team_open(threads, &w->team) : status;
    if (status != SLC_OK) {
        return slc_fail(error, status, "split: no memory for %zu x %zu pixels", w->width, w->height);
    }
    w->part = w->memory.at;
    w->level = w->part + n;
    w->tree = w->level + n;
    w->list = w->tree + n;
    w->spare = w->list + n;
    w->shares = threads > 1 ? threads * SHARES : 1;
    status = label(w, foreground, error);
    if (status == SLC_OK &&
        (slc_image_distance(foreground, w->team, threads, w->level) != SLC_OK || list_pixels(w) != SLC_OK)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "split: no memory for %zu x %zu pixels", w->width,
                          w->height);
    }
    return status;
}

slc_status slc_image_split(const slc_image_split_config *given, const slc_image *foreground, uint32_t *labels,
                           ptrdiff_t stride, uint32_t *n_labels, slc_error *error)
{
    slc_image_split_config config;
    image_split_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_image_split_config", error);
    status = status == SLC_OK ? check(&config, foreground, labels, stride, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    work w = {.config = &config, .width = foreground->width, .height = foreground->height};
    status = prepare(&w, foreground, error);
    if (status == SLC_OK) {
        slc_team_run(w.team, w.shares, split_share, &w);
        *n_labels = number_parts(&w, w.tree, w.list);
        write_labels(&w, w.tree, labels, stride);
    }
    free(w.first);
    slc_team_close(w.team);
    slc_image_memory_clear(&w.memory);
    return status;
}
