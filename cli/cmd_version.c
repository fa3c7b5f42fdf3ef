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
} version_options;

static const slc_cli_option options_table[] = {
    {.name = "json",
     .kind = SLC_CLI_FLAG,
     .member = offsetof(version_options, json),
     .help = "print one JSON object"},
};

static void set_defaults(void *at)
{
    *(version_options *)at = (version_options){.json = false};
}

/* Instruction-set targets compiled in. `c` is plain C, which runs wherever the program starts. */
static const struct {
    const char *name;
    bool runs;
} targets[] = {{"c", true}};
enum { N_TARGETS = sizeof targets / sizeof targets[0] };

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

static void print_text(void)
{
    (void)printf("sluice %s\n", slc_version());
    (void)printf("%-12s %s\n", "compiler", slc_compiler());
    (void)printf("%-12s", "targets");
    for (size_t i = 0; i < N_TARGETS; i++) {
        (void)printf(" %s", targets[i].name);
    }
    (void)printf("\n%-12s", "run here");
    for (size_t i = 0; i < N_TARGETS; i++) {
        if (targets[i].runs) {
            (void)printf(" %s", targets[i].name);
        }
    }
    (void)putchar('\n');
    const char *label = "reads", *description = "";
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

static int print_json(void)
{
    json_t *target_list = json_array(), *input_list = json_array(), *output_list = json_array();
    for (size_t i = 0; i < N_TARGETS; i++) {
        (void)json_array_append_new(
            target_list, json_pack("{s:s, s:b}", "name", targets[i].name, "runs", targets[i].runs ? 1 : 0));
    }
    const char *description = "";
    for (size_t i = 0; slc_io_format_name(i, &description) != NULL; i++) {
        (void)json_array_append_new(input_list, named(slc_io_format_name(i, &description), description));
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        (void)json_array_append_new(output_list, named(outputs[i].name, outputs[i].description));
    }
    json_t *object = json_pack("{s:s, s:s, s:o, s:o, s:o}", "version", slc_version(), "compiler",
                               slc_compiler(), "targets", target_list, "inputs", input_list, "outputs",
                               output_list);
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
    if (options.json) {
        return print_json();
    }
    print_text();
    return SLC_CLI_DONE;
}

const slc_cli_command slc_cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "version, compiler, instruction sets, formats",
    .description = "Tells the version, the compiler, the instruction sets compiled in and the formats.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .run = run,
};
