/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice bench cms`: measures the chain of CMS's pixels on generated events, on a core or on a GPU.
 */
#include "bench/bench_cms.h"
#include "cli_talk.h"
#include "cmd_bench.h"

#include <sluice/sluice.h>

#include <string.h>

#define COMMAND (&slc_cmd_bench_cms)

typedef struct bench_options {
    const char *device, *csv;
    uint64_t events, repetitions, seed;
} bench_options;

static const slc_cli_option table[] = {
    {.name = "device",
     .value = "WHICH",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, device),
     .help = "cpu (the default), or GPUs: cuda, cuda:N, cuda:N,M, all"},
    {.name = "events",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, events),
     .low = 0,
     .high = 100000,
     .help = "of a batch; 0: 20 on a core, 1000 on a GPU"},
    {.name = "repetitions",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, repetitions),
     .low = 1,
     .high = 100000,
     .help = "of each measurement; the median counts"},
    {.name = "seed",
     .value = "N",
     .kind = SLC_CLI_COUNT,
     .member = offsetof(bench_options, seed),
     .low = 0,
     .high = 0,
     .help = "of the generated events"},
    {.name = "csv",
     .value = "FILE",
     .kind = SLC_CLI_TEXT,
     .member = offsetof(bench_options, csv),
     .help = "write every line of the table"},
};

static void defaults(void *options)
{
    *(bench_options *)options = (bench_options){.repetitions = 21, .seed = 1};
}

static int run(int argc, char **argv)
{
    bench_options options;
    int first = 0;
    const int parsed = slc_cli_parse(COMMAND, argc, argv, &options, &first);
    if (parsed != SLC_CLI_GO_ON) {
        return parsed;
    }
    slc_error error = {0};
    uint32_t device;
    const bool gpu = options.device != NULL && strcmp(options.device, "cpu") != 0;
    /* Several are looked at by who measures. */
    const bool one = gpu && strchr(options.device, ',') == NULL && strstr(options.device, "all") == NULL;
    const slc_status status = one ? slc_cuda_choose(options.device, &device, &error) : SLC_OK;
    if (status == SLC_ERR_USAGE) {
        return slc_cli_wrong(COMMAND, "%s", error.text);
    }
    if (status != SLC_OK) {
        slc_cli_say("bench cms", "%s", error.text);
        return SLC_CLI_FAILED;
    }
    const uint64_t events = options.events > 0 ? options.events : gpu ? 1000 : 20;
    const slc_bench_cms_config config = {.events = (uint32_t)events,
                                         .repetitions = (uint32_t)options.repetitions,
                                         .seed = options.seed,
                                         .device = options.device};
    const slc_bench_output output = {.csv = options.csv};
    return slc_cmd_bench_run(COMMAND, false, slc_bench_cms, &config, &output);
}

const slc_cli_command slc_cmd_bench_cms = {
    .name = "bench cms",
    .operands = "",
    .summary = "measure the chain of CMS's pixels",
    .description =
        "Measures every stage of the chain of CMS's pixel detector on generated events, on a core "
        "(pin it with\n"
        "taskset) or on a GPU; there also the kernels beside the structure they replace, and what goes from "
        "host to\nhost, by chains and by the flow of `sluice cms` with a file, beside copies alone and "
        "kernels "
        "alone.\n",
    .options = table,
    .n_options = sizeof table / sizeof table[0],
    .min_operands = 0,
    .max_operands = 0,
    .defaults = defaults,
    .run = run,
};
