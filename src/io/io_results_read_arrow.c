/* SPDX-License-Identifier: Apache-2.0
 *
 * Columns of Arrow's files and streams, as Sluice writes them (docs/formats/results-arrow.md): whole numbers
 * and floats, in structs and in lists of structs; nothing absent. The bytes are mapped and nobody vouches for
 * them: every place is looked at before it is read, and a file that changes its size meanwhile is its owner's
 * fault.
 */
#include "base/bytes.h"
#include "io/io_arrow.h"
#include "io/io_results_read.h"

#include <errno.h>
#include <fcntl.h>
#include <lz4frame.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { MESSAGE_TYPE = 1, MESSAGE_HEADER, MESSAGE_BODY, MESSAGE_METADATA };
enum { HEADER_SCHEMA = 1, HEADER_RECORD_BATCH = 3 };
enum { FIELD_NAME = 0, FIELD_KIND = 2, FIELD_TYPE, FIELD_CHILDREN = 5, FIELD_METADATA };
enum { KIND_INT = 2, KIND_FLOAT = 3, KIND_LIST = 12, KIND_STRUCT = 13 };
enum { BATCH_LENGTH = 0, BATCH_NODES, BATCH_BUFFERS, BATCH_COMPRESSION };
enum { FOOTER_SCHEMA = 1 };
enum { LARGEST = 1 << 30 }; /* bytes of a buffer, expanded */

/* ---- flatbuffers ------------------------------------------------------------------------------- */

typedef struct view {
    const uint8_t *bytes;
    size_t size;
} view;

static bool inside(const view *v, size_t at, size_t n)
{
    return at <= v->size && n <= v->size - at;
}

static uint64_t number_at(const view *v, size_t at, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; inside(v, at, size) && i > 0; i--) {
        value = value << 8 | v->bytes[at + i - 1];
    }
    return value;
}

/* A table's place is never 0, as its buffer begins with where the root is. */
static size_t root(const view *v)
{
    return (size_t)number_at(v, 0, 4);
}

/* The place of a field; 0: it is not there. */
static size_t field(const view *v, size_t table, unsigned n)
{
    if (table == 0 || !inside(v, table, 4)) {
        return 0;
    }
    const int64_t back = (int32_t)number_at(v, table, 4), vtable = (int64_t)table - back;
    if (vtable < 0 || !inside(v, (size_t)vtable, 4)) {
        return 0;
    }
    const size_t size = (size_t)number_at(v, (size_t)vtable, 2), slot = 4 + 2 * (size_t)n;
    const size_t offset = slot + 2 <= size ? (size_t)number_at(v, (size_t)vtable + slot, 2) : 0;
    return offset > 0 && inside(v, table + offset, 1) ? table + offset : 0;
}

static uint64_t number(const view *v, size_t table, unsigned n, size_t size)
{
    const size_t at = field(v, table, n);
    return at > 0 ? number_at(v, at, size) : 0;
}

/* What a field refers to: a table, text or vector; 0: none. */
static size_t target(const view *v, size_t table, unsigned n)
{
    const size_t at = field(v, table, n);
    const size_t to = at > 0 ? at + (size_t)number_at(v, at, 4) : 0;
    return to > 0 && inside(v, to, 4) ? to : 0;
}

/* How many there are of `size` bytes each, and the place of the first. */
static size_t vector(const view *v, size_t table, unsigned n, size_t size, size_t *first)
{
    const size_t at = target(v, table, n), count = at > 0 ? (size_t)number_at(v, at, 4) : 0;
    *first = at + 4;
    return count <= v->size / size && inside(v, at + 4, count * size) ? count : 0;
}

static size_t table_of(const view *v, size_t first, size_t i)
{
    const size_t at = first + 4 * i, to = at + (size_t)number_at(v, at, 4);
    return inside(v, to, 4) ? to : 0;
}

/* Cut to the room there is. */
static size_t text(const view *v, size_t table, unsigned n, const char **begin)
{
    size_t first;
    const size_t size = vector(v, table, n, 1, &first);
    *begin = size > 0 ? (const char *)v->bytes + first : "";
    return size;
}

/* ---- what is kept ------------------------------------------------------------------------------ */

/* A column's rows in a record batch. */
typedef struct piece {
    const uint8_t *bytes;
    size_t size;
    uint64_t rows;
    int codec;
} piece;

