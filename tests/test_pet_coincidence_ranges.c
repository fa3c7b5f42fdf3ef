/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences of ranges of time, as processes that share a measurement find them, are those of one stage:
 * the same pairs in the same order, the same counts and checksum, for every policy, windows that are single
 * or open for every single, prompt and delayed, at all rates, and wherever the borders are. What a range
 * hands on without knowing what is before it is what it hands on if it knows.
 */
#include "support/cmocka_all.h"
#include "support/pet_cases.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <inttypes.h>
#include <sluice/pet_chain.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 20000, RANGES = 8, STEP = SANITIZED ? 11 : 1, WINDOW = 4000 };

static int64_t times[MOST];
static uint32_t crystals[MOST];
static float energies[MOST];
static size_t n_singles;

typedef struct totals {
    slc_pet_coincidences pairs;
    slc_pet_coincidence_counts counts;
    uint64_t checksum;
} totals;

/* How often ranges knew by themselves, and asked. */
static size_t knew, asked;

static slc_pet_singles some(size_t from, size_t end)
{
    return (slc_pet_singles){.head = {.size = end - from},
                             .time_ps = times + from,
                             .crystal = crystals + from,
                             .energy_kev = energies + from};
}

static size_t place_of(int64_t time)
{
    size_t i = 0;
    while (i < n_singles && times[i] < time) {
        i++;
    }
    return i;
}

