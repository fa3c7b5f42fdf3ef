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
    uint32_t crystal; /* that the frame tells of */
    uint32_t met;     /* the first that the photon left energy in */
    float energy_kev;
    float left_kev; /* before resolution */
    float began_mm[3];
    uint8_t scattered, shared, photon;
    int8_t shift_x, shift_y; /* where the light is, from the crystal, in 256ths of the way to the next */
} sim_pet_hit;

/* A photon on its way (sim_pet_photon.h), a way to decay (sim_pet_object.c), crystals as boxes
 * (sim_pet_boxes.h). */
typedef struct sim_pet_photon sim_pet_photon;
typedef struct sim_pet_isotope sim_pet_isotope;
typedef struct sim_pet_boxes sim_pet_boxes;

/* What a frame is made of: energy in a crystal, so long after the step's begin. */
typedef struct sim_pet_light {
    uint32_t crystal, met;
    double energy_kev, after_ps;
    bool shared;
    int8_t shift_x, shift_y;
} sim_pet_light;

typedef struct sim_pet_hits {
    sim_pet_hit *hit;
    size_t n, capacity;
} sim_pet_hits;

/* Where a crystal's frames come from. */
typedef struct sim_pet_place {
    uint8_t module, unit, x, y;
} sim_pet_place;

/* Of a decay: four photons, each of which leaves energy in so many crystals. */
enum { SIM_PET_QUANTILES = 1024, SIM_PET_MOST_LIGHTS = 8, SIM_PET_MOST_HITS = 4 * SIM_PET_MOST_LIGHTS };

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
    /* Physics beyond that: then all decays are followed. */
    bool physics;
    const sim_pet_isotope *isotope; /* NULL: ideal */
    double (*positron)[SIM_PET_QUANTILES + 1];
    double noncollinearity; /* width of an angle */
    double crystal_mu,
        crystal_photo;         /* per mm at 511 keV, 0: ideal; the photoelectric effect's share of it */
    sim_pet_boxes *boxes;      /* NULL: an ideal ring, for which there is a formula */
    int64_t step_ps, guard_ps; /* guard: a hit's clock is not farther from its decay's time */
    uint64_t steps;            /* made so far */
    int64_t done_ps;           /* given out so far */
    sim_pet_hits pending;      /* of steps that are made, not yet given out; in order of time */
    int64_t *alive_ps; /* by block, or crystal where each is read by itself, when its dead time ends */
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

/* Quantiles of a density given at the middles of n equal bins over [low, high]. */
void slc_sim_pet_quantiles(const double *density, size_t n, double low, double high, double *quantile);
void slc_sim_pet_choose_place(const slc_sim_pet *sim, uint64_t *random, double from[3]);
/* What an ideal ring of ideal crystals sees of a photon: all of it or nothing. */
void slc_sim_pet_see_photon(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p);
/* A hit, if it is above threshold. */
void slc_sim_pet_see(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p, const sim_pet_light *light);

/* sim_pet_object.c. Takes config.isotope; a decay with all that was asked for; the width in mm of where
 * positrons of an energy come to rest, by each direction; how far a photon gets in the phantoms. */
slc_status slc_sim_pet_isotope(slc_sim_pet *sim, slc_error *error);
void slc_sim_pet_decay(slc_sim_pet *sim, uint64_t *random, double after_ps, uint64_t event);
double slc_sim_pet_range_sigma(double energy_kev);
double slc_sim_pet_reach(const slc_sim_pet_config *config, const double from[3], const double to[3],
                         double depth);

/* sim_pet_detect.c. Takes config.crystal; what the scanner sees of a photon that comes out of the object;
 * crystals as boxes, whatever the scanner is. */
slc_status slc_sim_pet_crystal(slc_sim_pet *sim, slc_error *error);
void slc_sim_pet_detect(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p);
slc_status slc_sim_pet_take_boxes(slc_sim_pet *sim, slc_error *error);

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
