/* SPDX-License-Identifier: Apache-2.0
 *
 * Seeded generators. sim_velo, events with truth: proton-proton collisions in LHCb's upgraded VELO, as raw
 * banks. What is modelled, and how it compares with LHCb's own simulation: docs/howto/simulate-velo.md.
 * sim_image: test images for labelling.
 */
#ifndef SLUICE_SIM_H
#define SLUICE_SIM_H

#include <sluice/image.h>
#include <sluice/pixel.h>
#include <sluice/velo_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_sim_velo_config {
    size_t size; /* set by slc_sim_velo_config_default */
    uint64_t seed;
    float visible_vertices;     /* mean number of visible collisions (four tracks and more), Poisson */
    bool scattering;            /* multiple scattering in sensors and RF foil */
    float noise_pixels;         /* mean number of noise pixels in an event */
    float dead_fraction;        /* of all pixels, chosen once per seed */
    float inefficiency;         /* probability that a crossing of a sensor leaves no signal */
    float b_fraction;           /* of visible collisions, with a pair of beauty hadrons */
    float d_fraction;           /* the same with a pair of charm hadrons */
    float s_fraction;           /* mean number of strange hadrons (K0s, hyperons) in a visible collision */
    float beam_x_mm, beam_y_mm; /* where the beam is, within 2 mm: collisions lie around it, and the detector
                                   with its foil stays; 0, 0 */
    float gas_collisions; /* mean number of collisions of the beam with gas in the cell of SMOG2, anywhere
                             from z = -541 to -341 mm on the beam; 0 */
} slc_sim_velo_config;
SLC_API void slc_sim_velo_config_default(slc_sim_velo_config *config, size_t size);
#define slc_sim_velo_config_default(config) slc_sim_velo_config_default(config, sizeof *(config))

typedef struct slc_sim_velo slc_sim_velo;

/* `geometry` is copied; NULL means the ideal one. SLC_ERR_USAGE for a configuration out of range, named in
 * *error, or a geometry whose pixels do not touch. One generator serves one thread at a time. */
SLC_API slc_status slc_sim_velo_open(const slc_sim_velo_config *config, const slc_velo_geometry *geometry,
                                     slc_sim_velo **sim, slc_error *error);
SLC_API void slc_sim_velo_close(slc_sim_velo *sim);

/* Appends event number `index` to `batch`: 208 VP banks (version 2), one ODIN bank and the truth banks, as
 * one sequence of raw banks. The event depends on the configuration and `index` alone, not on what was
 * generated before. `truth` (may be NULL) receives the same truth as columns, appended as one event. */
SLC_API slc_status slc_sim_velo_event(slc_sim_velo *sim, uint64_t index, slc_batch *batch,
                                      slc_velo_truth *truth, slc_error *error);

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
SLC_API void slc_sim_image_config_default(slc_sim_image_config *config); /* seed 1, 2048 x 2048, 0.45, 1 */

/* Writes 0 and `value` into an 8-bit image of the caller's of that width and height. SLC_ERR_USAGE for a
 * configuration out of range, named in *error. */
SLC_API slc_status slc_sim_image(const slc_sim_image_config *config, uint8_t value, uint8_t *pixels,
                                 ptrdiff_t stride, slc_error *error);

/* ---- sparse pixels ----------------------------------------------------------------------------- */

/* Images of a nearly empty detector as lists of pixels: image number i is the one that slc_sim_image draws
 * with a seed that is mixed of the two, so that images of one seed are not those of the next, one further.
 * Charges are from 1 to 255, times from 0 to 4095; neither depends on the other pixels. */
typedef struct slc_sim_pixels_config {
    uint32_t seed;
    uint32_t first; /* number of the first image: they may be drawn a few at a time */
    uint16_t width, height;
    double density;       /* 0 to 1 */
    uint32_t granularity; /* from 1 */
    uint32_t images;
    bool shuffled; /* the pixels of an image in random order; raster order otherwise */
} slc_sim_pixels_config;
SLC_API void
slc_sim_pixels_config_default(slc_sim_pixels_config *config); /* seed 1, 768 x 256, 0.01, 1, one image */

/* Appends the images, an event each, to a list that was made for the columns `with` (no z); it grows as
 * needed. SLC_ERR_USAGE for a configuration out of range, named in *error; SLC_ERR_MEMORY. */
SLC_API slc_status slc_sim_pixels(const slc_sim_pixels_config *config, uint32_t with, slc_pixels *pixels,
                                  slc_error *error);

/* Pixels of a chip that is read out without frames (Timepix): clusters at random places and times, each of 1
 * to 32 neighbouring pixels that are hit within `spread` ticks. Pixels come cluster by cluster in the order
 * of the clusters' times, so that a pixel is at most `spread` ticks before the latest. */
typedef struct slc_sim_pixel_stream_config {
    uint64_t seed;
    uint64_t part; /* of a stream that is drawn piece by piece: each has random numbers of its own */
    uint16_t width, height;
    double cluster_size;  /* mean number of pixels, 1 to 16 */
    double cluster_ticks; /* mean time between clusters; above 0 */
    uint32_t spread;
    int64_t begin; /* the stream's first possible time */
} slc_sim_pixel_stream_config;
/* Seed 1, 256 x 256, 4 pixels, a cluster every 64 ticks (of 1.5625 ns: 40 million pixels a second), spread
 * 16, from 0. */
SLC_API void slc_sim_pixel_stream_config_default(slc_sim_pixel_stream_config *config);

/* Appends so many pixels, to the current event, to a list with x, y, charge and time. */
SLC_API slc_status slc_sim_pixel_stream(const slc_sim_pixel_stream_config *config, size_t n,
                                        slc_pixels *pixels, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
