/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences against the oracle, row by row: every policy, windows that are single or open for every
 * single, prompt and delayed, both edges, three kinds of good, energies, equal times, chains, gaps; whatever
 * the type of times, the batches, the instruction set and the number of threads.
 */
#include "oracle/pet_coincidence_oracle.h"
#include "support/cmocka_all.h"
#include "support/pet_cases.h"
#include "support/random.h"
#include "support/sanitized.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With sanitizers every 23rd case, which has no common factor with what cases go by. */
enum { MOST = 70000, STEP = SANITIZED ? 23 : 1 };

static int64_t times[MOST];
static uint32_t crystals[MOST];
static float energies[MOST];
static double times_ns[MOST];

/* ---- inputs ------------------------------------------------------------------------------------ */

static pet_oracle_input make_input(uint64_t *seed, size_t n, int64_t mean, int kind)
{
    pet_cases_singles(seed, n, mean, kind, 500, times, crystals, energies);
    return (pet_oracle_input){.time = times, .crystal = crystals, .energy = energies, .n = n};
}

/* ---- runs -------------------------------------------------------------------------------------- */

enum { GROUPS = 0, PAIRS, F64 };

static slc_status run_some(slc_pet_coincidence *stage, const pet_oracle_input *in, size_t at, size_t n,
                           int kind, bool last, pet_cases_rows *out, slc_error *error)
{
    if (kind == F64) {
        const slc_pet_singles_f64 some = {.head = {.size = n},
                                          .time_ns = times_ns + at,
                                          .crystal = crystals + at,
                                          .energy_kev = energies + at};
        return slc_pet_coincidence_run_f64(stage, &some, last, &out->groups, error);
    }
    (void)in;
    const slc_pet_singles some = {
        .head = {.size = n}, .time_ps = times + at, .crystal = crystals + at, .energy_kev = energies + at};
    return kind == PAIRS ? slc_pet_coincidence_run_pairs(stage, &some, last, &out->pairs, error)
                         : slc_pet_coincidence_run(stage, &some, last, &out->groups, error);
}

