/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench`: how fast the kernels are on every instruction set of this machine. What is measured is the
 * code and the standard input that the library's own list of kernels names.
 */
#include "cmd_bench.h"
#include "bench/bench_kernels.h"
#include "cli_talk.h"

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

typedef struct kernel_options {
    bool kernels, json;
    uint64_t repetitions;
    const char *kernel, *simd;
} kernel_options;

#define O kernel_options
static const slc_cli_option table[] = {
    {"kernels", 0, NEEDED | FLAG(O, kernels), NULL, "measure the inner loops"},
    {"kernel", 0, TEXT(O, kernel), "NAME", "only this one, e.g. image.threshold"},
    {"simd", 0, SIMD(O, simd), "T", "only this instruction set; auto: the one that each kernel prefers"},
    {"repetitions", 0, COUNT(O, repetitions, 1, 1000000), "N", "samples of each, of at least 20 us"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
};
#undef O

static void set_defaults(void *at)
{
    *(kernel_options *)at = (kernel_options){.repetitions = 200};
}

static bool known(const char *name)
{
    size_t i = 0;
    while (slc_bench_kernel_name(i) != NULL && strcmp(slc_bench_kernel_name(i), name) != 0) {
        i++;
    }
    return slc_bench_kernel_name(i) != NULL;
}

static int act(const slc_cli_call *call)
{
    const kernel_options *options = call->options;
    const slc_bench_output output = {.json = options->json};
    slc_bench_kernels_config config = {.kernel = options->kernel,
                                       .repetitions = (uint32_t)options->repetitions};
    slc_error error;
    if (options->kernel != NULL && !known(options->kernel)) {
        return slc_cli_wrong(&slc_cmd_bench, "unknown kernel '%s'; `sluice version` lists them",
                             options->kernel);
    }
    if (slc_simd_choose(options->simd, &config.choice, &error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_bench, "%s", error.text);
    }
    config.every = options->simd == NULL && config.choice == SLC_SIMD_AUTO;
    return slc_cmd_bench_run(&slc_cmd_bench, false, slc_bench_kernels, &config, &output);
}

const slc_cli_command slc_cmd_bench = {
    .name = "bench",
    .operands = "",
    .summary = "measure the inner loops on every instruction set",
    .description =
        "Measures every kernel on every instruction set that runs here: the time of a call on its standard\n"
        "input, minimum and median, and how many times as fast as plain C it is.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .defaults = set_defaults,
    .act = act,
};
