/* SPDX-License-Identifier: Apache-2.0
 *
 * Where in a JSON text a value stands. The parser tells places of syntax errors only; what is wrong with a
 * text that is JSON is found on its tree, which knows no lines. A path down the tree is followed in the text
 * a second time, only when there is an error to tell.
 */
#ifndef SLUICE_IO_SELECT_LOCATE_H
#define SLUICE_IO_SELECT_LOCATE_H

#include <stdbool.h>
#include <stddef.h>

/* One step down: to the member `key` of an object, or to element `index` of an array where key is NULL. The
 * root has no parent. */
typedef struct slc_select_step {
    const struct slc_select_step *parent;
    const char *key;
    size_t index;
} slc_select_step;

typedef struct slc_select_place {
    size_t line, column; /* from 1; columns count characters of UTF-8 */
} slc_select_place;

/* The first character of the value at the end of the path, or of its key. `text` must be JSON that has been
 * parsed without errors or duplicate keys; where the path leaves the tree, the last value on it is meant. */
slc_select_place slc_select_locate(const char *text, size_t size, const slc_select_step *step, bool at_key);

#endif