static void run_all(slc_pet_coincidence *stage, const pet_oracle_input *in, size_t batch, int kind,
                    uint64_t seed, pet_cases_rows *out)
{
    slc_error error = {SLC_OK, ""};
    size_t at = 0;
    bool last = false;
    while (!last) {
        const size_t n = pet_cases_batch(in->n - at, batch, &seed);
        last = at + n == in->n && (batch != 0 || random_below(&seed, 2) == 0);
        if (run_some(stage, in, at, n, kind, last, out, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        at += n;
    }
    slc_pet_coincidence_counts_of(stage, &out->counts);
}

static void check_kind(slc_pet_coincidence_config config, const pet_oracle_input *in, int kind, size_t batch,
                       uint64_t seed, const pet_cases_rows *wanted)
{
    /* Times of 1/1024 ns are exact in both types. */
    const double unit = kind == F64 ? 0x1p-10 : 1e-3;
    config.window_ns = (double)in->window * unit;
    config.offset_ns = (double)in->offset * unit;
    for (size_t i = 0; i < in->n && kind == F64; i++) {
        times_ns[i] = (double)(times[i] - times[0]) * unit;
    }
    char what[200];
    (void)snprintf(what, sizeof what,
                   "%s, %s, window %" PRId64 " from %" PRId64
                   " %s, good %d, %g to %g keV, %zu singles, kind %d, "
                   "batches of %zu, %u threads, target %d",
                   slc_pet_policy_name(config.policy), config.all_open ? "all-open" : "single", in->window,
                   in->offset, config.closed ? "closed" : "open", (int)config.good.kind, config.low_kev,
                   config.high_kev, in->n, kind, batch, config.exec.threads, (int)config.exec.target);
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = NULL;
    if (slc_pet_coincidence_open(&config, &stage, &error) != SLC_OK) {
        fail_msg("%s: %s", what, error.text);
    }
    /* Twice, as nothing of one input may stay for the next. */
    for (int again = 0; again < 2; again++) {
        pet_cases_rows found = {0};
        run_all(stage, in, batch, kind, seed, &found);
        pet_cases_same(&found, wanted, kind == PAIRS, what);
        pet_cases_clear(&found);
    }
    slc_pet_coincidence_close(stage);
}

static void expect(const slc_pet_coincidence_config *config, const pet_oracle_input *in,
                   pet_cases_rows *wanted)
{
    pet_coincidence_oracle(config, in, &wanted->groups, &wanted->pairs, &wanted->counts);
}

/* ---- tests ------------------------------------------------------------------------------------- */

static slc_simd_target any_target(uint64_t *seed)
{
    for (;;) {
        const slc_simd_target target = (slc_simd_target)random_below(seed, SLC_SIMD_TARGETS);
        if (slc_simd_runs(target)) {
            return target;
        }
    }
}

static void small_inputs_are_as_the_oracle_says(void **state)
{
    (void)state;
    uint64_t seed = 1;
    size_t rows = 0, larger = 0;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        for (int number = policy % STEP; number < 16 * 3 * 4; number += STEP) {
            slc_pet_coincidence_config config = pet_cases_config(policy, number);
            const int64_t mean = 1 + random_below(&seed, 100);
            pet_oracle_input in = make_input(&seed, random_below(&seed, number % 3 == 0 ? 10 : 700), mean,
                                             number % 5);
            in.window = 1 + random_below(&seed, (uint32_t)(5 * mean));
            in.offset = (number & 4) && !pet_cases_is_opengate(policy)
                            ? 1 + random_below(&seed, (uint32_t)(20 * mean))
                            : 0;
            if (number % 7 == 0) {
                config.low_kev = 350;
                config.high_kev = number % 2 ? 550 : INFINITY;
            }
            config.exec.target = any_target(&seed);
            pet_cases_rows wanted = {0};
            expect(&config, &in, &wanted);
            rows += wanted.groups.head.size;
            larger += wanted.counts.groups;
            const size_t batches[] = {SIZE_MAX, 1, 0, 2 + random_below(&seed, 100)};
            for (int kind = GROUPS; kind <= F64; kind++) {
                for (int b = 0; b < 4; b++) {
                    check_kind(config, &in, kind, batches[b], seed, &wanted);
                }
            }
            pet_cases_clear(&wanted);
        }
    }
    assert_true(rows > 100000 / STEP && larger > 1000 / STEP);
}

static void chains_and_gaps_are_as_the_oracle_says_on_all_targets(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int number = 0; number < 5 * 19; number += test_step(SANITIZED ? 17 : 3)) {
        const int policy = number % SLC_PET_POLICIES;
        slc_pet_coincidence_config config = pet_cases_config(policy, (int)random_below(&seed, 48));
        const int64_t mean = 100;
        /* Steps of the window's length and one more or less: a chain of all, and none. */
        pet_oracle_input in = make_input(&seed, 20000, mean, number / 19);
        in.window = mean - 1 + random_below(&seed, 3) + (int64_t)random_below(&seed, 2) * 3 * mean;
        in.offset = number % 3 == 0 && !pet_cases_is_opengate(policy) ? 10 * mean : 0;
        pet_cases_rows wanted = {0};
        expect(&config, &in, &wanted);
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            config.exec.target = (slc_simd_target)t;
            if (slc_simd_runs(config.exec.target)) {
                check_kind(config, &in, GROUPS, SIZE_MAX, seed, &wanted);
            }
        }
        config.exec.target = SLC_SIMD_AUTO;
        check_kind(config, &in, PAIRS, 0, seed, &wanted);
        check_kind(config, &in, GROUPS, 4097, seed, &wanted);
        pet_cases_clear(&wanted);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        for (int mode = policy % test_step(2); mode < 4; mode += test_step(2)) {
            const bool delayed = mode / 2;
            if (pet_cases_is_opengate(policy) && delayed) {
                continue;
            }
            slc_pet_coincidence_config config = pet_cases_config(policy, mode % 2 + 2 * (policy % 2) +
                                                                             16 * (policy % 3));
            const int kind = policy % 5;
            pet_oracle_input in = make_input(&seed, MOST, 1000, kind);
            in.window = kind == 3 ? 1000 : 1002; /* in chains of equal steps, to the edge at every single */
            in.offset = delayed ? 20000 : 0;
            pet_cases_rows wanted = {0};
            expect(&config, &in, &wanted);
            for (config.exec.threads = 1; config.exec.threads <= 8;
                 config.exec.threads += SANITIZED || test_small() ? 3 : 1) {
                const size_t batch = config.exec.threads % 2 == 0 ? SIZE_MAX : 30011;
                check_kind(config, &in, config.exec.threads % 3 == 0 ? PAIRS : GROUPS, batch, seed, &wanted);
            }
            config.exec.threads = 0; /* one for each processor */
            check_kind(config, &in, GROUPS, SIZE_MAX, seed, &wanted);
            pet_cases_clear(&wanted);
        }
    }
}

