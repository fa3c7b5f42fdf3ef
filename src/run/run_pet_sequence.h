/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what a module's sequence counter tells. A number that is ahead leaves a gap, and the
 * gap is loss; a number from the gap that comes later takes it back, since networks may change the order of
 * datagrams. A window of the last 4096 numbers remembers which of them are still missing.
 *
 * Numbers that have been there are either copies of datagrams, or of a module that was switched on again. A
 * counter that begins again begins at 0, so 0 is one, unless it was the last number; where that datagram was
 * lost, 32 in a row tell. A number from far away is a stray until the next one follows it.
 */
#ifndef SLUICE_RUN_PET_SEQUENCE_H
#define SLUICE_RUN_PET_SEQUENCE_H

#include <sluice/run_pet.h>

enum { SLC_RUN_PET_WINDOW = 4096, SLC_RUN_PET_AGAIN = 32 };

typedef struct slc_run_pet_sequence {
    bool begun;
    uint64_t first, next;       /* first: since the counter began; next: that is expected */
    uint64_t again_next, again; /* the last so many came again, one after the other */
    bool has_stray;             /* the last number was one: */
    uint64_t stray;
    uint64_t missing[SLC_RUN_PET_WINDOW / 64]; /* bit number % window: is it missing? */
} slc_run_pet_sequence;

/* A datagram with this number has come; `bits` is the counter's width. */
void slc_run_pet_sequence_add(slc_run_pet_sequence *sequence, uint64_t number, uint32_t bits,
                              slc_run_pet_module *module);

#endif