typedef struct column {
    piece *pieces;
    size_t n, room;
    uint8_t bytes; /* of a row */
    bool is_signed, is_float;
} column;

typedef struct found {
    char path[1024];
    const uint8_t *bytes;
    size_t size;
    bool mapped;
    view schema; /* the message's */
    column column[SLC_IO_READING_COLUMNS];
    uint64_t events;
    /* The piece that was expanded last. */
    const piece *expanded;
    uint8_t *room;
    size_t room_size, room_used;
} found;

static slc_status bad(const found *f, const char *what, slc_error *error)
{
    return slc_fail(error, SLC_ERR_FORMAT, "%s: %s", f->path, what);
}

/* ---- the schema -------------------------------------------------------------------------------- */

static bool add_texts(slc_io_reading *r, const view *v, size_t table, unsigned n)
{
    size_t first;
    const size_t count = vector(v, table, n, 4, &first);
    for (size_t i = 0; i < count; i++) {
        const char *key, *value;
        char name[SLC_IO_READING_NAME];
        const size_t pair = table_of(v, first, i), size = text(v, pair, 0, &key),
                     long_ = text(v, pair, 1, &value);
        (void)snprintf(name, sizeof name, "%.*s", (int)(size < sizeof name ? size : sizeof name - 1), key);
        if (!slc_io_reading_add_text(r, name, value, long_)) {
            return false;
        }
    }
    return true;
}

static void unit_of(const view *v, size_t at, char *unit, size_t room)
{
    size_t first;
    const size_t count = vector(v, at, FIELD_METADATA, 4, &first);
    for (size_t i = 0; i < count; i++) {
        const char *key, *value;
        const size_t pair = table_of(v, first, i), size = text(v, pair, 0, &key),
                     long_ = text(v, pair, 1, &value);
        if (size == 4 && memcmp(key, "unit", 4) == 0) {
            (void)snprintf(unit, room, "%.*s", (int)(long_ < room ? long_ : room - 1), value);
        }
    }
}

/* Adds the columns of a field and of what is in it. */
static slc_status add_field(slc_io_reading *r, const view *v, size_t at, const char *group, int depth,
                            slc_error *error)
{
    found *f = r->of;
    const uint64_t kind = number(v, at, FIELD_KIND, 1);
    const size_t type = target(v, at, FIELD_TYPE);
    const char *name;
    const size_t size = text(v, at, FIELD_NAME, &name);
    char own[SLC_IO_READING_NAME];
    (void)snprintf(own, sizeof own, "%.*s", (int)(size < sizeof own ? size : sizeof own - 1), name);
    if (kind == KIND_LIST || kind == KIND_STRUCT) {
        size_t first;
        const size_t n = vector(v, at, FIELD_CHILDREN, 4, &first);
        slc_status status = depth == SLC_IO_READING_DEPTH ? bad(f, "columns in columns, too deep", error)
                            : kind == KIND_LIST && n != 1 ? bad(f, "a list of nothing", error)
                                                          : SLC_OK;
        for (size_t i = 0; i < n && status == SLC_OK; i++) { /* "item" of a list names nothing */
            status = add_field(r, v, table_of(v, first, i), depth == 0 ? own : group, depth + 1, error);
        }
        return status;
    }
    const bool is_float = kind == KIND_FLOAT;
    const uint64_t bits = is_float ? (number(v, type, 0, 2) == 1   ? 32
                                      : number(v, type, 0, 2) == 2 ? 64
                                                                   : 0)
                                   : number(v, type, 0, 4);
    if ((kind != KIND_INT && !is_float) || (bits != 8 && bits != 16 && bits != 32 && bits != 64)) {
        return bad(f, "it has columns of other kinds than Sluice writes", error);
    }
    slc_io_reading_column *to = slc_io_reading_add(r);
    if (to == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: more than %d columns, or no memory for them", f->path,
                        SLC_IO_READING_COLUMNS);
    }
    (void)snprintf(to->group, sizeof to->group, "%s", group);
    memcpy(to->name, own, sizeof to->name);
    unit_of(v, at, to->unit, sizeof to->unit);
    to->whole = !is_float;
    f->column[r->n_columns - 1] = (column){
        .bytes = (uint8_t)(bits / 8), .is_float = is_float, .is_signed = number(v, type, 1, 1) != 0};
    return SLC_OK;
}

