/* SPDX-License-Identifier: Apache-2.0
 * Prompts of mixed copies (pet_randoms_mix.h): the stage of coincidences finds them, so that they are those
 * of every policy. */
#include "pet/pet_randoms_mix.h"
#include "base/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

slc_status slc_pet_mix_open(slc_pet_mix *mix, const slc_pet_coincidence_config *prompt, slc_error *error)
{
    slc_pet_coincidence_config config = *prompt;
    config.low_kev = 0;
    config.high_kev = INFINITY;
    config.exec.threads = 1;
    config.exec.device = NULL;
    return slc_pet_coincidence_open(&config, &mix->stage, error);
}

void slc_pet_mix_clear(slc_pet_mix *mix)
{
    slc_pet_coincidence_close(mix->stage);
    slc_columns_clear(&slc_pet_singles_schema, &mix->singles);
    slc_columns_clear(&slc_pet_groups_schema, &mix->groups);
    free(mix->copy);
    free(mix->fan);
    free(mix->tally);
    *mix = (slc_pet_mix){0};
}

slc_status slc_pet_mix_grow(slc_pet_mix *mix)
{
    const size_t capacity = mix->capacity == 0 ? 1024 : 2 * mix->capacity;
    uint8_t *copy = realloc(mix->copy, capacity);
    mix->copy = copy != NULL ? copy : mix->copy;
    if (copy == NULL || slc_columns_reserve(&slc_pet_singles_schema, &mix->singles, capacity, 0) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    mix->capacity = capacity;
    return SLC_OK;
}

/* Of one group the pairs of copies 0 and 1. */
static uint64_t crossing(const slc_pet_mix *mix, size_t first, size_t second, uint32_t size)
{
    uint64_t of[SLC_PET_COPIES] = {0};
    of[mix->copy[first]]++;
    for (uint32_t k = 0; k + 1 < size; k++) {
        of[mix->copy[second + k]]++;
    }
    return of[0] * of[1];
}

/* The row of the bin that a time is in. Times come nearly in order, so that it is one of the last, or new. */
static slc_pet_tally *tally_of(slc_pet_mix *mix, int64_t time_ps)
{
    const int64_t width = mix->watch->bin_ps, bin = time_ps / width - (time_ps % width < 0);
    for (size_t k = mix->n_tally; k > 0 && k + 4 > mix->n_tally; k--) {
        if (mix->tally[k - 1].bin == bin) {
            return &mix->tally[k - 1];
        }
    }
    if (mix->n_tally == mix->tally_capacity) {
        const size_t capacity = mix->tally_capacity == 0 ? 64 : 2 * mix->tally_capacity;
        slc_pet_tally *tally = realloc(mix->tally, capacity * sizeof *tally);
        if (tally == NULL) {
            return NULL;
        }
        mix->tally = tally;
        mix->tally_capacity = capacity;
    }
    mix->tally[mix->n_tally] = (slc_pet_tally){.bin = bin};
    return &mix->tally[mix->n_tally++];
}

/* Counts those pairs by bin and crystal. */
static slc_status watch(slc_pet_mix *mix, size_t first, size_t second, uint32_t size)
{
    const slc_pet_watch *w = mix->watch;
    const uint32_t *crystal = mix->singles.crystal;
    for (uint32_t i = 0; i + 1 < size; i++) {
        const size_t a = i == 0 ? first : second + i - 1;
        for (uint32_t k = i; k + 1 < size; k++) {
            const size_t b = second + k;
            const bool crosses = mix->copy[a] + mix->copy[b] == 1; /* 0 and 1 */
            if (!crosses || w->block[crystal[a]] == w->block[crystal[b]]) {
                continue;
            }
            slc_pet_tally *row = tally_of(mix, mix->singles.time_ps[a]);
            if (row == NULL) {
                return SLC_ERR_MEMORY;
            }
            row->two++;
            if (mix->fan != NULL) {
                mix->fan[crystal[a]]++;
                mix->fan[crystal[b]]++;
            }
        }
    }
    return SLC_OK;
}

/* Forgets the first ones. */
static void drop(slc_pet_mix *mix, size_t n)
{
    slc_pet_singles *s = &mix->singles;
    const size_t left = s->head.size - n;
    if (left > 0) {
        memmove(s->time_ps, s->time_ps + n, left * sizeof *s->time_ps);
        memmove(s->crystal, s->crystal + n, left * sizeof *s->crystal);
        memmove(s->energy_kev, s->energy_kev + n, left * sizeof *s->energy_kev);
        memmove(mix->copy, mix->copy + n, left);
    }
    s->head.size = left;
    mix->base += n;
    mix->given = left;
}

slc_status slc_pet_mix_find(slc_pet_mix *mix, bool last, slc_error *error)
{
    const size_t n = mix->singles.head.size;
    if (n == 0 && (!last || mix->base == 0)) { /* the stage has begun nothing */
        return SLC_OK;
    }
    slc_pet_singles some = mix->singles;
    some.time_ps += mix->given;
    some.crystal += mix->given;
    some.energy_kev += mix->given;
    some.head.size = n - mix->given;
    slc_columns_reset(&mix->groups);
    const slc_status status = slc_pet_coincidence_run(mix->stage, &some, last, &mix->groups, error);
    if (status != SLC_OK) {
        return status;
    }
    for (size_t r = 0; r < mix->groups.head.size; r++) {
        const size_t first = (size_t)(mix->groups.first[r] - mix->base);
        const size_t second = (size_t)(mix->groups.second[r] - mix->base);
        mix->crossing += crossing(mix, first, second, mix->groups.size[r]);
        if (mix->watch != NULL && watch(mix, first, second, mix->groups.size[r]) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the bins of randoms");
        }
    }
    drop(mix, last ? n : n - slc_pet_coincidence_waiting(mix->stage));
    mix->base = last ? 0 : mix->base;
    return SLC_OK;
}
