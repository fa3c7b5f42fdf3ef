/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: stretches of copies that lie over each other, and their prompts of two copies and of
 * three (sluice/pet_rates.h).
 */
#ifndef SLUICE_PET_RANDOMS_MIX_H
#define SLUICE_PET_RANDOMS_MIX_H

#include <sluice/pet_rates.h>

enum { SLC_PET_COPIES = 3 };

/* What pairs of the first copy with the second are counted by, but for those of one block, which dead time
 * may let be none of: bins of time, and crystals. */
typedef struct slc_pet_watch {
    int64_t bin_ps;
    uint32_t crystals;
    const uint32_t *block; /* of each crystal */
} slc_pet_watch;

/* Such pairs of a bin: of two copies and of three. */
typedef struct slc_pet_tally {
    int64_t bin; /* its number: of time 0 on it is 0 */
    uint64_t two, three;
} slc_pet_tally;

/* Singles of the first copies, in time order, with their copies' numbers. */
typedef struct slc_pet_mix {
    slc_pet_coincidence *stage;
    slc_pet_singles singles;
    uint8_t *copy;
    size_t capacity; /* of both */
    size_t given;    /* the first ones the stage has, and waits with */
    uint64_t base;   /* number of the first in what the stage has been given */
    slc_pet_groups groups;
    uint64_t crossing;          /* pairs of copies 0 and 1 */
    const slc_pet_watch *watch; /* NULL: nothing further is counted */
    uint64_t *fan;              /* ends of such pairs by crystal; NULL: not counted */
    slc_pet_tally *tally;       /* `two` of each alone; a bin may be there several times */
    size_t n_tally, tally_capacity;
} slc_pet_mix;

/* `prompt` without an energy window. SLC_ERR_USAGE, SLC_ERR_MEMORY. */
slc_status slc_pet_mix_open(slc_pet_mix *mix, const slc_pet_coincidence_config *prompt, slc_error *error);
void slc_pet_mix_clear(slc_pet_mix *mix);
slc_status slc_pet_mix_grow(slc_pet_mix *mix);
/* Finds the prompts of what was put. `last`: nothing is near that comes later, and all is forgotten. */
slc_status slc_pet_mix_find(slc_pet_mix *mix, bool last, slc_error *error);

/* Of pet_coincidence.c: how many of the last singles may be in rows that are still to come. */
size_t slc_pet_coincidence_waiting(const slc_pet_coincidence *stage);

static inline slc_status slc_pet_mix_put(slc_pet_mix *mix, int64_t time_ps, uint32_t crystal, float energy,
                                         uint8_t copy)
{
    const size_t n = mix->singles.head.size;
    if (n == mix->capacity && slc_pet_mix_grow(mix) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    mix->singles.time_ps[n] = time_ps;
    mix->singles.crystal[n] = crystal;
    mix->singles.energy_kev[n] = energy;
    mix->copy[n] = copy;
    mix->singles.head.size = n + 1;
    return SLC_OK;
}

/* ---- what is counted --------------------------------------------------------------------------- */

typedef struct slc_pet_randoms_counts {
    uint64_t singles; /* in the energy window */
    uint64_t mixed;   /* those of the first copy over which both others lie */
    uint64_t two;     /* pairs of the first copy with the second: of two copies, N2, */
    uint64_t three;   /* and of three, N3 */
} slc_pet_randoms_counts;
/* Of an input that has ended; before, `singles` alone is told. */
void slc_pet_randoms_counts_of(const slc_pet_randoms *randoms, slc_pet_randoms_counts *counts);
/* As slc_pet_randoms_estimate. */
double slc_pet_randoms_of(const slc_pet_randoms_counts *counts, double *sigma);

/* Before the first run: counts by `watch`, too, which the caller keeps. */
slc_status slc_pet_randoms_watch(slc_pet_randoms *randoms, const slc_pet_watch *watch, slc_error *error);
/* Of an input that has ended: `fan` gets what was counted by crystal, and `add` is called with what was
 * counted in each bin, several times and in any order, until it fails. */
slc_status slc_pet_randoms_watched(const slc_pet_randoms *randoms, uint64_t *fan,
                                   slc_status (*add)(void *context, const slc_pet_tally *tally),
                                   void *context);

#endif
