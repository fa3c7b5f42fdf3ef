/* SPDX-License-Identifier: Apache-2.0
 *
 * Selections from JSON: lines, and the predicates that they name. Predicates are written out into the lines
 * here, so that nothing needs to know of them later. Everything in the text is checked, and what is wrong is
 * told with its line and column. docs/formats/selection.md.
 */
#include "io/lhcb/io_select.h"
#include "io/io_stream.h"
#include "io/lhcb/io_json.h"
#include "velo/velo_select_quantity.h"
#include <sluice/io.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_BYTES = 1 << 20, /* of a file */
    MAX_DEPTH = 32,      /* of predicates in predicates */
    ANY_KIND = 3         /* beside slc_velo_quantity_of's 0, 1, 2 */
};

typedef slc_select_step step;

typedef struct reader {
    slc_json_text json;
    json_t *predicates; /* borrowed; NULL if there are none */
    step root, predicates_step;
    slc_velo_line *line; /* whose cuts are being collected */
    uint32_t kind;       /* of quantities that belong there; ANY_KIND takes that of the first */
} reader;

/* Predicates on the way from a line to here, innermost first. */
typedef struct chain {
    const struct chain *outer;
    const char *name;
    uint32_t depth;
} chain;

/* ---- errors ----------------------------------------------------------------------------------- */

#define wrong(r, at, at_key, ...) slc_json_wrong(&(r)->json, at, at_key, __VA_ARGS__)

static const char *const kind_words[] = {"the event", "a track", "a pair of tracks"};

static slc_status unknown_quantity(const reader *r, const step *at)
{
    char names[320] = "";
    for (slc_velo_quantity q = 0; q < SLC_VELO_QUANTITIES; q++) {
        if (r->kind == ANY_KIND || slc_velo_quantity_of(q) == r->kind) {
            slc_json_append(names, sizeof names, ", ", slc_velo_quantity_name(q));
        }
    }
    return wrong(r, at, true, "unknown quantity '%.48s'; there are: %s, and all", at->key, names);
}

/* ---- ranges ----------------------------------------------------------------------------------- */

static slc_status read_number(const reader *r, const json_t *value, const step *at, float *number)
{
    if (!json_is_number(value)) {
        return wrong(r, at, false, "must be a number, not %s", slc_json_type_word(value));
    }
    const double wide = json_number_value(value);
    if (!(fabs(wide) <= (double)FLT_MAX)) {
        return wrong(r, at, false, "%g is too large", wide);
    }
    *number = (float)wide;
    return SLC_OK;
}

