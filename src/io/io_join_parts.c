/* SPDX-License-Identifier: Apache-2.0
 *
 * What files of results say of the part of a run that they are, and whether several make a whole.
 */
#include "io/io_hdf5_file.h"
#include "io/io_join.h"
#include "io/io_stream.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes -------------------------------------------------------------------------------- */

static bool has(hid_t object, const char *name)
{
    return H5Aexists(object, name) > 0;
}

/* Reads what a file says of itself, which another program may have written; the first thing that is not of
 * the kind that it must be is remembered. */
typedef struct reader {
    hid_t file;
    const char *wrong, *kind;
} reader;

static void find_wrong(reader *r, const char *name, const char *kind)
{
    r->kind = r->wrong == NULL ? kind : r->kind;
    r->wrong = r->wrong == NULL ? name : r->wrong;
}

/* An attribute, its type and how many values it has, or *attribute < 0. */
static hssize_t open_attribute(hid_t object, const char *name, hid_t *attribute, hid_t *type)
{
    *attribute = has(object, name) ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    *type = *attribute >= 0 ? H5Aget_type(*attribute) : H5I_INVALID_HID;
    const hid_t space = *attribute >= 0 ? H5Aget_space(*attribute) : H5I_INVALID_HID;
    const hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    (void)slc_io_hdf5_close(space);
    return n;
}

static void close_attribute(hid_t attribute, hid_t type)
{
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(attribute);
}

/* A text, of fixed length as ours are or not; NULL if there is none. */
static char *read_text(reader *r, const char *name)
{
    hid_t attribute, type;
    char *text = NULL, *own = NULL; /* the latter by HDF5 */
    const hssize_t n = open_attribute(r->file, name, &attribute, &type);
    if (n == 1 && type >= 0 && H5Tis_variable_str(type) > 0) {
        text = H5Aread(attribute, type, &own) >= 0 && own != NULL ? strdup(own) : NULL;
        (void)H5free_memory(own);
    } else if (n == 1 && type >= 0 && H5Tget_class(type) == H5T_STRING) {
        text = calloc(1, H5Tget_size(type) + 1);
        if (text != NULL && H5Aread(attribute, type, text) < 0) {
            free(text);
            text = NULL;
        }
    }
    if (text == NULL && has(r->file, name)) {
        find_wrong(r, name, "no text");
    }
    close_attribute(attribute, type);
    return text;
}

/* Texts of any length; none if there is no such attribute. */
static void read_texts(reader *r, const char *name, slc_io_part_texts *texts)
{
    hid_t attribute, type;
    const hssize_t n = open_attribute(r->file, name, &attribute, &type);
    bool good = n > 0 && type >= 0 && H5Tis_variable_str(type) > 0;
    *texts = (slc_io_part_texts){.n = 0};
    texts->text = good ? calloc((size_t)n, sizeof *texts->text) : NULL;
    if (texts->text != NULL && H5Aread(attribute, type, texts->text) >= 0) {
        texts->n = (size_t)n;
    }
    good = texts->n > 0;
    for (size_t i = 0; i < texts->n; i++) {
        good = good && texts->text[i] != NULL;
    }
    if (!good && has(r->file, name)) {
        find_wrong(r, name, "no list of texts");
    }
    close_attribute(attribute, type);
}

static void clear_texts(slc_io_part_texts *texts)
{
    for (size_t i = 0; i < texts->n; i++) {
        (void)H5free_memory(texts->text[i]);
    }
    free(texts->text);
    *texts = (slc_io_part_texts){.n = 0};
}

static bool same_texts(const slc_io_part_texts *a, const slc_io_part_texts *b)
{
    bool same = a->n == b->n;
    for (size_t i = 0; same && i < a->n; i++) {
        same = strcmp(a->text[i], b->text[i]) == 0;
    }
    return same;
}

/* A whole number that is not negative; false if there is none, too. */
static bool read_number(reader *r, const char *name, double *value)
{
    *value = -1;
    hid_t attribute, type;
    const hssize_t n = open_attribute(r->file, name, &attribute, &type);
    const H5T_class_t kind = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    const bool read = n == 1 && (kind == H5T_INTEGER || kind == H5T_FLOAT) &&
                      H5Aread(attribute, H5T_NATIVE_DOUBLE, value) >= 0 && *value >= 0 && *value <= 0x1p53 &&
                      *value == (double)(uint64_t)*value;
    close_attribute(attribute, type);
    return read;
}

/* False if there is none, too. */
static bool read_count(reader *r, const char *name, uint32_t *count)
{
    double value;
    const bool read = read_number(r, name, &value) && value <= UINT32_MAX;
    *count = read ? (uint32_t)value : 0;
    if (!read && has(r->file, name)) {
        find_wrong(r, name, "no number of a part");
    }
    return read;
}

