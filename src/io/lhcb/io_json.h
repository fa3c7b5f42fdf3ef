/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: small JSON files that people write (selections, settings, alignments). The parser is
 * jansson; here is what their readers have in common: what is wrong is told with its line and column.
 */
#ifndef SLUICE_IO_JSON_H
#define SLUICE_IO_JSON_H

#include "io/lhcb/io_select_locate.h"

#include <sluice/base.h>

#include <jansson.h>

/* A text, the name that stands in messages, and where those go. */
typedef struct slc_json_text {
    const char *text, *name;
    size_t size;
    slc_error *error;
} slc_json_text;

/* The tree, to be freed by json_decref. NULL, and *status says which, if there is no memory (SLC_ERR_MEMORY)
 * or the text is not JSON or has a key twice in an object (SLC_ERR_FORMAT). */
json_t *slc_json_load(const slc_json_text *text, slc_status *status);

/* SLC_ERR_FORMAT, after "NAME: line L, column C: …" of the value at the end of the path, or of its key. */
__attribute__((format(printf, 4, 5))) slc_status
slc_json_wrong(const slc_json_text *text, const slc_select_step *at, bool at_key, const char *format, ...);

/* "an object", "a string" …: for "must be …, not …". */
const char *slc_json_type_word(const json_t *value);

/* Appends a word to a text that has room for `size` bytes, as far as it fits. */
void slc_json_append(char *text, size_t size, const char *separator, const char *word);

#endif
