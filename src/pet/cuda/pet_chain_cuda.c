/* SPDX-License-Identifier: Apache-2.0
 * The chain on a GPU: opening, closing, totals. pet_chain_cuda_run.c is how it runs. */
#include "pet/cuda/pet_chain_cuda_job.h"

#include <stdlib.h>

enum { PIECE = 1 << 21, MOST_THREADS = 9 };

static slc_status open_slots(slc_pet_cuda_chain *chain, slc_error *error)
{
    slc_status status = SLC_OK;
    for (int i = 0; i < SLC_PET_CUDA_SLOTS && status == SLC_OK; i++) {
        status = slc_cuda_event_open(chain->up, &chain->input[i].arrived, error);
        if (status == SLC_OK) {
            status = slc_cuda_event_open(chain->compute, &chain->output[i].packed, error);
        }
        if (status == SLC_OK) {
            status = slc_cuda_event_open(chain->down, &chain->output[i].landed, error);
        }
    }
    return status;
}

static slc_status open_streams(slc_pet_cuda_chain *chain, uint32_t device, slc_error *error)
{
    slc_status status = slc_cuda_stream_open(device, &chain->up, error);
    status = status == SLC_OK ? slc_cuda_stream_open(device, &chain->compute, error) : status;
    status = status == SLC_OK ? slc_cuda_stream_open(device, &chain->down, error) : status;
    status = status == SLC_OK ? slc_cuda_rows_open(chain->up, 4, &chain->copies, error) : status;
    status = status == SLC_OK ? open_slots(chain, error) : status;
    if (status == SLC_OK) {
        status = slc_cuda_memory_reserve(chain->compute, &chain->sum, sizeof(unsigned long long),
                                         "a checksum", error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_fill(chain->compute, chain->sum.at, 0, sizeof(unsigned long long), error);
    }
    if (status == SLC_OK) {
        status = slc_cuda_pinned_reserve(chain->compute, &chain->sum_host, sizeof(unsigned long long),
                                         "a checksum", error);
    }
    if (status == SLC_OK) {
        *(unsigned long long *)chain->sum_host.at = 0;
    }
    return status;
}

static slc_status open_stages(slc_pet_cuda_chain *chain, const slc_pet_tables *tables, slc_error *error)
{
    const slc_pet_config *c = &chain->config;
    slc_status status = slc_pet_convert_cuda_open(&c->convert, tables, chain->compute, &chain->convert,
                                                  error);
    if (status == SLC_OK) {
        status = slc_pet_sort_cuda_open(&c->sort, SLC_PET_SORT_NEAR, chain->compute, &chain->sort, error);
    }
    if (status == SLC_OK) {
        status = slc_pet_coincidence_cuda_open(&c->prompt, chain->compute, &chain->prompt, error);
    }
    if (status == SLC_OK && c->delayed) {
        slc_pet_coincidence_config delayed = c->prompt;
        delayed.offset_ns = c->delay_ns;
        status = slc_pet_coincidence_cuda_open(&delayed, chain->compute, &chain->delayed, error);
    }
    return status;
}

slc_status slc_pet_cuda_open(const slc_pet_config *config, const slc_pet_tables *tables, uint32_t device,
                             slc_pet_cuda_chain **out, slc_error *error)
{
    *out = NULL;
    slc_pet_cuda_chain *chain = calloc(1, sizeof *chain);
    if (chain == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a PET chain on a GPU");
    }
    chain->config = *config;
    chain->piece = PIECE;
    const uint32_t processors = slc_team_processors();
    slc_status status = slc_team_open(processors < MOST_THREADS ? processors : MOST_THREADS, &chain->team);
    if (status != SLC_OK) {
        free(chain);
        return slc_fail(error, status, "no threads for a PET chain on a GPU");
    }
    status = slc_pet_clock_open(&config->convert, &tables->geometry, &chain->clock, error);
    status = status == SLC_OK ? open_streams(chain, device, error) : status;
    status = status == SLC_OK ? open_stages(chain, tables, error) : status;
    if (status != SLC_OK) {
        slc_pet_cuda_close(chain);
        return status;
    }
    *out = chain;
    return SLC_OK;
}

void slc_pet_cuda_close(slc_pet_cuda_chain *chain)
{
    if (chain == NULL) {
        return;
    }
    slc_cuda_rows_close(chain->copies);
    slc_pet_clock_close(chain->clock);
    slc_pet_convert_cuda_close(chain->convert);
    slc_pet_sort_cuda_close(chain->sort);
    slc_pet_coincidence_cuda_close(chain->prompt);
    slc_pet_coincidence_cuda_close(chain->delayed);
    for (int i = 0; i < SLC_PET_CUDA_SLOTS; i++) {
        slc_cuda_event_close(chain->input[i].arrived);
        slc_cuda_event_close(chain->output[i].packed);
        slc_cuda_event_close(chain->output[i].landed);
        slc_cuda_memory_clear(&chain->input[i].memory);
        slc_cuda_memory_clear(&chain->output[i].device);
        slc_cuda_memory_clear(&chain->output[i].host);
    }
    slc_cuda_memory_clear(&chain->sum);
    slc_cuda_memory_clear(&chain->sum_host);
    slc_cuda_stream_close(chain->up);
    slc_cuda_stream_close(chain->compute);
    slc_cuda_stream_close(chain->down);
    slc_team_close(chain->team);
    slc_columns_clear(&slc_pet_coincidences_schema, &chain->later);
    free(chain);
}

void slc_pet_cuda_cut(slc_pet_cuda_chain *chain, size_t frames)
{
    chain->piece = frames > 0 ? frames : PIECE;
}

void slc_pet_cuda_totals(const slc_pet_cuda_chain *chain, slc_pet_totals *totals)
{
    *totals = (slc_pet_totals){0};
    slc_pet_convert_cuda_counts_of(chain->convert, &totals->convert);
    if (chain->clock != NULL) {
        slc_pet_clock_counts(chain->clock, &totals->convert);
    }
    slc_pet_sort_cuda_counts_of(chain->sort, &totals->sort);
    slc_pet_coincidence_cuda_counts_of(chain->prompt, &totals->prompt);
    if (chain->delayed != NULL) {
        slc_pet_coincidence_cuda_counts_of(chain->delayed, &totals->delayed);
    }
    totals->checksum = *(const unsigned long long *)chain->sum_host.at;
}

const struct slc_pet_cuda_calls slc_pet_cuda_calls = {slc_pet_cuda_open, slc_pet_cuda_close, slc_pet_cuda_run,
                                                      slc_pet_cuda_totals};

const struct slc_pet_stage_calls slc_pet_stage_calls = {
    slc_pet_convert_cuda_open,
    slc_pet_convert_cuda_close,
    slc_pet_convert_cuda_run,
    slc_pet_sort_method_name,
    slc_pet_sort_cuda_open,
    slc_pet_sort_cuda_close,
    slc_pet_sort_cuda_run,
    slc_pet_sort_cuda_all,
    slc_pet_sort_cuda_counts_of,
    slc_pet_coincidence_cuda_open,
    slc_pet_coincidence_cuda_close,
    slc_pet_coincidence_cuda_run,
    slc_pet_coincidence_cuda_run_pairs,
};
