/* SPDX-License-Identifier: Apache-2.0
 *
 * Geometries from files: LHCb's binary one, and JSON that says how modules and sensors are shifted and turned
 * in one of these or in the ideal geometry. docs/formats/velo-alignment.md.
 */
#include "io/lhcb/io_velo_alignment.h"
#include "io/io_stream.h"
#include "io/lhcb/io_json.h"
#include "velo/velo_geometry.h"
#include <sluice/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef slc_select_step step;

enum { MAX_BYTES = 1 << 20 }; /* of a JSON file */
/* Beyond these it is no alignment but another detector: the halves are retracted by 30 mm, and a right angle
 * is 1571 mrad. */
static const double most_mm = 100, most_mrad = 500;

/* ---- JSON ------------------------------------------------------------------------------------- */

static slc_status read_three(const slc_json_text *in, const json_t *value, const step *at, double most,
                             double to[3])
{
    if (!json_is_array(value) || json_array_size(value) != 3) {
        return slc_json_wrong(in, at, false, "%s must be an array of 3 numbers, of x, y and z", at->key);
    }
    for (size_t i = 0; i < 3; i++) {
        const step below = {at, NULL, i};
        const json_t *number = json_array_get(value, i);
        if (!json_is_number(number)) {
            return slc_json_wrong(in, &below, false, "must be a number, not %s", slc_json_type_word(number));
        }
        to[i] = json_number_value(number);
        if (!(fabs(to[i]) <= most)) {
            return slc_json_wrong(in, &below, false, "must be from -%g to %g, not %g", most, most, to[i]);
        }
    }
    return SLC_OK;
}

