/* SPDX-License-Identifier: Apache-2.0
 *
 * sim_pet: generated PET data with truth. Annihilations in points and cylinders, back-to-back photons,
 * scatter in the object, detection with time and energy resolution, dead time, the background of LSO, randoms
 * as they come from the rate; each module's frames in the order of its own clock, packed into datagrams. If
 * they are asked for: isotopes with positron range and prompt gammas, photons that are not in one line,
 * scatter and attenuation in cylinders, depth and scatter in the crystals. Simulated time proceeds in steps:
 * step k of a seed is the same whatever was generated before, but for dead time, which is carried from the
 * step before.
 */
#ifndef SLUICE_SIM_PET_H
#define SLUICE_SIM_PET_H

#include <sluice/pet_convert.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_sim_pet_source {
    double x_mm, y_mm, z_mm;     /* its middle */
    double radius_mm, length_mm; /* of a cylinder along z; both 0: a point */
    double activity_bq;
} slc_sim_pet_source;

/* A cylinder along z in which photons scatter. */
typedef struct slc_sim_pet_phantom {
    double x_mm, y_mm, z_mm; /* its middle */
    double radius_mm, length_mm;
    double mu_per_mm; /* interactions per mm at 511 keV: 0.0096 of water */
} slc_sim_pet_phantom;

enum { SLC_SIM_PET_SOURCES = 16, SLC_SIM_PET_PHANTOMS = 16 };

typedef struct slc_sim_pet_config {
    size_t size; /* set by slc_sim_pet_config_default */
    uint64_t seed;
    slc_pet_geometry geometry;
    slc_sim_pet_source source[SLC_SIM_PET_SOURCES];
    uint32_t n_sources;
    /* 0: as the sources' activity gives it. Otherwise that is scaled so that so many singles a second are
     * above threshold in all, background included, before dead time; the scale is found by sampling and right
     * within half a percent. */
    double singles_hz;
    double efficiency; /* of a photon that meets a crystal; it leaves all its energy there */
    /* Of detected photons that have scattered before: their direction is off. Without phantoms, which scatter
     * photons themselves. */
    double scatter_fraction;
    double time_sigma_ps;     /* of a single */
    double energy_resolution; /* full width at half maximum over 511 keV; the width goes as the root of E */
    double dead_time_ns;      /* of a block after a single, not paralysable */
    double lso_hz;            /* background singles of a crystal a second */
    double threshold_kev;
    slc_pet_convert_config clock; /* ticks; its other fields are not used */
    uint32_t frames_per_packet;   /* 92 */
    /* The mean by which packets of modules are out of step: delays are uniform up to twice that. */
    double packet_delay_us;
    /* A packet that is not full is sent so long after its first frame; 0: never, but at a call's end. No
     * frame arrives later than packet_wait_us + 2 · packet_delay_us after its time. */
    double packet_wait_us;
    /* 0: x and y of a frame are its crystal's. Otherwise they are places in a flood map of so many (at most
     * 256) places a side, about their crystal's with flood_sigma of the distance between crystals, and the
     * tables have the position table that belongs to it. */
    uint32_t flood_side;
    double flood_sigma;
    double gain_spread;          /* of crystals, of their mean of 0.1 keV a unit */
    double time_offset_sigma_ps; /* of crystals; 0: the tables have no offsets */
    /* Of the crystals' efficiencies about `efficiency`, at most 0.3; the tables have them, of mean 1. 0: all
     * are the same, and the tables have none. */
    double efficiency_spread;
    /* For measurements: no sources. Singles come at singles_hz in crystals at random, pair_share of them as
     * pairs of about opposite crystals, all of about 511 keV, and neither threshold nor dead time apply. */
    bool fast;
    double pair_share;
    /* Physics; what follows is left out where it is as it comes, and cannot be had with `fast`.
     *
     * "F-18", "Ga-68" or "I-124": an activity is one of decays; of these some have a positron, which
     * annihilates a little away (in water), some have prompt gammas. NULL or "ideal": each is an annihilation
     * where the source is. Not kept. */
    const char *isotope;
    /* Full width at half maximum of the angle between two photons and a straight line, seen from one side;
     * negative: 0.5, which is that of water, with an isotope, 0 without. */
    double noncollinearity_deg;
    /* Photons scatter off free electrons (Klein and Nishina), several times if they do; mu_per_mm goes with
     * the cross section. Where phantoms overlap, the last one counts. */
    slc_sim_pet_phantom phantom[SLC_SIM_PET_PHANTOMS];
    uint32_t n_phantoms;
    /* "LSO", "BGO", "GSO" or "MU,SHARE" (per mm at 511 keV; what part is photoelectric): photons interact in
     * the depth of crystals, may scatter to others and escape; `efficiency` is then of the reading of what
     * they left. A frame has all energy of its block, at its mean place: of a flood map, or the nearest
     * crystal. NULL or "ideal": all energy, half way through. Not kept. */
    const char *crystal;
    bool each_crystal; /* with a crystal: each is read by itself, and dead time is a crystal's own */
} slc_sim_pet_config;
/* "mouse20", a point of 1 MBq in the middle, 20 % scatter, 200 ps, 12 %. */
SLC_API void slc_sim_pet_config_default(slc_sim_pet_config *config, size_t size);
#define slc_sim_pet_config_default(config) slc_sim_pet_config_default(config, sizeof *(config))

