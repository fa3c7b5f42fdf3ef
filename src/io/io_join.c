/* SPDX-License-Identifier: Apache-2.0
 *
 * Several parts of a run as one file of results. Columns are virtual data sets of HDF5, which take no room
 * and no time: each names the files that have its rows, by their places relative to the joined file. Row
 * numbers cannot be had that way, as a virtual data set adds nothing: so event_offset is written anew. Or all
 * is copied.
 */
#include "io/io_join.h"
#include "io/io_hdf5_file.h"
#include "io/io_output.h"

#include <sluice/base.h>

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1 << 16, NAME = 256 };

typedef struct join {
    slc_io_part_file *parts;
    size_t n;
    slc_io_output output;
    bool copy;
    int wrong;
    hid_t file;
    slc_io_joined *joined;
    slc_error *error;
} join;

static slc_status cannot_write(const join *j)
{
    return slc_fail(j->error, SLC_ERR_IO, "%s: cannot write: %s", j->output.path,
                    j->wrong != 0 ? strerror(j->wrong) : "HDF5 fails");
}

/* What HDF5 cannot do, without the disk being to blame, is due to the part. */
static slc_status cannot_join(const join *j, size_t part, const char *name)
{
    return j->wrong != 0 ? cannot_write(j)
                         : slc_fail(j->error, SLC_ERR_FORMAT, "%s: %s cannot be read or stored again",
                                    j->parts[part].path, name);
}

/* ---- a column ---------------------------------------------------------------------------------- */

/* A data set of all parts. */
typedef struct column {
    char name[2 * NAME]; /* "/hits/x_mm" */
    hid_t *in;           /* in each part */
    uint64_t *rows;
    uint64_t total;
    hid_t type; /* in the file */
} column;

static void close_column(const join *j, column *c)
{
    for (size_t i = 0; c->in != NULL && i < j->n; i++) {
        (void)slc_io_hdf5_close(c->in[i]);
    }
    (void)slc_io_hdf5_close(c->type);
    free(c->in);
    free(c->rows);
}

/* Rows of a data set of one dimension; false if it has another shape. */
static bool count_rows(hid_t dataset, uint64_t *rows)
{
    const hid_t space = H5Dget_space(dataset);
    hsize_t n = 0;
    const bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_dims(space, &n, NULL) == 1;
    (void)slc_io_hdf5_close(space);
    *rows = n;
    return good;
}

/* Of numbers that fit into move()'s room. */
static bool is_number(hid_t type)
{
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    return (kind == H5T_INTEGER || kind == H5T_FLOAT) && H5Tget_size(type) <= sizeof(uint64_t);
}

/* Rows that are in other files, or that were never written, however many they claim to be. */
static bool is_elsewhere(hid_t dataset, uint64_t rows)
{
    uint64_t stored = 0;
    const hid_t how = H5Dget_create_plist(dataset);
    const bool outside = how < 0 || H5Pget_external_count(how) != 0 || H5Pget_layout(how) == H5D_VIRTUAL;
    (void)slc_io_hdf5_close(how);
    return outside || !slc_io_hdf5_can_hold(dataset, rows, &stored);
}

static slc_status unlike(const join *j, const column *c, size_t i, const char *what)
{
    return slc_fail(j->error, SLC_ERR_FORMAT, "%s: data set %s %s", j->parts[i].path, c->name, what);
}

static slc_status open_in(const join *j, column *c, size_t i)
{
    const char *path = j->parts[i].path;
    j->joined->reading = j->parts[i].index;
    c->in[i] = H5Lexists(j->parts[i].file, c->name, H5P_DEFAULT) > 0
                   ? H5Dopen2(j->parts[i].file, c->name, H5P_DEFAULT)
                   : H5I_INVALID_HID;
    if (c->in[i] < 0) {
        return i == 0 ? slc_fail(j->error, SLC_ERR_FORMAT, "%s: has no data set %s", path, c->name)
                      : slc_fail(j->error, SLC_ERR_USAGE, "%s: has no data set %s, which %s has", path,
                                 c->name, j->parts[0].path);
    }
    const hid_t type = H5Dget_type(c->in[i]);
    const bool same = i == 0 || (type >= 0 && H5Tequal(type, c->type) > 0);
    if (i == 0) {
        c->type = type;
    } else {
        (void)slc_io_hdf5_close(type);
    }
    if (!same) {
        return slc_fail(j->error, SLC_ERR_USAGE, "%s: data set %s is not like that of %s", path, c->name,
                        j->parts[0].path);
    }
    const char *why = !is_number(c->type)                  ? "is not of numbers"
                      : !count_rows(c->in[i], &c->rows[i]) ? "has not one dimension"
                      : is_elsewhere(c->in[i], c->rows[i]) ? "says that it has rows that are not in the file"
                      : c->total + c->rows[i] < c->total   ? "has too many rows"
                                                           : NULL;
    c->total += c->rows[i];
    return why == NULL ? SLC_OK : unlike(j, c, i, why);
}

