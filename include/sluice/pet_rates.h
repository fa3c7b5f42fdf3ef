/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates against time, batch after batch in bounded memory, with losses and the randoms that follow from
 * singles by crystal; and how many of the prompts are random whatever the policy.
 */
#ifndef SLUICE_PET_RATES_H
#define SLUICE_PET_RATES_H

#include <sluice/pet_chain.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- rates ------------------------------------------------------------------------------------- */

/* Randoms from singles: where a coincidence is two singles, either of them first, less than W apart (every
 * single opens a window of length W), unrelated singles of rates s1 and s2 make 2 · W · s1 · s2 coincidences
 * a second: s1 · W · s2 with 1 first, and as many with 2 first. W is what slc_pet_coincidence_config calls
 * window_ns; texts that write 2 · τ · s1 · s2 call it τ. Where windows do not overlap (single windows) and
 * singles are so many that they share windows, there are fewer.
 *
 * They are summed over bins of time, so that rates that change are followed. The first and the last bin of
 * all are as long as the part of them from the first single to the last, with one mean gap more at either
 * end; singles less than W after the one before count as one for that gap, and where all are one, nothing
 * tells how long they took: they have their bins from end to end. A crystal with itself, where that is good,
 * has W · s · s. A true pair is in the product of its crystals' counts, too: bins with few counts of a
 * crystal make the sum too large by trues / (2 · W · randoms a bin). */
typedef struct slc_pet_rates_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    slc_pet_good good; /* of pairs whose randoms are expected */
    double window_ns;  /* W: a pair of crystals has randoms at 2 · W · s1 · s2 where either may be first */
    double bin_s;      /* 1 µs to an hour */
    int64_t horizon_ps;  /* of the sort: so far are its singles behind the frames */
    double dead_time_ns; /* of a block after a frame; 0: none */
    bool paralysable;    /* frames in dead time prolong it */
} slc_pet_rates_config;
/* Bins of 1 s, all else 0. */
SLC_API void slc_pet_rates_config_default(slc_pet_rates_config *config, size_t size);
#define slc_pet_rates_config_default(config) slc_pet_rates_config_default(config, sizeof *(config))

/* One row is a bin of time in which there was anything. Bins begin at multiples of bin_s of the frames'
 * clock. */
typedef struct slc_pet_rate_rows {
    slc_columns head;
    double *begin_s, *length_s; /* of the first and last bin with singles, what pet_rates.h has of them */
    uint64_t *frames, *singles, *prompts, *delayeds;
    uint64_t *multiples; /* windows of more than two singles */
    uint64_t *lost;      /* frames that no single was made of, energies outside apart, and late singles */
    double *randoms;     /* prompts to be expected from the singles of each crystal */
} slc_pet_rate_rows;
SLC_API extern const slc_schema slc_pet_rate_rows_schema;

typedef struct slc_pet_rates_totals {
    double seconds;        /* from the first single to the last */
    double randoms;        /* of all rows; 0 before the end */
    uint64_t frames;       /* of blocks that there are */
    double dead_frames;    /* frames to be expected in dead time */
    double worst_fraction; /* of a block's frames in dead time, over a bin */
    uint64_t saturated;    /* blocks and bins whose rate no dead time explains: not in dead_frames */
} slc_pet_rates_totals;

typedef struct slc_pet_rates slc_pet_rates;
/* SLC_ERR_USAGE names the field that cannot be. */
SLC_API slc_status slc_pet_rates_open(const slc_pet_rates_config *config, slc_pet_rates **rates,
                                      slc_error *error);
SLC_API void slc_pet_rates_close(slc_pet_rates *rates); /* NULL is allowed */
/* Adds a run of the chain, with its singles kept; `skipped` frames are lost ones. Memory is a row a bin and
 * counts of one bin's crystals: frames, losses and multiples count in the bin which the time has come to.
 * SLC_ERR_FORMAT for more than 2^20 bins. */
SLC_API slc_status slc_pet_rates_add(slc_pet_rates *rates, const slc_pet_batch *batch, slc_error *error);
/* After the last call: completes the last bin, and sums up; `totals` may be NULL. */
SLC_API slc_status slc_pet_rates_finish(slc_pet_rates *rates, slc_pet_rates_totals *totals, slc_error *error);
SLC_API const slc_pet_rate_rows *slc_pet_rates_rows(const slc_pet_rates *rates);

/* ---- randoms whatever the policy --------------------------------------------------------------- */

/* How many of the prompts are random, whatever the policy: by mixing the measurement with itself.
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
 * truth. */
typedef struct slc_pet_randoms slc_pet_randoms;
/* `prompt` is the configuration of the prompts, of which `exec` is used as well, but not its device; its
 * offset must be 0. The delay should be longer than all that relates two singles, dead time included, and be
 * several windows long; it is at least one. SLC_ERR_USAGE names the field that cannot be; SLC_ERR_MEMORY. */
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
/* Of an input that has ended: random prompts to be expected in the whole measurement, whose ends, where
 * copies do not lie over each other, count like the rest of it; pairs of groups that are kept whole are
 * counted one by one. *sigma may be NULL. NaN where there are singles, but all within two delays: nothing can
 * be told. */
SLC_API double slc_pet_randoms_estimate(const slc_pet_randoms *randoms, double *sigma);

/* ---- randoms of each pair of crystals ---------------------------------------------------------- */

