/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench label --device cuda`: the algorithms of GPUs over random images, as the thesis measures
 * (figures 4.14 and 4.20, table 4.1).
 */
#include "cli_words.h"
#include "cmd_bench_label.h"
#include "cmd_label_words.h"

#include <stdlib.h>
#include <string.h>

static const size_t cold_bytes = (size_t)256 << 20;

/* ---- options ----------------------------------------------------------------------------------- */

static const char *or_default(const char *text, const char *otherwise)
{
    return text != NULL ? text : otherwise;
}

static int choose_lists(const slc_cli_command *command, const slc_bench_label_options *options,
                        slc_bench_label_gpu *b)
{
    slc_bench_label_cuda_config *config = &b->config;
    uint32_t numbers[SLC_BENCH_LABEL_LIST];
    int status = slc_label_whole_numbers(command, "sizes", or_default(options->sizes, "8192"), numbers,
                                         SLC_BENCH_LABEL_LIST, &config->n_sizes);
    for (size_t i = 0; i < config->n_sizes; i++) {
        b->sizes[i] = numbers[i];
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_label_whole_numbers(command, "granularities",
                                         or_default(options->granularities, "1,4,16"), b->granularities,
                                         SLC_BENCH_LABEL_LIST, &config->n_granularities);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_label_densities(command, or_default(options->densities, "0:100:10"), b->densities,
                                     SLC_BENCH_LABEL_DENSITIES, &config->n_densities);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_label_algorithms(command, options->algorithms, true, b->algorithms,
                                      SLC_BENCH_LABEL_ALGORITHMS, &config->n_algorithms);
    }
    if (status == SLC_CLI_GO_ON && options->features != NULL && strcmp(options->features, "none") != 0) {
        status = slc_label_features(command, options->features, &config->features);
    }
    config->sizes = b->sizes;
    config->granularities = b->granularities;
    config->densities = b->densities;
    config->algorithms = b->algorithms;
    return status;
}

int slc_bench_label_gpu_choose(const slc_cli_command *command, const slc_bench_label_options *options,
                               slc_bench_label_gpu *b)
{
    slc_error error;
    uint32_t number;
    b->config = (slc_bench_label_cuda_config){.device = options->device,
                                              .connectivity = (uint32_t)options->connectivity,
                                              .seed = (uint32_t)options->seed,
                                              .labels = !options->labels_off,
                                              .raw = options->raw,
                                              .repetitions = (uint32_t)options->repetitions,
                                              .seconds = 50e-3,
                                              .flush_bytes = options->warm ? 0 : cold_bytes};
    if (options->connectivity != 4 && options->connectivity != 8) {
        return slc_cli_wrong(command, "--connectivity takes 4 or 8, not '%llu'",
                             (unsigned long long)options->connectivity);
    }
    if (options->csv != NULL && options->svg != NULL && slc_cli_same_file(options->csv, options->svg)) {
        return slc_cli_wrong(command, "--csv and --svg name the same file");
    }
    int status = choose_lists(command, options, b);
    if (status == SLC_CLI_GO_ON && options->labels_off && b->config.features == 0) {
        status = slc_cli_wrong(command, "--labels-off needs --features: nothing would be made");
    }
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_status found = slc_cuda_choose(options->device, &number, &error);
    if (found == SLC_ERR_USAGE) {
        return slc_cli_wrong(command, "%s", error.text);
    }
    found = found == SLC_OK ? slc_cuda_device_of(number, &b->device, &error) : found;
    if (found != SLC_OK) {
        slc_cli_say(command->name, "%s", error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}

/* What only one of the ways to measure has. */
static int check(const slc_cli_command *command, const slc_bench_label_options *options)
{
    const char *other = options->simd != NULL                          ? "--simd"
                        : options->threads != 1                        ? "--threads"
                        : options->streams > 0 && options->svg != NULL ? "--svg with --streams"
                        : options->streams > 0 && options->raw         ? "--raw with --streams"
                                                                       : NULL;
    return other != NULL ? slc_cli_wrong(command, "%s does not go with --device %s", other, options->device)
                         : SLC_CLI_GO_ON;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static bool keep_row(void *context, const slc_bench_label_cuda_row *row)
{
    slc_bench_label_gpu *b = context;
    if (b->n == b->capacity) {
        const size_t capacity = b->capacity > 0 ? 2 * b->capacity : 1024;
        slc_bench_label_cuda_row *rows = realloc(b->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            b->failed = true;
            return false;
        }
        b->rows = rows;
        b->capacity = capacity;
    }
    b->rows[b->n++] = *row;
    const slc_bench_label_cuda_config *config = &b->config;
    size_t able = 0;
    for (size_t i = 0; i < config->n_algorithms; i++) {
        able += (!config->labels || slc_image_cuda_algorithm_labels(config->algorithms[i])) &&
                (config->features == 0 || slc_image_cuda_algorithm_features(config->algorithms[i]));
    }
    slc_cli_progress_show(&b->progress, b->n,
                          able * config->n_sizes * config->n_granularities * config->n_densities);
    return !slc_cli_interrupted();
}

/* One that has no more place is one of more lists than anybody asks for; it is told. */
static bool keep_streams(void *context, const slc_bench_label_cuda_streams_row *row)
{
    slc_bench_label_gpu *b = context;
    if (b->n_streams == sizeof b->streams / sizeof *b->streams) {
        b->failed = true;
        return false;
    }
    b->streams[b->n_streams++] = *row;
    return !slc_cli_interrupted();
}

static bool complain(const slc_cli_command *command, const slc_bench_label_gpu *b, slc_status status,
                     slc_error *error)
{
    if (b->failed) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the measurements");
    }
    if (status < 0) {
        slc_cli_say(command->name, "%s", error->text);
    }
    return status == SLC_OK; /* an interrupted run has nothing to say */
}

bool slc_bench_label_gpu_measure(const slc_cli_command *command, slc_bench_label_gpu *b, bool quiet)
{
    slc_error error;
    slc_cli_progress_begin(&b->progress, command->name, quiet);
    b->progress.unit = "measurements";
    slc_status status = slc_bench_label_cuda_bench(&b->config, keep_row, b, &error);
    slc_cli_progress_end(&b->progress);
    if (status == SLC_OK && b->n == 0) {
        status = slc_fail(&error, SLC_ERR_UNSUPPORTED, "no algorithm can make this of any of these images");
    }
    return complain(command, b, status, &error);
}

static int by_speed(const void *a, const void *b)
{
    const slc_bench_label_cuda_average *x = a, *y = b;
    const double left = x->seconds / x->pixels, right = y->seconds / y->pixels;
    return (left > right) - (left < right);
}

static bool measure(const slc_cli_command *command, const slc_bench_label_options *options,
                    slc_bench_label_gpu *b)
{
    slc_error error;
    slc_status status = SLC_OK;
    if (options->bound) {
        status = slc_bench_gpu_speed_of(options->device, 11, &b->speed, &error);
        b->has_speed = status == SLC_OK;
    }
    if (status == SLC_OK && options->streams > 0) {
        status = slc_bench_label_cuda_streams(&b->config, (uint32_t)options->streams, keep_streams, b,
                                              &error);
    }
    if (!complain(command, b, status, &error)) {
        return false;
    }
    if (options->streams > 0) {
        return true;
    }
    if (!slc_bench_label_gpu_measure(command, b, options->quiet)) {
        return false;
    }
    b->averages = malloc(b->n * sizeof *b->averages);
    if (b->averages == NULL) {
        slc_cli_say(command->name, "no memory for the averages");
        return false;
    }
    b->n_averages = slc_bench_label_cuda_averages(b->rows, b->n, b->averages, b->n);
    qsort(b->averages, b->n_averages, sizeof *b->averages, by_speed);
    return true;
}

static bool tell(const slc_cli_command *command, const slc_bench_label_options *options,
                 const slc_bench_label_gpu *b)
{
    slc_error error;
    slc_status status = SLC_OK;
    if (options->csv != NULL) {
        status = slc_bench_label_cuda_csv(options->csv, b, &error);
    }
    if (status == SLC_OK && options->svg != NULL) {
        status = slc_bench_label_cuda_svg(options->svg, b->rows, b->n, &error);
    }
    if (status != SLC_OK) {
        slc_cli_say(command->name, "%s", error.text);
        return false;
    }
    if (options->json) {
        return slc_bench_label_cuda_print_json(b);
    }
    slc_bench_label_cuda_print(b);
    return true;
}

int slc_bench_label_cuda(const slc_cli_command *command, const slc_bench_label_options *options)
{
    slc_bench_label_gpu *b = calloc(1, sizeof *b);
    if (b == NULL) {
        slc_cli_say(command->name, "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    int status = check(command, options);
    status = status == SLC_CLI_GO_ON ? slc_bench_label_gpu_choose(command, options, b) : status;
    if (status == SLC_CLI_GO_ON) {
        slc_cli_catch_signals();
        status = measure(command, options, b) && tell(command, options, b) ? SLC_CLI_DONE : SLC_CLI_FAILED;
    }
    free(b->rows);
    free(b->averages);
    free(b);
    return status;
}
