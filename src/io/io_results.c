/* SPDX-License-Identifier: Apache-2.0
 *
 * Results in files of columns, whatever the form: which one it is, which columns are wanted, and what comes
 * in a wrong order.
 */
#include "io/io_results.h"
#include "base/config.h"
#include "base/team.h"
#include "io/io_series.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const slc_io_results_form *const forms[] = {&slc_io_results_hdf5,         &slc_io_results_arrow,
                                                   &slc_io_results_arrow_stream, &slc_io_results_npy,
                                                   &slc_io_results_npz,          &slc_io_results_nexus};
enum { N_FORMS = sizeof forms / sizeof *forms };

static const char *const compressions[] = {"default", "none", "deflate", "lz4", "zstd"};

static void results_config_default(slc_io_results_config *config)
{
    *config = (slc_io_results_config){.size = sizeof *config,
                                      .exec = {.target = SLC_SIMD_AUTO, .threads = 1}};
}
SLC_CONFIG_DEFAULT(slc_io_results_config, results_config_default)

/* ---- forms ------------------------------------------------------------------------------------- */

static bool ends_in(const char *path, const char *end)
{
    const size_t n = strlen(path), m = strlen(end);
    return n > m && strcasecmp(path + n - m, end) == 0;
}

/* By the form's own name, or by the end of the file's; the first form for any other. */
static const slc_io_results_form *find_form(const char *path, const char *name)
{
    for (size_t i = 0; i < N_FORMS; i++) {
        if (name != NULL && strcmp(name, forms[i]->name) == 0) {
            return forms[i];
        }
        for (const char *const *end = forms[i]->ends; name == NULL && *end != NULL; end++) {
            if (ends_in(path, *end)) {
                return forms[i];
            }
        }
    }
    return name == NULL ? forms[0] : NULL;
}

static slc_status check(const char *path, const slc_io_results_form *form,
                        const slc_io_results_config *config, slc_error *error)
{
    if (form == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: there is no form of results \"%s\"", path, config->form);
    }
    if ((uint32_t)config->compression >= sizeof compressions / sizeof *compressions) {
        return slc_fail(error, SLC_ERR_USAGE, "slc_io_results_config: compression %d", config->compression);
    }
    if (config->compression != SLC_IO_COMPRESSION_DEFAULT &&
        (form->compressions >> config->compression & 1) == 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: %s has no compression \"%s\"", path, form->name,
                        compressions[config->compression]);
    }
    if (strcmp(path, "-") == 0 && !form->to_stdout) {
        return slc_fail(error, SLC_ERR_USAGE, "%s cannot be written to standard output: arrow-stream can",
                        form->name);
    }
    return SLC_OK;
}

/* ---- the file ---------------------------------------------------------------------------------- */

static void clear(slc_io_results *r)
{
    for (size_t i = 0; i < r->n_groups; i++) {
        free(r->groups[i].name);
        free((void *)r->groups[i].schema.columns);
    }
    free(r->groups);
    free(r->columns);
    slc_io_series_close(r->series);
}

/* After a failure some columns have rows that others have not: such a file is never completed. */
static slc_status check_whole(const slc_io_results *r, slc_error *error)
{
    const char *path = r->writer.output.path; /* NULL: a series has no file at hand */
    return r->broken ? slc_fail(error, SLC_ERR_IO, "%s: cannot write: it failed before",
                                path != NULL ? path : "results")
                     : SLC_OK;
}

static slc_status end(slc_io_writer *writer, bool commit, slc_error *error)
{
    slc_io_results *r = (slc_io_results *)writer;
    slc_status status = commit ? check_whole(r, error) : SLC_OK;
    status = commit && status == SLC_OK ? slc_io_series_finish(r, error) : status;
    if (!slc_io_series_is_over(r->series)) {
        const slc_status last = r->form->end(r, commit && status == SLC_OK, error);
        status = status == SLC_OK ? last : status;
    }
    slc_io_encoders_close(r->encoders);
    clear(r);
    return status;
}

