/* SPDX-License-Identifier: Apache-2.0
 *
 * Results for NumPy. NPY is one table, an array of records, whose header tells the number of rows and is
 * written again at the end. NPZ is a zip archive with an array for each column; the members of an archive lie
 * one after the other, but columns grow side by side: full blocks of them wait in a file without a name,
 * beside the output. The format is NumPy's NEP 1, the archive stored, with the sizes of zip64.
 */
#include "base/columns.h"
#include "io/io_results.h"
#include "io/io_zip.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BLOCK = 1 << 18, AT_ONCE = 4096, HEAD_ALIGN = 64, HEAD_FIXED = 10, DIGITS = 20 };

/* ---- headers ----------------------------------------------------------------------------------- */

static const char *code_of(slc_type type)
{
    static const char *const codes[] = {
        [SLC_TYPE_U8] = "|u1",  [SLC_TYPE_I8] = "|i1",  [SLC_TYPE_U16] = "<u2", [SLC_TYPE_I16] = "<i2",
        [SLC_TYPE_U32] = "<u4", [SLC_TYPE_I32] = "<i4", [SLC_TYPE_U64] = "<u8", [SLC_TYPE_I64] = "<i8",
        [SLC_TYPE_F32] = "<f4", [SLC_TYPE_F64] = "<f8"};
    return codes[type];
}

/* The header of an array with so many elements, a multiple of 64 bytes and of one length whatever their
 * number. The caller frees it; NULL without memory, or where version 1 has no room for so many columns. */
static char *make_header(const char *descr, uint64_t rows, size_t *size)
{
    char number[DIGITS + 4];
    const size_t text = strlen(descr) + 128,
                 room = (HEAD_FIXED + text + HEAD_ALIGN) / HEAD_ALIGN * HEAD_ALIGN;
    char *header = room - HEAD_FIXED <= UINT16_MAX ? malloc(room + 1) : NULL;
    if (header == NULL) {
        return NULL;
    }
    (void)snprintf(number, sizeof number, "(%" PRIu64 ",)", rows);
    const uint16_t told = (uint16_t)(room - HEAD_FIXED);
    memcpy(header, "\x93NUMPY\1\0", 8);
    memcpy(header + 8, &told, 2);
    const int n = snprintf(header + HEAD_FIXED, text, "{'descr': %s, 'fortran_order': False, 'shape': %s, }",
                           descr, number);
    memset(header + HEAD_FIXED + n, ' ', room - HEAD_FIXED - (size_t)n);
    header[room - 1] = '\n';
    *size = room;
    return header;
}

/* ---- NPY --------------------------------------------------------------------------------------- */

typedef struct npy_writer {
    slc_io_results results; /* first */
    char *descr;
    uint8_t *block; /* AT_ONCE rows */
    size_t row;     /* bytes */
} npy_writer;

static slc_status no_memory(const slc_io_results *results, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", results->writer.output.path);
}

static slc_status write_header(npy_writer *w, slc_error *error)
{
    size_t size;
    char *header = make_header(w->descr, w->results.groups[0].rows, &size);
    const slc_status status = header != NULL ? slc_io_writer_put(&w->results, header, size, error)
                                             : no_memory(&w->results, error);
    free(header);
    return status;
}

static slc_status npy_declare(slc_io_results *results, slc_error *error)
{
    npy_writer *w = (npy_writer *)results;
    const slc_io_results_group *g = results->groups;
    if (results->n_groups != 1 || (results->n_given > 1 && g->rows_of != SLC_IO_ROWS_ONE)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: npy has rows of one table, and no events: npz has all columns of all groups",
                        results->writer.output.path);
    }
    if (fseek(results->writer.output.stream, 0, SEEK_SET) != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: npy needs a file: its beginning is written last",
                        results->writer.output.path);
    }
    size_t size = 3;
    for (size_t c = 0; c < g->schema.n_columns; c++) {
        size += strlen(g->schema.columns[c].name) + 16;
    }
    w->row = slc_columns_row_size(&g->schema);
    w->descr = malloc(size);
    w->block = malloc(AT_ONCE * w->row + 1);
    if (w->descr == NULL || w->block == NULL) {
        return no_memory(results, error);
    }
    size_t used = 0;
    for (size_t c = 0; c < g->schema.n_columns; c++) {
        used += (size_t)snprintf(w->descr + used, size - used, "%s('%s', '%s')", c == 0 ? "[" : ", ",
                                 g->schema.columns[c].name, code_of(g->schema.columns[c].type));
    }
    (void)snprintf(w->descr + used, size - used, "]");
    return write_header(w, error);
}

/* One column of n records. The sizes are constants in each case, so that nothing is called. */
static void spread(uint8_t *to, size_t step, const uint8_t *from, size_t size, size_t n)
{
    switch (size) {
    case 1:
        for (size_t i = 0; i < n; i++) {
            to[i * step] = from[i];
        }
        break;
    case 2:
        for (size_t i = 0; i < n; i++) {
            memcpy(to + i * step, from + 2 * i, 2);
        }
        break;
    case 4:
        for (size_t i = 0; i < n; i++) {
            memcpy(to + i * step, from + 4 * i, 4);
        }
        break;
    default:
        for (size_t i = 0; i < n; i++) {
            memcpy(to + i * step, from + 8 * i, 8);
        }
    }
}

