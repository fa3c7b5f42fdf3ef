/* SPDX-License-Identifier: Apache-2.0
 * The table over the sensor and the sums of clusters in time. What is old in the table is told by its time
 * alone: nothing is erased behind the window. Slots that are free are used again last in, first out, so that
 * few of them are in use and stay in the cache.
 */
#include "pixel/pixel_stream_slots.h"

#include "base/block.h"

#include <stdlib.h>
#include <string.h>

enum {
    LARGEST = 1 << 16, /* coordinates are below */
    TABLE_BITS = 22,   /* a table over the whole sensor has at most so many places; else it is hashed */
    AHEAD = 8,         /* places are fetched for so many pixels ahead */
    FRONT = SLC_PIXEL_NEAR_FRONT,
    MOST_NEAR = 17 * 17 + 1 /* pixels within the largest radius, and one to write to in vain */
};

/* ---- places ------------------------------------------------------------------------------------ */

static inline slc_pixel_place *place_at(const slc_pixel_join *j, uint32_t yx)
{
    return j->table + j->origin + (yx >> 16) * j->stride + (yx & 0xffff);
}

/* Of a hash table. */
static inline bool is_empty(const slc_pixel_place *place)
{
    return place->slot == SLC_PIXEL_NOWHERE && place->time == UINT64_MAX;
}

static inline size_t home_of(const slc_pixel_join *j, uint32_t yx)
{
    return (size_t)((yx * 0x9e3779b97f4a7c15U) >> (64 - j->hash_bits));
}

/* The pixel's place, or the empty one where it would be put. */
static slc_pixel_place *seek(const slc_pixel_join *j, uint32_t yx)
{
    size_t at = home_of(j, yx);
    while (!is_empty(&j->table[at]) && j->table[at].yx != yx) {
        at = (at + 1) & (j->table_size - 1);
    }
    return &j->table[at];
}

/* ---- memory ------------------------------------------------------------------------------------ */

static void lay_table(slc_pixel_join *j, uint32_t width, uint32_t height)
{
    const size_t margin = j->radius > 0 ? j->radius : 1;
    j->width = width;
    j->height = height;
    j->stride = width + 2 * margin;
    j->origin = margin * j->stride + margin;
    j->table_size = j->stride * (height + 2 * margin);
    j->is_hashed = j->table_size > (size_t)1 << TABLE_BITS;
    if (j->is_hashed) {
        j->width = j->height = LARGEST;
        j->hash_bits = 2; /* four times the pixels: at most half of it is filled, and half of that is dead */
        while ((size_t)1 << j->hash_bits < 4 * j->most_pixels) {
            j->hash_bits++;
        }
        j->table_size = (size_t)1 << j->hash_bits;
    }
}

size_t slc_pixel_join_lay_out(slc_pixel_join *j, char *block, uint32_t radius, size_t pixels, bool has_second,
                              bool keeps)
{
    j->radius = radius;
    j->most_pixels = pixels;
    const size_t slots = slc_block_bound(pixels * sizeof *j->slots);
    const size_t second = has_second ? slc_block_bound(pixels * sizeof *j->second) : 0;
    if (block != NULL) {
        j->slots = slc_block_take(&block, slots);
        j->second = has_second ? slc_block_take(&block, second) : NULL;
        j->has_more = has_second || keeps;
    }
    return slots + second + (keeps ? slc_pixel_keeping_lay_out(&j->kept, block, pixels) : 0);
}

void slc_pixel_join_init(slc_pixel_join *j, uint64_t window, const slc_pixel_near_kernels *kernels)
{
    j->window = window;
    j->kernels = kernels;
    j->unused = j->first = j->last = SLC_PIXEL_NOWHERE;
    j->n_used = 0;
    slc_pixel_join_restart(j);
}

