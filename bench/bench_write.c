/* SPDX-License-Identifier: Apache-2.0
 *
 * The one writer of benchmarks: CSV and SVG into files that appear complete or not at all, then tables or
 * JSON on standard output (bench.h).
 */
#include "bench/bench_figure.h"
#include <sluice/io.h>

#include <jansson.h>
#include <stdlib.h>

slc_status slc_bench_report_open(slc_bench_report *report, slc_error *error)
{
    *report = (slc_bench_report){.n_figures = 0};
    report->table = open_memstream(&report->text, &report->size);
    return report->table != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory to begin with");
}

void slc_bench_report_clear(slc_bench_report *report)
{
    if (report->table != NULL) {
        (void)fclose(report->table);
    }
    free(report->text);
    for (size_t i = 0; i < SLC_BENCH_SETS; i++) {
        slc_bench_rows_clear(&report->sets[i]);
    }
    json_decref(report->json);
    *report = (slc_bench_report){.n_figures = 0};
}

/* ---- files ------------------------------------------------------------------------------------- */

static void csv_value(FILE *out, const slc_bench_column *column, const slc_bench_cell *cell)
{
    if (!cell->there) {
        return;
    }
    switch (column->kind) {
    case SLC_BENCH_TEXT:
        (void)fputs(cell->text, out);
        break;
    case SLC_BENCH_QUOTED:
        (void)fprintf(out, "\"%s\"", cell->text);
        break;
    case SLC_BENCH_NUMBER:
        (void)fprintf(out, "%.*g", column->digits > 0 ? column->digits : 6, cell->number);
        break;
    default:
        (void)fprintf(out, "%.0f", cell->number);
        break;
    }
}

static void csv_line(FILE *out, const slc_bench_rows *rows, const slc_bench_cell *cells)
{
    const char *comma = "";
    for (size_t k = 0; k < rows->n_columns; k++) {
        if ((rows->columns[k].in & SLC_BENCH_CSV) != 0) {
            (void)fputs(comma, out);
            if (cells != NULL) {
                csv_value(out, &rows->columns[k], &cells[k]);
            } else {
                (void)fputs(rows->columns[k].name, out);
            }
            comma = ",";
        }
    }
    (void)fputc('\n', out);
}

static slc_status write_csv(const char *path, const slc_bench_rows *rows, slc_error *error)
{
    slc_io_writer *writer = NULL;
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    csv_line(slc_io_text_stream(writer), rows, NULL);
    for (size_t i = 0; i < rows->n; i++) {
        csv_line(slc_io_text_stream(writer), rows, slc_bench_row(rows, i));
    }
    return slc_io_finish(writer, error);
}

static slc_status draw(const char *path, slc_bench_drawing *drawings, size_t n, slc_error *error)
{
    slc_io_writer *writer = NULL;
    slc_panels picture;
    size_t panels = 0;
    for (size_t i = 0; i < n; i++) {
        panels += drawings[i].n_panels;
    }
    if (panels == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: what was measured makes no figure", path);
    }
    const slc_status status = slc_io_text_create(path, &writer, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_panels_begin(&picture, slc_io_text_stream(writer), (int)panels);
    for (size_t i = 0; i < n; i++) {
        slc_bench_drawing_draw(&drawings[i], &picture);
    }
    slc_panels_end(&picture);
    return slc_io_finish(writer, error);
}

static slc_status write_svg(const char *path, const slc_bench_report *report, slc_error *error)
{
    slc_bench_drawing drawings[SLC_BENCH_FIGURES];
    slc_status status = SLC_OK;
    size_t n = 0;
    for (; n < report->n_figures && status == SLC_OK; n++) {
        status = slc_bench_drawing_open(&drawings[n], &report->figures[n]);
    }
    status = status == SLC_OK ? draw(path, drawings, n, error)
                              : slc_fail(error, status, "%s: no memory for the figures", path);
    for (size_t i = 0; i < n; i++) {
        slc_bench_drawing_close(&drawings[i]);
    }
    return status;
}

/* ---- all --------------------------------------------------------------------------------------- */

slc_status slc_bench_report_write(slc_bench_report *report, const slc_bench_output *output, slc_error *error)
{
    slc_status status = SLC_OK;
    for (size_t i = 0; i < SLC_BENCH_SETS && status == SLC_OK; i++) {
        if (report->sets[i].failed) {
            status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the measurements");
        }
    }
    if (status == SLC_OK && output->csv != NULL) {
        status = write_csv(output->csv, &report->sets[0], error);
    }
    if (status == SLC_OK && output->svg != NULL) {
        status = write_svg(output->svg, report, error);
    }
    if (status == SLC_OK && output->json) {
        if (report->json == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the JSON output");
        }
        (void)json_dumpf(report->json, stdout, JSON_INDENT(2));
        (void)fputc('\n', stdout);
    } else if (status == SLC_OK) {
        if (fflush(report->table) != 0) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the tables");
        }
        (void)fwrite(report->text, 1, report->size, stdout);
    }
    return status;
}
