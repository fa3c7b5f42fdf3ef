/* SPDX-License-Identifier: Apache-2.0
 *
 * The impact-parameter filter: which tracks pass by all vertices at a distance, and so come from the decay of
 * something that flew. The example of section 2.4.1 in A. Hennequin's thesis (2022), where it shows what a
 * kernel looks like.
 */
#ifndef SLUICE_VELO_IP_H
#define SLUICE_VELO_IP_H

#include <sluice/simd.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Points in space, for instance the primary vertices of each event, in any order. */
typedef struct slc_velo_points {
    slc_columns head;
    float *x_mm;
    float *y_mm;
    float *z_mm;
} slc_velo_points;
SLC_API extern const slc_schema slc_velo_points_schema;

/* The tracks that passed, in the order of the input. `track` counts from 0 in its event; `ip_mm` is the
 * impact parameter: the distance between the track's line and the nearest point. */
typedef struct slc_velo_ip_tracks {
    slc_columns head;
    uint32_t *track;
    float *ip_mm;
} slc_velo_ip_tracks;
SLC_API extern const slc_schema slc_velo_ip_tracks_schema;

/* A filter: plain memory of the caller, which holds nothing that needs to be given back. Several threads may
 * use one. */
typedef struct slc_velo_ip {
    float min_ip_mm;
    slc_simd_target target;
} slc_velo_ip;

/* `choice` is a result of slc_simd_choose; it is resolved here, once. SLC_ERR_USAGE for a target that does
 * not run. */
SLC_API slc_status slc_velo_ip_init(slc_velo_ip *filter, slc_simd_target choice, float min_ip_mm,
                                    slc_error *error);

/* Makes room for all tracks to pass. */
SLC_API slc_status slc_velo_ip_reserve(const slc_velo_states *states, slc_velo_ip_tracks *kept,
                                       slc_error *error);

/* Fills `kept` anew with the tracks of each event whose impact parameter is larger than min_ip_mm. In an
 * event without points every track passes, infinitely far from the nearest; a track whose state holds a NaN
 * never passes. Points must be finite. Results are the same bits on every target. Never allocates.
 * SLC_ERR_USAGE where the numbers of events differ, SLC_ERR_CAPACITY where `kept` has too little room; it is
 * then empty. */
SLC_API slc_status slc_velo_ip_run(const slc_velo_ip *filter, const slc_velo_states *states,
                                   const slc_velo_points *points, slc_velo_ip_tracks *kept, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
