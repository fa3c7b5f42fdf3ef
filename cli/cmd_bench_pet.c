/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench pet`: measures the PET chain from frames in memory to pairs, for scanners, rates and threads.
 */
#include "bench/bench_pet.h"
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define COMMAND (&slc_cmd_bench_pet)

enum { MOST = 16, NAME = 32 };

typedef struct bench_options {
    const char *scanner, *rate, *threads, *csv, *device;
    uint64_t frames, batch, repetitions, seed;
    double window_ns;
    bool policies, baselines, json;
} bench_options;

static const slc_cli_option table[] = {
    {.name = "scanner",
     .value = "NAMES",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, scanner),
     .help = "mouse20, explorer, vectors, or several with commas"},
    {.name = "rate",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, rate),
     .help = "millions of singles a second"},
    {.name = "threads",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, threads),
     .help = "threads of all stages"},
    {.name = "frames",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, frames),
     .low = 1000,
     .high = 1e9,
     .help = "in memory"},
    {.name = "batch",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, batch),
     .low = 1,
     .high = 1e9,
     .help = "frames given to the chain at once"},
    {.name = "window",
     .value = "NS",
     .kind = SLC_CLI_NUMBER,
     .member = offsetof(bench_options, window_ns),
     .low = 0.001,
     .high = 1e9,
     .help = "of coincidences"},
    {.name = "policies",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, policies),
     .help = "measure every policy of coincidences"},
    {.name = "baselines",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, baselines),
     .help = "measure plain code for the same tasks"},
    {.name = "repetitions",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, repetitions),
     .low = 1,
     .high = 100000,
     .help = "of each measurement; the median counts"},
    {.name = "device",
     .value = "WORD",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, device),
     .help = "cpu, or cuda or cuda:N: stages on a GPU, and the chain from page-locked memory"},
    {.name = "seed",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, seed),
     .low = 0,
     .high = 0,
     .help = "of the generated frames"},
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, json),
     .help = "print one JSON object"},
    {.name = "csv",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, csv),
     .help = "write every line of the tables"},
};

static void defaults(void *options)
{
    slc_bench_pet_config config;
    slc_bench_pet_config_default(&config);
    *(bench_options *)options = (bench_options){.scanner = "mouse20,explorer",
                                                .rate = "20,200",
                                                .threads = "1",
                                                .device = "cpu",
                                                .frames = config.frames,
                                                .batch = config.batch,
                                                .window_ns = config.window_ns,
                                                .repetitions = config.repetitions,
                                                .seed = config.seed};
}

/* What is measured, and where it goes. */
typedef struct job {
    const bench_options *options;
    char scanner[MOST][NAME];
    double rate[MOST];
    uint32_t threads[MOST];
    size_t n_scanners, n_rates, n_threads;
    slc_io_text_writer *csv; /* NULL where not wanted */
    json_t *rows;            /* the same */
} job;

static int read_lists(job *j)
{
    const char *text = j->options->scanner;
    char word[NAME];
    while (slc_cli_next_word(&text, word, sizeof word)) {
        slc_pet_geometry geometry;
        if (slc_pet_scanner(word, &geometry, NULL) != SLC_OK) {
            return slc_cli_unknown(COMMAND, "scanner", word, NULL, slc_pet_scanner_name, NULL);
        }
        if (j->n_scanners == MOST) {
            return slc_cli_wrong(COMMAND, "more than %d scanners", MOST);
        }
        memcpy(j->scanner[j->n_scanners++], word, sizeof word);
    }
    j->n_rates = slc_cli_numbers(j->options->rate, 1e-3, 1e4, j->rate, MOST);
    if (j->n_rates == 0) {
        return slc_cli_wrong(COMMAND, "--rate: '%s' is no list of numbers from 0.001 to 10000",
                             j->options->rate);
    }
    j->n_threads = slc_cli_whole_numbers(j->options->threads, 64, j->threads, MOST);
    if (j->n_threads == 0) {
        return slc_cli_wrong(COMMAND, "--threads: '%s' is no list of whole numbers from 1 to 64",
                             j->options->threads);
    }
    return SLC_CLI_GO_ON;
}

static void print_head(const slc_bench_pet_config *config, const slc_bench_pet_result *result)
{
    if (config->device != NULL) {
        (void)printf(
            "%s, %g Mcps, %s: %llu frames, out of order by up to %.3g us; 128 channels by up to %llu\n"
            "singles; copies on the GPU move %.0f GB/s, those to it %.1f GB/s\n",
            config->scanner, config->singles_hz * 1e-6, result->machine,
            (unsigned long long)result->row[0].singles, (double)result->lag_ps * 1e-6,
            (unsigned long long)result->displacement, result->bytes_per_second * 1e-9,
            result->bus_bytes_per_second * 1e-9);
        return;
    }
    (void)printf(
        "%s, %g Mcps, %u thread%s: %llu singles, out of order by up to %.3g us; copies move %.1f GB/s\n",
        config->scanner, config->singles_hz * 1e-6, config->threads, config->threads == 1 ? "" : "s",
        (unsigned long long)result->row[0].singles, (double)result->lag_ps * 1e-6,
        result->bytes_per_second * 1e-9);
}

static void print_table(const slc_bench_pet_config *config, const slc_bench_pet_result *result)
{
    print_head(config, result);
    (void)printf("%-44s%12s%12s%12s%12s\n", "", "pairs", "ns/single", "Msingles/s", "of bound");
    for (uint32_t i = 0; i < result->n_rows; i++) {
        const slc_bench_pet_row *row = &result->row[i];
        const double singles = (double)row->singles;
        (void)printf("%-44s%12llu%12.2f%12.1f%10.1f %%\n", row->name, (unsigned long long)row->pairs,
                     row->seconds * 1e9 / singles, singles / row->seconds * 1e-6,
                     100 * row->bound_seconds / row->seconds);
    }
    (void)printf("\n");
}

static bool add_json(json_t *rows, const slc_bench_pet_config *config, const slc_bench_pet_result *result)
{
    bool good = true;
    for (uint32_t i = 0; i < result->n_rows; i++) {
        const slc_bench_pet_row *row = &result->row[i];
        json_t *one = json_pack(
            "{s:s, s:f, s:I, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:f, s:s, s:f, s:I}", "scanner",
            config->scanner, "singles_hz", config->singles_hz, "threads", (json_int_t)config->threads, "name",
            row->name, "singles", (json_int_t)row->singles, "pairs", (json_int_t)row->pairs, "seconds",
            row->seconds, "least_seconds", row->least_seconds, "bytes", row->bytes, "bound_seconds",
            row->bound_seconds, "bytes_per_second", result->bytes_per_second, "device",
            config->device != NULL ? result->machine : "cpu", "bus_bytes_per_second",
            result->bus_bytes_per_second, "displacement", (json_int_t)result->displacement);
        good = good && json_array_append_new(rows, one) == 0;
    }
    return good;
}

static void add_csv(FILE *out, const slc_bench_pet_config *config, const slc_bench_pet_result *result)
{
    for (uint32_t i = 0; i < result->n_rows; i++) {
        const slc_bench_pet_row *row = &result->row[i];
        (void)fprintf(out, "%s,%.9g,%u,\"%s\",%llu,%llu,%.9g,%.9g,%.9g,%.9g\n", config->scanner,
                      config->singles_hz, config->threads, row->name, (unsigned long long)row->singles,
                      (unsigned long long)row->pairs, row->seconds, row->least_seconds, row->bytes,
                      row->bound_seconds);
    }
}

static slc_status measure(job *j, const slc_bench_pet_config *config, slc_error *error)
{
    slc_bench_pet_result result;
    slc_status status = slc_bench_pet(config, &result, error);
    if (status != SLC_OK) {
        return status;
    }
    if (j->rows == NULL) {
        print_table(config, &result);
        (void)fflush(stdout);
    } else if (!add_json(j->rows, config, &result)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the result");
    }
    if (j->csv != NULL) {
        add_csv(slc_io_text_stream(j->csv), config, &result);
    }
    return SLC_OK;
}

static slc_status measure_all(job *j, slc_error *error)
{
    const bench_options *o = j->options;
    const bool gpu = strcmp(o->device, "cpu") != 0;
    if (gpu) {
        j->n_threads = 1; /* stages there have no threads */
    }
    const size_t n = j->n_scanners * j->n_rates * j->n_threads;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        const uint32_t threads = j->threads[i % j->n_threads];
        const slc_bench_pet_config config = {
            .scanner = j->scanner[i / j->n_threads / j->n_rates],
            .singles_hz = j->rate[i / j->n_threads % j->n_rates] * 1e6,
            .frames = o->frames,
            .batch = o->batch,
            .threads = threads,
            .repetitions = (uint32_t)o->repetitions,
            .seed = o->seed,
            .window_ns = o->window_ns,
            .policies = o->policies,
            .baselines = o->baselines && i % j->n_threads == 0, /* they have one thread */
            .device = gpu ? o->device : NULL,
        };
        status = measure(j, &config, error);
    }
    return status;
}

static slc_status run_job(job *j, slc_error *error)
{
    slc_status status = SLC_OK;
    if (j->options->json && (j->rows = json_array()) == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the result");
    }
    if (j->options->csv != NULL) {
        status = slc_io_text_create(j->options->csv, &j->csv, error);
    }
    if (status == SLC_OK && j->csv != NULL) {
        (void)fprintf(
            slc_io_text_stream(j->csv),
            "scanner,singles_hz,threads,name,singles,pairs,seconds,least_seconds,bytes,bound_seconds\n");
    }
    status = status == SLC_OK ? measure_all(j, error) : status;
    if (j->csv != NULL && status == SLC_OK) {
        status = slc_io_text_finish(j->csv, error);
    } else if (j->csv != NULL) {
        slc_io_text_abandon(j->csv);
    }
    if (status == SLC_OK && j->rows != NULL) {
        json_t *all = json_pack("{s:O}", "rows", j->rows);
        if (all == NULL || json_dumpf(all, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9)) != 0) {
            status = slc_fail(error, SLC_ERR_IO, "cannot write the result");
        }
        (void)printf("\n");
        json_decref(all);
    }
    json_decref(j->rows);
    return status;
}

static int run(int argc, char **argv)
{
    bench_options options;
    int first = 0;
    const int parsed = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    if (parsed != SLC_CLI_GO_ON) {
        return parsed;
    }
    job j = {.options = &options};
    const int lists = read_lists(&j);
    if (lists != SLC_CLI_GO_ON) {
        return lists;
    }
    slc_error error = {0};
    if (run_job(&j, &error) != SLC_OK) {
        slc_cli_say("bench pet", "%s", error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_DONE;
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
    .min_operands = 0,
    .max_operands = 0,
    .defaults = defaults,
    .run = run,
};
