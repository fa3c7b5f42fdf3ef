/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the module: sorting numbers of pixels by keys of 64 bits. By counting of one byte after the other
 * from the lowest (LSD radix sort), which keeps equal keys in the order of the list; bytes in which all keys
 * agree cost nothing but having been counted.
 */
#ifndef SLUICE_PIXEL_SORT_H
#define SLUICE_PIXEL_SORT_H

#include <stdbool.h>
#include <stdint.h>

/* Room for so many keys and numbers, twice: passes go from one to the other. */
typedef struct slc_pixel_sorter {
    uint64_t *key[2];
    uint32_t *number[2];
} slc_pixel_sorter;

/* Sorts the n pairs in key[0] and number[0]; afterwards they are in key[i] and number[i] of the i returned.
 */
unsigned slc_pixel_sort(const slc_pixel_sorter *sorter, uint32_t n);

#endif
