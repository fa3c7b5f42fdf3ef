/* SPDX-License-Identifier: Apache-2.0
 * A path through the text of JSON that is known to be sound. */
#include "io/lhcb/io_select_locate.h"

#include <jansson.h>

#include <string.h>

typedef struct scan {
    const char *text;
    size_t size;
} scan;

/* The byte there, 0 after the end: no loop runs beyond it whatever the text is. */
static char at(const scan *s, size_t i)
{
    return i < s->size ? s->text[i] : '\0';
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static size_t skip_space(const scan *s, size_t i)
{
    while (is_space(at(s, i))) {
        i++;
    }
    return i;
}

/* i at the opening quote; returns after the closing one. */
static size_t skip_string(const scan *s, size_t i)
{
    for (i++; i < s->size && s->text[i] != '"'; i++) {
        i += s->text[i] == '\\';
    }
    return i < s->size ? i + 1 : s->size;
}

static size_t skip_value(const scan *s, size_t i)
{
    size_t depth = 0;
    do {
        const char c = at(s, i);
        if (c == '"') {
            i = skip_string(s, i);
        } else if (c == '{' || c == '[') {
            depth++;
            i++;
        } else if (c == '}' || c == ']') {
            depth--;
            i++;
        } else if (depth > 0) {
            i++;
        } else {
            while (i < s->size && strchr(",]}", s->text[i]) == NULL && !is_space(s->text[i])) {
                i++; /* a number, true, false or null */
            }
        }
    } while (depth > 0 && i < s->size);
    return i;
}

/* Is the string between the quotes at i, which ends before `end`, this key? Escapes are left to the parser.
 */
static bool is_key(const scan *s, size_t i, size_t end, const char *key)
{
    const char *inside = s->text + i + 1;
    const size_t n = end - i - 2;
    if (memchr(inside, '\\', n) == NULL) {
        return strlen(key) == n && memcmp(inside, key, n) == 0;
    }
    json_t *string = json_loadb(s->text + i, end - i, JSON_DECODE_ANY, NULL);
    const bool same = string != NULL && strcmp(json_string_value(string), key) == 0;
    json_decref(string);
    return same;
}

/* From a value to the one a step below it; i itself where there is none. *key_at becomes where its key is. */
static size_t descend(const scan *s, size_t i, const slc_select_step *step, size_t *key_at)
{
    const bool object = at(s, i) == '{';
    if (object != (step->key != NULL) || (!object && at(s, i) != '[')) {
        return i;
    }
    size_t next = skip_space(s, i + 1);
    for (size_t n = 0; next < s->size && at(s, next) != '}' && at(s, next) != ']'; n++) {
        bool found = !object && n == step->index;
        const size_t key = next;
        if (object) {
            const size_t end = skip_string(s, next);
            found = is_key(s, next, end, step->key);
            next = skip_space(s, skip_space(s, end) + 1); /* the colon */
        }
        if (found) {
            *key_at = key;
            return next;
        }
        next = skip_space(s, skip_value(s, next));
        next = at(s, next) == ',' ? skip_space(s, next + 1) : next;
    }
    return i;
}

/* Paths are as deep as selections may be nested (io_select.c), which is not deep. */
static size_t find(const scan *s, const slc_select_step *step, size_t *key_at)
{
    if (step == NULL || step->parent == NULL) {
        return *key_at = skip_space(s, 0);
    }
    const size_t above = find(s, step->parent, key_at);
    return descend(s, above, step, key_at);
}

slc_select_place slc_select_locate(const char *text, size_t size, const slc_select_step *step, bool at_key)
{
    const scan s = {text, size};
    size_t key_at = 0;
    const size_t value_at = find(&s, step, &key_at);
    const size_t end = at_key ? key_at : value_at;
    slc_select_place place = {1, 1};
    for (size_t i = 0; i < end && i < size; i++) {
        if (text[i] == '\n') {
            place.line++;
            place.column = 1;
        } else {
            place.column += ((unsigned char)text[i] & 0xc0U) != 0x80U;
        }
    }
    return place;
}
