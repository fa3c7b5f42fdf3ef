/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim: lists that grow while an event is made.
 */
#ifndef SLUICE_SIM_LIST_H
#define SLUICE_SIM_LIST_H

#include <stdbool.h>
#include <stddef.h>

typedef struct sim_list {
    void *rows;
    size_t size, capacity;
} sim_list;

/* Appends `count` rows of `size` bytes, all 0, and returns the first. Without memory it sets *failed; if that
 * is set, it appends nothing and returns NULL. */
void *slc_sim_list_append(sim_list *list, size_t count, size_t size, bool *failed);

#endif