/* 16 hexadecimal digits. */
static void read_checksum(reader *r, slc_io_part_file *p)
{
    char *text = read_text(r, "checksum");
    p->has_checksum = text != NULL;
    if (text != NULL && (strlen(text) != 16 || strspn(text, "0123456789abcdef") != 16)) {
        find_wrong(r, "checksum", "no checksum");
    } else if (text != NULL) {
        p->checksum = strtoull(text, NULL, 16);
    }
    free(text);
}

bool slc_io_copy_attribute(hid_t from, hid_t to, const char *name)
{
    const hid_t attribute = H5Aopen(from, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    void *value = n > 0 ? calloc((size_t)n, H5Tget_size(type)) : NULL;
    const hid_t copy = value != NULL || n == 0 ? H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT)
                                               : H5I_INVALID_HID;
    bool good = copy >= 0 && (n == 0 || H5Aread(attribute, type, value) >= 0);
    if (good && n > 0) {
        good = H5Awrite(copy, type, value) >= 0;
        (void)H5Dvlen_reclaim(type, space, H5P_DEFAULT, value); /* of texts; nothing of numbers */
    }
    free(value);
    good = slc_io_hdf5_close(copy) && good;
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(attribute);
    return good;
}

bool slc_io_copy_attributes(hid_t from, hid_t to, const char *const *but)
{
    const int n = H5Aget_num_attrs(from);
    bool good = n >= 0;
    for (int i = 0; good && i < n; i++) {
        char name[256] = "";
        bool wanted = H5Aget_name_by_idx(from, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t)i, name, sizeof name,
                                         H5P_DEFAULT) > 0;
        good = wanted;
        for (const char *const *other = but; wanted && *other != NULL; other++) {
            wanted = strcmp(name, *other) != 0;
        }
        good = good && (!wanted || slc_io_copy_attribute(from, to, name));
    }
    return good;
}

/* ---- one part ---------------------------------------------------------------------------------- */

static slc_status read_part(slc_io_part_file *p, slc_error *error)
{
    reader r = {.file = p->file};
    const bool counted = read_count(&r, "part", &p->part) && read_count(&r, "parts", &p->parts);
    if (!counted && r.wrong == NULL) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: is no part of a run: --part of velo, cms, cluster and label makes parts",
                        p->path);
    }
    if (counted && p->part >= p->parts) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: says that it is part %" PRIu32 " of %" PRIu32, p->path,
                        p->part, p->parts);
    }
    if (has(p->file, "partial")) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: part %" PRIu32 " of %" PRIu32 " was interrupted: run it again", p->path, p->part,
                        p->parts);
    }
    p->version = read_text(&r, "sluice_version");
    p->options = read_text(&r, "part_options");
    p->command = read_text(&r, "command");
    read_texts(&r, "part_inputs", &p->inputs);
    read_texts(&r, "part_sizes", &p->sizes);
    read_texts(&r, "part_whole", &p->whole);
    read_checksum(&r, p);
    p->has_left_out = read_number(&r, "mask_left_out", &p->left_out);
    if (!p->has_left_out && has(p->file, "mask_left_out")) {
        find_wrong(&r, "mask_left_out", "no number of pixels");
    }
    if (r.wrong != NULL) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: its attribute %s is %s", p->path, r.wrong, r.kind);
    }
    return p->version != NULL && p->options != NULL && p->inputs.n == p->sizes.n && p->inputs.n > 0
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT,
                          "%s: does not tell of which run it is a part (part_inputs, part_sizes, "
                          "part_options, sluice_version)",
                          p->path);
}

slc_status slc_io_part_open(const char *path, slc_io_part_file *part, slc_error *error)
{
    *part = (slc_io_part_file){.path = path, .file = H5I_INVALID_HID};
    const slc_status status = slc_io_hdf5_open(path, &part->file, error);
    return status == SLC_OK ? read_part(part, error) : status;
}

void slc_io_part_close(slc_io_part_file *part)
{
    if (part->file >= 0) {
        (void)H5Fclose(part->file);
    }
    free(part->version);
    free(part->options);
    free(part->command);
    free(part->source);
    clear_texts(&part->inputs);
    clear_texts(&part->sizes);
    clear_texts(&part->whole);
    *part = (slc_io_part_file){.file = H5I_INVALID_HID};
}

/* ---- all --------------------------------------------------------------------------------------- */

static int by_number(const void *a, const void *b)
{
    const slc_io_part_file *x = a, *y = b;
    return x->part < y->part ? -1 : x->part > y->part;
}

