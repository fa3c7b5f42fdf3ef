/* SPDX-License-Identifier: Apache-2.0
 *
 * Events with truth of all detectors of LHCb's first trigger level but calorimeters and RICH: those of
 * sim_velo (sim.h) with what their particles leave in the UT, the SciFi and the muon stations, as raw banks.
 * What is modelled, and how it compares with LHCb's own simulation: docs/howto/simulate-hlt1.md.
 */
#ifndef SLUICE_SIM_HLT1_H
#define SLUICE_SIM_HLT1_H

#include <sluice/hlt1_types.h>
#include <sluice/sim.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_sim_hlt1_config {
    size_t size; /* set by slc_sim_hlt1_config_default */
    uint64_t seed;
    float visible_vertices; /* mean number of visible collisions, Poisson */
    bool scattering;        /* multiple scattering, everywhere */
    float b_fraction;       /* of visible collisions, with a pair of beauty hadrons */
    float d_fraction;       /* the same with a pair of charm hadrons */
    float s_fraction;       /* mean number of strange hadrons in a visible collision */
    float jpsi_fraction;    /* of visible collisions with a J/psi, which decays to two muons */
    float secondaries; /* how much comes of beam pipe, magnet and detectors, and of the cavern: 1 as in LHCb's
                          simulation */
    float ut_inefficiency, scifi_inefficiency,
        muon_inefficiency;       /* of a layer that is crossed, beside its gaps */
    float ut_noise, scifi_noise; /* clusters that no particle made, per cluster */
} slc_sim_hlt1_config;
SLC_API void slc_sim_hlt1_config_default(slc_sim_hlt1_config *config, size_t size);
#define slc_sim_hlt1_config_default(config) slc_sim_hlt1_config_default(config, sizeof *(config))

typedef struct slc_sim_hlt1 slc_sim_hlt1;

/* `geometry` must have velo, ut, scifi (with the map of banks of versions 4 to 6), muon and transport, and
 * stay until _close. SLC_ERR_USAGE for a configuration out of range or a geometry that lacks one of these,
 * named in *error. One generator serves one thread at a time. */
SLC_API slc_status slc_sim_hlt1_open(const slc_sim_hlt1_config *config, const slc_hlt1_geometry *geometry,
                                     slc_sim_hlt1 **sim, slc_error *error);
SLC_API void slc_sim_hlt1_close(slc_sim_hlt1 *sim);

/* Appends event number `index` to `batch`: ODIN, 208 VP banks (version 2), UT (3), SciFi (5) and muon banks
 * (2), and truth banks with the ids of VELO, UT and SciFi. It depends on the configuration and `index` alone.
 * `truth` and `beyond` (may be NULL both) receive the same truth as columns, appended as one event. */
SLC_API slc_status slc_sim_hlt1_event(slc_sim_hlt1 *sim, uint64_t index, slc_batch *batch,
                                      slc_velo_truth *truth, slc_velo_beyond *beyond, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