slc_status slc_io_results_create(const char *path, const slc_io_results_config *config,
                                 slc_io_writer **writer, slc_error *error)
{
    slc_io_results_config own;
    results_config_default(&own);
    *writer = NULL;
    slc_status status = config == NULL
                            ? SLC_OK
                            : slc_config_take(&own, sizeof own, config, "slc_io_results_config", error);
    const slc_io_results_form *form = find_form(path, own.form);
    status = status == SLC_OK ? check(path, form, &own, error) : status;
    slc_io_results *r = NULL;
    status = status == SLC_OK ? slc_io_writer_open(form->size, path, form->by_name, &r, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    r->form = form;
    r->writer.end = end;
    r->compression = own.compression == SLC_IO_COMPRESSION_DEFAULT ? form->usual : own.compression;
    r->threads = own.exec.threads == 0 ? slc_team_processors() : own.exec.threads;
    r->flushed = slc_clock_seconds();
    r->columns = own.columns != NULL ? strdup(own.columns) : NULL;
    status = own.columns != NULL && r->columns == NULL
                 ? slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", path)
                 : form->open(r, error);
    status = status == SLC_OK ? slc_io_series_open(r, &own, path, error) : status;
    if (status == SLC_OK) {
        *writer = &r->writer;
    } else {
        slc_io_abandon(&r->writer);
    }
    return status;
}

/* ---- which columns ----------------------------------------------------------------------------- */

/* Does "group" or "group.column" stand in the list? Of `column` NULL: the group, whole or in part. */
static bool is_listed(const char *list, const char *group, const char *column)
{
    const size_t n = strlen(group);
    for (const char *word = list; *word != '\0'; word += strcspn(word, ","), word += *word == ',') {
        const size_t size = strcspn(word, ",");
        if (size < n || strncmp(word, group, n) != 0 || (size > n && word[n] != '.')) {
            continue;
        }
        if (size == n || column == NULL ||
            (size == n + 1 + strlen(column) && strncmp(word + n + 1, column, size - n - 1) == 0)) {
            return true;
        }
    }
    return false;
}

/* Every word of the list must be some group or column. */
static slc_status check_list(const char *path, const char *list, const slc_io_group *groups, size_t n,
                             slc_error *error)
{
    for (const char *word = list; *word != '\0'; word += strcspn(word, ","), word += *word == ',') {
        const int size = (int)strcspn(word, ",");
        bool found = false;
        char name[256], known[256] = "";
        for (size_t g = 0; g < n && !found; g++) {
            found = (size_t)size == strlen(groups[g].name) &&
                    strncmp(word, groups[g].name, (size_t)size) == 0;
            for (size_t i = 0; i < groups[g].schema->n_columns && !found; i++) {
                const int length = snprintf(name, sizeof name, "%s.%s", groups[g].name,
                                            groups[g].schema->columns[i].name);
                found = length == size && strncmp(word, name, (size_t)size) == 0;
            }
            const size_t used = strlen(known);
            (void)snprintf(known + used, sizeof known - used, "%s%s", g > 0 ? ", " : "", groups[g].name);
        }
        if (!found) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: there is no group or column \"%.*s\"; groups are %s",
                            path, size < 100 ? size : 100, word, known);
        }
    }
    return SLC_OK;
}

static slc_status declare_group(slc_io_results *r, const slc_io_group *from, slc_io_results_group *to)
{
    slc_column *columns = calloc(from->schema->n_columns + 1, sizeof *columns);
    *to = (slc_io_results_group){.name = strdup(from->name),
                                 .schema = {from->schema->name, columns, 0},
                                 .n_all = from->schema->n_columns,
                                 .rows_of = from->rows};
    if (columns == NULL || to->name == NULL) {
        free(columns);
        free(to->name);
        return SLC_ERR_MEMORY;
    }
    for (size_t i = 0; i < from->schema->n_columns; i++) {
        if (r->columns == NULL || is_listed(r->columns, from->name, from->schema->columns[i].name)) {
            columns[to->schema.n_columns++] = from->schema->columns[i];
        }
    }
    return SLC_OK;
}

static slc_status declare(slc_io_results *r, const slc_io_group *groups, size_t n, slc_error *error)
{
    const char *path = r->writer.output.path;
    slc_status status = r->columns != NULL ? check_list(path, r->columns, groups, n, error) : SLC_OK;
    if (status != SLC_OK) {
        return status;
    }
    r->n_given = n;
    r->groups = calloc(n + 1, sizeof *r->groups);
    status = r->groups == NULL ? SLC_ERR_MEMORY : SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        if (r->columns == NULL || is_listed(r->columns, groups[i].name, NULL)) {
            status = declare_group(r, &groups[i], &r->groups[r->n_groups]);
            r->n_groups += status == SLC_OK;
        }
    }
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: no memory for its groups", path);
    }
    r->declared = true;
    return r->form->declare(r, error);
}

/* ---- rows -------------------------------------------------------------------------------------- */

static slc_io_results_group *find_group(const slc_io_results *r, const char *name)
{
    for (size_t i = 0; i < r->n_groups; i++) {
        if (strcmp(r->groups[i].name, name) == 0) {
            return &r->groups[i];
        }
    }
    return NULL;
}

