/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: one algorithm of clustering, behind one interface: an image's pixels in, for each of
 * them a pixel that stands for its cluster out. What is the same for all (checks, sorting, numbers, features,
 * threads) is in pixel_cluster.c.
 */
#ifndef SLUICE_PIXEL_ALGORITHM_H
#define SLUICE_PIXEL_ALGORITHM_H

#include <sluice/pixel.h>

/* Who is adjacent: every |d| <= radius, the sum of all <= reach, |dt| <= window where there are times. */
typedef struct slc_pixel_rule {
    uint32_t radius, reach, width, height;
    uint64_t window;
    bool with_z, with_time;
} slc_pixel_rule;

/* The order in which an algorithm wants the pixels. */
typedef enum slc_pixel_wants {
    SLC_PIXEL_WANTS_LIST,   /* as they come */
    SLC_PIXEL_WANTS_RASTER, /* by z, y, x, then time; with keys; entries of a place merged as far as can be */
    SLC_PIXEL_WANTS_TIME    /* by time */
} slc_pixel_wants;

/* One image in that order. Of key only the first `n` are set, and only for raster order. In raster order no
 * place comes twice without a time window. With one, hits of a place that follow each other within the window
 * are one entry, which lasts from its first to its last time: two entries that last, at adjacent places, have
 * a hit each within the window of each other just where there is no more than the window between their ends,
 * as no hole in one of them is wider. Entries of one place are never adjacent, and come in order of time. */
typedef struct slc_pixel_image {
    uint32_t n;
    const uint16_t *x, *y, *z;   /* z: NULL without */
    const int64_t *time, *until; /* NULL where time does not matter; until: the last time */
    const uint64_t *key;         /* z, y and x in 16 bits each */
    const uint32_t *behind;      /* raster order with times: the first entry behind those of its place */
} slc_pixel_image;

typedef struct slc_pixel_algorithm {
    const char *name;
    slc_pixel_wants wants, wants_with_time;
    bool flat; /* cannot do a third coordinate */
    /* Bytes of working memory, zeroed once by who calls; SIZE_MAX where the area is too large for it. */
    size_t (*bound)(const slc_pixel_rule *rule, size_t pixels);
    /* Fills root[0 … n - 1] with the number of a pixel that stands for the cluster: its first one, the
     * same for all of a cluster, and itself for that pixel. `same` gets, from algorithms that want the list
     * as it comes, the number of the first pixel with the same coordinates; NULL for others. The memory is
     * left as it was found. */
    void (*run)(const slc_pixel_rule *rule, const slc_pixel_image *image, void *memory, size_t pixels,
                uint32_t *root, uint32_t *same);
} slc_pixel_algorithm;

extern const slc_pixel_algorithm slc_pixel_ordered, slc_pixel_row_table;

/* Comparisons from outside of the library (baselines/): pointers that end with NULL, and stay. Once, before a
 * clusterer is opened and before there are threads. */
void slc_pixel_algorithms_add(const slc_pixel_algorithm *const *list);

static inline uint32_t slc_pixel_distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}
/* Of times, which may be as far apart as 2^64 - 1. */
static inline uint64_t slc_pixel_delay(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Between the end of one of two entries and the begin of the other; 0 where they overlap. */
static inline uint64_t slc_pixel_between(const slc_pixel_image *image, uint32_t i, uint32_t j)
{
    return image->time[i] > image->until[j]   ? slc_pixel_delay(image->time[i], image->until[j])
           : image->time[j] > image->until[i] ? slc_pixel_delay(image->time[j], image->until[i])
                                              : 0;
}

static inline bool slc_pixel_adjacent(const slc_pixel_rule *rule, const slc_pixel_image *image, uint32_t i,
                                      uint32_t j)
{
    const uint32_t dx = slc_pixel_distance(image->x[i], image->x[j]);
    const uint32_t dy = slc_pixel_distance(image->y[i], image->y[j]);
    const uint32_t dz = image->z != NULL ? slc_pixel_distance(image->z[i], image->z[j]) : 0;
    return dx <= rule->radius && dy <= rule->radius && dz <= rule->radius && dx + dy + dz <= rule->reach &&
           (image->time == NULL || slc_pixel_between(image, i, j) <= rule->window);
}

/* Of the entries of one place, from `first` to in front of `behind`: the first one that does not end more
 * than the window before entry i begins. Those that are adjacent to i in time follow from there on. */
static inline uint32_t slc_pixel_first_near(const slc_pixel_rule *rule, const slc_pixel_image *image,
                                            uint32_t first, uint32_t behind, uint32_t i)
{
    const int64_t time = image->time[i];
    for (uint32_t n = behind - first; n > 0;) {
        const uint32_t half = n / 2;
        const int64_t until = image->until[first + half];
        const bool old = until < time && slc_pixel_delay(until, time) > rule->window;
        first = old ? first + half + 1 : first;
        n = old ? n - half - 1 : half;
    }
    return first;
}

/* Points every parent to its root. */
static inline void slc_pixel_flatten(uint32_t *table, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        table[i] = table[table[i]];
    }
}

#endif
