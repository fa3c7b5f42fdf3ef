/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what is counted for the randoms of each pair (pet_pair_randoms.c), and what it comes to
 * (pet_pair_randoms_fit.c).
 */
#ifndef SLUICE_PET_PAIR_RANDOMS_H
#define SLUICE_PET_PAIR_RANDOMS_H

#include "pet/pet_randoms_mix.h"
#include "pet/pet_rates_sum.h"

enum { SLC_PET_STRETCHES = 16 }; /* of time, for sums over all of it */

/* Which pairs within a block are good. */
typedef enum slc_pet_own_pairs {
    SLC_PET_OWN_NONE = 0,
    SLC_PET_OWN_OTHERS,
    SLC_PET_OWN_ANY
} slc_pet_own_pairs;

struct slc_pet_pair_randoms {
    slc_pet_pair_randoms_config config;
    slc_pet_rates_sum sum;
    slc_pet_randoms *mix;
    slc_pet_watch watch;
    uint64_t window_ps;
    uint32_t crystals;
    /* blocks; where there is one alone, each crystal is one */
    uint32_t n_blocks;
    uint32_t *block;                 /* of each crystal */
    uint32_t *in_block, *block_from; /* crystals block by block, and where each block begins, with an end */
    uint8_t *own_pairs;              /* of each block, slc_pet_own_pairs */
    /* what is counted */
    slc_pet_randoms_bins bins;
    int64_t *bin; /* number of each row's */
    uint64_t *count, *openers;
    size_t capacity, most;
    int64_t bin_ps;
    uint32_t doubled;           /* so many times */
    uint64_t *company, *behind; /* singles with company, and with company behind them */
    uint64_t *fan;              /* ends of mixed pairs */
    uint64_t *frames;           /* of each module and unit */
    uint64_t *block_frames;
    uint64_t prompts, own_prompts; /* of one block */
    bool any, ended, finished;
    int64_t first_ps, last_ps, open_ps; /* last single, opener */
    uint32_t last_crystal;
    bool last_near; /* the last single has company behind it */
    /* what it comes to */
    double *weight; /* of each crystal */
    double *all;    /* counts of a crystal */
    double *work, *partners;
    uint64_t *two, *three; /* of each bin */
    double own;            /* part of the pairs within blocks */
    size_t n_stretches;
    double *stretch; /* counts by [stretch][crystal], and */
    double stretch_factor[SLC_PET_STRETCHES];
    slc_pet_pair_randoms_totals totals;
};

/* The sum of products of weights over good pairs, ordered, of different blocks, and within blocks. */
void slc_pet_pair_sums(const slc_pet_pair_randoms *p, const double *weight, double *apart, double *own);
slc_status slc_pet_pair_randoms_fit(slc_pet_pair_randoms *p, slc_error *error);

#endif
