/* SPDX-License-Identifier: Apache-2.0
 *
 * The harness of every benchmark. A benchmark names contestants, each with prepare, run and verify; they take
 * turns, so that what disturbs the machine for a while disturbs all alike, and each gets the minimum and the
 * median of its runs. What comes out are rows of one schema, keys first and then values with their units in
 * their names, and a report writes them as tables, CSV, JSON and SVG.
 */
#ifndef SLUICE_BENCH_H
#define SLUICE_BENCH_H

#include <sluice/base.h>

#include <stdio.h>

struct json_t;
struct slc_team;
struct slc_run_places;

/* ---- measuring (bench_measure.c) --------------------------------------------------------------- */

enum { SLC_BENCH_SERIES = 12 };

/* Seconds. */
typedef struct slc_bench_time {
    double minimum, median;
} slc_bench_time;

/* One that is measured. All calls get `self`; SLC_ERR_UNSUPPORTED from any of them leaves it out. */
typedef struct slc_bench_contestant {
    void *self;
    slc_status (*prepare)(void *self, slc_error *error); /* opens and reserves; may be NULL */
    /* One run; it takes the time itself, by whichever clock, of each of its series: stages and their sum. */
    slc_status (*run)(void *self, double *seconds, slc_error *error);
    /* Instead of it, if setting up the clock is dear: n runs of one series. */
    slc_status (*runs)(void *self, uint32_t n, double *seconds, slc_error *error);
    slc_status (*verify)(void *self, slc_error *error); /* after its first run; may be NULL */
    void (*clear)(void *self); /* after its last run, and after a failed prepare; may be NULL */
    uint32_t n_series;         /* 0: one */
    /* Filled in by slc_bench_measure. */
    bool unsupported, open;
    uint32_t wanted, done; /* runs that count */
    slc_bench_time time[SLC_BENCH_SERIES];
    double hertz; /* of the core, the median over the turns */
    double *samples, *clocks;
    uint32_t n_clocks;
} slc_bench_contestant;

/* Told of what is done; returns false to end the work. `of` is 0 if it is not known. */
typedef struct slc_bench_watch {
    bool (*tell)(void *context, uint64_t done, uint64_t of); /* may be NULL */
    void *context;
} slc_bench_watch;
bool slc_bench_goes_on(const slc_bench_watch *watch, uint64_t done, uint64_t of);

typedef struct slc_bench_plan {
    uint32_t repetitions; /* runs of each that count */
    uint32_t rounds;      /* turns that they are shared out over; 0: a turn for each */
    bool warm;            /* every turn begins with a run that does not count; the first one does always */
    bool afresh;          /* prepared and cleared at each turn, so that memory is that of one at a time */
    double seconds;       /* fewer runs if they would take longer than this; 0: any time */
    uint32_t least;       /* of those; 0: one, and then it is the one that a turn begins with */
    const slc_bench_watch *watch; /* asked between turns; may be NULL */
} slc_bench_plan;

/* Measures. SLC_END if the watch ended it, or whatever a contestant returned. */
slc_status slc_bench_measure(const slc_bench_plan *plan, slc_bench_contestant *contestants, size_t n,
                             slc_error *error);

/* Gives the numbers from 0 to n - 1 to so many threads of a team as they come, each once, the threads bound
 * to places (NULL: to none). After a failure no more begin; what failed first comes out. */
typedef slc_status slc_bench_work(void *context, uint32_t thread, uint64_t number, slc_error *error);
slc_status slc_bench_share(struct slc_team *team, const struct slc_run_places *places, uint32_t threads,
                           uint64_t n, slc_bench_work *work, void *context, slc_error *error);

/* Sorts the values. */
slc_bench_time slc_bench_time_of(double *values, size_t n);

/* The frequency of the core that the thread runs on, now: how many additions, each of which needs the result
 * of the one before, it does in a second. Takes about 20 us. */
double slc_bench_hertz(void);

/* ---- rows (bench_rows.c) ----------------------------------------------------------------------- */

typedef enum slc_bench_kind {
    SLC_BENCH_TEXT = 0,
    SLC_BENCH_QUOTED, /* text that may have commas */
    SLC_BENCH_COUNT,
    SLC_BENCH_NUMBER,
    SLC_BENCH_FLAG
} slc_bench_kind;

/* Where a column is written; tables and pictures name what they show. */
enum { SLC_BENCH_CSV = 1, SLC_BENCH_JSON = 2, SLC_BENCH_FILES = 3 };

typedef struct slc_bench_column {
    const char *name; /* with the unit */
    slc_bench_kind kind;
    uint32_t in;
    int digits; /* of a number in CSV; 0: six */
} slc_bench_column;

