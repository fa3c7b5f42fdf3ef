/* SPDX-License-Identifier: Apache-2.0
 *
 * `sluice version`: what this build is and what it can read, write and run.
 */
#include "bench/bench_kernels.h"
#include "cli_options.h"
#include "cli_talk.h"

#include <sluice/sluice.h>

#include <jansson.h>
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

static const struct {
    const char *name, *description;
} outputs[] = {
    {"mdf", "LHCb raw events (simulate)"},
    {"cms-raw", "events of CMS's pixel fragments (simulate)"},
    {"hdf5", "results: hits and tracks, pixels and clusters, digis (-o)"},
    {"csv", "tables (--table, -o NAME.csv)"},
    {"html", "report with plots (velo --report)"},
    {"json", "summary on standard output (--json)"},
};
enum { N_OUTPUTS = sizeof outputs / sizeof outputs[0] };

/* What is read besides events, which the library lists (slc_io_format_name), and PET's pairs, which it lists
 * too (slc_io_pet_list_name). */
static const struct {
    const char *name, *description;
} more_inputs[] = {
    {"pnm", "images: PBM, PGM and PPM, plain and raw (label)"},
    {"png", "images (label)"},
    {"tiff", "images, several pages (label)"},
    {"npy", "images (label); lists of pixels (cluster)"},
    {"tpx3", "pixels of Timepix3, raw (cluster)"},
    {"t3pa", "pixels of Timepix3, Pixet's text (cluster)"},
    {"csv", "lists of pixels (cluster)"},
    {"pet-raw", "frames of a PET scanner as acquired (pet run, pet convert)"},
    {"pet-frames", "the same without heads"},
    {"pet-singles", "PET singles (pet coincidences, pet sort)"},
    {"pet-tables", "calibration of a PET scanner (pet run --tables)"},
    {"pet-csv", "tables of PET singles or pairs"},
    {"pet-sinogram", "sinograms with their Interfile header (info)"},
    {"pet-crystal-map", "crystals of STIR's SAFIR maps (info)"},
};
enum { N_MORE_INPUTS = sizeof more_inputs / sizeof more_inputs[0] };

/* Input format number i by its word and description; NULL beyond the last. */
static const char *input_of(size_t i, char name[32], const char **description)
{
    size_t events = 0;
    while (slc_io_format_name(events, description) != NULL) {
        events++;
    }
    if (i < events) {
        return slc_io_format_name(i, description);
    }
    i -= events;
    if (i < N_MORE_INPUTS) {
        *description = more_inputs[i].description;
        return more_inputs[i].name;
    }
    i -= N_MORE_INPUTS;
    if (i >= SLC_IO_PET_LIST_FORMATS) {
        return NULL;
    }
    (void)snprintf(name, 32, "pet-%s", slc_io_pet_list_name((slc_io_pet_list_format)i));
    *description = slc_io_pet_list_text((slc_io_pet_list_format)i);
    return name;
}

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

/* What was built for GPUs, the driver, and the devices, or why there is none. */
static void print_cuda(void)
{
    slc_error reason;
    int driver;
    const uint32_t n = slc_cuda_devices(&reason);
    const char *built = slc_cuda_built(&driver);
    if (built == NULL) {
        (void)printf("%-12s %s\n", "cuda", reason.text);
        return;
    }
    (void)printf("%-12s %s\n", "cuda", built);
    if (driver > 0) {
        (void)printf("%-12s CUDA %d.%d\n", "driver", driver / 1000, driver % 1000 / 10);
    }
    if (n == 0) {
        (void)printf("%-12s %s\n", "devices", reason.text);
    }
    for (uint32_t i = 0; i < n; i++) {
        slc_cuda_device device;
        if (slc_cuda_device_of(i, &device, &reason) != SLC_OK) {
            (void)printf("%-12s cuda:%-5u %s\n", i == 0 ? "devices" : "", i, reason.text);
            continue;
        }
        (void)printf("%-12s cuda:%-5u %s, sm_%d%d, %u multiprocessors, %.0f GiB, %.0f GB/s\n",
                     i == 0 ? "devices" : "", i, device.name, device.major, device.minor,
                     device.multiprocessors, (double)device.memory_bytes / (1024.0 * 1024.0 * 1024.0),
                     device.memory_bytes_per_second / 1e9);
    }
}

