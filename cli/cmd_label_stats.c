/* SPDX-License-Identifier: Apache-2.0
 *
 * The features of components as CSV, JSON, HDF5 or Arrow. All are driven by the schema, so that a new column
 * appears in each of them.
 */
#include "cli_results.h"
#include "cli_rows.h"
#include "cli_words.h"
#include "cmd_label.h"

#include <stdlib.h>
#include <string.h>

struct slc_label_stats {
    slc_io_writer *text; /* CSV and JSON */
    slc_io_writer *results;
    /* Of results: a row of Arrow is a component, and has no place for what a page was, or with --columns
     * pages a page. */
    bool components, pages;
    bool json, any; /* a row was written */
};

/* ---- HDF5: what a page was --------------------------------------------------------------------- */

typedef struct page_rows {
    slc_columns head;
    uint32_t *input, *page;
    uint64_t *width, *height;
    double *threshold;
    uint32_t *components;
    uint64_t *foreground, *largest;
    uint8_t *fault;
    uint64_t *depth; /* of volumes alone */
} page_rows;

static const slc_column page_columns[] = {
    {"input", "index", offsetof(page_rows, input), SLC_TYPE_U32},
    {"page", "index", offsetof(page_rows, page), SLC_TYPE_U32},
    {"width", "pixel", offsetof(page_rows, width), SLC_TYPE_U64},
    {"height", "pixel", offsetof(page_rows, height), SLC_TYPE_U64},
    {"threshold", "1", offsetof(page_rows, threshold), SLC_TYPE_F64},
    {"components", "1", offsetof(page_rows, components), SLC_TYPE_U32},
    {"foreground", "pixel", offsetof(page_rows, foreground), SLC_TYPE_U64},
    {"largest", "pixel", offsetof(page_rows, largest), SLC_TYPE_U64},
    {"fault", "1", offsetof(page_rows, fault), SLC_TYPE_U8},
    {"depth", "pixel", offsetof(page_rows, depth), SLC_TYPE_U64},
};
enum { PAGE_COLUMNS = sizeof page_columns / sizeof page_columns[0] };

static slc_schema schema_of_pages(const slc_label_job *job)
{
    return (slc_schema){"pages", page_columns, PAGE_COLUMNS - (job->options->volume ? 0 : 1)};
}

static slc_status write_pages(slc_label_job *job)
{
    page_rows rows = {.head = {.size = 0}};
    const slc_schema page_schema = schema_of_pages(job);
    slc_status status = slc_columns_reserve(&page_schema, &rows, job->n_pages, 1);
    if (status != SLC_OK) {
        return slc_fail(&job->error, status, "%s: no memory for its pages", job->options->stats);
    }
    for (size_t i = 0; i < job->n_pages; i++) {
        const slc_label_page *page = &job->pages[i];
        rows.input[i] = page->input;
        rows.page[i] = page->page;
        rows.width[i] = page->width;
        rows.height[i] = page->height;
        rows.threshold[i] = page->threshold;
        rows.components[i] = page->components;
        rows.foreground[i] = page->foreground;
        rows.largest[i] = page->largest;
        rows.fault[i] = page->fault != NULL;
        if (rows.depth != NULL) {
            rows.depth[i] = page->depth;
        }
    }
    rows.head.size = job->n_pages;
    slc_columns_end_event(&rows);
    const slc_io_group group = {"pages", &page_schema, &rows, SLC_IO_ROWS_ANY};
    status = slc_io_results_put(job->stats->results, &group, 1, &job->error);
    slc_columns_clear(&page_schema, &rows);
    return status;
}