static slc_status npy_put(slc_io_results *results, const slc_io_results_part *parts, size_t n,
                          slc_error *error)
{
    npy_writer *w = (npy_writer *)results;
    const slc_schema *schema = &parts[0].group->schema;
    slc_status status = SLC_OK;
    (void)n;
    for (size_t at = 0; at < parts[0].n_rows && status == SLC_OK; at += AT_ONCE) {
        const size_t left = parts[0].n_rows - at, rows = left < AT_ONCE ? left : AT_ONCE;
        size_t place = 0;
        for (size_t c = 0; c < schema->n_columns; c++) {
            const size_t size = slc_type_size(schema->columns[c].type);
            const uint8_t *from = slc_column_data(parts[0].collection, &schema->columns[c]);
            spread(w->block + place, w->row, from + at * size, size, rows);
            place += size;
        }
        status = slc_io_writer_put(results, w->block, rows * w->row, error);
    }
    return status;
}

static slc_status npy_end(slc_io_results *results, bool commit, slc_error *error)
{
    npy_writer *w = (npy_writer *)results;
    slc_status status = SLC_OK;
    if (commit && w->descr == NULL) {
        status = slc_fail(error, SLC_ERR_IO, "%s: cannot write: nothing is complete",
                          results->writer.output.path);
    } else if (commit) {
        status = fseek(results->writer.output.stream, 0, SEEK_SET) == 0
                     ? write_header(w, error)
                     : slc_io_output_failed(results->writer.output.path, error);
    }
    free(w->descr);
    free(w->block);
    return status;
}

static slc_status nothing_to_open(slc_io_results *results, slc_error *error)
{
    (void)results;
    (void)error;
    return SLC_OK;
}

const slc_io_results_form slc_io_results_npy = {
    .name = "npy",
    .ends = (const char *const[]){".npy", NULL},
    .compressions = 1U << SLC_IO_COMPRESSION_NONE,
    .usual = SLC_IO_COMPRESSION_NONE,
    .size = sizeof(npy_writer),
    .open = nothing_to_open,
    .declare = npy_declare,
    .put = npy_put,
    .end = npy_end,
};

/* ---- NPZ --------------------------------------------------------------------------------------- */

/* What is kept of a column until the end. */
typedef struct member {
    const char *column;
    slc_type type;
    uint8_t *block; /* BLOCK bytes, of which `used` */
    size_t used;
    uint64_t *blocks; /* places of full ones in the file that waits */
    size_t n_blocks, blocks_room;
} member;

typedef struct members {
    size_t n; /* the first is event_offset */
    member list[];
} members;

typedef struct npz_writer {
    slc_io_results results; /* first */
    int waiting;            /* a file without a name */
    uint64_t waiting_size;
    slc_io_zip zip;
} npz_writer;

static slc_status npz_open(slc_io_results *results, slc_error *error)
{
    npz_writer *w = (npz_writer *)results;
    const slc_io_output *output = &results->writer.output;
    const char *beside = output->temporary != NULL ? output->temporary : output->path;
    const size_t room = strlen(beside) + 16;
    char *name = malloc(room);
    w->waiting = -1;
    if (name == NULL) {
        return no_memory(results, error);
    }
    (void)snprintf(name, room, "%s.columns", beside);
    w->waiting = output->temporary != NULL ? open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (w->waiting >= 0) {
        (void)unlink(name);
    }
    free(name);
    return w->waiting >= 0             ? SLC_OK
           : output->temporary == NULL ? slc_fail(error, SLC_ERR_USAGE, "%s: npz needs a file", output->path)
                                       : slc_io_output_failed(output->path, error);
}

static slc_status set_aside(npz_writer *w, member *m, slc_error *error)
{
    if (m->n_blocks == m->blocks_room) {
        uint64_t *blocks = realloc(m->blocks, (2 * m->n_blocks + 16) * sizeof *blocks);
        if (blocks == NULL) {
            return no_memory(&w->results, error);
        }
        m->blocks = blocks;
        m->blocks_room = 2 * m->n_blocks + 16;
    }
    for (size_t done = 0; done < BLOCK;) {
        const ssize_t put = pwrite(w->waiting, m->block + done, BLOCK - done,
                                   (off_t)(w->waiting_size + done));
        if (put < 0 && errno != EINTR) {
            return slc_io_output_failed(w->results.writer.output.path, error);
        }
        done += put > 0 ? (size_t)put : 0;
    }
    m->blocks[m->n_blocks++] = w->waiting_size;
    w->waiting_size += BLOCK;
    m->used = 0;
    return SLC_OK;
}

static slc_status append(npz_writer *w, member *m, const void *bytes, size_t size, slc_error *error)
{
    const uint8_t *from = bytes;
    slc_status status = SLC_OK;
    m->block = m->block != NULL ? m->block : malloc(BLOCK);
    if (m->block == NULL) {
        return no_memory(&w->results, error);
    }
    while (size > 0 && status == SLC_OK) {
        const size_t room = BLOCK - m->used, part = size < room ? size : room;
        memcpy(m->block + m->used, from, part);
        m->used += part;
        from += part;
        size -= part;
        status = m->used == BLOCK ? set_aside(w, m, error) : SLC_OK;
    }
    return status;
}