static void print_text(slc_simd_target choice)
{
    (void)printf("sluice %s\n", slc_version());
    (void)printf("%-12s %s\n", "compiler", slc_compiler());
    print_targets("targets", slc_simd_compiled);
    print_targets("run here", slc_simd_runs);
    print_cuda();
    const char *label = "kernels", *description = "";
    for (size_t i = 0; slc_bench_kernel_name(i) != NULL; i++, label = "") {
        (void)printf("%-12s %-18s %s\n", label, slc_bench_kernel_name(i),
                     slc_simd_name(slc_bench_kernel_target(i, choice)));
    }
    label = "reads";
    char word[32];
    const char *name;
    for (size_t i = 0; (name = input_of(i, word, &description)) != NULL; i++, label = "") {
        (void)printf("%-12s %-15s %s\n", label, name, description);
    }
    label = "writes";
    for (size_t i = 0; i < N_OUTPUTS; i++, label = "") {
        (void)printf("%-12s %-15s %s\n", label, outputs[i].name, outputs[i].description);
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
    for (size_t i = 0; slc_bench_kernel_name(i) != NULL; i++) {
        (void)json_array_append_new(list, json_pack("{s:s, s:s}", "name", slc_bench_kernel_name(i), "target",
                                                    slc_simd_name(slc_bench_kernel_target(i, choice))));
    }
    return list;
}

/* "built" and "reason" are null where there is nothing to say. */
static json_t *tell_cuda(void)
{
    slc_error reason;
    int driver;
    const char *built = slc_cuda_built(&driver);
    json_t *devices = json_array();
    const uint32_t n = slc_cuda_devices(&reason);
    for (uint32_t i = 0; i < n; i++) {
        slc_cuda_device device;
        if (slc_cuda_device_of(i, &device, NULL) == SLC_OK) {
            (void)json_array_append_new(devices,
                                        json_pack("{s:s, s:i, s:i, s:I, s:I, s:f}", "name", device.name,
                                                  "major", device.major, "minor", device.minor,
                                                  "multiprocessors", (json_int_t)device.multiprocessors,
                                                  "memory_bytes", (json_int_t)device.memory_bytes,
                                                  "memory_bytes_per_second", device.memory_bytes_per_second));
        }
    }
    return json_pack("{s:s?, s:i, s:o, s:s?}", "built", built, "driver", driver, "devices", devices, "reason",
                     n == 0 ? reason.text : NULL);
}

static int print_json(slc_simd_target choice)
{
    json_t *input_list = json_array(), *output_list = json_array();
    const char *description = "";
    char word[32];
    const char *name;
    for (size_t i = 0; (name = input_of(i, word, &description)) != NULL; i++) {
        (void)json_array_append_new(input_list, named(name, description));
    }
    for (size_t i = 0; i < N_OUTPUTS; i++) {
        (void)json_array_append_new(output_list, named(outputs[i].name, outputs[i].description));
    }
    json_t *object = json_pack("{s:s, s:s, s:o, s:o, s:o, s:o, s:o}", "version", slc_version(), "compiler",
                               slc_compiler(), "targets", list_targets(), "kernels", list_kernels(choice),
                               "cuda", tell_cuda(), "inputs", input_list, "outputs", output_list);
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
    .summary = "version, compiler, instruction sets, kernels, GPUs, formats",
    .description = "Tells the version, the compiler, the instruction sets that are compiled in and that run "
                   "here, which of\n"
                   "them each kernel takes, CUDA with its driver and devices, and the formats.\n",
    .options = options_table,
    .n_options = sizeof options_table / sizeof options_table[0],
    .defaults = set_defaults,
    .run = run,
};
