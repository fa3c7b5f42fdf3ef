/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice pet run`: its options, its job, and the parts of the work.
 * cmd_pet_run.c          its options, and the flow from its inputs to its outputs
 * cmd_pet_run_output.c   what is written
 * cmd_pet_run_randoms.c  randoms of each pair, and what can only be written once they are known
 * cmd_pet_run_print.c    what is told
 * cmd_pet_run_page.c     the live page, of an acquisition, too
 */
#ifndef SLUICE_CMD_PET_RUN_H
#define SLUICE_CMD_PET_RUN_H

#include "cli_results.h"
#include "cli_serve.h"
#include "cli_tree.h"
#include "cmd_pet_factors.h"
#include "cmd_pet_measured.h"
#include "cmd_pet_tell.h"

#include <sluice/daq_pet.h>
#include <sluice/run_flow.h>
#include <sluice/sluice.h>

#include <stdatomic.h>

typedef struct slc_pet_run_options {
    slc_pet_frame_words frames;
    slc_pet_factor_words factors;    /* not of an acquisition */
    slc_pet_coincidence_words words; /* offset_ns stays 0 */
    double delayed_ns, horizon_ns, tof_ns, bin_ns, dead_time_ns, flush_ns;
    const char *device, *output, *singles, *late, *sinogram, *marks, *rates, *rate_plot;
    int format; /* from 1; 0: by the name's end */
    uint64_t ring_difference, tangential, batch, threads;
    uint64_t rotate_bytes; /* of the list, and */
    double rotate_ns;      /* not of an acquisition, which has these for raw data */
    int randoms;           /* slc_pet_run_randoms */
    const char *randoms_sinogram, *crystal_rates;
    slc_cli_serve serve;
    bool series, prompts, rebin, subtract, paralysable, tolerate_loss, json, quiet;
} slc_pet_run_options;

/* Rows for a table of options that has slc_pet_run_options as its struct, or as the first member of it. */
#define SLC_PET_RUN_TIME_OPTIONS                                                                             \
    {"delayed", 0, TIME(slc_pet_run_options, delayed_ns, SLC_CLI_POSITIVE, "a time, as 100ns"), "TIME",      \
     "find delayed pairs, too, whose windows begin so late, --window at least: 100ns"},                      \
    {                                                                                                        \
        "horizon", 0, SLC_PET_HORIZON(slc_pet_run_options, horizon_ns), "TIME",                              \
            "how far behind the latest time a single may come (default 1ms)"                                 \
    }
/* What is written of pairs. `dash`: STDOUT_TOO or 0. */
#define SLC_PET_RUN_FORMAT_OPTIONS                                                                           \
    {"format", 0, CHOICE(slc_pet_run_options, format, NAMES_FROM_1("format", slc_pet_run_format_name)),      \
     "FORMAT", "castor safir siemens yrt gate hdf5 petsird csv arrow npy npz; or by end"},                   \
    {                                                                                                        \
        "tof", 0, TIME_OR(slc_pet_run_options, tof_ns, "none", "a time, as 250ps, or none"), "TIME",         \
            "write times of flight of this resolution (FWHM), 250ps, or none"                                \
    }
#define SLC_PET_RUN_PROMPTS_OPTION                                                                           \
    {                                                                                                        \
        "prompts", 0, FLAG(slc_pet_run_options, prompts), NULL,                                              \
            "write prompts alone: castor and yrt have no delayeds"                                           \
    }
#define SLC_PET_RUN_SINOGRAM_OPTIONS(dash)                                                                   \
    {"sinogram", 0, (dash) | OUTPUTS(slc_pet_run_options, sinogram, slc_pet_sinogram_files), "NAME",         \
     "write a sinogram, NAME.hs and NAME.s"},                                                                \
        {"ring-difference", 0, COUNT(slc_pet_run_options, ring_difference, 0, 65536), "N",                   \
         "of a sinogram, the largest (65536: all there are)"},                                               \
        {"tangential", 0, COUNT(slc_pet_run_options, tangential, 0, 65536), "N",                             \
         "bins of a sinogram; 0: half the crystals around a ring"},                                          \
    {                                                                                                        \
        "rebin", 0, FLAG(slc_pet_run_options, rebin), NULL,                                                  \
            "a sinogram by single-slice rebinning instead of all pairs of rings"                             \
    }
/* All that is written. */
#define SLC_PET_RUN_RESULT_OPTIONS(dash)                                                                     \
    SLC_PET_RUN_FORMAT_OPTIONS,                                                                              \
        {"flush", 0, TIME_FROM(slc_pet_run_options, flush_ns, "100ms", "less", "a time, as 10s"), "TIME",    \
         "bring the pairs to temporary files so often (default 5s if an input is live)"},                    \
        SLC_PET_RUN_PROMPTS_OPTION,                                                                          \
        {"singles", 0, (dash) | OUTPUT(slc_pet_run_options, singles), "FILE",                                \
         "write the sorted singles, as columns by .h5 .arrow .npy .npz"},                                    \
        {"late", 0, (dash) | OUTPUT(slc_pet_run_options, late), "FILE",                                      \
         "write singles that came later than the horizon allows"},                                           \
        {"marks", 0, (dash) | OUTPUT(slc_pet_run_options, marks), "FILE",                                    \
         "write marks of the frames' format: columns by .h5 .arrow .npy .npz, else CSV"},                    \
        SLC_PET_RUN_SINOGRAM_OPTIONS(dash),                                                                  \
        {"subtract", 0, FLAG(slc_pet_run_options, subtract), NULL,                                           \
         "delayeds count -1 in a sinogram; otherwise they are left out"},                                    \
        {"rates", 0, (dash) | OUTPUT(slc_pet_run_options, rates), "FILE",                                    \
         "write counts by bin of time (CSV), not of empty ones; some are estimates"},                        \
        {"rate-plot", 0, (dash) | OUTPUT(slc_pet_run_options, rate_plot), "FILE", "draw them (SVG)"},        \
        {"bin", 0, TIME(slc_pet_run_options, bin_ns, SLC_CLI_POSITIVE, "a time, as 1s"), "TIME",             \
         "length of such a bin (default 1s)"},                                                               \
        {"dead-time", 0, TIME(slc_pet_run_options, dead_time_ns, SLC_CLI_POSITIVE, "a time, as 300ns"),      \
         "TIME", "of a block after a frame: tell what is lost in it"},                                       \
    {                                                                                                        \
        "paralysable", 0, FLAG(slc_pet_run_options, paralysable), NULL, "frames in dead time prolong it"     \
    }

/* Of each pair, and by crystal: an acquisition does not have them, as they are known at its end. */
#define SLC_PET_RUN_RANDOMS_OPTIONS                                                                          \
    {"randoms", 0, CHOICE(slc_pet_run_options, randoms, WORDS("off", "singles", "delayeds")), "FROM",        \
     "off (the default), singles, delayeds: each pair's expected randoms, in Hz"},                           \
        {"randoms-sinogram", 0, OUTPUTS(slc_pet_run_options, randoms_sinogram, slc_pet_sinogram_files),      \
         "NAME", "write a sinogram of them, as --sinogram has it"},                                          \
    {                                                                                                        \
        "crystal-rates", 0, OUTPUT(slc_pet_run_options, crystal_rates), "FILE",                              \
            "write singles of each crystal and bin (HDF5), and its time alive"                               \
    }
typedef enum slc_pet_run_randoms {
    SLC_PET_RUN_RANDOMS_OFF = 0,
    SLC_PET_RUN_RANDOMS_SINGLES,
    SLC_PET_RUN_RANDOMS_DELAYEDS
} slc_pet_run_randoms;

/* What they are if they are not given. */
#define SLC_PET_RUN_DEFAULTS                                                                                 \
    {                                                                                                        \
        .frames = SLC_PET_FRAME_WORDS, .horizon_ns = SLC_PET_HORIZON_NS, .bin_ns = 1e9,                      \
        .ring_difference = 65536, .threads = 1                                                               \
    }

enum {
    SLC_PET_RUN_CSV = SLC_IO_PET_LIST_FORMATS, /* after the formats of io_pet.h */
    SLC_PET_RUN_ARROW,
    SLC_PET_RUN_NPY,
    SLC_PET_RUN_NPZ,
    SLC_PET_RUN_FORMATS
};

/* What can fail for itself. */
typedef enum slc_pet_run_part {
    SLC_PET_RUN_SINGLES,
    SLC_PET_RUN_LATE,
    SLC_PET_RUN_PAIRS,
    SLC_PET_RUN_SINOGRAM,
    SLC_PET_RUN_MARKS,
    SLC_PET_RUN_PARTS
} slc_pet_run_part;

typedef struct slc_pet_run_job {
    const char *command; /* that speaks; NULL: "pet run" */
    const slc_pet_run_options *options;
    slc_pet_config config;
    slc_pet_tables tables;
    bool owned; /* the tables' memory */
    slc_pet_measured measured;
    int format;    /* of the coincidences */
    double tof_ns; /* 0: they have no times of flight */
    double bin_s, dead_time_ns;
    slc_pet_paths paths; /* what is read */
    slc_io_pet_inputs inputs;
    slc_flow_pet_setup setup;
    slc_flow *flow;
    /* outputs; NULL if not wanted, or not begun */
    slc_pet_pairs *order;
    slc_pet_coincidences due; /* pairs in order */
    slc_io_pet_list_writer *list;
    slc_io_writer *csv;
    slc_pet_singles_file singles, late, marks;
    slc_io_pet_sinogram *sinogram;
    slc_pet_rates_totals rates_totals;
    slc_pet_rates *rates; /* NULL also where they were given up: */
    slc_error rates_error;
    slc_pet_factors *factors;      /* of pairs; NULL: none */
    slc_pet_pair_randoms *randoms; /* NULL also where they were given up: */
    slc_error randoms_error;
    slc_pet_pair_randoms_totals randoms_totals;
    FILE *waiting;     /* pairs that wait for their randoms; NULL: none do */
    double randoms_in; /* of the sinogram */
    bool reads_once;   /* what comes cannot be read again: pairs are flushed from time to time */
    bool started;      /* a single has come: */
    int64_t start_ps;
    /* what is told */
    slc_pet_totals totals;
    slc_faults faults; /* of frames */
    double seconds[SLC_PET_STAGES], seconds_total;
    uint64_t written, left_out; /* pairs of the list */
    uint64_t sinogram_in, sinogram_outside;
    uint64_t delayeds; /* pairs, those of groups too */
    slc_cli_progress progress;
    slc_live *page; /* NULL without --serve */
    slc_live_pet *page_pet;
    bool ended, partial;          /* the last windows were closed; a signal came before that */
    slc_cli_kept kept;            /* outputs that were completed */
    bool failed;                  /* an output, or an input */
    bool writes_nothing;          /* no single is left: no file is made */
    bool lost[SLC_PET_RUN_PARTS]; /* these are not written: they failed */
    /* Of an acquisition, NULL of pet run: it ends, so that nothing waits any longer for a pipe's reader. With
     * it each output stands for itself: one that fails is given up, and the others go on. */
    const atomic_bool *ending;
    _Atomic(const char *) waits_for; /* a pipe that nobody reads yet, or NULL */
    slc_error failure[SLC_PET_RUN_PARTS];
    uint32_t n_failures;
    slc_error error;
} slc_pet_run_job;

/* ---- cmd_pet_run_page.c ------------------------------------------------------------------------ */

/* --serve: SLC_CLI_GO_ON, or an exit status. */
int slc_pet_page_open(const slc_cli_call *call, const slc_pet_run_options *options, slc_pet_run_job *job,
                      bool chain);
void slc_pet_page_take(slc_pet_run_job *job, const slc_pet_batch *batch);
/* Publishes where it is time, and in any case what it ended with. */
void slc_pet_page_tick(slc_pet_run_job *job, const slc_live_pet_state *now, bool ending);
void slc_pet_page_close(slc_pet_run_job *job, const slc_cli_serve *options, const slc_live_pet_state *now,
                        int status);

/* ---- cmd_pet_run.c ----------------------------------------------------------------------------- */

/* The configuration and what is written, of job->options; coincidences are asked for by the option `list`.
 * SLC_CLI_GO_ON, or the exit status after a line. */
int slc_pet_run_config_of(const slc_cli_command *command, const char *list, slc_pet_run_job *job);

/* Its tables, and what they say was measured where the options do not say it. */
int slc_pet_run_tables(const slc_cli_command *command, slc_pet_run_job *job);
/* Standard output takes one thing; no output destroys an input. */
int slc_pet_run_check_files(const slc_cli_command *command, const slc_pet_run_job *job);
/* After the last result: tells what is wrong with the inputs and what was lost, completes the outputs and
 * prints. The exit status. */
int slc_pet_run_end(slc_pet_run_job *job);

/* ---- cmd_pet_run_output.c ---------------------------------------------------------------------- */

/* "castor" … "hdf5", "csv"; NULL beyond. */
const char *slc_pet_run_format_name(size_t i);
/* The files of the coincidences, for a row of outputs. */
char *slc_pet_run_list_files(const void *options, const char *name, size_t i);
/* The format that a name's end tells, SLC_PET_RUN_FORMATS if it tells none. */
int slc_pet_run_format_of(const char *name);
bool slc_pet_run_format_has_delayeds(int format);

/* Outputs whose names are wrong, or whose limits the scanner is beyond, are told here as far as possible. */
slc_status slc_pet_run_outputs_open(slc_pet_run_job *job);
/* A call of the chain, with its singles if they are kept. In an acquisition an output that fails is noted and
 * given up; it is an error only if no other is left. */
slc_status slc_pet_run_outputs_take(slc_pet_run_job *job, const slc_pet_batch *batch);
/* Each output stands for itself: what cannot be completed is told, and the others are. */
void slc_pet_run_outputs_finish(slc_pet_run_job *job);
void slc_pet_run_outputs_abandon(slc_pet_run_job *job);

/* Makes the file of the pairs. */
slc_status slc_pet_run_list_create(slc_pet_run_job *job);
/* What became of an output, at the end. */
void slc_pet_run_judge(slc_pet_run_job *job, const char *name, slc_status status);
slc_status slc_pet_run_sinogram_open(const slc_pet_run_job *job, slc_io_pet_sinogram **sinogram,
                                     slc_error *error);

/* ---- cmd_pet_run_randoms.c --------------------------------------------------------------------- */

/* SLC_CLI_GO_ON, or the exit status after a line: of options that have no use. */
int slc_pet_run_randoms_check(const slc_cli_command *command, const slc_pet_run_job *job);
/* Are pairs written with randoms, and so at the end? */
bool slc_pet_run_pairs_wait(const slc_pet_run_job *job);
slc_status slc_pet_run_randoms_open(slc_pet_run_job *job);
/* Puts pairs aside until their randoms are known. */
slc_status slc_pet_run_pairs_put(slc_pet_run_job *job, const slc_pet_coincidences *pairs);
/* At the end, before all other outputs: what they come to. */
void slc_pet_run_randoms_end(slc_pet_run_job *job);
/* And after that: writes the pairs that were put aside. */
slc_status slc_pet_run_pairs_write(slc_pet_run_job *job);
/* The outputs of its own. */
void slc_pet_run_randoms_write(slc_pet_run_job *job);
void slc_pet_run_randoms_abandon(slc_pet_run_job *job);

/* ---- cmd_pet_run_print.c ----------------------------------------------------------------------- */

/* The table, with --json the object, with --quiet neither. False, after a line, if it could not be made. */
bool slc_pet_run_print(const slc_pet_run_job *job);
/* Tells where --subtract takes away what the delayeds need not be. */
void slc_pet_run_judge_subtraction(const slc_pet_run_job *job);
/* What became of the outputs, and of the rates if there are any: put into a tree, and lines of it. */
void slc_pet_run_put_outputs(const slc_pet_run_job *job, slc_cli_tree *tree);
void slc_pet_run_print_outputs(const slc_cli_tree *tree, const char *indent);

#endif
