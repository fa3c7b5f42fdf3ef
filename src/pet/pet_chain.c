/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain: the stages in order. A newcomer starts here.
 *
 *     frames ─convert─► singles, nearly in order ─sort─► singles in order ─┬─coincidence─► prompts
 *                                                     └► late              └─coincidence─► delayeds
 */
#include "base/columns.h"
#include "pet/pet_chain_core.h"
#include "pet/pet_chain_cuda.h"
#include "pet/pet_team.h"

#include <sluice/cuda.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_THREADS = 64 }; /* as of the stages */

struct slc_pet_chain {
    slc_pet_config config;
    slc_pet_convert *convert;
    slc_pet_sort *sort;
    slc_pet_coincidence *prompt, *delayed; /* delayed: NULL where it is not wanted */
    slc_team *team;                        /* of all stages; NULL with one thread */
    slc_pet_cuda_chain *cuda;              /* NULL on the processor */
    slc_pet_singles singles, sorted;       /* sorted: where the caller does not keep them */
    uint64_t checksum, rows[2];            /* rows: prompts, delayeds */
};

void slc_pet_config_default(slc_pet_config *config)
{
    *config = (slc_pet_config){.delay_ns = 100, .threads = 1};
    slc_pet_convert_config_default(&config->convert);
    slc_pet_sort_config_default(&config->sort);
    slc_pet_coincidence_config_default(&config->prompt);
}

void slc_pet_result_clear(slc_pet_result *result)
{
    slc_columns_clear(&slc_pet_singles_schema, &result->singles);
    slc_columns_clear(&slc_pet_singles_schema, &result->late);
    slc_columns_clear(&slc_pet_coincidences_schema, &result->pairs);
    *result = (slc_pet_result){0};
}

/* ---- opening ----------------------------------------------------------------------------------- */

static slc_status open_stages(slc_pet_chain *chain, const slc_pet_tables *tables, slc_error *error)
{
    slc_pet_config *c = &chain->config;
    c->convert.threads = c->sort.threads = c->prompt.threads = c->threads;
    slc_status status = slc_pet_convert_open(&c->convert, tables, &chain->convert, error);
    if (status == SLC_OK) {
        status = slc_pet_sort_open(&c->sort, &chain->sort, error);
    }
    if (status == SLC_OK) {
        status = slc_pet_coincidence_open(&c->prompt, &chain->prompt, error);
    }
    if (status == SLC_OK && c->delayed) {
        slc_pet_coincidence_config delayed = c->prompt;
        delayed.offset_ns = c->delay_ns;
        status = slc_pet_coincidence_open(&delayed, &chain->delayed, error);
    }
    return status;
}

static slc_status share_threads(slc_pet_chain *chain, slc_error *error)
{
    const uint32_t threads = chain->config.threads == 0 ? slc_team_processors() : chain->config.threads;
    if (threads == 1) {
        return SLC_OK;
    }
    if (slc_team_open(threads < MOST_THREADS ? threads : MOST_THREADS, &chain->team) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain with %u threads", threads);
    }
    slc_pet_convert_use(chain->convert, chain->team);
    slc_pet_sort_use(chain->sort, chain->team);
    slc_pet_coincidence_use(chain->prompt, chain->team);
    if (chain->delayed != NULL) {
        slc_pet_coincidence_use(chain->delayed, chain->team);
    }
    return SLC_OK;
}

static slc_status check(const slc_pet_config *config, slc_error *error)
{
    if (config->prompt.offset_ns > 0) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "prompt: an offset of %g ns; delayed pairs have a stage of their own",
                        config->prompt.offset_ns);
    }
    if (config->delayed && !(config->delay_ns > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "delay: %g ns is not above 0", config->delay_ns);
    }
    return SLC_OK;
}