/* Where crystals' rates are s1 and s2 and the policy knows no multiples, unrelated singles make 2 · W · s1 ·
 * s2 pairs a second. A policy loses some of them, and more of them where partners are seen: a single with
 * company within W, which a share p of a crystal's singles has, counts for 1 − α · p in a random pair. α is
 * measured: of all values the one with which the ends of the pairs of mixed copies (above) are most likely
 * spread over crystals as they are. It is about 1 for killAll with single windows and 0 for takeAllGoods.
 * Where every single opens, company before the opener is in no window with both: p is then the mean of the
 * share with company and the share with company behind. So
 *
 *     randoms a second = f · 2 · W · (1 − α·p1)·s1 · (1 − α·p2)·s2
 *
 * in each bin of time, of good pairs alone. f follows the load as the numbers of mixed pairs do, N2 and N3
 * above, over all bins: f = κ · A(x) · exp(−c·S), S the singles a second and x those that a single window
 * closed for; A is what single windows lose, 1 / (1 + x), of takeAllGoods (1 + x/2) / (1 + x). Pairs within
 * one block, which dead time may let be none of, count for as much as there are prompts of them, if that is
 * less. All pairs and bins sum up to the estimate.
 *
 * Or singles tell no more than how rates change, and a pair's share is a1 · a2, with the sums over all
 * partners as the mixed pairs of each crystal have them, which are delayed ones by the rules of prompts (fan
 * sums, so that one pair's noise is spread over all partners: M. E. Casey and E. J. Hoffman, J. Comput.
 * Assist. Tomogr. 10 (1986) 845). These are far fewer than singles: crystals' shares are noisier. */
typedef enum slc_pet_randoms_from {
    SLC_PET_RANDOMS_FROM_SINGLES = 0,
    SLC_PET_RANDOMS_FROM_DELAYEDS
} slc_pet_randoms_from;

typedef struct slc_pet_pair_randoms_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_geometry geometry;
    slc_pet_coincidence_config prompt; /* as of slc_pet_randoms_open, */
    double delay_ns;                   /* and so is this; 0: 10 µs, or 20 windows if that is longer */
    double bin_s;                      /* 1 µs to an hour */
    slc_pet_randoms_from from;
    double dead_time_ns; /* of a block after a frame, for `alive`; 0: not known */
    bool paralysable;
} slc_pet_pair_randoms_config;
/* The prompts' defaults, bins of 1 s, from singles, all else 0. */
SLC_API void slc_pet_pair_randoms_config_default(slc_pet_pair_randoms_config *config, size_t size);
#define slc_pet_pair_randoms_config_default(config)                                                          \
    slc_pet_pair_randoms_config_default(config, sizeof *(config))

/* One row is a bin of time with singles, in order. */
typedef struct slc_pet_randoms_bins {
    slc_columns head;
    double *begin_s, *length_s; /* as of slc_pet_rate_rows */
    uint64_t *singles;
    double *factor;  /* f */
    double *randoms; /* of all pairs */
} slc_pet_randoms_bins;
SLC_API extern const slc_schema slc_pet_randoms_bins_schema;

/* One row is a crystal, of one bin. */
typedef struct slc_pet_crystal_rates {
    slc_columns head;
    uint32_t *crystal;
    uint64_t *singles;
    float *singles_hz;
    float *weight; /* 1 − α·p, the same in all bins */
    float *alive;  /* part of the bin in which its block was not dead; 1 where dead_time_ns is 0 */
} slc_pet_crystal_rates;
SLC_API extern const slc_schema slc_pet_crystal_rates_schema;

typedef struct slc_pet_pair_randoms_totals {
    double randoms, sigma; /* of all pairs; NaN where there are singles, but all within two delays */
    double company;        /* α */
    double within_blocks;  /* the part of the expected pairs within one block that there are, 0 to 1 */
    double bin_s;          /* a power of two times what was asked for, if there were too many */
    uint64_t bins;
} slc_pet_pair_randoms_totals;

typedef struct slc_pet_pair_randoms slc_pet_pair_randoms;
/* SLC_ERR_USAGE names the field that cannot be. SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_pair_randoms_open(const slc_pet_pair_randoms_config *config,
                                             slc_pet_pair_randoms **randoms, slc_error *error);
SLC_API void slc_pet_pair_randoms_close(slc_pet_pair_randoms *randoms); /* NULL is allowed */
/* Adds a run of the chain, with its singles kept; `last` ends the input. Memory is 8 bytes a crystal and bin,
 * up to 256 MiB (at least two bins): where there are more, neighbours become one bin of twice the length. As
 * slc_pet_randoms_run otherwise. */
SLC_API slc_status slc_pet_pair_randoms_add(slc_pet_pair_randoms *randoms, const slc_pet_batch *batch,
                                            slc_error *error);
/* Once all has come; what follows is known from then on. `totals` may be NULL.
 * SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_pair_randoms_finish(slc_pet_pair_randoms *randoms,
                                               slc_pet_pair_randoms_totals *totals, slc_error *error);
SLC_API const slc_pet_randoms_bins *slc_pet_pair_randoms_bins(const slc_pet_pair_randoms *randoms);
/* Of bin number `bin`, in place of what is in `rows`. SLC_ERR_MEMORY. */
SLC_API slc_status slc_pet_pair_randoms_crystals(const slc_pet_pair_randoms *randoms, size_t bin,
                                                 slc_pet_crystal_rates *rows);
/* hz[i]: randoms a second of the crystals of row i, either of them first, in the bin of its time (the nearest
 * one), where the row's own two singles do not count: of pairs that were found. 0 of pairs that are not good.
 * Crystals must be the scanner's. */
SLC_API void slc_pet_pair_randoms_hz(const slc_pet_pair_randoms *randoms, const slc_pet_coincidences *pairs,
                                     float *hz);
/* Randoms of two crystals in the whole measurement. Of more than 16 bins, neighbours are taken together. */
SLC_API double slc_pet_pair_randoms_between(const slc_pet_pair_randoms *randoms, uint32_t crystal1,
                                            uint32_t crystal2);

#ifdef __cplusplus
}
#endif
#endif