/* `photon` of the truth: whose light it is. */
enum { SLC_SIM_PET_BACKGROUND, SLC_SIM_PET_FIRST, SLC_SIM_PET_SECOND, SLC_SIM_PET_PROMPT };

/* One row for each frame, in the frames' order. Two frames of one event are a true pair if one is FIRST, the
 * other SECOND, and neither has scattered; of other events they are random. */
typedef struct slc_sim_pet_truth {
    slc_columns head;
    int64_t *time_ps; /* when the photon met the crystal, before resolution */
    /* Decay: step · 2^32 + its number in the step; UINT64_MAX: background. */
    uint64_t *event;
    uint32_t *crystal;  /* of what is in this frame, where it was first */
    uint8_t *scattered; /* so many times in the object; with scatter_fraction 0 or 1 */
    uint8_t *shared;    /* 1: the photon left energy in several crystals */
    uint8_t *photon;
    /* The annihilation; of a prompt gamma the decay; NaN of the background and of the fast way. */
    float *x_mm, *y_mm, *z_mm;
    float *left_kev; /* in what this frame is of, before resolution */
} slc_sim_pet_truth;
SLC_API extern const slc_schema slc_sim_pet_truth_schema;

typedef struct slc_sim_pet slc_sim_pet;
/* SLC_ERR_USAGE names the field that cannot be. */
SLC_API slc_status slc_sim_pet_open(const slc_sim_pet_config *config, slc_sim_pet **sim, slc_error *error);
SLC_API void slc_sim_pet_close(slc_sim_pet *sim);                         /* NULL is allowed */
SLC_API const slc_pet_tables *slc_sim_pet_tables(const slc_sim_pet *sim); /* with which frames convert */
/* The next `seconds` of the measurement: frames in the order of arrival, appended to the caller's array,
 * which is enlarged by realloc as needed (*capacity in frames), and their truth (may be NULL). All frames
 * whose clock lies in these seconds are there: packets are sent at the end of a call, full or not, so that
 * the frames of a measurement do not depend on its cutting into calls, but their order does. After
 * SLC_ERR_MEMORY the generator can only be closed. */
SLC_API slc_status slc_sim_pet_next(slc_sim_pet *sim, double seconds, slc_pet_frame **frames, size_t *n,
                                    size_t *capacity, slc_sim_pet_truth *truth, slc_error *error);
#ifdef __cplusplus
}
#endif
#endif
