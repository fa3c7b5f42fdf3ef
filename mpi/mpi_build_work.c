/* SPDX-License-Identifier: Apache-2.0
 * What a builder does with a pack: its events, then the VELO's chain over them, or a file of them. */
#include "mpi_build.h"

#include "cli_talk.h"

#include <stdlib.h>
#include <string.h>

enum { CHAIN_EVENTS = 256 }; /* at once: what belongs to them stays near the processor */

/* ---- output ------------------------------------------------------------------------------------ */

/* The name with this process's number in place of %p. */
static char *output_name(const slc_build_job *job)
{
    const char *name = job->options->output, *at = strstr(name, "%p");
    char number[16], last[16];
    const int width = snprintf(last, sizeof last, "%d", job->world.size - 1);
    (void)snprintf(number, sizeof number, "%0*d", width, job->world.rank);
    const size_t size = strlen(name) + sizeof number;
    char *made = malloc(size);
    if (made != NULL) {
        (void)snprintf(made, size, "%.*s%s%s", at != NULL ? (int)(at - name) : (int)strlen(name), name,
                       at != NULL ? number : "", at != NULL ? at + 2 : "");
    }
    return made;
}

static slc_status open_output(slc_build_job *job, slc_error *error)
{
    job->output = output_name(job);
    if (job->output == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a name");
    }
    const char *end = strrchr(job->output, '.');
    const bool packets = end != NULL && strcmp(end, ".mep") == 0;
    const slc_io_mdf_config config = {.packing = packets ? job->units.packs.packing : 0,
                                      .packets = packets ? SLC_IO_PACKETS_MFP : SLC_IO_PACKETS_2019};
    return slc_io_mdf_create(job->output, &config, &job->writer, error);
}

static slc_status gather(slc_build_job *job, const slc_batch *batch, uint32_t event, size_t *size,
                         slc_error *error)
{
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, event);
    slc_lhcb_bank bank;
    *size = 0;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        const size_t need = *size + slc_lhcb_bank_bound(bank.size);
        if (need > job->event_capacity) {
            uint8_t *larger = realloc(job->event, 2 * need);
            if (larger == NULL) {
                return slc_fail(error, SLC_ERR_MEMORY, "no memory for an event of %zu bytes", need);
            }
            job->event = larger;
            job->event_capacity = 2 * need;
        }
        *size += slc_lhcb_bank_write(job->event + *size, job->event_capacity - *size, bank.type, bank.version,
                                     bank.source, bank.payload, bank.size);
    }
    return SLC_OK;
}

static slc_status write_events(slc_build_job *job, const slc_batch *batch, slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t e = 0; e < batch->n_events && status == SLC_OK; e++) {
        size_t size;
        status = gather(job, batch, e, &size, error);
        status = status == SLC_OK ? slc_io_mdf_write(job->writer, job->event, size, error) : status;
    }
    return status;
}

/* ---- reconstruction ---------------------------------------------------------------------------- */

static void add(slc_build_totals *totals, const slc_velo_result *found)
{
    totals->superpixels += found->n_superpixels;
    totals->isolated += found->n_isolated;
    totals->pixels += found->n_pixels;
    totals->hits += found->hits.head.size;
    totals->tracks += found->tracks.head.size;
    totals->primaries += found->primaries.head.size;
    slc_faults_merge(&totals->faults, &found->faults);
}

static slc_status reconstruct(slc_build_job *job, const slc_batch *batch, slc_error *error)
{
    slc_status status = SLC_OK;
    for (uint32_t from = 0; from < batch->n_events && status == SLC_OK; from += CHAIN_EVENTS) {
        const uint32_t left = batch->n_events - from;
        slc_batch view = *batch;
        view.offset += from;
        view.length += from;
        view.file_offset += from;
        view.record += from;
        view.first_event += from;
        view.n_events = left < CHAIN_EVENTS ? left : CHAIN_EVENTS;
        status = slc_velo_chain_reserve(job->chain, &view, &job->result, error);
        status = status == SLC_OK ? slc_velo_chain_run(job->chain, &view, &job->result, error) : status;
        if (status == SLC_OK) {
            add(&job->totals, &job->result);
            job->totals.checksum += slc_velo_result_checksum(&job->result, view.first_event);
        }
    }
    return status;
}

