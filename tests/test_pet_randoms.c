/* SPDX-License-Identifier: Apache-2.0
 *
 * The counts that the estimate of randoms is made of, against copies that are laid over each other as a whole
 * and searched by the oracle of coincidences: every policy, windows of both kinds, batches down to none,
 * threads; chains that never end. And what the estimate makes of counts.
 */
#include "oracle/pet_coincidence_oracle.h"
#include "support/cmocka_all.h"
#include "support/pet_cases.h"
#include "support/random.h"

#include "pet/pet_randoms_mix.h"

#include <sluice/pet_rates.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60000 };
static int64_t times[MOST];
static uint32_t crystals[MOST];
static float energies[MOST];

/* ---- the oracle -------------------------------------------------------------------------------- */

typedef struct row {
    int64_t time;
    size_t copy, single;
} row;

static int by_time(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->time != y->time) {
        return x->time < y->time ? -1 : 1;
    }
    return x->copy != y->copy       ? (x->copy < y->copy ? -1 : 1)
           : x->single != y->single ? (x->single < y->single ? -1 : 1)
                                    : 0;
}

static bool inside(const slc_pet_coincidence_config *config, size_t i)
{
    return energies[i] >= config->low_kev && energies[i] < config->high_kev;
}

/* Pairs of copies 0 and 1 among the prompts of so many copies, from the first single's time to two delays
 * before the last. */
static uint64_t crossing(const slc_pet_coincidence_config *config, size_t n, int64_t begin, int64_t end,
                         int64_t delay, size_t copies)
{
    row *rows = malloc((copies * n + 1) * sizeof *rows);
    assert_non_null(rows);
    size_t many = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < copies && inside(config, i); k++) {
            const int64_t time = times[i] - (int64_t)k * delay;
            if (time >= begin && time < end) {
                rows[many++] = (row){time, k, i};
            }
        }
    }
    qsort(rows, many, sizeof *rows, by_time);
    int64_t *time = malloc((many + 1) * sizeof *time);
    uint32_t *crystal = malloc((many + 1) * sizeof *crystal);
    float *energy = malloc((many + 1) * sizeof *energy);
    assert_true(time != NULL && crystal != NULL && energy != NULL);
    for (size_t i = 0; i < many; i++) {
        time[i] = rows[i].time;
        crystal[i] = crystals[rows[i].single];
        energy[i] = energies[rows[i].single];
    }
    slc_pet_coincidence_config all = *config;
    all.low_kev = 0;
    all.high_kev = INFINITY;
    const pet_oracle_input in = {time, crystal, energy, many, (int64_t)(config->window_ns * 1000 + 0.5), 0};
    slc_pet_groups groups = {.head = {0}};
    slc_pet_coincidence_counts counts;
    pet_coincidence_oracle(&all, &in, &groups, NULL, &counts);
    uint64_t sum = 0;
    for (size_t r = 0; r < groups.head.size; r++) {
        uint64_t of[3] = {0};
        of[rows[groups.first[r]].copy]++;
        for (uint32_t k = 0; k + 1 < groups.size[r]; k++) {
            of[rows[groups.second[r] + k].copy]++;
        }
        sum += of[0] * of[1];
    }
    slc_columns_clear(&slc_pet_groups_schema, &groups);
    free(rows);
    free(time);
    free(crystal);
    free(energy);
    return sum;
}

static slc_pet_randoms_counts expect(const slc_pet_coincidence_config *config, size_t n, int64_t delay)
{
    slc_pet_randoms_counts c = {0};
    size_t last = n;
    for (size_t i = 0; i < n; i++) {
        if (inside(config, i)) {
            last = i;
            c.singles++;
        }
    }
    if (last == n || times[last] - times[0] <= 2 * delay) {
        return c;
    }
    const int64_t end = times[last] - 2 * delay;
    for (size_t i = 0; i < n; i++) {
        c.mixed += inside(config, i) && times[i] < end;
    }
    c.two = crossing(config, n, times[0], end, delay, 2);
    c.three = crossing(config, n, times[0], end, delay, 3);
    return c;
}

/* ---- the stage --------------------------------------------------------------------------------- */

static void check(slc_pet_coincidence_config config, size_t n, int64_t window, int64_t delay,
                  const size_t *batches, size_t n_batches, uint64_t seed)
{
    config.window_ns = (double)window / 1000;
    const slc_pet_randoms_counts wanted = expect(&config, n, delay);
    for (uint32_t threads = 1; threads <= 5; threads += 2) {
        config.exec.threads = threads;
        slc_pet_randoms *stage = NULL;
        slc_error error = {.status = SLC_OK};
        assert_int_equal(slc_pet_randoms_open(&config, (double)delay / 1000, &stage, &error), SLC_OK);
        for (size_t b = 0; b < n_batches; b++) { /* one stage for all: nothing stays of an input */
            for (size_t at = 0, some = 0; at <= n; at += some) {
                some = at < n ? pet_cases_batch(n - at, batches[b], &seed) : 0;
                const slc_pet_singles part = {.head = {.size = some},
                                              .time_ps = times + at,
                                              .crystal = crystals + at,
                                              .energy_kev = energies + at};
                if (slc_pet_randoms_run(stage, &part, at == n, &error) != SLC_OK) {
                    fail_msg("%s", error.text);
                }
                if (at == n) {
                    break;
                }
            }
            slc_pet_randoms_counts found;
            slc_pet_randoms_counts_of(stage, &found);
            if (found.singles != wanted.singles || found.mixed != wanted.mixed || found.two != wanted.two ||
                found.three != wanted.three) {
                fail_msg("%s, %s, window %" PRId64 ", delay %" PRId64
                         ", %zu singles, %u threads, batches of %zu: found %" PRIu64 ", %" PRIu64 ", %" PRIu64
                         ", %" PRIu64 ", wanted %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                         slc_pet_policy_name(config.policy), config.all_open ? "all-open" : "single", window,
                         delay, n, threads, batches[b], found.singles, found.mixed, found.two, found.three,
                         wanted.singles, wanted.mixed, wanted.two, wanted.three);
            }
        }
        slc_pet_randoms_close(stage);
    }
}

