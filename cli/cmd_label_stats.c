/* SPDX-License-Identifier: Apache-2.0
 *
 * The features of components as CSV, JSON or HDF5. All three are driven by the schema, so that a new column
 * appears in each of them.
 */
#include "cli_words.h"
#include "cmd_label.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct slc_label_stats {
    slc_io_text_writer *text; /* CSV and JSON */
    slc_io_hdf5_writer *hdf5;
    bool json, any; /* a row was written */
};

/* ---- one value --------------------------------------------------------------------------------- */

static const void *column_of(const slc_label_job *job, const slc_column *column)
{
    void *data;
    memcpy(&data, (const char *)&job->rows + column->member, sizeof data);
    return data;
}

static void print_value(FILE *out, const slc_column *column, const void *data, size_t row)
{
    switch (column->type) {
    case SLC_TYPE_U32:
        (void)fprintf(out, "%" PRIu32, ((const uint32_t *)data)[row]);
        break;
    case SLC_TYPE_U64:
        (void)fprintf(out, "%" PRIu64, ((const uint64_t *)data)[row]);
        break;
    case SLC_TYPE_I64:
        (void)fprintf(out, "%" PRId64, ((const int64_t *)data)[row]);
        break;
    default: /* the schema has no others: a _Static_assert of the library and the test of every column see to
                it */
        (void)fprintf(out, "%.17g", ((const double *)data)[row]);
    }
}

static json_t *json_value(const slc_column *column, const void *data, size_t row)
{
    switch (column->type) {
    case SLC_TYPE_U32:
        return json_integer(((const uint32_t *)data)[row]);
    case SLC_TYPE_U64:
        /* Below 2^63 for every image whose moments are exact (image_analyse.h). */
        return json_integer((json_int_t)((const uint64_t *)data)[row]);
    case SLC_TYPE_I64:
        return json_integer(((const int64_t *)data)[row]);
    default: {
        const double value = ((const double *)data)[row];
        return isfinite(value) ? json_real(value) : json_null(); /* JSON has no other word for it */
    }
    }
}

/* ---- formats ----------------------------------------------------------------------------------- */

static void csv_head(FILE *out, const slc_schema *schema)
{
    for (size_t i = 0; i < schema->n_columns; i++) {
        (void)fprintf(out, "%s%s", i > 0 ? "," : "", schema->columns[i].name);
    }
    (void)fputc('\n', out);
}

static void csv_rows(FILE *out, const slc_label_job *job)
{
    for (size_t row = 0; row < job->rows.columns.head.size; row++) {
        for (size_t i = 0; i < job->written.n_columns; i++) {
            const slc_column *column = &job->written.columns[i];
            if (i > 0) {
                (void)fputc(',', out);
            }
            print_value(out, column, column_of(job, column), row);
        }
        (void)fputc('\n', out);
    }
}

/* A row at a time, so that memory does not grow with their number. */
static bool json_rows(FILE *out, slc_label_job *job)
{
    for (size_t row = 0; row < job->rows.columns.head.size; row++) {
        json_t *object = json_object();
        int wrong = object == NULL;
        for (size_t i = 0; i < job->written.n_columns && !wrong; i++) {
            const slc_column *column = &job->written.columns[i];
            wrong = json_object_set_new(object, column->name,
                                        json_value(column, column_of(job, column), row));
        }
        (void)fputs(job->stats->any ? ",\n" : "\n", out);
        job->stats->any = true;
        wrong = wrong || json_dumpf(object, out, JSON_COMPACT) != 0;
        json_decref(object);
        if (wrong) {
            return ferror(out) != 0; /* a failed write is told when the file is completed */
        }
    }
    return true;
}

/* ---- HDF5: what a page was --------------------------------------------------------------------- */

typedef struct page_rows {
    slc_columns head;
    uint32_t *input, *page;
    uint64_t *width, *height;
    double *threshold;
    uint32_t *components;
    uint64_t *foreground, *largest;
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
};
static const slc_schema page_schema = {"pages", page_columns, sizeof page_columns / sizeof page_columns[0]};

static slc_status write_pages(slc_label_job *job)
{
    page_rows rows = {.head = {.size = 0}};
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
    }
    rows.head.size = job->n_pages;
    slc_columns_end_event(&rows);
    status = slc_io_hdf5_append(job->stats->hdf5, "pages", &page_schema, &rows, &job->error);
    slc_columns_clear(&page_schema, &rows);
    return status;
}

static slc_status open_hdf5(slc_label_job *job)
{
    slc_status status = slc_io_hdf5_create(job->options->stats, &job->stats->hdf5, &job->error);
    if (status == SLC_OK) {
        status = slc_io_hdf5_text(job->stats->hdf5, "sluice_version", slc_version(), &job->error);
    }
    if (status == SLC_OK) {
        status = slc_io_hdf5_text(job->stats->hdf5, "command", job->command_line, &job->error);
    }
    return status;
}

/* ---- the file ---------------------------------------------------------------------------------- */

slc_status slc_label_stats_open(slc_label_job *job)
{
    const char *path = job->options->stats;
    job->stats = calloc(1, sizeof *job->stats);
    if (job->stats == NULL) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for its writer", path);
    }
    if (slc_cli_ends_with(path, ".h5") || slc_cli_ends_with(path, ".hdf5")) {
        return open_hdf5(job);
    }
    job->stats->json = slc_cli_ends_with(path, ".json");
    const slc_status status = slc_io_text_create(path, &job->stats->text, &job->error);
    if (status == SLC_OK && job->stats->json) {
        (void)fputc('[', slc_io_text_stream(job->stats->text));
    } else if (status == SLC_OK) {
        csv_head(slc_io_text_stream(job->stats->text), &job->written);
    }
    return status;
}

slc_status slc_label_stats_rows(slc_label_job *job)
{
    slc_label_stats *stats = job->stats;
    if (stats->hdf5 != NULL) {
        return slc_io_hdf5_append(stats->hdf5, "components", &job->written, &job->rows, &job->error);
    }
    FILE *out = slc_io_text_stream(stats->text);
    if (!stats->json) {
        csv_rows(out, job);
    } else if (!json_rows(out, job)) {
        return slc_fail(&job->error, SLC_ERR_MEMORY, "%s: no memory for a row", job->options->stats);
    }
    return SLC_OK;
}

slc_status slc_label_stats_close(slc_label_job *job, bool commit)
{
    slc_label_stats *stats = job->stats;
    slc_status status = SLC_OK;
    if (stats == NULL) {
        return SLC_OK;
    }
    if (stats->hdf5 != NULL && commit) {
        status = write_pages(job);
    }
    if (status != SLC_OK || !commit) {
        slc_io_hdf5_abandon(stats->hdf5);
        slc_io_text_abandon(stats->text);
    } else if (stats->hdf5 != NULL) {
        status = slc_io_hdf5_finish(stats->hdf5, &job->error);
    } else {
        if (stats->json) {
            (void)fputs("\n]\n", slc_io_text_stream(stats->text));
        }
        status = slc_io_text_finish(stats->text, &job->error);
    }
    free(stats);
    job->stats = NULL;
    return status;
}
