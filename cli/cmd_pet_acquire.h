/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice pet acquire`: its options and its job.
 * cmd_pet_acquire.c         options, and how an acquisition begins and ends
 * cmd_pet_acquire_live.c    the outputs of the live chain, which are those of `pet run`
 * cmd_pet_acquire_print.c   what is told while it runs and at its end
 */
#ifndef SLUICE_CMD_PET_ACQUIRE_H
#define SLUICE_CMD_PET_ACQUIRE_H

#include "cmd_pet_run.h"

#include <stdatomic.h>

typedef struct slc_pet_acquire_options {
    slc_pet_run_options
        run; /* of the live chain; first, as rows of tables want it. Its output: --coincidences */
    slc_cli_texts listen;
    const char *output, *resume, *sequence, *tcp_length;
    double duration_ns, rotate_ns;
    uint64_t rotate_bytes, ring_bytes, socket_bytes; /* 0: as the acquisition has it */
    uint64_t header_bytes, most_frames, shards;
    bool timestamps, sync, replace, progress, tolerate_loss, json, quiet;
} slc_pet_acquire_options;
_Static_assert(offsetof(slc_pet_acquire_options, run) == 0, "rows of slc_pet_run_options are used");
_Static_assert(sizeof(slc_pet_acquire_options) <= SLC_CLI_OPTIONS_BYTES, "the help needs room for them");

enum { SLC_PET_ADDRESS = 96 };

typedef struct slc_pet_acquire_job {
    const slc_pet_acquire_options *options;
    char word[SLC_DAQ_PET_SOCKETS][SLC_PET_ADDRESS];    /* as they were given */
    char address[SLC_DAQ_PET_SOCKETS][SLC_PET_ADDRESS]; /* where it listens */
    slc_pet_frame_words words;                          /* of the options, with the format that is used */
    slc_io_pet_raw *resumed;                            /* --continue, whose format it may be */
    slc_daq_pet_config config;
    slc_daq_pet_counts counts;
    slc_pet_run_job run;     /* the live chain and its outputs, of its thread until the acquisition ends */
    bool began;              /* it listens */
    bool has_last;           /* its last result has been taken */
    atomic_uint failures;    /* of its outputs, in run.failure; these are there for all threads: */
    atomic_bool live_failed; /* no output is left */
    uint32_t told_failures;
    atomic_bool ending;    /* nothing waits any longer for a pipe's reader */
    const char *told_pipe; /* that nobody reads yet */
    int held_pipe;         /* --output, which has a reader; -1: none, or opened */
    bool ending_is_told, file_is_told;
    bool shows_line, line_is_shown;
    uint64_t shown_frames, shown_bytes;
    double shown_seconds;
    slc_error error;
} slc_pet_acquire_job;

/* ---- cmd_pet_acquire_live.c -------------------------------------------------------------------- */

/* A result of the chain, in its thread. */
bool slc_pet_acquire_live(void *job, const slc_pet_batch *batch);
/* Tells each failure of its outputs, once. */
void slc_pet_acquire_tell_failures(slc_pet_acquire_job *job);
/* Has all that came gone through the chain? After the acquisition. */
bool slc_pet_acquire_is_complete(const slc_pet_acquire_job *job);
/* After the acquisition: completes the outputs, and marks those that lack what the chain had no time for.
 * False if one of them failed. */
bool slc_pet_acquire_finish(slc_pet_acquire_job *job);

/* ---- cmd_pet_acquire_print.c ------------------------------------------------------------------- */

/* What the page shows. */
slc_live_pet_state slc_pet_acquire_state(const slc_pet_acquire_job *job, const slc_daq_pet_counts *counts);
/* A line of numbers about the last second, and what else a person should know now. */
bool slc_pet_acquire_tell(void *job, const slc_daq_pet_counts *counts);
void slc_pet_acquire_wipe(slc_pet_acquire_job *job);
/* Tells what was lost, under --quiet, too. False: so much that the exit status is 1. */
bool slc_pet_acquire_tell_losses(const slc_pet_acquire_job *job);
/* The table, with --json the object, with --quiet neither. False, after a line, if it could not be made. */
bool slc_pet_acquire_print(const slc_pet_acquire_job *job);

#endif