/* What may still be joined goes over; there is no hash table yet, as one covers everything. */
static void carry_over(const slc_pixel_join *from, slc_pixel_join *to)
{
    for (uint32_t y = 0; y < from->height; y++) {
        for (uint32_t x = 0; x < from->width; x++) {
            const uint32_t yx = y << 16 | x;
            const slc_pixel_place *place = place_at(from, yx);
            if (place->slot == SLC_PIXEL_NOWHERE || from->present - place->time > from->window) {
                continue;
            }
            *(to->is_hashed ? seek(to, yx) : place_at(to, yx)) = (slc_pixel_place){
                .time = place->time, .slot = place->slot, .yx = yx};
            to->n_hashed += to->is_hashed;
        }
    }
}

bool slc_pixel_join_cover(slc_pixel_join *j, uint32_t width, uint32_t height)
{
    slc_pixel_join larger = *j;
    lay_table(&larger, width, height);
    const size_t bytes = slc_block_bound(larger.table_size * sizeof *larger.table);
    larger.table = aligned_alloc(SLC_BLOCK_ALIGN, bytes);
    if (larger.table == NULL) {
        return false;
    }
    memset(larger.table, 0xff, bytes);
    if (j->table != NULL) {
        carry_over(j, &larger);
    }
    free(j->table);
    *j = larger;
    return true;
}

void slc_pixel_join_clear(slc_pixel_join *j)
{
    free(j->table);
    j->table = NULL;
}

void slc_pixel_join_restart(slc_pixel_join *j)
{
    if (j->is_used) { /* all bits set: nowhere, and a time that tells an empty place of a hash table */
        memset(j->table, 0xff, j->table_size * sizeof *j->table);
    }
    j->is_used = j->is_ending = false;
    j->present = 0;
    j->n_hashed = 0;
    j->n_born = 0;
    j->recent.n_front = 0;
    j->recent.is_ahead = false;
}

/* ---- a table over the sensor ------------------------------------------------------------------- */

/* What a hit meets: all bits that its slots' numbers have in common, and those that one of the numbers, plus
 * one, has. For a single slot `any` is one more than `all`; for several it is larger: `all` is at most the
 * smallest, and `any` at least one more than the largest. Numbers that are nowhere add nothing to either. */
typedef struct met {
    uint32_t all, any;
} met;

/* Whether a place is in the window is not branched on: it is as good as random. */
static inline met meet(met m, uint64_t oldest, const slc_pixel_place *place)
{
    const uint32_t slot = place->slot | (0 - (uint32_t)(place->time < oldest));
    return (met){m.all & slot, m.any | (slot + 1)};
}

static inline met look(uint64_t oldest, size_t stride, const slc_pixel_place *centre, uint32_t radius)
{
    met m = {SLC_PIXEL_NOWHERE, 0};
    if (radius == 0) {
        m = meet(m, oldest, centre - stride);
        m = meet(m, oldest, centre - 1);
        m = meet(m, oldest, centre);
        m = meet(m, oldest, centre + 1);
        return meet(m, oldest, centre + stride);
    }
    const slc_pixel_place *row = centre - radius * stride - radius;
    for (uint32_t dy = 0; dy <= 2 * radius; dy++, row += stride) {
        for (uint32_t dx = 0; dx <= 2 * radius; dx++) {
            m = meet(m, oldest, row + dx);
        }
    }
    return m;
}

/* The one of several slots that a hit meets, after they have been united. */
static uint32_t join_several(slc_pixel_join *j, uint64_t oldest, const slc_pixel_place *centre)
{
    const uint32_t reach = j->radius > 0 ? j->radius : 1;
    const slc_pixel_place *row = centre - reach * j->stride - reach;
    uint32_t met_slots[MOST_NEAR];
    size_t n = 0;
    for (uint32_t dy = 0; dy <= 2 * reach; dy++, row += j->stride) {
        for (uint32_t dx = 0; dx <= 2 * reach; dx++) {
            met_slots[n] = row[dx].slot;
            n += (row[dx].time >= oldest) & (row[dx].slot != SLC_PIXEL_NOWHERE) &
                 (j->radius > 0 || dx == 1 || dy == 1);
        }
    }
    uint32_t slot = find(j, met_slots[0]);
    for (size_t i = 1; i < n; i++) {
        const uint32_t other = find(j, met_slots[i]);
        slot = other == slot ? slot : unite(j, slot, other);
    }
    return slot;
}

