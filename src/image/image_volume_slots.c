/* SPDX-License-Identifier: Apache-2.0
 * Components that are open while slices come. */
#include "image/image_volume_slots.h"

#include <stdlib.h>

bool slc_volume_grow(void **at, size_t n, size_t size)
{
    void *more = n > SIZE_MAX / size ? NULL : realloc(*at, n * size);
    *at = more != NULL ? more : *at;
    return more != NULL;
}

void slc_volume_slots_begin(slc_volume_slots *s)
{
    s->n_free = 0;
    for (size_t i = s->n; i-- > 0;) {
        s->free[s->n_free++] = (uint32_t)i;
    }
    s->n_united = 0;
}

void slc_volume_slots_clear(slc_volume_slots *s)
{
    free(s->at);
    free(s->greys);
    free(s->free);
    free(s->united);
}

bool slc_volume_slots_reserve(slc_volume_slots *s, size_t n)
{
    if (s->n_free >= n) {
        return true;
    }
    const size_t doubled = 2 * s->n, enough = s->n + n - s->n_free;
    const size_t all = doubled > enough ? doubled : enough;
    if (all >= slc_volume_no_slot || !slc_volume_grow((void **)&s->at, all, sizeof *s->at) ||
        (s->grey && !slc_volume_grow((void **)&s->greys, all, sizeof *s->greys)) ||
        !slc_volume_grow((void **)&s->free, all, sizeof *s->free) ||
        !slc_volume_grow((void **)&s->united, all, sizeof *s->united)) {
        return false;
    }
    for (size_t i = all; i-- > s->n;) {
        s->free[s->n_free++] = (uint32_t)i;
    }
    s->n = all;
    return true;
}

uint32_t slc_volume_slots_take(slc_volume_slots *s)
{
    const uint32_t at = s->free[--s->n_free];
    s->at[at] = (slc_volume_slot){.parent = at};
    if (s->grey) {
        slc_volume_grey_begin(&s->greys[at], 1);
    }
    return at;
}

void slc_volume_slots_release(slc_volume_slots *s)
{
    while (s->n_united > 0) {
        s->free[s->n_free++] = s->united[--s->n_united];
    }
}

void slc_volume_slots_unite(slc_volume_slots *s, uint32_t one, uint32_t other)
{
    const bool larger = s->at[one].sums.volume >= s->at[other].sums.volume;
    const uint32_t stays = larger ? one : other, goes = larger ? other : one;
    if (s->grey) {
        slc_volume_grey_merge(&s->greys[stays], &s->greys[goes]);
    }
    slc_volume_sums_merge(&s->at[stays].sums, &s->at[goes].sums);
    s->at[goes].parent = stays;
    s->united[s->n_united++] = goes;
}

void slc_volume_slots_add(slc_volume_slots *s, uint32_t root, const slc_volume_grey_run *run)
{
    slc_volume_sums_add(&s->at[root].sums, run->first, run->behind, run->y, run->z);
    if (s->grey) {
        slc_volume_grey_add_once(&s->greys[root], run);
    }
}

void slc_volume_slots_end(slc_volume_slots *s, uint32_t root)
{
    s->free[s->n_free++] = root;
    if (s->grey) {
        slc_volume_grey_end(&s->greys[root], 1, s->type);
    }
}

void slc_volume_slots_put(const slc_volume_slots *s, uint32_t root, slc_volume_components *to, size_t row)
{
    slc_volume_sums_put(&s->at[root].sums, 1, to, row);
    if (s->grey) {
        slc_volume_grey_put(&s->greys[root], 1, to, row);
    }
}
