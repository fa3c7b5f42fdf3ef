/* SPDX-License-Identifier: Apache-2.0
 *
 * Attributes of Arrow's files: pairs of texts. Several texts are one, as JSON.
 */
#include "io/io_arrow.h"

#include <stdlib.h>
#include <string.h>

/* ---- attributes -------------------------------------------------------------------------------- */

static void clear_one(slc_io_arrow_attribute *attribute)
{
    free(attribute->group);
    free(attribute->name);
    free(attribute->value);
}

bool slc_io_arrow_attribute_put(slc_io_arrow_attributes *all, const char *group, const char *name,
                                const char *value)
{
    if (all->n == all->room) {
        slc_io_arrow_attribute *list = realloc(all->list, (2 * all->n + 16) * sizeof *list);
        if (list == NULL) {
            return false;
        }
        all->list = list;
        all->room = 2 * all->n + 16;
    }
    slc_io_arrow_attribute *a = &all->list[all->n];
    *a = (slc_io_arrow_attribute){group != NULL ? strdup(group) : NULL, strdup(name), strdup(value)};
    if ((group != NULL && a->group == NULL) || a->name == NULL || a->value == NULL) {
        clear_one(a);
        return false;
    }
    all->n++;
    return true;
}

void slc_io_arrow_attributes_clear(slc_io_arrow_attributes *all)
{
    for (size_t i = 0; i < all->n; i++) {
        clear_one(&all->list[i]);
    }
    free(all->list);
}

/* ---- texts ------------------------------------------------------------------------------------- */

/* Bytes of the character that begins there; 0: it is no UTF-8. */
static size_t utf8(const char *text)
{
    const uint8_t *t = (const uint8_t *)text;
    const size_t n = t[0] < 0x80                    ? 1
                     : t[0] >= 0xc2 && t[0] < 0xe0  ? 2
                     : t[0] >= 0xe0 && t[0] < 0xf0  ? 3
                     : t[0] >= 0xf0 && t[0] <= 0xf4 ? 4
                                                    : 0;
    for (size_t i = 1; i < n; i++) {
        if (t[i] < 0x80 || t[i] > 0xbf) {
            return 0;
        }
    }
    const bool bad = (t[0] == 0xe0 && t[1] < 0xa0) || (t[0] == 0xed && t[1] > 0x9f) ||
                     (t[0] == 0xf0 && t[1] < 0x90) || (t[0] == 0xf4 && t[1] > 0x8f);
    return bad ? 0 : n;
}

static char *json_text(char *to, const char *text)
{
    *to++ = '"';
    while (*text != '\0') {
        const uint8_t c = (uint8_t)*text;
        const size_t n = utf8(text);
        if (n == 0 || c < ' ') {
            to += snprintf(to, 7, n == 0 ? "\\udc%02x" : "\\u00%02x", (unsigned)c);
            text++;
            continue;
        }
        if (c == '"' || c == '\\') {
            *to++ = '\\';
        }
        memcpy(to, text, n);
        to += n;
        text += n;
    }
    *to++ = '"';
    return to;
}

char *slc_io_arrow_json(size_t n, const char *const *texts)
{
    size_t size = 8;
    for (size_t i = 0; i < n; i++) {
        size += 6 * strlen(texts[i]) + 4;
    }
    char *json = malloc(size), *to = json;
    if (json == NULL) {
        return NULL;
    }
    *to++ = '[';
    for (size_t i = 0; i < n; i++) {
        memcpy(to, ", ", 2);
        to = json_text(i > 0 ? to + 2 : to, texts[i]);
    }
    memcpy(to, "]", 2);
    return json;
}