static slc_status open_column(const join *j, const char *group, const char *name, column *c)
{
    *c = (column){.type = H5I_INVALID_HID};
    (void)snprintf(c->name, sizeof c->name, "/%s/%s", group, name);
    c->in = calloc(j->n, sizeof *c->in);
    c->rows = calloc(j->n, sizeof *c->rows);
    if (c->in == NULL || c->rows == NULL) {
        return slc_fail(j->error, SLC_ERR_MEMORY, "no memory for %zu parts", j->n);
    }
    for (size_t i = 0; i < j->n; i++) {
        c->in[i] = H5I_INVALID_HID;
    }
    slc_status status = SLC_OK;
    for (size_t i = 0; i < j->n && status == SLC_OK; i++) {
        status = open_in(j, c, i);
    }
    return status;
}

/* ---- what is made of it ------------------------------------------------------------------------ */

/* The rows of all parts one after the other, each where it lies. */
static hid_t make_virtual(const join *j, const column *c)
{
    const hsize_t total = c->total;
    const hid_t space = H5Screate_simple(1, &total, NULL), how = H5Pcreate(H5P_DATASET_CREATE);
    bool good = space >= 0 && how >= 0 && H5Pset_obj_track_times(how, false) >= 0;
    hsize_t at = 0;
    for (size_t i = 0; i < j->n && good; i++) {
        const hsize_t n = c->rows[i];
        const hid_t from = n > 0 ? H5Screate_simple(1, &n, NULL) : H5I_INVALID_HID;
        good = n == 0 || (from >= 0 && H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, NULL, &n, NULL) >= 0 &&
                          H5Pset_virtual(how, space, j->parts[i].source, c->name, from) >= 0);
        (void)slc_io_hdf5_close(from);
        at += n;
    }
    good = good && H5Sselect_all(space) >= 0;
    const hid_t made = good ? H5Dcreate2(j->file, c->name, c->type, space, H5P_DEFAULT, how, H5P_DEFAULT)
                            : H5I_INVALID_HID;
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(space);
    return made;
}