static slc_pet_coincidence *opened(const slc_pet_coincidence_config *config)
{
    slc_pet_coincidence *stage = NULL;
    slc_error error = {SLC_OK, ""};
    if (slc_pet_coincidence_open(config, &stage, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return stage;
}

static void one_pass(const slc_pet_coincidence_config *config, totals *to)
{
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = opened(config);
    const slc_pet_singles all = some(0, n_singles);
    assert_int_equal(slc_pet_coincidence_run_pairs(stage, &all, true, &to->pairs, &error), SLC_OK);
    slc_pet_coincidence_counts_of(stage, &to->counts);
    to->checksum = slc_pet_pairs_checksum(&to->pairs, config->offset_ns > 0, 0);
    slc_pet_coincidence_close(stage);
}

static void add_counts(slc_pet_coincidence_counts *to, const slc_pet_coincidence_counts *from)
{
    to->singles += from->singles;
    to->windows += from->windows;
    to->pairs += from->pairs;
    to->groups += from->groups;
    to->inside += from->inside;
    for (int m = 0; m < SLC_PET_MULTIPLICITIES; m++) {
        to->multiplicity[m] += from->multiplicity[m];
    }
}

static void same_openers(const slc_pet_openers *a, const slc_pet_openers *b)
{
    assert_int_equal(a->n, b->n);
    if (a->n > 0) {
        assert_memory_equal(a->time_ps, b->time_ps, a->n * sizeof *a->time_ps);
    }
}

/* What a range hands on: as it can tell by itself, and as it must be. */
static void hand_on(const slc_pet_coincidence *stage, const slc_pet_range *range, const slc_pet_singles *own,
                    const slc_pet_openers *before, slc_pet_openers *after)
{
    slc_pet_openers alone = {0};
    slc_error error = {SLC_OK, ""};
    bool known = false;
    assert_int_equal(slc_pet_coincidence_hand_on(stage, range, own, before, after, &known, &error), SLC_OK);
    assert_true(known);
    assert_int_equal(slc_pet_coincidence_hand_on(stage, range, own, NULL, &alone, &known, &error), SLC_OK);
    knew += known;
    asked += !known;
    if (known) {
        same_openers(&alone, after);
    }
    free(alone.time_ps);
}

/* One range, in a stage of its own. The halo is longer than it must be by some singles, or not. */
static void run_range(const slc_pet_coincidence_config *config, const slc_pet_range *range, bool last,
                      uint64_t *seed, slc_pet_openers *before, totals *to)
{
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = opened(config);
    const int64_t reach = (int64_t)((config->window_ns + config->offset_ns) * 1000);
    const size_t begin = place_of(range->begin_ps), end = last ? n_singles : place_of(range->end_ps);
    size_t beyond = end;
    while (beyond < n_singles && times[beyond] < range->end_ps + reach) {
        beyond++;
    }
    beyond += n_singles - beyond > 3 ? random_below(seed, 3) : 0;
    const slc_pet_singles own = some(begin, end), halo = some(end, beyond);
    slc_pet_openers after = {0};
    if (!last) {
        hand_on(stage, range, &own, before, &after);
    }
    assert_int_equal(slc_pet_coincidence_enter(stage, before, &error), SLC_OK);
    const size_t batch = random_below(seed, 2) ? SIZE_MAX : 0, rows = to->pairs.head.size;
    for (size_t at = begin; at < end;) {
        const size_t n = pet_cases_batch(end - at, batch, seed);
        const slc_pet_singles piece = some(at, at + n);
        assert_int_equal(slc_pet_coincidence_run_pairs(stage, &piece, false, &to->pairs, &error), SLC_OK);
        at += n;
    }
    assert_int_equal(slc_pet_coincidence_leave(stage, &halo, &to->pairs, &error), SLC_OK);
    slc_pet_coincidence_counts counts;
    slc_pet_coincidence_counts_of(stage, &counts);
    add_counts(&to->counts, &counts);
    slc_pet_coincidences pairs = to->pairs; /* of this range alone */
    pairs.head.size -= rows;
    if (pairs.head.size > 0) {
        pairs.time_ps += rows;
        pairs.dt_ps += rows;
        pairs.crystal1 += rows;
        pairs.crystal2 += rows;
        pairs.energy1_kev += rows;
        pairs.energy2_kev += rows;
        to->checksum += slc_pet_pairs_checksum(&pairs, config->offset_ns > 0, rows);
    }
    slc_pet_coincidence_close(stage);
    free(before->time_ps);
    *before = after;
}

/* Borders in order: shares of the singles; anywhere; many within a window; at singles and a step beside them,
 * and where windows that are opened there end. */
static void make_borders(uint64_t *seed, int kind, int n, int64_t *borders)
{
    for (int k = 1; k < n; k++) {
        const size_t share = n_singles * (size_t)k / (size_t)n, any = random_below(seed, (uint32_t)n_singles);
        const size_t middle = n_singles / 2;
        borders[k] = kind == 0   ? times[share]
                     : kind == 1 ? times[any] + random_below(seed, WINDOW)
                     : kind == 2 ? times[middle] + k * (WINDOW / 3)
                                 : times[any] + (int64_t)random_below(seed, 3) - 1 +
                                       (random_below(seed, 2) ? WINDOW : 0);
    }
    for (int i = 1; i < n; i++) { /* few */
        for (int k = i + 1; k < n; k++) {
            if (borders[k] < borders[i]) {
                const int64_t other = borders[i];
                borders[i] = borders[k];
                borders[k] = other;
            }
        }
    }
}

static void check(const slc_pet_coincidence_config *config, uint64_t *seed, int ranges,
                  const int64_t *borders, const totals *wanted, const char *what)
{
    totals found = {.checksum = 0};
    slc_pet_openers before = {0};
    for (int k = 0; k < ranges; k++) {
        const slc_pet_range range = {borders[k], k + 1 < ranges ? borders[k + 1] : INT64_MAX};
        run_range(config, &range, k + 1 == ranges, seed, &before, &found);
    }
    const pet_cases_rows a = {.pairs = found.pairs, .counts = found.counts};
    const pet_cases_rows b = {.pairs = wanted->pairs, .counts = wanted->counts};
    pet_cases_same(&a, &b, true, what);
    if (found.checksum != wanted->checksum) {
        fail_msg("%s: checksum", what);
    }
    free(before.time_ps);
    slc_columns_clear(&slc_pet_coincidences_schema, &found.pairs);
}

/* All borders of one list. */
static void check_list(slc_pet_coincidence_config config, uint64_t *seed, int number)
{
    static const int ranges[] = {1, 2, 3, 4, 8};
    totals wanted = {.checksum = 0};
    char what[160];
    one_pass(&config, &wanted);
    for (int i = 0; i < 5; i++) {
        const int kind = (i + number) % 4;
        (void)snprintf(what, sizeof what, "%s, %s, delay %g ns, list %d, %zu singles, %d ranges, borders %d",
                       slc_pet_policy_name(config.policy), config.all_open ? "all-open" : "single",
                       config.offset_ns, number, n_singles, ranges[i], kind);
        int64_t borders[RANGES] = {INT64_MIN};
        make_borders(seed, kind, ranges[i], borders);
        check(&config, seed, ranges[i], borders, &wanted, what);
    }
    slc_columns_clear(&slc_pet_coincidences_schema, &wanted.pairs);
}

static void ranges_give_what_one_stage_gives(void **state)
{
    (void)state;
    static const int64_t means[] = {10 * WINDOW, WINDOW, WINDOW / 5, WINDOW / 20};
    static const double delays_ns[] = {0, 4, 25, 100};
    uint64_t seed = 7;
    int number = 0;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        for (int rate = 0; rate < 4; rate++) {
            for (int kind = 0; kind < 5; kind++) {
                for (int delay = 0; delay < (pet_cases_is_opengate(policy) ? 1 : 4); delay++, number++) {
                    if (number % STEP != 0) {
                        continue;
                    }
                    slc_pet_coincidence_config config = pet_cases_config(policy, number);
                    config.window_ns = WINDOW * 1e-3;
                    config.offset_ns = delays_ns[delay];
                    config.all_open = (number / 4 + delay) % 2 != 0;
                    n_singles = 50 + random_below(&seed, 400);
                    pet_cases_singles(&seed, n_singles, means[rate], kind, 100, times, crystals, energies);
                    check_list(config, &seed, number);
                    config.all_open = !config.all_open;
                    check_list(config, &seed, number + 1);
                }
            }
        }
    }
    /* At low rates a range knows; where there is no gap it must be told. */
    assert_true(knew > 100);
    assert_true(asked > 100);
}

/* Few picoseconds, so that every edge of a window meets a single and a border. */
static void every_edge_is_met(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int number = 0; number < 30000; number += STEP) {
        slc_pet_coincidence_config config = pet_cases_config(SLC_PET_TAKE_ALL_GOODS, number & 2);
        config.window_ns = 1e-3 * (1 + random_below(&seed, 4));
        config.offset_ns = random_below(&seed, 2) ? 1e-3 * (1 + random_below(&seed, 9)) : 0;
        n_singles = random_below(&seed, 16);
        for (size_t i = 0; i < n_singles; i++) {
            times[i] = (i > 0 ? times[i - 1] : 0) + random_below(&seed, 4);
            crystals[i] = (uint32_t)i;
        }
        const int64_t span = n_singles > 0 ? times[n_singles - 1] : 0;
        int64_t borders[3] = {INT64_MIN, random_below(&seed, (uint32_t)span + 3) - 1, 0};
        borders[2] = borders[1] + random_below(&seed, 12);
        totals wanted = {.checksum = 0};
        one_pass(&config, &wanted);
        check(&config, &seed, 3, borders, &wanted, "few picoseconds");
        slc_columns_clear(&slc_pet_coincidences_schema, &wanted.pairs);
    }
}

