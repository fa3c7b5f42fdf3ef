/* SPDX-License-Identifier: Apache-2.0
 *
 * How many of the prompts are random, whatever the policy: by mixing the measurement with itself.
 *
 * Delayed windows tell how often unrelated singles come together, and not what a policy makes of them: in a
 * prompt window a random's true partners are there, too, and make a multiple of it; in a delayed one those of
 * the opener are one delay away. So copies of the measurement, each later by one delay, are laid over each
 * other, and prompts of the same configuration are found in that. A single of one copy and one of another are
 * unrelated for sure, and bring along all that belongs to them. What is wrong is only the load: of k copies,
 * it is k times as high. Two and three are counted, and one copy follows.
 *
 * Events come independently, at a rate of μ; with a load of kμ a pair of events gives a random that the
 * policy keeps with a weight F(k), so that there are μ² · F(1) randoms. Pairs of the first copy with the
 * second come both ways: N2 = 2μ² · F(2) of two copies, and N3 = 2μ² · F(3) of the same with a third one laid
 * over them. With one more copy nothing else comes into a window with a chance that is the same each time, so
 * F(1) = F(2)² / F(3), and
 *
 *     randoms = N2² / (2 · N3).
 *
 * That is exact where every single opens a window and multiples are killed, or all goods are taken. Single
 * windows open less often the more there are: with x singles per window, by 1 / (1 + kx), and the estimate is
 * too small by x² / (1 + 2x)², 0.7 % at x = 0.1. Its standard deviation is 1 / sqrt(N3) of it, a little more
 * where a policy makes several pairs of one window. docs/howto/pet-coincidences.md compares it with the
 * truth.
 */
#ifndef SLUICE_PET_RANDOMS_H
#define SLUICE_PET_RANDOMS_H

#include <sluice/pet_coincidence.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pet_randoms_counts {
    uint64_t singles; /* in the energy window */
    uint64_t mixed;   /* those of the first copy over which both others lie */
    uint64_t two;     /* pairs of the first copy with the second: of two copies, N2, */
    uint64_t three;   /* and of three, N3 */
} slc_pet_randoms_counts;

typedef struct slc_pet_randoms slc_pet_randoms;
/* `prompt` is the configuration of the prompts, of which `target` and `threads` are used as well; its offset
 * must be 0. The delay should be longer than all that relates two singles, dead time included, and be several
 * windows long; it is at least one. SLC_ERR_USAGE names the field that cannot be; SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_randoms_open(const slc_pet_coincidence_config *prompt, double delay_ns,
                                        slc_pet_randoms **randoms, slc_error *error);
SLC_API void slc_pet_randoms_close(slc_pet_randoms *randoms); /* NULL is allowed */
/* Takes singles in time order, in batches of any size: neither these nor threads change the counts. Keeps
 * those of the last two delays. With `last` the input ends; the next call begins a new one. SLC_ERR_FORMAT
 * where a single is earlier than the one before it: the text names both, and nothing is taken.
 * SLC_ERR_USAGE for a window that is no whole number of picoseconds. SLC_ERR_MEMORY: the stage can only be
 * closed. */
SLC_API slc_status slc_pet_randoms_run(slc_pet_randoms *randoms, const slc_pet_singles *singles, bool last,
                                       slc_error *error);
/* Of an input that has ended; before, `singles` alone is told. */
SLC_API void slc_pet_randoms_counts_of(const slc_pet_randoms *randoms, slc_pet_randoms_counts *counts);
/* Random prompts to be expected in the whole measurement, whose ends, where copies do not lie over each
 * other, count like the rest of it; pairs of groups that are kept whole are counted one by one. *sigma may be
 * NULL. NaN where there are singles, but all within two delays: nothing can be told. */
SLC_API double slc_pet_randoms_estimate(const slc_pet_randoms_counts *counts, double *sigma);

#ifdef __cplusplus
}
#endif
#endif
