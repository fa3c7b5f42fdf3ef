/* SPDX-License-Identifier: Apache-2.0
 *
 * Pixels to be left out, as text (a line each: sensor, column, row) or as JSON: a list, or what `sluice velo
 * --monitor` writes, of which the hot ones count. docs/formats/velo-mask.md.
 */
#include "io/lhcb/io_velo_mask.h"
#include "io/io_stream.h"
#include "io/lhcb/io_json.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_BYTES = 64 << 20 }; /* of a file: half a million hot pixels and more */

static const struct {
    const char *name;
    uint32_t end;
} parts[3] = {{"sensor", SLC_VELO_SENSORS}, {"column", SLC_VELO_COLUMNS}, {"row", SLC_VELO_ROWS}};

static void add(slc_velo_mask *mask, const uint32_t *at)
{
    uint8_t *keep = &mask->keep[at[0]][(at[1] / 2) * SLC_VELO_SUPERPIXEL_ROWS + at[2] / 4];
    const uint8_t bit = (uint8_t)(1U << ((at[1] % 2) * 4 + at[2] % 4));
    mask->n_pixels += (*keep & bit) != 0;
    mask->masked[at[0]] = 1;
    *keep = (uint8_t)(*keep & ~bit);
}

/* ---- text -------------------------------------------------------------------------------------- */

typedef struct line {
    const char *at, *end;
    size_t number;
} line;

static void skip_blanks(line *l)
{
    while (l->at < l->end && (*l->at == ' ' || *l->at == '\t' || *l->at == ',' || *l->at == '\r')) {
        l->at++;
    }
}

static slc_status read_part(line *l, const char *name, uint32_t part, uint32_t *value, slc_error *error)
{
    uint64_t number = 0;
    skip_blanks(l);
    const char *begin = l->at;
    while (l->at < l->end && *l->at >= '0' && *l->at <= '9' && l->at - begin < 10) {
        number = 10 * number + (uint64_t)(*l->at++ - '0');
    }
    if (l->at == begin || (l->at < l->end && strchr(" \t,\r#", *l->at) == NULL)) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: %s must be a whole number", name, l->number,
                        l->at == begin && l->at == l->end ? "sensor, column and row are needed, each"
                                                          : parts[part].name);
    }
    if (number >= parts[part].end) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: %s must be from 0 to %" PRIu32 ", not %" PRIu64,
                        name, l->number, parts[part].name, parts[part].end - 1, number);
    }
    *value = (uint32_t)number;
    return SLC_OK;
}

static slc_status read_line(line *l, const char *name, slc_velo_mask *mask, slc_error *error)
{
    uint32_t at[3];
    skip_blanks(l);
    if (l->at == l->end || *l->at == '#') {
        return SLC_OK;
    }
    for (uint32_t part = 0; part < 3; part++) {
        if (read_part(l, name, part, &at[part], error) != SLC_OK) {
            return SLC_ERR_FORMAT;
        }
    }
    skip_blanks(l);
    if (l->at < l->end && *l->at != '#') {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: more than sensor, column and row", name,
                        l->number);
    }
    add(mask, at);
    return SLC_OK;
}

static slc_status read_text(const char *text, size_t size, const char *name, slc_velo_mask *mask,
                            slc_error *error)
{
    const char *at = text, *end = text + size;
    slc_status status = SLC_OK;
    for (size_t number = 1; at < end && status == SLC_OK; number++) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        if (stop == NULL) { /* "12 34 56" may have been "12 34 567" */
            return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: the last line has no end: the file is cut",
                            name, number);
        }
        line l = {.at = at, .end = stop, .number = number};
        status = read_line(&l, name, mask, error);
        at = stop + 1;
    }
    return status;
}

/* ---- JSON -------------------------------------------------------------------------------------- */

static slc_status read_pixel(const slc_json_text *in, const json_t *pixel, const slc_select_step *at,
                             slc_velo_mask *mask)
{
    uint32_t values[3];
    if (!json_is_object(pixel) && !(json_is_array(pixel) && json_array_size(pixel) == 3)) {
        return slc_json_wrong(in, at, false,
                              "a pixel must be {\"sensor\", \"column\", \"row\"} or three numbers");
    }
    for (uint32_t part = 0; part < 3; part++) {
        const char *key = json_is_object(pixel) ? parts[part].name : NULL;
        const slc_select_step below = {at, key, part};
        const json_t *value = key != NULL ? json_object_get(pixel, key) : json_array_get(pixel, part);
        if (value == NULL) {
            return slc_json_wrong(in, at, false, "this pixel has no %s", parts[part].name);
        }
        if (!json_is_integer(value)) {
            return slc_json_wrong(in, &below, false, "%s must be a whole number, not %s", parts[part].name,
                                  slc_json_type_word(value));
        }
        const json_int_t number = json_integer_value(value);
        if (number < 0 || number >= (json_int_t)parts[part].end) {
            return slc_json_wrong(in, &below, false, "%s must be from 0 to %" PRIu32 ", not %" PRId64,
                                  parts[part].name, parts[part].end - 1, (int64_t)number);
        }
        values[part] = (uint32_t)number;
    }
    add(mask, values);
    return SLC_OK;
}

static slc_status read_json(const char *text, size_t size, const char *name, slc_velo_mask *mask,
                            slc_error *error)
{
    const slc_json_text in = {.text = text, .name = name, .size = size, .error = error};
    slc_status status;
    json_t *root = slc_json_load(&in, &status);
    if (root == NULL) {
        return status;
    }
    const slc_select_step top = {NULL, NULL, 0}, hot = {&top, "hot", 0};
    const slc_select_step *at = json_is_object(root) ? &hot : &top;
    const json_t *list = json_is_object(root) ? json_object_get(root, "hot") : root;
    if (list == NULL) {
        status = slc_json_wrong(&in, &top, false,
                                "there is no list of pixels: \"hot\", as --monitor-pixels writes it");
    } else if (!json_is_array(list)) {
        status = slc_json_wrong(&in, at, false, "the list of pixels must be an array, not %s",
                                slc_json_type_word(list));
    }
    for (size_t i = 0; status == SLC_OK && i < json_array_size(list); i++) {
        const slc_select_step below = {at, NULL, i};
        status = read_pixel(&in, json_array_get(list, i), &below, mask);
    }
    json_decref(root);
    return status;
}

slc_status slc_io_velo_mask_read_memory(const char *text, size_t size, const char *name, slc_velo_mask *mask,
                                        slc_error *error)
{
    size_t begin = 0;
    memset(mask, 0, sizeof *mask);
    memset(mask->keep, 0xff, sizeof mask->keep);
    while (begin < size && strchr(" \t\r\n", text[begin]) != NULL && text[begin] != '\0') {
        begin++;
    }
    if (begin == size) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: line 1: the file is empty: a mask has a line for each pixel", name);
    }
    return text[begin] == '{' || text[begin] == '[' ? read_json(text, size, name, mask, error)
                                                    : read_text(text, size, name, mask, error);
}

slc_status slc_io_velo_mask_read(const char *path, slc_velo_mask *mask, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_velo_mask_read_memory(bytes, size, path, mask, error);
    }
    free(bytes);
    return status;
}
