/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice cms`: its options, its running totals, and the steps it is made of.
 * cmd_cms.c        options, opening and closing, exit status
 * cmd_cms_flow.c   the loop over inputs and batches, in threads
 * cmd_cms_print.c  what it prints
 */
#ifndef SLUICE_CMD_CMS_H
#define SLUICE_CMD_CMS_H

#include "cli_options.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

typedef struct slc_cms_options {
    const char *cabling, *gains, *device, *output, *table;
    int cut, duplicates;
    uint64_t phase, threads, batch, max_module_digis;
    double min_charge, min_charge_layer1; /* negative: the phase's own */
    bool truncate, strict, json, quiet;
} slc_cms_options;

/* A batch also ends at so many bytes, so that memory is bounded whatever the events are. */
enum { SLC_CMS_BATCH_BYTES = 64 << 20 };

typedef struct slc_cms_totals {
    uint64_t events, lost_events;
    slc_cms_word_counts words;
    slc_cms_calibrate_counts columns;
    uint64_t modules, clusters, pixels;
    uint64_t checksum;
    double seconds[SLC_CMS_STAGES], seconds_total;
    slc_faults faults;
} slc_cms_totals;

/* A batch under way: written by the reader, then by one worker, then read in order. */
typedef struct slc_cms_slot {
    slc_batch batch;
    slc_cms_result result;
    slc_faults reading;
    slc_status status;
    slc_error error;
} slc_cms_slot;

typedef struct slc_cms_job {
    const slc_cms_options *options;
    slc_run_pipeline_config pipeline;
    slc_cms_config config;
    slc_cms_cabling *cabling;
    slc_cms_gains gains;
    uint32_t n_workers, n_slots;
    slc_cms_chain **chains; /* one a worker */
    slc_cms_slot *slots;
    const char *path; /* the input at hand */
    slc_io_source *source;
    slc_faults input_faults, ending;
    struct slc_cms_input { /* what there was in it */
        uint64_t fragments, data, digis, beyond;
    } input;
    slc_status read_status;
    slc_error read_error;
    slc_io_hdf5_writer *hdf5;  /* NULL without -o */
    slc_io_text_writer *table; /* NULL without --table */
    slc_cms_totals totals;
    slc_cli_progress progress;
    slc_error error;
    bool told, failed;
    bool useful; /* an input had what is read here */
} slc_cms_job;

/* Slots, and the list of chains. */
slc_status slc_cms_job_open(slc_cms_job *job, slc_error *error);
/* What `begin` of a pipeline does: a chain for the worker. */
slc_status slc_cms_job_begin(void *job, uint32_t worker, slc_error *error);
void slc_cms_job_clear(slc_cms_job *job);
/* Processes one input. False where the run cannot go on; the reason has been told. */
bool slc_cms_job_input(slc_cms_job *job, const char *path);
/* Appends a result to the output file; with none, creates its groups. */
bool slc_cms_job_append(slc_cms_job *job, const slc_cms_result *result);

/* A table or the JSON object; false, after a line, if it could not be made. */
bool slc_cms_print(const slc_cms_job *job);

#endif
