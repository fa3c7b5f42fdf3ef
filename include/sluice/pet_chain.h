/* SPDX-License-Identifier: Apache-2.0
 *
 * PET from frames to coincidences: the stages in order, on a processor or GPUs, with the same results. Open
 * once, run for each batch of frames as it comes, with `last` at the end, close.
 */
#ifndef SLUICE_PET_CHAIN_H
#define SLUICE_PET_CHAIN_H

#include <sluice/pet_coincidence.h>
#include <sluice/pet_convert.h>
#include <sluice/pet_sort.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum slc_pet_stage {
    SLC_PET_STAGE_CONVERT = 0,
    SLC_PET_STAGE_SORT,
    SLC_PET_STAGE_COINCIDENCE,
    SLC_PET_STAGES
} slc_pet_stage;

typedef struct slc_pet_config {
    size_t size; /* of this struct; set by _config_default */
    slc_pet_convert_config convert;
    slc_pet_sort_config sort;
    slc_pet_coincidence_config prompt;
    bool delayed; /* a second stage of coincidences, with delay_ns and otherwise as prompt */
    double delay_ns;
    bool keep_singles; /* result.singles holds the sorted singles of each run */
    /* The last stage that runs, all by default. Without coincidences result.singles holds the singles, those
     * of SLC_PET_STAGE_CONVERT as they arrive. A GPU runs all. */
    slc_pet_stage until;
    slc_exec exec; /* of all stages, in place of theirs. Of several GPUs ("cuda:0,1", "all") each takes a
                      piece of the frames in turn */
} slc_pet_config;
SLC_API void slc_pet_config_default(slc_pet_config *config, size_t size);
#define slc_pet_config_default(config) slc_pet_config_default(config, sizeof *(config))

/* What a run adds. Zero-initialise; the chain resets and fills it, the caller clears it. */
typedef struct slc_pet_result {
    slc_pet_singles singles, late;
    slc_pet_coincidences pairs; /* prompts in order, then delayeds in order */
    slc_faults faults;
    double seconds[SLC_PET_STAGES];
} slc_pet_result;
SLC_API void slc_pet_result_clear(slc_pet_result *result);

typedef struct slc_pet_totals {
    slc_pet_convert_counts convert;
    slc_pet_sort_counts sort;
    slc_pet_coincidence_counts prompt, delayed;
    uint64_t
        checksum; /* over all pairs, prompts and delayeds apart: the same for every batch, thread, device */
} slc_pet_totals;

/* A run of the chain, as those hand it on who run chains (run_flow.h, daq_pet.h): what it had, and what it
 * made of that. */
typedef struct slc_pet_batch {
    const slc_pet_frame *frames;
    size_t n;
    const slc_pet_result *result;
    const slc_pet_totals *totals; /* of the chain after it */
    uint64_t skipped;             /* frames right before these that the chain went without */
    bool last;                    /* after all frames */
    const slc_pet_marks *marks;   /* that came since the batch before; NULL: they are not kept */
} slc_pet_batch;

/* What pairs of one kind, the first of which has that number among those of its kind
 * (docs/formats/checksum.md), add to the checksum of a run: parts of a run, each with its own numbers, add up
 * to it. */
SLC_API uint64_t slc_pet_pairs_checksum(const slc_pet_coincidences *pairs, bool delayed, uint64_t number);

typedef struct slc_pet_chain slc_pet_chain;
SLC_API slc_status slc_pet_chain_open(const slc_pet_config *config, const slc_pet_tables *tables,
                                      slc_pet_chain **chain, slc_error *error);
SLC_API void slc_pet_chain_close(slc_pet_chain *chain); /* NULL is allowed */
/* received_ns: as of slc_pet_convert_run; may be NULL. */
SLC_API slc_status slc_pet_chain_run(slc_pet_chain *chain, const slc_pet_frame *frames,
                                     const uint64_t *received_ns, size_t n, bool last, slc_pet_result *result,
                                     slc_error *error);
SLC_API void slc_pet_chain_totals(const slc_pet_chain *chain, slc_pet_totals *totals);

/* ---- pairs in order ---------------------------------------------------------------------------- */

/* The chain gives prompts, then delayeds, of windows that are complete, and those of delayed windows, which
 * reach farther, come later. This puts them into the order of their times, prompts before delayeds of one
 * time; the order does not depend on batches. Pairs wait until nothing that comes can be before them: until
 * both stages have given later ones, or there was a gap between singles that no window reaches over. */
typedef struct slc_pet_pairs slc_pet_pairs;
/* `config` is the chain's: its window and delay. */
SLC_API slc_status slc_pet_pairs_open(const slc_pet_config *config, slc_pet_pairs **pairs, slc_error *error);
SLC_API void slc_pet_pairs_close(slc_pet_pairs *pairs); /* NULL is allowed */
/* Takes the pairs of a result, whose singles were kept (slc_pet_config.keep_singles), and appends to `out`
 * those that are due; with `last`, all. SLC_ERR_MEMORY: the stage can only be closed. */
SLC_API slc_status slc_pet_pairs_add(slc_pet_pairs *pairs, const slc_pet_result *result, bool last,
                                     slc_pet_coincidences *out, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
