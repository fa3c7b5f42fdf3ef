/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice label`: its options, what it holds while it runs, and the steps it is made of.
 * cmd_label.c        options, opening and closing, exit status
 * cmd_label_files.c  folders as inputs, an output for each input
 * cmd_label_job.c    what is done with pages
 * cmd_label_mask.c   what becomes foreground, and the mask that is written
 * cmd_label_stats.c  features as CSV, JSON and HDF5
 * cmd_label_print.c  what it prints
 * cmd_label_measure.c --labels, and features that are measured on label images
 * cmd_label_size.c   --pixel-size
 * cmd_label_volume.c --volume, from reading to what is printed; cmd_label_volume_ask.c: what is asked for,
 *                    cmd_label_volume_read.c: slices in memory
 */
#ifndef SLUICE_CMD_LABEL_H
#define SLUICE_CMD_LABEL_H

#include "cli_options.h"
#include "cli_part.h"
#include "cli_results.h"
#include "cli_serve.h"
#include "cli_talk.h"
#include "cli_tree.h"

#include <sluice/sluice.h>

typedef struct slc_label_options {
    const char *output, *stats, *preview, *algorithm, *threshold, *simd, *device, *periodic, *intensity,
        *filter, *pixel_size;
    const char *hysteresis, *local, *mask, *write_mask, *split;
    slc_cli_results results;
    uint64_t connectivity, threads, min_area, max_area, device_memory, max_hole, largest;
    uint32_t features;
    int border;
    slc_cli_part part;
    slc_cli_serve serve;
    bool inverse, stream, volume, equal, labels, json, quiet, fill_holes;
} slc_label_options;

/* One page's result. */
typedef struct slc_label_page {
    uint32_t input, page; /* both from 1 */
    slc_image_type type;
    size_t width, height, depth;               /* 1 of an image */
    double threshold;                          /* not a number for rows of bits */
    double pixel_x_um, pixel_y_um, pixel_z_um; /* 0: not known; z of volumes alone */
    const char *pixel_from;                    /* who says so */
    uint32_t components;
    uint32_t filtered;            /* components that --filter and --largest left out */
    uint64_t foreground, largest; /* pixels, of the components that are kept; 0 where nothing tells areas */
    double seconds;               /* labelling alone */
    char *warning, *fault;        /* what was told of it, or NULL; a page with a fault has no components */
} slc_label_page;

enum { SLC_LABEL_PHYSICAL = 15 }; /* lengths and areas */
/* The components as they are written: the library's columns after three that say where a row is from. */
typedef struct slc_label_rows {
    slc_image_components columns;
    uint32_t *input, *page, *label;       /* all from 1 */
    double *physical[SLC_LABEL_PHYSICAL]; /* with --pixel-size, in the place of others: cmd_label_size.c */
} slc_label_rows;
enum { SLC_LABEL_PLACES = 3, SLC_LABEL_COLUMNS = SLC_IMAGE_COLUMNS + SLC_LABEL_PLACES + SLC_LABEL_PHYSICAL };

/* Of an item of the flow: what came of the label file that a worker wrote of it. */
typedef struct slc_label_own {
    bool is; /* there is one */
    slc_status status;
    slc_error error;
} slc_label_own;

/* An open --stats file; which format it has follows from its name. */
typedef struct slc_label_stats slc_label_stats;

/* How far pixels reach that are fractions, or numbers below 0, as they are read, where no threshold is asked
 * for: of parts of an image the farthest is that of the whole. */
typedef enum slc_label_reach {
    SLC_LABEL_NOTHING, /* they are all 0, or of another kind */
    SLC_LABEL_BELOW,   /* some are not 0, and none is at the threshold of 1 */
    SLC_LABEL_ABOVE    /* there were components, which were left out */
} slc_label_reach;

typedef struct slc_label_job {
    const slc_label_options *options;
    char **inputs;
    int n_inputs;
    const char *command_line;
    slc_image_label_config config;
    slc_flow_image_setup setup;
    slc_image_mask_config mask_config;   /* of setup.mask */
    slc_image_split_config split_config; /* of setup.split */
    slc_image within;                    /* of setup.within */
    char *within_pixels;
    uint32_t features; /* that are written */
    slc_flow *flow;
    bool narrow; /* the label file has 16 bits */
    /* Of the rows: all that the labeller fills (a summary needs areas), and those that are written. */
    slc_column columns[SLC_LABEL_COLUMNS], written_columns[SLC_LABEL_COLUMNS];
    slc_schema schema, written;
    size_t n_places;                           /* columns of `schema` that are no features */
    double pixel_x_um, pixel_y_um, pixel_z_um; /* of --pixel-size; 0: each page's own */
    slc_label_rows rows;
    char **outputs;         /* the label file of each input, NULL: one for all */
    slc_io_outbox *outbox;  /* where these are completed */
    uint64_t failed_inputs; /* of those with a file each: which then have none */
    slc_io_writer *image_writer, *preview_writer, *mask_writer;
    slc_label_stats *stats;
    slc_label_page *pages;
    size_t n_pages, page_capacity;
    uint32_t page_of_input;
    uint64_t warned_of_input;
    uint64_t warnings, faults; /* pages that have some */
    bool told_threshold;       /* that it is above all pixels that there can be, of the first such page */
    slc_label_reach reach;     /* of a page whose pixels are elsewhere, too */
    bool partial;              /* a signal ended the reading */
    slc_cli_kept kept;         /* outputs */
    slc_cli_page page;         /* --serve */
    uint64_t checksum;
    uint64_t page_factor; /* of the next page in it, with --stream, whose pages are summed here */
    slc_error error;
} slc_label_job;

/* The command line, which `sluice-mpi label` has, too. */
enum { SLC_LABEL_OPTION_ROWS = 41 };
extern const slc_cli_option slc_label_option_rows[];
void slc_label_defaults(void *options);

/* A job of what was asked for, with everything chosen and nothing opened. SLC_CLI_GO_ON, or the exit status
 * after a complaint. It ends in any case; NULL is allowed. */
int slc_label_begin(const slc_cli_call *call, slc_label_job **job);
void slc_label_end(slc_label_job *job);

/* `sluice label --volume`: all of the command. */
int slc_label_volume(const slc_cli_call *call);

/* What --labels, --stream and features have to do with one another; sets job->features. SLC_CLI_GO_ON, or the
 * exit status after a complaint. */
int slc_label_check_measures(slc_label_job *job);

/* What --labels goes with. SLC_CLI_GO_ON, or the exit status after a complaint. */
int slc_label_check_labels(const slc_label_options *options);
/* What --intensity goes with. SLC_CLI_GO_ON, or the exit status after a complaint. */
int slc_label_check_intensity(const slc_label_options *options, int n_inputs);

/* What is foreground, for the JSON object. */
void slc_label_put_rule(slc_cli_tree *tree, const slc_label_job *job);

bool slc_label_has_files(const slc_label_options *options);
/* False after a complaint. */
bool slc_label_open_outputs(slc_label_job *job);
/* Completes the outputs or, where anything failed, removes them all. */
bool slc_label_close_outputs(slc_label_job *job, bool good);

/* Takes a page, or the end of an input, as it comes from a flow. Its result may have no label image: of an
 * NPY file there is then room for it, which others fill. False after a complaint. */
bool slc_label_take(slc_label_job *job, const slc_flow_item *item);
/* A step of the flow, whose context is the job: a page that is all of its input goes to that input's label
 * file in the worker. */
slc_status slc_label_write_own(void *context, slc_flow_item *item, slc_error *error);
/* Takes all pages of the flow. A page that is no use is told, counted in job->faults and written as one
 * without components. False after a complaint, or where a signal came. */
bool slc_label_job_run(slc_label_job *job);

/* The last numbers of --serve. */
void slc_label_page_close(slc_label_job *job, int status);

/* Creates the file; job->written says which columns it has. */
slc_status slc_label_stats_open(slc_label_job *job);
/* Writes rows, of job->written, of input number `input`; whole events as far as they have ended. With
 * several inputs each row of CSV and JSON has its input's name. */
slc_status slc_label_stats_rows(slc_label_job *job, const void *rows, uint32_t input);
/* Completes the file, or removes it. NULL is allowed. */
slc_status slc_label_stats_close(slc_label_job *job, bool commit);

/* The JSON object, or else, unless --quiet, one line on standard error beside files or a table. */
bool slc_label_print(const slc_label_job *job, bool has_files);

#endif