/* What makes `p` a part of another run than `first`, or NULL. */
static const char *foreign(const slc_io_part_file *first, const slc_io_part_file *p)
{
    return p->parts != first->parts                  ? "number of parts"
           : strcmp(p->version, first->version) != 0 ? "version of Sluice"
           : strcmp(p->options, first->options) != 0 ? "options"
           : !same_texts(&p->inputs, &first->inputs) ? "inputs"
           : !same_texts(&p->sizes, &first->sizes)   ? "sizes of the inputs"
           : !same_texts(&p->whole, &first->whole)   ? "groups"
           : p->has_checksum != first->has_checksum  ? "attributes (checksum)"
           : p->has_left_out != first->has_left_out  ? "attributes (mask_left_out)"
                                                     : NULL;
}

static slc_status tell_foreign(const slc_io_part_file *first, const slc_io_part_file *p, const char *what,
                               slc_error *error)
{
    if (p->parts != first->parts) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s is part %" PRIu32 " of %" PRIu32 ", but %s is of %" PRIu32 " parts", p->path,
                        p->part, p->parts, first->path, first->parts);
    }
    if (strcmp(p->options, first->options) != 0) {
        slc_io_printable(p->options); /* both come from files, and are not needed after this */
        slc_io_printable(first->options);
        return slc_fail(error, SLC_ERR_USAGE, "%s and %s are of different runs: \"%.150s\" and \"%.150s\"",
                        p->path, first->path, p->options, first->options);
    }
    return slc_fail(error, SLC_ERR_USAGE, "%s and %s are of different runs: not the same %s", p->path,
                    first->path, what);
}

static slc_status tell_missing(const slc_io_part_file *parts, size_t n, slc_error *error)
{
    char list[200] = "";
    size_t used = 0, i = 0, listed = 0;
    const size_t missing = parts[0].parts - n; /* each of these is there once */
    for (uint32_t k = 0; k < parts[0].parts && listed < missing && listed < 16; k++) {
        if (i < n && parts[i].part == k) {
            i++;
        } else {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRIu32, used > 0 ? ", " : "", k);
            listed++;
        }
    }
    return slc_fail(error, SLC_ERR_USAGE, "of %" PRIu32 " parts %zu %s missing: %s%s", parts[0].parts,
                    missing, missing == 1 ? "is" : "are", list, missing > 16 ? ", …" : "");
}

slc_status slc_io_parts_sort(slc_io_part_file *parts, size_t n, slc_error *error)
{
    for (size_t i = 1; i < n; i++) {
        const char *what = foreign(&parts[0], &parts[i]);
        if (what != NULL) {
            return tell_foreign(&parts[0], &parts[i], what, error);
        }
    }
    qsort(parts, n, sizeof *parts, by_number);
    for (size_t i = 1; i < n; i++) {
        if (parts[i].part == parts[i - 1].part) {
            return slc_fail(error, SLC_ERR_USAGE, "%s and %s are both part %" PRIu32 " of %" PRIu32,
                            parts[i - 1].path, parts[i].path, parts[i].part, parts[i].parts);
        }
    }
    return n < parts[0].parts ? tell_missing(parts, n, error) : SLC_OK;
}

/* ---- names of the parts ------------------------------------------------------------------------ */

/* The folder of a file that may not be there yet. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash == NULL ? strdup(".") : strndup(path, slash > path ? (size_t)(slash - path) : 1);
    char *real = folder != NULL ? realpath(folder, NULL) : NULL;
    free(folder);
    return real;
}

/* HDF5 takes a '%' for a number to come. */
static char *escaped(const char *up, size_t times, const char *rest)
{
    char *name = malloc(strlen(up) * times + 2 * strlen(rest) + 1), *to = name;
    for (size_t i = 0; name != NULL && i < times; i++) {
        to = stpcpy(to, up);
    }
    for (; name != NULL && *rest != '\0'; rest++) {
        *to++ = *rest;
        if (*rest == '%') {
            *to++ = '%';
        }
    }
    if (name != NULL) {
        *to = '\0';
    }
    return name;
}

/* From the folder to the file, which both are real names that begin with a slash. */
static char *relative(const char *folder, const char *file)
{
    size_t same = 0, up = 0;
    for (size_t i = 0; folder[i] != '\0' && folder[i] == file[i]; i++) {
        if (folder[i + 1] == '\0' && file[i + 1] == '/') {
            same = i + 1;
        } else if (folder[i] == '/') {
            same = i;
        }
    }
    for (const char *rest = folder + same; *rest != '\0'; rest++) {
        up += *rest == '/' && rest[1] != '\0';
    }
    return escaped("../", up, file + same + 1);
}

bool slc_io_parts_name(slc_io_part_file *parts, size_t n, const char *out)
{
    char *folder = folder_of(out);
    bool good = folder != NULL;
    for (size_t i = 0; i < n && good; i++) {
        char *file = realpath(parts[i].path, NULL);
        parts[i].source = file != NULL ? relative(folder, file) : NULL;
        good = parts[i].source != NULL;
        free(file);
    }
    free(folder);
    return good;
}
