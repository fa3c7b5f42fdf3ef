/* SPDX-License-Identifier: Apache-2.0
 * Clusters of sparse pixels by brute force.
 */
#include "oracle/pixel_oracle.h"
#include "oracle/pixel_shape_oracle.h"

#include <math.h>
#include <stdlib.h>

/* One entry of an image's list; without z, charge or time those are 0, 1 and 0. */
typedef struct entry {
    int64_t x, y, z, time;
    uint64_t charge;
    uint32_t index;
} entry;

static entry entry_of(const slc_pixel_cluster_config *config, const slc_pixels *p, size_t first, uint32_t i)
{
    return (entry){.x = p->x[first + i],
                   .y = p->y[first + i],
                   .z = (config->with & SLC_PIXEL_Z) != 0 ? p->z[first + i] : 0,
                   .time = (config->with & SLC_PIXEL_TIME) != 0 ? p->time[first + i] : 0,
                   .charge = (config->with & SLC_PIXEL_CHARGE) != 0 ? p->charge[first + i] : 1,
                   .index = i};
}

/* ---- components --------------------------------------------------------------------------------- */

static bool are_neighbours(const slc_pixel_cluster_config *config, const entry *a, const entry *b)
{
    const int64_t dx = llabs(a->x - b->x), dy = llabs(a->y - b->y), dz = llabs(a->z - b->z);
    const int64_t sum = dx + dy + dz;
    const bool touch = dx <= 1 && dy <= 1 && dz <= 1;
    if (config->time_window >= 0) {
        const uint64_t low = (uint64_t)(a->time < b->time ? a->time : b->time);
        const uint64_t high = (uint64_t)(a->time < b->time ? b->time : a->time);
        if (high - low > (uint64_t)config->time_window) {
            return false;
        }
    }
    switch (config->connectivity) {
    case 4:
    case 6:
        return sum <= 1;
    case 18:
        return touch && sum <= 2;
    case 8:
    case 26:
        return touch;
    default:
        return dx <= config->radius && dy <= config->radius && dz <= config->radius;
    }
}

static bool is_same_place(const entry *a, const entry *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z;
}

static int by_raster(const void *first, const void *second)
{
    const entry *a = first, *b = second;
    if (a->z != b->z) {
        return a->z < b->z ? -1 : 1;
    }
    if (a->y != b->y) {
        return a->y < b->y ? -1 : 1;
    }
    if (a->x != b->x) {
        return a->x < b->x ? -1 : 1;
    }
    return a->index < b->index ? -1 : 1;
}

/* Labels the entry's component, beginning at the entry `seed`; `todo` has room for all. */
static void spread(const slc_pixel_cluster_config *config, const entry *entries, uint32_t n, uint32_t seed,
                   uint32_t label, uint32_t *labels, uint32_t *todo)
{
    uint32_t due = 1;
    todo[0] = seed;
    labels[entries[seed].index] = label;
    while (due > 0) {
        const entry *from = &entries[todo[--due]];
        for (uint32_t j = 0; j < n; j++) {
            if (labels[entries[j].index] == UINT32_MAX && are_neighbours(config, from, &entries[j])) {
                labels[entries[j].index] = label;
                todo[due++] = j;
            }
        }
    }
}

