/* SPDX-License-Identifier: Apache-2.0
 *
 * Formats of frames, as people write them: docs/formats/pet-frame-format.md. All is checked when a format is
 * read, so that reading records by it cannot fail but for values that a frame has no room for.
 */
#include "io/pet/io_pet_format.h"
#include "io/io_stream.h"
#include "io/lhcb/io_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef slc_select_step step;

/* What is being read, and what it says of words that do not say it themselves. */
typedef struct reader {
    slc_json_text in;
    slc_io_pet_format *format;
    bool big, from_high;
    bool has_ticks, has_size;
} reader;

static const char *const fields[SLC_PET_FIELDS] = {"module", "unit",   "x",           "y",
                                                   "time",   "energy", "temperature", "value"};

const char *slc_pet_field_name(slc_pet_format_field field)
{
    return fields[field];
}

/* ---- values ------------------------------------------------------------------------------------ */

/* Its place in the words, which end with NULL. */
static slc_status one_of(const reader *r, const json_t *value, const step *at, const char *const *words,
                         uint32_t *out)
{
    char names[160] = "";
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (json_is_string(value) && strcmp(json_string_value(value), words[i]) == 0) {
            *out = i;
            return SLC_OK;
        }
        slc_json_append(names, sizeof names, ", ", words[i]);
    }
    return json_is_string(value) ? slc_json_wrong(&r->in, at, false, "%s is one of %s, not '%.48s'", at->key,
                                                  names, json_string_value(value))
                                 : slc_json_wrong(&r->in, at, false, "%s must be a string, one of %s, not %s",
                                                  at->key, names, slc_json_type_word(value));
}

static slc_status whole(const reader *r, const json_t *value, const step *at, int64_t low, int64_t high,
                        int64_t *out)
{
    const char *what = at->key != NULL ? at->key : "a term";
    if (!json_is_integer(value)) {
        return slc_json_wrong(&r->in, at, false, "%s must be a whole number%s%s", what,
                              json_is_number(value) ? "" : ", not ",
                              json_is_number(value) ? "" : slc_json_type_word(value));
    }
    *out = json_integer_value(value);
    return *out >= low && *out <= high
               ? SLC_OK
               : slc_json_wrong(&r->in, at, false, "%s must be from %lld to %lld, not %lld", what,
                                (long long)low, (long long)high, (long long)*out);
}

static slc_status object_with(const reader *r, json_t *object, const step *at, const char *what,
                              const char *const *keys)
{
    const char *key;
    json_t *value;
    if (!json_is_object(object)) {
        return slc_json_wrong(&r->in, at, false, "%s must be an object, not %s", what,
                              slc_json_type_word(object));
    }
    json_object_foreach(object, key, value)
    {
        char names[240] = "";
        bool known = strcmp(key, "comment") == 0;
        for (size_t i = 0; keys[i] != NULL; i++) {
            known = known || strcmp(key, keys[i]) == 0;
            slc_json_append(names, sizeof names, ", ", keys[i]);
        }
        if (!known) {
            const step below = {at, key, 0};
            return slc_json_wrong(&r->in, &below, true, "unknown key '%.48s' of %s; there are: %s", key, what,
                                  names);
        }
    }
    return SLC_OK;
}

/* ---- words ------------------------------------------------------------------------------------- */

static slc_status member(const reader *r, const json_t *object, const step *at, const char *key, int64_t low,
                         int64_t high, int64_t *out)
{
    const json_t *value = json_object_get(object, key);
    const step below = {at, key, 0};
    return value != NULL ? whole(r, value, &below, low, high, out) : SLC_OK;
}

static slc_status read_type(const reader *r, const json_t *object, const step *at, slc_pet_word *word)
{
    static const char *const types[] = {"unsigned", "signed", "float", NULL}, *const orders[] = {"little",
                                                                                                 "big", NULL};
    const json_t *type = json_object_get(object, "type"), *order = json_object_get(object, "order");
    const step at_type = {at, "type", 0}, at_order = {at, "order", 0};
    uint32_t is = SLC_PET_UNSIGNED, big = r->big;
    slc_status status = type != NULL ? one_of(r, type, &at_type, types, &is) : SLC_OK;
    if (status == SLC_OK && order != NULL) {
        status = one_of(r, order, &at_order, orders, &big);
    }
    word->type = (uint8_t)is;
    word->big = big != 0;
    return status;
}

