/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice cms`: its options, its running totals, and the steps it is made of.
 * cmd_cms.c        options, opening and closing, exit status
 * cmd_cms_flow.c   what is done with results
 * cmd_cms_print.c  what it prints
 */
#ifndef SLUICE_CMD_CMS_H
#define SLUICE_CMD_CMS_H

#include "cli_options.h"
#include "cli_part.h"
#include "cli_results.h"
#include "cli_serve.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

typedef struct slc_cms_options {
    const char *cabling, *gains, *geometry, *skip_modules, *device, *output, *table;
    slc_cli_results results;
    int cut, duplicates;
    uint64_t phase, threads, batch, max_module_digis;
    double min_charge, min_charge_layer1; /* negative: the phase's own */
    double run, luminosity_section;       /* negative: not given */
    slc_cli_part part;
    slc_cli_serve serve;
    bool truncate, strict, json, quiet;
} slc_cms_options;

typedef struct slc_cms_totals {
    uint64_t events, lost_events;
    slc_cms_word_counts words;
    slc_cms_calibrate_counts columns;
    uint64_t modules, clusters, pixels;
    uint64_t checksum, unlocked_bytes;
    double seconds[SLC_CMS_STAGES], seconds_total;
    slc_faults faults;
} slc_cms_totals;

/* The events as they are written, and the clusters as rows of text. */
typedef struct slc_cms_event_rows {
    slc_cms_events of;
    uint32_t *run, *luminosity_section;
} slc_cms_event_rows;
typedef struct slc_cms_table_rows {
    slc_cms_clusters of;
    uint32_t *raw_id, *level1_id, *run, *luminosity_section;
    const float *x_mm, *y_mm, *z_mm;
} slc_cms_table_rows;
enum { SLC_CMS_EVENT_COLUMNS = 6, SLC_CMS_TABLE_COLUMNS = 32 };

typedef struct slc_cms_job {
    slc_cms_options *options;
    slc_cms_config config;
    slc_cms_cabling *cabling;
    slc_cms_gains gains;
    slc_cms_geometry geometry;
    uint8_t unpack[SLC_CMS_MODULES_PHASE2]; /* 0: not */
    slc_flow_cms_setup setup;
    slc_flow *flow;
    slc_faults input_faults; /* of the input at hand */
    struct slc_cms_input {   /* what there was in it */
        uint64_t fragments, data, digis, beyond, mixed, others;
    } input;
    slc_io_writer *results; /* NULL without -o */
    slc_io_writer *table;   /* NULL without --table */
    slc_column event_columns[SLC_CMS_EVENT_COLUMNS], table_columns[SLC_CMS_TABLE_COLUMNS],
        own_event_columns[2], own_table_columns[4];
    slc_schema event_schema, table_schema; /* what is written */
    slc_schema own_events, own_table;      /* of that what is the command's */
    slc_cms_event_rows event_rows;         /* memory of the latter */
    slc_cms_table_rows table_rows;
    slc_cms_event_rows event_view; /* with the result's */
    slc_cms_table_rows table_view;
    uint32_t raw_id[SLC_CMS_MODULES_PHASE2]; /* of modules, by the cabling */
    slc_cms_totals totals;
    uint64_t first_event; /* events of the run before this part */
    slc_cli_progress progress;
    slc_cli_page page;
    slc_error error;
    bool failed;
    bool useful;  /* an input had what is read here */
    bool partial; /* a signal ended the reading */
    bool live;    /* an input cannot be read again */
} slc_cms_job;

/* Takes all that the flow has. False if the run cannot go on, which has been told, or where a signal came.
 */
bool slc_cms_job_run(slc_cms_job *job);
/* Appends a result to the outputs; with one of nothing, creates the groups of the file. */
bool slc_cms_job_append(slc_cms_job *job, const slc_flow_cms_result *result);

/* Columns of events and of the table. */
void slc_cms_rows_init(slc_cms_job *job);
void slc_cms_rows_clear(slc_cms_job *job);
/* The same with the values of a result: NULL if there is no memory. */
const slc_cms_event_rows *slc_cms_rows_of_events(slc_cms_job *job, const slc_flow_cms_result *result);
const slc_cms_table_rows *slc_cms_rows_of_table(slc_cms_job *job, const slc_flow_cms_result *result);

/* A table or the JSON object; false, after a line, if it could not be made. */
bool slc_cms_print(const slc_cms_job *job);

#endif
