/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice version`: what this build is and what it can read, write and run.
 */
#include "bench/bench_kernels.h"
#include "cli_options.h"
#include "cli_tree.h"

#include <sluice/sluice.h>

#include <stdio.h>
#include <string.h>

typedef struct version_options {
    bool json;
    const char *simd;
} version_options;

#define O version_options
static const slc_cli_option options_table[] = {
    {"simd", 0, TEXT(O, simd), "T", "tell what this request for an instruction set means for each kernel"},
    {"json", 0, FLAG(O, json), NULL, "print one JSON object"},
};
#undef O

static void set_defaults(void *at)
{
    *(version_options *)at = (version_options){.json = false};
}

/* The next row of a list, of which the first one has the label. */
static slc_cli_tree row_of(slc_cli_tree *tree, const char *path, const char *label, bool first)
{
    slc_cli_tree row = slc_cli_append(tree, path);
    slc_cli_put(&row, ".label", first ? label : "");
    return row;
}

static void add_targets(slc_cli_tree *tree)
{
    char compiled[256] = "", run[256] = "";
    for (int i = SLC_SIMD_C; i < SLC_SIMD_TARGETS; i++) {
        const slc_simd_target target = (slc_simd_target)i;
        if (slc_simd_compiled(target)) {
            slc_cli_tree row = slc_cli_append(tree, "targets");
            slc_cli_put(&row, "name", slc_simd_name(target));
            slc_cli_put_bool(&row, "runs", slc_simd_runs(target));
            const size_t a = strlen(compiled), b = strlen(run);
            (void)snprintf(compiled + a, sizeof compiled - a, " %s", slc_simd_name(target));
            (void)snprintf(run + b, sizeof run - b, "%s%s", slc_simd_runs(target) ? " " : "",
                           slc_simd_runs(target) ? slc_simd_name(target) : "");
        }
    }
    slc_cli_put(tree, ".compiled", (const char *)compiled);
    slc_cli_put(tree, ".run", (const char *)run);
}

static void add_kernels(slc_cli_tree *tree, slc_simd_target choice)
{
    for (size_t i = 0; slc_bench_kernel_name(i) != NULL; i++) {
        slc_cli_tree row = row_of(tree, "kernels", "kernels", i == 0);
        slc_cli_put(&row, "name", slc_bench_kernel_name(i));
        slc_cli_put(&row, "target", slc_simd_name(slc_bench_kernel_target(i, choice)));
    }
}

#define OF(member)                                                                                           \
    {                                                                                                        \
#member, FIELD(slc_cuda_device, member)                                                              \
    }
static const slc_cli_field device_fields[] = {OF(major), OF(minor), OF(multiprocessors), OF(memory_bytes),
                                              OF(memory_bytes_per_second)};

/* What was built for GPUs, the driver, and the devices, or why there is none: "built" and "reason" are null
 * if there is nothing to say. */
static void add_cuda(slc_cli_tree *tree)
{
    slc_error reason = {.status = SLC_OK};
    int driver;
    const char *built = slc_cuda_built(&driver);
    const uint32_t n = slc_cuda_devices(&reason);
    slc_cli_put_text(tree, "cuda.built", built);
    slc_cli_put(tree, "cuda.driver", driver);
    slc_cli_put_array(tree, "cuda.devices");
    for (uint32_t i = 0; i < n; i++) {
        slc_cuda_device device;
        slc_error why;
        if (slc_cuda_device_of(i, &device, &why) != SLC_OK) {
            slc_cli_tree lost = row_of(tree, ".lost", "devices", i == 0);
            slc_cli_put(&lost, "number", i);
            slc_cli_put(&lost, "reason", (const char *)why.text);
            continue;
        }
        slc_cli_tree row = row_of(tree, "cuda.devices", "devices", i == 0);
        slc_cli_put(&row, "name", (const char *)device.name);
        slc_cli_put_fields(&row, "", device_fields, sizeof device_fields / sizeof *device_fields, &device);
        slc_cli_put(&row, ".number", i);
    }
    slc_cli_put_text(tree, "cuda.reason", n == 0 ? reason.text : NULL);
    slc_cli_put_bool(tree, ".none", built != NULL && n == 0);
    if (built != NULL && driver > 0) {
        char text[32];
        (void)snprintf(text, sizeof text, "%d.%d", driver / 1000, driver % 1000 / 10);
        slc_cli_put(tree, ".driver", (const char *)text);
    }
}

static void add_formats(slc_cli_tree *tree)
{
    slc_cli_put_array(tree, "inputs");
    slc_cli_put_array(tree, "outputs");
    const char *const path[] = {"inputs", "outputs"}, *const label[] = {"reads", "writes"};
    bool any[2] = {false, false};
    const slc_io_format_row *format;
    for (size_t i = 0; (format = slc_io_format_at(i)) != NULL; i++) {
        const char *const texts[] = {format->reads, format->writes};
        for (size_t way = 0; way < 2; way++) {
            if (texts[way] != NULL) {
                slc_cli_tree row = row_of(tree, path[way], label[way], !any[way]);
                slc_cli_put(&row, "name", format->name);
                slc_cli_put(&row, "description", texts[way]);
                any[way] = true;
            }
        }
    }
}

static const slc_cli_line head[] = {
    {NULL, "sluice {version}", NULL},
    {NULL, "compiler     {compiler}", NULL},
    {NULL, "targets     {.compiled}", NULL},
    {NULL, "run here    {.run}", NULL},
    {NULL, "cuda         {cuda.built}", "cuda.built"},
    {NULL, "cuda         {cuda.reason}", "!cuda.built"},
    {NULL, "driver       CUDA {.driver}", ".driver"},
    {NULL, "devices      {cuda.reason}", ".none"},
};
static const struct {
    const char *path;
    slc_cli_line line;
} lists[] = {
    {"cuda.devices",
     {NULL,
      "{.label|-12} cuda:{.number|-5} {name}, sm_{major}{minor}, {multiprocessors} multiprocessors, "
      "{memory_bytes*9.313225746154785e-10|.0f} GiB, {memory_bytes_per_second*1e-9|.0f} GB/s",
      NULL}},
    {".lost", {NULL, "{.label|-12} cuda:{number|-5} {reason}", NULL}},
    {"kernels", {NULL, "{.label|-12} {name|-18} {target}", NULL}},
    {"inputs", {NULL, "{.label|-12} {name|-15} {description}", NULL}},
    {"outputs", {NULL, "{.label|-12} {name|-15} {description}", NULL}},
};

static int act(const slc_cli_call *call)
{
    const version_options *options = call->options;
    slc_simd_target choice;
    slc_error error;
    if (slc_simd_choose(options->simd, &choice, &error) != SLC_OK) {
        return slc_cli_wrong(&slc_cmd_version, "%s", error.text);
    }
    slc_cli_tree tree = slc_cli_tree_new("version");
    slc_cli_put(&tree, "version", slc_version());
    slc_cli_put(&tree, "compiler", slc_compiler());
    add_targets(&tree);
    add_kernels(&tree, choice);
    add_cuda(&tree);
    add_formats(&tree);
    if (options->json) {
        return slc_cli_tree_print_json(&tree) ? SLC_CLI_DONE : SLC_CLI_FAILED;
    }
    slc_cli_print_lines(&tree, "", head, sizeof head / sizeof *head);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        slc_cli_write_members(&tree, lists[i].path, stdout, &lists[i].line, 1);
    }
    slc_cli_tree_clear(&tree);
    return SLC_CLI_DONE;
}

const slc_cli_command slc_cmd_version = {
    .name = "version",
    .operands = "",
    .summary = "version, compiler, instruction sets, kernels, GPUs, formats",
    .description = "Tells the version, the compiler, the instruction sets that are compiled in and that run "
                   "here, which of\n"
                   "them each kernel takes, CUDA with its driver and devices, and the formats.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .act = act,
};
