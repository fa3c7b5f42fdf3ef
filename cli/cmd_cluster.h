/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice cluster`: what is asked for, and the state of a run.
 */
#ifndef SLUICE_CMD_CLUSTER_H
#define SLUICE_CMD_CLUSTER_H

#include "cli_options.h"
#include "cli_part.h"
#include "cli_results.h"
#include "cli_serve.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

typedef struct slc_cluster_options {
    const char *output, *labels, *connectivity, *time_window, *disorder, *tick, *simd, *accept, *layout,
        *chip, *filter, *mask, *write_mask, *calibration, *timewalk;
    slc_cli_results results;
    uint64_t max_open, threads;
    slc_cli_area size; /* 0: not given */
    uint32_t features;
    int duplicates, algorithm, time_unit, trigger;
    slc_cli_part part;
    slc_cli_serve serve;
    bool json, quiet, column_phase, nexus, chip_column, within_chip;
} slc_cluster_options;
enum { SLC_CLUSTER_MAX_OPEN = 1 << 20 }; /* unless --max-open says otherwise */

/* A length of time as it was written: in ticks, or in seconds, which need a file that tells its ticks. */
typedef struct slc_cluster_time {
    bool given, in_ticks;
    double value;
} slc_cluster_time;

/* What an input was and became. */
typedef struct slc_cluster_input {
    slc_io_pixels_info about;
    slc_io_pixels_counts counts;
    slc_flow_pixel_totals totals;
    slc_flow_pixel_choice choice;
    bool read; /* it was opened and read, as far as a signal let it */
    bool is_stream;
    bool has_rows;        /* of clusters, */
    uint64_t rows_before; /* and so many of other inputs are before them */
    bool cut;             /* a signal ended its reading, and its clusters are good as far as it was read */
    bool whole;           /* its last piece was read */
} slc_cluster_input;

/* The clusters as they are written: the library's columns after two that say where a row is from. */
typedef struct slc_cluster_rows {
    slc_pixel_clusters clusters;
    uint32_t *input;                /* from 1 */
    int64_t *frame;                 /* the input's own number of it; 0 where there are no frames */
    double *first_time, *last_time; /* with --time-unit, in text: in its unit */
    const int64_t *shot;            /* with --trigger, the flow's */
    const double *since_trigger_ns;
    const double *energy_kev; /* with --calibration, in the place of the mass */
    uint32_t *event_id;       /* with --nexus, both */
    double *event_time_offset;
    int32_t *chip; /* with --chip-column */
} slc_cluster_rows;
enum { SLC_CLUSTER_COLUMNS = SLC_PIXEL_CLUSTER_COLUMNS + 9 };

/* The triggers as they are written. */
typedef struct slc_cluster_shots {
    slc_flow_pixel_shots shots;
    uint32_t *input;
    uint64_t *first;         /* of its clusters among those of all inputs */
    double *event_time_zero; /* with --nexus, both */
    uint64_t *event_index;
} slc_cluster_shots;
enum { SLC_CLUSTER_SHOT_COLUMNS = 9 };

typedef struct slc_cluster_job {
    slc_cluster_options *options;
    char **inputs;
    int n_inputs;
    slc_io_pixels_live live;
    const char *command_line;
    slc_pixel_cluster_config config;
    slc_flow_pixel_setup setup;
    slc_io_pixels_layout layout;
    slc_io_pixels_tables *tables; /* or NULL */
    slc_io_pixels_hot hot;        /* with --write-mask, when it is written */
    bool has_mask_written;
    uint8_t chips[SLC_IO_PIXELS_CHIPS / 8];
    slc_flow *flow;
    slc_cluster_time window, disorder, tick;
    bool reads_once;       /* one of them cannot be read again: clusters are flushed from time to time */
    bool is_live;          /* the input comes over the network: a signal is its ordinary end */
    bool sorted;           /* --disorder all */
    bool times_asked;      /* --features names times */
    bool has_times;        /* clusters have times where their input has some */
    double unit_seconds;   /* of --time-unit; 0: ticks */
    const char *unit;      /* its name */
    bool failed, useful;   /* an input had no pixels, which has been told; one had some */
    bool begun;            /* the first input was opened, and decides */
    uint32_t with;         /* what clusters have: SLC_PIXEL_Z, SLC_PIXEL_TIME */
    double tick_seconds;   /* of the times in the output; 0: nobody tells */
    slc_cluster_rows rows; /* the columns of `place`, which are not the flow's */
    uint64_t written;      /* rows of all inputs */
    uint64_t checksum;
    slc_cluster_shots shots, shot_rows; /* memory of `input`; what is written: that, and the flow's columns */
    slc_column shot_columns[SLC_CLUSTER_SHOT_COLUMNS], own_shot_columns[SLC_CLUSTER_SHOT_COLUMNS];
    slc_schema shot_schema; /* without columns: no group of them is written */
    slc_column columns[SLC_CLUSTER_COLUMNS], text_columns[SLC_CLUSTER_COLUMNS], place_columns[7];
    slc_schema schema, text_schema, place; /* columns of HDF5; of text; those that say where a row is from,
                                              and times in a unit */
    char time_name[2][24];                 /* of columns of text: first_time_ns */
    slc_io_writer *text;                   /* one of the two, or none */
    double flushed;                        /* when text last was, by slc_clock_seconds; 0: never */
    slc_io_writer *results;
    bool appended;         /* to results: their group is there */
    slc_io_writer *labels; /* or NULL */
    uint32_t labels_with;  /* the columns of the first input's pixels, and whether they are a stream */
    bool labels_stream;
    double labels_flushed;
    slc_column label_columns[11];
    slc_schema label_schema;
    char label_time[24];     /* a column: time_ns */
    slc_cluster_input *done; /* one for each input */
    int first, end;          /* inputs of --part: all without */
    int n_begun;             /* of them, and those before the first */
    bool told, wrong;        /* why the flow ends; it was the options */
    bool partial;            /* a signal ended it */
    slc_cli_kept kept;       /* outputs */
    slc_cli_progress progress;
    slc_cli_page page;
    uint64_t pixels; /* that were read, for the progress */
    slc_error error;
} slc_cluster_job;

/* Takes all that the flow has: writes it, and what becomes of the inputs into job->done. False after a
 * complaint, or where a signal came and left nothing that could be kept. */
bool slc_cluster_job_run(slc_cluster_job *job);
/* `choose` of the flow, for the next input: opens the outputs with the first; its lengths of time in ticks.
 */
slc_status slc_cluster_choose(void *job, const slc_io_pixels_info *about, slc_flow_pixel_choice *choice,
                              slc_error *error);
/* Opens the outputs, with columns for what the first input has, unless they are open. */
bool slc_cluster_job_begin(slc_cluster_job *job, const slc_io_pixels_info *about);

/* An input over the network is the only one, and comes in pieces; else SLC_CLI_GO_ON. */
int slc_cluster_choose_live(slc_cluster_job *job, const slc_cli_command *command);
/* What was received, and what of it was lost. */
void slc_cluster_live_notes(const slc_cluster_job *job, int i);

/* --nexus: what it needs; why an input cannot be it, or NULL; its columns, of clusters and of pulses, in
 * place of which there are shots; their values. */
int slc_cluster_choose_nexus(slc_cluster_job *job, const slc_cli_command *command);
const char *slc_cluster_nexus_reason(const slc_cluster_job *job, const slc_cluster_input *done);
void slc_cluster_nexus_columns(slc_cluster_job *job);
void slc_cluster_nexus_rows(const slc_cluster_job *job, const slc_flow_pixel_result *result,
                            const slc_cluster_rows *rows);
void slc_cluster_nexus_pulses(slc_cluster_job *job, size_t n);

/* --layout and --chip. */
int slc_cluster_choose_chips(slc_cluster_job *job, const slc_cli_command *command);
/* --chip-column: why an input cannot have it, or NULL; the column, and its values. */
const char *slc_cluster_chips_reason(const slc_cluster_job *job, const slc_cluster_input *done);
void slc_cluster_chips_column(slc_cluster_job *job);
void slc_cluster_chips_rows(const slc_cluster_job *job, const slc_flow_pixel_result *result,
                            const slc_cluster_rows *rows);

/* --mask, --calibration and --write-mask: read when all else has been checked; the mask that is written. */
int slc_cluster_choose_tables(slc_cluster_job *job, const slc_cli_command *command);
/* The i-th file of --calibration, which no output may be; of a folder those that are outputs. */
char *slc_cluster_calibration_files(const void *options, const char *name, size_t i);
bool slc_cluster_write_mask(slc_cluster_job *job);
void slc_cluster_energy_column(slc_cluster_job *job);
void slc_cluster_tables_notes(const slc_cluster_job *job, int i);
/* Of an input whose pixels are all without an energy. */
bool slc_cluster_tables_miss(const slc_cluster_job *job, const slc_cluster_input *done);
void slc_cluster_mask_note(const slc_cluster_job *job);

/* The words of --trigger, in the order of slc_io_pixels_edge; NULL after the last. */
extern const char *const slc_cluster_triggers[];
/* --trigger and --accept: what they say, or that they do not go with others. */
int slc_cluster_choose_trigger(slc_cluster_job *job, const slc_cli_command *command);
/* Appends the columns of clusters; prepares the group of the triggers for an output that can have one. */
void slc_cluster_shots_columns(slc_cluster_job *job);
/* The group of an item's triggers, of memory that is the job's until the next call. False: no memory. */
bool slc_cluster_shots_group(slc_cluster_job *job, const slc_flow_item *item, slc_io_group *group);
void slc_cluster_shots_clear(slc_cluster_job *job);

/* What --labels does not go with; why an input cannot have it, or NULL. */
int slc_cluster_choose_labels(slc_cluster_job *job, const slc_cli_command *command);
const char *slc_cluster_labels_reason(const slc_cluster_job *job, const slc_cluster_input *done);
/* Its file, begun with what the first input is, and a row for each pixel of an item. `time_factor`: what a
 * tick of the input is in --time-unit. */
slc_status slc_cluster_labels_open(slc_cluster_job *job, const slc_io_pixels_info *about);
slc_status slc_cluster_labels_flush(slc_cluster_job *job); /* if it is time */
slc_status slc_cluster_labels_close(slc_cluster_job *job);
bool slc_cluster_labels_text(const slc_cluster_job *job); /* there is such a file, of text */
slc_status slc_cluster_labels_write(slc_cluster_job *job, const slc_flow_item *item, double time_factor);

/* Puts the inputs' names into the results, whose group is there. */
slc_status slc_cluster_put_inputs(slc_cluster_job *job);

/* A length of time as it is written; SLC_CLI_GO_ON, or SLC_CLI_USAGE after one line. */
int slc_cluster_choose_time(const char *option, const char *text, slc_cluster_time *time);

/* Was an option given? */
bool slc_cluster_given(const char *option);

/* What is told when all is done. slc_cluster_print has the JSON object, or the table unless --quiet, and is
 * false after a complaint. */
void slc_cluster_print_notes(const slc_cluster_job *job);
bool slc_cluster_print(const slc_cluster_job *job);

#endif