/* Seeds are taken in the order in which clusters are told; so that is the order of the labels. */
static uint32_t label_image(const slc_pixel_cluster_config *config, entry *entries, uint32_t n,
                            uint32_t *labels, uint32_t *todo)
{
    uint32_t clusters = 0;
    if (config->time_window < 0) {
        qsort(entries, n, sizeof *entries, by_raster);
    }
    for (uint32_t i = 0; i < n; i++) {
        labels[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < n; i++) {
        if (labels[entries[i].index] == UINT32_MAX) {
            spread(config, entries, n, i, clusters++, labels, todo);
        }
    }
    return clusters;
}

/* ---- features ----------------------------------------------------------------------------------- */

/* Makes one pixel of all entries at the place of entry i, the first of them, in the order of the list. */
static entry merge(const slc_pixel_cluster_config *config, const slc_pixels *p, size_t first, uint32_t n,
                   uint32_t i)
{
    const bool charged = (config->with & SLC_PIXEL_CHARGE) != 0;
    entry made = entry_of(config, p, first, i);
    for (uint32_t j = i + 1; j < n; j++) {
        const entry other = entry_of(config, p, first, j);
        if (!is_same_place(&made, &other)) {
            continue;
        }
        if (config->duplicates == SLC_PIXEL_DUPLICATES_SUM) {
            made.charge += charged ? other.charge : 0;
            made.time = other.time < made.time ? other.time : made.time;
        } else if (config->duplicates == SLC_PIXEL_DUPLICATES_LARGEST && other.charge > made.charge) {
            made = other;
        }
    }
    made.charge = made.charge < UINT32_MAX ? made.charge : UINT32_MAX;
    return made;
}

static bool is_repeated(const slc_pixel_cluster_config *config, const slc_pixels *p, size_t first, uint32_t i)
{
    const entry own = entry_of(config, p, first, i);
    for (uint32_t j = 0; j < i; j++) {
        const entry other = entry_of(config, p, first, j);
        if (is_same_place(&own, &other)) {
            return true;
        }
    }
    return false;
}

typedef struct sums {
    uint64_t size, mass, x, y, z, weighted_x, weighted_y, weighted_z;
    entry low, high, largest; /* low and high: of each coordinate and the time */
    oracle_pixel_moments moments;
} sums;

static void add(sums *s, const entry *e)
{
    if (s->size == 0) {
        s->low = s->high = s->largest = *e;
    }
    oracle_pixel_moments_add(&s->moments, (uint64_t)e->x, (uint64_t)e->y, e->charge);
    s->size++;
    s->mass += e->charge;
    s->x += (uint64_t)e->x;
    s->y += (uint64_t)e->y;
    s->z += (uint64_t)e->z;
    s->weighted_x += e->charge * (uint64_t)e->x;
    s->weighted_y += e->charge * (uint64_t)e->y;
    s->weighted_z += e->charge * (uint64_t)e->z;
    s->low.x = e->x < s->low.x ? e->x : s->low.x;
    s->low.y = e->y < s->low.y ? e->y : s->low.y;
    s->low.z = e->z < s->low.z ? e->z : s->low.z;
    s->low.time = e->time < s->low.time ? e->time : s->low.time;
    s->high.x = e->x > s->high.x ? e->x : s->high.x;
    s->high.y = e->y > s->high.y ? e->y : s->high.y;
    s->high.z = e->z > s->high.z ? e->z : s->high.z;
    s->high.time = e->time > s->high.time ? e->time : s->high.time;
    if (e->charge > s->largest.charge || (e->charge == s->largest.charge && e->index < s->largest.index)) {
        s->largest = *e;
    }
}

#define PUT(column, value)                                                                                   \
    do {                                                                                                     \
        if (to->column != NULL) {                                                                            \
            to->column[row] = (value);                                                                       \
        }                                                                                                    \
    } while (0)

static double ratio(uint64_t sum, uint64_t by)
{
    return by != 0 ? (double)sum / (double)by : (double)NAN;
}

static void put(const sums *s, slc_pixel_clusters *to, size_t row)
{
    PUT(size, (uint32_t)s->size);
    PUT(x_min, (uint16_t)s->low.x);
    PUT(y_min, (uint16_t)s->low.y);
    PUT(z_min, (uint16_t)s->low.z);
    PUT(x_max, (uint16_t)s->high.x);
    PUT(y_max, (uint16_t)s->high.y);
    PUT(z_max, (uint16_t)s->high.z);
    PUT(centroid_x, ratio(s->x, s->size));
    PUT(centroid_y, ratio(s->y, s->size));
    PUT(centroid_z, ratio(s->z, s->size));
    PUT(mass, s->mass);
    PUT(weighted_x, ratio(s->weighted_x, s->mass));
    PUT(weighted_y, ratio(s->weighted_y, s->mass));
    PUT(weighted_z, ratio(s->weighted_z, s->mass));
    PUT(first_time, s->low.time);
    PUT(last_time, s->high.time);
    PUT(largest, s->largest.index);
    const oracle_pixel_shape shape = oracle_pixel_shape_of(&s->moments);
    PUT(peak, (uint32_t)s->moments.peak);
    PUT(squared_x, shape.squared_x);
    PUT(squared_y, shape.squared_y);
    PUT(length, shape.length);
    PUT(width, shape.width);
    PUT(linearity, shape.linearity);
    PUT(roundness, shape.roundness);
    PUT(kind, shape.kind);
}

static void sum_image(const slc_pixel_cluster_config *config, const slc_pixels *p, size_t first, uint32_t n,
                      const uint32_t *labels, sums *clusters)
{
    const bool merges = config->time_window < 0 && config->duplicates != SLC_PIXEL_DUPLICATES_KEEP;
    for (uint32_t i = 0; i < n; i++) {
        if (!merges) {
            const entry own = entry_of(config, p, first, i);
            add(&clusters[labels[i]], &own);
        } else if (!is_repeated(config, p, first, i)) {
            const entry made = merge(config, p, first, n, i);
            add(&clusters[labels[i]], &made);
        }
    }
}

void oracle_pixel_cluster(const slc_pixel_cluster_config *config, const slc_pixels *p, uint32_t *labels,
                          slc_pixel_clusters *clusters)
{
    clusters->head.size = 0;
    clusters->head.n_events = 0;
    for (uint32_t image = 0; image < p->head.n_events; image++) {
        const size_t first = p->head.event_offset[image];
        const uint32_t n = (uint32_t)(p->head.event_offset[image + 1] - first);
        entry *entries = calloc(n + (size_t)1, sizeof *entries);
        uint32_t *todo = calloc(n + (size_t)1, sizeof *todo);
        sums *all = calloc(n + (size_t)1, sizeof *all);
        for (uint32_t i = 0; i < n; i++) {
            entries[i] = entry_of(config, p, first, i);
        }
        const uint32_t found = label_image(config, entries, n, labels + first, todo);
        sum_image(config, p, first, n, labels + first, all);
        for (uint32_t c = 0; c < found; c++) {
            put(&all[c], clusters, clusters->head.size + c);
        }
        clusters->head.size += found;
        slc_columns_end_event(clusters);
        free(entries);
        free(todo);
        free(all);
    }
}
