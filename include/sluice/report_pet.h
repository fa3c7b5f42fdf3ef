/* SPDX-License-Identifier: Apache-2.0
 *
 * What becomes of the results of pet_chain.h, batch after batch in bounded memory: prompts and delayeds in
 * one order of time, as list-mode files want them; rates against time with randoms from singles and dead
 * time, and their picture.
 */
#ifndef SLUICE_REPORT_PET_H
#define SLUICE_REPORT_PET_H

#include <sluice/pet_chain.h>
#include <sluice/pet_rates.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- pairs in order ---------------------------------------------------------------------------- */

/* The chain gives prompts, then delayeds, of windows that are complete, and those of delayed windows, which
 * reach farther, come later. This puts them into the order of their times, prompts before delayeds of one
 * time; the order does not depend on batches. Pairs wait until nothing that comes can be before them: until
 * both stages have given later ones, or there was a gap between singles that no window reaches over. */
typedef struct slc_report_pet_pairs slc_report_pet_pairs;
/* `config` is the chain's: its window and delay. */
SLC_API slc_status slc_report_pet_pairs_open(const slc_pet_config *config, slc_report_pet_pairs **pairs,
                                             slc_error *error);
SLC_API void slc_report_pet_pairs_close(slc_report_pet_pairs *pairs); /* NULL is allowed */
/* Takes the pairs of a result, whose singles were kept (slc_pet_config.keep_singles), and appends to `out`
 * those that are due; with `last`, all. SLC_ERR_MEMORY: the stage can only be closed. */
SLC_API slc_status slc_report_pet_pairs_add(slc_report_pet_pairs *pairs, const slc_pet_result *result,
                                            bool last, slc_pet_coincidences *out, slc_error *error);

/* ---- rates ------------------------------------------------------------------------------------- */

typedef struct slc_report_pet_rates_config {
    slc_pet_geometry geometry;
    slc_pet_good good;   /* of pairs whose randoms are expected */
    double window_ns;    /* of pet_rates.h */
    double bin_s;        /* 1 µs to an hour */
    int64_t horizon_ps;  /* of the sort: so far are its singles behind the frames */
    double dead_time_ns; /* of a block after a frame; 0: none */
    bool paralysable;    /* frames in dead time prolong it */
} slc_report_pet_rates_config;

/* One row is a bin of time in which there was anything. Bins begin at multiples of bin_s of the frames'
 * clock. */
typedef struct slc_report_pet_rate_rows {
    slc_columns head;
    double *begin_s, *length_s; /* of the first and last bin with singles, what pet_rates.h has of them */
    uint64_t *frames, *singles, *prompts, *delayeds;
    uint64_t *multiples; /* windows of more than two singles */
    uint64_t *lost;      /* frames that no single was made of, energies outside apart, and late singles */
    double *randoms;     /* prompts to be expected from the singles of each crystal */
} slc_report_pet_rate_rows;
SLC_API extern const slc_schema slc_report_pet_rate_rows_schema;

typedef struct slc_report_pet_rates_totals {
    double seconds;        /* from the first single to the last */
    double randoms;        /* of all rows; 0 before the end */
    uint64_t frames;       /* of blocks that there are */
    double dead_frames;    /* frames to be expected in dead time */
    double worst_fraction; /* of a block's frames in dead time, over a bin */
    uint64_t saturated;    /* blocks and bins whose rate no dead time explains: not in dead_frames */
} slc_report_pet_rates_totals;

typedef struct slc_report_pet_rates slc_report_pet_rates;
/* SLC_ERR_USAGE names the field that cannot be. */
SLC_API slc_status slc_report_pet_rates_open(const slc_report_pet_rates_config *config,
                                             slc_report_pet_rates **rates, slc_error *error);
SLC_API void slc_report_pet_rates_close(slc_report_pet_rates *rates); /* NULL is allowed */
/* Adds a call of slc_pet_chain_run: its frames, its result with singles kept, the chain's totals after it,
 * and how many frames are known to have been lost before it. Memory is a row a bin and counts of one bin's
 * crystals: frames, losses and multiples count in the bin which the time has come to. SLC_ERR_FORMAT for more
 * than 2^20 bins. */
SLC_API slc_status slc_report_pet_rates_add(slc_report_pet_rates *rates, const slc_pet_frame *frames,
                                            size_t n, const slc_pet_result *result,
                                            const slc_pet_totals *totals, uint64_t lost, slc_error *error);
/* After the last call: completes the last bin. */
SLC_API slc_status slc_report_pet_rates_finish(slc_report_pet_rates *rates, slc_error *error);
SLC_API const slc_report_pet_rate_rows *slc_report_pet_rates_rows(const slc_report_pet_rates *rates);
SLC_API void slc_report_pet_rates_totals_of(const slc_report_pet_rates *rates,
                                            slc_report_pet_rates_totals *totals);

/* Two plots as SVG: frames, singles and what was lost; prompts, delayeds, randoms from singles and multiples;
 * per second, against seconds from the first bin on. Many bins are drawn together, at most 400 a curve.
 * SLC_ERR_USAGE without rows. */
SLC_API slc_status slc_report_pet_rates_svg(const char *path, const slc_report_pet_rate_rows *rows,
                                            double bin_s, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