/* A data set of its own, compressed as that of the first part. */
static hid_t make_real(const join *j, const column *c, uint64_t rows)
{
    const hsize_t total = rows, unlimited = H5S_UNLIMITED, chunk = rows < ROWS ? (rows > 0 ? rows : 1) : ROWS;
    const hid_t space = H5Screate_simple(1, &total, &unlimited), how = H5Dget_create_plist(c->in[0]);
    hid_t made = H5I_INVALID_HID;
    if (space >= 0 && how >= 0 && H5Pset_chunk(how, 1, &chunk) >= 0 &&
        H5Pset_obj_track_times(how, false) >= 0) {
        made = H5Dcreate2(j->file, c->name, c->type, space, H5P_DEFAULT, how, H5P_DEFAULT);
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(space);
    return made;
}

/* n rows, from `at` of one data set to `to` of another, through `rows`. */
static bool read_rows(hid_t from, uint64_t at, size_t n, hid_t type, void *rows)
{
    const hsize_t first = at, count = n;
    const hid_t memory = H5Screate_simple(1, &count, NULL), source = H5Dget_space(from);
    const bool good = memory >= 0 && source >= 0 &&
                      H5Sselect_hyperslab(source, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
                      H5Dread(from, type, memory, source, H5P_DEFAULT, rows) >= 0;
    (void)slc_io_hdf5_close(source);
    (void)slc_io_hdf5_close(memory);
    return good;
}

static bool write_rows(hid_t into, uint64_t to, size_t n, hid_t type, const void *rows)
{
    const hsize_t first = to, count = n;
    const hid_t memory = H5Screate_simple(1, &count, NULL), target = H5Dget_space(into);
    const bool good = memory >= 0 && target >= 0 &&
                      H5Sselect_hyperslab(target, H5S_SELECT_SET, &first, NULL, &count, NULL) >= 0 &&
                      H5Dwrite(into, type, memory, target, H5P_DEFAULT, rows) >= 0;
    (void)slc_io_hdf5_close(target);
    (void)slc_io_hdf5_close(memory);
    return good;
}

/* Numbers of rows, of which *last is the one before: they grow, up to `end`. So many more are added to each.
 */
static bool shift_rows(uint64_t *rows, size_t n, uint64_t *last, uint64_t end, uint64_t shift)
{
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        good = good && rows[i] >= *last && rows[i] <= end;
        *last = rows[i];
        rows[i] += shift;
    }
    return good;
}

/* All rows of all parts; of numbers of rows (`shifts` not NULL) without the first of each part but the first
 * one's, and so many more. */
static slc_status move_all(const join *j, const column *c, hid_t into, hid_t type, const uint64_t *shifts)
{
    uint64_t *rows = malloc(ROWS * sizeof *rows);
    slc_status status = SLC_OK;
    if (rows == NULL) {
        return slc_fail(j->error, SLC_ERR_MEMORY, "no memory for rows");
    }
    uint64_t to = 0;
    for (size_t i = 0; i < j->n && status == SLC_OK; i++) {
        uint64_t at = shifts != NULL && i > 0 ? 1 : 0, last = 0;
        j->joined->reading = j->parts[i].index;
        while (status == SLC_OK && at < c->rows[i]) {
            const uint64_t left = c->rows[i] - at;
            const size_t n = left < ROWS ? (size_t)left : ROWS;
            if (!read_rows(c->in[i], at, n, type, rows)) {
                status = cannot_join(j, i, c->name);
            } else if (shifts != NULL && !shift_rows(rows, n, &last, shifts[i + 1] - shifts[i], shifts[i])) {
                status = unlike(j, c, i, "does not grow");
            } else if (!write_rows(into, to, n, type, rows)) {
                status = cannot_write(j);
            }
            at += n;
            to += n;
        }
    }
    free(rows);
    return status;
}

/* A data set has its rows; its attributes are those of the first part. */
static slc_status finish_column(const join *j, const column *c, hid_t made, slc_status status)
{
    if (status == SLC_OK && !slc_io_copy_attributes(c->in[0], made, (const char *const[]){NULL})) {
        status = cannot_join(j, 0, c->name);
    }
    const bool good = slc_io_hdf5_close(made) && j->wrong == 0;
    return status == SLC_OK && !good ? cannot_write(j) : status;
}

static slc_status join_column(const join *j, const char *group, const char *name, uint64_t *shifts)
{
    column c;
    slc_status status = open_column(j, group, name, &c);
    for (size_t i = 0; i < j->n && status == SLC_OK; i++) {
        const uint64_t rows = shifts[i + 1] - shifts[i];
        if (rows != c.rows[i]) {
            status = slc_fail(j->error, SLC_ERR_FORMAT,
                              "%s: %s has %" PRIu64 " rows, and event_offset counts %" PRIu64,
                              j->parts[i].path, c.name, c.rows[i], rows);
        }
    }
    if (status == SLC_OK) {
        const bool real = j->copy || c.total == 0;
        const hid_t made = real ? make_real(j, &c, c.total) : make_virtual(j, &c);
        status = made < 0  ? cannot_join(j, 0, c.name)
                 : j->copy ? move_all(j, &c, made, c.type, NULL)
                           : SLC_OK;
        status = finish_column(j, &c, made, status);
    }
    close_column(j, &c);
    return status;
}

/* ---- event_offset ------------------------------------------------------------------------------ */

/* Where the rows of each part begin in the joined columns; shifts[n] is how many there are. */
static slc_status add_rows(const join *j, const column *c, uint64_t *shifts)
{
    for (size_t i = 0; i < j->n; i++) {
        uint64_t ends[2] = {0, 0};
        j->joined->reading = j->parts[i].index;
        if (c->rows[i] == 0 || !slc_io_hdf5_read_rows(c->in[i], SLC_TYPE_U64, 0, 1, &ends[0]) ||
            !slc_io_hdf5_read_rows(c->in[i], SLC_TYPE_U64, c->rows[i] - 1, 1, &ends[1]) || ends[0] != 0) {
            return unlike(j, c, i, "does not begin with 0");
        }
        if (shifts[i] + ends[1] < ends[1]) {
            return unlike(j, c, i, "counts too many rows");
        }
        shifts[i + 1] = shifts[i] + ends[1];
    }
    return SLC_OK;
}

/* Of a group whose rows are no events, all are one. */
static bool is_whole(const join *j, const char *group)
{
    const slc_io_part_texts *whole = &j->parts[0].whole;
    bool is = false;
    for (size_t i = 0; i < whole->n; i++) {
        is = is || strcmp(whole->text[i], group) == 0;
    }
    return is;
}

static slc_status join_offsets(const join *j, const char *group, uint64_t *shifts, uint64_t *events)
{
    column c;
    slc_status status = open_column(j, group, "event_offset", &c);
    status = status == SLC_OK ? add_rows(j, &c, shifts) : status;
    if (status == SLC_OK) {
        const bool whole = is_whole(j, group);
        *events = whole ? 1 : c.total - j->n;
        for (size_t i = 0; i < j->n && !whole; i++) {
            j->parts[i].events = c.rows[i] - 1;
        }
        const hid_t made = make_real(j, &c, *events + 1);
        const uint64_t ends[2] = {0, shifts[j->n]};
        status = made < 0 ? cannot_join(j, 0, c.name)
                 : !whole ? move_all(j, &c, made, H5T_NATIVE_UINT64, shifts)
                 : slc_io_hdf5_write_rows(made, SLC_TYPE_U64, 0, 2, ends) ? SLC_OK
                                                                          : cannot_write(j);
        status = finish_column(j, &c, made, status);
    }
    close_column(j, &c);
    return status;
}

/* ---- groups ------------------------------------------------------------------------------------ */

/* Of a group to come, as the writer of results has them (io_hdf5.c). */
static bool set_header(hid_t how)
{
    return how >= 0 && H5Pset_obj_track_times(how, false) >= 0 &&
           H5Pset_attr_creation_order(how, H5P_CRT_ORDER_TRACKED) >= 0;
}

/* Name of link number i; false if it is too long, or has other than plain characters. */
static bool name_at(hid_t group, hsize_t i, char name[NAME])
{
    const ssize_t size = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, NAME,
                                            H5P_DEFAULT);
    bool good = size > 0 && size < NAME;
    for (ssize_t k = 0; good && k < size; k++) {
        good = name[k] > ' ' && name[k] < 0x7f && name[k] != '%'; /* for which H5Pset_virtual has a meaning */
    }
    return good;
}