/* Delays of so many singles that a thread cannot tell who opens a window where its share begins. */
static void shares_that_begin_in_the_dark_are_joined(void **state)
{
    (void)state;
    uint64_t seed = 6;
    for (int kind = 0; kind < 5; kind += test_step(2)) {
        slc_pet_coincidence_config config = pet_cases_config(kind, 0);
        pet_oracle_input in = make_input(&seed, 40000, 1000, kind);
        in.window = 1002;
        in.offset = 9000000;
        pet_cases_rows wanted = {0};
        expect(&config, &in, &wanted);
        for (config.exec.threads = 1; config.exec.threads <= 4;
             config.exec.threads += (uint32_t)test_step(3)) {
            check_kind(config, &in, config.exec.threads % 2 == 0 ? PAIRS : GROUPS, SIZE_MAX, seed, &wanted);
        }
        pet_cases_clear(&wanted);
    }
}

static void a_window_of_a_second_holds_what_it_holds(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int number = 0; number < 16 * SLC_PET_POLICIES; number++) {
        slc_pet_coincidence_config config = pet_cases_config(number % SLC_PET_POLICIES,
                                                             number / SLC_PET_POLICIES);
        pet_oracle_input in = make_input(&seed, 60, INT64_C(80) * 1000 * 1000 * 10, 0);
        in.window = INT64_C(1000000000000);
        in.offset = number % 3 == 0 && !pet_cases_is_opengate((int)config.policy) ? in.window : 0;
        pet_cases_rows wanted = {0};
        expect(&config, &in, &wanted);
        check_kind(config, &in, GROUPS, SIZE_MAX, seed, &wanted);
        check_kind(config, &in, PAIRS, 1, seed, &wanted);
        check_kind(config, &in, F64, 7, seed, &wanted);
        pet_cases_clear(&wanted);
    }
}

/* The pairs and the groups of a delayed window are the opener's alone: those of two others are prompts. */
static void delayed_pairs_are_a_delay_apart(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        if (pet_cases_is_opengate(policy)) {
            continue;
        }
        slc_pet_coincidence_config config = pet_cases_config(policy, 1);
        config.window_ns = 4;
        config.offset_ns = 100;
        const pet_oracle_input in = make_input(&seed, 20000, 1000, 0);
        slc_pet_coincidence *stage = NULL;
        slc_error error = {SLC_OK, ""};
        assert_int_equal(slc_pet_coincidence_open(&config, &stage, &error), SLC_OK);
        pet_cases_rows found = {0};
        run_all(stage, &in, SIZE_MAX, PAIRS, seed, &found);
        assert_true(found.pairs.head.size > 100);
        for (size_t i = 0; i < found.pairs.head.size; i++) {
            assert_true(found.pairs.dt_ps[i] >= 0 && found.pairs.dt_ps[i] < 4000);
            assert_int_equal(found.pairs.delayed[i], 1);
        }
        slc_pet_coincidence_close(stage);
        pet_cases_clear(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_inputs_are_as_the_oracle_says),
        cmocka_unit_test(chains_and_gaps_are_as_the_oracle_says_on_all_targets),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(shares_that_begin_in_the_dark_are_joined),
        cmocka_unit_test(a_window_of_a_second_holds_what_it_holds),
        cmocka_unit_test(delayed_pairs_are_a_delay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
