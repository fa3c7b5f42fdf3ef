/* SPDX-License-Identifier: Apache-2.0
 * Pixels by the time of their arrival. */
#include "pixel/pixel_times.h"

#include "pixel/pixel_sort.h"

#include <stdlib.h>
#include <string.h>

#define SIGN ((uint64_t)1 << 63)

static bool sorted(const slc_pixels *pixels)
{
    for (size_t i = 1; i < pixels->head.size; i++) {
        if (pixels->time[i - 1] > pixels->time[i]) {
            return false;
        }
    }
    return true;
}

/* Each column, through `room`. */
static void put_in_order(slc_pixels *pixels, const uint32_t *order, uint32_t *room)
{
    const size_t n = pixels->head.size;
    uint16_t *const coordinate[] = {pixels->x, pixels->y};
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < n; i++) {
            room[i] = coordinate[k][order[i]];
        }
        for (size_t i = 0; i < n; i++) {
            coordinate[k][i] = (uint16_t)room[i];
        }
    }
    for (size_t i = 0; i < n && pixels->charge != NULL; i++) {
        room[i] = pixels->charge[order[i]];
    }
    if (pixels->charge != NULL) {
        memcpy(pixels->charge, room, n * sizeof *room);
    }
}

slc_status slc_pixels_sort_by_time(slc_pixels *pixels, uint32_t **origin)
{
    const size_t n = pixels->head.size;
    *origin = NULL;
    if (sorted(pixels)) {
        return SLC_OK;
    }
    uint64_t *keys = malloc(2 * n * sizeof *keys);
    uint32_t *numbers[2] = {malloc(n * sizeof **numbers), malloc(n * sizeof **numbers)};
    if (keys == NULL || numbers[0] == NULL || numbers[1] == NULL) {
        free(keys);
        free(numbers[0]);
        free(numbers[1]);
        return SLC_ERR_MEMORY;
    }
    for (size_t i = 0; i < n; i++) {
        keys[i] = (uint64_t)pixels->time[i] ^ SIGN;
        numbers[0][i] = (uint32_t)i;
    }
    const slc_pixel_sorter sorter = {{keys, keys + n}, {numbers[0], numbers[1]}};
    const unsigned at = slc_pixel_sort(&sorter, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        pixels->time[i] = (int64_t)(sorter.key[at][i] ^ SIGN);
    }
    put_in_order(pixels, numbers[at], numbers[1 - at]);
    *origin = numbers[at];
    free(numbers[1 - at]);
    free(keys);
    return SLC_OK;
}
