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
        mix->crossing += crossing(mix, (size_t)(mix->groups.first[r] - mix->base),
                                  (size_t)(mix->groups.second[r] - mix->base), mix->groups.size[r]);
    }
    drop(mix, last ? n : n - slc_pet_coincidence_waiting(mix->stage));
    mix->base = last ? 0 : mix->base;
    return SLC_OK;
}