slc_status slc_build_work(slc_build_job *job, slc_build_pull *pull, slc_error *error)
{
    slc_build_totals *totals = &job->totals;
    const double began = slc_clock_seconds(), cpu = slc_build_processor();
    slc_status status = slc_build_events(job, pull, error);
    const double built = slc_clock_seconds(), cpu_built = slc_build_processor();
    totals->building += built - began;
    totals->cpu_building += cpu_built - cpu;
    if (status == SLC_OK) {
        status = reconstruct(job, &pull->batch, error);
    }
    const double found = slc_clock_seconds();
    totals->velo += found - built;
    totals->cpu_velo += slc_build_processor() - cpu_built;
    if (status == SLC_OK && job->writer != NULL) {
        status = write_events(job, &pull->batch, error);
        totals->writing += slc_clock_seconds() - found;
    }
    return status;
}

/* ---- building ---------------------------------------------------------------------------------- */

slc_status slc_build_events(slc_build_job *job, slc_build_pull *pull, slc_error *error)
{
    const slc_build_packs *packs = &job->units.packs;
    const slc_build_exchange *x = &job->exchange;
    for (int r = 0; r < job->world.size; r++) {
        uint64_t n_served = 0, at = x->at[r], size = 0;
        for (uint32_t i = 0; i < job->units.n_all; i++) {
            n_served += job->units.all[i].rank == r;
        }
        const uint8_t *sizes = pull->batch.bytes + at;
        at += 8 * n_served;
        for (uint32_t i = 0; i < job->units.n_all; i++) {
            slc_build_unit *unit = &job->units.all[i];
            if (unit->rank != r) {
                continue;
            }
            if (pull->size[r] > 0) { /* else nothing of it came */
                memcpy(&size, sizes, 8);
                sizes += 8;
            }
            job->parts[i] = (slc_io_mfp_unit){.sources = unit->sources,
                                              .n_sources = unit->n_sources,
                                              .late = pull->state[r] == SLC_BUILD_LATE,
                                              .at = at,
                                              .size = size,
                                              .faults = &unit->faults};
            at += (size + 7) / 8 * 8;
        }
    }
    const slc_io_mfp_pack pack = {.event_id = packs->event_id + pull->pack * packs->packing,
                                  .first_event = pull->pack * packs->packing,
                                  .n_events = slc_build_events_of(packs, pull->pack),
                                  .n_units = job->units.n_all,
                                  .units = job->parts,
                                  .faults = &job->totals.faults};
    job->totals.events += pack.n_events;
    job->totals.packs++;
    return slc_io_mfp_build(&pack, &pull->batch, &job->totals.incomplete_events, error);
}

/* ---- opening ----------------------------------------------------------------------------------- */

slc_status slc_build_work_open(slc_build_job *job, slc_error *error)
{
    const slc_build_options *options = job->options;
    slc_velo_config_default(&job->config);
    slc_faults_reset(&job->totals.faults);
    job->parts = calloc((size_t)job->units.n_all + 1, sizeof *job->parts);
    slc_status status = job->parts != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for units");
    for (uint32_t i = 0; i < job->units.n_all; i++) {
        slc_faults_reset(&job->units.all[i].faults);
    }
    if (status == SLC_OK && options->config != NULL) {
        status = slc_io_velo_config_read(options->config, &job->config, error);
    }
    if (status == SLC_OK && options->geometry != NULL) {
        job->geometry = malloc(sizeof *job->geometry);
        status = job->geometry != NULL ? slc_io_read_velo_geometry(options->geometry, job->geometry, error)
                                       : slc_fail(error, SLC_ERR_MEMORY, "no memory for the geometry");
    }
    if (status == SLC_OK) {
        status = slc_simd_choose(NULL, &job->config.exec.target, error);
    }
    if (status == SLC_OK) {
        status = slc_velo_chain_open(&job->config, job->geometry, &job->chain, error);
    }
    if (status == SLC_OK && options->output != NULL) {
        status = open_output(job, error);
    }
    return status;
}

void slc_build_work_close(slc_build_job *job)
{
    slc_io_abandon(job->writer);
    slc_velo_chain_close(job->chain);
    slc_velo_result_clear(&job->result);
    free(job->geometry);
    free(job->output);
    free(job->event);
    free(job->parts);
}
