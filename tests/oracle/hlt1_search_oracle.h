/* SPDX-License-Identifier: Apache-2.0
 *
 * Upstream and long tracks of an event, by looking at everything: every hit of every layer for every track,
 * every pair, every triplet, without windows found by halving, without an early end. Written from sections 13
 * to 15 of docs/formats/lhcb-hlt1.md and what hlt1_chain.h says of the settings. Numbers are single precision
 * in the order in which the formulas stand there, so that equal means equal bits.
 */
#ifndef ORACLE_HLT1_SEARCH_H
#define ORACLE_HLT1_SEARCH_H

#include "hlt1/hlt1_event.h"

/* `from`: row of the upstream track in the event, SLC_HLT1_NONE without one. Upstream: quality is chi2. */
typedef struct oracle_hlt1_track {
    uint32_t velo_track, from, n_hits, hit[SLC_SCIFI_LAYERS];
    float x, y, z, tx, ty, q_over_p, quality;
} oracle_hlt1_track;

/* Both return how many there are; there is room for a track for each of the VELO's. `more`: whether there
 * would be more than max_tracks. */
size_t oracle_hlt1_upstream(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                            oracle_hlt1_track *tracks, bool *more);
/* Layers of the UT that have a hit so near to the VELO's line bent in the middle of the field. */
uint32_t oracle_hlt1_ut_layers(const slc_hlt1_event *event, uint32_t velo_track, float q_over_p,
                               float most_mm);
/* From which charge over momentum to which, up to that much of both charges, so many layers have a hit so
 * near; false for none. */
bool oracle_hlt1_ut_range(const slc_hlt1_event *event, uint32_t velo_track, float most_q_over_p,
                          float most_mm, uint32_t layers, float range[2]);
/* Charge over momentum of x, y, z, tx, ty in the VELO and x, y, tx, ty in the SciFi, at z = 8520 mm. */
float oracle_hlt1_momentum(const slc_hlt1_event *event, const float velo[5], const float scifi[4]);
/* Of n tracks those that stay, moved to the front; `taken` are hits, by row, and gets theirs. */
size_t oracle_hlt1_keep_better(const slc_hlt1_config *config, oracle_hlt1_track *tracks, size_t n,
                               uint8_t *taken);
/* With config->rest where it is on; behind the others. */
size_t oracle_hlt1_long(const slc_hlt1_config *config, const slc_hlt1_event *event,
                        const oracle_hlt1_track *upstream, size_t n_upstream, oracle_hlt1_track *tracks);

#endif