static void long_lists_and_threads_too(void **state)
{
    (void)state;
    static const int policies[] = {SLC_PET_KILL_ALL, SLC_PET_TAKE_ALL_GOODS, SLC_PET_TAKE_WINNER_OF_GOODS};
    uint64_t seed = 11;
    for (int number = 0; number < 3 * 2 * 2 * 3; number++) {
        slc_pet_coincidence_config config = pet_cases_config(policies[number % 3], 0);
        config.window_ns = WINDOW * 1e-3;
        config.all_open = number / 3 % 2 != 0;
        config.offset_ns = number / 6 % 2 != 0 ? 30 : 0;
        config.exec.threads = 1 + (uint32_t)(number % 2);
        n_singles = MOST;
        pet_cases_singles(&seed, MOST, number / 12 == 0 ? 10 * WINDOW : WINDOW / (3 * (number / 12)), 0, 100,
                          times, crystals, energies);
        check_list(config, &seed, number);
    }
}

/* Steps as long as half a window never let two ways meet: the range must ask. */
static void what_cannot_be_known_is_asked(void **state)
{
    (void)state;
    slc_pet_coincidence_config config = pet_cases_config(SLC_PET_KILL_ALL, 0);
    config.window_ns = WINDOW * 1e-3;
    config.closed = true;
    config.all_open = false;
    n_singles = 1000;
    for (size_t i = 0; i < n_singles; i++) {
        times[i] = (int64_t)i * (WINDOW / 2);
    }
    slc_pet_coincidence *stage = opened(&config);
    slc_error error = {SLC_OK, ""};
    slc_pet_openers after = {0};
    const slc_pet_singles own = some(500, 899);
    const slc_pet_range range = {times[500], times[899]};
    bool known = true;
    assert_int_equal(slc_pet_coincidence_hand_on(stage, &range, &own, NULL, &after, &known, &error), SLC_OK);
    assert_false(known);
    int64_t opener = times[498];
    const slc_pet_openers before = {&opener, 1, 1};
    assert_int_equal(slc_pet_coincidence_hand_on(stage, &range, &own, &before, &after, &known, &error),
                     SLC_OK);
    assert_true(known);
    assert_int_equal(after.n, 1); /* every third opens one */
    assert_int_equal(after.time_ps[0], times[897]);
    free(after.time_ps);
    slc_pet_coincidence_close(stage);
}

static void an_energy_window_is_refused(void **state)
{
    (void)state;
    slc_pet_coincidence_config config;
    slc_pet_coincidence_config_default(&config);
    config.low_kev = 350;
    slc_pet_coincidence *stage = opened(&config);
    slc_error error = {SLC_OK, ""};
    const slc_pet_openers none = {0};
    assert_int_equal(slc_pet_coincidence_enter(stage, &none, &error), SLC_ERR_USAGE);
    slc_pet_coincidence_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ranges_give_what_one_stage_gives), cmocka_unit_test(every_edge_is_met),
        cmocka_unit_test(long_lists_and_threads_too),       cmocka_unit_test(what_cannot_be_known_is_asked),
        cmocka_unit_test(an_energy_window_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