/* Both groups are there from the beginning. */
static slc_status open_results(slc_label_job *job)
{
    static const slc_label_rows no_rows;
    static const page_rows no_pages;
    const slc_schema page_schema = schema_of_pages(job);
    const slc_io_group groups[] = {{"components", &job->written, &no_rows, SLC_IO_ROWS_ANY},
                                   {"pages", &page_schema, &no_pages, SLC_IO_ROWS_ANY}};
    slc_status status = slc_cli_results_create(job->options->stats, &job->options->results,
                                               job->options->threads, job->command_line, &job->stats->results,
                                               &job->error);
    status = status == SLC_OK ? slc_cli_part_put(&slc_cmd_label, &job->options->part, job->inputs,
                                                 job->n_inputs, "pages", job->stats->results, &job->error)
                              : status;
    const slc_label_stats *stats = job->stats;
    return status == SLC_OK ? slc_io_results_put(stats->results, groups + !stats->components,
                                                 (size_t)stats->components + stats->pages, &job->error)
                            : status;
}

/* ---- the file ---------------------------------------------------------------------------------- */

slc_status slc_label_stats_open(slc_label_job *job)
{
    const char *path = job->options->stats;
    job->stats = calloc(1, sizeof *job->stats);
    if (job->stats == NULL) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for its writer", path);
    }
    if (slc_cli_results_are(path, &job->options->results)) {
        const bool both = !slc_cli_results_are_one(path, &job->options->results);
        const char *columns = job->options->results.columns;
        job->stats->components = both || columns == NULL || strncmp(columns, "pages", 5) != 0;
        job->stats->pages = both || !job->stats->components;
        return open_results(job);
    }
    job->stats->json = slc_cli_ends_with(path, ".json");
    const slc_status status = slc_io_text_create(path, &job->stats->text, &job->error);
    if (status == SLC_OK && job->stats->json) {
        (void)fputc('[', slc_io_text_stream(job->stats->text));
    } else if (status == SLC_OK) {
        const slc_io_text_form form = {.schema = &job->written, .name = job->n_inputs > 1 ? "" : NULL};
        return slc_io_text_rows(job->stats->text, &form, NULL, &job->error);
    }
    return status;
}

slc_status slc_label_stats_rows(slc_label_job *job, const void *rows, uint32_t input)
{
    slc_label_stats *stats = job->stats;
    const char *name = job->n_inputs > 1 ? job->inputs[input - 1] : NULL;
    if (stats->results != NULL) {
        const slc_io_group group = {"components", &job->written, rows, SLC_IO_ROWS_ANY};
        return slc_io_results_put(stats->results, &group, 1, &job->error);
    }
    if (!stats->json) {
        const slc_io_text_form form = {.schema = &job->written, .name = name};
        return slc_io_text_rows(stats->text, &form, rows, &job->error);
    }
    if (!slc_cli_json_rows(slc_io_text_stream(stats->text), &job->written, rows, name, &stats->any)) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for a row", job->options->stats);
    }
    return SLC_OK;
}

/* The number in the column `input` is a place in this list, from 1. */
static slc_status write_names(slc_label_job *job)
{
    static const char *const groups[] = {"components", "pages"};
    slc_status status = SLC_OK;
    const bool there[] = {job->stats->components, job->stats->pages};
    for (size_t i = 0; i < 2 && status == SLC_OK; i++) {
        if (!there[i]) {
            continue;
        }
        status = slc_io_results_names(job->stats->results, groups[i], "inputs", (size_t)job->n_inputs,
                                      (const char *const *)job->inputs, &job->error);
    }
    return status;
}

slc_status slc_label_stats_close(slc_label_job *job, bool commit)
{
    slc_label_stats *stats = job->stats;
    slc_status status = SLC_OK;
    if (stats == NULL) {
        return SLC_OK;
    }
    if (stats->results != NULL && commit) {
        status = stats->pages ? write_pages(job) : SLC_OK;
        status = status == SLC_OK ? write_names(job) : status;
    }
    if (status != SLC_OK || !commit) {
        slc_io_abandon(stats->results);
        slc_io_abandon(stats->text);
    } else if (stats->results != NULL) {
        status = slc_cli_results_end(stats->results, &job->checksum, &job->error);
    } else {
        if (stats->json) {
            (void)fputs("\n]\n", slc_io_text_stream(stats->text));
        }
        status = slc_io_finish(stats->text, &job->error);
    }
    free(stats);
    job->stats = NULL;
    return status;
}
