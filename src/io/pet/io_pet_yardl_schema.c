/* SPDX-License-Identifier: Apache-2.0
 *
 * Schemas of yardl: JSON of a protocol and its named types, which become a graph of types without names or
 * parameters.
 */
#include "io/pet/io_pet_yardl.h"

#include <jansson.h>

#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 48, MOST_TYPES = 20000, MOST_PARTS = 4096, PARAMETERS = 8 };
#define LONGEST (UINT64_C(1) << 32) /* of a fixed length */

typedef struct room {
    struct room *next;
    max_align_t bytes[];
} room;

/* A named type on its way. */
typedef struct named {
    json_t *form;
    const char *name;
    const slc_yardl_type *made; /* of one without parameters */
} named;

/* What a type's parameters stand for. */
typedef struct meaning {
    size_t n;
    const char *name[PARAMETERS];
    const slc_yardl_type *type[PARAMETERS];
} meaning;

typedef struct parser {
    slc_yardl_schema *schema;
    named *types;
    size_t n_types, made;
    unsigned depth;
    slc_error *error;
    slc_status status;
} parser;

static void *wrong(parser *p, slc_status status, const char *what, const char *name)
{
    if (p->status == SLC_OK) {
        p->status = slc_fail(p->error, status, "%s%.64s", what, name);
        slc_io_printable(p->error->text);
    }
    return NULL;
}

static void *room_for(parser *p, size_t size)
{
    room *made = calloc(1, sizeof *made + size);
    if (made == NULL) {
        return wrong(p, SLC_ERR_MEMORY, "no memory for its types", "");
    }
    made->next = p->schema->rooms;
    p->schema->rooms = made;
    return made->bytes;
}

static const slc_yardl_type *compile(parser *p, const json_t *form, const meaning *of);

/* A type with room for its parts, which the caller fills. */
static slc_yardl_type *make(parser *p, slc_yardl_kind kind, size_t n_parts, const slc_yardl_type ***part,
                            const char ***name)
{
    if (n_parts > MOST_PARTS || ++p->made > MOST_TYPES) {
        return wrong(p, SLC_ERR_UNSUPPORTED, "it has too many types", "");
    }
    slc_yardl_type *type = room_for(p, sizeof *type + 2 * n_parts * sizeof(void *));
    if (type != NULL) {
        *part = (const slc_yardl_type **)(type + 1);
        *name = (const char **)(*part + n_parts);
        *type = (slc_yardl_type){.kind = kind, .n_parts = n_parts, .part = *part, .name = *name};
    }
    return type;
}

/* ---- forms ------------------------------------------------------------------------------------- */

static uint64_t add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static const slc_yardl_type *items_of(parser *p, slc_yardl_kind kind, const json_t *items, uint64_t length,
                                      const meaning *of)
{
    const slc_yardl_type **part;
    const char **name;
    const slc_yardl_type *item = compile(p, items, of);
    slc_yardl_type *type = item != NULL ? make(p, kind, 1, &part, &name) : NULL;
    if (type == NULL) {
        return NULL;
    }
    if (item->least == 0) {
        return wrong(p, SLC_ERR_UNSUPPORTED, "it has items without bytes", "");
    }
    if (length > LONGEST) {
        return wrong(p, SLC_ERR_UNSUPPORTED, "it has more than 2^32 items of fixed number", "");
    }
    part[0] = item;
    type->length = length;
    type->least = kind == SLC_YARDL_FIXED
                      ? (length > UINT64_MAX / item->least ? UINT64_MAX : length * item->least)
                  : kind == SLC_YARDL_ARRAY ? length
                                            : 1;
    return type;
}

static bool length_of(const json_t *form, uint64_t *length)
{
    const json_t *value = json_object_get(form, "length");
    const bool there = json_is_integer(value) && json_integer_value(value) >= 0;
    *length = there ? (uint64_t)json_integer_value(value) : 0;
    return there;
}

static const slc_yardl_type *array_of(parser *p, const json_t *form, const meaning *of)
{
    const json_t *items = json_object_get(form, "items"), *dimensions = json_object_get(form, "dimensions");
    if (dimensions == NULL || json_is_null(dimensions)) {
        return items_of(p, SLC_YARDL_DYNAMIC, items, 0, of);
    }
    const bool counted = json_is_integer(dimensions);
    const size_t n = json_array_size(dimensions);
    const uint64_t rank = counted ? (uint64_t)json_integer_value(dimensions) : n;
    uint64_t product = 1, length = 0;
    bool fixed = !counted;
    if (rank < 1 || rank > 16) {
        return wrong(p, SLC_ERR_UNSUPPORTED, "it has an array that has not 1 to 16 dimensions", "");
    }
    for (size_t i = 0; i < n; i++) {
        fixed = fixed && length_of(json_array_get(dimensions, i), &length);
        product = length != 0 && product > LONGEST / length ? LONGEST + 1 : product * length;
    }
    return items_of(p, fixed ? SLC_YARDL_FIXED : SLC_YARDL_ARRAY, items, fixed ? product : rank, of);
}

