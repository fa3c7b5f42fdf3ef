/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the conversion as a stage of its own, which others have by way of the chain; and stages
 * that run one after the other and share one team of threads. With teams of their own the threads of a stage
 * that has ended would still look for work for a moment, on the processors that those of the next one need.
 */
#ifndef SLUICE_PET_STAGES_H
#define SLUICE_PET_STAGES_H

#include "base/team.h"

#include <sluice/pet_chain.h>

/* 1 ps, 64 bits, all energies, one thread. */
void slc_pet_convert_config_default(slc_pet_convert_config *config);

typedef struct slc_pet_convert slc_pet_convert;
/* Tables are copied. SLC_ERR_USAGE, and SLC_ERR_FORMAT as slc_pet_tables_check. */
slc_status slc_pet_convert_open(const slc_pet_convert_config *config, const slc_pet_tables *tables,
                                slc_pet_convert **stage, slc_error *error);
void slc_pet_convert_close(slc_pet_convert *stage); /* NULL is allowed */
/* Appends the singles of n frames in the order of the frames; `singles` grows as needed (SLC_ERR_MEMORY
 * leaves all as it was). The first bad frames are added to `faults` (may be NULL) by SLC_FAULT_PET_…, with
 * the frame's number in the input as event.
 *
 * received_ns: the times at which frames were received, ns from any origin, one for each frame, 0 where it is
 * not known; NULL: none is. They are looked at where counters begin again (tick_bits below 64) and nothing
 * was received for longer than half a turn: as many turns are then added to the time of all modules as fit
 * best. Where counters begin again, few of the last frames are kept back until the next call, as those after
 * them may be needed to know their turn; not with `last`. `frames` in the counts are those that were given
 * out. */
slc_status slc_pet_convert_run(slc_pet_convert *stage, const slc_pet_frame *frames,
                               const uint64_t *received_ns, size_t n, bool last, slc_pet_singles *singles,
                               slc_faults *faults, slc_error *error);
void slc_pet_convert_counts_of(const slc_pet_convert *stage, slc_pet_convert_counts *counts);

/* The chain as two halves, which two threads may be in at the same time, in turns of the same order: frames
 * to singles as they come, and all that follows. What comes out is what slc_pet_chain_run makes. */
typedef struct slc_pet_converted {
    slc_pet_singles singles;
    slc_faults faults;
    slc_pet_convert_counts counts; /* of all calls so far */
    double seconds;
    bool last;
} slc_pet_converted;
void slc_pet_converted_clear(slc_pet_converted *converted);
/* Shares the threads of the chain between the halves, before its first run. False, and it is as it was, where
 * it has one thread, ends with the conversion or is on a GPU. */
bool slc_pet_chain_split(slc_pet_chain *chain);
slc_status slc_pet_chain_convert(slc_pet_chain *chain, const slc_pet_frame *frames,
                                 const uint64_t *received_ns, size_t n, bool last, slc_pet_converted *to,
                                 slc_error *error);
slc_status slc_pet_chain_run_converted(slc_pet_chain *chain, const slc_pet_converted *from,
                                       slc_pet_result *result, slc_error *error);

/* The stage gives up its own threads for those of a team as large, which the caller closes behind it. */
void slc_pet_convert_use(slc_pet_convert *stage, slc_team *team);
void slc_pet_sort_use(slc_pet_sort *stage, slc_team *team);
void slc_pet_coincidence_use(slc_pet_coincidence *stage, slc_team *team);

#endif
