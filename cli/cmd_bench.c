/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench`: how fast the kernels are on every instruction set of this machine. What is measured is the
 * code and the standard input that the library's own list of kernels names.
 */
#include "cmd_bench.h"
#include "bench/bench_kernels.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* ---- all benchmarks ---------------------------------------------------------------------------- */

/* Between turns a benchmark only asks whether it may go on, with nothing done of nothing. */
static bool tell(void *context, uint64_t done, uint64_t of)
{
    if (done > 0) {
        slc_cli_progress_show(context, done, of);
    }
    return !slc_cli_interrupted();
}

int slc_cmd_bench_run(const slc_cli_command *command, bool quiet, slc_bench_function *bench,
                      const void *config, const slc_bench_output *output)
{
    slc_cli_progress progress;
    slc_bench_report report;
    slc_error error = {.status = SLC_OK};
    slc_cli_catch_signals();
    slc_cli_progress_begin(&progress, command->name, quiet);
    progress.unit = "measurements";
    slc_status status = slc_bench_report_open(&report, &error);
    if (status == SLC_OK) {
        status = bench(config, &(slc_bench_watch){tell, &progress}, &report, &error);
    }
    slc_cli_progress_end(&progress);
    if (status == SLC_OK && report.note != NULL && !quiet) {
        slc_cli_say(command->name, "note: %s", report.note);
    }
    status = status == SLC_OK ? slc_bench_report_write(&report, output, &error) : status;
    slc_bench_report_clear(&report);
    if (status != SLC_OK && status != SLC_END) {
        slc_cli_say(command->name, "%s", error.text);
    }
    return status == SLC_OK ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

/* ---- kernels ----------------------------------------------------------------------------------- */

typedef struct bench_options {
    bool kernels, json;
    uint64_t repetitions;
    const char *kernel, *simd;
} bench_options;

static const slc_cli_option options_table[] = {
    {.name = "kernels",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, kernels),
     .required = true,
     .help = "measure the inner loops"},
    {.name = "kernel",
     .kind = SLC_CLI_TEXT,
     .value = "NAME",
     .member = offsetof(bench_options, kernel),
     .help = "only this one, e.g. image.threshold"},
    {.name = "simd",
     .kind = SLC_CLI_TEXT,
     .value = "T",
     .member = offsetof(bench_options, simd),
     .help = "only this instruction set; auto: the one that each kernel prefers"},
    {.name = "repetitions",
     .kind = SLC_CLI_COUNT,
     .value = "N",
     .member = offsetof(bench_options, repetitions),
     .low = 1,
     .high = 1000000,
     .help = "samples of each, of at least 20 us"},
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(bench_options, json),
     .help = "print one JSON object"},
};

static void set_defaults(void *at)
{
    *(bench_options *)at = (bench_options){.repetitions = 200};
}

/* What is to be measured, and where the results go. */
typedef struct bench {
    const bench_options *options;
    bool every; /* all targets that run here */
    slc_simd_target choice;
    json_t *rows; /* NULL without --json */
    bool headed;
} bench;

static void print_row(bench *b, const char *name, slc_simd_target target, bool preferred,
                      const slc_bench_timing *timing, double against_c)
{
    if (!b->headed) {
        (void)printf("%-18s %-12s %12s %12s %10s %9s %7s\n", "kernel", "target", "min [ns]", "median [ns]",
                     "ns/element", "GB/s", "x c");
        b->headed = true;
    }
    const double each = timing->minimum_ns / (double)timing->elements;
    (void)printf("%-18s %-11s%c %12.1f %12.1f %10.4f %9.2f %7.2f\n", name, slc_simd_name(target),
                 preferred ? '*' : ' ', timing->minimum_ns, timing->median_ns, each,
                 timing->bytes_per_element / each, against_c);
}

static bool add_row(bench *b, const char *name, slc_simd_target target, bool preferred,
                    const slc_bench_timing *timing, double against_c)
{
    const double elements = (double)timing->elements;
    json_t *row = json_pack("{s:s, s:s, s:b, s:I, s:f, s:I, s:f, s:f, s:f, s:f, s:f}", "kernel", name,
                            "target", slc_simd_name(target), "preferred", preferred ? 1 : 0, "elements",
                            (json_int_t)timing->elements, "bytes_per_element", timing->bytes_per_element,
                            "calls_per_sample", (json_int_t)timing->calls, "minimum_ns", timing->minimum_ns,
                            "median_ns", timing->median_ns, "minimum_ns_per_element",
                            timing->minimum_ns / elements, "gigabytes_per_second",
                            timing->bytes_per_element * elements / timing->minimum_ns, "times_c", against_c);
    return json_array_append_new(b->rows, row) == 0;
}

/* One kernel on the targets that are wanted; plain C first, as all others are compared with it. */
static bool measure(bench *b, size_t kernel)
{
    const char *name = slc_bench_kernel_name(kernel);
    const slc_simd_target preferred = slc_bench_kernel_target(kernel, SLC_SIMD_AUTO);
    const slc_simd_target only = slc_bench_kernel_target(kernel, b->choice);
    double c_ns = 0;
    for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS; i++) {
        const slc_simd_target target = (slc_simd_target)i;
        const bool wanted = b->every || target == only;
        if (!slc_simd_runs(target) || !(wanted || target == SLC_SIMD_C)) {
            continue;
        }
        slc_error error;
        slc_bench_timing timing;
        if (slc_bench_kernel_bench(kernel, target, (uint32_t)b->options->repetitions, &timing, &error) !=
            SLC_OK) {
            slc_cli_say("bench", "%s", error.text);
            return false;
        }
        c_ns = target == SLC_SIMD_C ? timing.minimum_ns : c_ns;
        const double against_c = c_ns / timing.minimum_ns;
        if (wanted && b->rows != NULL) {
            if (!add_row(b, name, target, target == preferred, &timing, against_c)) {
                slc_cli_say("bench", "no memory for the result");
                return false;
            }
        } else if (wanted) {
            print_row(b, name, target, target == preferred, &timing, against_c);
        }
    }
    return true;
}

static bool known(const char *name)
{
    for (size_t i = 0; slc_bench_kernel_name(i) != NULL; i++) {
        if (strcmp(slc_bench_kernel_name(i), name) == 0) {
            return true;
        }
    }
    return false;
}

static bool measure_all(bench *b)
{
    for (size_t i = 0; slc_bench_kernel_name(i) != NULL; i++) {
        const char *only = b->options->kernel;
        if ((only == NULL || strcmp(only, slc_bench_kernel_name(i)) == 0) && !measure(b, i)) {
            return false;
        }
    }
    return true;
}

static int run(int argc, char **argv)
{
    bench_options options;
    int first = 0;
    const int status = slc_cli_parse(&slc_cmd_bench, argc, argv, &options, &first);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    if (options.kernel != NULL && !known(options.kernel)) {
        return slc_cli_wrong(&slc_cmd_bench, "unknown kernel '%s'; `sluice version` lists them",
                             options.kernel);
    }
    bench b = {.options = &options};
    slc_error error;
    if (slc_simd_choose(options.simd, &b.choice, &error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_bench, "%s", error.text);
    }
    b.every = options.simd == NULL && b.choice == SLC_SIMD_AUTO;
    if (options.json) {
        b.rows = json_array();
    }
    if (!measure_all(&b)) {
        json_decref(b.rows);
        return SLC_CLI_FAILED;
    }
    if (!options.json) {
        (void)printf("* what `auto` takes; GB/s read and written, both from the minimum of %llu samples\n",
                     (unsigned long long)options.repetitions);
        return SLC_CLI_DONE;
    }
    json_t *object = json_pack("{s:s, s:s, s:I, s:o}", "version", slc_version(), "compiler", slc_compiler(),
                               "repetitions", (json_int_t)options.repetitions, "kernels", b.rows);
    return slc_cli_print_json("bench", object) ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

const slc_cli_command slc_cmd_bench = {
    .name = "bench",
    .operands = "",
    .summary = "measure the inner loops on every instruction set",
    .description =
        "Measures every kernel on every instruction set that runs here: the time of a call on its standard\n"
        "input, minimum and median, and how many times as fast as plain C it is.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .run = run,
};
