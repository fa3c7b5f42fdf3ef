/* SPDX-License-Identifier: Apache-2.0
 * Squared Euclidean distances in two passes: along columns, then, of each run of a row, as the lowest of the
 * parabolas that the columns' distances stand for. Meijster, Roerdink, Hesselink, Mathematical Morphology and
 * its Applications (2000) 331; here by runs, as no column beyond the pixel of background at either end can be
 * nearer than that. */
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
static size_t add(parabola *list, size_t n, uint64_t at, uint64_t along, uint64_t end)
{
    parabola next = {at, along * along, 0};
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

/* Of the run [first, behind). */
static void scan_run(uint32_t *row, size_t width, size_t first, size_t behind, parabola *list)
{
    const uint64_t end = behind - first + 1;
    size_t n = first > 0 ? add(list, 0, 0, 0, end) : 0;
    for (size_t x = first; x < behind; x++) {
        n = row[x] < far ? add(list, n, x - first + 1, row[x], end) : n;
    }
    n = behind < width ? add(list, n, end, 0, end) : n;
    for (size_t x = behind; x-- > first;) {
        while (n > 1 && list[n - 1].from > x - first + 1) {
            n--;
        }
        row[x] = n > 0 ? (uint32_t)cost(&list[n - 1], x - first + 1) : UINT32_MAX;
    }
}

static void scan_rows(void *context, uint32_t part)
{
    const work *w = context;
    const size_t width = w->bits->width, height = w->bits->height;
    parabola *list = w->room + part * (width + 2);
    for (size_t y = height * part / w->parts; y < height * (part + 1) / w->parts; y++) {
        uint32_t *row = w->distance + y * width;
        for (size_t x = 0; x < width; x++) {
            const size_t first = x;
            while (x < width && row[x] != 0) {
                x++;
            }
            if (x > first) {
                scan_run(row, width, first, x, list);
            }
        }
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
