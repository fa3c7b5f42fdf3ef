/* SPDX-License-Identifier: Apache-2.0
 * Coincidences for tests. */
#include "support/pet_cases.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int64_t step(uint64_t *seed, int64_t mean, int kind, uint32_t chain)
{
    const double u = random_unit(seed);
    switch (kind) {
    case 0:
        return (int64_t)(-log(1 - u) * (double)mean);
    case 1:
        return u < 0.5 ? 0 : random_below(seed, (uint32_t)(2 * mean + 1));
    case 2:
        return random_below(seed, 4) * (mean / 2 + 1);
    case 3:
        return random_below(seed, chain) == 0 ? 1000 * mean : mean;
    default:
        return random_below(seed, 50) == 0   ? (int64_t)1 << 33
               : random_below(seed, 50) == 0 ? (int64_t)1 << 41
                                             : random_below(seed, (uint32_t)(2 * mean + 1));
    }
}

void pet_cases_singles(uint64_t *seed, size_t n, int64_t mean, int kind, uint32_t chain, int64_t *time_ps,
                       uint32_t *crystal, float *energy_kev)
{
    static const int64_t begins[] = {0, -1000000, INT64_C(1) << 61, -(INT64_C(1) << 62),
                                     (INT64_C(1) << 32) - 50};
    int64_t time = begins[random_below(seed, 5)];
    const uint32_t few = random_below(seed, 3) == 0 ? 7 : PET_CASES_CRYSTALS;
    const bool near = random_below(seed, 3) == 0; /* all in a few sectors: many pairs are not good */
    for (size_t i = 0; i < n; i++) {
        time_ps[i] = time;
        crystal[i] = near ? random_below(seed, 40) + 312 * random_below(seed, 40) : random_below(seed, few);
        energy_kev[i] = 300 + 8 * (float)random_below(seed, 40); /* sums are often equal */
        time += step(seed, mean, kind, chain);
    }
}

slc_pet_good pet_cases_good(int kind)
{
    static const slc_pet_geometry scanner = {24, 1, 1, 1, 2, 13, 20, 60, 2, 0, NULL};
    if (kind == SLC_PET_GOOD_GEOMETRY) {
        return (slc_pet_good){.kind = SLC_PET_GOOD_GEOMETRY,
                              .scanner = &scanner,
                              .min_degrees = 40.1,
                              .fov_mm = 44.4,
                              .max_axial_mm = 39,
                              .min_modules = 3};
    }
    return (slc_pet_good){.kind = (slc_pet_good_kind)kind,
                          .crystals_per_ring = 312,
                          .sectors = 24,
                          .min_sectors = 2,
                          .radius_mm = 60,
                          .pitch_z_mm = 2,
                          .min_mm = 59,
                          .max_axial_mm = 39};
}

bool pet_cases_is_opengate(int policy)
{
    return policy >= SLC_PET_OPENGATE_REMOVE_MULTIPLES &&
           policy <= SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS;
}

slc_pet_coincidence_config pet_cases_config(int policy, int number)
{
    slc_pet_coincidence_config config;
    slc_pet_coincidence_config_default(&config);
    config.policy = (slc_pet_policy)policy;
    config.all_open = number & 1;
    config.closed = number & 2;
    config.compat_gate9 = number & 8;
    config.good = pet_cases_good(number / 16 % SLC_PET_GOOD_KINDS);
    return config;
}

size_t pet_cases_batch(size_t left, size_t batch, uint64_t *seed)
{
    const size_t n = batch != 0 ? batch : random_below(seed, 4) == 0 ? 0 : 1 + random_below(seed, 300);
    return n < left ? n : left;
}

/* ---- rows -------------------------------------------------------------------------------------- */

void pet_cases_clear(pet_cases_rows *rows)
{
    slc_columns_clear(&slc_pet_groups_schema, &rows->groups);
    slc_columns_clear(&slc_pet_coincidences_schema, &rows->pairs);
}

static bool same_group(const slc_pet_groups *f, const slc_pet_groups *w, size_t i)
{
    return f->first[i] == w->first[i] && f->second[i] == w->second[i] && f->size[i] == w->size[i];
}

static bool same_pair(const slc_pet_coincidences *p, const slc_pet_coincidences *q, size_t i)
{
    return p->time_ps[i] == q->time_ps[i] && p->dt_ps[i] == q->dt_ps[i] && p->crystal1[i] == q->crystal1[i] &&
           p->crystal2[i] == q->crystal2[i] && p->energy1_kev[i] == q->energy1_kev[i] &&
           p->energy2_kev[i] == q->energy2_kev[i] && p->delayed[i] == q->delayed[i];
}

void pet_cases_same(const pet_cases_rows *found, const pet_cases_rows *wanted, bool pairs, const char *what)
{
    const size_t n = pairs ? wanted->pairs.head.size : wanted->groups.head.size;
    const size_t m = pairs ? found->pairs.head.size : found->groups.head.size;
    for (size_t i = 0; i < n && i < m; i++) {
        if (pairs ? !same_pair(&found->pairs, &wanted->pairs, i)
                  : !same_group(&found->groups, &wanted->groups, i)) {
            fail_msg("%s: row %zu of %zu differs", what, i, n);
        }
    }
    if (m != n) {
        fail_msg("%s: %zu rows, not %zu", what, m, n);
    }
    if (memcmp(&found->counts, &wanted->counts, sizeof found->counts) != 0) {
        fail_msg("%s: counts of singles, windows, pairs, groups %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
                 ", not %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64,
                 what, found->counts.singles, found->counts.windows, found->counts.pairs,
                 found->counts.groups, wanted->counts.singles, wanted->counts.windows, wanted->counts.pairs,
                 wanted->counts.groups);
    }
}
