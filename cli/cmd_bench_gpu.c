/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench gpu`: what a GPU can do, and what labelling makes of it: memory, strides, atomics, and
 * r-infinity and n-half (section 3.5 and figures 3.3 and 4.21 of A. Hennequin's thesis, 2022).
 */
#include "cmd_bench_gpu.h"
#include "bench/bench_gpu.h"
#include "cli_words.h"

#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_bench_gpu)

typedef struct gpu_options {
    slc_bench_label_options label; /* the lists for labelling; others of it keep their defaults */
    const char *what;
} gpu_options;

static const slc_cli_option options_table[] = {
    {.name = "device",
     .value = "WHICH",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.device),
     .help = "cuda (the default) or cuda:N"},
    {.name = "what",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, what),
     .help = "of memory,strides,atomics,labels (default all)"},
    {.name = "sizes",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.sizes),
     .help = "sides of the images (default 256,512 and so on to 16384)"},
    {.name = "granularities",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.granularities),
     .help = "sides of the macro-pixels (default 1,4,16)"},
    {.name = "densities",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.densities),
     .help = "in percent, or first:last:step (default 0:100:25)"},
    {.name = "algorithms",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.algorithms),
     .help = "names with commas, or all (default bittile,flsl-cd,flsl,ha4-64)"},
    {.name = "connectivity",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(gpu_options, label.connectivity),
     .help = "4 or 8"},
    {.name = "features",
     .value = "LIST",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.features),
     .help = "make these too, with commas, or all (default none)"},
    {.name = "labels-off",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(gpu_options, label.labels_off),
     .help = "make no label image, features alone"},
    {.name = "repetitions",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(gpu_options, label.repetitions),
     .low = 1,
     .high = 100000,
     .help = "runs of each; the median counts"},
    {.name = "seed",
     .value = "S",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(gpu_options, label.seed),
     .low = 0,
     .high = UINT32_MAX,
     .help = "of the images"},
    {.name = "csv",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.csv),
     .help = "write every measurement"},
    {.name = "svg",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(gpu_options, label.svg),
     .help = "draw bandwidth against stride, and n-half against r-infinity"},
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(gpu_options, label.json),
     .help = "print one JSON object"},
    {.name = "quiet",
     .letter = 'q',
     .kind = SLC_CLI_FLAG,
     .member = offsetof(gpu_options, label.quiet),
     .help = "no progress on standard error, only errors"},
};

static void set_defaults(void *at)
{
    *(gpu_options *)at = (gpu_options){.label = {.device = "cuda",
                                                 .sizes = "256,512,1024,2048,4096,8192,16384",
                                                 .granularities = "1,4,16",
                                                 .densities = "0:100:25",
                                                 .algorithms = "bittile,flsl-cd,flsl,ha4-64",
                                                 .connectivity = 8,
                                                 .threads = 1,
                                                 .repetitions = 11,
                                                 .seed = 1},
                                       .what = "memory,strides,atomics,labels"};
}

enum { MEMORY = 1, STRIDES = 2, ATOMICS = 4, LABELS = 8 };

static const char *const parts[] = {"memory", "strides", "atomics", "labels", NULL};

static const char *part_at(size_t i)
{
    return parts[i];
}

static int choose_parts(const char *list, uint32_t *chosen)
{
    char word[32];
    *chosen = 0;
    while (slc_cli_next_word(&list, word, sizeof word)) {
        size_t i = 0;
        while (parts[i] != NULL && strcmp(parts[i], word) != 0) {
            i++;
        }
        if (parts[i] == NULL) {
            return slc_cli_unknown(COMMAND, "part", word, NULL, part_at, NULL);
        }
        *chosen |= 1U << i;
    }
    return SLC_CLI_GO_ON;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static bool keep_row(void *context, const slc_bench_gpu_row *row)
{
    slc_bench_gpu *b = context;
    if (b->n == b->capacity) {
        const size_t capacity = b->capacity > 0 ? 2 * b->capacity : 256;
        slc_bench_gpu_row *rows = realloc(b->rows, capacity * sizeof *rows);
        if (rows == NULL) {
            b->failed = true;
            return false;
        }
        b->rows = rows;
        b->capacity = capacity;
    }
    b->rows[b->n++] = *row;
    return !slc_cli_interrupted();
}

static bool complain(slc_status status, const char *text)
{
    if (status < 0) {
        slc_cli_say("bench gpu", "%s", text);
    }
    return status == SLC_OK;
}

static bool measure_device(slc_bench_gpu *b, const gpu_options *options, uint32_t chosen)
{
    const uint32_t repetitions = (uint32_t)options->label.repetitions;
    uint32_t tests = 0;
    slc_error error;
    slc_status status = SLC_OK;
    if ((chosen & MEMORY) != 0) {
        status = slc_bench_gpu_speed_of(options->label.device, repetitions, &b->speed, &error);
        b->has_speed = status == SLC_OK;
    }
    if ((chosen & STRIDES) != 0) {
        tests |= 1U << SLC_BENCH_GPU_STRIDE_GLOBAL | 1U << SLC_BENCH_GPU_STRIDE_COPIED |
                 1U << SLC_BENCH_GPU_STRIDE_SHARED;
    }
    if ((chosen & ATOMICS) != 0) {
        tests |= 1U << SLC_BENCH_GPU_ATOMICS;
    }
    if (status == SLC_OK && tests != 0) {
        status = slc_bench_gpu_bench(options->label.device, tests, repetitions, keep_row, b, &error);
    }
    return b->failed ? complain(SLC_ERR_MEMORY, "no memory for the measurements")
                     : complain(status, error.text);
}

static bool measure_labels(slc_bench_gpu *b, const gpu_options *options)
{
    slc_bench_label_gpu *label = b->label;
    if (!slc_bench_label_gpu_measure(COMMAND, label, options->label.quiet)) {
        return false;
    }
    b->hockney = malloc(label->n * sizeof *b->hockney);
    if (b->hockney == NULL) {
        return complain(SLC_ERR_MEMORY, "no memory for the results");
    }
    b->n_hockney = slc_bench_gpu_hockney_of(label->rows, label->n, b->hockney, label->n);
    return true;
}

static bool tell(const slc_bench_gpu *b, const gpu_options *options)
{
    slc_error error;
    slc_status status = SLC_OK;
    if (options->label.csv != NULL) {
        status = slc_bench_gpu_csv(options->label.csv, b, &error);
    }
    if (status == SLC_OK && options->label.svg != NULL) {
        status = slc_bench_gpu_svg(options->label.svg, b->rows, b->n, b->hockney, b->n_hockney, &error);
    }
    if (!complain(status, error.text)) {
        return false;
    }
    if (options->label.json) {
        return slc_bench_gpu_print_json(b);
    }
    slc_bench_gpu_print(b);
    return true;
}

static int measure(slc_bench_gpu *b, const gpu_options *options)
{
    uint32_t chosen = 0;
    int status = choose_parts(options->what, &chosen);
    status = status == SLC_CLI_GO_ON ? slc_bench_label_gpu_choose(COMMAND, &options->label, b->label)
                                     : status;
    if (status == SLC_CLI_GO_ON && (chosen & LABELS) != 0 && b->label->config.n_sizes < 2) {
        status = slc_cli_wrong(COMMAND,
                               "r-infinity and n-half need two --sizes at least; --what leaves them out");
    }
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_cli_catch_signals();
    const bool good = measure_device(b, options, chosen) &&
                      ((chosen & LABELS) == 0 || measure_labels(b, options)) && tell(b, options);
    return good ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int run(int argc, char **argv)
{
    gpu_options options;
    int first = 0;
    int status = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_bench_gpu b = {.label = calloc(1, sizeof *b.label)};
    if (b.label == NULL) {
        slc_cli_say("bench gpu", "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    status = measure(&b, &options);
    free(b.label->rows);
    free(b.label);
    free(b.rows);
    free(b.hockney);
    return status;
}

const slc_cli_command slc_cmd_bench_gpu = {
    .name = "bench gpu",
    .operands = "",
    .summary = "measure a GPU: memory, strides, atomics, r-infinity, n-half",
    .description = "Measures on the spot what a GPU can do: its memory and copies, strides in global memory "
                   "and conflicts of\n"
                   "banks in shared memory, atomic additions that conflict and that do not; and labelling "
                   "over many sizes,\n"
                   "from which r-infinity, the throughput of endless images, and n-half, the pixels of an "
                   "image that reaches\n"
                   "half of it, follow by least squares.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .run = run,
};
