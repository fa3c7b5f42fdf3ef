/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of results: what all commands that write them have as options, and how they are begun.
 */
#ifndef SLUICE_CLI_RESULTS_H
#define SLUICE_CLI_RESULTS_H

#include "cli_options.h"

#include <sluice/io.h>

/* Goes into a command's options. */
typedef struct slc_cli_results {
    int form; /* 0: by the name */
    int compression;
    const char *columns;
    double flush_ns; /* 0: not given */
    uint64_t rotate_bytes;
    double rotate_ns;
} slc_cli_results;

/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and members. */
/* NOLINTBEGIN(bugprone-macro-parentheses): rows of a table, of names of types and members. */
/* Rows of a command's table, whose description tells the groups. */
#define SLC_CLI_RESULTS(o, m)                                                                                \
    {"form", 0, CHOICE(o, m.form, WORDS_FROM_1("hdf5", "arrow", "arrow-stream", "npy", "npz")), "FORM",      \
     "of these results: hdf5, arrow, arrow-stream, npy, npz; else as its name ends"},                        \
        {"compression", 0, CHOICE(o, m.compression, WORDS("none", "deflate", "lz4", "zstd")), "HOW",         \
         "of the same: none (the default); deflate (hdf5); lz4, zstd (arrow)"},                              \
    {                                                                                                        \
        "columns", 0, TEXT(o, m.columns), "LIST",                                                            \
            "which of the groups above, or of their columns, it has: GROUP,GROUP.COLUMN …"                 \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* And of those that may go on for hours. */
#define SLC_CLI_RESULTS_LIVE(o, m)                                                                           \
    {"flush", 0, TIME_FROM(o, m.flush_ns, "100ms", "less", "a time, as 10s"), "TIME",                        \
     "bring it to its temporary file so often (default 5s if an input is a pipe)"},                          \
        {"rotate-size", 0, BYTES_FROM(o, m.rotate_bytes, "128k", "a size, as 4G or 500M"), "SIZE",           \
         "begin another file (FILE.0001...) at so many bytes of rows: 4G, 500M"},                            \
    {                                                                                                        \
        "rotate-time", 0, TIME_FROM(o, m.rotate_ns, "100ms", "less", "a time, as 60s"), "TIME",              \
            "begin another file after 600s"                                                                  \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* Opens it, and puts down which program and command it comes from. What is wrong is in the error. */
slc_status slc_cli_results_create(const char *path, const slc_cli_results *options, uint64_t threads,
                                  const char *command_line, slc_io_writer **results, slc_error *error);
/* Seconds from one flush to the next; `live`: an input cannot be read again. Infinite: none. */
double slc_cli_results_flush_seconds(const slc_cli_results *options, bool live);
/* As slc_io_results_flush, in these. */
slc_status slc_cli_results_flush(slc_io_writer *results, const slc_cli_results *options, bool live,
                                 slc_error *error);
/* Completes it, with the run's checksum unless that is NULL; one whose reading a signal ended says so in its
 * attribute `partial`. Frees it in any case. If it was standard output, what is printed from here on goes to
 * standard error. */
slc_status slc_cli_results_end(slc_io_writer *results, const uint64_t *checksum, slc_error *error);

/* Whether an output that is written at the end could be created, which is tried at the beginning: a wrong
 * folder should not cost a long run. Else false, after a line. NULL: none is wanted. */
bool slc_cli_can_create(const char *command, const char *path);

/* --display N of a command with --report: the event's number, if it is given. SLC_CLI_GO_ON, or SLC_CLI_USAGE
 * after one line where it is no whole number or there is no report. */
int slc_cli_display_check(const slc_cli_command *command, const char *display, const char *report,
                          uint64_t *event);

/* Which event of a batch is drawn, or its number of events: the one that `display` asks for, whose number is
 * `wanted`, or else the first that has a row of `rows`, or else, if nothing is there yet, the first. *final:
 * no other takes its place. `first` is the number of the batch's first event. */
uint32_t slc_cli_display_choose(const slc_columns *rows, const char *display, uint64_t wanted, uint64_t first,
                                bool filled, bool *final);

/* Event `event` of a collection, alone, in place of what was there. */
slc_status slc_cli_copy_event(const slc_schema *schema, const void *from, uint32_t event, void *to);

/* Outputs that were completed, for the line on a run that a signal ended: "interrupted: the result is
 * partial: 12 events in a.h5". A name that is NULL is none. */
typedef struct slc_cli_kept {
    const char *name[8];
    size_t n;
} slc_cli_kept;
void slc_cli_kept_add(slc_cli_kept *kept, const char *name);
/* Of an output that was ended, with that status: one that is kept; else says the error, and false. */
bool slc_cli_kept_judge(slc_cli_kept *kept, const char *command, const char *name, slc_status status,
                        const slc_error *error);
void slc_cli_tell_partial(const char *command, uint64_t n, const char *unit, const slc_cli_kept *kept);

/* What does not go with the name of an output (NULL: none) and its form: SLC_CLI_GO_ON, or SLC_CLI_USAGE
 * after one line. `only_results`: the command has several groups of events, and writes neither text nor one
 * table. */
int slc_cli_results_check(const slc_cli_command *command, const char *option, bool only_results,
                          const char *path, const slc_cli_results *options);

/* The same of an output that is never text, and may have any name without an end. */
int slc_cli_results_check_name(const slc_cli_command *command, const char *path,
                               const slc_cli_results *options);

/* The same of SLC_CLI_RESULTS_LIVE: a series of files takes no name of other outputs and of inputs. `all`:
 * the command's options. */
int slc_cli_results_check_series(const slc_cli_command *command, const void *all, const char *path,
                                 const slc_cli_results *options, char **inputs, int n);

/* Does that name, with these options, ask for a file of columns (and not for one of text)? */
bool slc_cli_results_are(const char *path, const slc_cli_results *options);
/* Will the file have this group, or columns of it, if there is one? */
bool slc_cli_results_have(const slc_cli_results *options, const char *group);
/* Is it one in which groups cannot have different events: Arrow, NPY? */
bool slc_cli_results_are_one(const char *path, const slc_cli_results *options);

#endif
