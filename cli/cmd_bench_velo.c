/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench velo`: measures the reconstruction of the VELO on the events of files.
 */
#include "bench/bench_velo.h"
#include "cli_talk.h"
#include "cli_words.h"
#include "cmd_bench.h"

#include <sluice/io.h>

#include <string.h>

#define COMMAND (&slc_cmd_bench_velo)

typedef struct velo_options {
    const char *geometry, *simd, *device, *csv, *svg;
    slc_cli_count_list threads, candidates;
    uint64_t events, distinct, batch, repetitions, time;
    uint32_t what; /* bits */
    int bind;
    bool quiet;
} velo_options;

#define O velo_options
static const slc_cli_option table[] = {
    {"geometry", 0, INPUTS(O, geometry, slc_cli_geometry_files), "FILE",
     "LHCb's velo_geometry.bin, or moves as JSON; without it the ideal geometry"},
    {"what", 0,
     SLC_CLI_ROW(SLC_CLI_CHOICES, O, what, 0, 0,
                 "threads, targets, candidates, algorithms, stages, scaling, memory and reading with commas",
                 NAMES(NULL, slc_bench_velo_what_name), NULL),
     "LIST", "threads,targets,candidates,algorithms,stages (default),scaling,memory,reading"},
    {"device", 0, DEVICE(O, device), "WHICH", "measure GPUs (stages, threads): cuda, cuda:N, cuda:N,M, all"},
    {"events", 0, COUNT(O, events, 1, 1 << 24), "N", "take the first N events"},
    {"distinct", 0, COUNT(O, distinct, 0, 1 << 20), "N",
     "measure N made of them, too, without 2 % of words; 0: none"},
    {"batch", 0, COUNT(O, batch, 1, 1 << 20), "N", "events in a batch, at most"},
    {"threads", 0, COUNTS(O, threads, 1024, "whole numbers from 1 to 1024, as in 1,2"), "LIST",
     "numbers of threads (default 1,2,4,... up to the processors)"},
    {"candidates", 0, COUNTS(O, candidates, 10, "whole numbers from 1 to 10, as in 1,3"), "LIST",
     "partners nearest in phi that a seed tries (default 1:10:1)"},
    {"simd", 0, SIMD(O, simd), "T", "instruction set of what is not measured on all (default auto)"},
    {"bind", 0, CHOICE(O, bind, WORDS("none", "core", "numa")), "WHERE",
     "bind threads to cores (core), to NUMA nodes (numa), or not (none)"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 100000), "N", "of each measurement, in turns"},
    {"time", 0, COUNT(O, time, 1, 3600000), "MS",
     "milliseconds of a measurement, in which events are repeated"},
    {"csv", 0, OUTPUT_AS(O, csv, ENDS_OR_NONE(".csv")), "FILE", "write every measurement"},
    {"svg", 0, OUTPUT(O, svg), "FILE", "draw throughput, efficiencies and cost"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress and no notes on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(velo_options *)at = (velo_options){.what = (1U << SLC_BENCH_VELO_SCALING) - 1,
                                         .candidates = {10, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10}},
                                         .events = 500,
                                         .distinct = 1000,
                                         .batch = 32,
                                         .repetitions = 21,
                                         .time = 10};
}

/* Scaling cuts the events into other batches, for which the inputs are read again; reading is what it says.
 */
static bool reads_twice(const velo_options *options)
{
    const uint32_t scaling = 1U << SLC_BENCH_VELO_SCALING;
    return (options->what >> SLC_BENCH_VELO_READING & 1) != 0 ||
           ((options->what & scaling) != 0 && (options->what & (scaling - 1)) != 0);
}

static int act(const slc_cli_call *call)
{
    velo_options *options = call->options;
    const slc_bench_output output = {.csv = options->csv, .svg = options->svg};
    slc_velo_geometry geometry;
    slc_error error;
    slc_bench_velo_config config = {.paths = call->operands,
                                    .n_paths = (size_t)call->n,
                                    .most = options->events,
                                    .batch = (uint32_t)options->batch,
                                    .threads = options->threads.value,
                                    .n_threads = options->threads.n,
                                    .candidates = options->candidates.value,
                                    .n_candidates = options->candidates.n,
                                    .distinct = options->distinct,
                                    .repetitions = (uint32_t)options->repetitions,
                                    .seconds = 1e-3 * (double)options->time,
                                    .bind = (slc_bind)options->bind};
    for (int what = 0; what < SLC_BENCH_VELO_WHATS; what++) {
        config.wanted[what] = (options->what >> what & 1) != 0;
    }
    for (int i = 0; i < call->n && reads_twice(options); i++) {
        if (strcmp(call->operands[i], "-") == 0) {
            return slc_cli_wrong(
                COMMAND, "scaling beside others, and reading, read the inputs twice, which '-' cannot");
        }
    }
    const bool gpu = options->device != NULL && strcmp(options->device, "cpu") != 0;
    if (gpu) {
        config.device = options->device;
        config.batch = slc_cli_word(COMMAND, "batch") == NULL ? 40000 : config.batch;
        if (slc_cli_word(COMMAND, "svg") != NULL) {
            return slc_cli_wrong(COMMAND, "--svg does not go with --device %s", options->device);
        }
    }
    if (slc_simd_choose(options->simd, &config.target, &error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "%s", error.text);
    }
    if (options->geometry != NULL) {
        config.geometry = &geometry;
        if (slc_io_read_velo_geometry(options->geometry, &geometry, &error) != SLC_OK) {
            slc_cli_say("bench velo", "%s", error.text);
            return SLC_CLI_FAILED;
        }
    }
    return slc_cmd_bench_run(COMMAND, options->quiet, slc_bench_velo, &config, &output);
}

const slc_cli_command slc_cmd_bench_velo = {
    .name = "bench velo",
    .operands = "INPUT...",
    .summary = "measure the VELO: threads, instruction sets, algorithms",
    .description = "Reads events of LHCb's vertex detector, raw (MDF, MEP) or as lists of hits (JSON), into "
                   "memory and measures\n"
                   "throughput to tracks, fitted tracks and vertices against threads, instruction sets and "
                   "the number of\n"
                   "candidates, with search by pair and by triplet beside, and what each stage costs. Where "
                   "the events have\n"
                   "truth, also how well tracks are found. What is compared takes turns. For one thread, pin "
                   "the command to\n"
                   "an idle core, as with `taskset -c 1 ... --threads 1`.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 1,
    .max_operands = SIZE_MAX,
    .reads_operands = true,
    .defaults = set_defaults,
    .act = act,
};
