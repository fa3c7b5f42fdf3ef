/* SPDX-License-Identifier: Apache-2.0
 *
 * What files of results say of the part of a run that they are, and whether several make a whole.
 */
#include "io/io_hdf5_file.h"
#include "io/io_join.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- attributes -------------------------------------------------------------------------------- */

static bool has(hid_t object, const char *name)
{
    return H5Aexists(object, name) > 0;
}

/* A text, of fixed length as ours are or not; NULL if there is none. */
static char *read_text(hid_t object, const char *name)
{
    const hid_t attribute = has(object, name) ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    char *text = NULL;
    char *own = NULL; /* by HDF5 */
    if (type >= 0 && H5Tis_variable_str(type) > 0) {
        text = H5Aread(attribute, type, &own) >= 0 && own != NULL ? strdup(own) : NULL;
        (void)H5free_memory(own);
    } else if (type >= 0 && H5Tget_class(type) == H5T_STRING) {
        text = calloc(1, H5Tget_size(type) + 1);
        if (text != NULL && H5Aread(attribute, type, text) < 0) {
            free(text);
            text = NULL;
        }
    }
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(attribute);
    return text;
}

/* Texts of any length; none if there is no such attribute. */
static void read_texts(hid_t object, const char *name, slc_io_part_texts *texts)
{
    const hid_t attribute = has(object, name) ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t space = attribute >= 0 ? H5Aget_space(attribute) : H5I_INVALID_HID;
    const hid_t type = attribute >= 0 ? H5Aget_type(attribute) : H5I_INVALID_HID;
    const hssize_t n = space >= 0 ? H5Sget_simple_extent_npoints(space) : 0;
    *texts = (slc_io_part_texts){.n = 0};
    if (n > 0 && type >= 0 && H5Tis_variable_str(type) > 0) {
        texts->text = calloc((size_t)n, sizeof *texts->text);
        if (texts->text != NULL && H5Aread(attribute, type, texts->text) >= 0) {
            texts->n = (size_t)n;
        }
    }
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(attribute);
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
        same = a->text[i] != NULL && b->text[i] != NULL && strcmp(a->text[i], b->text[i]) == 0;
    }
    return same;
}

static bool read_count(hid_t object, const char *name, uint32_t *count)
{
    double value = -1;
    const hid_t attribute = has(object, name) ? H5Aopen(object, name, H5P_DEFAULT) : H5I_INVALID_HID;
    const bool read = attribute >= 0 && H5Aread(attribute, H5T_NATIVE_DOUBLE, &value) >= 0 && value >= 0 &&
                      value <= UINT32_MAX;
    *count = read ? (uint32_t)value : 0;
    (void)slc_io_hdf5_close(attribute);
    return read;
}

bool slc_io_copy_attribute(hid_t from, hid_t to, const char *name)
{
    const hid_t attribute = H5Aopen(from, name, H5P_DEFAULT);
    const hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    const hssize_t n = H5Sget_simple_extent_npoints(space);
    void *value = n > 0 ? calloc((size_t)n, H5Tget_size(type)) : NULL;
    const hid_t copy = value != NULL ? H5Acreate2(to, name, type, space, H5P_DEFAULT, H5P_DEFAULT)
                                     : H5I_INVALID_HID;
    bool good = copy >= 0 && H5Aread(attribute, type, value) >= 0;
    if (good) {
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
    const hid_t file = p->file;
    if (!read_count(file, "part", &p->part) || !read_count(file, "parts", &p->parts) || p->parts == 0 ||
        p->part >= p->parts) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: is no part of a run: --part of velo, cms, cluster and label makes parts",
                        p->path);
    }
    if (has(file, "partial")) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: part %" PRIu32 " of %" PRIu32 " was interrupted: run it again", p->path, p->part,
                        p->parts);
    }
    p->version = read_text(file, "sluice_version");
    p->options = read_text(file, "part_options");
    p->command = read_text(file, "command");
    read_texts(file, "part_inputs", &p->inputs);
    read_texts(file, "part_sizes", &p->sizes);
    read_texts(file, "part_whole", &p->whole);
    char *checksum = read_text(file, "checksum");
    if (checksum != NULL) {
        char *end = NULL;
        p->checksum = strtoull(checksum, &end, 16);
        p->has_checksum = end == checksum + 16 && *end == '\0';
    }
    free(checksum);
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
        return slc_fail(error, SLC_ERR_USAGE, "%s and %s are of different runs: \"%.150s\" and \"%.150s\"",
                        p->path, first->path, p->options, first->options);
    }
    return slc_fail(error, SLC_ERR_USAGE, "%s and %s are of different runs: not the same %s", p->path,
                    first->path, what);
}

static slc_status tell_missing(const slc_io_part_file *parts, size_t n, slc_error *error)
{
    char list[200] = "";
    size_t used = 0, i = 0, missing = 0;
    for (uint32_t k = 0; k < parts[0].parts; k++) {
        if (i < n && parts[i].part == k) {
            i++;
        } else if (missing++ < 16 && used < sizeof list) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%" PRIu32, used > 0 ? ", " : "", k);
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