slc_status slc_pet_chain_open(const slc_pet_config *config, const slc_pet_tables *tables, slc_pet_chain **out,
                              slc_error *error)
{
    *out = NULL;
    slc_status status = check(config, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_chain *chain = calloc(1, sizeof *chain);
    if (chain == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain");
    }
    chain->config = *config;
    chain->config.device = NULL; /* the caller's word */
    chain->checksum = SLC_CHECKSUM_START;
    if (config->device == NULL || strcmp(config->device, "cpu") == 0) {
        status = open_stages(chain, tables, error);
        status = status == SLC_OK ? share_threads(chain, error) : status;
    } else {
        uint32_t device = 0;
        status = slc_cuda_choose(config->device, &device, error);
        if (status == SLC_OK) {
            status = slc_pet_cuda_open(config, tables, device, &chain->cuda, error);
        }
    }
    if (status != SLC_OK) {
        slc_pet_chain_close(chain);
        return status;
    }
    *out = chain;
    return SLC_OK;
}

void slc_pet_chain_close(slc_pet_chain *chain)
{
    if (chain == NULL) {
        return;
    }
    slc_pet_convert_close(chain->convert);
    slc_pet_sort_close(chain->sort);
    slc_pet_coincidence_close(chain->prompt);
    slc_pet_coincidence_close(chain->delayed);
    slc_team_close(chain->team);
    slc_pet_cuda_close(chain->cuda);
    slc_columns_clear(&slc_pet_singles_schema, &chain->singles);
    slc_columns_clear(&slc_pet_singles_schema, &chain->sorted);
    free(chain);
}

/* ---- a run ------------------------------------------------------------------------------------- */

static slc_status run_stages(slc_pet_chain *chain, const slc_pet_frame *frames, size_t n, bool last,
                             slc_pet_result *result, slc_error *error)
{
    slc_pet_singles *sorted = chain->config.keep_singles ? &result->singles : &chain->sorted;
    double at = slc_clock_seconds();
    slc_columns_reset(&chain->singles);
    slc_columns_reset(sorted);
    slc_status status = slc_pet_convert_run(chain->convert, frames, n, &chain->singles, &result->faults,
                                            error);
    double now = slc_clock_seconds();
    result->seconds[SLC_PET_STAGE_CONVERT] = now - at;
    at = now;
    if (status == SLC_OK) {
        status = slc_pet_sort_run(chain->sort, &chain->singles, last, sorted, &result->late, error);
        now = slc_clock_seconds();
        result->seconds[SLC_PET_STAGE_SORT] = now - at;
        at = now;
    }
    if (status == SLC_OK) {
        status = slc_pet_coincidence_run_pairs(chain->prompt, sorted, last, &result->pairs, error);
    }
    if (status == SLC_OK && chain->delayed != NULL) {
        status = slc_pet_coincidence_run_pairs(chain->delayed, sorted, last, &result->pairs, error);
    }
    result->seconds[SLC_PET_STAGE_COINCIDENCE] = slc_clock_seconds() - at;
    return status;
}

static void add_checksum(slc_pet_chain *chain, const slc_pet_coincidences *pairs)
{
    for (size_t i = 0; i < pairs->head.size; i++) {
        const uint8_t delayed = pairs->delayed[i];
        const uint32_t crystals[2] = {pairs->crystal1[i], pairs->crystal2[i]};
        uint32_t energies[2];
        memcpy(&energies[0], &pairs->energy1_kev[i], sizeof energies[0]);
        memcpy(&energies[1], &pairs->energy2_kev[i], sizeof energies[1]);
        chain->checksum += slc_pet_pair_sum(chain->rows[delayed]++, delayed, pairs->time_ps[i],
                                            pairs->dt_ps[i], crystals, energies);
    }
}

slc_status slc_pet_chain_run(slc_pet_chain *chain, const slc_pet_frame *frames, size_t n, bool last,
                             slc_pet_result *result, slc_error *error)
{
    slc_columns_reset(&result->singles);
    slc_columns_reset(&result->late);
    slc_columns_reset(&result->pairs);
    slc_faults_reset(&result->faults);
    memset(result->seconds, 0, sizeof result->seconds);
    if (chain->cuda != NULL) { /* which sums up on the device */
        return slc_pet_cuda_run(chain->cuda, frames, n, last, result, error);
    }
    const slc_status status = run_stages(chain, frames, n, last, result, error);
    if (status == SLC_OK) {
        add_checksum(chain, &result->pairs);
    }
    return status;
}

void slc_pet_chain_totals(const slc_pet_chain *chain, slc_pet_totals *totals)
{
    *totals = (slc_pet_totals){0};
    if (chain->cuda != NULL) {
        slc_pet_cuda_totals(chain->cuda, totals);
    } else {
        slc_pet_convert_counts_of(chain->convert, &totals->convert);
        slc_pet_sort_counts_of(chain->sort, &totals->sort);
        slc_pet_coincidence_counts_of(chain->prompt, &totals->prompt);
        if (chain->delayed != NULL) {
            slc_pet_coincidence_counts_of(chain->delayed, &totals->delayed);
        }
    }
    totals->checksum += chain->checksum;
}
