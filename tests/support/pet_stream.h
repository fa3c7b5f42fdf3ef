/* SPDX-License-Identifier: Apache-2.0
 *
 * Frames of mouse20 in time, a chain for them, and their rates, for what takes the results of a chain.
 */
#ifndef SLUICE_SUPPORT_PET_STREAM_H
#define SLUICE_SUPPORT_PET_STREAM_H

#include <sluice/pet_rates.h>

enum { PET_STREAM_FRAMES = 20000 };

/* Singles at random from `first` on with pairs among them, in time; one in 500 of a module that is not there.
 * The caller frees them. */
slc_pet_frame *pet_stream_make(const slc_pet_tables *tables, int64_t first, double step_ps);
slc_pet_config pet_stream_config(slc_pet_policy policy, bool all_open, bool delayed);

/* In bins of that length, of all pairs of different crystals. */
slc_pet_rates_config pet_stream_rates_config(double bin_s);
/* The rates of a run; before its first frame three are known to be lost. The chain's singles and pairs are
 * appended to what is not NULL. */
slc_pet_rates *pet_stream_rates(const slc_pet_rates_config *config, const slc_pet_frame *frames, size_t batch,
                                slc_pet_singles *singles, slc_pet_coincidences *pairs);

#endif