static hsize_t count_links(hid_t group)
{
    H5G_info_t info = {.nlinks = 0};
    return H5Gget_info(group, &info) >= 0 ? info.nlinks : 0;
}

static slc_status make_group(const join *j, hid_t from, const char *name)
{
    const hid_t how = H5Pcreate(H5P_GROUP_CREATE);
    const hid_t made = set_header(how) ? H5Gcreate2(j->file, name, H5P_DEFAULT, how, H5P_DEFAULT)
                                       : H5I_INVALID_HID;
    bool good = made >= 0 && slc_io_copy_attributes(from, made, (const char *const[]){NULL});
    good = slc_io_hdf5_close(made) && good;
    (void)slc_io_hdf5_close(how);
    return good ? SLC_OK : cannot_join(j, 0, name);
}

/* The parts have the same columns: none that only a later one has is left out. */
static slc_status check_links(const join *j, const char *name, hsize_t links)
{
    for (size_t i = 1; i < j->n; i++) {
        j->joined->reading = j->parts[i].index;
        const hid_t other = H5Lexists(j->parts[i].file, name, H5P_DEFAULT) > 0
                                ? H5Gopen2(j->parts[i].file, name, H5P_DEFAULT)
                                : H5I_INVALID_HID;
        const bool same = other >= 0 && count_links(other) == links;
        (void)slc_io_hdf5_close(other);
        if (!same) {
            return slc_fail(j->error, SLC_ERR_USAGE, "%s: has not the same in '%s' as %s", j->parts[i].path,
                            name, j->parts[0].path);
        }
    }
    return SLC_OK;
}

