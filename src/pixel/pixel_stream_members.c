/* SPDX-License-Identifier: Apache-2.0
 * Pixels of clusters in the order of time: a merge sort of lists, which needs no memory of its own. Lists are
 * mostly in order, and short. */
#include "pixel/pixel_stream_members.h"

#include "base/block.h"
#include "base/columns.h"

#include <string.h>

#define SIGN (1ULL << 63)
#define NONE SLC_PIXEL_NO_MEMBER

static const slc_column columns[] = {
    SOA_COLUMN(slc_pixel_members, x, "index"), SOA_COLUMN(slc_pixel_members, y, "index"),
    SOA_COLUMN(slc_pixel_members, charge, "1"), SOA_COLUMN(slc_pixel_members, time, "ticks"),
    SOA_COLUMN(slc_pixel_members, pixel, "index")};
SOA_SCHEMA(slc_pixel_members, slc_pixel_members_schema, "members", columns);

size_t slc_pixel_keeping_lay_out(slc_pixel_keeping *k, char *block, size_t pixels)
{
    const size_t members = slc_block_bound(pixels * sizeof *k->members);
    const size_t chains = slc_block_bound(pixels * sizeof *k->chains);
    if (block != NULL) {
        k->members = slc_block_take(&block, members);
        k->chains = slc_block_take(&block, chains);
        k->unused = NONE;
        k->n_used = 0;
    }
    return members + chains;
}

static bool is_before(const slc_pixel_arrival *a, const slc_pixel_arrival *b)
{
    return a->time != b->time ? a->time < b->time : a->yx != b->yx ? a->yx < b->yx : a->number < b->number;
}

/* Two lists in order to one. */
static uint32_t merge(slc_pixel_member *m, uint32_t a, uint32_t b)
{
    uint32_t first = NONE, *to = &first;
    while (a != NONE && b != NONE) {
        uint32_t *from = is_before(&m[b].pixel, &m[a].pixel) ? &b : &a;
        *to = *from;
        to = &m[*from].next;
        *from = *to;
    }
    *to = a != NONE ? a : b;
    return first;
}

/* Takes the first members that are in order off the list. */
static uint32_t take_run(slc_pixel_member *m, uint32_t *list)
{
    const uint32_t first = *list;
    uint32_t last = first;
    while (m[last].next != NONE && !is_before(&m[m[last].next].pixel, &m[last].pixel)) {
        last = m[last].next;
    }
    *list = m[last].next;
    m[last].next = NONE;
    return first;
}

/* sorted[k] is a list of 2^k runs, or none. */
static uint32_t sort(slc_pixel_member *m, uint32_t list)
{
    enum { LEVELS = 32 };
    uint32_t sorted[LEVELS], all = NONE;
    memset(sorted, 0xff, sizeof sorted);
    while (list != NONE) {
        uint32_t run = take_run(m, &list), level = 0;
        for (; sorted[level] != NONE; level++) {
            run = merge(m, sorted[level], run);
            sorted[level] = NONE;
        }
        sorted[level] = run;
    }
    for (uint32_t level = 0; level < LEVELS; level++) {
        all = sorted[level] != NONE ? merge(m, sorted[level], all) : all;
    }
    return all;
}

void slc_pixel_members_give_out(slc_pixel_keeping *k, uint32_t slot, slc_pixel_members *to)
{
    slc_pixel_member *m = k->members;
    size_t row = to->head.size;
    uint32_t at = sort(m, k->chains[slot].first);
    while (at != NONE) {
        const slc_pixel_arrival *pixel = &m[at].pixel;
        const uint64_t time = pixel->time ^ SIGN;
        const uint32_t next = m[at].next;
        to->x[row] = (uint16_t)pixel->yx;
        to->y[row] = (uint16_t)(pixel->yx >> 16);
        to->charge[row] = pixel->charge;
        memcpy(&to->time[row], &time, sizeof time);
        to->pixel[row++] = pixel->number;
        m[at].next = k->unused;
        k->unused = at;
        at = next;
    }
    to->head.size = row;
    slc_columns_end_event(to);
}