static inline void run_table(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n, uint32_t radius)
{
    const uint64_t window = j->window;
    const size_t stride = j->stride;
    slc_pixel_place *origin = j->table + j->origin;
    for (size_t i = 0; i < n; i++) {
        const slc_pixel_arrival *pixel = &pixels[i];
        const uint32_t soon_yx = pixels[i + AHEAD < n ? i + AHEAD : n - 1].yx;
        const slc_pixel_place *soon = origin + (soon_yx >> 16) * stride + (soon_yx & 0xffff);
        __builtin_prefetch(soon - stride);
        __builtin_prefetch(soon, 1);
        __builtin_prefetch(soon + stride);
        slc_pixel_place *centre = origin + (pixel->yx >> 16) * stride + (pixel->yx & 0xffff);
        const uint64_t oldest = pixel->time > window ? pixel->time - window : 0;
        const met m = look(oldest, stride, centre, radius);
        uint32_t slot;
        if (m.any == 0) {
            slot = open_slot(j, pixel);
        } else {
            slot = m.any == m.all + 1 ? find(j, m.all) : join_several(j, oldest, centre);
            add_sums(j, slot, pixel);
        }
        centre->time = pixel->time;
        centre->slot = slot;
    }
}

/* ---- a hash table ------------------------------------------------------------------------------ */

/* Those behind it move up, as far as they are not before their home then. */
static void empty(slc_pixel_join *j, size_t hole)
{
    const size_t mask = j->table_size - 1;
    for (size_t at = (hole + 1) & mask; !is_empty(&j->table[at]); at = (at + 1) & mask) {
        if (((at - home_of(j, j->table[at].yx)) & mask) >= ((at - hole) & mask)) {
            j->table[hole] = j->table[at];
            hole = at;
        }
    }
    memset(&j->table[hole], 0xff, sizeof j->table[hole]);
    j->n_hashed--;
}

static void empty_dead(slc_pixel_join *j, uint64_t now)
{
    for (size_t i = 0; i < j->table_size; i++) {
        const slc_pixel_place *place = &j->table[i];
        while (!is_empty(place) && (place->slot == SLC_PIXEL_NOWHERE || now - place->time > j->window)) {
            empty(j, i);
        }
    }
}

/* Joins a slot that a new hit meets to those that it met before. */
static inline uint32_t join_slot(slc_pixel_join *j, uint64_t now, const slc_pixel_place *place, uint32_t slot)
{
    if (now - place->time > j->window || place->slot == SLC_PIXEL_NOWHERE) {
        return slot;
    }
    const uint32_t root = find(j, place->slot);
    return slot == SLC_PIXEL_NOWHERE || slot == root ? root : unite(j, slot, root);
}

static uint32_t join_hashed(slc_pixel_join *j, const slc_pixel_arrival *pixel)
{
    const uint32_t reach = j->radius > 0 ? j->radius : 1;
    uint32_t slot = SLC_PIXEL_NOWHERE;
    for (uint32_t dy = 0; dy <= 2 * reach; dy++) {
        for (uint32_t dx = 0; dx <= 2 * reach; dx++) {
            /* Below 0 they wrap round to far beyond the sensor. */
            const uint32_t x = (pixel->yx & 0xffff) + dx - reach, y = (pixel->yx >> 16) + dy - reach;
            if (x <= 0xffff && y <= 0xffff && (j->radius > 0 || dx == 1 || dy == 1)) {
                slot = join_slot(j, pixel->time, seek(j, y << 16 | x), slot);
            }
        }
    }
    return slot;
}

static void run_hashed(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const slc_pixel_arrival *pixel = &pixels[i];
        uint32_t slot = join_hashed(j, pixel);
        if (slot == SLC_PIXEL_NOWHERE) {
            slot = open_slot(j, pixel);
        } else {
            add_sums(j, slot, pixel);
        }
        slc_pixel_place *place = seek(j, pixel->yx);
        j->n_hashed += is_empty(place);
        *place = (slc_pixel_place){.time = pixel->time, .slot = slot, .yx = pixel->yx};
        if (j->n_hashed > j->table_size / 2) {
            empty_dead(j, pixel->time);
        }
    }
}

