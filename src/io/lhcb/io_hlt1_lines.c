/* SPDX-License-Identifier: Apache-2.0
 * HLT1's lines from JSON, and the network of TwoTrackMVA. Everything in the text is checked, and what is
 * wrong is told with its line and column. docs/formats/hlt1-lines.md. */
#include "io/lhcb/io_hlt1_lines.h"
#include "io/io_stream.h"
#include "io/lhcb/io_json.h"
#include <sluice/io_hlt1.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef slc_select_step step;
enum { MAX_BYTES = 4 << 20 };

#define wrong(in, at, at_key, ...) slc_json_wrong(in, at, at_key, __VA_ARGS__)

/* ---- numbers -------------------------------------------------------------------------------------- */

static slc_status read_number(const slc_json_text *in, const json_t *value, const step *at, float *number)
{
    if (!json_is_number(value)) {
        return wrong(in, at, false, "must be a number, not %s", slc_json_type_word(value));
    }
    const double wide = json_number_value(value);
    if (!(fabs(wide) <= (double)FLT_MAX)) {
        return wrong(in, at, false, "%g is too large", wide);
    }
    *number = (float)wide;
    return SLC_OK;
}

/* [low, high], {"min": low, "max": high} or one of them. */
static slc_status read_range(const slc_json_text *in, json_t *value, const step *at, slc_hlt1_cut *cut)
{
    slc_status status = SLC_OK;
    cut->low = -INFINITY;
    cut->high = INFINITY;
    if (json_is_array(value) && json_array_size(value) == 2) {
        for (size_t i = 0; i < 2 && status == SLC_OK; i++) {
            const step below = {at, NULL, i};
            status = read_number(in, json_array_get(value, i), &below, i == 0 ? &cut->low : &cut->high);
        }
    } else if (json_is_object(value) && json_object_size(value) > 0) {
        const char *key;
        json_t *end;
        json_object_foreach(value, key, end)
        {
            const step below = {at, key, 0};
            const bool low = strcmp(key, "min") == 0;
            status = low || strcmp(key, "max") == 0
                         ? read_number(in, end, &below, low ? &cut->low : &cut->high)
                         : wrong(in, &below, true, "unknown word '%.48s' in a range; there are: min, max",
                                 key);
            if (status != SLC_OK) {
                break;
            }
        }
    } else {
        status = wrong(in, at, false, "must be a range, [low, high] or {\"min\": low, \"max\": high}");
    }
    if (status == SLC_OK && cut->low > cut->high) {
        status = wrong(in, at, false, "nothing is in the range from %g to %g", (double)cut->low,
                       (double)cut->high);
    }
    return status;
}

/* ---- lines ----------------------------------------------------------------------------------------- */

static slc_status find_quantity(const slc_json_text *in, const step *at, slc_hlt1_cut *cut)
{
    char names[400] = "";
    const char *name;
    for (uint32_t q = 0; (name = slc_hlt1_quantity_name(cut->of, q)) != NULL; q++) {
        if (strcmp(name, at->key) == 0) {
            cut->quantity = q;
            return SLC_OK;
        }
        slc_json_append(names, sizeof names, ", ", name);
    }
    return wrong(in, at, true, "unknown quantity '%.48s'; there are: %s", at->key, names);
}

static slc_status read_cuts(const slc_json_text *in, json_t *value, const step *at, slc_hlt1_object of,
                            slc_hlt1_select_line *line)
{
    const char *key;
    json_t *range;
    if (!json_is_object(value) || json_object_size(value) == 0) {
        return wrong(in, at, false, "%s must be an object of quantities with their ranges", at->key);
    }
    if (of != SLC_HLT1_OF_EVENT) {
        if (line->of != SLC_HLT1_OF_EVENT) {
            return wrong(in, at, true, "a line has cuts on tracks or on pairs, not on both");
        }
        line->of = of;
    }
    json_object_foreach(value, key, range)
    {
        const step below = {at, key, 0};
        slc_hlt1_cut cut = {.of = of};
        slc_status status = find_quantity(in, &below, &cut);
        status = status == SLC_OK ? read_range(in, range, &below, &cut) : status;
        if (status == SLC_OK && line->n_cuts == SLC_VELO_MAX_CUTS) {
            status = wrong(in, &below, true, "more than %d cuts in a line", SLC_VELO_MAX_CUTS);
        }
        if (status != SLC_OK) {
            return status;
        }
        line->cuts[line->n_cuts++] = cut;
    }
    return SLC_OK;
}

static slc_status read_name(const slc_json_text *in, const json_t *value, const step *at,
                            const slc_hlt1_lines *lines, slc_hlt1_select_line *line)
{
    const char *name = json_string_value(value);
    const size_t n = name != NULL ? strlen(name) : 0;
    if (n == 0 || n >= SLC_VELO_LINE_NAME ||
        strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") != n) {
        return wrong(in, at, false, "the name of a line has 1 to %d letters, digits, '_', '-' and '.'",
                     SLC_VELO_LINE_NAME - 1);
    }
    for (uint32_t k = 0; k < lines->n_lines; k++) {
        if (strcmp(lines->lines[k].name, name) == 0) {
            return wrong(in, at, false, "line %u is already called '%s'", k + 1, name);
        }
    }
    memcpy(line->name, name, n + 1);
    return SLC_OK;
}