/* "byte", "bytes", "bit", "bits", "order", "type". */
static slc_status read_word(const reader *r, json_t *object, const step *at, slc_pet_word *word)
{
    int64_t byte = -1, bytes = 0, bit = 0, bits = 0;
    const step at_bits = {at, json_object_get(object, "bits") != NULL ? "bits" : "byte", 0};
    slc_status status = member(r, object, at, "byte", 0, SLC_PET_FORMAT_RECORD - 1, &byte);
    status = status == SLC_OK ? member(r, object, at, "bytes", 1, 8, &bytes) : status;
    status = status == SLC_OK ? member(r, object, at, "bit", 0, 63, &bit) : status;
    status = status == SLC_OK ? member(r, object, at, "bits", 1, 64, &bits) : status;
    status = status == SLC_OK ? read_type(r, object, at, word) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (byte < 0) {
        return slc_json_wrong(&r->in, at, false, "'byte' is missing: where the number begins");
    }
    bytes = bytes > 0 ? bytes : bits > 0 ? (bit + bits + 7) / 8 : bit / 8 + 1;
    bits = bits > 0 ? bits : 8 * bytes - bit;
    if (bytes > 8 || bit + bits > 8 * bytes) {
        return slc_json_wrong(&r->in, &at_bits, false, "bits %lld to %lld are not in a number of %lld bytes",
                              (long long)bit, (long long)(bit + bits - 1),
                              (long long)(bytes > 8 ? 8 : bytes));
    }
    if (byte + bytes > r->format->about.record_bytes) {
        return slc_json_wrong(&r->in, &at_bits, false, "bytes %lld to %lld are not in a record of %u bytes",
                              (long long)byte, (long long)(byte + bytes - 1), r->format->about.record_bytes);
    }
    if (word->type == SLC_PET_FLOAT && bits != 32 && bits != 64) {
        return slc_json_wrong(&r->in, &at_bits, false, "a float has 32 or 64 bits, not %lld",
                              (long long)bits);
    }
    word->byte = (uint16_t)byte;
    word->bytes = (uint8_t)bytes;
    word->bits = (uint8_t)bits;
    word->shift = (uint8_t)(r->from_high ? 8 * bytes - bit - bits : bit);
    return SLC_OK;
}

/* ---- fields ------------------------------------------------------------------------------------ */

static bool is_real(uint32_t field)
{
    return field == SLC_PET_FIELD_ENERGY || field == SLC_PET_FIELD_VALUE;
}

static slc_status read_factor(const reader *r, const json_t *object, const step *at, bool real,
                              slc_pet_term *term)
{
    const json_t *value = json_object_get(object, "multiply");
    const step below = {at, "multiply", 0};
    if (value == NULL) {
        return SLC_OK;
    }
    if (!real) {
        return whole(r, value, &below, INT64_MIN, INT64_MAX, &term->multiply);
    }
    term->real = json_is_number(value) ? json_number_value(value) : NAN;
    return isfinite(term->real) ? SLC_OK
                                : slc_json_wrong(&r->in, &below, false, "multiply must be a number, not %s",
                                                 slc_json_type_word(value));
}

static slc_status read_term(reader *r, json_t *value, const step *at, uint32_t field, slc_pet_term *term)
{
    static const char *const keys[] = {"byte", "bytes",  "bit",    "bits",     "order", "type",
                                       "add",  "divide", "modulo", "multiply", NULL};
    *term = (slc_pet_term){.divide = 1, .multiply = 1, .real = 1};
    if (json_is_number(value)) {
        return whole(r, value, at, INT64_MIN, INT64_MAX, &term->add);
    }
    slc_status status = object_with(r, value, at, fields[field], keys);
    status = status == SLC_OK ? read_word(r, value, at, &term->word) : status;
    status = status == SLC_OK ? member(r, value, at, "add", INT64_MIN, INT64_MAX, &term->add) : status;
    status = status == SLC_OK ? member(r, value, at, "divide", 1, INT64_MAX, &term->divide) : status;
    status = status == SLC_OK ? member(r, value, at, "modulo", 1, INT64_MAX, &term->modulo) : status;
    status = status == SLC_OK ? read_factor(r, value, at, is_real(field), term) : status;
    if (status != SLC_OK || term->word.type != SLC_PET_FLOAT) {
        return status;
    }
    if (!is_real(field)) {
        const step below = {at, "type", 0};
        return slc_json_wrong(&r->in, &below, false, "%s is a whole number: no float", fields[field]);
    }
    if (term->add != 0 || term->divide != 1 || term->modulo != 0) {
        return slc_json_wrong(&r->in, at, false,
                              "add, divide and modulo are of whole numbers: not of a float");
    }
    return SLC_OK;
}

