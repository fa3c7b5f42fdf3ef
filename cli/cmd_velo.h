/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice velo`: its options, its running totals, and the steps it is made of.
 * cmd_velo.c      options, opening and closing, exit status
 * cmd_velo_job.c  the loop over inputs and batches
 * cmd_velo_print.c, cmd_velo_json.c   what it prints
 */
#ifndef SLUICE_CMD_VELO_H
#define SLUICE_CMD_VELO_H

#include "cli_talk.h"

#include <sluice/sluice.h>

#include <jansson.h>

typedef struct slc_velo_options {
    const char *geometry, *table, *report, *output;
    uint64_t candidates, max_layer_hits, batch;
    double max_scatter_seeding, max_scatter_extending, max_scatter_3hits;
    bool truth, strict, json, quiet;
} slc_velo_options;

/* A batch also ends at so many bytes, so that memory is bounded whatever the events are. */
enum { SLC_VELO_BATCH_BYTES = 16 << 20 };

typedef struct slc_velo_totals {
    uint64_t events, lost_events;
    uint64_t superpixels, isolated, pixels, hits, tracks;
    uint64_t checksum;
    double seconds, seconds_total; /* in the chain; from the first input to the last */
    slc_faults faults;
    json_t *hits_per_event; /* NULL without --json: it is the one thing that grows with the input */
} slc_velo_totals;

typedef struct slc_velo_job {
    const slc_velo_options *options;
    slc_velo_chain *chain;
    slc_batch batch;
    slc_velo_result result;
    slc_velo_truth truth;
    slc_velo_matches matches;
    slc_velo_check check;
    slc_io_hdf5_writer *hdf5; /* NULL without -o */
    slc_velo_totals totals;
    slc_cli_progress progress;
    slc_error error;
    bool failed; /* an input was damaged or unreadable: exit status 1 */
} slc_velo_job;

/* Processes one input. False where the run cannot go on (strict, an output that cannot be written, no memory,
 * a signal); the reason has been told. */
bool slc_velo_job_input(slc_velo_job *job, const char *path);

/* Creates the groups of the result file, so that they are there however few events follow. */
bool slc_velo_job_open_output(slc_velo_job *job, const char *command_line);

void slc_velo_print_text(const slc_velo_job *job);
slc_status slc_velo_print_csv(const slc_velo_job *job, const char *path, slc_error *error);
bool slc_velo_print_json(slc_velo_job *job);

#endif
