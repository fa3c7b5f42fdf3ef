/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice pet run`: its options, its job, and the parts of the work.
 * cmd_pet_run.c          options; how a run begins and ends
 * cmd_pet_run_flow.c     the loop over batches of frames
 * cmd_pet_run_output.c   what is written
 * cmd_pet_run_print.c    what is told
 */
#ifndef SLUICE_CMD_PET_RUN_H
#define SLUICE_CMD_PET_RUN_H

#include "cmd_pet_frames.h"

#include <sluice/sluice.h>

typedef struct slc_pet_run_options {
    slc_pet_frame_words frames;
    slc_pet_coincidence_words words; /* offset stays NULL */
    const char *delayed, *horizon, *device;
    const char *output, *format, *tof, *singles, *late, *sinogram, *rates, *rate_plot, *bin, *dead_time;
    uint64_t ring_difference, tangential, batch, threads;
    bool prompts, rebin, subtract, paralysable, json, quiet;
} slc_pet_run_options;

enum {
    SLC_PET_RUN_CSV = SLC_IO_PET_LIST_FORMATS, /* behind the formats of io_pet.h */
    SLC_PET_RUN_FORMATS,
    SLC_PET_RUN_SLOTS = 3
};

/* A batch on its way: frames that were read, and what the chain made of them. */
typedef struct slc_pet_run_slot {
    slc_pet_frame *frames;
    size_t n;
    slc_pet_result result;
    slc_pet_totals totals; /* of the chain behind it */
} slc_pet_run_slot;

typedef struct slc_pet_run_job {
    const char *command; /* that tells of outputs; NULL: "pet run" */
    const slc_pet_run_options *options;
    slc_pet_config config;
    slc_pet_tables tables;
    bool owned; /* the tables' memory */
    int format; /* of the coincidences */
    double tof_ns;
    double bin_s, dead_time_ns;
    slc_pet_inputs inputs;
    slc_pet_chain *chain;
    slc_pet_run_slot slot[SLC_PET_RUN_SLOTS];
    /* outputs; NULL where not wanted, or not begun */
    slc_run_pet_pairs *order;
    slc_pet_coincidences due; /* pairs in order */
    slc_io_pet_list_writer *list;
    slc_io_text_writer *csv;
    slc_io_pet_singles_writer *singles, *late;
    slc_io_pet_sinogram *sinogram;
    slc_run_pet_rates *rates; /* NULL also where they were given up: */
    slc_error rates_error;
    bool started; /* a single has come: */
    int64_t start_ps;
    /* what is told */
    slc_pet_totals totals;
    slc_faults faults; /* of frames */
    double seconds[SLC_PET_STAGES], seconds_total;
    uint64_t written, left_out; /* pairs of the list */
    uint64_t sinogram_in, sinogram_outside;
    slc_cli_progress progress;
    bool failed; /* an output, or an input */
    slc_error error;
} slc_pet_run_job;

/* ---- cmd_pet_run_output.c ---------------------------------------------------------------------- */

/* "castor" … "hdf5", "csv"; NULL beyond. */
const char *slc_pet_run_format_name(size_t i);
/* The format that a name's end tells, SLC_PET_RUN_FORMATS where it tells none. */
int slc_pet_run_format_of(const char *name);
bool slc_pet_run_format_has_delayeds(int format);

/* Outputs whose names are wrong, or whose limits the scanner is beyond, are told here as far as possible. */
slc_status slc_pet_run_outputs_open(slc_pet_run_job *job);
/* A result of the chain; `last` behind all frames. */
slc_status slc_pet_run_outputs_take(slc_pet_run_job *job, const slc_pet_run_slot *slot, bool last);
/* Each output stands for itself: what cannot be completed is told, and the others are. */
void slc_pet_run_outputs_finish(slc_pet_run_job *job);
void slc_pet_run_outputs_abandon(slc_pet_run_job *job);

/* ---- cmd_pet_run_flow.c ------------------------------------------------------------------------ */

/* All inputs through the chain to the outputs. SLC_END where a signal ended it. */
slc_status slc_pet_run_flow(slc_pet_run_job *job);

/* ---- cmd_pet_run_print.c ----------------------------------------------------------------------- */

void slc_pet_run_print_text(const slc_pet_run_job *job);
bool slc_pet_run_print_json(const slc_pet_run_job *job);

#endif
