/* SPDX-License-Identifier: Apache-2.0
 * The tree is an object of jansson's from the beginning; formats look values up in it by their paths. */
#include "cli_tree.h"
#include "cli_talk.h"
#include "cli_words.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LABEL = 14, PATH = 128, WIDEST = 60 };

/* ---- making it --------------------------------------------------------------------------------- */

static void fail(slc_cli_tree *tree)
{
    for (; tree != NULL; tree = tree->of) {
        tree->failed = true;
    }
}

slc_cli_tree slc_cli_tree_new(const char *command)
{
    slc_cli_tree tree = {.command = command, .root = json_object()};
    tree.failed = tree.root == NULL;
    return tree;
}

void slc_cli_tree_clear(slc_cli_tree *tree)
{
    json_decref(tree->root);
    tree->root = NULL;
}

/* The next key of a path, which is moved on; false after the last. A hidden key begins with a dot. */
static bool next_key(const char **path, char *key)
{
    if (**path == '\0') {
        return false;
    }
    const size_t hidden = **path == '.' ? 1 : 0, size = hidden + strcspn(*path + hidden, ".");
    (void)snprintf(key, PATH, "%.*s", (int)size, *path);
    *path += size + ((*path)[size] == '.' ? 1 : 0);
    return true;
}

void slc_cli_put_json(slc_cli_tree *tree, const char *path, json_t *value)
{
    char key[PATH];
    json_t *at = tree->root;
    (void)next_key(&path, key);
    while (*path != '\0' && at != NULL) {
        json_t *inner = json_object_get(at, key);
        if (inner == NULL) {
            inner = json_object();
            (void)json_object_set_new(at, key, inner); /* which is found below, if it failed */
        }
        at = json_object_get(at, key);
        (void)next_key(&path, key);
    }
    if (json_object_set_new_nocheck(at, key, value) != 0) {
        fail(tree);
    }
}

void slc_cli_put_count(slc_cli_tree *tree, const char *path, uint64_t value)
{
    slc_cli_put_json(tree, path, json_integer((json_int_t)value));
}

void slc_cli_put_integer(slc_cli_tree *tree, const char *path, int64_t value)
{
    slc_cli_put_json(tree, path, json_integer(value));
}

void slc_cli_put_real(slc_cli_tree *tree, const char *path, double value)
{
    slc_cli_put_json(tree, path, isfinite(value) ? json_real(value) : json_null());
}

void slc_cli_put_bool(slc_cli_tree *tree, const char *path, bool value)
{
    slc_cli_put_json(tree, path, json_boolean(value));
}

void slc_cli_put_text(slc_cli_tree *tree, const char *path, const char *value)
{
    slc_cli_put_json(tree, path, value != NULL ? json_string_nocheck(value) : json_null());
}

void slc_cli_put_hex(slc_cli_tree *tree, const char *path, uint64_t value)
{
    char text[17];
    (void)snprintf(text, sizeof text, "%016" PRIx64, value);
    slc_cli_put_text(tree, path, text);
}

void slc_cli_put_null(slc_cli_tree *tree, const char *path)
{
    slc_cli_put_json(tree, path, json_null());
}

void slc_cli_put_faults(slc_cli_tree *tree, const char *path, const slc_faults *faults)
{
    json_t *object = json_object();
    for (uint32_t i = 0; i < faults->n_kinds; i++) {
        if (json_object_set_new(object, slc_fault_name(faults->kind[i].code),
                                json_integer((json_int_t)faults->kind[i].n)) != 0) {
            fail(tree);
        }
    }
    slc_cli_put_json(tree, path, object);
}

void slc_cli_put_counts(slc_cli_tree *tree, const char *path, const uint64_t *values, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++) {
        if (json_array_append_new(array, json_integer((json_int_t)values[i])) != 0) {
            fail(tree);
        }
    }
    slc_cli_put_json(tree, path, array);
}

