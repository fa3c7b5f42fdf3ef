/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: the page of a flow, and what is its detector's: a view for each chain. */
#ifndef SLUICE_LIVE_FLOW_PART_H
#define SLUICE_LIVE_FLOW_PART_H

#include "live/live_look.h"

#include <sluice/live_flow.h>

typedef struct slc_live_view {
    const slc_flow_chain *chain;
    const char *group; /* on the page */
    size_t bytes;      /* of page->own, zeroed */
    /* Sees the results, never NULL, of items that are good; the budget has begun. */
    void (*add)(slc_live_flow *page, const slc_flow_item *item);
    void (*put)(slc_live_flow *page, const slc_live_flow_state *now);
} slc_live_view;

struct slc_live_flow {
    slc_live *live;
    const slc_live_view *view;
    const void *setup;
    void *own; /* the view's */
    slc_live_budget budget;
    slc_faults faults;
    slc_live_lines lines;
};

extern const slc_live_view slc_live_view_velo, slc_live_view_hlt1, slc_live_view_cms, slc_live_view_pixel,
    slc_live_view_image;

/* Rows of an event. */
static inline uint32_t slc_live_rows_of(const slc_columns *head, uint32_t e)
{
    return head->event_offset[e + 1] - head->event_offset[e];
}

static inline uint64_t slc_live_lost_events(const slc_live_flow_state *now)
{
    return now->flow != NULL ? now->flow->lost_events : 0;
}

/* The VELO's part of a view, which hlt1 has, too. */
enum { SLC_LIVE_VELO_BINS = 100, SLC_LIVE_VELO_Z = 100 };
typedef struct slc_live_velo {
    double drawn_at; /* 0: never */
    uint64_t events, hits, tracks, primaries, cut, masked;
    double seconds[SLC_VELO_STAGES];
    /* Of the sample; the last bins of what an event has: all that is more. */
    uint64_t sampled, sensor[SLC_VELO_SENSORS], z[SLC_LIVE_VELO_Z];
    uint64_t hits_of[SLC_LIVE_VELO_BINS + 1], tracks_of[SLC_LIVE_VELO_BINS + 1],
        primaries_of[SLC_LIVE_VELO_BINS + 1];
    double n, sum[3], squares[3]; /* of vertices with many tracks */
} slc_live_velo;
void slc_live_velo_add(slc_live_velo *velo, slc_live_flow *page, const slc_velo_result *result);
void slc_live_velo_put(slc_live_velo *velo, slc_live_flow *page);

#endif