static slc_status join_group(const join *j, const char *name)
{
    slc_io_joined *joined = j->joined;
    const hid_t from = H5Gopen2(j->parts[0].file, name, H5P_DEFAULT);
    uint64_t *shifts = calloc(j->n + 1, sizeof *shifts), events = 0;
    const hsize_t links = from >= 0 ? count_links(from) : 0;
    slc_status status = shifts == NULL ? slc_fail(j->error, SLC_ERR_MEMORY, "no memory for %zu parts", j->n)
                        : from < 0     ? slc_fail(j->error, SLC_ERR_FORMAT, "%s: '%s' is no group",
                                                  j->parts[0].path, name)
                                       : check_links(j, name, links);
    status = status == SLC_OK ? make_group(j, from, name) : status;
    status = status == SLC_OK ? join_offsets(j, name, shifts, &events) : status;
    for (hsize_t i = 0; i < links && status == SLC_OK; i++) {
        char column_name[NAME];
        if (!name_at(from, i, column_name)) {
            status = slc_fail(j->error, SLC_ERR_FORMAT, "%s: %s: a name that is too long or strange",
                              j->parts[0].path, name);
        } else if (strcmp(column_name, "event_offset") != 0) {
            status = join_column(j, name, column_name, shifts);
        }
    }
    if (status == SLC_OK && shifts != NULL && joined->n_groups < SLC_IO_JOINED_GROUPS) {
        slc_io_joined_group *g = &joined->group[joined->n_groups++];
        (void)snprintf(g->name, sizeof g->name, "%.60s", name);
        g->rows = shifts[j->n];
        g->events = events;
        joined->events = is_whole(j, name) || events < joined->events ? joined->events : events;
    }
    free(shifts);
    (void)slc_io_hdf5_close(from);
    return status;
}

/* ---- the root ---------------------------------------------------------------------------------- */

/* Σ over the parts, each moved behind the events of those before it (slc_columns_checksum). */
static slc_status put_checksum(const join *j)
{
    uint64_t sum = 0;
    for (size_t i = j->n; i-- > 0;) {
        for (uint64_t power = SLC_CHECKSUM_FACTOR, n = j->parts[i].events; n > 0; n >>= 1, power *= power) {
            sum *= (n & 1) != 0 ? power : 1;
        }
        sum += j->parts[i].checksum;
    }
    if (!j->parts[0].has_checksum) {
        return SLC_OK;
    }
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, sum);
    return slc_io_hdf5_put_text(j->file, "checksum", text, H5T_CSET_UTF8) ? SLC_OK : cannot_write(j);
}

static slc_status put_left_out(const join *j)
{
    double sum = 0;
    for (size_t i = 0; i < j->n; i++) {
        sum += j->parts[i].left_out;
    }
    return !j->parts[0].has_left_out || slc_io_hdf5_put_attribute(j->file, "mask_left_out", H5T_IEEE_F64LE,
                                                                  H5T_NATIVE_DOUBLE, &sum)
               ? SLC_OK
               : cannot_write(j);
}

/* Attributes are those of the first part, but for what makes it a part. */
static slc_status put_attributes(const join *j, const char *command)
{
    static const char *const own[] = {"command",       "part",         "parts",         "part_inputs",
                                      "part_sizes",    "part_options", "part_whole",    "checksum",
                                      "part_commands", "joined",       "mask_left_out", NULL};
    const char **names = calloc(j->n, sizeof *names);
    if (names == NULL) {
        return slc_fail(j->error, SLC_ERR_MEMORY, "no memory for the names of the parts");
    }
    const hid_t root = H5Gopen2(j->parts[0].file, "/", H5P_DEFAULT);
    const bool copied = root >= 0 && slc_io_copy_attributes(root, j->file, own);
    bool good = copied && slc_io_hdf5_put_text(j->file, "command", command, H5T_CSET_UTF8);
    for (size_t i = 0; i < j->n; i++) {
        names[i] = j->parts[i].command != NULL ? j->parts[i].command : "";
    }
    good = good && slc_io_hdf5_put_texts(j->file, "part_commands", j->n, names);
    for (size_t i = 0; i < j->n; i++) {
        names[i] = !j->copy ? j->parts[i].source : j->parts[i].path;
    }
    good = good && slc_io_hdf5_put_texts(j->file, "joined", j->n, names);
    free(names);
    (void)slc_io_hdf5_close(root);
    return !copied ? cannot_join(j, 0, "an attribute") : good && j->wrong == 0 ? SLC_OK : cannot_write(j);
}