static slc_status npz_declare(slc_io_results *results, slc_error *error)
{
    const uint64_t zero = 0;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < results->n_groups && status == SLC_OK; i++) {
        slc_io_results_group *g = &results->groups[i];
        members *all = g->own = calloc(1, sizeof *all + (g->schema.n_columns + 1) * sizeof *all->list);
        if (all == NULL) {
            return no_memory(results, error);
        }
        all->n = g->schema.n_columns + 1;
        all->list[0] = (member){.column = "event_offset", .type = SLC_TYPE_U64};
        for (size_t c = 0; c < g->schema.n_columns; c++) {
            all->list[c + 1] = (member){.column = g->schema.columns[c].name,
                                        .type = g->schema.columns[c].type};
        }
        status = append((npz_writer *)results, &all->list[0], &zero, sizeof zero, error);
    }
    return status;
}

static slc_status npz_put(slc_io_results *results, const slc_io_results_part *parts, size_t n,
                          slc_error *error)
{
    npz_writer *w = (npz_writer *)results;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n; i++) {
        const slc_io_results_part *p = &parts[i];
        const slc_columns *head = p->collection;
        members *all = p->group->own;
        for (size_t c = 1; c < all->n && status == SLC_OK; c++) {
            status = append(w, &all->list[c], slc_column_data(head, &p->group->schema.columns[c - 1]),
                            p->n_rows * slc_type_size(all->list[c].type), error);
        }
        for (uint32_t e = 0; e < p->n_events && status == SLC_OK; e++) {
            const uint64_t end = p->group->rows + head->event_offset[e + 1];
            status = append(w, &all->list[0], &end, sizeof end, error);
        }
    }
    return status;
}

static slc_status write_member(npz_writer *w, const char *group, member *m, slc_error *error)
{
    char name[256], descr[16];
    size_t size = 0;
    const uint64_t bytes = (uint64_t)m->n_blocks * BLOCK + m->used;
    (void)snprintf(name, sizeof name, "%s.%s.npy", group, m->column);
    (void)snprintf(descr, sizeof descr, "'%s'", code_of(m->type));
    char *header = make_header(descr, bytes / slc_type_size(m->type), &size);
    uint8_t *block = malloc(BLOCK);
    slc_status status = header == NULL || block == NULL ? no_memory(&w->results, error) : SLC_OK;
    status = status == SLC_OK ? slc_io_zip_begin(&w->zip, name, size + bytes, error) : status;
    status = status == SLC_OK ? slc_io_zip_put(&w->zip, header, size, error) : status;
    for (size_t i = 0; i < m->n_blocks && status == SLC_OK; i++) {
        const ssize_t got = pread(w->waiting, block, BLOCK, (off_t)m->blocks[i]);
        status = got == BLOCK ? slc_io_zip_put(&w->zip, block, BLOCK, error)
                              : slc_io_output_failed(w->results.writer.output.path, error);
    }
    status = status == SLC_OK && m->used > 0 ? slc_io_zip_put(&w->zip, m->block, m->used, error) : status;
    status = status == SLC_OK ? slc_io_zip_end(&w->zip, error) : status;
    free(header);
    free(block);
    return status;
}

static slc_status npz_complete(npz_writer *w, slc_error *error)
{
    slc_status status = SLC_OK;
    w->zip.writer = &w->results.writer;
    for (size_t i = 0; i < w->results.n_groups && status == SLC_OK; i++) {
        const slc_io_results_group *g = &w->results.groups[i];
        members *all = g->own;
        for (size_t c = g->rows_of == SLC_IO_ROWS_WHOLE; c < all->n && status == SLC_OK; c++) {
            status = write_member(w, g->name, &all->list[c], error);
        }
    }
    return status == SLC_OK ? slc_io_zip_finish(&w->zip, error) : status;
}

static slc_status npz_end(slc_io_results *results, bool commit, slc_error *error)
{
    npz_writer *w = (npz_writer *)results;
    const slc_status status = commit ? npz_complete(w, error) : SLC_OK;
    for (size_t i = 0; i < results->n_groups; i++) {
        members *all = results->groups[i].own;
        for (size_t c = 0; all != NULL && c < all->n; c++) {
            free(all->list[c].block);
            free(all->list[c].blocks);
        }
        free(all);
    }
    slc_io_zip_clear(&w->zip);
    if (w->waiting >= 0) {
        (void)close(w->waiting);
    }
    return status;
}

const slc_io_results_form slc_io_results_npz = {
    .name = "npz",
    .ends = (const char *const[]){".npz", NULL},
    .compressions = 1U << SLC_IO_COMPRESSION_NONE,
    .usual = SLC_IO_COMPRESSION_NONE,
    .size = sizeof(npz_writer),
    .open = npz_open,
    .declare = npz_declare,
    .put = npz_put,
    .end = npz_end,
};