static slc_status read_move(const slc_json_text *in, json_t *object, const step *at, slc_velo_move *move)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return slc_json_wrong(in, at, false, "must be an object of shift_mm and rotation_mrad, not %s",
                              slc_json_type_word(object));
    }
    json_object_foreach(object, key, value)
    {
        const step below = {at, key, 0};
        slc_status status = SLC_OK;
        if (strcmp(key, "shift_mm") == 0) {
            status = read_three(in, value, &below, most_mm, move->shift_mm);
        } else if (strcmp(key, "rotation_mrad") == 0) {
            status = read_three(in, value, &below, most_mrad, move->rotation_mrad);
        } else if (strcmp(key, "comment") != 0) {
            status = slc_json_wrong(in, &below, true,
                                    "unknown word '%.48s'; there are: shift_mm, rotation_mrad, comment", key);
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

/* {"12": {…}, …}: by number, as it is printed. */
static slc_status read_moves(const slc_json_text *in, json_t *object, const step *at, uint32_t n,
                             slc_velo_move *moves)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return slc_json_wrong(in, at, false, "%s must be an object, not %s", at->key,
                              slc_json_type_word(object));
    }
    json_object_foreach(object, key, value)
    {
        const step below = {at, key, 0};
        char again[16];
        const unsigned long number = strtoul(key, NULL, 10);
        (void)snprintf(again, sizeof again, "%lu", number < n ? number : 0);
        if (number >= n || strcmp(again, key) != 0) {
            return slc_json_wrong(in, &below, true, "'%.48s' is none of the %s, \"0\" to \"%u\"", key,
                                  at->key, n - 1);
        }
        const slc_status status = read_move(in, value, &below, &moves[number]);
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

static slc_status read_root(const slc_json_text *in, json_t *root, slc_velo_alignment *alignment,
                            const char **geometry)
{
    const step top = {0};
    const char *key;
    json_t *value;
    if (!json_is_object(root)) {
        return slc_json_wrong(in, &top, false, "an alignment must be an object, not %s",
                              slc_json_type_word(root));
    }
    json_object_foreach(root, key, value)
    {
        const step at = {&top, key, 0};
        slc_status status = SLC_OK;
        if (strcmp(key, "modules") == 0) {
            status = read_moves(in, value, &at, SLC_VELO_MODULES, alignment->modules);
        } else if (strcmp(key, "sensors") == 0) {
            status = read_moves(in, value, &at, SLC_VELO_SENSORS, alignment->sensors);
        } else if (strcmp(key, "geometry") == 0) {
            *geometry = json_string_value(value);
            status = *geometry != NULL && (*geometry)[0] != '\0'
                         ? SLC_OK
                         : slc_json_wrong(in, &at, false, "geometry must be the name of a file");
        } else if (strcmp(key, "comment") != 0) {
            status = slc_json_wrong(
                in, &at, true, "unknown word '%.48s'; there are: geometry, modules, sensors, comment", key);
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

/* A name in a file is from the file's own folder on. */
static char *beside(const char *file, const char *name)
{
    const char *slash = name[0] == '/' ? NULL : strrchr(file, '/');
    const size_t folder = slash != NULL ? (size_t)(slash - file) + 1 : 0, size = strlen(name) + 1;
    char *path = malloc(folder + size);
    if (path != NULL) {
        memcpy(path, file, folder);
        memcpy(path + folder, name, size);
    }
    return path;
}

slc_status slc_io_velo_alignment_read_memory(const char *text, size_t size, const char *name,
                                             slc_velo_alignment *alignment, char **geometry, slc_error *error)
{
    const slc_json_text in = {.text = text, .name = name, .size = size, .error = error};
    const char *base = NULL;
    slc_status status;
    memset(alignment, 0, sizeof *alignment);
    *geometry = NULL;
    json_t *root = slc_json_load(&in, &status);
    if (root == NULL) {
        return status;
    }
    status = read_root(&in, root, alignment, &base);
    if (status == SLC_OK && base != NULL && (*geometry = beside(name, base)) == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", name);
    }
    json_decref(root);
    return status;
}

bool slc_io_velo_alignment_is(const void *bytes, size_t size)
{
    const char *text = bytes;
    size_t i = 0;
    while (i < size && strchr(" \t\r\n", text[i]) != NULL && text[i] != '\0') {
        i++;
    }
    return i < size && text[i] == '{';
}

/* ---- files ------------------------------------------------------------------------------------ */

static slc_status parse(const char *path, const void *bytes, size_t size, slc_velo_geometry *geometry,
                        slc_error *error)
{
    slc_error reason = {0};
    const slc_status status = slc_velo_geometry_parse(bytes, size, geometry, &reason);
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "%s: %.400s", path, reason.text);
}

static slc_status read_base(const char *path, slc_velo_geometry *geometry, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_velo_geometry_ideal(geometry);
    if (path == NULL) {
        return SLC_OK;
    }
    slc_status status = slc_io_read_file(path, SLC_VELO_GEOMETRY_BYTES, &bytes, &size, error);
    status = status == SLC_OK ? parse(path, bytes, size, geometry, error) : status;
    free(bytes);
    return status;
}

static slc_status read_aligned(const char *path, const void *bytes, size_t size, slc_velo_geometry *geometry,
                               slc_error *error)
{
    slc_velo_alignment alignment;
    slc_velo_geometry aligned;
    slc_error reason = {0};
    char *base = NULL;
    slc_status status = slc_io_velo_alignment_read_memory(bytes, size, path, &alignment, &base, error);
    status = status == SLC_OK ? read_base(base, &aligned, error) : status;
    free(base);
    if (status != SLC_OK) {
        return status;
    }
    slc_velo_geometry_align(&aligned, &alignment);
    status = slc_velo_geometry_check(&aligned, &reason);
    if (status != SLC_OK) {
        return slc_fail(error, status, "%s: %.400s", path, reason.text);
    }
    *geometry = aligned;
    return SLC_OK;
}

slc_status slc_io_read_velo_geometry(const char *path, slc_velo_geometry *geometry, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_velo_alignment_is(bytes, size) ? read_aligned(path, bytes, size, geometry, error)
                                                       : parse(path, bytes, size, geometry, error);
    }
    free(bytes);
    return status;
}
