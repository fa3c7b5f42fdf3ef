/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_hlt1: what an event has beyond the VELO while it is generated, and the steps that make it:
 *
 *     sim_velo's particles -> fly (UT, magnet, SciFi, matter, muon stations) -> secondaries -> marks ->
 * clusters -> banks, links
 *
 * Lengths are in mm, momenta in MeV.
 */
#ifndef SLUICE_SIM_HLT1_EVENT_H
#define SLUICE_SIM_HLT1_EVENT_H

#include "hlt1/hlt1_transport.h"
#include "muon/muon_geometry.h"
#include "sim/sim_velo_event.h"
#include <sluice/sim_hlt1.h>

#define SIM_NO_PARTICLE 0xffffffffU

/* Where something left a signal: in a sector of the UT, at a strip, or in a mat of the SciFi, at a channel
 * (both with fractions); or in a pad or strip of the muon stations. */
typedef struct sim_mark {
    uint32_t place;
    float at;
    uint32_t particle; /* SIM_NO_PARTICLE: nobody's */
} sim_mark;

/* Sectors of a layer, mats of a layer or tiles of a station, of those of the geometry. */
typedef struct sim_places {
    uint32_t *place;
    uint32_t n;
} sim_places;

/* Where a particle was in a layer: where secondaries may come from. */
typedef struct sim_point {
    float x, y, z, tx, ty;
} sim_point;

struct slc_sim_hlt1 {
    slc_sim_hlt1_config config;
    slc_sim_velo *velo;
    const slc_hlt1_geometry *geometry;
    sim_random random;
    sim_places ut[SLC_UT_LAYERS], scifi[SLC_SCIFI_LAYERS], muon[SLC_MUON_STATIONS];
    uint32_t sector_source[SLC_UT_SECTORS]; /* 6 · board + hybrid */
    uint32_t scifi_order[SLC_SCIFI_BANKS];  /* banks by their first channels */
    sim_list ut_marks, scifi_marks, muon_marks, ut_points, scifi_points, words;
    size_t n_from_velo; /* particles that sim_velo has carried */
    bool failed;
};

static inline void sim_mark_add(slc_sim_hlt1 *sim, sim_list *list, uint32_t place, double at,
                                uint32_t particle)
{
    sim_mark *mark = slc_sim_list_append(list, 1, sizeof *mark, &sim->failed);
    if (mark != NULL) {
        *mark = (sim_mark){place, (float)at, particle};
    }
}

static inline sim_particle *sim_particle_of(slc_sim_hlt1 *sim, size_t index)
{
    return (sim_particle *)sim->velo->particles.rows + index;
}

/* ---- sim_hlt1_cross.c: from places to marks ---------------------------------------------------- */

/* Lists of places by layer and station. SLC_ERR_MEMORY. */
slc_status slc_sim_hlt1_places(slc_sim_hlt1 *sim, slc_error *error);
/* A charged particle in a layer: marks in what it crosses there; whether any. */
bool slc_sim_hlt1_ut(slc_sim_hlt1 *sim, uint32_t particle, const slc_hlt1_ray *ray, uint32_t layer);
bool slc_sim_hlt1_scifi(slc_sim_hlt1 *sim, uint32_t particle, const slc_hlt1_ray *ray, uint32_t layer);
void slc_sim_hlt1_muon(slc_sim_hlt1 *sim, double x, double y, double z, double tx, double ty,
                       uint32_t station);

/* ---- sim_hlt1_fly.c, sim_hlt1_secondaries.c, sim_hlt1_banks.c ---------------------------------- */

/* All particles of the event, those that come of their decays, too. */
void slc_sim_hlt1_fly(slc_sim_hlt1 *sim);
/* A ray from z_begin or behind to the last layer, and a muon further on. False if it got to no layer. */
void slc_sim_hlt1_fly_on(slc_sim_hlt1 *sim, uint32_t particle, slc_hlt1_ray *ray);
/* What comes of matter, as particles with truth, and what the muon stations have beside muons. */
void slc_sim_hlt1_secondaries(slc_sim_hlt1 *sim);
/* Marks to clusters and raw banks; links of particles to channel ids. */
void slc_sim_hlt1_banks(slc_sim_hlt1 *sim);

#endif