static void make(uint64_t *seed, size_t n, int64_t mean, int kind)
{
    pet_cases_singles(seed, n, mean, kind, 300, times, crystals, energies);
}

static void counts_are_those_of_copies_as_a_whole(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        for (int number = 0; number < 16; number++) {
            slc_pet_coincidence_config config = pet_cases_config(policy, number + 16 * (policy % 3));
            const int64_t mean = 20 + random_below(&seed, 100);
            const size_t n = random_below(&seed, number % 4 == 0 ? 20 : 400);
            make(&seed, n, mean, number % 5);
            const int64_t window = 1 + random_below(&seed, (uint32_t)(number % 3 == 0 ? 5 * mean : mean));
            const int64_t delay = window + random_below(&seed, (uint32_t)(20 * mean));
            if (number % 7 == 0) {
                config.low_kev = 350;
                config.high_kev = 550;
            }
            const size_t batches[] = {SIZE_MAX, 0, 7};
            check(config, n, window, delay, batches, 3, seed);
        }
    }
}

/* So many that threads have shares of them. */
static void threads_share_them(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int number = 0; number < 8; number++) {
        const slc_pet_coincidence_config config = pet_cases_config(2 * number % SLC_PET_POLICIES, number);
        make(&seed, 30000, 1000, number % 4);
        const size_t batches[] = {SIZE_MAX, 9000};
        check(config, 30000, 100 + 400 * (number % 3), 20000, batches, 2, seed);
    }
}

/* Copies without a gap of a window's length: longer than what is mixed at once, with more windows than end.
 */
static void chains_without_end(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int number = 0; number < 4; number++) {
        const slc_pet_coincidence_config config = pet_cases_config(
            number % 2 ? SLC_PET_KILL_ALL : SLC_PET_MULTIPLES_AS_SEQUENTIAL, number);
        make(&seed, 14000, 100, 0);
        const size_t batches[] = {SIZE_MAX, 5000, 0};
        check(config, 14000, number < 3 ? 600 : 1500, 5000, batches, number == 0 ? 3 : 2, seed);
    }
}

/* ---- the rest ---------------------------------------------------------------------------------- */

static void an_estimate_of_counts(void **state)
{
    (void)state;
    double sigma = 0;
    const slc_pet_randoms_counts counts = {.singles = 2000, .mixed = 1000, .two = 200, .three = 100};
    assert_true(slc_pet_randoms_of(&counts, &sigma) == 2 * 200.0 * 200 / 200);
    assert_true(sigma == 400 / sqrt(100));
    const slc_pet_randoms_counts few = {.singles = 1000, .mixed = 1000, .two = 4};
    assert_true(slc_pet_randoms_of(&few, &sigma) == 2 && sigma == 1);
    const slc_pet_randoms_counts none = {0};
    assert_true(slc_pet_randoms_of(&none, NULL) == 0);
    const slc_pet_randoms_counts brief = {.singles = 10};
    assert_true(isnan(slc_pet_randoms_of(&brief, NULL)));
}

static void what_cannot_be_is_told(void **state)
{
    (void)state;
    uint64_t seed = 4;
    slc_pet_randoms *stage = NULL;
    slc_error error = {.status = SLC_OK};
    slc_pet_coincidence_config config = pet_cases_config(SLC_PET_KILL_ALL, 0);
    assert_int_equal(slc_pet_randoms_open(&config, 9, &stage, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "delay_ns is 9, not from the window's 10 to 1e15");
    config.offset_ns = 100;
    assert_int_equal(slc_pet_randoms_open(&config, 100, &stage, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "offset_ns is 100: randoms are estimated of prompts");
    assert_null(stage);
    slc_pet_randoms_close(stage);
    config.offset_ns = 0;
    assert_int_equal(slc_pet_randoms_open(&config, 10, &stage, &error), SLC_OK);
    make(&seed, 100, 1000, 0);
    times[50] = times[49] - 1;
    const slc_pet_singles all = {
        .head = {.size = 100}, .time_ps = times, .crystal = crystals, .energy_kev = energies};
    assert_int_equal(slc_pet_randoms_run(stage, &all, true, &error), SLC_ERR_FORMAT);
    assert_non_null(strstr(error.text, "singles: number 50 is at "));
    slc_pet_randoms_close(stage);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_of_copies_as_a_whole),
        cmocka_unit_test(threads_share_them),
        cmocka_unit_test(chains_without_end),
        cmocka_unit_test(an_estimate_of_counts),
        cmocka_unit_test(what_cannot_be_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
