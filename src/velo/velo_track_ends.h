/* SPDX-License-Identifier: Apache-2.0
 *
 * For the tools of the track search: where a track that has ended begins and ends, with the hits that it
 * picked up. Included behind simd/simd.h.
 */
#ifndef SLUICE_VELO_TRACK_ENDS_H
#define SLUICE_VELO_TRACK_ENDS_H

#include "velo/velo_track_work.h"

static void set_ends(slc_track_work *work, uint32_t t)
{
    slc_track_ended *e = &work->ended;
    const slc_track_hits *all = &work->all;
    uint32_t first = work->list[e->begin[t]], last = work->list[e->begin[t] + e->n[t] - 1];
    for (uint32_t hit = e->picked[t]; hit != UINT32_MAX; hit = work->before[hit]) {
        first = all->z[hit] > all->z[first] ? hit : first;
        last = all->z[hit] < all->z[last] ? hit : last;
    }
    e->x0[t] = all->x[first];
    e->y0[t] = all->y[first];
    e->z0[t] = all->z[first];
    e->x1[t] = all->x[last];
    e->y1[t] = all->y[last];
    e->z1[t] = all->z[last];
}

#endif
