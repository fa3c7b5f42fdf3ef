/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: clusters of pixels that come in the order of time. Where the window of time holds few
 * hits, a new one is compared with all of them (pixel_near.h). Otherwise a table tells for each of the
 * sensor's pixels when it was hit last and to which cluster that hit went, and a new hit looks at the table
 * around it. Clusters are sums in slots; where a hit meets several, union-find joins their slots. Nothing is
 * done when a hit leaves the time window: its time tells.
 *
 * In the table, looking at the latest hit of a pixel alone is enough: if an earlier hit of it is within the
 * window of the new one, the later one is too, and both are within the window of each other and so in one
 * cluster.
 */
#ifndef SLUICE_PIXEL_STREAM_JOIN_H
#define SLUICE_PIXEL_STREAM_JOIN_H

#include "pixel/pixel_near.h"
#include "pixel/pixel_shape.h"
#include "pixel/pixel_stream_members.h"
#include "pixel/pixel_stream_order.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SLC_PIXEL_NOWHERE UINT32_MAX /* no slot */

/* The latest hit of a pixel. */
typedef struct slc_pixel_place {
    uint64_t time;
    uint32_t slot; /* SLC_PIXEL_NOWHERE: no hit, or its cluster was closed early, and nothing joins it */
    uint32_t yx;   /* where the table is a hash table */
} slc_pixel_place;

/* A cluster that has not been given out, or one that has gone up in it. Clusters are a list in the order of
 * their first pixel. Two lines of the cache. */
typedef struct slc_pixel_slot {
    _Alignas(64) uint64_t sum_x;
    uint64_t sum_y, mass, weighted_x, weighted_y;
    uint64_t first_time, last_time;
    uint64_t largest, born; /* number of a pixel; order in the list */
    uint32_t largest_charge, size;
    uint32_t parent;                /* itself, or a slot that it has gone up in */
    uint32_t before, behind;        /* in the list of clusters */
    uint32_t gone_first, gone_last; /* list, by `behind`, of the slots that have gone up in this one */
    uint16_t x_min, x_max, y_min, y_max;
    bool is_closed; /* early */
} slc_pixel_slot;

enum { SLC_PIXEL_RECENT = SLC_PIXEL_NEAR_FRONT + SLC_PIXEL_NEAR_ROOM };

/* Hits in the order of time, those that are added behind the last ones before: FRONT of pixel_near.h, of
 * which the last n_front are there. */
typedef struct slc_pixel_recent {
    uint64_t front_time[SLC_PIXEL_NEAR_FRONT];
    uint32_t n_front;
    bool is_ahead; /* of the table, which lacks them */
    uint32_t yx[SLC_PIXEL_RECENT + SLC_PIXEL_NEAR_SPARE], time[SLC_PIXEL_RECENT + SLC_PIXEL_NEAR_SPARE];
    uint32_t near[SLC_PIXEL_RECENT + SLC_PIXEL_NEAR_SPARE];
    uint32_t slot[SLC_PIXEL_RECENT];
    uint32_t together[SLC_PIXEL_RECENT]; /* bit k - 1: the hit k before was in the same cluster when this one
                                            came */
} slc_pixel_recent;

typedef struct slc_pixel_join {
    uint64_t window, present; /* nothing before the present will come */
    uint32_t radius;
    uint32_t width, height; /* pixels below have a place in the table; of a hash table that is 65536 */
    bool is_hashed;         /* that is too large for a table with a place for each */
    bool is_used, is_ending;
    size_t most_pixels;
    size_t stride, origin; /* where pixel 0, 0 is in a margin of the radius */
    slc_pixel_place *table;
    size_t table_size, n_hashed;
    uint32_t hash_bits;

    const slc_pixel_near_kernels *kernels;
    slc_pixel_recent recent;

    slc_pixel_slot *slots;
    slc_pixel_second *second; /* of each slot; NULL where no feature needs it */
    slc_pixel_keeping kept;
    bool has_more;           /* one of the two is there */
    uint32_t unused, n_used; /* a list of free slots; those from n_used on were never used */
    uint32_t first, last;    /* of the list of clusters */
    uint64_t n_born;
} slc_pixel_join;

/* Memory for clusters of so many pixels; carves the arrays out of a block, for NULL only sizes it. */
size_t slc_pixel_join_lay_out(slc_pixel_join *join, char *block, uint32_t radius, size_t pixels,
                              bool has_second, bool keeps);
/* Once after the block was made. Then pixels must be covered before they come. */
void slc_pixel_join_init(slc_pixel_join *join, uint64_t window, const slc_pixel_near_kernels *kernels);
/* Makes a table for pixels below width and height, 1 to 65536 and no less than it has, or makes it larger,
 * and nothing is forgotten. False without memory; the table is then as it was. */
bool slc_pixel_join_cover(slc_pixel_join *join, uint32_t width, uint32_t height);
void slc_pixel_join_clear(slc_pixel_join *join); /* frees the table; one of zeros has none */
/* Forgets time. There may be no clusters. */
void slc_pixel_join_restart(slc_pixel_join *join);

/* Adds pixels that are in order, none before those added so far or before the present. Time goes on to them.
 */
void slc_pixel_join_run(slc_pixel_join *join, const slc_pixel_arrival *pixels, size_t n);
/* Time goes on. */
static inline void slc_pixel_join_advance(slc_pixel_join *j, uint64_t present)
{
    j->present = present > j->present ? present : j->present;
}

/* Adds up to SLC_PIXEL_NEAR_ROOM pixels by comparing them with those before. False, and nothing is done,
 * where that is not possible: there may be too many in the window. */
bool slc_pixel_recent_run(slc_pixel_join *join, const slc_pixel_arrival *pixels, size_t n);
/* The last ones are in front of the next. Of n that were added, yx, slots and what is together stand behind
 * FRONT. */
void slc_pixel_recent_keep(slc_pixel_join *join, const slc_pixel_arrival *pixels, size_t n);
/* Nothing joins the hits of a slot any more. The others move up, and of what is together nothing is known. */
void slc_pixel_recent_forget(slc_pixel_join *join, uint32_t slot);

/* Closes the oldest cluster; there is one, and it is open. */
void slc_pixel_join_close_oldest(slc_pixel_join *join);
/* The oldest cluster if it is closed, else NULL. */
static inline const slc_pixel_slot *slc_pixel_join_closed(const slc_pixel_join *j)
{
    if (j->first == SLC_PIXEL_NOWHERE) {
        return NULL;
    }
    const slc_pixel_slot *s = &j->slots[j->first];
    return j->present - s->last_time > j->window || s->is_closed || j->is_ending ? s : NULL;
}
/* Takes the oldest cluster off the list. */
void slc_pixel_join_drop_oldest(slc_pixel_join *join);

#endif
