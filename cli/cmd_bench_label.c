/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench label`: every algorithm of labelling on every instruction set over random images, as the
 * thesis measures (figure 4.27, tables 4.2 to 4.4).
 */
#include "cmd_bench_label.h"
#include "cli_options.h"
#include "cli_words.h"
#include "cmd_label_words.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_bench_label)

static const slc_cli_option options_table[] = {
    {.name = "sizes",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, sizes),
     .help = "sides of the images in pixels (default 2048; on a GPU 8192)"},
    {.name = "granularities",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, granularities),
     .help = "sides of the macro-pixels (default 1,2,4,8,16; on a GPU 1,4,16)"},
    {.name = "densities",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, densities),
     .help = "in percent, or first:last:step (default 0:100:5; on a GPU 0:100:10)"},
    {.name = "algorithms",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, algorithms),
     .help = "names with commas (default all)"},
    {.name = "simd",
     .value = "T",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, simd),
     .help = "only this instruction set, or auto (default all that run here)"},
    {.name = "connectivity",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_bench_label_options, connectivity),
     .help = "4 or 8"},
    {.name = "threads",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_bench_label_options, threads),
     .low = 1,
     .high = 4096,
     .help = "of each labelling"},
    {.name = "features",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, features),
     .help = "make these too, with commas, or all (default none)"},
    {.name = "labels-off",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_bench_label_options, labels_off),
     .help = "make no label image, features alone"},
    {.name = "repetitions",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_bench_label_options, repetitions),
     .low = 1,
     .high = 100000,
     .help = "calls of each; fewer where they take over 15 ms, on a GPU 50 ms"},
    {.name = "seed",
     .value = "S",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_bench_label_options, seed),
     .low = 0,
     .high = UINT32_MAX,
     .help = "of the images"},
    {.name = "csv",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, csv),
     .help = "write every measurement"},
    {.name = "svg",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, svg),
     .help = "draw cycles per pixel, of a GPU milliseconds, against density"},
    {.name = "device",
     .value = "WHICH",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(slc_bench_label_options, device),
     .help = "cpu (the default), or a GPU with its algorithms: cuda or cuda:N"},
    {.name = "bound",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_bench_label_options, bound),
     .help = "of a GPU, measure its memory, too, and tell how near to that all are"},
    {.name = "warm",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_bench_label_options, warm),
     .help = "on a GPU, do not clear its caches before each run"},
    {.name = "raw",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_bench_label_options, raw),
     .help = "on a GPU, labels that are not yet numbered, as papers measure them"},
    {.name = "streams",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(slc_bench_label_options, streams),
     .low = 0,
     .high = 32,
     .help = "on a GPU, measure whole calls with copies instead, 1 to N at once"},
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_bench_label_options, json),
     .help = "print one JSON object"},
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(slc_bench_label_options, quiet),
     .help = "no progress on standard error, only errors"},
};

static void set_defaults(void *at)
{
    *(slc_bench_label_options *)at = (slc_bench_label_options){
        .algorithms = "all", .connectivity = 8, .threads = 1, .repetitions = 15, .seed = 1};
}

/* The lists of a configuration, and what is measured by them. */
typedef struct bench {
    const slc_bench_label_options *options;
    slc_bench_label_config config;
    size_t sizes[SLC_BENCH_LABEL_LIST];
    uint32_t granularities[SLC_BENCH_LABEL_LIST];
    double densities[SLC_BENCH_LABEL_DENSITIES];
    size_t algorithms[SLC_BENCH_LABEL_ALGORITHMS];
    slc_simd_target targets[SLC_SIMD_TARGETS];
    slc_bench_label_rows rows;
    size_t n_contestants;
    slc_cli_progress progress;
} bench;

/* ---- lists ------------------------------------------------------------------------------------- */

static int choose_images(bench *b)
{
    const slc_bench_label_options *options = b->options;
    uint32_t numbers[SLC_BENCH_LABEL_LIST];
    int status = slc_label_whole_numbers(COMMAND, "sizes", options->sizes != NULL ? options->sizes : "2048",
                                         numbers, SLC_BENCH_LABEL_LIST, &b->config.n_sizes);
    for (size_t i = 0; i < b->config.n_sizes; i++) {
        b->sizes[i] = numbers[i];
    }
    if (status == SLC_CLI_GO_ON) {
        const char *list = options->granularities != NULL ? options->granularities : "1,2,4,8,16";
        status = slc_label_whole_numbers(COMMAND, "granularities", list, b->granularities,
                                         SLC_BENCH_LABEL_LIST, &b->config.n_granularities);
    }
    if (status == SLC_CLI_GO_ON) {
        status = slc_label_densities(COMMAND, options->densities != NULL ? options->densities : "0:100:5",
                                     b->densities, SLC_BENCH_LABEL_DENSITIES, &b->config.n_densities);
    }
    b->config.sizes = b->sizes;
    b->config.granularities = b->granularities;
    b->config.densities = b->densities;
    return status;
}

static int choose_algorithms(bench *b)
{
    b->config.algorithms = b->algorithms;
    return slc_label_algorithms(COMMAND, b->options->algorithms, false, b->algorithms,
                                SLC_BENCH_LABEL_ALGORITHMS, &b->config.n_algorithms);
}

static int choose_targets(bench *b)
{
    const char *simd = b->options->simd;
    slc_error error;
    slc_simd_target choice;
    size_t n = 0;
    if (slc_simd_choose(simd != NULL && strcmp(simd, "all") == 0 ? NULL : simd, &choice, &error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "%s", error.text);
    }
    const bool named = simd != NULL && strcmp(simd, "all") != 0;
    if (named || choice != SLC_SIMD_AUTO) {
        b->targets[n++] = choice;
    }
    for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS && !named && choice == SLC_SIMD_AUTO; i++) {
        if (slc_simd_runs((slc_simd_target)i)) {
            b->targets[n++] = (slc_simd_target)i;
        }
    }
    b->config.targets = b->targets;
    b->config.n_targets = n;
    return SLC_CLI_GO_ON;
}

static int choose(bench *b)
{
    const slc_bench_label_options *options = b->options;
    b->config = (slc_bench_label_config){.connectivity = (uint32_t)options->connectivity,
                                         .threads = (uint32_t)options->threads,
                                         .seed = (uint32_t)options->seed,
                                         .labels = !options->labels_off,
                                         .repetitions = (uint32_t)options->repetitions,
                                         .seconds = 15e-3};
    if (options->connectivity != 4 && options->connectivity != 8) {
        return slc_cli_wrong(COMMAND, "--connectivity takes 4 or 8, not '%llu'",
                             (unsigned long long)options->connectivity);
    }
    const char *gpu = options->bound         ? "bound"
                      : options->warm        ? "warm"
                      : options->raw         ? "raw"
                      : options->streams > 0 ? "streams"
                                             : NULL;
    if (gpu != NULL) {
        return slc_cli_wrong(COMMAND, "--%s needs a GPU, as --device cuda", gpu);
    }
    if (options->csv != NULL && options->svg != NULL && slc_cli_same_file(options->csv, options->svg)) {
        return slc_cli_wrong(COMMAND, "--csv and --svg name the same file");
    }
    int status = choose_images(b);
    status = status == SLC_CLI_GO_ON ? choose_algorithms(b) : status;
    status = status == SLC_CLI_GO_ON ? choose_targets(b) : status;
    if (status == SLC_CLI_GO_ON && options->features != NULL && strcmp(options->features, "none") != 0) {
        status = slc_label_features(COMMAND, options->features, &b->config.features);
    }
    if (status == SLC_CLI_GO_ON && options->labels_off && b->config.features == 0) {
        return slc_cli_wrong(COMMAND, "--labels-off needs --features: nothing would be made");
    }
    return status;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static bool keep_row(void *context, const slc_bench_label_row *row)
{
    bench *b = context;
    slc_bench_label_rows *kept = &b->rows;
    if (kept->n == kept->capacity) {
        const size_t capacity = kept->capacity > 0 ? 2 * kept->capacity : 1024;
        slc_bench_label_row *rows = realloc(kept->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            kept->failed = true;
            return false;
        }
        kept->rows = rows;
        kept->capacity = capacity;
    }
    kept->rows[kept->n++] = *row;
    slc_cli_progress_show(&b->progress, kept->n,
                          b->n_contestants * b->config.n_sizes * b->config.n_granularities *
                              b->config.n_densities);
    return !slc_cli_interrupted();
}

static int by_speed(const void *a, const void *b)
{
    const slc_bench_label_average *x = a, *y = b;
    if (x->size != y->size) {
        return x->size < y->size ? -1 : 1;
    }
    if (x->granularity != y->granularity) {
        return x->granularity < y->granularity ? -1 : 1;
    }
    const double left = x->cycles / x->pixels, right = y->cycles / y->pixels;
    return (left > right) - (left < right);
}

static slc_status write_files(const bench *b, slc_error *error)
{
    slc_status status = SLC_OK;
    if (b->options->csv != NULL) {
        status = slc_bench_label_csv(b->options->csv, &b->config, &b->rows, error);
    }
    if (status == SLC_OK && b->options->svg != NULL) {
        status = slc_bench_label_svg(b->options->svg, b->rows.rows, b->rows.n, error);
    }
    return status;
}

static bool tell(bench *b)
{
    slc_bench_label_rows *rows = &b->rows;
    rows->averages = malloc((rows->n + 1) * sizeof *rows->averages);
    if (rows->averages == NULL) {
        slc_cli_say("bench label", "no memory for the averages");
        return false;
    }
    rows->n_averages = slc_bench_label_averages(rows->rows, rows->n, rows->averages, rows->n);
    qsort(rows->averages, rows->n_averages, sizeof *rows->averages, by_speed);
    if (b->options->json) {
        return slc_bench_label_print_json(&b->config, rows);
    }
    slc_bench_label_print(&b->config, rows);
    return true;
}

static bool measure(bench *b)
{
    slc_error error;
    for (size_t i = 0; i < b->config.n_algorithms; i++) {
        b->n_contestants += slc_image_algorithm_simd(b->algorithms[i]) ? b->config.n_targets : 1;
    }
    slc_cli_progress_begin(&b->progress, "bench label", b->options->quiet);
    b->progress.unit = "measurements";
    slc_status status = slc_bench_label_bench(&b->config, keep_row, b, &error);
    slc_cli_progress_end(&b->progress);
    if (b->rows.failed) {
        status = slc_fail(&error, SLC_ERR_MEMORY, "no memory for the measurements");
    }
    if (status == SLC_OK && b->rows.n == 0) {
        status = slc_fail(&error, SLC_ERR_UNSUPPORTED, "no algorithm could do any of these images");
    }
    if (status == SLC_OK) {
        status = write_files(b, &error);
    }
    if (status < 0) {
        slc_cli_say("bench label", "%s", error.text);
    }
    return status == SLC_OK && tell(b); /* an interrupted run has nothing to say */
}

static int run(int argc, char **argv)
{
    slc_bench_label_options options;
    int first = 0;
    int status = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (slc_label_on_gpu(options.device)) {
        return slc_bench_label_cuda(COMMAND, &options);
    }
    bench *b = calloc(1, sizeof *b);
    if (b == NULL) {
        slc_cli_say("bench label", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    b->options = &options;
    status = choose(b);
    if (status == SLC_CLI_GO_ON) {
        slc_cli_catch_signals();
        status = measure(b) ? SLC_CLI_DONE : SLC_CLI_FAILED;
    }
    free(b->rows.rows);
    free(b->rows.averages);
    free(b);
    return status;
}

const slc_cli_command slc_cmd_bench_label = {
    .name = "bench label",
    .operands = "",
    .summary = "measure labelling: algorithms, instruction sets, images, GPUs",
    .description = "Labels random images (as of `sluice simulate image`) with every algorithm on every "
                   "instruction set and\n"
                   "prints the average over the densities and the worst density, from the fastest of several "
                   "calls. Each\n"
                   "image is labelled by all in turn, so that disturbances hit all alike; slow ones are "
                   "called less often.\n"
                   "Cycles are those of the core at that moment: after each turn a chain of additions, each "
                   "of which needs\n"
                   "the one before and takes a cycle, is timed, and the median of these clocks counts. For "
                   "one thread, pin\n"
                   "the command to an idle core, as with `taskset -c 1`.\n"
                   "On a GPU: its own algorithms, kernels alone from and to the device's memory, with cold "
                   "caches, by the\n"
                   "device's clock; averages are all pixels over all time, from medians.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .run = run,
};
