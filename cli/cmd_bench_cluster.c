/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench cluster`: measures the clustering of sparse pixels.
 */
#include "bench/bench_cluster.h"
#include "cli_options.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <sluice/sluice.h>

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_bench_cluster)

typedef struct bench_options {
    const char *size, *granularities, *densities, *algorithms, *order, *simd, *csv, *svg;
    uint64_t connectivity, images, repetitions, seed;
    bool labels, quiet;
} bench_options;

static const slc_cli_option options_table[] = {
    {.name = "size",
     .value = "WxH",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, size),
     .help = "of the images (default 768x256)"},
    {.name = "images",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, images),
     .low = 1,
     .high = 100000,
     .help = "images of a call"},
    {.name = "granularities",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, granularities),
     .help = "sides of the macro-pixels (default 1,2)"},
    {.name = "densities",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, densities),
     .help = "in percent, or first:last:step (default 0.05,0.1,0.25,0.5,1,1.5,2,2.5)"},
    {.name = "algorithms",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, algorithms),
     .help = "names with commas; dense is that of images, after scattering (default all)"},
    {.name = "order",
     .value = "WHICH",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, order),
     .help = "of the lists: sorted, shuffled or both (default both)"},
    {.name = "connectivity",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, connectivity),
     .help = "4 or 8"},
    {.name = "simd",
     .value = "T",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, simd),
     .help = "instruction set (default auto)"},
    {.name = "labels",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, labels),
     .help = "a label for every pixel, too (default features alone)"},
    {.name = "repetitions",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, repetitions),
     .low = 1,
     .high = 100000,
     .help = "calls of each"},
    {.name = "seed",
     .value = "S",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, seed),
     .low = 0,
     .high = UINT32_MAX,
     .help = "of the images"},
    {.name = "csv",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, csv),
     .help = "write every measurement"},
    {.name = "svg",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, svg),
     .help = "draw cycles per pixel against density"},
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, quiet),
     .help = "no progress on standard error, only errors"},
};

static void set_defaults(void *at)
{
    bench_options *options = at;
    *options = (bench_options){.connectivity = 8, .images = 64, .repetitions = 15, .seed = 1};
}

/* ---- values ------------------------------------------------------------------------------------ */

enum { MOST = 256 };

typedef struct bench_lists {
    uint32_t granularities[MOST];
    double densities[MOST];
    size_t algorithms[MOST];
    size_t room, n; /* of rows */
    slc_bench_cluster_row *rows;
    const slc_bench_cluster_config *config;
    slc_cli_progress progress;
} bench_lists;

static int choose_numbers(const bench_options *options, bench_lists *lists, slc_bench_cluster_config *config)
{
    double numbers[MOST];
    const char *text = options->granularities != NULL ? options->granularities : "1,2";
    config->granularities = lists->granularities;
    config->n_granularities = slc_cli_whole_numbers(text, 65535, lists->granularities, MOST);
    if (config->n_granularities == 0) {
        return slc_cli_wrong(
            COMMAND, "--granularities takes whole numbers from 1 to 65535, as in 1,2, not '%s'", text);
    }
    text = options->densities != NULL ? options->densities : "0.05,0.1,0.25,0.5,1,1.5,2,2.5";
    config->densities = lists->densities;
    config->n_densities = slc_cli_numbers(text, 0, 100, numbers, MOST);
    if (config->n_densities == 0) {
        return slc_cli_wrong(COMMAND, "--densities takes percents from 0 to 100, as in 0.5,1, not '%s'",
                             text);
    }
    for (size_t i = 0; i < config->n_densities; i++) {
        lists->densities[i] = numbers[i] / 100;
    }
    return SLC_CLI_GO_ON;
}

static int choose_algorithms(const char *text, bench_lists *lists, slc_bench_cluster_config *config)
{
    char word[32];
    config->algorithms = lists->algorithms;
    for (size_t i = 0; text == NULL && slc_bench_cluster_algorithm(i) != NULL && i < MOST; i++) {
        lists->algorithms[config->n_algorithms++] = i;
    }
    while (text != NULL && slc_cli_next_word(&text, word, sizeof word)) {
        size_t i = 0;
        while (slc_bench_cluster_algorithm(i) != NULL && strcmp(slc_bench_cluster_algorithm(i), word) != 0) {
            i++;
        }
        if (slc_bench_cluster_algorithm(i) == NULL || config->n_algorithms == MOST) {
            return slc_cli_unknown(COMMAND, "algorithm", word, NULL, slc_bench_cluster_algorithm, NULL);
        }
        lists->algorithms[config->n_algorithms++] = i;
    }
    return SLC_CLI_GO_ON;
}

static int choose_order(const char *text, slc_bench_cluster_config *config)
{
    config->sorted = text == NULL || strcmp(text, "shuffled") != 0;
    config->shuffled = text == NULL || strcmp(text, "sorted") != 0;
    const bool known = text == NULL || strcmp(text, "sorted") == 0 || strcmp(text, "shuffled") == 0 ||
                       strcmp(text, "both") == 0;
    return known ? SLC_CLI_GO_ON
                 : slc_cli_wrong(COMMAND, "--order takes sorted, shuffled or both, not '%s'", text);
}

static int choose(const bench_options *options, bench_lists *lists, slc_bench_cluster_config *config)
{
    slc_error error = {.status = SLC_OK};
    size_t width = 768, height = 256;
    if (options->size != NULL &&
        (!slc_cli_size(options->size, &width, &height) || width > UINT16_MAX || height > UINT16_MAX)) {
        return slc_cli_wrong(COMMAND,
                             "--size takes a width and a height from 1 to 65535, as in 768x256, not '%s'",
                             options->size);
    }
    if (options->connectivity != 4 && options->connectivity != 8) {
        return slc_cli_wrong(COMMAND, "--connectivity takes 4 or 8, not '%" PRIu64 "'",
                             options->connectivity);
    }
    *config = (slc_bench_cluster_config){.width = (uint16_t)width,
                                         .height = (uint16_t)height,
                                         .images = (uint32_t)options->images,
                                         .connectivity = (uint32_t)options->connectivity,
                                         .features = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID,
                                         .labels = options->labels,
                                         .seed = (uint32_t)options->seed,
                                         .repetitions = (uint32_t)options->repetitions};
    static const char *const flags[] = {"--csv", "--svg"};
    const char *const files[] = {options->csv, options->svg};
    int status = slc_cli_check_files(COMMAND, flags, files, 2, NULL, 0);
    status = status == SLC_CLI_GO_ON ? choose_numbers(options, lists, config) : status;
    status = status == SLC_CLI_GO_ON ? choose_algorithms(options->algorithms, lists, config) : status;
    status = status == SLC_CLI_GO_ON ? choose_order(options->order, config) : status;
    if (status == SLC_CLI_GO_ON && slc_simd_choose(options->simd, &config->target, &error) != SLC_OK) {
        status = slc_cli_wrong(COMMAND, "%s", error.text);
    }
    return status;
}

/* ---- results ----------------------------------------------------------------------------------- */

static bool keep(void *context, const slc_bench_cluster_row *row)
{
    bench_lists *lists = context;
    if (lists->n < lists->room) {
        lists->rows[lists->n++] = *row;
    }
    slc_cli_progress_show(&lists->progress, lists->n, lists->room);
    return !slc_cli_interrupted();
}

static double cycles_per_pixel(const slc_bench_cluster_row *row)
{
    return row->pixels > 0 ? row->minimum_s * row->hertz / (double)row->pixels : 0;
}

/* A line for each set of images, a column for each algorithm. */
static void print_table(const bench_lists *lists)
{
    const size_t across = lists->config->n_algorithms;
    (void)printf("cycles per active pixel for %s, from the fastest of %" PRIu32 " calls of %" PRIu32
                 " images\n",
                 lists->config->labels ? "labels and features" : "features", lists->config->repetitions,
                 lists->config->images);
    (void)printf("%-8s %3s %8s %10s", "lists", "g", "density", "pixels");
    for (size_t k = 0; k < across; k++) {
        (void)printf(" %11s", slc_bench_cluster_algorithm(lists->config->algorithms[k]));
    }
    (void)printf("\n");
    for (size_t i = 0; i + across <= lists->n; i += across) {
        const slc_bench_cluster_row *row = &lists->rows[i];
        (void)printf("%-8s %3" PRIu32 " %6.3g %% %10.1f", row->shuffled ? "shuffled" : "sorted",
                     row->granularity, 100 * row->density,
                     (double)row->pixels / (double)lists->config->images);
        for (size_t k = 0; k < across; k++) {
            (void)printf(" %11.2f", cycles_per_pixel(&row[k]));
        }
        (void)printf("\n");
    }
}

static slc_status write_csv(const char *path, const bench_lists *lists, slc_error *error)
{
    slc_io_text_writer *writer = NULL;
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    FILE *out = slc_io_text_stream(writer);
    (void)fprintf(out,
                  "order,granularity,density_percent,algorithm,images,pixels,clusters,minimum_s,median_s,"
                  "core_hz,cycles_per_pixel,us_per_image\n");
    for (size_t i = 0; i < lists->n; i++) {
        const slc_bench_cluster_row *row = &lists->rows[i];
        (void)fprintf(
            out, "%s,%" PRIu32 ",%.10g,%s,%" PRIu32 ",%" PRIu64 ",%" PRIu64 ",%.6g,%.6g,%.6g,%.6g,%.6g\n",
            row->shuffled ? "shuffled" : "sorted", row->granularity, 100 * row->density,
            slc_bench_cluster_algorithm(row->algorithm), lists->config->images, row->pixels, row->clusters,
            row->minimum_s, row->median_s, row->hertz, cycles_per_pixel(row),
            1e6 * row->minimum_s / lists->config->images);
    }
    return slc_io_text_finish(writer, error);
}

static int bench(const bench_options *options, bench_lists *lists, const slc_bench_cluster_config *config)
{
    slc_error error = {.status = SLC_OK};
    const size_t orders = (size_t)config->sorted + config->shuffled;
    lists->room = orders * config->n_granularities * config->n_densities * config->n_algorithms;
    lists->rows = lists->room > 0 ? calloc(lists->room, sizeof *lists->rows) : NULL;
    lists->config = config;
    slc_status status = lists->rows != NULL ? SLC_OK
                                            : slc_fail(&error, SLC_ERR_MEMORY, "no memory for the rows");
    slc_cli_catch_signals();
    slc_cli_progress_begin(&lists->progress, "bench cluster", options->quiet);
    lists->progress.unit = "measurements";
    if (status == SLC_OK) {
        status = slc_bench_cluster_bench(config, keep, lists, &error);
    }
    slc_cli_progress_end(&lists->progress);
    if (status == SLC_OK && options->csv != NULL) {
        status = write_csv(options->csv, lists, &error);
    }
    if (status == SLC_OK && options->svg != NULL) {
        status = slc_bench_cluster_svg(options->svg, lists->rows, lists->n, &error);
    }
    if (status == SLC_OK) {
        print_table(lists);
    } else if (status != SLC_END) {
        slc_cli_say("bench cluster", "%s", error.text);
    }
    free(lists->rows);
    return status == SLC_OK ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int run(int argc, char **argv)
{
    bench_options options;
    int first = 0;
    int status = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    bench_lists *lists = calloc(1, sizeof *lists);
    if (lists == NULL) {
        slc_cli_say("bench cluster", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    slc_bench_cluster_config config = {.width = 0};
    status = choose(&options, lists, &config);
    if (status == SLC_CLI_GO_ON) {
        status = bench(&options, lists, &config);
    }
    free(lists);
    return status;
}

const slc_cli_command slc_cmd_bench_cluster = {
    .name = "bench cluster",
    .operands = "",
    .summary = "measure the clustering of sparse pixels",
    .description =
        "Clusters random images of small densities (as of `sluice simulate pixels`) with every algorithm, "
        "and\n"
        "with that of dense images after scattering the pixels, and prints cycles per active pixel. For one\n"
        "thread, pin the command to an idle core, as with `taskset -c 1`.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .run = run,
};