void slc_cli_put_fields(slc_cli_tree *tree, const char *path, const slc_cli_field *fields, size_t n,
                        const void *from)
{
    for (size_t i = 0; i < n; i++) {
        char whole[PATH];
        const bool inner = path != NULL && path[0] != '\0';
        const void *at = (const unsigned char *)from + fields[i].offset;
        (void)snprintf(whole, sizeof whole, "%s%s%s", inner ? path : "", inner ? "." : "", fields[i].key);
        switch (fields[i].kind) {
        case 'b':
            slc_cli_put_bool(tree, whole, *(const bool *)at);
            break;
        case 'L':
            slc_cli_put_count(tree, whole, *(const uint64_t *)at);
            break;
        case 'l':
            slc_cli_put_integer(tree, whole, *(const int64_t *)at);
            break;
        case 'I':
            slc_cli_put_count(tree, whole, *(const uint32_t *)at);
            break;
        case 'i':
            slc_cli_put_integer(tree, whole, *(const int32_t *)at);
            break;
        case 'H':
            slc_cli_put_count(tree, whole, *(const uint16_t *)at);
            break;
        case 'B':
            slc_cli_put_count(tree, whole, *(const uint8_t *)at);
            break;
        case 'f':
            slc_cli_put_real(tree, whole, slc_cli_shortest(*(const float *)at));
            break;
        case 'd':
            slc_cli_put_real(tree, whole, *(const double *)at);
            break;
        default:
            slc_cli_put_text(tree, whole, *(const char *const *)at);
        }
    }
}

/* ---- looking it up ----------------------------------------------------------------------------- */

static json_t *find(json_t *at, const char *path)
{
    char key[PATH];
    while (at != NULL && next_key(&path, key)) {
        at = json_object_get(at, key);
    }
    return at;
}

void slc_cli_put_object(slc_cli_tree *tree, const char *path)
{
    if (find(tree->root, path) == NULL) {
        slc_cli_put_json(tree, path, json_object());
    }
}

void slc_cli_put_array(slc_cli_tree *tree, const char *path)
{
    if (find(tree->root, path) == NULL) {
        slc_cli_put_json(tree, path, json_array());
    }
}

static void append(slc_cli_tree *tree, const char *path, json_t *value)
{
    slc_cli_put_array(tree, path);
    if (json_array_append_new(find(tree->root, path), value) != 0) {
        fail(tree);
    }
}

void slc_cli_append_text(slc_cli_tree *tree, const char *path, const char *value)
{
    append(tree, path, json_string_nocheck(value));
}

slc_cli_tree slc_cli_append(slc_cli_tree *tree, const char *path)
{
    json_t *row = json_object();
    append(tree, path, row);
    json_t *array = find(tree->root, path);
    const size_t n = json_array_size(array);
    return (slc_cli_tree){
        .command = tree->command, .root = n > 0 ? json_array_get(array, n - 1) : NULL, .of = tree};
}

slc_cli_tree slc_cli_inner(slc_cli_tree *tree, const char *path)
{
    slc_cli_put_object(tree, path);
    return (slc_cli_tree){.command = tree->command, .root = find(tree->root, path), .of = tree};
}

static bool is_set(const json_t *value)
{
    if (json_is_number(value)) {
        const double number = json_number_value(value);
        return number < 0 || number > 0;
    }
    return json_is_true(value) || json_string_length(value) > 0 || json_object_size(value) > 0 ||
           json_array_size(value) > 0;
}

static bool holds(json_t *at, const char *when)
{
    return when == NULL || (when[0] == '!' ? !is_set(find(at, when + 1)) : is_set(find(at, when)));
}

/* ---- formats ----------------------------------------------------------------------------------- */

/* "-14", "8.3f", "+.2f", ".9g": printf's, taken apart so that no format is made of what is not a literal. */
typedef struct spec {
    bool plus;
    int width, precision; /* -1: none */
    char conversion;      /* 0: none */
} spec;

static spec spec_of(const char *text)
{
    spec s = {.plus = text[0] == '+', .precision = -1};
    char *end = NULL;
    text += s.plus ? 1 : 0;
    s.width = text[0] != '.' ? (int)strtol(text, &end, 10) : 0;
    text = end != NULL ? end : text;
    if (text[0] == '.') {
        s.precision = (int)strtol(text + 1, &end, 10);
        text = end;
    }
    s.conversion = text[0];
    return s;
}

static void print_real(FILE *out, double value, const spec *s)
{
    const int precision = s->precision >= 0 ? s->precision : 6;
    if (s->conversion == 'f') {
        (void)fprintf(out, s->plus ? "%+*.*f" : "%*.*f", s->width, precision, value);
    } else if (s->conversion == 'e') {
        (void)fprintf(out, s->plus ? "%+*.*e" : "%*.*e", s->width, precision, value);
    } else {
        (void)fprintf(out, s->plus ? "%+*.*g" : "%*.*g", s->width, precision, value);
    }
}

