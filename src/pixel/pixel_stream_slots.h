/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the joining of a stream's hits: slots of clusters, their list, and their sums; inline, as each hit
 * comes here. Slots that are free are used again last in, first out, so that few of them are in use and stay
 * in the cache.
 */
#ifndef SLUICE_PIXEL_STREAM_SLOTS_H
#define SLUICE_PIXEL_STREAM_SLOTS_H

#include "pixel/pixel_stream_join.h"

/* ---- the list of clusters ---------------------------------------------------------------------- */

static inline uint32_t find(slc_pixel_join *j, uint32_t slot)
{
    uint32_t parent = j->slots[slot].parent;
    while (parent != slot) {
        const uint32_t grandparent = j->slots[parent].parent;
        j->slots[slot].parent = grandparent;
        slot = grandparent;
        parent = j->slots[slot].parent;
    }
    return slot;
}

/* What few ask for. */
static inline void begin_more(slc_pixel_join *j, uint32_t slot, const slc_pixel_arrival *pixel)
{
    if (j->second != NULL) {
        j->second[slot] = (slc_pixel_second){.xx = 0};
        slc_pixel_second_add(&j->second[slot], pixel->yx & 0xffff, pixel->yx >> 16, pixel->charge);
    }
    if (j->kept.members != NULL) {
        slc_pixel_keep_first(&j->kept, slot, pixel);
    }
}

static inline void add_more(slc_pixel_join *j, uint32_t slot, const slc_pixel_arrival *pixel)
{
    if (j->second != NULL) {
        slc_pixel_second_add(&j->second[slot], pixel->yx & 0xffff, pixel->yx >> 16, pixel->charge);
    }
    if (j->kept.members != NULL) {
        slc_pixel_keep_next(&j->kept, slot, pixel);
    }
}

static inline void unite_more(slc_pixel_join *j, uint32_t kept, uint32_t gone)
{
    if (j->second != NULL) {
        slc_pixel_second_join(&j->second[kept], &j->second[gone]);
    }
    if (j->kept.members != NULL) {
        slc_pixel_keep_all(&j->kept, kept, gone);
    }
}

/* Of a cluster that is this pixel. */
static inline uint32_t open_slot(slc_pixel_join *j, const slc_pixel_arrival *pixel)
{
    uint32_t slot = j->unused;
    if (slot != SLC_PIXEL_NOWHERE) {
        j->unused = j->slots[slot].behind;
    } else {
        slot = j->n_used++;
    }
    slc_pixel_slot *s = &j->slots[slot];
    const uint64_t x = pixel->yx & 0xffff, y = pixel->yx >> 16, charge = pixel->charge;
    s->sum_x = x; /* one by one: compilers fill a whole struct with a slow instruction */
    s->sum_y = y;
    s->mass = charge;
    s->weighted_x = charge * x;
    s->weighted_y = charge * y;
    s->first_time = s->last_time = pixel->time;
    s->largest = pixel->number;
    s->largest_charge = pixel->charge;
    s->size = 1;
    s->born = j->n_born++;
    s->parent = slot;
    s->before = j->last;
    s->behind = s->gone_first = s->gone_last = SLC_PIXEL_NOWHERE;
    s->x_min = s->x_max = (uint16_t)x;
    s->y_min = s->y_max = (uint16_t)y;
    s->is_closed = false;
    if (j->has_more) {
        begin_more(j, slot, pixel);
    }
    if (j->last != SLC_PIXEL_NOWHERE) {
        j->slots[j->last].behind = slot;
    } else {
        j->first = slot;
    }
    j->last = slot;
    return slot;
}

static inline void take_off(slc_pixel_join *j, const slc_pixel_slot *s)
{
    if (s->before != SLC_PIXEL_NOWHERE) {
        j->slots[s->before].behind = s->behind;
    } else {
        j->first = s->behind;
    }
    if (s->behind != SLC_PIXEL_NOWHERE) {
        j->slots[s->behind].before = s->before;
    } else {
        j->last = s->before;
    }
}

/* ---- sums -------------------------------------------------------------------------------------- */

/* Without a branch, which charges would make a random one. */
static inline void take_largest(slc_pixel_slot *s, uint32_t charge, uint64_t number)
{
    const bool is_larger = (charge > s->largest_charge) |
                           ((charge == s->largest_charge) & (number < s->largest));
    const uint64_t mask = 0 - (uint64_t)is_larger;
    s->largest_charge = charge > s->largest_charge ? charge : s->largest_charge;
    s->largest ^= (s->largest ^ number) & mask;
}

static inline void widen(slc_pixel_slot *s, uint16_t x_min, uint16_t x_max, uint16_t y_min, uint16_t y_max)
{
    s->x_min = x_min < s->x_min ? x_min : s->x_min;
    s->x_max = x_max > s->x_max ? x_max : s->x_max;
    s->y_min = y_min < s->y_min ? y_min : s->y_min;
    s->y_max = y_max > s->y_max ? y_max : s->y_max;
}

static inline void add_sums(slc_pixel_join *j, uint32_t slot, const slc_pixel_arrival *pixel)
{
    slc_pixel_slot *s = &j->slots[slot];
    const uint64_t x = pixel->yx & 0xffff, y = pixel->yx >> 16, charge = pixel->charge;
    s->sum_x += x;
    s->sum_y += y;
    s->mass += charge;
    s->weighted_x += charge * x;
    s->weighted_y += charge * y;
    s->size++;
    s->last_time = pixel->time;
    take_largest(s, pixel->charge, pixel->number);
    widen(s, (uint16_t)x, (uint16_t)x, (uint16_t)y, (uint16_t)y);
    if (j->has_more) {
        add_more(j, slot, pixel);
    }
}

/* Two clusters that are roots. The one that was born first keeps its place in the list. */
static inline uint32_t unite(slc_pixel_join *j, uint32_t a, uint32_t b)
{
    const bool a_is_older = j->slots[a].born < j->slots[b].born;
    const uint32_t kept = a_is_older ? a : b, gone = a_is_older ? b : a;
    slc_pixel_slot *s = &j->slots[kept], *o = &j->slots[gone];
    s->sum_x += o->sum_x;
    s->sum_y += o->sum_y;
    s->mass += o->mass;
    s->weighted_x += o->weighted_x;
    s->weighted_y += o->weighted_y;
    s->size += o->size;
    s->last_time = s->last_time > o->last_time ? s->last_time : o->last_time;
    take_largest(s, o->largest_charge, o->largest);
    widen(s, o->x_min, o->x_max, o->y_min, o->y_max);
    if (j->has_more) {
        unite_more(j, kept, gone);
    }
    take_off(j, o);
    /* Places of the table still name the slot: it is free when the cluster that took it up is. */
    o->parent = kept;
    o->behind = o->gone_first;
    const uint32_t last = o->gone_first != SLC_PIXEL_NOWHERE ? o->gone_last : gone;
    j->slots[last].behind = s->gone_first;
    s->gone_last = s->gone_first != SLC_PIXEL_NOWHERE ? s->gone_last : last;
    s->gone_first = gone;
    return kept;
}

#endif
