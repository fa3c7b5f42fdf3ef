/* SPDX-License-Identifier: Apache-2.0
 * Finished results, by what their first bytes say they are. */
#include "io/io_results_read.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool grow(void *list, size_t n, size_t size, size_t *room)
{
    void *items;
    memcpy(&items, list, sizeof items);
    if (n < *room) {
        return true;
    }
    void *larger = realloc(items, (2 * n + 16) * size);
    if (larger != NULL) {
        memcpy(list, &larger, sizeof larger);
        *room = 2 * n + 16;
    }
    return larger != NULL;
}

slc_io_reading_column *slc_io_reading_add(slc_io_reading *r)
{
    if (r->n_columns == SLC_IO_READING_COLUMNS ||
        !grow(&r->columns, r->n_columns, sizeof *r->columns, &r->room)) {
        return NULL;
    }
    slc_io_reading_column *column = &r->columns[r->n_columns++];
    *column = (slc_io_reading_column){.rows = 0};
    return column;
}

bool slc_io_reading_add_text(slc_io_reading *r, const char *name, const char *value, size_t size)
{
    char *copy = malloc(size + 1);
    if (copy == NULL || !grow(&r->texts, r->n_texts, sizeof *r->texts, &r->texts_room)) {
        free(copy);
        return false;
    }
    memcpy(copy, value, size);
    copy[size] = '\0';
    slc_io_reading_text *text = &r->texts[r->n_texts];
    for (size_t i = 0; i < r->n_texts; i++) { /* what came later counts */
        if (strcmp(r->texts[i].name, name) == 0) {
            free(r->texts[i].value);
            r->texts[i].value = copy;
            return true;
        }
    }
    (void)snprintf(text->name, sizeof text->name, "%s", name);
    text->value = copy;
    r->n_texts++;
    return true;
}

/* SLC_OK with "" for a file that cannot be one. */
static slc_status first_bytes(const char *path, unsigned char head[8], slc_error *error)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot be opened: %s", path, strerror(errno));
    }
    memset(head, 0, 8);
    const size_t n = fread(head, 1, 8, file);
    const bool wrong = ferror(file) != 0;
    (void)fclose(file);
    return wrong    ? slc_fail(error, SLC_ERR_IO, "%s: cannot be read: %s", path, strerror(errno))
           : n == 0 ? slc_fail(error, SLC_ERR_FORMAT, "%s: it is empty", path)
                    : SLC_OK;
}

slc_status slc_io_reading_open(const char *path, slc_io_reading **out, slc_error *error)
{
    unsigned char head[8];
    *out = NULL;
    slc_status status = first_bytes(path, head, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_io_reading *r = calloc(1, sizeof *r);
    if (r == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", path);
    }
    const bool arrow = memcmp(head, "ARROW1", 6) == 0 || memcmp(head, "\xff\xff\xff\xff", 4) == 0;
    if (memcmp(head, "\x89HDF\r\n\x1a\n", 8) == 0) {
        status = slc_io_reading_hdf5(path, r, error);
    } else if (arrow) {
        status = slc_io_reading_arrow(path, r, error);
    } else {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: neither HDF5 nor Arrow", path);
    }
    if (status == SLC_OK && r->n_columns == 0) {
        status = slc_fail(error, SLC_ERR_FORMAT, "%s: there is no column of numbers in it", path);
    }
    if (status != SLC_OK) {
        slc_io_reading_close(r);
        return status;
    }
    *out = r;
    return SLC_OK;
}

void slc_io_reading_clear(slc_io_reading *r)
{
    if (r->of != NULL) {
        r->close(r->of);
    }
    for (size_t i = 0; i < r->n_texts; i++) {
        free(r->texts[i].value);
    }
    free(r->texts);
    free(r->columns);
}

void slc_io_reading_close(slc_io_reading *r)
{
    if (r != NULL) {
        slc_io_reading_clear(r);
        free(r);
    }
}

slc_status slc_io_reading_rows(slc_io_reading *r, size_t column, uint64_t at, size_t n, double *values,
                               slc_error *error)
{
    assert(column < r->n_columns && at <= r->columns[column].rows && n <= r->columns[column].rows - at);
    return n == 0 ? SLC_OK : r->rows(r, column, at, n, values, error);
}