static slc_status add_schema(slc_io_reading *r, const view *message, slc_error *error)
{
    found *f = r->of;
    size_t first;
    const size_t header = target(message, root(message), MESSAGE_HEADER),
                 n = vector(message, header, 1, 4, &first);
    slc_status status = SLC_OK;
    f->schema = *message;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        status = add_field(r, message, table_of(message, first, i), "", 0, error);
    }
    return status == SLC_OK && !add_texts(r, message, header, 2)
               ? slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its attributes", f->path)
               : status;
}

/* ---- record batches ---------------------------------------------------------------------------- */

/* Nodes and buffers of a batch, in the order of the fields. */
typedef struct cursor {
    slc_io_reading *r;
    view message, body;
    size_t nodes, n_nodes, buffers, n_buffers; /* places, and how many are left */
    size_t leaf;
    int codec;
} cursor;

static bool next_node(cursor *c, uint64_t *rows)
{
    if (c->n_nodes == 0) {
        return false;
    }
    *rows = number_at(&c->message, c->nodes, 8);
    const bool all = number_at(&c->message, c->nodes + 8, 8) == 0;
    c->nodes += 16;
    c->n_nodes--;
    return all && *rows <= (uint64_t)1 << 40;
}

static bool next_buffer(cursor *c, const uint8_t **bytes, size_t *size)
{
    if (c->n_buffers == 0) {
        return false;
    }
    const uint64_t offset = number_at(&c->message, c->buffers, 8),
                   n = number_at(&c->message, c->buffers + 8, 8);
    c->buffers += 16;
    c->n_buffers--;
    if (!inside(&c->body, (size_t)offset, (size_t)n)) {
        return false;
    }
    *bytes = c->body.bytes + offset;
    *size = (size_t)n;
    return true;
}

