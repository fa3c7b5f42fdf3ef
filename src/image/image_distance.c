/* SPDX-License-Identifier: Apache-2.0
 * Squared Euclidean distances in two passes: along columns, then, of each run of a row, as the lowest of the
 * parabolas that the columns' distances stand for; of volumes in a third, along z, in the same way. Meijster,
 * Roerdink, Hesselink, Mathematical Morphology and its Applications (2000) 331; here by runs, as no column
 * beyond the pixel of background at either end can be nearer than that. */
#include "image/image_distance.h"

#include "image/image_check.h"

#include <stdlib.h>

static const uint32_t far = UINT32_MAX / 2; /* no background in the column: more than any distance */

/* A column's parabola: the lowest from `from` on. */
typedef struct parabola {
    uint64_t at, low, from; /* columns from the run's left neighbour; squared distance along the column */
} parabola;

typedef struct work {
    const slc_image *bits;
    uint32_t *distance;
    parabola *room; /* width + 2 for each part */
    uint32_t parts;
} work;

/* ---- columns ----------------------------------------------------------------------------------- */

static void scan_columns(void *context, uint32_t part)
{
    const work *w = context;
    const size_t width = w->bits->width, height = w->bits->height;
    const size_t begin = width * part / w->parts, end = width * (part + 1) / w->parts;
    for (size_t y = 0; y < height; y++) {
        const uint8_t *row = slc_image_row(w->bits, y);
        uint32_t *to = w->distance + y * width;
        const uint32_t *above = y == 0 ? to : to - width;
        for (size_t x = begin; x < end; x++) {
            const bool on = (row[x / 8] >> x % 8 & 1) != 0;
            to[x] = !on ? 0 : y == 0 ? far : above[x] + (above[x] < far);
        }
    }
    for (size_t y = height - 1; y-- > 0;) {
        uint32_t *to = w->distance + y * width;
        for (size_t x = begin; x < end; x++) {
            const uint32_t other = to[x + width] + 1;
            to[x] = to[x] < other ? to[x] : other;
        }
    }
}

/* ---- rows -------------------------------------------------------------------------------------- */

static inline uint64_t cost(const parabola *p, uint64_t x)
{
    const uint64_t apart = x > p->at ? x - p->at : p->at - x;
    return apart * apart + p->low;
}

/* The next parabola from the left; returns how many there are then, of columns before `end`. */
static size_t add(parabola *list, size_t n, uint64_t at, uint64_t low, uint64_t end)
{
    parabola next = {at, low, 0};
    while (n > 0 && cost(&list[n - 1], list[n - 1].from) > cost(&next, list[n - 1].from)) {
        n--;
    }
    if (n > 0) { /* the last column in which the one before is not higher; not before its `from` */
        const parabola *last = &list[n - 1];
        next.from = 1 + (at * at + next.low - last->at * last->at - last->low) / (2 * (at - last->at));
    }
    if (next.from < end) {
        list[n++] = next;
    }
    return n;
}

/* Of the run [first, behind) of a row of distances, or of squared ones. */
static inline void scan_run(uint32_t *row, size_t width, size_t first, size_t behind, bool squared,
                            parabola *list)
{
    const uint32_t most = squared ? UINT32_MAX : far;
    const uint64_t end = behind - first + 1;
    size_t n = first > 0 ? add(list, 0, 0, 0, end) : 0;
    for (size_t x = first; x < behind; x++) {
        const uint64_t low = squared ? row[x] : (uint64_t)row[x] * row[x];
        n = row[x] < most ? add(list, n, x - first + 1, low, end) : n;
    }
    n = behind < width ? add(list, n, end, 0, end) : n;
    for (size_t x = behind; x-- > first;) {
        while (n > 1 && list[n - 1].from > x - first + 1) {
            n--;
        }
        row[x] = n > 0 ? (uint32_t)cost(&list[n - 1], x - first + 1) : UINT32_MAX;
    }
}

static inline void scan_row(uint32_t *row, size_t width, bool squared, parabola *list)
{
    for (size_t x = 0; x < width; x++) {
        const size_t first = x;
        while (x < width && row[x] != 0) {
            x++;
        }
        if (x > first) {
            scan_run(row, width, first, x, squared, list);
        }
    }
}

static void scan_rows(void *context, uint32_t part)
{
    const work *w = context;
    const size_t width = w->bits->width, height = w->bits->height;
    parabola *list = w->room + part * (width + 2);
    for (size_t y = height * part / w->parts; y < height * (part + 1) / w->parts; y++) {
        scan_row(w->distance + y * width, width, false, list);
    }
}

slc_status slc_image_distance(const slc_image *bits, slc_team *team, uint32_t parts, uint32_t *distance)
{
    work w = {.bits = bits, .distance = distance, .parts = parts};
    w.room = calloc((size_t)parts * (bits->width + 2), sizeof *w.room);
    if (w.room == NULL) {
        return SLC_ERR_MEMORY;
    }
    slc_team_run(team, parts, scan_columns, &w);
    slc_team_run(team, parts, scan_rows, &w);
    free(w.room);
    return SLC_OK;
}

/* ---- volumes ----------------------------------------------------------------------------------- */

enum { SIDE = 16 /* columns along z that are turned into rows at once: a line of the cache of each slice */ };

typedef struct pile {
    const slc_volume *bits;
    uint32_t *distance, *turned; /* SIDE rows of `depth` for each part */
    parabola *room;              /* depth + 2 for each part */
    uint32_t parts;
} pile;

static void scan_along_z(void *context, uint32_t part)
{
    const pile *w = context;
    const size_t depth = w->bits->depth, plane = w->bits->width * w->bits->height;
    const size_t tiles = (plane + SIDE - 1) / SIDE;
    uint32_t *turned = w->turned + part * SIDE * depth;
    parabola *list = w->room + part * (depth + 2);
    for (size_t tile = tiles * part / w->parts; tile < tiles * (part + 1) / w->parts; tile++) {
        uint32_t *first = w->distance + SIDE * tile;
        const size_t n = plane - SIDE * tile < SIDE ? plane - SIDE * tile : SIDE;
        for (size_t z = 0; z < depth; z++) {
            for (size_t i = 0; i < n; i++) {
                turned[i * depth + z] = first[z * plane + i];
            }
        }
        for (size_t i = 0; i < n; i++) {
            scan_row(turned + i * depth, depth, true, list);
        }
        for (size_t z = 0; z < depth; z++) {
            for (size_t i = 0; i < n; i++) {
                first[z * plane + i] = turned[i * depth + z];
            }
        }
    }
}

slc_status slc_volume_distance(const slc_volume *bits, slc_team *team, uint32_t parts, uint32_t *distance)
{
    pile w = {.bits = bits, .distance = distance, .parts = parts};
    slc_status status = SLC_OK;
    for (size_t z = 0; z < bits->depth && status == SLC_OK; z++) {
        const slc_image slice = {(const char *)bits->voxels + (ptrdiff_t)z * bits->slice_stride, bits->width,
                                 bits->height, bits->stride, bits->type};
        status = slc_image_distance(&slice, team, parts, distance + z * bits->width * bits->height);
    }
    if (status != SLC_OK || bits->depth <= 1) {
        return status;
    }
    w.turned = calloc((size_t)parts * SIDE * bits->depth, sizeof *w.turned);
    w.room = calloc((size_t)parts * (bits->depth + 2), sizeof *w.room);
    if (w.turned != NULL && w.room != NULL) {
        slc_team_run(team, parts, scan_along_z, &w);
    } else {
        status = SLC_ERR_MEMORY;
    }
    free(w.turned);
    free(w.room);
    return status;
}
