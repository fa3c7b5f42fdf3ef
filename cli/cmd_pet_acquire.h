/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice pet acquire`: its options and its job.
 * cmd_pet_acquire.c         options, and how an acquisition begins and ends
 * cmd_pet_acquire_print.c   what is told while it runs and at its end
 */
#ifndef SLUICE_CMD_PET_ACQUIRE_H
#define SLUICE_CMD_PET_ACQUIRE_H

#include "cmd_pet_run.h"

#include <sluice/run_pet.h>

typedef struct slc_pet_acquire_options {
    slc_cli_texts listen;
    const char *output, *duration, *rotate_size, *rotate_time, *sequence, *ring, *socket_buffer;
    slc_pet_frame_words frames;
    slc_pet_coincidence_words words; /* offset stays NULL */
    const char *delayed, *horizon, *singles, *coincidences, *format;
    uint64_t header_bytes, most_frames, threads;
    bool sync, replace, prompts, progress, json, quiet;
} slc_pet_acquire_options;
_Static_assert(sizeof(slc_pet_acquire_options) <= SLC_CLI_OPTIONS_BYTES, "the help needs room for them");

enum { SLC_PET_ADDRESS = 96 };

typedef struct slc_pet_acquire_job {
    const slc_pet_acquire_options *options;
    char word[SLC_RUN_PET_SOCKETS][SLC_PET_ADDRESS];    /* as they were given */
    char address[SLC_RUN_PET_SOCKETS][SLC_PET_ADDRESS]; /* where it listens */
    slc_run_pet_config config;
    slc_run_pet_counts counts;
    /* The live chain and its outputs, which are those of `pet run`. */
    slc_pet_run_options run_options;
    slc_pet_run_job run;
    bool live_failed; /* its outputs; told already */
    bool shows_line, line_is_shown;
    uint64_t shown_frames, shown_bytes;
    double shown_seconds;
    slc_error error;
} slc_pet_acquire_job;

/* A line of numbers about the last second. */
void slc_pet_acquire_show(slc_pet_acquire_job *job, const slc_run_pet_counts *counts);
void slc_pet_acquire_wipe(slc_pet_acquire_job *job);
void slc_pet_acquire_print_text(const slc_pet_acquire_job *job);
bool slc_pet_acquire_print_json(const slc_pet_acquire_job *job);

#endif
