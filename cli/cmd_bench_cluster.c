/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench cluster`: measures the clustering of sparse pixels.
 */
#include "bench/bench_cluster.h"
#include "cli_talk.h"
#include "cli_words.h"
#include "cmd_bench.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_bench_cluster)

enum { SORTED = 0, SHUFFLED, BOTH };

typedef struct cluster_options {
    slc_cli_area size;
    slc_cli_count_list granularities;
    slc_cli_number_list densities;
    slc_cli_count_list threads;
    const char *algorithms, *simd, *csv, *svg, *stream;
    int order;
    uint64_t connectivity, images, repetitions, seed;
    bool labels, quiet;
} cluster_options;

#define O cluster_options
static const slc_cli_option options_table[] = {
    {"size", 0, SIZE(O, size, 65535, "a width and a height from 1 to 65535, as in 768x256"), "WxH",
     "of the images (default 768x256)"},
    {"images", 0, COUNT(O, images, 1, 100000), "N", "images of a call"},
    {"granularities", 0, COUNTS(O, granularities, 65535, "whole numbers from 1 to 65535, as in 1,2"), "LIST",
     "sides of the macro-pixels (default 1,2)"},
    {"densities", 0, NUMBERS(O, densities, 0, 100, "percents from 0 to 100, as in 0.5,1"), "LIST",
     "in percent, or first:last:step (default 0.05,0.1,0.25,0.5,1,1.5,2,2.5)"},
    {"algorithms", 0, TEXT(O, algorithms), "LIST",
     "names with commas; dense is that of images, after scattering (default all)"},
    {"order", 0, CHOICE(O, order, TAKES("sorted", "shuffled", "both")), "WHICH",
     "of the lists: sorted, shuffled or both (default both)"},
    {"connectivity", 0, COUNT(O, connectivity, 0, 0), "N", "4 or 8"},
    {"simd", 0, SIMD(O, simd), "T", "instruction set (default auto)"},
    {"stream", 0, INPUT(O, stream), "FILE",
     "instead of images: a file of pixels with times, read and clustered"},
    {"threads", 0, COUNTS(O, threads, 64, "whole numbers from 1 to 64, as in 1,2"), "LIST",
     "of --stream: numbers of threads (default 1,2)"},
    {"labels", 0, FLAG(O, labels), NULL, "a label for every pixel, too (default features alone)"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 100000), "N", "calls of each"},
    {"seed", 0, COUNT(O, seed, 0, UINT32_MAX), "S", "of the images"},
    {"csv", 0, OUTPUT_AS(O, csv, ENDS_OR_NONE(".csv")), "FILE", "write every measurement"},
    {"svg", 0, OUTPUT(O, svg), "FILE", "draw cycles per pixel against density"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress on standard error, only errors"},
};
#undef O

static void set_defaults(void *at)
{
    *(cluster_options *)at = (cluster_options){.size = {768, 256},
                                               .granularities = {2, {1, 2}},
                                               .threads = {2, {1, 2}},
                                               .densities = {8, {0.05, 0.1, 0.25, 0.5, 1, 1.5, 2, 2.5}},
                                               .order = BOTH,
                                               .connectivity = 8,
                                               .images = 64,
                                               .repetitions = 15,
                                               .seed = 1};
}

static int choose_algorithms(const char *text, size_t *algorithms, size_t *n)
{
    char word[32];
    for (size_t i = 0; text == NULL && slc_bench_cluster_algorithm(i) != NULL && i < SLC_CLI_LIST; i++) {
        algorithms[(*n)++] = i;
    }
    while (text != NULL && slc_cli_next_word(&text, word, sizeof word)) {
        size_t i = 0;
        while (slc_bench_cluster_algorithm(i) != NULL && strcmp(slc_bench_cluster_algorithm(i), word) != 0) {
            i++;
        }
        if (slc_bench_cluster_algorithm(i) == NULL || *n == SLC_CLI_LIST) {
            return slc_cli_unknown(COMMAND, "algorithm", word, NULL, slc_bench_cluster_algorithm, NULL);
        }
        algorithms[(*n)++] = i;
    }
    return SLC_CLI_GO_ON;
}

/* Options of images do not go with a stream, nor its own with images. */
static int bench_stream(const cluster_options *options)
{
    static const char *const of_images[] = {"size",       "images", "granularities", "densities",
                                            "algorithms", "order",  "connectivity",  "labels",
                                            "seed",       "svg"};
    slc_error error;
    slc_bench_cluster_stream_config config = {.path = options->stream,
                                              .threads = options->threads.value,
                                              .n_threads = options->threads.n,
                                              .repetitions = (uint32_t)options->repetitions};
    for (size_t i = 0; i < sizeof of_images / sizeof *of_images; i++) {
        if (slc_cli_word(COMMAND, of_images[i]) != NULL) {
            return slc_cli_wrong(COMMAND, "--%s is of images, not of --stream", of_images[i]);
        }
    }
    if (slc_simd_choose(options->simd, &config.target, &error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "%s", error.text);
    }
    const slc_bench_output output = {.csv = options->csv};
    return slc_cmd_bench_run(COMMAND, options->quiet, slc_bench_cluster_stream, &config, &output);
}

static int act(const slc_cli_call *call)
{
    cluster_options *options = call->options;
    if (options->stream != NULL) {
        return bench_stream(options);
    }
    if (slc_cli_word(COMMAND, "threads") != NULL) {
        return slc_cli_wrong(COMMAND, "--threads is of --stream");
    }
    const slc_bench_output output = {.csv = options->csv, .svg = options->svg};
    size_t algorithms[SLC_CLI_LIST];
    slc_error error;
    for (size_t i = 0; i < options->densities.n; i++) {
        options->densities.value[i] /= 100;
    }
    slc_bench_cluster_config config = {.width = (uint16_t)options->size.width,
                                       .height = (uint16_t)options->size.height,
                                       .images = (uint32_t)options->images,
                                       .granularities = options->granularities.value,
                                       .n_granularities = options->granularities.n,
                                       .densities = options->densities.value,
                                       .n_densities = options->densities.n,
                                       .algorithms = algorithms,
                                       .sorted = options->order != SHUFFLED,
                                       .shuffled = options->order != SORTED,
                                       .labels = options->labels,
                                       .connectivity = (uint32_t)options->connectivity,
                                       .features = SLC_PIXEL_SIZE | SLC_PIXEL_BOX | SLC_PIXEL_CENTROID,
                                       .seed = (uint32_t)options->seed,
                                       .repetitions = (uint32_t)options->repetitions};
    if (options->connectivity != 4 && options->connectivity != 8) {
        return slc_cli_wrong(COMMAND, "--connectivity takes 4 or 8, not '%llu'",
                             (unsigned long long)options->connectivity);
    }
    const int status = choose_algorithms(options->algorithms, algorithms, &config.n_algorithms);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (slc_simd_choose(options->simd, &config.target, &error) != SLC_OK) {
        return slc_cli_wrong(COMMAND, "%s", error.text);
    }
    return slc_cmd_bench_run(COMMAND, options->quiet, slc_bench_cluster, &config, &output);
}

const slc_cli_command slc_cmd_bench_cluster = {
    .name = "bench cluster",
    .operands = "",
    .summary = "measure the clustering of sparse pixels",
    .description =
        "Clusters random images of small densities (as of `sluice simulate pixels`) with every algorithm, "
        "and\n"
        "with that of dense images after scattering the pixels, and prints cycles per active pixel. For one\n"
        "thread, pin the command to an idle core, as with `taskset -c 1`. With --stream a file is read and\n"
        "clustered as by `sluice cluster`, with each number of threads in turns, and reading alone.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .act = act,
};
