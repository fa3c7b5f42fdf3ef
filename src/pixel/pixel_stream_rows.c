/* SPDX-License-Identifier: Apache-2.0
 * Clusters of a stream, which are sums in slots, as rows: divided once, times with their sign.
 */
#include "pixel/pixel_stream_rows.h"

#include <math.h>
#include <string.h>

#define SIGN (1ULL << 63)

static inline int64_t signed_time(uint64_t time)
{
    const uint64_t turned = time ^ SIGN;
    int64_t value;
    memcpy(&value, &turned, sizeof value);
    return value;
}

static void write_second(const slc_pixel_join *j, uint32_t features, const slc_pixel_slot *s,
                         slc_pixel_clusters *closed, size_t row)
{
    const slc_pixel_extent extent = {s->size, s->sum_x, s->sum_y, s->x_max - s->x_min + 1U,
                                     s->y_max - s->y_min + 1U};
    slc_pixel_second_write(&j->second[s - j->slots], &extent, features, closed, row);
}

static void write_row(uint32_t features, const slc_pixel_slot *s, slc_pixel_clusters *closed, size_t row)
{
    if ((features & SLC_PIXEL_SIZE) != 0) {
        closed->size[row] = s->size;
    }
    if ((features & SLC_PIXEL_BOX) != 0) {
        closed->x_min[row] = s->x_min;
        closed->y_min[row] = s->y_min;
        closed->x_max[row] = s->x_max;
        closed->y_max[row] = s->y_max;
    }
    if ((features & SLC_PIXEL_CENTROID) != 0) {
        closed->centroid_x[row] = (double)s->sum_x / (double)s->size;
        closed->centroid_y[row] = (double)s->sum_y / (double)s->size;
    }
    if ((features & SLC_PIXEL_MASS) != 0) {
        closed->mass[row] = s->mass;
    }
    if ((features & SLC_PIXEL_WEIGHTED) != 0) {
        closed->weighted_x[row] = s->mass != 0 ? (double)s->weighted_x / (double)s->mass : (double)NAN;
        closed->weighted_y[row] = s->mass != 0 ? (double)s->weighted_y / (double)s->mass : (double)NAN;
    }
    if ((features & SLC_PIXEL_TIMES) != 0) {
        closed->first_time[row] = signed_time(s->first_time);
        closed->last_time[row] = signed_time(s->last_time);
    }
    if ((features & SLC_PIXEL_LARGEST) != 0) {
        closed->largest[row] = (uint32_t)s->largest;
    }
    if ((features & SLC_PIXEL_PEAK) != 0) {
        closed->peak[row] = s->largest_charge;
    }
}

static bool has_room(const slc_columns *members, uint32_t pixels)
{
    return members->capacity - members->size >= pixels && members->n_events < members->event_capacity;
}

bool slc_pixel_rows_give_out(slc_pixel_join *j, uint32_t features, slc_pixel_clusters *closed,
                             slc_pixel_members *members, uint64_t *pixels)
{
    const bool keeps = j->kept.members != NULL;
    const slc_pixel_slot *slot = slc_pixel_join_closed(j);
    for (; slot != NULL; slot = slc_pixel_join_closed(j)) {
        if (closed->head.size == closed->head.capacity || (keeps && !has_room(&members->head, slot->size))) {
            return false;
        }
        if (keeps) {
            slc_pixel_members_give_out(&j->kept, j->first, members);
        }
        write_row(features, slot, closed, closed->head.size);
        if (j->second != NULL) {
            write_second(j, features, slot, closed, closed->head.size);
        }
        closed->head.size++;
        *pixels += slot->size;
        slc_pixel_join_drop_oldest(j);
    }
    return true;
}
