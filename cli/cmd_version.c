/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice version`: what this build is and what it can read, write and run.
 */
#include "cli_options.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

#include <jansson.h>
#include <string.h>

typedef struct version_options {
    bool json;
    const char *simd;
} version_options;

static const slc_cli_option options_table[] = {
    {.name = "simd",
     .kind = SLC_CLI_TEXT,
     .value = "T",
     .member = offsetof(version_options, simd),
     .help = "tell what this request for an instruction set means for each kernel"},
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(version_options, json),
     .help = "print one JSON object"},
};

static void set_defaults(void *at)
{
    *(version_options *)at = (version_options){.json = false};
}

static const struct {
    const char *name, *description;
} outputs[] = {
    {"mdf", "LHCb raw events (simulate)"},
    {"hdf5", "hits, tracks, states, truth matches (velo -o)"},
    {"csv", "tables (velo --table)"},
    {"html", "report with plots (velo --report)"},
    {"json", "summary on standard output (--json)"},
};
enum { N_OUTPUTS = sizeof outputs / sizeof outputs[0] };

static void print_targets(const char *label, bool (*has)(slc_simd_target))
{
    (void)printf("%-12s", label);
    for (int target = SLC_SIMD_C; target < SLC_SIMD_TARGETS; target++) {
        if (has((slc_simd_target)target)) {
            (void)printf(" %s", slc_simd_name((slc_simd_target)target));
        }
    }
    (void)putchar('\n');
}

static void print_text(slc_simd_target choice)
{
    (void)printf("sluice %s\n", slc_version());
    (void)printf("%-12s %s\n", "compiler", slc_compiler());
    print_targets("targets", slc_simd_compiled);
    print_targets("run here", slc_simd_runs);
    const char *label = "kernels", *description = "";
    for (size_t i = 0; slc_run_kernel_name(i) != NULL; i++, label = "") {
        (void)printf("%-12s %-18s %s\n", label, slc_run_kernel_name(i),
                     slc_simd_name(slc_run_kernel_target(i, choice)));
    }
    label = "reads";
    for (size_t i = 0; slc_io_format_name(i, &description) != NULL; i++, label = "") {
        (void)printf("%-12s %-10s %s\n", label, slc_io_format_name(i, &description), description);
    }
    label = "writes";
    for (size_t i = 0; i < N_OUTPUTS; i++, label = "") {
        (void)printf("%-12s %-10s %s\n", label, outputs[i].name, outputs[i].description);
    }
}

static json_t *named(const char *name, const char *description)
{
    return json_pack("{s:s, s:s}", "name", name, "description", description);
}

static json_t *list_targets(void)
{
    json_t *list = json_array();
    for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS; i++) {
        const slc_simd_target target = (slc_simd_target)i;
        if (slc_simd_compiled(target)) {
            (void)json_array_append_new(list, json_pack("{s:s, s:b}", "name", slc_simd_name(target), "runs",
                                                        slc_simd_runs(target) ? 1 : 0));
        }
    }
    return list;
}

static json_t *list_kernels(slc_simd_target choice)
{
    json_t *list = json_array();
    for (size_t i = 0; slc_run_kernel_name(i) != NULL; i++) {
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "name", slc_run_kernel_name(i), "target",
                                                    slc_simd_name(slc_run_kernel_target(i, choice))));
    }
    return list;
}

static int print_json(slc_simd_target choice)
{
    json_t *input_list = json_array(), *output_list = json_array();
    const char *description = "";
    for (size_t i = 0; slc_io_format_name(i, &description) != NULL; i++) {
        (void)json_array_append_new(input_list, named(slc_io_format_name(i, &description), description));
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        (void)json_array_append_new(output_list, named(outputs[i].name, outputs[i].description));
    }
    json_t *object = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o}", "version", slc_version(), "compiler",
                               slc_compiler(), "targets", list_targets(), "kernels", list_kernels(choice),
                               "inputs", input_list, "outputs", output_list);
    return slc_cli_print_json("version", object) ? SLC_CLI_DONE : SLC_CLI_FAILED;
}

static int run(int argc, char **argv)
{
    version_options options;
    int first = 0;
    const int status = slc_cli_parse(&slc_cmd_version, argc, argv, &options, &first);
    if (status != SLC_CLI_GO_ON) {
        return status;
    }
    slc_simd_target choice;
    slc_error error;
    if (slc_simd_choose(options.simd, &choice, &error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_version, "%s", error.text);
    }
    if (options.json) {
        return print_json(choice);
    }
    print_text(choice);
    return SLC_CLI_DONE;
}

const slc_cli_command slc_cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "version, compiler, instruction sets, kernels, formats",
    .description = "Tells the version, the compiler, the instruction sets that are compiled in and that run "
                   "here, which of\n"
                   "them each kernel takes, and the formats.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .run = run,
};