static slc_status read_member(const slc_json_text *in, json_t *value, const step *at,
                              const slc_hlt1_lines *lines, slc_hlt1_select_line *line)
{
    static const char *const conditions[] = {"event", "tracks", "pairs"};
    for (int of = 0; of < 3; of++) {
        if (strcmp(at->key, conditions[of]) == 0) {
            return read_cuts(in, value, at, (slc_hlt1_object)of, line);
        }
    }
    if (strcmp(at->key, "name") == 0) {
        return read_name(in, value, at, lines, line);
    }
    if (strcmp(at->key, "min_count") == 0) {
        const json_int_t n = json_is_integer(value) ? json_integer_value(value) : 0;
        if (n < 1 || n > 1000000) {
            return wrong(in, at, false, "must be an integer from 1 to 1000000");
        }
        line->min_count = (uint32_t)n;
        return SLC_OK;
    }
    if (strcmp(at->key, "prescale") == 0) {
        line->prescale = json_is_number(value) ? json_number_value(value) : -1;
        return line->prescale >= 0 && line->prescale <= 1
                   ? SLC_OK
                   : wrong(in, at, false, "must be the fraction that is accepted, from 0 to 1");
    }
    return strcmp(at->key, "comment") == 0
               ? SLC_OK
               : wrong(in, at, true,
                       "unknown word '%.48s' in a line; there are: name, tracks, pairs, event, min_count, "
                       "prescale, comment",
                       at->key);
}

static slc_status read_line(const slc_json_text *in, json_t *value, const step *at, slc_hlt1_lines *lines)
{
    slc_hlt1_select_line line = {.prescale = 1};
    const char *key;
    json_t *member;
    if (!json_is_object(value)) {
        return wrong(in, at, false, "a line must be an object, not %s", slc_json_type_word(value));
    }
    json_object_foreach(value, key, member)
    {
        const step below = {at, key, 0};
        const slc_status status = read_member(in, member, &below, lines, &line);
        if (status != SLC_OK) {
            return status;
        }
    }
    if (line.name[0] == '\0') {
        return wrong(in, at, false, "this line has no name");
    }
    if (line.of == SLC_HLT1_OF_EVENT && line.min_count > 0) {
        return wrong(in, at, false, "min_count needs cuts on tracks or on pairs");
    }
    line.min_count = line.of != SLC_HLT1_OF_EVENT && line.min_count == 0 ? 1 : line.min_count;
    lines->lines[lines->n_lines++] = line;
    return SLC_OK;
}

static slc_status read_root(const slc_json_text *in, json_t *root, slc_hlt1_lines *lines)
{
    const step top = {NULL, NULL, 0}, at = {&top, "lines", 0};
    const char *key;
    json_t *member, *array = NULL;
    if (!json_is_object(root)) {
        return wrong(in, &top, false, "must be an object with lines, not %s", slc_json_type_word(root));
    }
    json_object_foreach(root, key, member)
    {
        const step below = {&top, key, 0};
        if (strcmp(key, "lines") == 0) {
            array = member;
        } else if (strcmp(key, "comment") != 0) {
            return wrong(in, &below, true, "unknown word '%.48s'; there are: lines, comment", key);
        }
    }
    if (!json_is_array(array) || json_array_size(array) == 0) {
        return array != NULL ? wrong(in, &at, false, "lines must be an array of one or more lines")
                             : wrong(in, &top, false, "there are no lines");
    }
    slc_status status = SLC_OK;
    for (size_t i = 0; i < json_array_size(array) && status == SLC_OK; i++) {
        const step below = {&at, NULL, i};
        status = i == SLC_VELO_MAX_LINES ? wrong(in, &below, false, "more than %d lines", SLC_VELO_MAX_LINES)
                                         : read_line(in, json_array_get(array, i), &below, lines);
    }
    return status;
}

slc_status slc_io_hlt1_lines_read_memory(const char *text, size_t size, const char *name,
                                         slc_hlt1_lines *lines, slc_error *error)
{
    const slc_json_text in = {.text = text, .name = name, .size = size, .error = error};
    slc_status status = SLC_OK;
    json_t *root = slc_json_load(&in, &status);
    slc_hlt1_lines *own = root != NULL ? calloc(1, sizeof *own) : NULL;
    if (root != NULL) {
        status = own != NULL ? read_root(&in, root, own)
                             : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for lines", name);
    }
    if (status == SLC_OK && own != NULL) {
        *lines = *own;
    }
    free(own);
    json_decref(root);
    return status;
}

/* ---- the network ----------------------------------------------------------------------------------- */