static const slc_yardl_type *union_of(parser *p, const json_t *cases, const meaning *of)
{
    const slc_yardl_type **part = NULL;
    const char **name = NULL;
    slc_yardl_type *type = make(p, SLC_YARDL_UNION, json_array_size(cases), &part, &name);
    for (size_t i = 0; type != NULL && part != NULL && name != NULL && i < json_array_size(cases); i++) {
        const json_t *one = json_array_get(cases, i), *tag = json_object_get(one, "tag");
        part[i] = compile(p, tag != NULL ? json_object_get(one, "type") : one, of);
        name[i] = json_string_value(tag);
        if (part[i] == NULL) {
            return NULL;
        }
    }
    if (type != NULL) {
        type->least = 1;
    }
    return type;
}

static const slc_yardl_type *record_of(parser *p, const json_t *fields, const meaning *of)
{
    const slc_yardl_type **part;
    const char **name;
    slc_yardl_type *type = make(p, SLC_YARDL_RECORD, json_array_size(fields), &part, &name);
    for (size_t i = 0; type != NULL && i < json_array_size(fields); i++) {
        const json_t *one = json_array_get(fields, i);
        name[i] = json_string_value(json_object_get(one, "name"));
        part[i] = name[i] != NULL ? compile(p, json_object_get(one, "type"), of)
                                  : wrong(p, SLC_ERR_FORMAT, "a field without a name", "");
        if (part[i] == NULL) {
            return NULL;
        }
        type->least = add(type->least, part[i]->least);
    }
    return type;
}

/* ---- names ------------------------------------------------------------------------------------- */

static const slc_yardl_type *primitive(parser *p, const char *word)
{
    static const struct {
        const char *word;
        slc_yardl_type type;
    } table[] = {
        {"uint16", {.kind = SLC_YARDL_UINT, .bits = 32, .least = 1}},
        {"uint32", {.kind = SLC_YARDL_UINT, .bits = 32, .least = 1}},
        {"uint64", {.kind = SLC_YARDL_UINT, .bits = 64, .least = 1}},
        {"size", {.kind = SLC_YARDL_UINT, .bits = 64, .least = 1}},
        {"int16", {.kind = SLC_YARDL_INT, .bits = 32, .least = 1}},
        {"int32", {.kind = SLC_YARDL_INT, .bits = 32, .least = 1}},
        {"int64", {.kind = SLC_YARDL_INT, .bits = 64, .least = 1}},
        {"date", {.kind = SLC_YARDL_INT, .bits = 64, .least = 1}},
        {"time", {.kind = SLC_YARDL_INT, .bits = 64, .least = 1}},
        {"datetime", {.kind = SLC_YARDL_INT, .bits = 64, .least = 1}},
        {"float32", {.kind = SLC_YARDL_F32, .least = 4}},
        {"float64", {.kind = SLC_YARDL_F64, .least = 8}},
        {"bool", {.kind = SLC_YARDL_BOOL, .least = 1}},
        {"string", {.kind = SLC_YARDL_STRING, .least = 1}},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        if (strcmp(table[i].word, word) == 0) {
            return &table[i].type;
        }
    }
    return wrong(p, SLC_ERR_UNSUPPORTED, "a type that is not known: ", word);
}

/* Without its namespace. */
static const char *short_name(const char *word)
{
    const char *dot = strrchr(word, '.');
    return dot != NULL ? dot + 1 : word;
}

static const slc_yardl_type *body_of(parser *p, const json_t *form, const meaning *of)
{
    const json_t *fields = json_object_get(form, "fields"), *base = json_object_get(form, "base");
    if (json_is_array(fields)) {
        return record_of(p, fields, of);
    }
    if (json_is_array(json_object_get(form, "values"))) {
        return primitive(p, base != NULL && json_is_string(base) ? json_string_value(base) : "int32");
    }
    return compile(p, json_object_get(form, "type"), of);
}

static const slc_yardl_type *named_of(parser *p, const char *word, const json_t *arguments, const meaning *of)
{
    for (size_t i = 0; i < of->n && arguments == NULL; i++) {
        if (strcmp(of->name[i], word) == 0) {
            return of->type[i];
        }
    }
    const char *name = short_name(word);
    size_t i = 0;
    while (i < p->n_types && strcmp(p->types[i].name, name) != 0) {
        i++;
    }
    if (i == p->n_types) {
        return primitive(p, word);
    }
    named *type = &p->types[i];
    const json_t *parameters = json_object_get(type->form, "typeParameters");
    const size_t n = json_array_size(parameters);
    if (type->made != NULL) {
        return type->made;
    }
    if (n != json_array_size(arguments) || n > PARAMETERS) {
        return wrong(p, SLC_ERR_FORMAT, "parameters that do not fit to the type ", name);
    }
    meaning inside = {.n = n};
    for (size_t k = 0; k < n; k++) {
        inside.name[k] = json_string_value(json_array_get(parameters, k));
        inside.type[k] = compile(p, json_array_get(arguments, k), of);
        if (inside.name[k] == NULL || inside.type[k] == NULL) {
            return wrong(p, SLC_ERR_FORMAT, "parameters without names of the type ", name);
        }
    }
    const slc_yardl_type *made = body_of(p, type->form, &inside);
    type->made = n == 0 ? made : NULL;
    return made;
}

