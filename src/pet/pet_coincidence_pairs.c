/* SPDX-License-Identifier: Apache-2.0
 *
 * Groups of singles to pairs. How many pairs there are is counted first, so that every list knows where its
 * rows go.
 */
#include "pet/pet_coincidence_pairs.h"

typedef struct work {
    const slc_pet_pairs_of *of;
    const slc_pet_list *lists;
    slc_pet_coincidences *pairs;
} work;

static inline void write_pair(const slc_pet_pairs_of *of, size_t a, size_t b, size_t row,
                              const slc_pet_coincidences *pairs)
{
    pairs->time_ps[row] = of->time[a];
    pairs->dt_ps[row] = (int64_t)((uint64_t)of->time[b] - (uint64_t)of->time[a] - of->delay_ps);
    pairs->crystal1[row] = of->crystal[a];
    pairs->crystal2[row] = of->crystal[b];
    pairs->energy1_kev[row] = of->energy[a];
    pairs->energy2_kev[row] = of->energy[b];
    pairs->delayed[row] = of->delayed;
}

static void write_list(void *context, uint32_t number)
{
    const work *w = context;
    const slc_pet_pairs_of of = *w->of;
    const slc_pet_coincidences pairs = *w->pairs;
    const slc_pet_groups *rows = w->lists[number].groups;
    size_t row = w->lists[number].row;
    for (size_t r = 0; r < rows->head.size; r++) {
        const size_t first = rows->first[r], second = rows->second[r], end = second + rows->size[r] - 1;
        for (size_t k = second; k < end; k++) {
            write_pair(&of, first, k, row++, &pairs);
        }
        for (size_t i = second; i + 1 < end && !of.delayed; i++) {
            for (size_t k = i + 1; k < end; k++) {
                write_pair(&of, i, k, row++, &pairs);
            }
        }
    }
}

/* Not counted any further than what collections hold. */
static uint64_t pairs_in(const slc_pet_groups *rows, bool delayed)
{
    uint64_t sum = 0;
    for (size_t r = 0; r < rows->head.size && sum <= UINT32_MAX; r++) {
        const uint64_t size = rows->size[r];
        sum += delayed ? size - 1 : size * (size - 1) / 2;
    }
    return sum;
}

slc_status slc_pet_pairs_write(const slc_pet_pairs_of *of, slc_pet_list *lists, uint32_t n, slc_team *team,
                               slc_pet_coincidences *pairs)
{
    const uint64_t most = UINT32_MAX;
    uint64_t wanted = pairs->head.size;
    for (uint32_t k = 0; k < n; k++) {
        const uint64_t some = pairs_in(lists[k].groups, of->delayed);
        lists[k].row = (size_t)wanted;
        if (some > most - wanted) {
            return SLC_ERR_MEMORY;
        }
        wanted += some;
    }
    if (wanted > pairs->head.capacity) {
        const uint64_t more = wanted + wanted / 2;
        if (slc_columns_reserve(&slc_pet_coincidences_schema, pairs, (size_t)(more < most ? more : most),
                                1) != SLC_OK) {
            return SLC_ERR_MEMORY;
        }
    }
    work w = {of, lists, pairs};
    if (team != NULL) {
        slc_team_run(team, n, write_list, &w);
    } else {
        for (uint32_t k = 0; k < n; k++) {
            write_list(&w, k);
        }
    }
    pairs->head.size = (size_t)wanted;
    return SLC_OK;
}
