/* SPDX-License-Identifier: Apache-2.0
 * Radix sort: all bytes are counted in one pass, then one pass for each byte in which keys differ.
 */
#include "pixel/pixel_sort.h"

#include <string.h>

enum { BYTES = 8, VALUES = 256 };

static void count(const uint64_t *key, uint32_t n, uint32_t counts[BYTES][VALUES])
{
    memset(counts, 0, sizeof(uint32_t[BYTES][VALUES]));
    for (uint32_t i = 0; i < n; i++) {
        for (unsigned b = 0; b < BYTES; b++) {
            counts[b][key[i] >> 8 * b & 0xff]++;
        }
    }
}

unsigned slc_pixel_sort(const slc_pixel_sorter *sorter, uint32_t n)
{
    uint32_t counts[BYTES][VALUES];
    unsigned now = 0;
    count(sorter->key[0], n, counts);
    for (unsigned b = 0; b < BYTES && n > 0; b++) {
        if (counts[b][sorter->key[0][0] >> 8 * b & 0xff] == n) {
            continue;
        }
        uint32_t at = 0;
        for (unsigned v = 0; v < VALUES; v++) {
            const uint32_t many = counts[b][v];
            counts[b][v] = at;
            at += many;
        }
        const uint64_t *key = sorter->key[now];
        const uint32_t *number = sorter->number[now];
        for (uint32_t i = 0; i < n; i++) {
            const uint32_t to = counts[b][key[i] >> 8 * b & 0xff]++;
            sorter->key[1 - now][to] = key[i];
            sorter->number[1 - now][to] = number[i];
        }
        now = 1 - now;
    }
    return now;
}
