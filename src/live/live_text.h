/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: texts that grow, in JSON and in Prometheus' format. */
#ifndef SLUICE_LIVE_TEXT_H
#define SLUICE_LIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct slc_live_text {
    char *text; /* ends with '\0'; NULL while it is empty */
    size_t size, capacity;
    bool failed; /* no memory: what was added since is not there */
} slc_live_text;

void slc_live_text_clear(slc_live_text *text);
void slc_live_text_add(slc_live_text *text, const char *more, size_t size);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void slc_live_text_print(slc_live_text *text, const char *format, ...);
/* A JSON string in its quotes, null for NULL; bytes that are no UTF-8 become U+FFFD. */
void slc_live_text_string(slc_live_text *text, const char *string);
/* A JSON number, as short as it can be; null where it is none. */
void slc_live_text_number(slc_live_text *text, double value);
/* The value of a label, between quotes, or the text of # HELP, as Prometheus wants them. */
void slc_live_text_label(slc_live_text *text, const char *string);

#endif
