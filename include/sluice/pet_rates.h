/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates: singles by crystal, the randoms that follow from them, losses, and how all goes with time.
 *
 * Randoms: where a coincidence is two singles, either of them first, less than W apart (every single opens a
 * window of length W), unrelated singles of rates s1 and s2 make 2 · W · s1 · s2 coincidences a second: s1 ·
 * W · s2 with 1 first, and as many with 2 first. W is what slc_pet_coincidence_config calls window_ns; texts
 * that write 2 · τ · s1 · s2 call it τ. Where windows do not overlap (single windows) and singles are so many
 * that they share windows, there are fewer.
 */
#ifndef SLUICE_PET_RATES_H
#define SLUICE_PET_RATES_H

#include <sluice/pet_coincidence.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pet_rates_config {
    slc_pet_geometry geometry;
    slc_pet_good good; /* of the pairs whose randoms are wanted */
    double window_ns;  /* W: a pair of crystals has randoms at 2 · W · s1 · s2 where either may be first */
    double bin_s;      /* of the rates against time, at most an hour; of bins there may be 2^20 */
    bool whole_bins;   /* the measurement fills its first and its last bin, too */
} slc_pet_rates_config;

/* One row is one bin of time. */
typedef struct slc_pet_rate_rows {
    slc_columns head;
    double *begin_s;
    uint64_t *frames, *singles, *prompts, *delayeds, *multiples, *lost;
} slc_pet_rate_rows;
SLC_API extern const slc_schema slc_pet_rate_rows_schema;

typedef struct slc_pet_rates slc_pet_rates;
/* SLC_ERR_USAGE names the field that cannot be. */
SLC_API slc_status slc_pet_rates_open(const slc_pet_rates_config *config, slc_pet_rates **rates,
                                      slc_error *error);
SLC_API void slc_pet_rates_close(slc_pet_rates *rates); /* NULL is allowed */
/* Adds singles, and coincidences (prompts and delayeds are told apart by their column); in any order. Memory
 * is 4 bytes for each crystal and bin. SLC_ERR_FORMAT where a crystal is none, or a time is so far from the
 * others that there would be too many bins; the text names the row, and nothing is taken. */
SLC_API slc_status slc_pet_rates_add_singles(slc_pet_rates *rates, const slc_pet_singles *singles,
                                             slc_error *error);
SLC_API slc_status slc_pet_rates_add_pairs(slc_pet_rates *rates, const slc_pet_coincidences *pairs,
                                           slc_error *error);
/* Adds what only the caller knows to the bin of that time: frames that came and that were lost, and windows
 * with more than two singles. */
SLC_API slc_status slc_pet_rates_add_counts(slc_pet_rates *rates, int64_t time_ps, uint64_t frames,
                                            uint64_t lost, uint64_t multiples, slc_error *error);
/* Singles of each crystal (crystals of them), and seconds from the first to the last (may be NULL). */
SLC_API const uint64_t *slc_pet_rates_singles(const slc_pet_rates *rates, double *seconds);
/* Randoms expected of a pair of crystals, and of all good pairs, in counts over the measurement: the sum over
 * bins of time of 2 · W · s1 · s2 · bin, so that rates that change are followed. The first and the last bin
 * of all, without whole_bins, are as long as the part of them from the first single to the last, with one
 * mean gap more at either end; singles less than W behind the one added before count as one for that gap, and
 * where all are one, nothing tells how long they took: they have their bins from end to end. Bins between are
 * always whole. A crystal with itself, where that is good, has W · s · s. The total is computed from sums
 * over ranges of crystals, not pair by pair. A true pair is in the product of its crystals' counts, too: bins
 * with few counts of a crystal make the sum too large by trues / (2 · W · randoms a bin). The total uses
 * memory of `rates`: not from several threads. */
SLC_API double slc_pet_rates_randoms_of(const slc_pet_rates *rates, uint32_t crystal1, uint32_t crystal2);
SLC_API double slc_pet_rates_randoms(const slc_pet_rates *rates);
/* Bins without anything between others are there with zeros. */
SLC_API const slc_pet_rate_rows *slc_pet_rates_rows(const slc_pet_rates *rates);

/* The rate that is true where `measured` is seen with a dead time after each event: non-paralysable
 * m / (1 − m·τ), paralysable the lower solution of m = n·exp(−n·τ); NaN beyond the largest m there is, which
 * is 1 / τ (not reached) or 1 / (e·τ). And the rate that is seen. */
SLC_API double slc_pet_true_rate(double measured_hz, double dead_time_s, bool paralysable);
SLC_API double slc_pet_measured_rate(double true_hz, double dead_time_s, bool paralysable);

#ifdef __cplusplus
}
#endif
#endif
