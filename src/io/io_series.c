/* SPDX-License-Identifier: Apache-2.0
 *
 * Series of files of results. A file ends between two calls that put rows, so that batches are never cut; its
 * size is that of the rows, without compression, so that where files end does not depend on threads. Names
 * are those of raw files of PET (io_pet_raw_series.c).
 */
#include "io/io_series.h"
#include "base/columns.h"

#include <sluice/io_pet.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct slc_io_series {
    char *path; /* of the first file */
    uint32_t number;
    uint64_t rotate_bytes, bytes; /* of the rows in the file at hand */
    double rotate_seconds, began;
    uint64_t first_event;
    slc_io_series_attribute *kept;
    size_t n_kept, room;
    bool over;
};

static slc_status no_memory(const char *path, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", path);
}

/* ---- attributes -------------------------------------------------------------------------------- */

static void clear_attribute(slc_io_series_attribute *a)
{
    for (size_t i = 0; a->texts != NULL && i < a->n; i++) {
        free((void *)a->texts[i]);
    }
    free((void *)a->texts);
    free((void *)a->group);
    free((void *)a->name);
}

/* False without memory; what there is of the copy is to be cleared. */
static bool copy_attribute(slc_io_series_attribute *to, const slc_io_series_attribute *from)
{
    const char **texts = calloc(from->n + 1, sizeof *texts);
    *to = *from;
    to->texts = texts;
    to->name = strdup(from->name);
    to->group = from->group != NULL ? strdup(from->group) : NULL;
    bool good = texts != NULL && to->name != NULL && (from->group == NULL || to->group != NULL);
    for (size_t i = 0; texts != NULL && i < from->n; i++) {
        texts[i] = strdup(from->texts[i]);
        good = good && texts[i] != NULL;
    }
    return good;
}

slc_status slc_io_series_keep(slc_io_results *r, const slc_io_series_attribute *attribute, slc_error *error)
{
    slc_io_series *s = r->series;
    if (s == NULL) {
        return SLC_OK;
    }
    if (s->n_kept == s->room) {
        const size_t room = 2 * s->room + 8;
        slc_io_series_attribute *kept = realloc(s->kept, room * sizeof *kept);
        if (kept == NULL) {
            return no_memory(s->path, error);
        }
        s->kept = kept;
        s->room = room;
    }
    if (!copy_attribute(&s->kept[s->n_kept], attribute)) {
        clear_attribute(&s->kept[s->n_kept]);
        return no_memory(s->path, error);
    }
    s->n_kept++;
    return SLC_OK;
}

static slc_status put_again(slc_io_results *r, const slc_io_series_attribute *a, slc_error *error)
{
    const slc_io_results_form *form = r->form;
    switch (a->kind) {
    case SLC_IO_SERIES_TEXT:
        return form->text != NULL ? form->text(r, a->name, a->texts[0], error) : SLC_OK;
    case SLC_IO_SERIES_NUMBER:
        return form->number != NULL ? form->number(r, a->name, a->number, error) : SLC_OK;
    case SLC_IO_SERIES_INTEGER:
        return form->integer != NULL ? form->integer(r, a->name, a->integer, error) : SLC_OK;
    default:
        return form->names != NULL ? form->names(r, a->group, a->name, a->n, a->texts, error) : SLC_OK;
    }
}

/* Those of the root, or those of groups, which must be there. */
static slc_status repeat(slc_io_results *r, bool of_groups, slc_error *error)
{
    const slc_io_series *s = r->series;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < s->n_kept && status == SLC_OK; i++) {
        if ((s->kept[i].kind == SLC_IO_SERIES_NAMES) == of_groups) {
            status = put_again(r, &s->kept[i], error);
        }
    }
    return status;
}

/* ---- files ------------------------------------------------------------------------------------- */

/* What a file says of itself. */
static slc_status introduce(slc_io_results *r, slc_error *error)
{
    slc_io_series *s = r->series;
    s->bytes = 0;
    s->began = slc_clock_seconds();
    if (r->form->integer == NULL) {
        return SLC_OK;
    }
    slc_status status = r->form->integer(r, "file", s->number, error);
    status = status == SLC_OK ? r->form->integer(r, "first_event", (int64_t)s->first_event, error) : status;
    for (size_t i = 0; i < r->n_groups && s->number > 0 && status == SLC_OK; i++) {
        char name[80];
        (void)snprintf(name, sizeof name, "%.64s_before", r->groups[i].name);
        status = r->form->integer(r, name, (int64_t)r->groups[i].before, error);
    }
    return status;
}

