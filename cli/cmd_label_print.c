/* SPDX-License-Identifier: Apache-2.0
 * What `sluice label` prints: a table, a JSON object, or one line beside its files. */
#include "cli_tree.h"
#include "cmd_label.h"
#include "cmd_label_words.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define PAGE(member) FIELD(slc_label_page, member)
static const slc_cli_field numbers[] = {
    {"threshold", PAGE(threshold)},   {"components", PAGE(components)}, {"filtered", PAGE(filtered)},
    {"foreground", PAGE(foreground)}, {"largest", PAGE(largest)},       {"seconds", PAGE(seconds)},
    {"warning", PAGE(warning)},       {"fault", PAGE(fault)},
};

static const slc_cli_line checksum_line = {"checksum", "{checksum}", NULL};

static void put_page(slc_cli_tree *tree, const slc_label_job *job, const slc_label_page *page)
{
    char size[48];
    slc_cli_tree row = slc_cli_append(tree, "pages");
    (void)snprintf(size, sizeof size, "%zux%zu", page->width, page->height);
    slc_cli_put(&row, "input", job->inputs[page->input - 1]);
    slc_cli_put(&row, "page", page->page);
    slc_cli_put(&row, "type", slc_image_type_name(page->type));
    slc_cli_put(&row, "width", page->width);
    slc_cli_put(&row, "height", page->height);
    slc_cli_put_fields(&row, "", numbers, sizeof numbers / sizeof *numbers, page);
    if (page->pixel_x_um > 0) {
        slc_cli_put(&row, "pixel_x_um", page->pixel_x_um);
        slc_cli_put(&row, "pixel_y_um", page->pixel_y_um);
        slc_cli_put(&row, "pixel_from", page->pixel_from);
    }
    slc_cli_put_text(&row, ".size", size);
    slc_cli_put(&row, ".percent",
                100 * (double)page->foreground / ((double)page->width * (double)page->height));
    slc_cli_put(&row, ".ms", 1e3 * page->seconds);
}

void slc_label_put_rule(slc_cli_tree *tree, const slc_label_job *job)
{
    static const char *const rules[SLC_IMAGE_RULES] = {"least", "band", "hysteresis", "mean", "sauvola"};
    const slc_image_mask_config *mask = &job->mask_config;
    slc_cli_put(tree, "rule", rules[mask->rule]);
    slc_cli_put(tree, "high",
                mask->rule == SLC_IMAGE_RULE_BAND || mask->rule == SLC_IMAGE_RULE_HYSTERESIS ? mask->high
                                                                                             : (double)NAN);
    slc_cli_put(tree, "local", job->options->local);
    slc_cli_put(tree, "mask", job->options->mask);
    slc_cli_put(tree, "max_hole", mask->max_hole_area);
    slc_cli_put(tree, "split", job->setup.split != NULL ? job->split_config.depth : (double)NAN);
}

static bool print_tree(const slc_label_job *job)
{
    const slc_label_options *options = job->options;
    const slc_cli_column columns[] = {
        {"image", 0, "{input}", NULL},
        {"page", 5, "{page}", NULL},
        {"size", 13, "{.size}", NULL},
        {"components", 11, "{components}", "!fault"},
        {options->inverse ? "background" : "foreground", 12, "{foreground}", "!fault"},
        {"%", 8, "{.percent|.2f}", "!fault"},
        {"largest", 12, "{largest}", "!fault"},
        {"time [ms]", 10, "{.ms|.3f}", "!fault"},
        {"left out", 9, "{filtered}", "!fault"},
    };
    const bool filters = options->filter != NULL || options->largest > 0;
    const size_t n_columns = sizeof columns / sizeof *columns - (filters ? 0 : 1);
    const bool gpu = slc_label_on_gpu(options->device);
    slc_cli_tree tree = slc_cli_tree_new("label");
    slc_cli_put(&tree, "version", slc_version());
    slc_cli_put(&tree, "algorithm",
                options->stream   ? "stream"
                : options->labels ? "none"
                                  : options->algorithm);
    if (options->labels) {
        slc_cli_put_bool(&tree, "labels", true);
        slc_cli_put(&tree, "intensity", options->intensity != NULL ? options->intensity : "");
    }
    slc_cli_put(&tree, "device", gpu ? options->device : "cpu");
    slc_cli_put_array(&tree, "gpus");
    if (gpu && options->json) {
        slc_label_put_gpus(&tree, "gpus", options->device);
    }
    slc_cli_put(&tree, "simd", slc_simd_name(job->config.exec.target));
    slc_cli_put(&tree, "connectivity", options->connectivity);
    slc_label_put_rule(&tree, job);
    slc_cli_put(&tree, "inverse", options->inverse);
    if (filters) {
        slc_cli_put(&tree, "filter", options->filter != NULL ? options->filter : "");
        slc_cli_put(&tree, "largest", options->largest);
    }
    slc_cli_put(&tree, "stream", options->stream);
    slc_cli_put(&tree, "partial", job->partial);
    slc_cli_put(&tree, "warnings", job->warnings);
    slc_cli_put(&tree, "faults", job->faults);
    slc_cli_put_hex(&tree, "checksum", job->checksum);
    slc_cli_put_array(&tree, "pages");
    for (size_t i = 0; i < job->n_pages; i++) {
        put_page(&tree, job, &job->pages[i]);
    }
    if (options->json) {
        return slc_cli_tree_print_json(&tree);
    }
    slc_cli_print_table(&tree, "pages", " ", columns, n_columns);
    slc_cli_print_lines(&tree, "", &checksum_line, 1);
    slc_cli_tree_clear(&tree);
    return true;
}

static void print_note(const slc_label_job *job)
{
    uint64_t components = 0, filtered = 0;
    double seconds = 0;
    for (size_t i = 0; i < job->n_pages; i++) {
        components += job->pages[i].components;
        filtered += job->pages[i].filtered;
        seconds += job->pages[i].seconds;
    }
    slc_cli_say("label", "%" PRIu64 " component%s on %zu page%s, labelled in %.3f ms", components,
                components == 1 ? "" : "s", job->n_pages, job->n_pages == 1 ? "" : "s", 1e3 * seconds);
    if (job->options->filter != NULL || job->options->largest > 0) {
        slc_cli_say("label", "%" PRIu64 " component%s left out by --filter or --largest", filtered,
                    filtered == 1 ? " was" : "s were");
    }
}

bool slc_label_print(const slc_label_job *job, bool has_files)
{
    if (job->options->json || (!job->options->quiet && !has_files)) {
        return print_tree(job);
    }
    if (!job->options->quiet) {
        print_note(job);
    }
    return true;
}