static const slc_yardl_type *object_of(parser *p, const json_t *form, const meaning *of)
{
    const json_t *inside, *word = json_object_get(form, "name");
    uint64_t length;
    if (json_is_string(word)) {
        return named_of(p, json_string_value(word), json_object_get(form, "typeArguments"), of);
    }
    if ((inside = json_object_get(form, "vector")) != NULL) {
        const slc_yardl_kind kind = length_of(inside, &length) ? SLC_YARDL_FIXED : SLC_YARDL_VECTOR;
        return items_of(p, kind, json_object_get(inside, "items"), length, of);
    }
    if ((inside = json_object_get(form, "array")) != NULL) {
        return array_of(p, inside, of);
    }
    if ((inside = json_object_get(form, "stream")) != NULL) {
        return items_of(p, SLC_YARDL_STREAM, json_object_get(inside, "items"), 0, of);
    }
    return wrong(p, SLC_ERR_UNSUPPORTED, "a type that is not known: ",
                 json_object_size(form) > 0 ? json_object_iter_key(json_object_iter((json_t *)form)) : "{}");
}

static const slc_yardl_type *compile(parser *p, const json_t *form, const meaning *of)
{
    static const slc_yardl_type nothing = {.kind = SLC_YARDL_NULL};
    const slc_yardl_type *made = NULL;
    if (++p->depth > DEEPEST) {
        made = wrong(p, SLC_ERR_UNSUPPORTED, "types that go round in circles, or too deep", "");
    } else if (json_is_null(form)) {
        made = &nothing;
    } else if (json_is_string(form)) {
        made = named_of(p, json_string_value(form), NULL, of);
    } else if (json_is_array(form)) {
        made = union_of(p, form, of);
    } else if (json_is_object(form)) {
        made = object_of(p, form, of);
    } else {
        made = wrong(p, SLC_ERR_FORMAT, "a type is missing", "");
    }
    p->depth--;
    return made;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static void list_types(parser *p, const json_t *types)
{
    const size_t n = json_array_size(types);
    p->types = room_for(p, n * sizeof *p->types + 1);
    for (size_t i = 0; p->types != NULL && i < n; i++) {
        json_t *form = json_array_get(types, i);
        const char *name = json_string_value(json_object_get(form, "name"));
        if (name == NULL) {
            (void)wrong(p, SLC_ERR_FORMAT, "a type without a name", "");
            return;
        }
        p->types[p->n_types++] = (named){.form = form, .name = short_name(name)};
    }
}

static void list_steps(parser *p, const json_t *sequence)
{
    const meaning none = {.n = 0};
    const size_t n = json_array_size(sequence);
    const slc_yardl_type **step = room_for(p, n * sizeof *step + 1);
    const char **name = room_for(p, n * sizeof *name + 1);
    for (size_t i = 0; p->status == SLC_OK && i < n; i++) {
        const json_t *one = json_array_get(sequence, i);
        name[i] = json_string_value(json_object_get(one, "name"));
        step[i] = name[i] != NULL ? compile(p, json_object_get(one, "type"), &none)
                                  : wrong(p, SLC_ERR_FORMAT, "a step without a name", "");
    }
    p->schema->n_steps = n;
    p->schema->step = step;
    p->schema->step_name = name;
}

slc_status slc_yardl_schema_parse(const char *text, size_t size, slc_yardl_schema *schema, slc_error *error)
{
    json_error_t syntax;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &syntax);
    *schema = (slc_yardl_schema){.json = root};
    if (root == NULL) {
        return slc_fail(error, SLC_ERR_FORMAT, "the schema is no JSON: %s", syntax.text);
    }
    parser p = {.schema = schema, .error = error, .status = SLC_OK};
    const json_t *protocol = json_object_get(root, "protocol");
    schema->protocol = json_string_value(json_object_get(protocol, "name"));
    if (schema->protocol == NULL) {
        (void)wrong(&p, SLC_ERR_FORMAT, "the schema has no protocol", "");
    }
    if (p.status == SLC_OK) {
        list_types(&p, json_object_get(root, "types"));
    }
    if (p.status == SLC_OK) {
        list_steps(&p, json_object_get(protocol, "sequence"));
    }
    return p.status;
}

void slc_yardl_schema_clear(slc_yardl_schema *schema)
{
    for (room *at = schema->rooms, *next = NULL; at != NULL; at = next) {
        next = at->next;
        free(at);
    }
    json_decref(schema->json);
    *schema = (slc_yardl_schema){.n_steps = 0};
}

size_t slc_yardl_field(const slc_yardl_type *record, const char *name)
{
    size_t i = 0;
    while (i < record->n_parts && (record->kind != SLC_YARDL_RECORD || strcmp(record->name[i], name) != 0)) {
        i++;
    }
    return i;
}