/* rows · columns numbers as an array of arrays, or one of numbers where `columns` is 0. */
static slc_status read_array(const slc_json_text *in, const json_t *value, const step *at, size_t rows,
                             size_t columns, float *to)
{
    slc_status status = SLC_OK;
    if (!json_is_array(value) || json_array_size(value) != rows) {
        return wrong(in, at, false, "must be an array of %zu", rows);
    }
    for (size_t i = 0; i < rows && status == SLC_OK; i++) {
        const step below = {at, NULL, i};
        const json_t *row = json_array_get(value, i);
        status = columns == 0 ? read_number(in, row, &below, to + i)
                              : read_array(in, row, &below, columns, 0, to + i * columns);
    }
    return status;
}

static slc_status read_network(const slc_json_text *in, json_t *root, slc_hlt1_network *n)
{
    const struct {
        const char *key;
        size_t rows, columns;
        float *to;
    } arrays[] = {{"sigmanet.nn.0.weight_orig", 20, 4, n->weight_0[0]},
                  {"sigmanet.nn.0.bias", 20, 0, n->bias_0},
                  {"sigmanet.nn.2.weight_orig", 20, 20, n->weight_1[0]},
                  {"sigmanet.nn.2.bias", 20, 0, n->bias_1},
                  {"sigmanet.nn.4.weight_orig", 1, 20, n->weight_2},
                  {"sigmanet.nn.4.bias", 1, 0, &n->bias_2},
                  {"sigmanet.sigma", 1, 0, &n->slope}};
    const step top = {NULL, NULL, 0};
    if (!json_is_object(root)) {
        return wrong(in, &top, false, "a network must be an object, not %s", slc_json_type_word(root));
    }
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        const step at = {&top, arrays[i].key, 0};
        const json_t *value = json_object_get(root, arrays[i].key);
        const slc_status status = value != NULL
                                      ? read_array(in, value, &at, arrays[i].rows, arrays[i].columns,
                                                   arrays[i].to)
                                      : wrong(in, &top, false, "this network has no %s", arrays[i].key);
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

slc_status slc_io_hlt1_network_read_memory(const char *text, size_t size, const char *name,
                                           slc_hlt1_network *network, slc_error *error)
{
    const slc_json_text in = {.text = text, .name = name, .size = size, .error = error};
    slc_status status = SLC_OK;
    slc_hlt1_network own;
    json_t *root = slc_json_load(&in, &status);
    status = root != NULL ? read_network(&in, root, &own) : status;
    if (status == SLC_OK) {
        *network = own;
    }
    json_decref(root);
    return status;
}

/* ---- files ------------------------------------------------------------------------------------------ */

slc_status slc_io_hlt1_lines_read(const char *path, slc_hlt1_lines *lines, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    status = status == SLC_OK ? slc_io_hlt1_lines_read_memory(bytes, size, path, lines, error) : status;
    free(bytes);
    return status;
}

slc_status slc_io_hlt1_network_read(const char *path, slc_hlt1_network *network, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    status = status == SLC_OK ? slc_io_hlt1_network_read_memory(bytes, size, path, network, error) : status;
    free(bytes);
    return status;
}

/* ---- both ------------------------------------------------------------------------------------------ */

/* Whether a line cuts on one of the quantities, a list that ends with NULL. */
static bool asks(const slc_hlt1_lines *lines, const char *const *quantities)
{
    for (uint32_t k = 0; k < lines->n_lines; k++) {
        const slc_hlt1_select_line *line = &lines->lines[k];
        for (uint32_t c = 0; c < line->n_cuts; c++) {
            const char *name = slc_hlt1_quantity_name(line->cuts[c].of, line->cuts[c].quantity);
            for (const char *const *q = quantities; *q != NULL; q++) {
                if (strcmp(name, *q) == 0) {
                    return true;
                }
            }
        }
    }
    return false;
}

slc_status slc_io_hlt1_selection_read(const char *folder, const char *lines_path, const char *network_path,
                                      slc_hlt1_lines *lines, slc_hlt1_network *network, bool *has_network,
                                      slc_error *error)
{
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/two_track_mva_model.json", folder);
    const char *from = network_path != NULL ? network_path : access(path, F_OK) == 0 ? path : NULL;
    slc_status status = from != NULL ? slc_io_hlt1_network_read(from, network, error) : SLC_OK;
    *has_network = from != NULL && status == SLC_OK;
    if (status != SLC_OK || lines_path == NULL) {
        return status;
    }
    static const char *const of_network[] = {"network", NULL}, *const of_muons[] = {"is_muon", "muons",
                                                                                    "dimuon", NULL};
    status = slc_io_hlt1_lines_read(lines_path, lines, error);
    if (status == SLC_OK && from == NULL && asks(lines, of_network)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: a line cuts on the network, and %s has no two_track_mva_model.json: name the "
                        "network",
                        lines_path, folder);
    }
    (void)snprintf(path, sizeof path, "%s/muon_field_of_interest.bin", folder);
    if (status == SLC_OK && asks(lines, of_muons) && access(path, F_OK) != 0) {
        return slc_fail(
            error, SLC_ERR_USAGE,
            "%s: a line cuts on muons, and %s has no muon_field_of_interest.bin, without which no "
            "track is one",
            lines_path, folder);
    }
    return status;
}
