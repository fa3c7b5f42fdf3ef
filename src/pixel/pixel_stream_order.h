/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: pixels that come nearly in the order of time are put in the order of time, y, x. They
 * wait as they came until the first of them is complete, that is, for about the disorder; then all are put in
 * order at once, by counting how many lie in each of as many slices of time as there are pixels. Times are
 * unsigned here: that of a pixel with its sign bit turned, which keeps their order.
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

enum { SLC_PIXEL_ORDER_BUFFERS = 3 };

typedef struct slc_pixel_stream_order {
    uint64_t disorder;
    uint32_t shift;  /* pixels are complete by steps of 2^shift ticks, at most 8190 in the disorder */
    uint64_t latest; /* time of the latest pixel */
    uint64_t forced; /* with is_forced: pixels up to this time were loaded before they were complete */
    bool is_forced, any;
    slc_pixel_arrival *came;                             /* as they came */
    slc_pixel_arrival *buffers[SLC_PIXEL_ORDER_BUFFERS]; /* for `sorted`, one after the other, if another
                                                            thread still reads the one before */
    uint64_t last_use[SLC_PIXEL_ORDER_BUFFERS];          /* the caller's: what it last wanted of each */
    uint32_t n_buffers, buffer;
    size_t n_came;
    uint64_t earliest;         /* time among these; all bits set: there are none */
    slc_pixel_arrival *sorted; /* first … end - 1 were put in order and have not been loaded */
    size_t first, end;
    bool is_rough;            /* these are in the order of steps, and within one they are not in order */
    uint32_t *counts;         /* of slices of time */
    uint32_t slices;          /* at most */
    slc_pixel_arrival *ready; /* what was loaded, in order; until the next call */
    size_t n_ready;
} slc_pixel_stream_order;

/* Memory of so many pixels, with so many buffers of those in order; carves the arrays out of a block, for
 * NULL only sizes it. */
size_t slc_pixel_order_lay_out(slc_pixel_stream_order *order, char *block, size_t pixels, uint32_t buffers);
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

/* Steps below are complete. */
static inline uint64_t slc_pixel_order_bound(const slc_pixel_stream_order *o)
{
    return (o->latest > o->disorder ? o->latest - o->disorder : 0) >> o->shift;
}

/* A pixel that is not late comes, and time goes on. There is room. */
static inline void slc_pixel_order_put(slc_pixel_stream_order *o, const slc_pixel_arrival *pixel)
{
    o->latest = pixel->time > o->latest || !o->any ? pixel->time : o->latest;
    o->any = true;
    o->earliest = pixel->time < o->earliest ? pixel->time : o->earliest;
    o->came[o->n_came++] = *pixel;
}

/* Loaded ones that are rough, in order at last; a few are out of it by little. */
void slc_pixel_order_smooth(slc_pixel_arrival *pixels, size_t n);

/* Is the next load going to put pixels in order anew? */
static inline bool slc_pixel_order_is_due(const slc_pixel_stream_order *o)
{
    return o->n_came > 0 && o->earliest >> o->shift < slc_pixel_order_bound(o);
}

/* It goes into the next buffer; what that was last used for. */
static inline uint64_t slc_pixel_order_turn(slc_pixel_stream_order *o)
{
    o->buffer = (o->buffer + 1) % o->n_buffers;
    return o->last_use[o->buffer];
}

/* `ready` is all pixels that are complete; false where there are none. The first leaves them rough if
 * is_rough says so. */
bool slc_pixel_order_load_rough(slc_pixel_stream_order *order);
bool slc_pixel_order_load(slc_pixel_stream_order *order);
/* The same with the earliest pixel's step, complete or not: pixels that come for it afterwards are late. */
bool slc_pixel_order_force(slc_pixel_stream_order *order);

#endif