static slc_status join_all(const join *j, const char *command)
{
    const hid_t first = j->parts[0].file;
    const hsize_t links = count_links(first);
    slc_status status = check_links(j, "/", links);
    status = status == SLC_OK ? put_attributes(j, command) : status;
    for (hsize_t i = 0; i < links && status == SLC_OK; i++) {
        char name[NAME];
        status = name_at(first, i, name)
                     ? join_group(j, name)
                     : slc_fail(j->error, SLC_ERR_FORMAT, "%s: a name that is too long or strange",
                                j->parts[0].path);
    }
    status = status == SLC_OK ? put_checksum(j) : status;
    return status == SLC_OK ? put_left_out(j) : status;
}

static slc_status write_file(join *j, const char *command)
{
    const hid_t access = slc_io_hdf5_file_access(&j->wrong), how = H5Pcreate(H5P_FILE_CREATE);
    slc_status status = SLC_OK;
    if (access >= 0 && set_header(how)) {
        j->file = H5Fcreate(j->output.temporary, H5F_ACC_TRUNC, how, access);
    }
    (void)slc_io_hdf5_close(how);
    (void)slc_io_hdf5_close(access);
    status = j->file < 0 ? cannot_write(j)
             : j->copy || slc_io_parts_name(j->parts, j->n, j->output.path)
                 ? SLC_OK
                 : slc_fail(j->error, SLC_ERR_MEMORY, "no memory for the names of the parts");
    status = status == SLC_OK ? join_all(j, command) : status;
    if (j->file >= 0 && (H5Fclose(j->file) < 0 || j->wrong != 0) && status == SLC_OK) {
        status = cannot_write(j);
    }
    return status;
}

static slc_status write_output(join *j, const char *out, const char *command)
{
    slc_status status = slc_io_output_reserve_name(&j->output, out, j->error);
    if (status != SLC_OK) {
        return status;
    }
    status = write_file(j, command);
    if (status == SLC_OK) {
        status = slc_io_output_commit(&j->output, j->error);
    } else {
        slc_io_output_abandon(&j->output);
    }
    return status;
}

slc_status slc_io_join(const char *const *paths, size_t n, const char *out, bool copy, const char *command,
                       slc_io_joined *joined, slc_error *error)
{
    slc_io_joined own;
    joined = joined != NULL ? joined : &own;
    *joined = (slc_io_joined){.n_groups = 0};
    slc_io_part_file *parts = calloc(n > 0 ? n : 1, sizeof *parts);
    if (n == 0 || parts == NULL) {
        free(parts);
        return slc_fail(error, n == 0 ? SLC_ERR_USAGE : SLC_ERR_MEMORY,
                        n == 0 ? "no parts to join" : "no memory for the parts");
    }
    const slc_io_hdf5_silence before = slc_io_hdf5_silence_begin();
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n; i++) {
        parts[i].file = H5I_INVALID_HID;
    }
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        joined->reading = i;
        status = slc_io_part_open(paths[i], &parts[i], error);
        parts[i].index = i;
    }
    if (status == SLC_OK) {
        joined->part = parts[0].part;
        joined->parts = parts[0].parts;
    }
    if (out != NULL || status != SLC_OK) {
        status = status == SLC_OK ? slc_io_parts_sort(parts, n, error) : status;
    }
    if (status == SLC_OK && out != NULL) {
        join j = {
            .parts = parts, .n = n, .copy = copy, .file = H5I_INVALID_HID, .joined = joined, .error = error};
        status = write_output(&j, out, command);
    }
    for (size_t i = 0; i < n; i++) {
        slc_io_part_close(&parts[i]);
    }
    free(parts);
    slc_io_hdf5_silence_end(before);
    return status;
}
