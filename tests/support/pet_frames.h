/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames for tests of conversion and of the chain: random geometries, tables and clocks, and streams of
 * modules in packets with pairs among them.
 */
#ifndef TESTS_SUPPORT_PET_FRAMES_H
#define TESTS_SUPPORT_PET_FRAMES_H

#include <sluice/pet_chain.h>

/* Each table is there or not; pet_frames_clear frees them. */
slc_pet_tables pet_frames_tables(uint64_t *state);
void pet_frames_clear(slc_pet_tables *tables);

slc_pet_convert_config pet_frames_config(uint64_t *state);

/* n frames of modules, units and places that mostly exist, in packets of up to `packet` of a module, with
 * clocks that go on by up to `step` ticks, sometimes back, from a module's own origin. The caller frees. */
slc_pet_frame *pet_frames_random(uint64_t *state, const slc_pet_tables *tables, size_t n, uint32_t packet,
                                 uint64_t step);

/* "mouse20", without tables. */
slc_pet_tables pet_frames_mouse(void);

/* About n frames of it at 100 Mcps, a quarter of the singles partners of the one before, in packets of 92 of
 * a module. The caller frees `frames`. */
typedef struct pet_frames_stream {
    slc_pet_tables tables;
    slc_pet_frame *frames;
    size_t n, wrong; /* wrong: of no module, the first among the first hundred */
} pet_frames_stream;
pet_frames_stream pet_frames_make(size_t n);

/* What finds thousands of prompts and of delayeds in 60 000 of those. */
slc_pet_config pet_frames_chain(void);

/* The inverse of the conversion for one single: a frame that converts to that crystal, that time
 * rounded down to a tick and that energy as well as the tables allow. False where there is none. */
bool pet_frames_of_single(const slc_pet_tables *tables, const slc_pet_convert_config *config,
                          uint32_t crystal, int64_t time_ps, double energy_kev, slc_pet_frame *frame);

#endif
