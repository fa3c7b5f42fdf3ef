/* SPDX-License-Identifier: Apache-2.0
 * Texts that grow, in JSON and in Prometheus' format. */
#include "live/live_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void slc_live_text_clear(slc_live_text *text)
{
    free(text->text);
    *text = (slc_live_text){.text = NULL};
}

static bool room(slc_live_text *text, size_t more)
{
    if (text->failed) {
        return false;
    }
    const size_t wanted = text->size + more + 1;
    if (wanted > text->capacity) {
        const size_t capacity = wanted < 512 ? 1024 : 2 * wanted;
        char *larger = realloc(text->text, capacity);
        if (larger == NULL) {
            text->failed = true;
            return false;
        }
        text->text = larger;
        text->capacity = capacity;
    }
    return true;
}

void slc_live_text_add(slc_live_text *text, const char *more, size_t size)
{
    if (size > 0 && room(text, size)) {
        memcpy(text->text + text->size, more, size);
        text->size += size;
        text->text[text->size] = '\0';
    }
}

void slc_live_text_print(slc_live_text *text, const char *format, ...)
{
    char some[512];
    va_list arguments;
    va_start(arguments, format);
    const int n = vsnprintf(some, sizeof some, format, arguments);
    va_end(arguments);
    if (n >= 0 && (size_t)n < sizeof some) {
        slc_live_text_add(text, some, (size_t)n);
    } else if (n >= 0 && room(text, (size_t)n)) {
        va_start(arguments, format);
        (void)vsnprintf(text->text + text->size, (size_t)n + 1, format, arguments);
        va_end(arguments);
        text->size += (size_t)n;
    }
}

/* How many bytes at `s`, from 0x80 on, are a character of UTF-8; 0: none (overlong, a surrogate, cut). */
static size_t character(const unsigned char *s)
{
    const size_t n = s[0] >= 0xc2 && s[0] < 0xe0   ? 2
                     : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
                     : s[0] >= 0xf0 && s[0] < 0xf5 ? 4
                                                   : 0;
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    const bool bad = (s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
                     (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f);
    return bad ? 0 : n;
}

void slc_live_text_string(slc_live_text *text, const char *string)
{
    if (string == NULL) {
        slc_live_text_add(text, "null", 4);
        return;
    }
    slc_live_text_add(text, "\"", 1);
    for (const unsigned char *s = (const unsigned char *)string; *s != '\0';) {
        const size_t n = *s < 0x80 ? 1 : character(s);
        if (n == 0) {
            slc_live_text_add(text, "\xef\xbf\xbd", 3);
        } else if (*s < 0x20 || *s == 0x7f) {
            slc_live_text_print(text, "\\u%04x", *s);
        } else {
            if (*s == '"' || *s == '\\') {
                slc_live_text_add(text, "\\", 1);
            }
            slc_live_text_add(text, (const char *)s, n);
        }
        s += n > 0 ? n : 1;
    }
    slc_live_text_add(text, "\"", 1);
}

void slc_live_text_number(slc_live_text *text, double value)
{
    if (!isfinite(value)) {
        slc_live_text_add(text, "null", 4);
    } else if (value == floor(value) && fabs(value) < 9007199254740992.0) {
        slc_live_text_print(text, "%.0f", value == 0 ? 0.0 : value);
    } else {
        slc_live_text_print(text, "%.9g", value);
    }
}

void slc_live_text_label(slc_live_text *text, const char *string)
{
    for (const unsigned char *s = (const unsigned char *)string; *s != '\0';) {
        const size_t n = *s < 0x80 ? 1 : character(s);
        if (n == 0) {
            slc_live_text_add(text, "\xef\xbf\xbd", 3);
        } else if (*s == '\n') {
            slc_live_text_add(text, "\\n", 2);
        } else {
            if (*s == '"' || *s == '\\') {
                slc_live_text_add(text, "\\", 1);
            }
            slc_live_text_add(text, (const char *)s, n);
        }
        s += n > 0 ? n : 1;
    }
}
