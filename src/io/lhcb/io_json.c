/* SPDX-License-Identifier: Apache-2.0
 * JSON that people write: loading it, and telling what is wrong with it. */
#include "io/lhcb/io_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Words of the file stand in messages, which are one line. */
static void make_printable(char *text)
{
    for (; *text != '\0'; text++) {
        if ((unsigned char)*text < 0x20 || *text == 0x7f) {
            *text = '?';
        }
    }
}

slc_status slc_json_wrong(const slc_json_text *text, const slc_select_step *at, bool at_key,
                          const char *format, ...)
{
    char reason[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    make_printable(reason);
    const slc_select_place place = slc_select_locate(text->text, text->size, at, at_key);
    return slc_fail(text->error, SLC_ERR_FORMAT, "%s: line %zu, column %zu: %s", text->name, place.line,
                    place.column, reason);
}

json_t *slc_json_load(const slc_json_text *text, slc_status *status)
{
    json_error_t syntax;
    json_t *root = json_loadb(text->text, text->size, JSON_REJECT_DUPLICATES, &syntax);
    *status = SLC_OK;
    if (root != NULL) {
        return root;
    }
    if (json_error_code(&syntax) == json_error_out_of_memory) {
        *status = slc_fail(text->error, SLC_ERR_MEMORY, "%s: no memory to read it", text->name);
        return NULL;
    }
    make_printable(syntax.text);
    *status = slc_fail(text->error, SLC_ERR_FORMAT, "%s: line %d, column %d: %s", text->name,
                       syntax.line > 0 ? syntax.line : 1, syntax.column > 0 ? syntax.column : 1, syntax.text);
    return NULL;
}

const char *slc_json_type_word(const json_t *value)
{
    static const char *const words[] = {
        [JSON_OBJECT] = "an object", [JSON_ARRAY] = "an array", [JSON_STRING] = "a string",
        [JSON_INTEGER] = "a number", [JSON_REAL] = "a number",  [JSON_TRUE] = "true",
        [JSON_FALSE] = "false",      [JSON_NULL] = "null",
    };
    return words[json_typeof(value)];
}

void slc_json_append(char *text, size_t size, const char *separator, const char *word)
{
    const size_t used = strlen(text);
    (void)snprintf(text + used, size - used, "%s%s", used > 0 ? separator : "", word);
}