/* A value; one that is not there is empty in CSV, left out of JSON, and "-" in a table. */
typedef struct slc_bench_cell {
    bool there;
    double number; /* counts too, which are exact up to 2^53 */
    const char *text;
} slc_bench_cell;

/* Begins as {.columns = …, .n_columns = …}. */
typedef struct slc_bench_rows {
    const slc_bench_column *columns;
    size_t n_columns, n, capacity;
    slc_bench_cell *cells;
    char **texts; /* that the rows own */
    size_t n_texts;
    bool failed; /* no memory for a row or a text: slc_bench_report_write tells */
} slc_bench_rows;

/* A new row, with no value yet. Never NULL: without memory it is one that is thrown away. */
slc_bench_cell *slc_bench_add(slc_bench_rows *rows);
slc_bench_cell *slc_bench_row(const slc_bench_rows *rows, size_t row);
void slc_bench_rows_clear(slc_bench_rows *rows);

/* Values. A number that is no finite one is not there, and neither is NULL. */
slc_bench_cell slc_bench_number(double number);
slc_bench_cell slc_bench_count(uint64_t count);
slc_bench_cell slc_bench_flag(bool flag);
slc_bench_cell slc_bench_text(const char *text); /* lent */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
slc_bench_cell
slc_bench_textf(slc_bench_rows *rows, const char *format, ...);

/* Prints a template: "{name:6} {seconds:12.4f ms|15}" is the text of a column, then a number with what
 * follows it, or "-" in a width of 15 (without "|" the width of the number) if it is not there. */
void slc_bench_print(FILE *out, const slc_bench_rows *rows, size_t row, const char *format);
/* The same into memory. */
void slc_bench_format(char *text, size_t room, const slc_bench_rows *rows, size_t row, const char *format);
/* The rows from one on, as an array of objects; NULL without memory. */
struct json_t *slc_bench_json(const slc_bench_rows *rows, size_t from, size_t n);

/* ---- pictures (bench_figure.c) ----------------------------------------------------------------- */

typedef enum slc_bench_scale {
    SLC_BENCH_FROM_ZERO = 0, /* to a little above the largest */
    SLC_BENCH_AROUND,        /* all values, with some room, up to 100 */
    SLC_BENCH_DECADES,       /* whole ones, logarithmic */
    SLC_BENCH_PERCENT        /* 0 to 100 */
} slc_bench_scale;

typedef struct slc_bench_axis {
    const char *column, *label;
    slc_bench_scale scale;
} slc_bench_axis;

/* Panels of one kind: a panel for each different combination of the columns `panel`, in it a curve for each
 * of the columns `curve`. Names are separated by commas; NULL: one for all. */
typedef struct slc_bench_figure {
    const slc_bench_rows *rows;
    const char *only, *is; /* rows whose text in column `only` is this one; NULL: all that have both values */
    const char *panel, *curve;
    const char *title, *legend; /* templates, of the first row of a panel and of a curve */
    const char *note;           /* above the legend */
    slc_bench_axis x, y;
    const char *rings; /* points are rings of this column's radius, and no curve; NULL: a curve */
} slc_bench_figure;

/* ---- a report (bench_write.c) ------------------------------------------------------------------ */

enum { SLC_BENCH_SETS = 4, SLC_BENCH_FIGURES = 10 };

/* What a benchmark fills: tables are printed into `table`; the first set of rows is the CSV's. */
typedef struct slc_bench_report {
    FILE *table;
    char *text;
    size_t size;
    slc_bench_rows sets[SLC_BENCH_SETS];
    slc_bench_figure figures[SLC_BENCH_FIGURES];
    size_t n_figures;
    const char *note; /* for standard error; NULL: none */
    struct json_t *json;
} slc_bench_report;

slc_status slc_bench_report_open(slc_bench_report *report, slc_error *error);
void slc_bench_report_clear(slc_bench_report *report);

/* Where it goes: the files, if they are not NULL, and standard output. */
typedef struct slc_bench_output {
    const char *csv, *svg;
    bool json;
} slc_bench_output;

/* Writes the files, and then prints the tables or one JSON object. SLC_ERR_IO, SLC_ERR_MEMORY; SLC_ERR_USAGE
 * if the rows make no picture. */
slc_status slc_bench_report_write(slc_bench_report *report, const slc_bench_output *output, slc_error *error);

/* Every benchmark is one: it measures what its configuration says and fills the report. SLC_END if the watch
 * ended it, in which case there is nothing to write. */
typedef slc_status slc_bench_function(const void *config, const slc_bench_watch *watch,
                                      slc_bench_report *report, slc_error *error);

#endif