static bool add_piece(cursor *c, uint64_t rows, const uint8_t *bytes, size_t size)
{
    found *f = c->r->of;
    column *to = &f->column[c->leaf];
    if (to->n == to->room) {
        const size_t room = 2 * to->room + 16;
        piece *larger = realloc(to->pieces, room * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        to->pieces = larger;
        to->room = room;
    }
    to->pieces[to->n++] = (piece){.bytes = bytes, .size = size, .rows = rows, .codec = c->codec};
    c->r->columns[c->leaf].rows += rows;
    return true;
}

static bool take_field(cursor *c, size_t at, bool top)
{
    const found *f = c->r->of;
    const view *v = &f->schema;
    const uint64_t kind = number(v, at, FIELD_KIND, 1);
    const uint8_t *bytes;
    uint64_t rows;
    size_t size, first;
    if (!next_node(c, &rows) || !next_buffer(c, &bytes, &size) || size != 0) {
        return false; /* something is absent */
    }
    if (kind == KIND_LIST || kind == KIND_STRUCT) {
        const size_t n = vector(v, at, FIELD_CHILDREN, 4, &first), leaf = c->leaf;
        bool good = kind != KIND_LIST || next_buffer(c, &bytes, &size);
        for (size_t i = 0; i < n && good; i++) {
            good = take_field(c, table_of(v, first, i), false);
        }
        for (size_t i = leaf; i < c->leaf && top; i++) {
            c->r->columns[i].events += rows;
        }
        return good;
    }
    const bool stored = c->codec == SLC_IO_ARROW_STORED;
    if (c->leaf == c->r->n_columns || !next_buffer(c, &bytes, &size) ||
        (stored && size != rows * f->column[c->leaf].bytes)) {
        return false;
    }
    const bool good = add_piece(c, rows, bytes, size);
    c->leaf++;
    return good;
}

static bool add_batch(slc_io_reading *r, const view *message, const view *body)
{
    const found *f = r->of;
    const size_t header = target(message, root(message), MESSAGE_HEADER);
    const size_t compression = target(message, header, BATCH_COMPRESSION);
    cursor c = {.r = r, .message = *message, .body = *body};
    c.codec = compression == 0 ? SLC_IO_ARROW_STORED : (int)number(message, compression, 0, 1);
    c.n_nodes = vector(message, header, BATCH_NODES, 16, &c.nodes);
    c.n_buffers = vector(message, header, BATCH_BUFFERS, 16, &c.buffers);
    size_t first;
    const size_t n = vector(&f->schema, target(&f->schema, root(&f->schema), MESSAGE_HEADER), 1, 4, &first);
    bool good = c.codec <= SLC_IO_ARROW_ZSTD;
    for (size_t i = 0; i < n && good; i++) {
        good = take_field(&c, table_of(&f->schema, first, i), true);
    }
    return good && add_texts(r, message, root(message), MESSAGE_METADATA);
}

/* ---- the file ---------------------------------------------------------------------------------- */

/* A file's footer has attributes that were known at the end alone. Without one (a run that was killed) there
 * are none of these. */
static bool add_footer(slc_io_reading *r)
{
    const found *f = r->of;
    const view all = {f->bytes, f->size};
    if (f->size < 26 || memcmp(f->bytes, "ARROW1", 6) != 0 ||
        memcmp(f->bytes + f->size - 6, "ARROW1", 6) != 0) {
        return true;
    }
    const size_t size = (size_t)number_at(&all, f->size - 10, 4);
    if (size > f->size - 18) {
        return true;
    }
    const view footer = {f->bytes + f->size - 10 - size, size};
    return add_texts(r, &footer, target(&footer, root(&footer), FOOTER_SCHEMA), 2);
}

static slc_status read_messages(slc_io_reading *r, slc_error *error)
{
    found *f = r->of;
    const view all = {f->bytes, f->size};
    size_t at = memcmp(f->bytes, "ARROW1", 6) == 0 ? 8 : 0;
    bool begun = false;
    slc_status status = SLC_OK;
    while (status == SLC_OK && inside(&all, at, 8) && number_at(&all, at, 4) == UINT32_MAX &&
           number_at(&all, at + 4, 4) > 0) {
        const size_t size = (size_t)number_at(&all, at + 4, 4);
        if (!inside(&all, at + 8, size)) {
            return bad(f, "it ends inside a message", error);
        }
        const view message = {f->bytes + at + 8, size};
        const uint64_t kind = number(&message, root(&message), MESSAGE_TYPE, 1),
                       body_size = number(&message, root(&message), MESSAGE_BODY, 8);
        if (body_size > f->size || !inside(&all, at + 8 + size, (size_t)body_size)) {
            return bad(f, "it ends inside a record batch", error);
        }
        const view body = {f->bytes + at + 8 + size, (size_t)body_size};
        if (kind == HEADER_SCHEMA && !begun) {
            status = add_schema(r, &message, error);
            begun = true;
        } else if (kind != HEADER_RECORD_BATCH || !begun || !add_batch(r, &message, &body)) {
            return bad(f, "a record batch that is not as Sluice writes them", error);
        }
        at += 8 + size + (size_t)body_size;
    }
    return status != SLC_OK ? status : begun ? SLC_OK : bad(f, "it has no schema", error);
}

/* ---- rows -------------------------------------------------------------------------------------- */

static bool expand_lz4(const uint8_t *from, size_t size, uint8_t *to, size_t wanted)
{
    LZ4F_dctx *context = NULL;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION))) {
        return false;
    }
    size_t made = wanted, taken = size;
    const size_t left = LZ4F_decompress(context, to, &made, from, &taken, NULL);
    (void)LZ4F_freeDecompressionContext(context);
    return left == 0 && made == wanted;
}

/* The bytes of a piece's rows; NULL where they are none. */
static const uint8_t *bytes_of(found *f, const column *c, const piece *p)
{
    const size_t wanted = p->rows <= LARGEST / c->bytes ? (size_t)p->rows * c->bytes : SIZE_MAX;
    if (p->codec == SLC_IO_ARROW_STORED) {
        return p->bytes; /* of the right size */
    }
    const view v = {p->bytes, p->size};
    const int64_t whole = (int64_t)number_at(&v, 0, 8);
    if (wanted == SIZE_MAX || p->size < 8) {
        return NULL;
    }
    if (whole == SLC_IO_ARROW_STORED) {
        return p->size - 8 == wanted ? p->bytes + 8 : NULL;
    }
    if (f->expanded == p) {
        return f->room;
    }
    if (f->room_size < wanted) {
        uint8_t *larger = realloc(f->room, wanted);
        if (larger == NULL) {
            return NULL;
        }
        f->room = larger;
        f->room_size = wanted;
    }
    f->expanded = NULL;
    const bool good = whole >= 0 && (uint64_t)whole == wanted &&
                      (p->codec == SLC_IO_ARROW_LZ4
                           ? expand_lz4(p->bytes + 8, p->size - 8, f->room, wanted)
                           : ZSTD_decompress(f->room, wanted, p->bytes + 8, p->size - 8) == wanted);
    f->expanded = good ? p : NULL;
    return good ? f->room : NULL;
}

