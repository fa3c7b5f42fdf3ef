/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: pixels that come nearly in the order of time are put in the order of time, y, x. They
 * wait in a ring of buckets of time, which for a disorder of a few thousand ticks are one tick wide: then
 * there is nothing left to sort but pixels of the same tick. Complete buckets may stay for a while, so that
 * many are emptied at once. Times are unsigned here: that of a pixel with its sign bit turned, which keeps
 * their order.
 */
#ifndef SLUICE_PIXEL_STREAM_ORDER_H
#define SLUICE_PIXEL_STREAM_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct slc_pixel_arrival {
    uint64_t time;
    uint64_t number; /* in the stream, from 0 */
    uint32_t yx;     /* y above x */
    uint32_t charge;
} slc_pixel_arrival;

enum { SLC_PIXEL_ORDER_BUCKETS = 16384, SLC_PIXEL_ORDER_WORDS = SLC_PIXEL_ORDER_BUCKETS / 64 };

typedef struct slc_pixel_stream_order {
    uint64_t disorder;
    uint32_t shift;  /* a bucket is 2^shift ticks wide */
    uint64_t latest; /* time of the latest pixel */
    uint64_t
        begin; /* buckets below have been loaded; those in use are from here on, fewer than the ring has */
    uint64_t forced; /* with is_forced: pixels up to this time were loaded before they were complete */
    bool is_forced, any;
    uint64_t n_waiting; /* pixels in buckets */
    uint64_t filled[SLC_PIXEL_ORDER_WORDS];
    uint32_t chain[SLC_PIXEL_ORDER_BUCKETS]; /* UINT32_MAX: none, here and in the next */
    uint32_t *following; /* of a waiting pixel in its bucket's chain, or in that of unused places */
    slc_pixel_arrival *waiting;
    uint32_t unused, n_used;  /* places from n_used on were never used: their memory is not touched */
    slc_pixel_arrival *ready; /* the buckets that were loaded, in order */
    size_t n_ready;
} slc_pixel_stream_order;

/* Memory of so many pixels; carves the arrays out of a block, for NULL only sizes it. */
size_t slc_pixel_order_lay_out(slc_pixel_stream_order *order, char *block, size_t pixels);
void slc_pixel_order_init(slc_pixel_stream_order *order, uint64_t disorder);
/* Forgets time. There may be no pixels. */
void slc_pixel_order_restart(slc_pixel_stream_order *order);

/* Is a time further before the other than the disorder allows? */
static inline bool slc_pixel_order_is_before(const slc_pixel_stream_order *o, uint64_t time, uint64_t other)
{
    return other > time && other - time > o->disorder;
}

/* Was what this time belongs to loaded before it was complete? */
static inline bool slc_pixel_order_is_forced(const slc_pixel_stream_order *o, uint64_t time)
{
    return o->is_forced && time <= o->forced;
}

/* Is the time within the disorder of the latest one, before or after it? Some pixel has come. */
static inline bool slc_pixel_order_is_usual(const slc_pixel_stream_order *o, uint64_t time)
{
    const uint64_t apart = time > o->latest ? time - o->latest : o->latest - time;
    return apart <= o->disorder;
}

/* Buckets below are complete. */
static inline uint64_t slc_pixel_order_bound(const slc_pixel_stream_order *o)
{
    return (o->latest > o->disorder ? o->latest - o->disorder : 0) >> o->shift;
}

/* A pixel that is not late comes, and time goes on. True: the ring has no bucket for it, and what is complete
 * must be loaded (slc_pixel_order_load) before the pixel is put in. */
static inline bool slc_pixel_order_advance(slc_pixel_stream_order *o, uint64_t time)
{
    if (time > o->latest || !o->any) {
        o->latest = time;
        o->any = true;
    }
    return (time >> o->shift) - o->begin >= SLC_PIXEL_ORDER_BUCKETS;
}

/* There is room. */
static inline void slc_pixel_order_put(slc_pixel_stream_order *o, const slc_pixel_arrival *pixel)
{
    uint32_t place = o->unused;
    if (place != UINT32_MAX) {
        o->unused = o->following[place];
    } else {
        place = o->n_used++;
    }
    const uint32_t bucket = (uint32_t)(pixel->time >> o->shift) % SLC_PIXEL_ORDER_BUCKETS;
    o->waiting[place] = *pixel;
    o->following[place] = o->chain[bucket];
    o->filled[bucket / 64] |= 1ULL << bucket % 64;
    o->chain[bucket] = place;
    o->n_waiting++;
}

/* Moves pixels of complete buckets to `ready`, in order; false where there are none. */
bool slc_pixel_order_load(slc_pixel_stream_order *order);
/* The same with the earliest bucket, complete or not: pixels that come for it afterwards are late. */
bool slc_pixel_order_force(slc_pixel_stream_order *order);

#endif
