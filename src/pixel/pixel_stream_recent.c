/* SPDX-License-Identifier: Apache-2.0
 * Hits that are compared with those right before them. A hit mostly has several neighbours among them, of one
 * cluster: which hits are together is kept as bits, so that the latest neighbour speaks for the others.
 */
#include "pixel/pixel_stream_slots.h"

#include <string.h>

#define OUT_OF_LINE __attribute__((noinline))

enum { FRONT = SLC_PIXEL_NEAR_FRONT, LARGEST = 1 << 16, MOST_RADIUS = 8 };

/* Where pixel_near.h has its limits. */
static bool may_compare(const slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    const uint32_t most = LARGEST - 2 * MOST_RADIUS;
    const uint64_t limit = 1U << 30;
    return j->width <= most && j->height <= most && j->window < limit &&
           pixels[n - 1].time - pixels[0].time < limit;
}

/* Columns of the hits, and times of those in front where they matter. */
static void take_recent(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    slc_pixel_recent *r = &j->recent;
    const uint64_t now = pixels[0].time;
    for (uint32_t i = 0; i < FRONT; i++) {
        const bool matters = i >= FRONT - r->n_front && now - r->front_time[i] <= j->window;
        r->time[i] = matters ? (uint32_t)r->front_time[i] : (uint32_t)now - (1U << 31);
    }
    for (size_t i = 0; i < n; i++) {
        r->yx[FRONT + i] = pixels[i].yx;
        r->time[FRONT + i] = (uint32_t)pixels[i].time;
    }
}

void slc_pixel_recent_keep(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    slc_pixel_recent *r = &j->recent;
    const size_t kept = n < FRONT ? FRONT - n : 0;
    memmove(r->front_time, r->front_time + (FRONT - kept), kept * sizeof *r->front_time);
    for (size_t i = kept; i < FRONT; i++) {
        r->front_time[i] = pixels[n - FRONT + i].time;
    }
    memmove(r->yx, r->yx + n, FRONT * sizeof *r->yx);
    memmove(r->slot, r->slot + n, FRONT * sizeof *r->slot);
    memmove(r->together, r->together + n, FRONT * sizeof *r->together);
    r->n_front = n < FRONT - r->n_front ? r->n_front + (uint32_t)n : FRONT;
}

/* The cluster of hit i, which is in `slot` and is adjacent to hits so many before it. */
static OUT_OF_LINE uint32_t join_others(slc_pixel_join *j, uint32_t slot, size_t i, uint32_t others)
{
    for (; others != 0; others &= others - 1) {
        const uint32_t other = find(j, j->recent.slot[i - 1 - (uint32_t)__builtin_ctz(others)]);
        slot = other == slot ? slot : unite(j, slot, other);
    }
    return slot;
}

/* The latest neighbour tells the cluster, and which of the others are in it: mostly all. */
static void join_near(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    slc_pixel_recent *r = &j->recent;
    for (size_t i = FRONT; i < FRONT + n; i++) {
        const slc_pixel_arrival *pixel = &pixels[i - FRONT];
        const uint32_t near = r->near[i];
        uint32_t slot, together = 0;
        if (near == 0) {
            slot = open_slot(j, pixel);
        } else {
            const uint32_t back = (uint32_t)__builtin_ctz(near);
            slot = find(j, r->slot[i - 1 - back]);
            together = r->together[i - 1 - back] << back << 1 | 1U << back;
            if ((near & ~together) != 0) {
                slot = join_others(j, slot, i, near & ~together);
            }
            add_sums(j, slot, pixel);
        }
        r->slot[i] = slot;
        r->together[i] = together | near;
    }
}

bool slc_pixel_recent_run(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    slc_pixel_recent *r = &j->recent;
    const slc_pixel_near hits = {
        .yx = r->yx, .time = r->time, .window = (uint32_t)j->window, .radius = j->radius, .near = r->near};
    if (!may_compare(j, pixels, n)) {
        return false;
    }
    take_recent(j, pixels, n);
    if (!j->kernels->find(&hits, n)) {
        return false;
    }
    join_near(j, pixels, n);
    slc_pixel_recent_keep(j, pixels, n);
    r->is_ahead = true;
    return true;
}

void slc_pixel_recent_forget(slc_pixel_join *j, uint32_t slot)
{
    slc_pixel_recent *r = &j->recent;
    uint32_t to = FRONT;
    for (uint32_t i = FRONT; i-- > FRONT - r->n_front;) {
        if (j->present - r->front_time[i] <= j->window && find(j, r->slot[i]) != slot) {
            to--;
            r->front_time[to] = r->front_time[i];
            r->yx[to] = r->yx[i];
            r->slot[to] = r->slot[i];
            r->together[to] = 0;
        }
    }
    r->n_front = FRONT - to;
}