/* A number, a word, or a sum of these. */
static slc_status read_field(reader *r, json_t *value, const step *at, uint32_t field, slc_pet_sum *sum)
{
    slc_io_pet_format *f = r->format;
    const size_t n = json_is_array(value) ? json_array_size(value) : 1;
    if (n == 0) {
        return slc_json_wrong(&r->in, at, false, "%s is a sum of nothing", fields[field]);
    }
    if (n > SLC_PET_FORMAT_TERMS - f->n_terms) {
        return slc_json_wrong(&r->in, at, false, "more than %d terms in all", (int)SLC_PET_FORMAT_TERMS);
    }
    *sum = (slc_pet_sum){(uint16_t)f->n_terms, (uint16_t)n};
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        const step below = {at, NULL, i};
        status = json_is_array(value)
                     ? read_term(r, json_array_get(value, i), &below, field, &f->term[f->n_terms++])
                     : read_term(r, value, at, field, &f->term[f->n_terms++]);
    }
    return status;
}

static slc_status read_matches(reader *r, json_t *list, const step *at, slc_pet_record *record)
{
    static const char *const keys[] = {"byte", "bytes", "bit", "bits", "order", "value", NULL};
    slc_io_pet_format *f = r->format;
    const size_t n = json_array_size(list);
    if (!json_is_array(list)) {
        return slc_json_wrong(&r->in, at, false, "match must be an array of constants, not %s",
                              slc_json_type_word(list));
    }
    if (n > SLC_PET_FORMAT_MATCHES - f->n_matches) {
        return slc_json_wrong(&r->in, at, false, "more than %d constants in all",
                              (int)SLC_PET_FORMAT_MATCHES);
    }
    record->first_match = (uint16_t)f->n_matches;
    record->n_matches = (uint16_t)n;
    slc_status status = SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        slc_pet_match *match = &f->match[f->n_matches++];
        json_t *object = json_array_get(list, i);
        const step below = {at, NULL, i}, at_value = {&below, "value", 0};
        int64_t value = -1;
        status = object_with(r, object, &below, "a constant", keys);
        status = status == SLC_OK ? read_word(r, object, &below, &match->word) : status;
        status = status == SLC_OK ? member(r, object, &below, "value", 0, INT64_MAX, &value) : status;
        if (status == SLC_OK && value < 0) {
            status = slc_json_wrong(&r->in, &below, false, "'value' is missing: what the constant is");
        } else if (status == SLC_OK && match->word.bits < 63 && value >> match->word.bits != 0) {
            status = slc_json_wrong(&r->in, &at_value, false, "%lld is more than %u bits hold",
                                    (long long)value, match->word.bits);
        }
        match->value = (uint64_t)value;
    }
    return status;
}

/* ---- records ----------------------------------------------------------------------------------- */

static const char *const kinds[] = {"single", "skip", "other", "sync", "trigger", "gate", "bed", NULL};