/* ---- few hits in the window, or many ------------------------------------------------------------ */

/* What the table lacks goes there. */
static void catch_up(slc_pixel_join *j)
{
    const slc_pixel_recent *r = &j->recent;
    for (uint32_t i = FRONT - r->n_front; r->is_ahead && i < FRONT; i++) {
        slc_pixel_place *place = j->is_hashed ? seek(j, r->yx[i]) : place_at(j, r->yx[i]);
        j->n_hashed += j->is_hashed && is_empty(place);
        *place = (slc_pixel_place){.time = r->front_time[i], .slot = r->slot[i], .yx = r->yx[i]};
        j->is_used = true;
    }
    j->recent.is_ahead = false;
}

/* Behind hits that went to the table. */
static void look_back(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    slc_pixel_recent *r = &j->recent;
    for (size_t i = n > FRONT ? n - FRONT : 0; i < n; i++) {
        r->yx[FRONT + i] = pixels[i].yx;
        r->slot[FRONT + i] =
            place_at(j, pixels[i].yx)->slot; /* of a later one: as good, if this is in its window */
        r->together[FRONT + i] = 0;
    }
    slc_pixel_recent_keep(j, pixels, n);
}

static void run_few(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    if (slc_pixel_recent_run(j, pixels, n)) {
        return;
    }
    catch_up(j);
    j->is_used = true;
    if (j->radius == 1) {
        run_table(j, pixels, n, 1);
    } else if (j->radius == 0) {
        run_table(j, pixels, n, 0);
    } else {
        run_table(j, pixels, n, j->radius);
    }
    look_back(j, pixels, n);
}

void slc_pixel_join_run(slc_pixel_join *j, const slc_pixel_arrival *pixels, size_t n)
{
    if (j->is_hashed) {
        catch_up(j);
        j->is_used = true;
        run_hashed(j, pixels, n);
    } else {
        for (size_t i = 0; i < n; i += SLC_PIXEL_NEAR_ROOM) {
            run_few(j, pixels + i, n - i < SLC_PIXEL_NEAR_ROOM ? n - i : SLC_PIXEL_NEAR_ROOM);
        }
    }
    if (n > 0) {
        slc_pixel_join_advance(j, pixels[n - 1].time);
    }
}

/* ---- closing ------------------------------------------------------------------------------------- */

void slc_pixel_join_drop_oldest(slc_pixel_join *j)
{
    const uint32_t slot = j->first;
    slc_pixel_slot *s = &j->slots[slot];
    take_off(j, s);
    if (s->gone_first != SLC_PIXEL_NOWHERE) {
        j->slots[s->gone_last].behind = j->unused;
        s->behind = s->gone_first;
    } else {
        s->behind = j->unused;
    }
    j->unused = slot;
}

/* Nothing joins this hit any more. A place that is not in the window may name a slot that has been used anew.
 */
static inline void let_go(slc_pixel_join *j, slc_pixel_place *place, uint32_t slot)
{
    if (place->slot != SLC_PIXEL_NOWHERE && j->present - place->time <= j->window &&
        find(j, place->slot) == slot) {
        place->slot = SLC_PIXEL_NOWHERE;
        place->time = 0;
    }
}

void slc_pixel_join_close_oldest(slc_pixel_join *j)
{
    const uint32_t slot = j->first;
    slc_pixel_slot *s = &j->slots[slot];
    const size_t width = (size_t)s->x_max - s->x_min + 1, height = (size_t)s->y_max - s->y_min + 1;
    s->is_closed = true;
    slc_pixel_recent_forget(j, slot);
    if (j->is_hashed && width * height > j->table_size) {
        for (size_t i = 0; i < j->table_size; i++) {
            let_go(j, &j->table[i], slot);
        }
        return;
    }
    for (uint32_t y = s->y_min; y <= s->y_max; y++) {
        for (uint32_t x = s->x_min; x <= s->x_max; x++) {
            let_go(j, j->is_hashed ? seek(j, y << 16 | x) : place_at(j, y << 16 | x), slot);
        }
    }
}
