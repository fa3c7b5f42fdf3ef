/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice hlt1`: its options, its running totals, and the steps it is made of.
 * cmd_hlt1.c          options, opening and closing, exit status
 * cmd_hlt1_display.c  the event that the report draws, and the report
 * cmd_hlt1_flow.c     what is done with results
 * cmd_hlt1_print.c    what it prints
 */
#ifndef SLUICE_CMD_HLT1_H
#define SLUICE_CMD_HLT1_H

#include "cli_identity.h"
#include "cli_options.h"
#include "cli_part.h"
#include "cli_results.h"
#include "cli_serve.h"
#include "cli_talk.h"
#include "cli_tree.h"

#include <sluice/sluice.h>

#include <jansson.h>

typedef struct slc_hlt1_options {
    const char *geometry, *output, *report, *display, *lines, *network, *write_accepted;
    slc_cli_results results;
    int settings;
    uint64_t threads, batch, gec;
    uint64_t display_event; /* with `display` */
    slc_cli_part part;
    slc_cli_serve serve;
    bool truth, strict, json, quiet, no_checksum, fast, decision_bank;
} slc_hlt1_options;

/* Rows of each kind, in all and (with --json) of each event. */
typedef enum slc_hlt1_rows {
    SLC_HLT1_ROWS_CLUSTERS = 0,
    SLC_HLT1_ROWS_TRACKS,
    SLC_HLT1_ROWS_PRIMARIES,
    SLC_HLT1_ROWS_UT,
    SLC_HLT1_ROWS_SCIFI,
    SLC_HLT1_ROWS_MUON,
    SLC_HLT1_ROWS_UPSTREAM,
    SLC_HLT1_ROWS_LONG,
    SLC_HLT1_ROWS_PAIRS,
    SLC_HLT1_ROWS
} slc_hlt1_rows;

typedef struct slc_hlt1_totals {
    uint64_t events, lost_events, incomplete_events, cut_events;
    uint64_t retina_events; /* whose VELO hits are the read-out's clusters */
    uint64_t rows[SLC_HLT1_ROWS];
    json_t *of_event[SLC_HLT1_ROWS];                                  /* NULL without --json */
    uint64_t accepted, limited, written, of_line[SLC_VELO_MAX_LINES]; /* events, with --lines */
    uint64_t checksum;
    double seconds[SLC_HLT1_STAGES], seconds_total;
    slc_faults faults;
} slc_hlt1_totals;

/* A copy of the event that the report draws. */
typedef struct slc_hlt1_drawing {
    slc_hlt1_result result;
    int32_t *particle; /* of long tracks, with --truth; NULL: not known */
    uint64_t number;
    bool filled, final; /* final: a later event does not replace it */
} slc_hlt1_drawing;

typedef struct slc_hlt1_job {
    slc_hlt1_options *options;
    slc_hlt1_config config;
    slc_velo_config velo;
    slc_hlt1_geometry *geometry;
    slc_hlt1_lines lines;     /* with --lines */
    slc_hlt1_network network; /* and the folder's, or --network */
    slc_flow_hlt1_setup setup;
    slc_flow *flow;
    slc_hlt1_check check;
    slc_hlt1_watch watch;             /* of the input at hand */
    slc_cli_tree doubts;              /* of all inputs, as they are in the JSON */
    slc_faults input_faults;          /* of the input at hand */
    uint64_t input_hits[3];           /* of UT, SciFi and muon stations in it */
    uint64_t input_cut, input_retina; /* events that were cut; whose VELO hits are the read-out's */
    uint64_t input_particles;
    slc_io_writer *results;  /* NULL without -o */
    slc_io_writer *accepted; /* NULL without --write-accepted */
    slc_cli_identity identity;
    slc_cli_identity_from input_identity; /* of the input at hand */
    char **inputs;                        /* the operands */
    int n_inputs;
    slc_hlt1_totals totals;
    slc_hlt1_drawing drawing; /* empty without --report */
    slc_cli_progress progress;
    slc_cli_page page;
    slc_error error;
    bool failed, useful, partial, live;
} slc_hlt1_job;

const char *slc_hlt1_settings_name(int settings);

/* What is not done as the folder lacks a file, and looks in the results as if there were nothing. */
typedef struct slc_hlt1_undone {
    const char *what, *why;
} slc_hlt1_undone;
enum { SLC_HLT1_UNDONE = 3 };
/* Returns how many. */
size_t slc_hlt1_not_done(const slc_hlt1_job *job, slc_hlt1_undone undone[SLC_HLT1_UNDONE]);

/* Takes all that the flow has. False if the run cannot go on, which has been told, or where a signal came. */
bool slc_hlt1_job_run(slc_hlt1_job *job);
/* Appends a result to the output file; with none, creates its groups. */
bool slc_hlt1_job_append(slc_hlt1_job *job, const slc_flow_hlt1_result *result);

/* Keeps an event of the batch for the report, if it is the one; before the batch is added to the totals. */
bool slc_hlt1_drawing_take(slc_hlt1_job *job, const slc_hlt1_result *from);
void slc_hlt1_drawing_clear(slc_hlt1_drawing *drawing);
/* False, after a line, if it could not be written or the event that was asked for did not come. */
bool slc_hlt1_write_report(slc_hlt1_job *job, const char *title, const char *command_line);

/* A table or the JSON object; false, after a line, if it could not be made. */
bool slc_hlt1_print(slc_hlt1_job *job);

#endif
