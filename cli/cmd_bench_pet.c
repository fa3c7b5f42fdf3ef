/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench pet`: measures the PET chain from frames in memory to pairs, for scanners, rates and threads.
 */
#include "bench/bench_pet.h"
#include "cli_words.h"
#include "cmd_bench.h"

#include <string.h>

#define COMMAND (&slc_cmd_bench_pet)

enum { MOST = 16, NAME = 32 };

typedef struct pet_options {
    slc_cli_number_list rate;
    slc_cli_count_list threads;
    const char *scanner, *csv, *device;
    uint64_t frames, batch, repetitions, seed;
    double window_ns;
    bool policies, baselines, lists, json;
} pet_options;

#define O pet_options
static const slc_cli_option table[] = {
    {"scanner", 0, TEXT(O, scanner), "NAMES", "mouse20, explorer, vectors, or several with commas"},
    {"rate", 0, NUMBERS(O, rate, 1e-3, 1e4, "numbers from 0.001 to 10000 with commas"), "LIST",
     "millions of singles a second"},
    {"threads", 0, COUNTS(O, threads, 64, "whole numbers from 1 to 64 with commas"), "LIST",
     "threads of all stages"},
    {"frames", 0, COUNT(O, frames, 1000, 1e9), "N", "in memory"},
    {"batch", 0, COUNT(O, batch, 1, 1e9), "N", "frames given to the chain at once"},
    {"window", 0, NUMBER(O, window_ns, 0.001, 1e9), "NS", "of coincidences"},
    {"policies", 0, FLAG(O, policies), NULL, "measure every policy of coincidences"},
    {"baselines", 0, FLAG(O, baselines), NULL, "measure plain code for the same tasks"},
    {"lists", 0, FLAG(O, lists), NULL, "measure writing list-mode files: pairs of crystals at random"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 100000), "N", "of each measurement; the median counts"},
    {"device", 0, DEVICE(O, device), "WORD",
     "cpu, or cuda or cuda:N: stages on a GPU, and the chain from page-locked memory"},
    {"seed", 0, COUNT(O, seed, 0, 0), "N", "of the generated frames"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"csv", 0, OUTPUT_AS(O, csv, ENDS_OR_NONE(".csv")), "FILE", "write every line of the tables"},
};
#undef O

static void defaults(void *options)
{
    slc_bench_pet_config config;
    slc_bench_pet_config_default(&config);
    *(pet_options *)options = (pet_options){.scanner = "mouse20,explorer",
                                            .rate = {2, {20, 200}},
                                            .threads = {1, {1}},
                                            .device = "cpu",
                                            .frames = config.frames,
                                            .batch = config.batch,
                                            .window_ns = config.window_ns,
                                            .repetitions = config.repetitions,
                                            .seed = config.seed};
}

static int act(const slc_cli_call *call)
{
    pet_options *options = call->options;
    const slc_bench_output output = {.csv = options->csv, .json = options->json};
    const char *text = options->scanner, *scanners[MOST];
    char names[MOST][NAME];
    size_t n = 0;
    for (char word[NAME]; slc_cli_next_word(&text, word, sizeof word); n++) {
        slc_pet_geometry geometry;
        if (slc_pet_scanner(word, &geometry, NULL) != SLC_OK) {
            return slc_cli_unknown(COMMAND, "scanner", word, NULL, slc_pet_scanner_name, NULL);
        }
        if (n == MOST) {
            return slc_cli_wrong(COMMAND, "more than %d scanners", MOST);
        }
        memcpy(names[n], word, sizeof word);
        scanners[n] = names[n];
    }
    for (size_t i = 0; i < options->rate.n; i++) {
        options->rate.value[i] *= 1e6;
    }
    const slc_bench_pet_config config = {
        .scanners = scanners,
        .n_scanners = n,
        .singles_hz = options->rate.value,
        .n_rates = options->rate.n,
        .threads = options->threads.value,
        .n_threads = options->threads.n,
        .frames = options->frames,
        .batch = options->batch,
        .repetitions = (uint32_t)options->repetitions,
        .seed = options->seed,
        .window_ns = options->window_ns,
        .policies = options->policies,
        .baselines = options->baselines,
        .lists = options->lists,
        .device = strcmp(options->device, "cpu") != 0 ? options->device : NULL,
    };
    return slc_cmd_bench_run(COMMAND, false, slc_bench_pet, &config, &output);
}

const slc_cli_command slc_cmd_bench_pet = {
    .name = "bench pet",
    .operands = "",
    .summary = "measure the PET chain, frames to pairs",
    .description =
        "Measures conversion, sort, coincidences and the whole chain on generated frames in memory\n"
        "(pin it with taskset), each beside the time that moving its bytes takes. On a GPU all frames\n"
        "are given at once; the chain's bound is a plain copy of the frames to the GPU.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .defaults = defaults,
    .act = act,
};
