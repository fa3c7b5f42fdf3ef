/* SPDX-License-Identifier: Apache-2.0
 *
 * What the searches see of an event: its rows of the collections before them, from 0.
 */
#ifndef SLUICE_HLT1_EVENT_H
#define SLUICE_HLT1_EVENT_H

#include <sluice/hlt1_chain.h>

/* A straight line: x, y at z, dx/dz and dy/dz. */
typedef struct slc_hlt1_line {
    float x, y, z, tx, ty;
} slc_hlt1_line;

typedef struct slc_hlt1_event {
    uint64_t number; /* for faults */
    const slc_hlt1_geometry *geometry;
    slc_faults *faults;
    /* Tracks of the VELO, at its downstream end; where they come nearest to the beam. */
    uint32_t n_velo;
    const float *x, *y, *z, *tx, *ty;
    const uint8_t *backward;
    const float *beam_x, *beam_y, *beam_z, *beam_tx, *beam_ty;
    /* UT, by layer and x. */
    uint32_t ut_begin[SLC_UT_LAYERS + 1];
    const float *ut_x, *ut_z, *ut_y_begin, *ut_y_end, *ut_weight;
    /* SciFi, by zone and x. */
    uint32_t scifi_begin[SLC_SCIFI_ZONES + 1];
    const float *scifi_x, *scifi_z;
    const uint32_t *scifi_channel;
} slc_hlt1_event;

/* The event's view of a result. */
void slc_hlt1_event_view(const slc_hlt1_geometry *geometry, slc_hlt1_result *result, uint32_t event,
                         slc_hlt1_event *view);

/* The first of the rising n values that is not below x. */
static inline uint32_t slc_hlt1_lower(const float *values, uint32_t n, float x)
{
    uint32_t at = 0;
    while (n > 0) {
        const uint32_t half = n / 2;
        const uint32_t beyond = values[at + half] < x ? 1 : 0;
        at += beyond != 0 ? half + 1 : 0;
        n = beyond != 0 ? n - half - 1 : half;
    }
    return at;
}

#endif