static double value_of(const column *c, const uint8_t *at)
{
    const view v = {at, c->bytes};
    const uint64_t word = number_at(&v, 0, c->bytes);
    if (c->is_float && c->bytes == 4) {
        const uint32_t narrow = (uint32_t)word;
        float value;
        memcpy(&value, &narrow, sizeof value);
        return (double)value;
    }
    if (c->is_float) {
        double value;
        memcpy(&value, &word, sizeof value);
        return value;
    }
    const unsigned shift = 64U - 8U * c->bytes;
    return c->is_signed ? (double)((int64_t)(word << shift) >> shift) : (double)word;
}

static slc_status read_rows(slc_io_reading *r, size_t i, uint64_t at, size_t n, double *values,
                            slc_error *error)
{
    found *f = r->of;
    const column *c = &f->column[i];
    uint64_t before = 0;
    size_t done = 0;
    for (size_t k = 0; k < c->n && done < n; k++) {
        const piece *p = &c->pieces[k];
        if (at + done < before + p->rows) {
            const uint8_t *bytes = bytes_of(f, c, p);
            if (bytes == NULL) {
                return slc_fail(error, SLC_ERR_FORMAT, "%s: %s%s%s cannot be expanded", f->path,
                                r->columns[i].group, r->columns[i].group[0] != '\0' ? "." : "",
                                r->columns[i].name);
            }
            for (uint64_t row = at + done - before; row < p->rows && done < n; row++) {
                values[done++] = value_of(c, bytes + row * c->bytes);
            }
        }
        before += p->rows;
    }
    return done == n ? SLC_OK : bad(f, "rows are missing", error);
}

static void close_it(void *of)
{
    found *f = of;
    for (size_t i = 0; i < SLC_IO_READING_COLUMNS; i++) {
        free(f->column[i].pieces);
    }
    if (f->mapped) {
        union {
            const uint8_t *ours;
            void *theirs;
        } bytes = {.ours = f->bytes};
        (void)munmap(bytes.theirs, f->size);
    }
    free(f->room);
    free(f);
}

static slc_status map(const char *path, found *f, slc_error *error)
{
    struct stat is;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &is) != 0 || !S_ISREG(is.st_mode) || is.st_size < 8) {
        const int why = errno;
        if (file >= 0) {
            (void)close(file);
        }
        return file < 0 ? slc_fail(error, SLC_ERR_IO, "%s: cannot be opened: %s", path, strerror(why))
                        : slc_fail(error, SLC_ERR_FORMAT, "%s: no file of Arrow's", path);
    }
    void *bytes = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, file, 0);
    (void)close(file);
    if (bytes == MAP_FAILED) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot be mapped: %s", path, strerror(errno));
    }
    f->bytes = bytes;
    f->size = (size_t)is.st_size;
    f->mapped = true;
    return SLC_OK;
}

static slc_status begin(const char *name, slc_io_reading *r, slc_error *error)
{
    found *f = calloc(1, sizeof *f);
    if (f == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", name);
    }
    (void)snprintf(f->path, sizeof f->path, "%s", name);
    r->format = "Arrow";
    r->of = f;
    r->rows = read_rows;
    r->close = close_it;
    return SLC_OK;
}

static slc_status read_all(slc_io_reading *r, slc_error *error)
{
    const found *f = r->of;
    const slc_status status = f->size < 8 ? bad(f, "no file of Arrow's", error) : read_messages(r, error);
    return status == SLC_OK && !add_footer(r)
               ? slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its attributes", f->path)
               : status;
}

slc_status slc_io_reading_arrow(const char *path, slc_io_reading *r, slc_error *error)
{
    slc_status status = begin(path, r, error);
    status = status == SLC_OK ? map(path, r->of, error) : status;
    return status == SLC_OK ? read_all(r, error) : status;
}

slc_status slc_io_reading_arrow_bytes(const char *name, const void *bytes, size_t size, slc_io_reading *r,
                                      slc_error *error)
{
    const slc_status status = begin(name, r, error);
    if (status == SLC_OK) {
        found *f = r->of;
        f->bytes = bytes;
        f->size = size;
    }
    return status == SLC_OK ? read_all(r, error) : status;
}
