/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the pixels of a stream's clusters, kept until their cluster is given out. Each slot has
 * a list of them; lists of clusters that become one are put one behind the other, and are sorted when they
 * go.
 */
#ifndef SLUICE_PIXEL_STREAM_MEMBERS_H
#define SLUICE_PIXEL_STREAM_MEMBERS_H

#include "pixel/pixel_stream_order.h"

#include <sluice/pixel_stream.h>

#define SLC_PIXEL_NO_MEMBER UINT32_MAX

typedef struct slc_pixel_member {
    slc_pixel_arrival pixel;
    uint32_t next;
} slc_pixel_member;

typedef struct slc_pixel_chain {
    uint32_t first, last;
} slc_pixel_chain;

typedef struct slc_pixel_keeping {
    slc_pixel_member *members; /* NULL: pixels are not kept */
    slc_pixel_chain *chains;   /* of each slot */
    uint32_t unused, n_used;   /* a list of free members; those from n_used on were never used */
} slc_pixel_keeping;

/* Memory for so many pixels and slots, carved out of a block; for NULL only sizes it. */
size_t slc_pixel_keeping_lay_out(slc_pixel_keeping *keeping, char *block, size_t pixels);

static inline uint32_t slc_pixel_keep(slc_pixel_keeping *k, const slc_pixel_arrival *pixel)
{
    uint32_t at = k->unused;
    if (at != SLC_PIXEL_NO_MEMBER) {
        k->unused = k->members[at].next;
    } else {
        at = k->n_used++;
    }
    k->members[at] = (slc_pixel_member){*pixel, SLC_PIXEL_NO_MEMBER};
    return at;
}

/* The first pixel of a slot, the next one, and all of another slot. */
static inline void slc_pixel_keep_first(slc_pixel_keeping *k, uint32_t slot, const slc_pixel_arrival *pixel)
{
    const uint32_t at = slc_pixel_keep(k, pixel);
    k->chains[slot] = (slc_pixel_chain){at, at};
}

static inline void slc_pixel_keep_next(slc_pixel_keeping *k, uint32_t slot, const slc_pixel_arrival *pixel)
{
    const uint32_t at = slc_pixel_keep(k, pixel);
    k->members[k->chains[slot].last].next = at;
    k->chains[slot].last = at;
}

static inline void slc_pixel_keep_all(slc_pixel_keeping *k, uint32_t slot, uint32_t other)
{
    k->members[k->chains[slot].last].next = k->chains[other].first;
    k->chains[slot].last = k->chains[other].last;
}

/* Appends a slot's pixels, `n` in number and for which there is room, as an event, in the order of time, y,
 * x, number, and forgets them. */
void slc_pixel_members_give_out(slc_pixel_keeping *keeping, uint32_t slot, slc_pixel_members *to);

#endif
