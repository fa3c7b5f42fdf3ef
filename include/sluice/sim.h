/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeded generators. sim_velo, events with truth: proton-proton collisions in LHCb's upgraded VELO, as raw
 * banks. What is modelled, and how it compares with LHCb's own simulation: docs/howto/simulate-velo.md.
 * sim_image: test images for labelling.
 */
#ifndef SLUICE_SIM_H
#define SLUICE_SIM_H

#include <sluice/image.h>
#include <sluice/velo_geometry.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_sim_velo_config {
    uint64_t seed;
    float visible_vertices; /* mean number of visible collisions (four tracks and more), Poisson */
    bool scattering;        /* multiple scattering in sensors and RF foil */
    float noise_pixels;     /* mean number of noise pixels in an event */
    float dead_fraction;    /* of all pixels, chosen once per seed */
    float inefficiency;     /* probability that a crossing of a sensor leaves no signal */
    float b_fraction;       /* of visible collisions, with a pair of beauty hadrons */
    float d_fraction;       /* the same with a pair of charm hadrons */
    float s_fraction;       /* mean number of strange hadrons (K0s, hyperons) in a visible collision */
} slc_sim_velo_config;
void slc_sim_velo_config_default(slc_sim_velo_config *config);

typedef struct slc_sim_velo slc_sim_velo;

/* `geometry` is copied; NULL means the ideal one. SLC_ERR_USAGE for a configuration out of range, named in
 * *error, or a geometry whose pixels do not touch. One generator serves one thread at a time. */
slc_status slc_sim_velo_open(const slc_sim_velo_config *config, const slc_velo_geometry *geometry,
                             slc_sim_velo **sim, slc_error *error);
void slc_sim_velo_close(slc_sim_velo *sim);

/* Appends event number `index` to `batch`: 208 VP banks (version 2), one ODIN bank and the truth banks, as
 * one sequence of raw banks. The event depends on the configuration and `index` alone, not on what was
 * generated before. `truth` (may be NULL) receives the same truth as columns, appended as one event. */
slc_status slc_sim_velo_event(slc_sim_velo *sim, uint64_t index, slc_batch *batch, slc_velo_truth *truth,
                              slc_error *error);

/* Test images as in A. Hennequin's thesis (2022), sections 4.3.6 and 4.5.5: macro-pixels of granularity x
 * granularity pixels (cut at the right and lower border), each foreground with probability density, drawn
 * from MT19937 (Matsumoto and Nishimura, ACM TOMACS 8, 1998), one number of 32 bits for each macro-pixel in
 * raster order: foreground where number < density · 2^32. The same numbers for every density, so that a
 * denser image contains a sparser one of its seed. */
typedef struct slc_sim_image_config {
    uint32_t seed;
    size_t width, height;
    double density;       /* 0 to 1 */
    uint32_t granularity; /* from 1 */
} slc_sim_image_config;
void slc_sim_image_config_default(slc_sim_image_config *config); /* seed 1, 2048 x 2048, 0.45, 1 */

/* Writes 0 and `value` into an 8-bit image of the caller's of that width and height. SLC_ERR_USAGE for a
 * configuration out of range, named in *error. */
slc_status slc_sim_image(const slc_sim_image_config *config, uint8_t value, uint8_t *pixels, ptrdiff_t stride,
                         slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
