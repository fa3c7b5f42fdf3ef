/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench velo`: measures the reconstruction of the VELO on the events of files.
 */
#include "cmd_bench_velo.h"
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_bench_velo)

typedef struct bench_options {
    const char *geometry, *what, *threads, *candidates, *simd, *bind, *csv, *svg;
    uint64_t events, batch, repetitions, time;
    bool quiet;
} bench_options;

static const slc_cli_option options_table[] = {
    {.name = "geometry",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, geometry),
     .help = "LHCb's velo_geometry.bin; without it the ideal geometry"},
    {.name = "what",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, what),
     .help = "threads,targets,candidates,algorithms,stages (default), scaling and memory"},
    {.name = "events",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, events),
     .low = 1,
     .high = 1 << 24,
     .help = "take the first N events"},
    {.name = "batch",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, batch),
     .low = 1,
     .high = 1 << 20,
     .help = "events in a batch, at most"},
    {.name = "threads",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, threads),
     .help = "numbers of threads (default 1,2,4,... up to the processors)"},
    {.name = "candidates",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, candidates),
     .help = "partners nearest in phi that a seed tries (default 1:10:1)"},
    {.name = "simd",
     .value = "T",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, simd),
     .help = "instruction set of what is not measured on all (default auto)"},
    {.name = "bind",
     .value = "WHERE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, bind),
     .help = "bind threads to cores (core), to NUMA nodes (numa), or not (none)"},
    {.name = "repetitions",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, repetitions),
     .low = 1,
     .high = 100000,
     .help = "of each measurement, in turns"},
    {.name = "time",
     .value = "MS",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, time),
     .low = 1,
     .high = 3600000,
     .help = "milliseconds of a measurement, in which events are repeated"},
    {.name = "csv",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, csv),
     .help = "write every measurement"},
    {.name = "svg",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, svg),
     .help = "draw throughput, efficiencies and cost"},
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, quiet),
     .help = "no progress and no notes on standard error, only errors"},
};

static void set_defaults(void *at)
{
    bench_options *options = at;
    *options = (bench_options){.events = 500, .batch = 32, .repetitions = 21, .time = 10};
}

/* ---- values ------------------------------------------------------------------------------------ */

enum { MOST = 256 };

typedef struct bench {
    const bench_options *options;
    slc_bench_velo_config config;
    bool wanted[SLC_BENCH_VELO_WHATS], memory;
    uint32_t threads[MOST], candidates[MOST];
    slc_velo_geometry geometry;
    slc_bench_velo_events *events;
    slc_bench_velo_rows rows;
    slc_cli_progress progress;
} bench;

static int choose_what(bench *b)
{
    const char *text = b->options->what != NULL ? b->options->what
                                                : "threads,targets,candidates,algorithms,stages";
    char word[32];
    while (slc_cli_next_word(&text, word, sizeof word)) {
        if (strcmp(word, "memory") == 0) {
            b->memory = true;
            continue;
        }
        int what = 0;
        while (what < SLC_BENCH_VELO_WHATS &&
               strcmp(slc_bench_velo_what_name((slc_bench_velo_what)what), word) != 0) {
            what++;
        }
        if (what == SLC_BENCH_VELO_WHATS) {
            return slc_cli_wrong(
                COMMAND,
                "--what takes threads, targets, candidates, algorithms, stages, scaling and memory "
                "with commas, not '%s'",
                word);
        }
        b->wanted[what] = true;
    }
    return SLC_CLI_GO_ON;
}

static int choose_threads(bench *b)
{
    const char *text = b->options->threads;
    const slc_run_pipeline_config all = {.threads = 0};
    b->config.threads = b->threads;
    if (text != NULL) {
        b->config.n_threads = slc_cli_whole_numbers(text, 1024, b->threads, MOST);
        return b->config.n_threads > 0
                   ? SLC_CLI_GO_ON
                   : slc_cli_wrong(COMMAND,
                                   "--threads takes whole numbers from 1 to 1024, as in 1,2, not '%s'", text);
    }
    const uint32_t most = slc_run_pipeline_workers(&all);
    for (uint32_t n = 1; n < most; n *= 2) {
        b->threads[b->config.n_threads++] = n;
    }
    b->threads[b->config.n_threads++] = most;
    return SLC_CLI_GO_ON;
}

static int choose_candidates(bench *b)
{
    const char *text = b->options->candidates != NULL ? b->options->candidates : "1:10:1";
    b->config.candidates = b->candidates;
    b->config.n_candidates = slc_cli_whole_numbers(text, 10, b->candidates, MOST);
    return b->config.n_candidates > 0
               ? SLC_CLI_GO_ON
               : slc_cli_wrong(COMMAND, "--candidates takes whole numbers from 1 to 10, as in 1,3, not '%s'",
                               text);
}

static int choose_binding(bench *b)
{
    static const char *const names[] = {"none", "core", "numa"};
    for (int i = 0; i < 3; i++) {
        if (b->options->bind == NULL || strcmp(b->options->bind, names[i]) == 0) {
            b->config.bind = (slc_bind)i;
            return SLC_CLI_GO_ON;
        }
    }
    return slc_cli_wrong(COMMAND, "--bind is none, core or numa, not '%s'", b->options->bind);
}

/* Scaling cuts the events into other batches, for which the inputs are read again. */
static int check_inputs(const bench *b, int n_inputs, char **inputs)
{
    bool others = false;
    for (int what = 0; what < SLC_BENCH_VELO_SCALING; what++) {
        others = others || b->wanted[what];
    }
    for (int i = 0; i < n_inputs; i++) {
        if (strcmp(inputs[i], "-") == 0 && others && b->wanted[SLC_BENCH_VELO_SCALING]) {
            return slc_cli_wrong(COMMAND, "scaling beside others reads the inputs twice, which '-' cannot");
        }
    }
    return SLC_CLI_GO_ON;
}

static int choose(bench *b, int n_inputs, char **inputs)
{
    const bench_options *options = b->options;
    static const char *const flags[] = {"--csv", "--svg"};
    const char *const files[] = {options->csv, options->svg};
    slc_error error = {.status = SLC_OK};
    b->config.repetitions = b->rows.repetitions = (uint32_t)options->repetitions;
    b->config.seconds = 1e-3 * (double)options->time;
    int status = slc_cli_check_files(COMMAND, flags, files, 2, inputs, n_inputs);
    status = status == SLC_CLI_GO_ON ? choose_what(b) : status;
    status = status == SLC_CLI_GO_ON ? check_inputs(b, n_inputs, inputs) : status;
    status = status == SLC_CLI_GO_ON ? choose_threads(b) : status;
    status = status == SLC_CLI_GO_ON ? choose_candidates(b) : status;
    status = status == SLC_CLI_GO_ON ? choose_binding(b) : status;
    if (status == SLC_CLI_GO_ON && slc_simd_choose(options->simd, &b->config.target, &error) != SLC_OK) {
        status = slc_cli_wrong(COMMAND, "%s", error.text);
    }
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static bool keep_row(void *context, const slc_bench_velo_row *row)
{
    bench *b = context;
    slc_bench_velo_rows *kept = &b->rows;
    if (kept->n == kept->capacity) {
        const size_t capacity = kept->capacity > 0 ? 2 * kept->capacity : 256;
        slc_bench_velo_row *rows = realloc(kept->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            kept->failed = true;
            return false;
        }
        kept->rows = rows;
        kept->capacity = capacity;
    }
    kept->rows[kept->n++] = *row;
    slc_cli_progress_show(&b->progress, kept->n, 0);
    return !slc_cli_interrupted();
}

/* Events of a kind of measurement: scaling takes each by itself. */
static slc_status read_events(bench *b, bool alone, char **inputs, int n_inputs, slc_error *error)
{
    slc_bench_velo_events_close(b->events);
    b->events = NULL;
    return slc_bench_velo_events_read(inputs, (size_t)n_inputs, b->options->events,
                                      alone ? 1 : (uint32_t)b->options->batch, &b->events, error);
}

static slc_status measure(bench *b, char **inputs, int n_inputs, slc_error *error)
{
    slc_status status = SLC_OK;
    if (b->options->geometry != NULL) {
        status = slc_io_read_velo_geometry(b->options->geometry, &b->geometry, error);
        b->config.geometry = &b->geometry;
    }
    for (int what = 0; what < SLC_BENCH_VELO_WHATS && status == SLC_OK; what++) {
        const bool alone = what == SLC_BENCH_VELO_SCALING;
        if (!b->wanted[what]) {
            continue;
        }
        if (b->events == NULL || alone) {
            status = read_events(b, alone, inputs, n_inputs, error);
        }
        if (status == SLC_OK) {
            status = slc_bench_velo_bench(&b->config, (slc_bench_velo_what)what, b->events, keep_row,
                                          slc_cli_stop, b, error);
        }
    }
    return b->rows.failed ? slc_fail(error, SLC_ERR_MEMORY, "no memory for the measurements") : status;
}

/* Printed behind the other tables: it stands in neither CSV nor SVG. */
static slc_status measure_memory(bench *b, char **inputs, int n_inputs, slc_error *error)
{
    slc_status status = SLC_OK;
    if (b->memory && b->events == NULL) {
        status = read_events(b, false, inputs, n_inputs, error);
    }
    return b->memory && status == SLC_OK ? slc_cmd_bench_velo_memory(&b->config, b->events, error) : status;
}

/* Faults in the data change what is measured. */
static void tell_faults(const bench *b)
{
    for (size_t i = 0; i < b->rows.n && !b->options->quiet; i++) {
        if (b->rows.rows[i].faults > 0) {
            slc_cli_say("bench velo",
                        "note: the events have faults, as `sluice velo` tells: not all is reconstructed");
            return;
        }
    }
}

static bool bench_all(bench *b, char **inputs, int n_inputs)
{
    const bench_options *options = b->options;
    slc_error error = {.status = SLC_OK};
    slc_cli_progress_begin(&b->progress, "bench velo", options->quiet);
    b->progress.unit = "measurements";
    slc_status status = measure(b, inputs, n_inputs, &error);
    slc_cli_progress_end(&b->progress);
    if (status == SLC_OK && options->csv != NULL) {
        status = slc_bench_velo_csv(options->csv, &b->rows, &error);
    }
    if (status == SLC_OK && options->svg != NULL) {
        status = slc_bench_velo_svg(options->svg, b->rows.rows, b->rows.n, &error);
    }
    if (status == SLC_OK) {
        tell_faults(b);
        slc_bench_velo_print(&b->rows);
        status = measure_memory(b, inputs, n_inputs, &error);
    }
    if (status != SLC_OK && status != SLC_END) {
        slc_cli_say("bench velo", "%s", error.text);
    }
    return status == SLC_OK;
}

static int run(int argc, char **argv)
{
    bench_options options;
    int first = 0;
    int status = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    bench *b = calloc(1, sizeof *b);
    if (b == NULL) {
        slc_cli_say("bench velo", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    b->options = &options;
    status = choose(b, argc - first, argv + first);
    if (status == SLC_CLI_GO_ON) {
        slc_cli_catch_signals();
        status = bench_all(b, argv + first, argc - first) ? SLC_CLI_DONE : SLC_CLI_FAILED;
    }
    slc_bench_velo_events_close(b->events);
    free(b->rows.rows);
    free(b);
    return status;
}

const slc_cli_command slc_cmd_bench_velo = {
    .name = "bench velo",
    .operands = "INPUT...",
    .summary = "measure the VELO: threads, instruction sets, algorithms",
    .description = "Reads events of LHCb's vertex detector, raw (MDF) or as lists of hits (JSON), into "
                   "memory and measures\n"
                   "throughput to tracks, fitted tracks and vertices against threads, instruction sets and "
                   "the number of\n"
                   "candidates, with search by pair and by triplet beside, and what each stage costs. Where "
                   "the events have\n"
                   "truth, also how well tracks are found. What is compared takes turns. For one thread, pin "
                   "the command to\n"
                   "an idle core, as with `taskset -c 1 ... --threads 1`.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .defaults = set_defaults,
    .run = run,
};
