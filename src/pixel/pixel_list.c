/* SPDX-License-Identifier: Apache-2.0
 * Lists before they are clustered: in the order of time, without what is outside of the sensor. */
#include "pixel/pixel_list.h"
#include "base/columns.h"

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

static void move(slc_pixels *list, size_t to, size_t from)
{
    list->x[to] = list->x[from];
    list->y[to] = list->y[from];
    if (list->charge != NULL) {
        list->charge[to] = list->charge[from];
    }
    if (list->time != NULL) {
        list->time[to] = list->time[from];
    }
    if (list->z != NULL) {
        list->z[to] = list->z[from];
    }
}

size_t slc_pixels_leave_out(slc_pixels *list, uint32_t width, uint32_t height, uint32_t *origin)
{
    size_t kept = 0, i = 0;
    const size_t n = list->head.size;
    for (uint32_t e = 0; e < list->head.n_events; e++) {
        const size_t end = list->head.event_offset[e + 1];
        for (; i < end; i++) {
            move(list, kept, i);
            origin[kept] = (uint32_t)i;
            kept += list->x[i] < width && list->y[i] < height;
        }
        list->head.event_offset[e + 1] = (uint32_t)kept;
    }
    list->head.size = kept;
    return n - kept;
}

void slc_pixels_box(const slc_pixels *list, uint32_t *width, uint32_t *height)
{
    for (size_t i = 0; i < list->head.size; i++) {
        *width = list->x[i] >= *width ? list->x[i] + 1U : *width;
        *height = list->y[i] >= *height ? list->y[i] + 1U : *height;
    }
}

void slc_pixels_keep_events(const slc_schema *schema, slc_pixels *pixels, uint32_t first, uint32_t n)
{
    slc_columns *head = &pixels->head;
    const uint32_t begin = head->event_offset[first], end = head->event_offset[first + n];
    for (size_t i = 0; i < schema->n_columns; i++) {
        const slc_column *column = &schema->columns[i];
        const size_t size = slc_type_size(column->type);
        unsigned char *data = *slc_column_pointer(pixels, column);
        memmove(data, data + begin * size, (end - begin) * size);
    }
    for (uint32_t e = 0; e <= n; e++) {
        head->event_offset[e] = head->event_offset[first + e] - begin;
    }
    head->size = end - begin;
    head->n_events = n;
}