static slc_status read_ends(const reader *r, json_t *value, const step *at, slc_velo_cut *cut)
{
    const char *key;
    json_t *end;
    if (json_object_size(value) == 0) {
        return wrong(r, at, false, "a range needs min, max or both");
    }
    json_object_foreach(value, key, end)
    {
        const step below = {at, key, 0};
        const bool low = strcmp(key, "min") == 0;
        if (!low && strcmp(key, "max") != 0) {
            return wrong(r, &below, true, "unknown word '%.48s' in a range; there are: min, max", key);
        }
        const slc_status status = read_number(r, end, &below, low ? &cut->low : &cut->high);
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

/* [low, high], {"min": low, "max": high} or one of them; for "backward" true and false, too. */
static slc_status read_range(const reader *r, json_t *value, const step *at, slc_velo_cut *cut)
{
    slc_status status = SLC_OK;
    cut->low = -INFINITY;
    cut->high = INFINITY;
    if (json_is_object(value)) {
        status = read_ends(r, value, at, cut);
    } else if (json_is_array(value) && json_array_size(value) == 2) {
        for (size_t i = 0; i < 2 && status == SLC_OK; i++) {
            const step below = {at, NULL, i};
            status = read_number(r, json_array_get(value, i), &below, i == 0 ? &cut->low : &cut->high);
        }
    } else if (json_is_boolean(value) && cut->quantity == SLC_VELO_Q_BACKWARD) {
        cut->low = cut->high = json_is_true(value) ? 1.0f : 0.0f;
    } else if (json_is_array(value)) {
        status = wrong(r, at, false, "a range has 2 numbers, not %zu", json_array_size(value));
    } else {
        status = wrong(r, at, false, "must be a range, [low, high] or {\"min\": low, \"max\": high}, not %s",
                       slc_json_type_word(value));
    }
    if (status == SLC_OK && cut->low > cut->high) {
        status = wrong(r, at, false, "nothing is in the range from %g to %g", (double)cut->low,
                       (double)cut->high);
    }
    return status;
}

/* ---- predicates ------------------------------------------------------------------------------- */

static slc_status read_cut(reader *r, json_t *value, const step *at)
{
    slc_velo_quantity q = 0;
    while (q < SLC_VELO_QUANTITIES && strcmp(slc_velo_quantity_name(q), at->key) != 0) {
        q++;
    }
    if (q == SLC_VELO_QUANTITIES) {
        return unknown_quantity(r, at);
    }
    if (r->kind == ANY_KIND) {
        r->kind = slc_velo_quantity_of(q);
    }
    if (slc_velo_quantity_of(q) != r->kind) {
        return wrong(r, at, true, "%s is of %s, and here is a condition on %s", at->key,
                     kind_words[slc_velo_quantity_of(q)], kind_words[r->kind]);
    }
    slc_velo_cut cut = {.quantity = q};
    const slc_status status = read_range(r, value, at, &cut);
    if (status != SLC_OK) {
        return status;
    }
    if (r->line->n_cuts == SLC_VELO_MAX_CUTS) {
        return wrong(r, at, true, "more than %d cuts come together here", SLC_VELO_MAX_CUTS);
    }
    r->line->cuts[r->line->n_cuts++] = cut;
    return SLC_OK;
}

static slc_status read_predicate(reader *r, json_t *value, const step *at, const chain *outer);

static slc_status read_all(reader *r, json_t *value, const step *at, const chain *outer)
{
    if (!json_is_array(value) || json_array_size(value) == 0) {
        return wrong(r, at, false, "all must be an array of one or more predicates");
    }
    slc_status status = SLC_OK;
    for (size_t i = 0; i < json_array_size(value) && status == SLC_OK; i++) {
        const step below = {at, NULL, i};
        status = read_predicate(r, json_array_get(value, i), &below, outer);
    }
    return status;
}

/* "a -> b -> a": from the outermost predicate of that name inwards. */
static slc_status tell_cycle(const reader *r, const step *at, const char *name, const chain *inner)
{
    char way[320] = "";
    uint32_t n = 1;
    for (const chain *link = inner; strcmp(link->name, name) != 0; link = link->outer) {
        n++;
    }
    for (; n > 0; n--) {
        const chain *link = inner;
        for (uint32_t i = 1; i < n; i++) {
            link = link->outer;
        }
        slc_json_append(way, sizeof way, " -> ", link->name);
    }
    slc_json_append(way, sizeof way, " -> ", name);
    return wrong(r, at, false, "predicate '%.48s' names itself: %s", name, way);
}

static slc_status read_named(reader *r, const char *name, const step *at, const chain *outer)
{
    json_t *value = json_object_get(r->predicates, name);
    if (value == NULL) {
        char names[320] = "";
        const char *key;
        json_t *other;
        json_object_foreach(r->predicates, key, other)
        {
            slc_json_append(names, sizeof names, ", ", key);
        }
        return wrong(r, at, false, "there is no predicate '%.48s'; there %s%s", name,
                     names[0] != '\0' ? "are: " : "are none", names);
    }
    for (const chain *link = outer; link != NULL; link = link->outer) {
        if (strcmp(link->name, name) == 0) {
            return tell_cycle(r, at, name, outer);
        }
    }
    const chain here = {outer, name, outer != NULL ? outer->depth + 1 : 1};
    const step place = {&r->predicates_step, name, 0};
    return read_predicate(r, value, &place, &here);
}

/* The name of a predicate, or an object of quantities with their ranges and of "all". */
static slc_status read_predicate(reader *r, json_t *value, const step *at, const chain *outer)
{
    uint32_t depth = 0;
    for (const step *up = at; up != NULL; up = up->parent) {
        depth++;
    }
    if (depth > MAX_DEPTH || (outer != NULL && outer->depth > MAX_DEPTH)) {
        return wrong(r, at, false, "predicates are nested more than %d deep", MAX_DEPTH);
    }
    if (json_is_string(value)) {
        return read_named(r, json_string_value(value), at, outer);
    }
    if (!json_is_object(value)) {
        return wrong(r, at, false, "must be the name of a predicate or an object of quantities, not %s",
                     slc_json_type_word(value));
    }
    if (json_object_size(value) == 0) {
        return wrong(r, at, false, "a predicate needs a quantity");
    }
    slc_status status = SLC_OK;
    const char *key;
    json_t *member;
    json_object_foreach(value, key, member)
    {
        const step below = {at, key, 0};
        status = strcmp(key, "all") == 0 ? read_all(r, member, &below, outer) : read_cut(r, member, &below);
        if (status != SLC_OK) {
            return status;
        }
    }
    return SLC_OK;
}

/* Every predicate by itself, so that what is wrong in one that no line names is told, too. */
static slc_status check_predicates(reader *r)
{
    slc_status status = SLC_OK;
    const char *key;
    json_t *value;
    json_object_foreach(r->predicates, key, value)
    {
        slc_velo_line line = {.n_cuts = 0};
        r->line = &line;
        r->kind = ANY_KIND;
        const step at = {&r->predicates_step, key, 0};
        const chain here = {NULL, key, 1};
        status = read_predicate(r, value, &at, &here);
        if (status != SLC_OK) {
            break;
        }
    }
    r->line = NULL; /* that one was for here alone */
    return status;
}

/* ---- lines ------------------------------------------------------------------------------------ */

static slc_status read_count(const reader *r, const json_t *value, const step *at, uint32_t least,
                             uint32_t *count)
{
    if (!json_is_integer(value)) {
        return wrong(r, at, false, "must be an integer, not %s",
                     json_is_real(value) ? "a number with a fraction" : slc_json_type_word(value));
    }
    const json_int_t number = json_integer_value(value);
    if (number < (json_int_t)least || number > (json_int_t)UINT32_MAX) {
        return wrong(r, at, false, "must be from %u to %u, not %" JSON_INTEGER_FORMAT, least, UINT32_MAX,
                     number);
    }
    *count = (uint32_t)number;
    return SLC_OK;
}

/* Names stand in tables and files. */
static bool is_name(const char *text)
{
    const size_t n = strlen(text);
    return n > 0 && n < SLC_VELO_LINE_NAME &&
           strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-.") == n;
}

static slc_status read_name(const reader *r, const json_t *value, const step *at,
                            const slc_velo_selection *selection)
{
    if (!json_is_string(value)) {
        return wrong(r, at, false, "the name of a line must be a string, not %s", slc_json_type_word(value));
    }
    const char *name = json_string_value(value);
    if (!is_name(name)) {
        return wrong(r, at, false, "the name of a line has 1 to %d letters, digits, '_', '-' and '.'",
                     SLC_VELO_LINE_NAME - 1);
    }
    for (uint32_t k = 0; k < selection->n_lines; k++) {
        if (strcmp(selection->lines[k].name, name) == 0) {
            return wrong(r, at, false, "line %u of the selection is already called '%s'", k + 1, name);
        }
    }
    memcpy(r->line->name, name, strlen(name) + 1);
    return SLC_OK;
}

static slc_status read_member(reader *r, json_t *value, const step *at, const slc_velo_selection *selection)
{
    static const char *const conditions[] = {"event", "tracks", "pairs"};
    for (uint32_t kind = 0; kind < 3; kind++) {
        if (strcmp(at->key, conditions[kind]) == 0) {
            r->kind = kind;
            return read_predicate(r, value, at, NULL);
        }
    }
    if (strcmp(at->key, "name") == 0) {
        return read_name(r, value, at, selection);
    }
    if (strcmp(at->key, "min_count") == 0) {
        return read_count(r, value, at, 0, &r->line->min_count);
    }
    if (strcmp(at->key, "prescale") == 0) {
        return read_count(r, value, at, 1, &r->line->prescale);
    }
    if (strcmp(at->key, "comment") == 0) {
        return SLC_OK;
    }
    return wrong(r, at, true,
                 "unknown word '%.48s' in a line; there are: name, tracks, pairs, event, min_count, "
                 "prescale, comment",
                 at->key);
}

static slc_status read_line(reader *r, json_t *value, const step *at, slc_velo_selection *selection)
{
    slc_velo_line *line = &selection->lines[selection->n_lines];
    *line = (slc_velo_line){.prescale = 1};
    r->line = line;
    if (!json_is_object(value)) {
        return wrong(r, at, false, "a line must be an object, not %s", slc_json_type_word(value));
    }
    const bool counts = json_object_get(value, "tracks") != NULL || json_object_get(value, "pairs") != NULL;
    line->min_count = counts ? 1 : 0;
    const char *key;
    json_t *member;
    json_object_foreach(value, key, member)
    {
        const step below = {at, key, 0};
        const slc_status status = read_member(r, member, &below, selection);
        if (status != SLC_OK) {
            return status;
        }
    }
    if (line->name[0] == '\0') {
        return wrong(r, at, false, "this line has no name");
    }
    if (counts && line->min_count == 0) {
        const step below = {at, "min_count", 0};
        return wrong(r, &below, false, "0 tracks or pairs are in every event: the conditions have no effect");
    }
    selection->n_lines++;
    return SLC_OK;
}

static slc_status read_lines(reader *r, json_t *value, const step *at, slc_velo_selection *selection)
{
    if (!json_is_array(value)) {
        return wrong(r, at, false, "lines must be an array, not %s", slc_json_type_word(value));
    }
    if (json_array_size(value) == 0) {
        return wrong(r, at, false, "a selection needs a line");
    }
    slc_status status = SLC_OK;
    for (size_t i = 0; i < json_array_size(value) && status == SLC_OK; i++) {
        const step below = {at, NULL, i};
        if (i == SLC_VELO_MAX_LINES) {
            return wrong(r, &below, false, "more than %d lines", SLC_VELO_MAX_LINES);
        }
        status = read_line(r, json_array_get(value, i), &below, selection);
    }
    return status;
}

/* ---- the whole file --------------------------------------------------------------------------- */

static slc_status read_beam(const reader *r, const json_t *value, const step *at,
                            slc_velo_selection *selection)
{
    if (!json_is_array(value) || json_array_size(value) != 2) {
        return wrong(r, at, false, "beam_mm must be an array of 2 numbers, x and y");
    }
    const step x = {at, NULL, 0}, y = {at, NULL, 1};
    const slc_status status = read_number(r, json_array_get(value, 0), &x, &selection->beam_x_mm);
    selection->has_beam = true;
    return status == SLC_OK ? read_number(r, json_array_get(value, 1), &y, &selection->beam_y_mm) : status;
}

static slc_status read_root(reader *r, json_t *root, slc_velo_selection *selection)
{
    if (!json_is_object(root)) {
        return wrong(r, &r->root, false, "a selection must be an object, not %s", slc_json_type_word(root));
    }
    slc_status status = SLC_OK;
    json_t *lines = NULL, *member;
    const char *key;
    json_object_foreach(root, key, member)
    {
        const step at = {&r->root, key, 0};
        if (strcmp(key, "predicates") == 0) {
            r->predicates = member;
            status = json_is_object(member) ? SLC_OK
                                            : wrong(r, &at, false, "predicates must be an object, not %s",
                                                    slc_json_type_word(member));
        } else if (strcmp(key, "lines") == 0) {
            lines = member;
        } else if (strcmp(key, "beam_mm") == 0) {
            status = read_beam(r, member, &at, selection);
        } else if (strcmp(key, "comment") != 0) {
            status = wrong(r, &at, true,
                           "unknown word '%.48s' in a selection; there are: predicates, lines, beam_mm, "
                           "comment",
                           key);
        }
        if (status != SLC_OK) {
            return status;
        }
    }
    if (lines == NULL) {
        return wrong(r, &r->root, false, "a selection needs lines");
    }
    status = check_predicates(r);
    const step at = {&r->root, "lines", 0};
    return status == SLC_OK ? read_lines(r, lines, &at, selection) : status;
}

slc_status slc_io_select_read_memory(const char *text, size_t size, const char *name,
                                     slc_velo_selection *selection, slc_error *error)
{
    reader r = {.json = {.text = text, .name = name, .size = size, .error = error}};
    slc_status status;
    memset(selection, 0, sizeof *selection);
    json_t *root = slc_json_load(&r.json, &status);
    if (root == NULL) {
        return status;
    }
    r.predicates_step = (step){&r.root, "predicates", 0};
    status = read_root(&r, root, selection);
    json_decref(root);
    if (status != SLC_OK) {
        memset(selection, 0, sizeof *selection);
    }
    return status;
}

slc_status slc_io_select_read(const char *path, slc_velo_selection *selection, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    memset(selection, 0, sizeof *selection);
    slc_status status = slc_io_read_file(path, MAX_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_select_read_memory(bytes, size, path, selection, error);
    }
    free(bytes);
    return status;
}
