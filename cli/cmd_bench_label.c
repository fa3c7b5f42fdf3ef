/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench label`: every algorithm of labelling on every instruction set, or on a GPU, over random
 * images, as the thesis measures (figures 4.14, 4.20 and 4.27, tables 4.1 to 4.4). `sluice bench gpu`: what a
 * GPU can do, and what labelling makes of it (section 3.5 and figures 3.3 and 4.21 of A. Hennequin's thesis,
 * 2022).
 */
#include "bench/bench_gpu.h"
#include "cli_talk.h"
#include "cli_words.h"
#include "cmd_bench.h"
#include "cmd_label_words.h"

#include <stdlib.h>
#include <string.h>

enum { ALGORITHMS = 64 };

typedef struct label_options {
    slc_cli_count_list sizes, granularities; /* empty: the device's own defaults */
    slc_cli_number_list densities;
    const char *algorithms, *simd, *features, *device, *csv, *svg;
    uint64_t connectivity, threads, repetitions, seed, streams;
    uint32_t parts; /* of `sluice bench gpu` */
    bool labels_off, bound, warm, raw, json, quiet;
} label_options;

#define O       label_options
#define SIDES   "whole numbers from 1 to 65536 with commas"
#define PERCENT "up to 256 numbers from 0 to 100 with commas or as first:last:step"
static const slc_cli_option label_table[] = {
    {"sizes", 0, COUNTS(O, sizes, 65536, SIDES), "LIST",
     "sides of the images in pixels (default 2048; on a GPU 8192)"},
    {"granularities", 0, COUNTS(O, granularities, 65536, SIDES), "LIST",
     "sides of the macro-pixels (default 1,2,4,8,16; on a GPU 1,4,16)"},
    {"densities", 0, NUMBERS(O, densities, 0, 100, PERCENT), "LIST",
     "in percent, or first:last:step (default 0:100:5; on a GPU 0:100:10)"},
    {"algorithms", 0, TEXT(O, algorithms), "LIST", "names with commas (default all)"},
    {"simd", 0, TEXT(O, simd), "T", "only this instruction set, or auto (default all that run here)"},
    {"connectivity", 0, COUNT(O, connectivity, 0, 0), "N", "4 or 8"},
    {"threads", 0, COUNT(O, threads, 1, 4096), "N", "of each labelling"},
    {"features", 0, TEXT(O, features), "LIST", "make these too, with commas, or all (default none)"},
    {"labels-off", 0, FLAG(O, labels_off), NULL, "make no label image, features alone"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 100000), "N",
     "calls of each; fewer where they take over 15 ms, on a GPU 50 ms"},
    {"seed", 0, COUNT(O, seed, 0, UINT32_MAX), "S", "of the images"},
    {"csv", 0, OUTPUT_AS(O, csv, ENDS_OR_NONE(".csv")), "FILE", "write every measurement"},
    {"svg", 0, OUTPUT(O, svg), "FILE", "draw cycles per pixel, of a GPU milliseconds, against density"},
    {"device", 0, DEVICE(O, device), "WHICH",
     "cpu (the default), or a GPU with its algorithms: cuda or cuda:N"},
    {"bound", 0, FLAG(O, bound), NULL,
     "of a GPU, measure its memory, too, and tell how near to that all are"},
    {"warm", 0, FLAG(O, warm), NULL, "on a GPU, do not clear its caches before each run"},
    {"raw", 0, FLAG(O, raw), NULL, "on a GPU, labels that are not yet numbered, as papers measure them"},
    {"streams", 0, COUNT(O, streams, 0, 32), "N",
     "on a GPU, measure whole calls with copies instead, 1 to N at once"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress on standard error, only errors"},
};

static const slc_cli_option gpu_table[] = {
    {"device", 0, DEVICE(O, device), "WHICH", "cuda (the default) or cuda:N"},
    {"what", 0,
     CHOICES(O, parts,
             (&(const slc_cli_choice){
                 .kind = "part",
                 .words = (const char *const[]){"memory", "strides", "atomics", "labels", NULL}})),
     "LIST", "of memory,strides,atomics,labels (default all)"},
    {"sizes", 0, COUNTS(O, sizes, 65536, SIDES), "LIST",
     "sides of the images (default 256,512 and so on to 16384)"},
    {"granularities", 0, COUNTS(O, granularities, 65536, SIDES), "LIST",
     "sides of the macro-pixels (default 1,4,16)"},
    {"densities", 0, NUMBERS(O, densities, 0, 100, PERCENT), "LIST",
     "in percent, or first:last:step (default 0:100:25)"},
    {"algorithms", 0, TEXT(O, algorithms), "LIST",
     "names with commas, or all (default bittile,flsl-cd,flsl,ha4-64)"},
    {"connectivity", 0, COUNT(O, connectivity, 0, 0), "N", "4 or 8"},
    {"features", 0, TEXT(O, features), "LIST", "make these too, with commas, or all (default none)"},
    {"labels-off", 0, FLAG(O, labels_off), NULL, "make no label image, features alone"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 100000), "N", "runs of each; the median counts"},
    {"seed", 0, COUNT(O, seed, 0, UINT32_MAX), "S", "of the images"},
    {"csv", 0, OUTPUT_AS(O, csv, ENDS_OR_NONE(".csv")), "FILE", "write every measurement"},
    {"svg", 0, OUTPUT(O, svg), "FILE", "draw bandwidth against stride, and n-half against r-infinity"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
    {"quiet", 'q', FLAG(O, quiet), NULL, "no progress on standard error, only errors"},
};
#undef O

static void label_defaults(void *at)
{
    *(label_options *)at = (label_options){
        .algorithms = "all", .connectivity = 8, .threads = 1, .repetitions = 15, .seed = 1};
}

static void gpu_defaults(void *at)
{
    *(label_options *)at = (label_options){.device = "cuda",
                                           .algorithms = "bittile,flsl-cd,flsl,ha4-64",
                                           .connectivity = 8,
                                           .threads = 1,
                                           .repetitions = 11,
                                           .seed = 1,
                                           .parts = SLC_BENCH_GPU_MEMORY | SLC_BENCH_GPU_STRIDES |
                                                    SLC_BENCH_GPU_ATOMIC | SLC_BENCH_GPU_LABELS};
}

/* ---- values ------------------------------------------------------------------------------------ */

/* The lists of a configuration. */
typedef struct lists {
    slc_cli_count_list sizes, granularities;
    slc_cli_number_list densities;
    size_t size[SLC_CLI_LIST], algorithms[ALGORITHMS];
    slc_simd_target targets[SLC_SIMD_TARGETS];
    slc_bench_gpu_config config;
} lists;

static void choose_images(const label_options *options, const char *sizes, const char *granularities,
                          const char *densities, lists *l)
{
    l->sizes = options->sizes;
    l->granularities = options->granularities;
    l->densities = options->densities;
    if (l->sizes.n == 0) {
        l->sizes.n = slc_cli_whole_numbers(sizes, 65536, l->sizes.value, SLC_CLI_LIST);
    }
    if (l->granularities.n == 0) {
        l->granularities.n = slc_cli_whole_numbers(granularities, 65536, l->granularities.value,
                                                   SLC_CLI_LIST);
    }
    if (l->densities.n == 0) {
        l->densities.n = slc_cli_numbers(densities, 0, 100, l->densities.value, SLC_CLI_LIST);
    }
    for (size_t i = 0; i < l->sizes.n; i++) {
        l->size[i] = l->sizes.value[i];
    }
    for (size_t i = 0; i < l->densities.n; i++) {
        l->densities.value[i] /= 100;
    }
}

static int choose_targets(const slc_cli_command *command, const char *simd, lists *l)
{
    slc_error error;
    slc_simd_target choice;
    size_t n = 0;
    const bool named = simd != NULL && strcmp(simd, "all") != 0;
    if (slc_simd_choose(named ? simd : NULL, &choice, &error) != SLC_OK) {
        return slc_cli_wrong(command, "%s", error.text);
    }
    if (named || choice != SLC_SIMD_AUTO) {
        l->targets[n++] = choice;
    }
    for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS && !named && choice == SLC_SIMD_AUTO; i++) {
        if (slc_simd_runs((slc_simd_target)i)) {
            l->targets[n++] = (slc_simd_target)i;
        }
    }
    l->config.label.targets = l->targets;
    l->config.label.n_targets = n;
    return SLC_CLI_GO_ON;
}

/* What only one of the ways to measure has. */
static int check_device(const slc_cli_command *command, const label_options *options, bool gpu)
{
    const char *other = options->simd != NULL                          ? "--simd"
                        : options->threads != 1                        ? "--threads"
                        : options->streams > 0 && options->svg != NULL ? "--svg with --streams"
                        : options->streams > 0 && options->raw         ? "--raw with --streams"
                                                                       : NULL;
    const char *alone = options->bound         ? "bound"
                        : options->warm        ? "warm"
                        : options->raw         ? "raw"
                        : options->streams > 0 ? "streams"
                                               : NULL;
    return gpu && other != NULL
               ? slc_cli_wrong(command, "%s does not go with --device %s", other, options->device)
           : !gpu && alone != NULL ? slc_cli_wrong(command, "--%s needs a GPU, as --device cuda", alone)
                                   : SLC_CLI_GO_ON;
}

static int choose_device(const slc_cli_command *command, const char *device)
{
    slc_error error;
    uint32_t number;
    const slc_status status = slc_cuda_choose(device, &number, &error);
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(command, "%s", error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say(command->name, "%s", error.text);
    }
    return status == SLC_OK ? SLC_CLI_GO_ON : SLC_CLI_FAILED;
}

static int choose(const slc_cli_command *command, const label_options *options, lists *l)
{
    const bool gpu = command == &slc_cmd_bench_gpu || slc_label_on_gpu(options->device);
    slc_bench_label_config *config = &l->config.label;
    *config = (slc_bench_label_config){.device = gpu ? options->device : NULL,
                                       .sizes = l->size,
                                       .n_sizes = l->sizes.n,
                                       .granularities = l->granularities.value,
                                       .n_granularities = l->granularities.n,
                                       .densities = l->densities.value,
                                       .n_densities = l->densities.n,
                                       .algorithms = l->algorithms,
                                       .connectivity = (uint32_t)options->connectivity,
                                       .threads = (uint32_t)options->threads,
                                       .seed = (uint32_t)options->seed,
                                       .labels = !options->labels_off,
                                       .raw = options->raw,
                                       .repetitions = (uint32_t)options->repetitions,
                                       .seconds = gpu ? 50e-3 : 15e-3,
                                       .flush_bytes = options->warm ? 0 : (size_t)256 << 20,
                                       .bound = options->bound,
                                       .streams = (uint32_t)options->streams};
    l->config.parts = options->parts;
    if (options->connectivity != 4 && options->connectivity != 8) {
        return slc_cli_wrong(command, "--connectivity takes 4 or 8, not '%llu'",
                             (unsigned long long)options->connectivity);
    }
    int status = check_device(command, options, gpu);
    if (status == SLC_CLI_GO_ON) {
        status = slc_label_algorithms(command, options->algorithms, gpu, l->algorithms, ALGORITHMS,
                                      &config->n_algorithms);
    }
    if (status == SLC_CLI_GO_ON && !gpu) {
        status = choose_targets(command, options->simd, l);
    }
    if (status == SLC_CLI_GO_ON && options->features != NULL && strcmp(options->features, "none") != 0) {
        status = slc_label_features(command, options->features, &config->features);
    }
    if (status == SLC_CLI_GO_ON && options->labels_off && config->features == 0) {
        status = slc_cli_wrong(command, "--labels-off needs --features: nothing would be made");
    }
    return status == SLC_CLI_GO_ON && gpu ? choose_device(command, options->device) : status;
}

/* ---- the commands ------------------------------------------------------------------------------ */

static int act(const slc_cli_call *call)
{
    const label_options *options = call->options;
    const slc_bench_output output = {options->csv, options->svg, options->json};
    const bool both = call->command == &slc_cmd_bench_gpu, gpu = both || slc_label_on_gpu(options->device);
    lists *l = calloc(1, sizeof *l);
    if (l == NULL) {
        slc_cli_say(call->command->name, "no memory to begin with");
        return SLC_CLI_FAILED;
    }
    choose_images(options,
                  both  ? "256,512,1024,2048,4096,8192,16384"
                  : gpu ? "8192"
                        : "2048",
                  gpu ? "1,4,16" : "1,2,4,8,16",
                  both  ? "0:100:25"
                  : gpu ? "0:100:10"
                        : "0:100:5",
                  l);
    int status = choose(call->command, options, l);
    if (status == SLC_CLI_GO_ON && both && (options->parts & SLC_BENCH_GPU_LABELS) != 0 && l->sizes.n < 2) {
        status = slc_cli_wrong(call->command,
                               "r-infinity and n-half need two --sizes at least; --what leaves them out");
    }
    if (status == SLC_CLI_GO_ON) {
        status = both ? slc_cmd_bench_run(call->command, options->quiet, slc_bench_gpu, &l->config, &output)
                      : slc_cmd_bench_run(call->command, options->quiet, slc_bench_label, &l->config.label,
                                          &output);
    }
    free(l);
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
    .options = label_table,
    .n_options = sizeof label_table / sizeof label_table[0],
    .defaults = label_defaults,
    .act = act,
};

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
    .options = gpu_table,
    .n_options = sizeof gpu_table / sizeof gpu_table[0],
    .defaults = gpu_defaults,
    .act = act,
};
