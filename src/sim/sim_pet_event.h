/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_pet: what is made of a step of time, and the parts that make it. Hits are photons that were seen
 * above threshold; sim_pet_decay.c makes them, sim_pet.c puts them in order and takes dead time off,
 * sim_pet_packet.c packs them and gives them out as frames or singles.
 */
#ifndef SLUICE_SIM_PET_EVENT_H
#define SLUICE_SIM_PET_EVENT_H

#include <sluice/sim_pet.h>

#include <stddef.h>

typedef struct sim_pet_hit {
    int64_t time_ps; /* by the module's clock */
    int64_t true_ps;
    uint64_t event;
    uint32_t crystal;
    float energy_kev;
    uint32_t scattered;
} sim_pet_hit;

typedef struct sim_pet_hits {
    sim_pet_hit *hit;
    size_t n, capacity;
} sim_pet_hits;

/* Where a crystal's frames come from. */
typedef struct sim_pet_place {
    uint8_t module, unit, x, y;
} sim_pet_place;

enum { SIM_PET_QUANTILES = 1024 };

typedef struct sim_pet_packet {
    int64_t first_ps, arrival_ps;
    uint64_t number; /* in its module */
    uint32_t module, n;
} sim_pet_packet;

typedef struct sim_pet_module {
    uint32_t open; /* slot of the packet that is being filled, or SIM_PET_NONE */
    uint64_t packets;
    int64_t arrival_ps; /* of the last one */
} sim_pet_module;
#define SIM_PET_NONE UINT32_MAX

/* Packets that are filled or under way, in slots of frames_per_packet hits. */
typedef struct sim_pet_packets {
    sim_pet_packet *packet;
    sim_pet_hit *hit;
    uint32_t slots;
    uint32_t *vacant, n_vacant;
    uint32_t *way, n_way; /* a heap: the first to arrive on top */
} sim_pet_packets;

/* Where frames or singles go. */
typedef struct sim_pet_output {
    slc_pet_frame **frames;
    size_t *n, *capacity;
    slc_pet_singles *singles;
    slc_sim_pet_truth *truth;
    slc_error *error;
} sim_pet_output;

/* What was generated so far; a little of it may be after the last frame that was given out. Photons and what
 * became of them include the background's singles. */
typedef struct slc_sim_pet_counts {
    /* Annihilations, but for those whose photons cannot meet a crystal, which are not generated; decays of
     * LSO. */
    uint64_t decays, background;
    uint64_t photons; /* that met a crystal and were seen */
    uint64_t below;   /* of these below threshold */
    uint64_t dead;    /* of these above threshold, but in dead time */
    uint64_t frames;  /* given out */
} slc_sim_pet_counts;

struct slc_sim_pet {
    slc_sim_pet_config config;
    slc_pet_tables tables;
    uint16_t *position;
    float *gain;
    int32_t *offset_ps;
    float *share;         /* of `efficiency`, that a crystal has; NULL: 1 */
    sim_pet_place *place; /* by crystal */
    uint32_t crystals, per_ring, rings, modules, units;
    double half_length_mm;
    double radius_mm;                         /* where photons are seen: half way through the crystals */
    double source_below[SLC_SIM_PET_SOURCES]; /* sums of the sources' activities over all */
    double activity_hz, background_hz;
    double steepest; /* along the axis, of directions from a source in which a crystal may be */
    /* Of all annihilations those that are followed; of these without scattered photon, with one or none. */
    double share_followed, share_of_none, share_of_one;
    double energy_sigma; /* of E keV: that times √E */
    double cos_quantile[SIM_PET_QUANTILES + 1], beta_quantile[SIM_PET_QUANTILES + 1];
    int64_t step_ps, guard_ps; /* guard: a hit's clock is not farther from its decay's time */
    uint64_t steps;            /* made so far */
    int64_t done_ps;           /* given out so far */
    sim_pet_hits pending;      /* of steps that are made, not yet given out; in order of time */
    int64_t *alive_ps;         /* by block, when its dead time ends */
    sim_pet_module *module;
    sim_pet_packets packets;
    slc_sim_pet_counts counts;
};

/* sim_pet_config.c */
slc_status slc_sim_pet_check(const slc_sim_pet_config *config, slc_error *error);
slc_status slc_sim_pet_make_tables(slc_sim_pet *sim, slc_error *error);

/* sim_pet_decay.c. Tables of quantiles; the activity; hits of the next step. */
void slc_sim_pet_make_quantiles(slc_sim_pet *sim);
slc_status slc_sim_pet_scale(slc_sim_pet *sim, slc_error *error);
slc_status slc_sim_pet_step(slc_sim_pet *sim, slc_error *error);

/* sim_pet_packet.c. Puts a hit into its module's packet; sends packets that have waited long enough at a
 * time, or all; gives out what arrived before it. */
slc_status slc_sim_pet_pack(slc_sim_pet *sim, const sim_pet_hit *hit);
void slc_sim_pet_send_waiting(slc_sim_pet *sim, int64_t now_ps, bool all);
slc_status slc_sim_pet_deliver(slc_sim_pet *sim, int64_t before_ps, const sim_pet_output *output);

/* Annihilations a second, after singles_hz scaled them. */
double slc_sim_pet_activity(const slc_sim_pet *sim);
/* The same as singles instead of frames: what those convert to, but for the rounding of ticks and units of
 * energy, and for what a blurred flood map gives to a neighbour. Appended; the collection grows as needed. */
slc_status slc_sim_pet_next_singles(slc_sim_pet *sim, double seconds, slc_pet_singles *singles,
                                    slc_sim_pet_truth *truth, slc_error *error);
void slc_sim_pet_counts_of(const slc_sim_pet *sim, slc_sim_pet_counts *counts);

#endif
