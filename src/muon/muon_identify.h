/* SPDX-License-Identifier: Apache-2.0
 *
 * Which tracks are muons: hits of the muon stations near their straight continuation.
 * docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_MUON_IDENTIFY_H
#define SLUICE_MUON_IDENTIFY_H

#include "muon/muon_geometry.h"
#include <sluice/simd.h>

/* The matter between the end of the SciFi and the last station: thin scatterers where the calorimeters' and
 * the iron walls' middles are, with what a muon of some GeV loses there. Also the generator's. */
enum { SLC_MUON_SCATTERERS = 5 };
typedef struct slc_muon_scatterer {
    float z_mm, radiation_lengths, loss_mev;
} slc_muon_scatterer;
extern const slc_muon_scatterer slc_muon_scatterers[SLC_MUON_SCATTERERS];

/* States behind the SciFi, of tracks. */
typedef struct slc_muon_states {
    const float *x_mm, *y_mm, *z_mm, *tx, *ty, *q_over_p;
    size_t n;
} slc_muon_states;

/* What tracks are looked at with; one for each thread. The geometry, which is not needed any more afterwards,
 * must have a field of interest; `target` is a choice of slc_simd_choose. NULL: no memory. */
typedef struct slc_muon_identifier slc_muon_identifier;
slc_muon_identifier *slc_muon_identifier_open(const slc_muon_geometry *geometry, slc_simd_target target);
void slc_muon_identifier_close(slc_muon_identifier *identifier); /* NULL is allowed */

/* Appends a row for each track, of hits begin … end - 1, which are an event's (slc_muon_hits). There must be
 * room; the event is not ended. */
void slc_muon_identify(slc_muon_identifier *identifier, const slc_muon_hits *hits, size_t begin, size_t end,
                       const slc_muon_states *states, slc_muon_ids *ids);

#endif
