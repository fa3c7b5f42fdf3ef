/* SPDX-License-Identifier: Apache-2.0
 * What `sluice label` prints: a table, a JSON object, or one line beside its files. */
#include "cmd_label.h"
#include "cmd_label_words.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double pixels_of(const slc_label_page *page)
{
    return (double)page->width * (double)page->height;
}

void slc_label_print_table(const slc_label_job *job)
{
    int wide = 5;
    for (int i = 0; i < job->n_inputs; i++) {
        const int length = (int)strnlen(job->inputs[i], 60);
        wide = length > wide ? length : wide;
    }
    (void)printf("%-*s %5s %13s %11s %12s %8s %12s %10s\n", wide, "image", "page", "size", "components",
                 job->options->inverse ? "background" : "foreground", "%", "largest", "time [ms]");
    for (size_t i = 0; i < job->n_pages; i++) {
        const slc_label_page *page = &job->pages[i];
        char size[48];
        (void)snprintf(size, sizeof size, "%zux%zu", page->width, page->height);
        if (page->fault != NULL) {
            (void)printf("%-*s %5" PRIu32 " %13s %11s %12s %8s %12s %10s\n", wide,
                         job->inputs[page->input - 1], page->page, size, "-", "-", "-", "-", "-");
            continue;
        }
        (void)printf("%-*s %5" PRIu32 " %13s %11" PRIu32 " %12" PRIu64 " %8.2f %12" PRIu64 " %10.3f\n", wide,
                     job->inputs[page->input - 1], page->page, size, page->components, page->foreground,
                     100 * (double)page->foreground / pixels_of(page), page->largest, 1e3 * page->seconds);
    }
}

void slc_label_print_note(const slc_label_job *job)
{
    uint64_t components = 0;
    double seconds = 0;
    for (size_t i = 0; i < job->n_pages; i++) {
        components += job->pages[i].components;
        seconds += job->pages[i].seconds;
    }
    slc_cli_say("label", "%" PRIu64 " component%s on %zu page%s, labelled in %.3f ms", components,
                components == 1 ? "" : "s", job->n_pages, job->n_pages == 1 ? "" : "s", 1e3 * seconds);
}

static json_t *page_object(const slc_label_job *job, const slc_label_page *page)
{
    json_t *threshold = isnan(page->threshold) ? json_null() : json_real(page->threshold);
    return json_pack("{s:o, s:I, s:s, s:I, s:I, s:o, s:I, s:I, s:I, s:f, s:o, s:o}", "input",
                     slc_cli_json_text(job->inputs[page->input - 1]), "page", (json_int_t)page->page, "type",
                     slc_image_type_name(page->type), "width", (json_int_t)page->width, "height",
                     (json_int_t)page->height, "threshold", threshold, "components",
                     (json_int_t)page->components, "foreground", (json_int_t)page->foreground, "largest",
                     (json_int_t)page->largest, "seconds", page->seconds, "warning",
                     slc_cli_json_text(page->warning), "fault", slc_cli_json_text(page->fault));
}

bool slc_label_print_json(const slc_label_job *job)
{
    json_t *pages = json_array();
    int wrong = pages == NULL;
    for (size_t i = 0; i < job->n_pages && wrong == 0; i++) {
        wrong = json_array_append_new(pages, page_object(job, &job->pages[i]));
    }
    if (wrong != 0) {
        json_decref(pages);
        slc_cli_say("label", "no memory for the JSON output");
        return false;
    }
    const slc_label_options *options = job->options;
    const bool gpu = slc_label_on_gpu(options->device);
    json_t *gpus = json_array();
    if (gpu && !slc_label_gpu_names(options->device, gpus)) {
        json_decref(pages);
        json_decref(gpus);
        slc_cli_say("label", "no memory for the JSON output");
        return false;
    }
    return slc_cli_print_json(
        "label",
        json_pack("{s:s, s:s, s:s, s:o, s:s, s:I, s:b, s:b, s:I, s:I, s:o}", "version", slc_version(),
                  "algorithm", options->stream ? "stream" : options->algorithm, "device",
                  gpu ? options->device : "cpu", "gpus", gpus, "simd", slc_simd_name(job->config.target),
                  "connectivity", (json_int_t)options->connectivity, "inverse", options->inverse ? 1 : 0,
                  "stream", options->stream ? 1 : 0, "warnings", (json_int_t)job->warnings, "faults",
                  (json_int_t)job->faults, "pages", pages));
}
