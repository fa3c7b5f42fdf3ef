/* SPDX-License-Identifier: Apache-2.0
 *
 * Singles in the order of their times: exact, stable, streaming. Input is what arrives, nearly in order: many
 * modules whose own order is right, mixed by packets.
 *
 * The horizon is how far behind the latest time seen a single may arrive. One that is later than that is
 * `late`: it is put aside, counted, and not in the output, as what is behind it may have been given out. This
 * depends on the order of arrival alone, so that any cutting into batches gives the same output.
 */
#ifndef SLUICE_PET_SORT_H
#define SLUICE_PET_SORT_H

#include <sluice/pet_types.h>
#include <sluice/simd.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct slc_pet_sort_config {
    size_t size;        /* of this struct; set by _config_default */
    int64_t horizon_ps; /* >= 0 */
    slc_exec exec;      /* threads */
} slc_pet_sort_config;
/* 1 ms, one thread. */
SLC_API void slc_pet_sort_config_default(slc_pet_sort_config *config, size_t size);
#define slc_pet_sort_config_default(config) slc_pet_sort_config_default(config, sizeof *(config))

typedef struct slc_pet_sort_counts {
    uint64_t taken, given, late, held;
    int64_t largest_lag_ps; /* behind the latest time seen: what horizon would have been enough */
} slc_pet_sort_counts;

typedef struct slc_pet_sort slc_pet_sort;
SLC_API slc_status slc_pet_sort_open(const slc_pet_sort_config *config, slc_pet_sort **stage,
                                     slc_error *error);
SLC_API void slc_pet_sort_close(slc_pet_sort *stage); /* NULL is allowed */

/* Takes all singles in their order of arrival; appends to `sorted` those that nothing that is not late can
 * come before any more (all with `last`, after which the stage is as new), and to `late` (may be NULL:
 * counted only) the late ones, in their order of arrival. Where calls bring few singles, some of those that
 * could be given wait for the next ones. Singles of one time keep their order of arrival.
 * Both grow as needed; SLC_ERR_MEMORY leaves everything as it was. */
SLC_API slc_status slc_pet_sort_run(slc_pet_sort *stage, const slc_pet_singles *singles, bool last,
                                    slc_pet_singles *sorted, slc_pet_singles *late, slc_error *error);
SLC_API void slc_pet_sort_counts_of(const slc_pet_sort *stage, slc_pet_sort_counts *counts);

/* All of a collection at once, in any order, stable; `work` (its rows are lost) is room for as many.
 * SLC_ERR_MEMORY leaves the singles as they were. Times in floating point must be numbers. */
SLC_API slc_status slc_pet_sort_all(slc_pet_singles *singles, slc_pet_singles *work);
SLC_API slc_status slc_pet_sort_all_f64(slc_pet_singles_f64 *singles, slc_pet_singles_f64 *work);

#ifdef __cplusplus
}
#endif
#endif
