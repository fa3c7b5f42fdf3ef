/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench hlt1`: measures LHCb's first trigger level on the events of files, or on generated ones.
 */
#include "bench/bench_hlt1.h"
#include "cli_talk.h"
#include "cli_words.h"
#include "cmd_bench.h"

#include <sluice/io_hlt1.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct hlt1_options {
    const char *geometry, *lines, *simd, *csv;
    slc_cli_count_list threads;
    uint64_t events, distinct, seed, batch, repetitions, time;
    uint32_t settings; /* bits */
    int bind;
    bool quiet;
} hlt1_options;

#define O hlt1_options
static const slc_cli_option table[] = {
    {"geometry", 0, NEEDED | INPUT(O, geometry), "FOLDER",
     "LHCb's geometry and tables: velo_geometry.bin, ut_boards.bin ..."},
    {"settings", 0,
     SLC_CLI_ROW(SLC_CLI_CHOICES, O, settings, 0, 0, "standard, fast, loose and full with commas",
                 NAMES(NULL, slc_bench_hlt1_settings_name), NULL),
     "LIST", "standard,fast,loose,full (default); fast: standard, with sluice velo --fast"},
    {"lines", 0, INPUT(O, lines), "FILE", "decide about events by these lines, too (JSON)"},
    {"events", 0, COUNT(O, events, 1, 1 << 24), "N", "take the first N events; without inputs: generate N"},
    {"distinct", 0, COUNT(O, distinct, 0, 1 << 20), "N",
     "measure N made of the inputs', without 2 % of words; 0: those"},
    {"seed", 0, COUNT(O, seed, 0, 0), "S", "of generated events"},
    {"batch", 0, COUNT(O, batch, 1, 1 << 20), "N", "events in a batch, at most"},
    {"threads", 0, COUNTS(O, threads, 1024, "whole numbers from 1 to 1024, as in 1,2"), "LIST",
     "numbers of threads (default 1)"},
    {"simd", 0, SIMD(O, simd), "T", "instruction set (default auto)"},
    {"bind", 0, CHOICE(O, bind, WORDS("none", "core", "numa")), "WHERE",
     "bind threads to cores (core), to NUMA nodes (numa), or not (none)"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 100000), "N", "of each measurement, in turns"},
    {"time", 0, COUNT(O, time, 1, 3600000), "MS",
     "milliseconds of a measurement, in which events are repeated"},
    {"csv", 0, OUTPUT_AS(O, csv, ENDS_OR_NONE(".csv")), "FILE", "write every measurement"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress and no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(hlt1_options *)at = (hlt1_options){.settings = (1U << SLC_BENCH_HLT1_SETTINGS) - 1,
                                         .threads = {1, {1}},
                                         .events = 1000,
                                         .distinct = 1000,
                                         .seed = 1,
                                         .batch = SLC_HLT1_BATCH_EVENTS,
                                         .repetitions = 11,
                                         .time = 10};
}

/* What is read beside the events. */
typedef struct tables {
    slc_hlt1_geometry *geometry;
    slc_hlt1_lines lines;
    slc_hlt1_network network;
} tables;

static slc_status read_tables(const hlt1_options *options, tables *to, slc_bench_hlt1_config *config,
                              slc_error *error)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/two_track_mva_model.json", options->geometry);
    slc_status status = slc_io_hlt1_geometry_open(options->geometry, &to->geometry, error);
    config->geometry = to->geometry;
    if (status == SLC_OK && access(path, F_OK) == 0) {
        config->network = &to->network;
        status = slc_io_hlt1_network_read(path, &to->network, error);
    }
    if (status == SLC_OK && options->lines != NULL) {
        config->lines = &to->lines;
        status = slc_io_hlt1_lines_read(options->lines, &to->lines, error);
    }
    return status;
}

/* What is not done costs nothing. */
static void tell_missing(const hlt1_options *options, const slc_hlt1_geometry *geometry)
{
    if (!options->quiet && !geometry->finds_muons) {
        slc_cli_say("bench hlt1", "note: %s has no muon_field_of_interest.bin: no muons are looked for",
                    options->geometry);
    }
    if (!options->quiet && geometry->transport == NULL) {
        slc_cli_say("bench hlt1", "note: %s has no kalman_FT6x2: no track is fitted, and no pairs are made",
                    options->geometry);
    }
}

static int act(const slc_cli_call *call)
{
    const hlt1_options *options = call->options;
    const slc_bench_output output = {.csv = options->csv};
    slc_error error;
    slc_bench_hlt1_config config = {.paths = call->operands,
                                    .n_paths = (size_t)call->n,
                                    .events = options->events,
                                    .seed = options->seed,
                                    .distinct = options->distinct,
                                    .batch = (uint32_t)options->batch,
                                    .threads = options->threads.value,
                                    .n_threads = options->threads.n,
                                    .repetitions = (uint32_t)options->repetitions,
                                    .seconds = 1e-3 * (double)options->time,
                                    .bind = (slc_bind)options->bind};
    for (int s = 0; s < SLC_BENCH_HLT1_SETTINGS; s++) {
        config.wanted[s] = (options->settings >> s & 1) != 0;
    }
    if (call->n == 0 && slc_cli_word(&slc_cmd_bench_hlt1, "distinct") != NULL) {
        return slc_cli_wrong(&slc_cmd_bench_hlt1, "--distinct is of inputs; generated events are distinct");
    }
    if (call->n > 0 && slc_cli_word(&slc_cmd_bench_hlt1, "seed") != NULL) {
        return slc_cli_wrong(&slc_cmd_bench_hlt1, "--seed is of generated events, not of inputs");
    }
    if (slc_simd_choose(options->simd, &config.target, &error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_bench_hlt1, "%s", error.text);
    }
    tables *read = calloc(1, sizeof *read);
    int done = SLC_CLI_FAILED;
    if (read == NULL) {
        slc_cli_say("bench hlt1", "no memory to begin with");
    } else if (read_tables(options, read, &config, &error) != SLC_OK) {
        slc_cli_say("bench hlt1", "%s", error.text);
    } else {
        tell_missing(options, read->geometry);
        done = slc_cmd_bench_run(&slc_cmd_bench_hlt1, options->quiet, slc_bench_hlt1, &config, &output);
    }
    if (read != NULL) {
        slc_io_hlt1_geometry_close(read->geometry);
    }
    free(read);
    return done;
}

const slc_cli_command slc_cmd_bench_hlt1 = {
    .name = "bench hlt1",
    .operands = "[INPUT...]",
    .summary = "measure LHCb's first trigger level: settings, threads, stages",
    .description =
        "Reads raw events of LHCb (MDF, MEP) into memory, or generates some, and measures throughput to long "
        "tracks\n"
        "and to the end of the chain, and what each stage costs, by settings and threads, which take turns. "
        "For one\n"
        "thread, pin the command to an idle core, as with `taskset -c 1 ...`.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = set_defaults,
    .act = act,
};