static slc_status read_fields(reader *r, json_t *object, const step *at, slc_pet_record *record)
{
    static const char *const of_single[] = {"module", "unit",   "x",           "y",
                                            "time",   "energy", "temperature", NULL};
    static const char *const of_mark[] = {"module", "time", "value", NULL};
    const bool single = record->kind == SLC_PET_KIND_SINGLE;
    slc_status status = object_with(r, object, at, single ? "a single's fields" : "a mark's fields",
                                    single ? of_single : of_mark);
    for (uint32_t i = 0; i < SLC_PET_FIELDS && status == SLC_OK; i++) {
        json_t *value = json_object_get(object, fields[i]);
        const step below = {at, fields[i], 0};
        const bool needed = i == SLC_PET_FIELD_TIME || (single && i < SLC_PET_FIELD_TEMPERATURE);
        if (value != NULL) {
            status = read_field(r, value, &below, i, &record->field[i]);
        } else if (needed) {
            status = slc_json_wrong(&r->in, at, false,
                                    "'%s' is missing; a number where it is always the same", fields[i]);
        }
    }
    return status;
}

static slc_status read_record(reader *r, json_t *object, const step *at)
{
    static const char *const keys[] = {"kind", "match", "fields", NULL};
    slc_pet_record *record = &r->format->record[r->format->n_records++];
    slc_status status = object_with(r, object, at, "a record", keys);
    if (status != SLC_OK) {
        return status;
    }
    json_t *kind = json_object_get(object, "kind"), *match = json_object_get(object, "match");
    json_t *all = json_object_get(object, "fields");
    const step at_kind = {at, "kind", 0}, at_match = {at, "match", 0}, at_fields = {at, "fields", 0};
    if (kind == NULL) {
        return slc_json_wrong(&r->in, at, false, "'kind' is missing");
    }
    status = one_of(r, kind, &at_kind, kinds, &record->kind);
    status = status == SLC_OK && match != NULL ? read_matches(r, match, &at_match, record) : status;
    if (status == SLC_OK && (all == NULL) != (record->kind == SLC_PET_KIND_SKIP)) {
        status = all == NULL
                     ? slc_json_wrong(&r->in, at, false, "'fields' is missing")
                     : slc_json_wrong(&r->in, &at_fields, true, "of what is skipped no field is read");
    }
    return status == SLC_OK && all != NULL ? read_fields(r, all, &at_fields, record) : status;
}

static slc_status read_records(reader *r, json_t *list, const step *at)
{
    const size_t n = json_array_size(list);
    if (!json_is_array(list) || n == 0 || n > SLC_PET_FORMAT_KINDS) {
        return slc_json_wrong(&r->in, at, false, "records must be an array of 1 to %d kinds of records",
                              (int)SLC_PET_FORMAT_KINDS);
    }
    slc_status status = SLC_OK;
    bool single = false;
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        const step below = {at, NULL, i};
        if (i > 0 && r->format->record[i - 1].n_matches == 0) {
            return slc_json_wrong(&r->in, &below, false,
                                  "no record comes to this: the one before it has no match, so that all are "
                                  "of its kind");
        }
        status = read_record(r, json_array_get(list, i), &below);
        single = single || r->format->record[i].kind == SLC_PET_KIND_SINGLE;
    }
    return status == SLC_OK && !single ? slc_json_wrong(&r->in, at, false, "no record is a single") : status;
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* 5000, or "625/128": picoseconds. */
static slc_status read_ticks(const reader *r, const json_t *value, const step *at)
{
    slc_io_pet_format_about *about = &r->format->about;
    int64_t ps = 0;
    if (!json_is_string(value)) {
        const slc_status status = whole(r, value, at, 1, UINT32_MAX, &ps);
        about->tick_numerator = (uint32_t)ps;
        about->tick_denominator = 1;
        return status;
    }
    const char *text = json_string_value(value);
    char *end = NULL;
    const bool digits = text[0] >= '1' && text[0] <= '9';
    const unsigned long n = digits ? strtoul(text, &end, 10) : 0;
    const bool slash = digits && end[0] == '/' && end[1] >= '1' && end[1] <= '9';
    const unsigned long d = slash ? strtoul(end + 1, &end, 10) : 0;
    if (!slash || end[0] != '\0' || n > UINT32_MAX || d > UINT32_MAX) {
        return slc_json_wrong(&r->in, at, false,
                              "ticks are picoseconds, a whole number or a text as \"625/128\", not '%.48s'",
                              text);
    }
    about->tick_numerator = (uint32_t)n;
    about->tick_denominator = (uint32_t)d;
    return SLC_OK;
}