static void print_value(FILE *out, const json_t *value, const spec *s)
{
    if (json_is_real(value) || (json_is_integer(value) && s->conversion != '\0')) {
        print_real(out, json_number_value(value), s);
    } else if (json_is_integer(value)) {
        (void)fprintf(out, s->plus ? "%+*" PRId64 : "%*" PRId64, s->width,
                      (int64_t)json_integer_value(value));
    } else {
        const char *text = json_is_string(value)    ? json_string_value(value)
                           : json_is_true(value)    ? "yes"
                           : json_is_boolean(value) ? "no"
                                                    : "-";
        (void)fprintf(out, "%*s", s->width, text);
    }
}

/* "3 × name" of each member, under each other with the label's room in front. */
static void print_list(FILE *out, json_t *object, const char *indent)
{
    const char *key;
    json_t *value;
    bool any = false;
    json_object_foreach(object, key, value)
    {
        if (any) {
            (void)fprintf(out, "\n%s%*s ", indent, LABEL, "");
        }
        (void)fprintf(out, "%" PRId64 " × %s", (int64_t)json_integer_value(value), key);
        any = true;
    }
    if (!any) {
        (void)fputs("none", out);
    }
}

/* What stands between braces, without them. */
static void print_field(FILE *out, json_t *at, char *field, const char *indent)
{
    char *bar = strchr(field, '|'), *star = strchr(field, '*'), *slash = strchr(field, '/');
    const char *how = bar != NULL ? bar + 1 : "";
    char *const marks[] = {bar, star, slash};
    for (size_t i = 0; i < 3; i++) {
        if (marks[i] != NULL) {
            *marks[i] = '\0';
        }
    }
    json_t *value = find(at, field);
    if (strcmp(how, "list") == 0) {
        print_list(out, value, indent);
        return;
    }
    if (strcmp(how, "s") == 0) {
        (void)fputs(json_integer_value(value) == 1 ? "" : "s", out);
        return;
    }
    const spec s = spec_of(how);
    if ((star == NULL && slash == NULL) || !json_is_number(value)) {
        print_value(out, value, &s);
        return;
    }
    double number = json_number_value(value);
    if (slash != NULL) {
        const double whole = json_number_value(find(at, slash + 1));
        number = whole > 0 ? number / whole : 0;
    }
    print_real(out, number * (star != NULL ? strtod(star + 1, NULL) : 1), &s);
}

/* The end of what begins with "[", after which there is "]" at the same depth. */
static size_t section(const char *format)
{
    size_t size = 0;
    for (int depth = 0; format[size] != '\0'; size++) {
        depth += format[size] == '[' ? 1 : format[size] == ']' ? -1 : 0;
        if (depth == 0) {
            break;
        }
    }
    return size;
}

static void print_format(FILE *out, json_t *at, const char *format, const char *indent)
{
    char part[4 * PATH];
    while (*format != '\0') {
        const size_t plain = strcspn(format, "{[");
        (void)fwrite(format, 1, plain, out);
        format += plain;
        if (*format == '\0') {
            break;
        }
        const bool field = *format == '{';
        const size_t size = field ? strcspn(format, "}") : section(format);
        (void)snprintf(part, sizeof part, "%.*s", (int)size - 1, format + 1);
        format += size + (format[size] != '\0' ? 1 : 0);
        if (field) {
            print_field(out, at, part, indent);
            continue;
        }
        char *bar = strchr(part, '|');
        *bar = '\0';
        if (holds(at, part)) {
            print_format(out, at, bar + 1, indent);
        }
    }
}

void slc_cli_write_lines(const slc_cli_tree *tree, FILE *out, const char *indent, const slc_cli_line *lines,
                         size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!holds(tree->root, lines[i].when)) {
            continue;
        }
        if (lines[i].label != NULL) {
            (void)fprintf(out, "%s%-*s ", indent, LABEL, lines[i].label);
        }
        print_format(out, tree->root, lines[i].format, indent);
        (void)fputc('\n', out);
    }
}

void slc_cli_print_lines(const slc_cli_tree *tree, const char *indent, const slc_cli_line *lines, size_t n)
{
    slc_cli_write_lines(tree, stdout, indent, lines, n);
}