static slc_status put(slc_io_results *r, const slc_io_group *groups, size_t n, slc_error *error)
{
    slc_io_results_part parts[SLC_IO_RESULTS_GROUPS];
    size_t n_parts = 0;
    for (size_t i = 0; i < n; i++) {
        slc_io_results_group *g = find_group(r, groups[i].name);
        const slc_columns *head = groups[i].collection;
        if (g == NULL && (r->columns == NULL || is_listed(r->columns, groups[i].name, NULL))) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: group '%s' comes late: the first call names all",
                            r->writer.output.path, groups[i].name);
        }
        if (g != NULL && groups[i].schema->n_columns != g->n_all) {
            return slc_fail(error, SLC_ERR_USAGE, "%s: group '%s' has other columns", r->writer.output.path,
                            groups[i].name);
        }
        if (g != NULL) {
            parts[n_parts++] = (slc_io_results_part){g, groups[i].collection, head->size,
                                                     g->rows_of == SLC_IO_ROWS_WHOLE ? 0 : head->n_events};
        }
    }
    if (n_parts == 0) {
        return SLC_OK;
    }
    slc_status status = slc_io_series_turn(r, error);
    status = status == SLC_OK ? r->form->put(r, parts, n_parts, error) : status;
    if (status == SLC_OK) {
        slc_io_series_count(r, parts, n_parts);
    }
    r->broken = status != SLC_OK;
    for (size_t i = 0; i < n_parts && status == SLC_OK; i++) {
        parts[i].group->rows += parts[i].n_rows;
        parts[i].group->events += parts[i].n_events;
    }
    return status;
}

slc_status slc_io_results_put(slc_io_writer *writer, const slc_io_group *groups, size_t n, slc_error *error)
{
    slc_io_results *r = (slc_io_results *)writer;
    if (n > SLC_IO_RESULTS_GROUPS) {
        return slc_fail(error, SLC_ERR_CAPACITY, "%s: more than %d groups", r->writer.output.path,
                        SLC_IO_RESULTS_GROUPS);
    }
    slc_status status = check_whole(r, error);
    if (status == SLC_OK && !r->declared) {
        status = declare(r, groups, n, error);
        r->broken = status != SLC_OK;
    }
    return status == SLC_OK ? put(r, groups, n, error) : status;
}

slc_status slc_io_results_flush(slc_io_writer *writer, double seconds, slc_error *error)
{
    slc_io_results *r = (slc_io_results *)writer;
    const double now = slc_clock_seconds();
    if (r->broken || !r->declared || now - r->flushed < seconds || r->form->flush == NULL) {
        return SLC_OK;
    }
    r->flushed = now;
    const slc_status status = r->form->flush(r, error);
    r->broken = r->broken || status != SLC_OK;
    return status;
}

/* ---- attributes -------------------------------------------------------------------------------- */

static slc_status put_attribute(slc_io_results *r, const slc_io_series_attribute *a, slc_status status,
                                slc_error *error)
{
    return status == SLC_OK ? slc_io_series_keep(r, a, error) : status;
}

slc_status slc_io_results_text(slc_io_writer *writer, const char *name, const char *value, slc_error *error)
{
    slc_io_results *r = (slc_io_results *)writer;
    const slc_io_series_attribute a = {.kind = SLC_IO_SERIES_TEXT, .name = name, .n = 1, .texts = &value};
    const slc_status status = r->form->text != NULL ? r->form->text(r, name, value, error) : SLC_OK;
    return put_attribute(r, &a, status, error);
}

slc_status slc_io_results_number(slc_io_writer *writer, const char *name, double value, slc_error *error)
{
    slc_io_results *r = (slc_io_results *)writer;
    const slc_io_series_attribute a = {.kind = SLC_IO_SERIES_NUMBER, .name = name, .number = value};
    const slc_status status = r->form->number != NULL ? r->form->number(r, name, value, error) : SLC_OK;
    return put_attribute(r, &a, status, error);
}

slc_status slc_io_results_integer(slc_io_writer *writer, const char *name, int64_t value, slc_error *error)
{
    slc_io_results *r = (slc_io_results *)writer;
    const slc_io_series_attribute a = {.kind = SLC_IO_SERIES_INTEGER, .name = name, .integer = value};
    const slc_status status = r->form->integer != NULL ? r->form->integer(r, name, value, error) : SLC_OK;
    return put_attribute(r, &a, status, error);
}

slc_status slc_io_results_names(slc_io_writer *writer, const char *group, const char *name, size_t n,
                                const char *const *texts, slc_error *error)
{
    slc_io_results *r = (slc_io_results *)writer;
    const slc_io_series_attribute a = {
        .kind = SLC_IO_SERIES_NAMES, .group = group, .name = name, .n = n, .texts = texts};
    if (n == 0 || r->form->names == NULL || (r->declared && find_group(r, group) == NULL)) {
        return SLC_OK; /* of a group that was not asked for */
    }
    return put_attribute(r, &a, r->form->names(r, group, name, n, texts, error), error);
}