static slc_status read_name(const reader *r, const json_t *value, const step *at)
{
    if (!json_is_string(value)) {
        return slc_json_wrong(&r->in, at, false, "name must be a string, not %s", slc_json_type_word(value));
    }
    (void)strncpy(r->format->about.name, json_string_value(value), sizeof r->format->about.name - 1);
    return SLC_OK;
}

/* What words and records refer to comes first, wherever it stands. */
static slc_status read_all(reader *r, json_t *root)
{
    static const char *const keys[] = {"name",  "record_bytes", "byte_order", "bit_order",
                                       "ticks", "tick_bits",    "records",    NULL};
    static const char *const orders[] = {"little", "big", NULL}, *const ends[] = {"low", "high", NULL};
    const step top = {0};
    uint32_t order = 0, from = 0;
    int64_t size = 0, bits = 64;
    slc_status status = object_with(r, root, &top, "a frame format", keys);
    for (size_t i = 0; keys[i] != NULL && status == SLC_OK; i++) {
        const bool needed = strcmp(keys[i], "bit_order") != 0 && strcmp(keys[i], "tick_bits") != 0;
        if (needed && json_object_get(root, keys[i]) == NULL) {
            status = slc_json_wrong(&r->in, &top, false, "'%s' is missing", keys[i]);
        }
    }
    const step at[] = {{&top, "name", 0},      {&top, "record_bytes", 0}, {&top, "byte_order", 0},
                       {&top, "bit_order", 0}, {&top, "ticks", 0},        {&top, "records", 0}};
    json_t *name = json_object_get(root, "name"), *high = json_object_get(root, "bit_order");
    status = status == SLC_OK && name != NULL ? read_name(r, name, &at[0]) : status;
    status = status == SLC_OK ? member(r, root, &top, "record_bytes", 1, SLC_PET_FORMAT_RECORD, &size)
                              : status;
    status = status == SLC_OK ? one_of(r, json_object_get(root, "byte_order"), &at[2], orders, &order)
                              : status;
    status = status == SLC_OK && high != NULL ? one_of(r, high, &at[3], ends, &from) : status;
    status = status == SLC_OK ? read_ticks(r, json_object_get(root, "ticks"), &at[4]) : status;
    status = status == SLC_OK ? member(r, root, &top, "tick_bits", 8, 64, &bits) : status;
    if (status != SLC_OK) {
        return status;
    }
    r->format->about.record_bytes = (uint32_t)size;
    r->format->about.tick_bits = (uint32_t)bits;
    r->big = order == 1;
    r->from_high = from == 1;
    return read_records(r, json_object_get(root, "records"), &at[5]);
}

slc_status slc_io_pet_format_read_memory(const char *text, size_t size, const char *name,
                                         slc_io_pet_format **out, slc_error *error)
{
    *out = NULL;
    reader r = {.in = {.text = text, .name = name, .size = size, .error = error},
                .format = calloc(1, sizeof *r.format)};
    if (r.format == NULL || (r.format->text = malloc(size + 1)) == NULL) {
        slc_io_pet_format_close(r.format);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a frame format", name);
    }
    memcpy(r.format->text, text, size);
    r.format->text[size] = '\0';
    r.format->size = size;
    slc_status status;
    json_t *root = slc_json_load(&r.in, &status);
    if (root != NULL) {
        status = read_all(&r, root);
        json_decref(root);
    }
    if (status != SLC_OK) {
        slc_io_pet_format_close(r.format);
        return status;
    }
    *out = r.format;
    return SLC_OK;
}

slc_status slc_io_pet_format_open(const char *path, slc_io_pet_format **format, slc_error *error)
{
    void *bytes = NULL;
    size_t size = 0;
    *format = NULL;
    slc_status status = slc_io_read_file(path, SLC_PET_FORMAT_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_pet_format_read_memory(bytes, size, path, format, error);
    }
    free(bytes);
    return status;
}

void slc_io_pet_format_close(slc_io_pet_format *format)
{
    if (format != NULL) {
        free(format->text);
    }
    free(format);
}

void slc_io_pet_format_about_of(const slc_io_pet_format *format, slc_io_pet_format_about *about)
{
    *about = format->about;
}

bool slc_io_pet_format_is(const slc_io_pet_format *a, const slc_io_pet_format *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}