slc_status slc_io_series_open(slc_io_results *r, const slc_io_results_config *config, const char *path,
                              slc_error *error)
{
    if (config->rotate_bytes == 0 && !(config->rotate_seconds > 0)) {
        return SLC_OK;
    }
    if (r->writer.output.temporary == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: what is no regular file cannot be a series of files",
                        path);
    }
    slc_io_series *s = calloc(1, sizeof *s);
    r->series = s;
    if (s == NULL || (s->path = strdup(path)) == NULL) {
        return no_memory(path, error);
    }
    s->rotate_bytes = config->rotate_bytes;
    s->rotate_seconds = config->rotate_seconds;
    return introduce(r, error);
}

void slc_io_series_close(slc_io_series *s)
{
    if (s != NULL) {
        for (size_t i = 0; i < s->n_kept; i++) {
            clear_attribute(&s->kept[i]);
        }
        free(s->kept);
        free(s->path);
        free(s);
    }
}

bool slc_io_series_is_over(const slc_io_series *s)
{
    return s != NULL && s->over;
}

void slc_io_series_count(slc_io_results *r, const slc_io_results_part *parts, size_t n)
{
    for (size_t i = 0; i < n && r->series != NULL; i++) {
        const slc_schema *schema = &parts[i].group->schema;
        for (size_t c = 0; c < schema->n_columns; c++) {
            r->series->bytes += parts[i].n_rows * slc_type_size(schema->columns[c].type);
        }
        r->series->bytes += parts[i].n_events * sizeof(uint64_t);
    }
}

/* Completes the file at hand. What the form kept is gone then. */
static slc_status complete(slc_io_results *r, slc_error *error)
{
    const slc_status status = r->form->end(r, true, error);
    uint64_t events = 0;
    slc_io_encoders_close(r->encoders);
    r->encoders = NULL;
    for (size_t i = 0; i < r->n_groups; i++) {
        slc_io_results_group *g = &r->groups[i];
        events = g->events > events ? g->events : events;
        g->own = NULL;
        g->before += g->rows;
        g->rows = g->events = 0;
    }
    r->series->first_event += events;
    if (status != SLC_OK) {
        slc_io_output_abandon(&r->writer.output);
        return status;
    }
    return slc_io_output_commit(&r->writer.output, error);
}

static slc_status open_next(slc_io_results *r, slc_error *error)
{
    slc_io_series *s = r->series;
    slc_io_output *output = &r->writer.output;
    char *name = slc_io_pet_raw_name(s->path, s->number + 1);
    if (name == NULL) {
        return no_memory(s->path, error);
    }
    s->number++;
    const slc_status status = r->form->by_name ? slc_io_output_reserve_name(output, name, error)
                                               : slc_io_output_open(output, name, error);
    free(name);
    return status;
}

/* There is no file at hand: attributes and flushes are nothing. */
static const slc_io_results_form nothing = {.name = "nothing"};

static slc_status next_file(slc_io_results *r, slc_error *error)
{
    slc_io_series *s = r->series;
    slc_status status = complete(r, error);
    status = status == SLC_OK ? open_next(r, error) : status;
    if (status != SLC_OK) {
        s->over = true;
        r->form = &nothing;
        return status;
    }
    memset((unsigned char *)r + sizeof *r, 0, r->form->size - sizeof *r); /* as it was made */
    r->flushed = slc_clock_seconds();
    r->broken = false; /* forms that are ended take no more */
    status = r->form->open(r, error);
    status = status == SLC_OK ? introduce(r, error) : status;
    status = status == SLC_OK ? repeat(r, false, error) : status;
    status = status == SLC_OK ? r->form->declare(r, error) : status;
    return status == SLC_OK ? repeat(r, true, error) : status;
}

slc_status slc_io_series_turn(slc_io_results *r, slc_error *error)
{
    const slc_io_series *s = r->series;
    if (s == NULL || s->bytes == 0 || r->broken ||
        !((s->rotate_bytes > 0 && s->bytes >= s->rotate_bytes) ||
          (s->rotate_seconds > 0 && slc_clock_seconds() - s->began >= s->rotate_seconds))) {
        return SLC_OK;
    }
    return next_file(r, error);
}

slc_status slc_io_series_finish(slc_io_results *r, slc_error *error)
{
    const slc_io_series *s = r->series;
    return s != NULL && r->form->integer != NULL ? r->form->integer(r, "files", (int64_t)s->number + 1, error)
                                                 : SLC_OK;
}
