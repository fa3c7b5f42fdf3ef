/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice velo`: its options, its running totals, and the steps it is made of.
 * cmd_velo.c      opening and closing, exit status
 * cmd_velo_options.c   options, and the configuration that they make
 * cmd_velo_config.c   the settings in force, printed and kept with results
 * cmd_velo_flow.c the run, and what is done with results, in the order of the input
 * cmd_velo_beam.c where the beam line is, and whether the tracks agree
 * cmd_velo_display.c  the event that the report draws, and the report
 * cmd_velo_gec.c  what the global event cut leaves out
 * cmd_velo_monitor.c   what a shifter looks at
 * cmd_velo_page.c  the live page
 * cmd_velo_residuals.c  residuals and normal equations, for alignment
 * cmd_velo_select.c  which events a selection accepts
 * cmd_velo_time.c going through the events again for measuring, and where the time went
 * cmd_velo_tell.c, cmd_velo_print.c   what it says and prints
 */
#ifndef SLUICE_CMD_VELO_H
#define SLUICE_CMD_VELO_H

#include "cli_identity.h"
#include "cli_options.h"
#include "cli_part.h"
#include "cli_results.h"
#include "cli_serve.h"
#include "cli_talk.h"
#include "cli_tree.h"
#include "cmd_velo_select.h"

#include <sluice/sluice.h>

#include <jansson.h>

typedef struct slc_velo_options {
    const char *geometry, *beam, *table, *report, *output, *display, *select, *write_accepted, *monitor,
        *mask, *device, *wanted;
    slc_velo_config settings; /* as options have them; after slc_velo_options_config those in force */
    const char *config;       /* the file of settings, if any */
    const char *residuals;
    uint64_t display_event; /* of --display, if it was given */
    slc_cli_results results;
    uint64_t batch, threads, repeat, warmup;
    int preset, bind;
    slc_cli_part part;
    slc_cli_serve serve;
    bool fast, print_config, truth, impacts, strict, json, quiet, timing, no_checksum, decision_bank,
        monitor_pixels;
} slc_velo_options;

/* The table of options for the command's row and its defaults. */
enum { SLC_VELO_OPTIONS = 69 + SLC_CLI_SERVE_ROWS };
extern const slc_cli_option slc_velo_options_table[SLC_VELO_OPTIONS];
void slc_velo_options_defaults(void *options);
/* The chain's configuration but for its target: the preset, over it the file, over both the options.
 * SLC_CLI_GO_ON, or another status after one line. */
int slc_velo_options_config(slc_velo_options *options, slc_velo_config *config);
const char *slc_velo_preset_name(int preset);
/* Which configuration of the track search it is: "default: local, …", and all its numbers. */
void slc_velo_config_text(const slc_velo_track_config *track, char *text, size_t size);
void slc_velo_config_put(const slc_velo_track_config *track, slc_cli_tree *tree);

/* What the global event cut came to. */
enum { SLC_VELO_GEC_LIMITS = 4 };
typedef struct slc_velo_gec {
    uint64_t events, cut;                   /* with banks; of these left out */
    uint64_t by[SLC_VELO_GEC_LIMITS];       /* in the order of the bits; one event may be in several */
    uint64_t clusters[SLC_VELO_GEC_LIMITS]; /* of all events */
} slc_velo_gec;

typedef struct slc_velo_totals {
    uint64_t events, lost_events, incomplete_events;
    uint64_t superpixels, isolated, pixels, hits, tracks, primaries;
    uint64_t masked;      /* pixels, or clusters of the read-out, that --mask left out */
    uint64_t cut_events;  /* larger than --max-event-hits */
    uint64_t left_events; /* that a GPU left to the processor */
    uint64_t superpixel_events,
        retina_events; /* whose hits are of super-pixels; of the read-out's clusters */
    uint64_t checksum;
    double seconds, seconds_total; /* in the chain; from the first input to the last */
    slc_velo_gec gec;
    slc_faults faults;
    json_t *hits_per_event; /* NULL without --json: it is the one thing that grows with the input */
} slc_velo_totals;

/* Where time goes, besides the stages of the chain. */
typedef enum slc_velo_time {
    SLC_VELO_TIME_READ = SLC_VELO_STAGES, /* bytes to batches */
    SLC_VELO_TIME_FINISH,                 /* verifying checksums, expanding what is compressed */
    SLC_VELO_TIME_CHECKSUM,               /* of the results */
    SLC_VELO_TIME_TRUTH,                  /* decoding truth */
    SLC_VELO_TIME_CHECK,                  /* comparing with it */
    SLC_VELO_TIME_WRITE,                  /* outputs and totals */
    SLC_VELO_TIMES
} slc_velo_time;

/* How far a run was when a batch was through. Marks are kept for an even choice of batches, so that memory
 * does not grow with the input. */
typedef struct slc_velo_mark {
    double seconds;
    uint64_t events, bytes;
} slc_velo_mark;
enum { SLC_VELO_MARKS = 4096 };

typedef struct slc_velo_timing {
    double spent[SLC_VELO_TIMES]; /* seconds, summed over the threads */
    slc_flow_totals flow;
    uint64_t events, bytes, batches;
    uint64_t every; /* batches from one mark to the next */
    uint32_t n_marks;
    slc_velo_mark marks[SLC_VELO_MARKS];
} slc_velo_timing;

/* A batch kept in memory for --repeat, and what came of it the first time. */
typedef struct slc_velo_held {
    bool raw;
    slc_batch batch;
    slc_velo_hits hits;
    uint64_t n_hits, n_tracks, n_primaries;
} slc_velo_held;

/* The input at hand. */
typedef struct slc_velo_input {
    bool raw, has_truth;
    slc_cli_identity_from identity_from;
    uint64_t retina_events;
    uint64_t cut; /* events that are counted as lost and are not, as a signal ended their reading */
    slc_velo_gec gec;
    slc_faults faults;
} slc_velo_input;

/* Where the beam line is taken to be, which is in the configuration, and what the tracks say. */
typedef enum slc_velo_beam_origin {
    SLC_VELO_BEAM_DEFAULT = 0,
    SLC_VELO_BEAM_OPTION,
    SLC_VELO_BEAM_FILE,
    SLC_VELO_BEAM_AUTO,
    SLC_VELO_BEAM_CONFIG
} slc_velo_beam_origin;
typedef struct slc_velo_seen { /* of an input, or of all */
    const char *input;
    bool judged, elsewhere;
    uint64_t events, tracks;
    slc_velo_beam beam;
} slc_velo_seen;
typedef struct slc_velo_beam_line {
    slc_velo_beam_origin from;
    bool settled;                     /* it is known: at once, or after events were read ahead */
    slc_velo_beam found;              /* by --beam auto */
    slc_error unsettled;              /* or why it found none */
    uint32_t n_warned;                /* inputs that have it elsewhere */
    slc_velo_beam_sample sample, all; /* of the input at hand; of all */
    slc_velo_seen *seen, seen_all;    /* what their tracks say, by the number of the input */
    slc_flow_item **ahead;            /* batches that were read before the run, and come first in it */
    size_t n_ahead;
    uint32_t n_inputs; /* that they are of */
} slc_velo_beam_line;

/* A copy of the event that the report draws. */
typedef struct slc_velo_drawing {
    bool filled, final; /* there is one; it stays the one */
    uint64_t number;
    slc_velo_result result;
    slc_velo_truth truth;
    slc_velo_matches matches;
} slc_velo_drawing;

typedef struct slc_velo_job {
    slc_flow_velo_setup setup; /* first: it is what the chain is given */
    slc_flow *flow;
    bool no_more; /* only what was read ahead is gone through */
    slc_velo_options *options;
    slc_velo_config config;
    slc_velo_geometry *geometry; /* NULL: the ideal one */
    slc_velo_mask *mask;         /* NULL without --mask */
    slc_velo_monitor *monitor;   /* NULL without --monitor and --report */
    slc_velo_input input;
    slc_velo_beam_line beam;
    slc_velo_matches matches;
    slc_velo_check check;
    slc_velo_drawing drawing;      /* empty without --report */
    slc_io_writer *results;        /* NULL without -o */
    slc_velo_selecting *selecting; /* NULL without --select */
    slc_velo_totals totals;
    slc_velo_timing timing;
    char **inputs; /* the operands */
    int n_inputs;
    slc_cli_identity identity;
    slc_velo_residuals *residuals; /* NULL without --residuals */
    slc_velo_held *held;           /* with --repeat */
    size_t n_held, held_capacity;
    slc_cli_progress progress;
    slc_cli_page page;
    slc_error error;
    bool failed;            /* an input was damaged or unreadable: exit status 1 */
    bool partial;           /* a signal ended the reading */
    bool live;              /* an input cannot be read again */
    uint32_t ranks, shares; /* of sluice-mpi; 0 ranks: it is none of its */
    double balance;         /* which part of their time they were at work */
} slc_velo_job;

/* Is any of these collections (SLC_VELO_WANT_…) made? */
bool slc_velo_job_wants(const slc_velo_job *job, uint32_t what);

/* A job of these options, in zeroed memory. */
void slc_velo_job_init(slc_velo_job *job, slc_velo_options *options);
void slc_velo_job_clear(slc_velo_job *job);
/* The configuration, what is read beside the inputs, and the flow over these, with the chain of the first
 * worker, so that what is wrong is told before anything is read. SLC_CLI_GO_ON, or an exit status. */
int slc_velo_job_open_chain(slc_velo_job *job);
/* Once all events are through: the outputs, each of which stands for itself (one that fails does not undo
 * another), and what is printed. A run that read nothing, or nothing of the VELO's, replaces no earlier
 * result (_keeps). */
bool slc_velo_job_keeps(const slc_velo_job *job);
void slc_velo_job_write(slc_velo_job *job, const char *title, const char *command_line);

/* Opens the flow over the inputs, or over what `read` gives in their place. */
typedef slc_status slc_velo_read(void *job, slc_flow_item *item, slc_error *error);
slc_status slc_velo_job_open(slc_velo_job *job, const slc_flow_chain *chain, slc_velo_read *read);
/* Gives its items to `take` (_take: all that is done with results), and closes it. False if it cannot go
 * on (strict, an output that cannot be written, no memory, a signal); the reason has been told. */
bool slc_velo_job_run(slc_velo_job *job, bool (*take)(slc_velo_job *, const slc_flow_item *));
bool slc_velo_job_take(slc_velo_job *job, const slc_flow_item *item);

/* --serve: opens the page (SLC_CLI_GO_ON, or an exit status), publishes where it is time, and shows how it
 * ended. */
int slc_velo_page_open(slc_velo_job *job, const slc_cli_call *call);
void slc_velo_page_tick(slc_velo_job *job, const slc_flow_item *item);
void slc_velo_page_close(slc_velo_job *job, int status);

/* --monitor: opens what is counted, counts a batch, and at the end writes the file, and puts what it came to
 * into the tree. _finish is false if it is not there, which has been told. */
bool slc_velo_monitor_on(const slc_velo_options *options);
bool slc_velo_monitor_begin(slc_velo_job *job);
bool slc_velo_monitor_take(slc_velo_job *job, const slc_flow_item *item);
bool slc_velo_monitor_finish(slc_velo_job *job, bool keep, slc_cli_kept *kept);
void slc_velo_monitor_put(const slc_velo_job *job, slc_cli_tree *tree);

/* Is there a limit? What came of it: counted, told of an input, in the tree (under "gec"). */
bool slc_velo_gec_is_on(const slc_velo_job *job);
void slc_velo_gec_take(slc_velo_job *job, const slc_flow_velo_result *result);
void slc_velo_gec_tell(const slc_velo_job *job, const char *path);
void slc_velo_gec_put(const slc_velo_job *job, slc_cli_tree *tree);

/* --print-config; an exit status. */
int slc_velo_config_print(slc_velo_job *job);
/* All settings in force: as an attribute of the results (false: it was told why not), and in the tree. */
bool slc_velo_config_store(slc_velo_job *job);
void slc_velo_settings_put(const slc_velo_job *job, slc_cli_tree *tree);
/* --mask: attributes of the results (false: it was told why not), and in the tree. */
bool slc_velo_mask_store(slc_velo_job *job);
void slc_velo_mask_put(const slc_velo_job *job, slc_cli_tree *tree);
void slc_velo_device_put(const slc_velo_job *job, slc_cli_tree *tree); /* --device: which, and what it left */
/* Ends the results, with what is known at the end: how much the mask left out, and the checksum. */
slc_status slc_velo_results_end(slc_velo_job *job);
/* Members of a JSON object, the line "run" by itself: lost events, whether the run is a part of one that was
 * interrupted, and its version, inputs, geometry, beam and mask. */
slc_status slc_velo_run_write(const slc_velo_job *job, FILE *out, slc_error *error);

/* --beam, into the configuration. SLC_CLI_GO_ON, or an exit status after one line. */
int slc_velo_beam_open(slc_velo_job *job);
void slc_velo_beam_close(slc_velo_job *job);
/* With --beam auto: reads events of the first inputs ahead, and finds the beam in them. Then, and otherwise
 * at once, the beam is told to all that depends on it (_use). Where it is not found, what is wrong with the
 * inputs read ahead is told by going through them, and after that the reason (_tell_unsettled). */
bool slc_velo_beam_settle(slc_velo_job *job);
void slc_velo_beam_tell_unsettled(const slc_velo_job *job);
bool slc_velo_beam_use(slc_velo_job *job);
/* Looks at the tracks of a batch, in the order of the inputs, at the end of an input, and of all. */
void slc_velo_beam_look(slc_velo_job *job, const slc_flow_item *item);
void slc_velo_beam_end(slc_velo_job *job, const slc_flow_item *item);
void slc_velo_beam_end_all(slc_velo_job *job);
void slc_velo_beam_text(const slc_velo_job *job, char *text, size_t size);
void slc_velo_beam_put(const slc_velo_job *job, slc_cli_tree *tree);
void slc_velo_beam_line_put(const slc_velo_job *job, slc_cli_tree *tree); /* where it is taken to be, alone */

/* Keeps a batch for going through it again. */
bool slc_velo_hold(slc_velo_job *job, const slc_flow_item *item);
void slc_velo_held_clear(slc_velo_job *job);
/* Goes through the held batches again, and takes the time. */
bool slc_velo_measure(slc_velo_job *job);
/* A batch is through. */
void slc_velo_timing_mark(slc_velo_timing *timing, uint64_t events, uint64_t bytes, const double *spent);
void slc_velo_timing_put(const slc_velo_job *job, slc_cli_tree *tree);
void slc_velo_print_timing(slc_cli_tree *tree);
const char *slc_velo_time_name(slc_velo_time part);

/* Keeps the event to draw, where it is in this batch, which is compared but not yet added to the totals.
 * False if there is no memory for it, which has been told. */
bool slc_velo_drawing_take(slc_velo_job *job, const slc_flow_velo_result *from);
void slc_velo_drawing_clear(slc_velo_drawing *drawing);
/* False where it, or the picture in it, is not there; the reason has been told. */
bool slc_velo_write_report(slc_velo_job *job, const char *title, const char *command_line);

void slc_velo_tell_input(slc_velo_job *job, const slc_flow_item *end);
/* Under --strict: tells the first fault of `faults` and returns false. `damage` is the reader's own line on
 * it, or "". */
bool slc_velo_judge(const slc_velo_job *job, const char *path, const char *damage, const slc_faults *faults);

/* Creates the groups of the result file, so that they are there however few events follow. */
bool slc_velo_job_open_output(slc_velo_job *job, const char *command_line);

/* --residuals: room for the sums, a result, the file. False if it was told why not. */
bool slc_velo_residuals_open(slc_velo_job *job);
bool slc_velo_residuals_take(slc_velo_job *job, const slc_velo_result *result);
slc_status slc_velo_write_residuals(slc_velo_job *job, slc_error *error);

/* All that is printed; the CSV of --table; the tables or the JSON object, and clears the tree. */
slc_cli_tree slc_velo_tree(slc_velo_job *job);
slc_status slc_velo_write_csv(const slc_velo_job *job, slc_cli_tree *tree, slc_error *error);
bool slc_velo_print(const slc_velo_job *job, slc_cli_tree *tree);

#endif
