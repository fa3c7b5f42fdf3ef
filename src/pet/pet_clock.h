/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: time counters that begin again (tick_bits below 64), followed over all modules
 * together, before the frames are converted. What comes out are frames whose counters have 64 bits, so that
 * nothing behind this knows of turns: not the threads of the processor, not the kernels of a GPU.
 */
#ifndef SLUICE_PET_CLOCK_H
#define SLUICE_PET_CLOCK_H

#include <sluice/pet_convert.h>

typedef struct slc_pet_clock slc_pet_clock;

/* *clock is NULL where the counters have 64 bits. */
slc_status slc_pet_clock_open(const slc_pet_convert_config *config, const slc_pet_geometry *geometry,
                              slc_pet_clock **clock, slc_error *error);
void slc_pet_clock_close(slc_pet_clock *clock); /* NULL is allowed */
/* Frames that the calls before have kept back. */
size_t slc_pet_clock_held(const slc_pet_clock *clock);
/* *out: the next frames of all that were given so far, in their order, in the clock's memory until its next
 * call; temperatures are lost. Few are kept back, none with `last`. received_ns (NULL: not known): of each
 * frame, ns from any origin, 0 where it is not known. SLC_ERR_MEMORY leaves all as it was. */
slc_status slc_pet_clock_run(slc_pet_clock *clock, const slc_pet_frame *frames, const uint64_t *received_ns,
                             size_t n, bool last, const slc_pet_frame **out, size_t *n_out, slc_error *error);
/* Sets turns, bridged and backwards. */
void slc_pet_clock_counts(const slc_pet_clock *clock, slc_pet_convert_counts *counts);

/* Of a frame that came out: is its time one that no other agrees with? It is to be dropped. */
static inline bool slc_pet_clock_refuses(const slc_pet_frame *frame)
{
    return frame->temperature_tail != 0;
}

#endif
