/* SPDX-License-Identifier: Apache-2.0
 *
 * Upstream tracks to long tracks. The UT's momentum says where the SciFi is crossed; three hits of x layers,
 * one a station, that point to the VELO's line in the middle of the magnet are a curve, along which the other
 * layers are looked at. After LHCb's Allen ("Looking Forward"), but with hits shared by several tracks
 * judged.
 */
#ifndef SLUICE_HLT1_FORWARD_H
#define SLUICE_HLT1_FORWARD_H

#include "hlt1/hlt1_upstream.h"

/* Where states of long tracks are, behind the SciFi; where its curves are counted from. */
#define SLC_HLT1_LONG_Z_MM  9410.0f
#define SLC_HLT1_SCIFI_Z_MM 8520.0f
#define SLC_SCIFI_DZDY      0.003601f

/* Polynomials of forward_params.txt, as they are gone through, and layers. */
typedef struct slc_hlt1_forward_tables {
    const slc_hlt1_forward_params *params;
    float polarity;
    float kick[25][SLC_SCIFI_STATIONS]; /* the params', number by number, of the stations */
    float dxdy[SLC_SCIFI_LAYERS], zone_z[SLC_SCIFI_LAYERS];
    float y_correction[18][6]; /* the params', number by number, of the tilted layers */
} slc_hlt1_forward_tables;
void slc_hlt1_forward_tables_make(const slc_hlt1_geometry *geometry, slc_hlt1_forward_tables *tables);

/* A track that was found: hits by layer (row in the event, -1 where there is none), and the curve x = c + b d
 * + a d² (1 + cubic d), y = y0 + ty d with d = z - SLC_HLT1_SCIFI_Z_MM, which is d[] where it crosses the
 * layers. */
typedef struct slc_hlt1_forward_track {
    int32_t hit[SLC_SCIFI_LAYERS];
    float d[SLC_SCIFI_LAYERS];
    uint32_t n;
    float a, b, c, cubic, y0, ty, quality;
    float q_over_p;
} slc_hlt1_forward_track;

/* What the search works in; one for each thread. The geometry must stay. NULL: no memory. */
typedef struct slc_hlt1_forward_search slc_hlt1_forward_search;
slc_hlt1_forward_search *slc_hlt1_forward_open(const slc_hlt1_geometry *geometry, slc_simd_target target);
void slc_hlt1_forward_close(slc_hlt1_forward_search *search);
/* Room for an event of so many tracks of the VELO and hits of the SciFi. */
slc_status slc_hlt1_forward_reserve(slc_hlt1_forward_search *search, size_t tracks, size_t hits);

/* Appends the event's long tracks and their hits; the event is not ended. `first` and `n` are the rows of the
 * event's upstream tracks. */
void slc_hlt1_forward_run(slc_hlt1_forward_search *search, const slc_hlt1_forward_config *config,
                          const slc_hlt1_event *event, const slc_hlt1_upstream *upstream, size_t first,
                          uint32_t n, slc_hlt1_long *tracks, slc_hlt1_track_hits *hits);

/* The same of tracks of the VELO that have none, with hits that slc_hlt1_forward_run, which was called
 * before as slc_hlt1_upstream_run was, has not used; first_long is the row of the event's first long track.
 */
void slc_hlt1_forward_rest(slc_hlt1_forward_search *search, slc_hlt1_upstream_search *upstream,
                           const slc_hlt1_config *config, const slc_hlt1_event *event, size_t first_long,
                           slc_hlt1_long *tracks, slc_hlt1_track_hits *hits);

#endif
