/* SPDX-License-Identifier: Apache-2.0
 * Lists of rows that grow by doubling. */
#include "sim/sim_list.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *slc_sim_list_append(sim_list *list, size_t count, size_t size, bool *failed)
{
    if (*failed) {
        return NULL;
    }
    if (list->rows == NULL || list->capacity - list->size < count) {
        const size_t capacity = 2 * (list->size + count) + 64;
        void *rows = capacity > SIZE_MAX / size ? NULL : realloc(list->rows, capacity * size);
        if (rows == NULL) {
            *failed = true;
            return NULL;
        }
        list->rows = rows;
        list->capacity = capacity;
    }
    uint8_t *first = (uint8_t *)list->rows + list->size * size;
    memset(first, 0, count * size);
    list->size += count;
    return first;
}