void slc_cli_write_members(const slc_cli_tree *tree, const char *path, FILE *out, const slc_cli_line *lines,
                           size_t n)
{
    json_t *all = find(tree->root, path), *member;
    const char *key;
    void *next;
    size_t i;
    json_object_foreach_safe(all, next, key, member)
    {
        const slc_cli_tree one = {.root = member};
        (void)json_object_set_new(member, ".key", json_string_nocheck(key));
        slc_cli_write_lines(&one, out, "", lines, n);
    }
    json_array_foreach(all, i, member)
    {
        slc_cli_write_lines(&(slc_cli_tree){.root = member}, out, "", lines, n);
    }
}

/* ---- tables ------------------------------------------------------------------------------------ */

/* A format's text, which the caller frees; NULL if there is no memory. */
static char *text_of(json_t *at, const char *format)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (out == NULL) {
        return NULL;
    }
    print_format(out, at, format, "");
    (void)fclose(out);
    return text;
}

void slc_cli_tree_say(const slc_cli_tree *tree, const char *format)
{
    char *text = text_of(tree->root, format);
    slc_cli_say(tree->command, "%s", text != NULL ? text : "no memory for what is to be told");
    free(text);
}

slc_cli_tree slc_cli_tree_in(slc_cli_tree *tree, const char *path)
{
    return (slc_cli_tree){.command = tree->command, .root = find(tree->root, path), .of = tree};
}

static char *cell(json_t *row, const slc_cli_column *column)
{
    return text_of(row, holds(row, column->when) ? column->format : "-");
}

static int width_of(json_t *rows, const slc_cli_column *column)
{
    int wide = (int)strlen(column->head);
    if (column->width != 0) {
        return column->width;
    }
    for (size_t i = 0; i < json_array_size(rows); i++) {
        char *text = cell(json_array_get(rows, i), column);
        const int size = text != NULL ? (int)strnlen(text, WIDEST) : 0;
        wide = size > wide ? size : wide;
        free(text);
    }
    return -wide;
}

void slc_cli_print_table(const slc_cli_tree *tree, const char *path, const char *between,
                         const slc_cli_column *columns, size_t n)
{
    enum { MOST = 32 };
    int width[MOST];
    json_t *rows = find(tree->root, path);
    n = n < MOST ? n : MOST;
    for (size_t k = 0; k < n; k++) {
        width[k] = width_of(rows, &columns[k]);
        (void)printf("%s%*s", k > 0 ? between : "", width[k], columns[k].head);
    }
    (void)putchar('\n');
    for (size_t i = 0; i < json_array_size(rows); i++) {
        for (size_t k = 0; k < n; k++) {
            char *text = cell(json_array_get(rows, i), &columns[k]);
            (void)printf("%s%*s", k > 0 ? between : "", width[k], text != NULL ? text : "");
            free(text);
        }
        (void)putchar('\n');
    }
}

/* ---- JSON -------------------------------------------------------------------------------------- */

/* Takes out what is hidden, and makes texts of any bytes ones that JSON can have. False: no memory. */
static bool make_plain(json_t *value)
{
    const char *key;
    json_t *member;
    void *next;
    size_t i;
    json_object_foreach_safe(value, next, key, member)
    {
        if (key[0] == '.') {
            (void)json_object_del(value, key);
        } else if (!make_plain(member)) {
            return false;
        }
    }
    json_array_foreach(value, i, member)
    {
        if (!make_plain(member)) {
            return false;
        }
    }
    if (json_is_string(value)) {
        json_t *plain = slc_cli_json_text(json_string_value(value));
        const bool made = plain != NULL && json_string_set_nocheck(value, json_string_value(plain)) == 0;
        json_decref(plain);
        return made;
    }
    return true;
}

bool slc_cli_tree_print_json(slc_cli_tree *tree)
{
    if (tree->failed || !make_plain(tree->root)) {
        slc_cli_tree_clear(tree);
    }
    const bool printed = slc_cli_print_json(tree->command, tree->root); /* which gives it back */
    tree->root = NULL;
    return printed;
}

bool slc_cli_tree_write(slc_cli_tree *tree, FILE *out)
{
    const bool written = !tree->failed && make_plain(tree->root) &&
                         json_dumpf(tree->root, out, JSON_REAL_PRECISION(15)) == 0;
    slc_cli_tree_clear(tree);
    return written;
}

bool slc_cli_tree_tell(slc_cli_tree *tree, bool json, const slc_cli_line *lines, size_t n)
{
    if (json) {
        return slc_cli_tree_print_json(tree);
    }
    slc_cli_print_lines(tree, "", lines, n);
    slc_cli_tree_clear(tree);
    return true;
}
