/* SPDX-License-Identifier: Apache-2.0
 *
 * A live page of PET: rates, losses by module, rings and files; of a sample of up to 100 000 frames a second
 * flood maps and spectra, and of the pairs of a chain time differences and modules against modules.
 */
#ifndef SLUICE_LIVE_PET_H
#define SLUICE_LIVE_PET_H

#include <sluice/daq_pet.h>
#include <sluice/live.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_live_pet slc_live_pet;

/* `config` and `tables`: of the chain, borrowed; NULL without one. `live` NULL: *pet is, too, which all that
 * follows allows. SLC_ERR_MEMORY. */
SLC_API slc_status slc_live_pet_open(slc_live *live, const slc_pet_config *config,
                                     const slc_pet_tables *tables, slc_live_pet **pet, slc_error *error);
SLC_API void slc_live_pet_close(slc_live_pet *pet);
/* Frames as they come (slc_daq_pet_config.sample), of which it takes as many as its budget allows. Any
 * thread; where another is at it, they are left out. */
SLC_API void slc_live_pet_frames(slc_live_pet *pet, const slc_pet_frame *frames, size_t n);
/* A run of the chain; its frames are not looked at. Any thread. */
SLC_API void slc_live_pet_batch(slc_live_pet *pet, const slc_pet_batch *batch);

/* What is known now; each may be NULL. */
typedef struct slc_live_pet_state {
    const slc_daq_pet_counts *daq; /* of an acquisition, */
    bool sequence;                 /* whose datagrams have a counter, so that lost ones are known */
    const slc_pet_totals *chain;
    uint64_t frames;    /* without an acquisition: that were read */
    const char *output; /* the file that grows, whose disk is looked at */
} slc_live_pet_state;
/* Puts all of it, and publishes. One thread. */
SLC_API bool slc_live_pet_publish(slc_live_pet *pet, slc_live_state state, const slc_live_pet_state *now);

#ifdef __cplusplus
}
#endif
#endif
