/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences against the oracle, row by row: every policy, windows that are single or open for every
 * single, prompt and delayed, both edges, three kinds of good, energies, equal times, chains, gaps; whatever
 * the type of times, the batches, the instruction set and the number of threads.
 */
#include "oracle/pet_coincidence_oracle.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CRYSTALS = 312 * 40, MOST = 70000 };

static int64_t times[MOST];
static uint32_t crystals[MOST];
static float energies[MOST];
static double times_ns[MOST];

typedef struct results {
    slc_pet_groups groups;
    slc_pet_coincidences pairs;
    slc_pet_coincidence_counts counts;
} results;

static void clear(results *r)
{
    slc_columns_clear(&slc_pet_groups_schema, &r->groups);
    slc_columns_clear(&slc_pet_coincidences_schema, &r->pairs);
}

/* ---- inputs ------------------------------------------------------------------------------------ */

/* `mean` picoseconds apart: some at once, some far apart, or a row of equal steps. */
static int64_t step(uint64_t *seed, int64_t mean, int kind)
{
    const double u = random_unit(seed);
    switch (kind) {
    case 0: /* as they come from a source */
        return (int64_t)(-log(1 - u) * (double)mean);
    case 1: /* many at once */
        return u < 0.5 ? 0 : random_below(seed, (uint32_t)(2 * mean + 1));
    case 2: /* whole steps, so that edges are met */
        return random_below(seed, 4) * (mean / 2 + 1);
    case 3: /* long chains */
        return random_below(seed, 500) == 0 ? 1000 * mean : mean;
    default: /* gaps longer than 2^32 ps and 2^40 ps */
        return random_below(seed, 50) == 0   ? (int64_t)1 << 33
               : random_below(seed, 50) == 0 ? (int64_t)1 << 41
                                             : random_below(seed, (uint32_t)(2 * mean + 1));
    }
}

static pet_oracle_input make_input(uint64_t *seed, size_t n, int64_t mean, int kind)
{
    static const int64_t begins[] = {0, -1000000, INT64_C(1) << 61, -(INT64_C(1) << 62),
                                     (INT64_C(1) << 32) - 50};
    int64_t time = begins[random_below(seed, 5)];
    const uint32_t few = random_below(seed, 3) == 0 ? 7 : CRYSTALS;
    const bool near = random_below(seed, 3) == 0; /* all in a few sectors: many pairs are not good */
    for (size_t i = 0; i < n; i++) {
        times[i] = time;
        crystals[i] = near ? random_below(seed, 40) + 312 * random_below(seed, 40) : random_below(seed, few);
        energies[i] = 300 + 8 * (float)random_below(seed, 40); /* sums are often equal */
        time += step(seed, mean, kind);
    }
    return (pet_oracle_input){.time = times, .crystal = crystals, .energy = energies, .n = n};
}

static slc_pet_good make_good(int kind)
{
    return (slc_pet_good){.kind = (slc_pet_good_kind)kind,
                          .crystals_per_ring = 312,
                          .sectors = 24,
                          .min_sectors = 2,
                          .radius_mm = 60,
                          .pitch_z_mm = 2,
                          .min_mm = 59,
                          .max_axial_mm = 39};
}

/* ---- runs -------------------------------------------------------------------------------------- */

enum { GROUPS = 0, PAIRS, F64 };

/* Sizes of batches: all, a fixed number, or random ones with empty ones between. */
static size_t next_batch(size_t left, size_t batch, uint64_t *seed)
{
    const size_t n = batch != 0 ? batch : random_below(seed, 4) == 0 ? 0 : 1 + random_below(seed, 300);
    return n < left ? n : left;
}

static slc_status run_some(slc_pet_coincidence *stage, const pet_oracle_input *in, size_t at, size_t n,
                           int kind, bool last, results *out, slc_error *error)
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
                    uint64_t seed, results *out)
{
    slc_error error = {SLC_OK, ""};
    size_t at = 0;
    bool last = false;
    while (!last) {
        const size_t n = next_batch(in->n - at, batch, &seed);
        last = at + n == in->n && (batch != 0 || random_below(&seed, 2) == 0);
        if (run_some(stage, in, at, n, kind, last, out, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        at += n;
    }
    slc_pet_coincidence_counts_of(stage, &out->counts);
}

static void assert_rows(const results *found, const results *wanted, int kind, const char *what)
{
    const bool pairs = kind == PAIRS;
    const size_t n = pairs ? wanted->pairs.head.size : wanted->groups.head.size;
    const size_t m = pairs ? found->pairs.head.size : found->groups.head.size;
    for (size_t i = 0; i < n && i < m; i++) {
        const slc_pet_groups *f = &found->groups, *w = &wanted->groups;
        const slc_pet_coincidences *p = &found->pairs, *q = &wanted->pairs;
        const bool same = pairs ? p->time_ps[i] == q->time_ps[i] && p->dt_ps[i] == q->dt_ps[i] &&
                                      p->crystal1[i] == q->crystal1[i] && p->crystal2[i] == q->crystal2[i] &&
                                      p->energy1_kev[i] == q->energy1_kev[i] &&
                                      p->energy2_kev[i] == q->energy2_kev[i] && p->delayed[i] == q->delayed[i]
                                : f->first[i] == w->first[i] && f->second[i] == w->second[i] &&
                                      f->size[i] == w->size[i];
        if (!same) {
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

static void check_kind(slc_pet_coincidence_config config, const pet_oracle_input *in, int kind, size_t batch,
                       uint64_t seed, const results *wanted)
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
                   config.high_kev, in->n, kind, batch, config.threads, (int)config.target);
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = NULL;
    if (slc_pet_coincidence_open(&config, &stage, &error) != SLC_OK) {
        fail_msg("%s: %s", what, error.text);
    }
    /* Twice, as nothing of one input may stay for the next. */
    for (int again = 0; again < 2; again++) {
        results found = {0};
        run_all(stage, in, batch, kind, seed, &found);
        assert_rows(&found, wanted, kind, what);
        clear(&found);
    }
    slc_pet_coincidence_close(stage);
}

static void expect(const slc_pet_coincidence_config *config, const pet_oracle_input *in, results *wanted)
{
    pet_coincidence_oracle(config, in, &wanted->groups, &wanted->pairs, &wanted->counts);
}

static bool is_opengate(int policy)
{
    return policy >= SLC_PET_OPENGATE_REMOVE_MULTIPLES &&
           policy <= SLC_PET_OPENGATE_TAKE_WINNER_IF_ALL_ARE_GOODS;
}

/* ---- tests ------------------------------------------------------------------------------------- */

/* A configuration out of many: bits of `number` choose. */
static slc_pet_coincidence_config configuration(int policy, int number)
{
    slc_pet_coincidence_config config;
    slc_pet_coincidence_config_default(&config);
    config.policy = (slc_pet_policy)policy;
    config.all_open = number & 1;
    config.closed = number & 2;
    config.compat_gate9 = number & 8;
    config.good = make_good(number / 16 % 3);
    return config;
}

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
        for (int number = 0; number < 16 * 3 * 4; number++) {
            slc_pet_coincidence_config config = configuration(policy, number);
            const int64_t mean = 1 + random_below(&seed, 100);
            pet_oracle_input in = make_input(&seed, random_below(&seed, number % 3 == 0 ? 10 : 700), mean,
                                             number % 5);
            in.window = 1 + random_below(&seed, (uint32_t)(5 * mean));
            in.offset = (number & 4) && !is_opengate(policy) ? 1 + random_below(&seed, (uint32_t)(20 * mean))
                                                             : 0;
            if (number % 7 == 0) {
                config.low_kev = 350;
                config.high_kev = number % 2 ? 550 : INFINITY;
            }
            config.target = any_target(&seed);
            results wanted = {0};
            expect(&config, &in, &wanted);
            rows += wanted.groups.head.size;
            larger += wanted.counts.groups;
            const size_t batches[] = {SIZE_MAX, 1, 0, 2 + random_below(&seed, 100)};
            for (int kind = GROUPS; kind <= F64; kind++) {
                for (int b = 0; b < 4; b++) {
                    check_kind(config, &in, kind, batches[b], seed, &wanted);
                }
            }
            clear(&wanted);
        }
    }
    assert_true(rows > 100000 && larger > 1000);
}

static void chains_and_gaps_are_as_the_oracle_says_on_all_targets(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int number = 0; number < 5 * 19; number++) {
        const int policy = number % SLC_PET_POLICIES;
        slc_pet_coincidence_config config = configuration(policy, (int)random_below(&seed, 48));
        const int64_t mean = 100;
        /* Steps of the window's length and one more or less: a chain of all, and none. */
        pet_oracle_input in = make_input(&seed, 20000, mean, number / 19);
        in.window = mean - 1 + random_below(&seed, 3) + (int64_t)random_below(&seed, 2) * 3 * mean;
        in.offset = number % 3 == 0 && !is_opengate(policy) ? 10 * mean : 0;
        results wanted = {0};
        expect(&config, &in, &wanted);
        for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
            config.target = (slc_simd_target)t;
            if (slc_simd_runs(config.target)) {
                check_kind(config, &in, GROUPS, SIZE_MAX, seed, &wanted);
            }
        }
        config.target = SLC_SIMD_AUTO;
        check_kind(config, &in, PAIRS, 0, seed, &wanted);
        check_kind(config, &in, GROUPS, 4097, seed, &wanted);
        clear(&wanted);
    }
}

static void threads_change_nothing(void **state)
{
    (void)state;
    uint64_t seed = 3;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        for (int mode = 0; mode < 4; mode++) {
            const bool delayed = mode / 2;
            if (is_opengate(policy) && delayed) {
                continue;
            }
            slc_pet_coincidence_config config = configuration(policy, mode % 2 + 2 * (policy % 2) +
                                                                          16 * (policy % 3));
            const int kind = policy % 5;
            pet_oracle_input in = make_input(&seed, MOST, 1000, kind);
            in.window = kind == 3 ? 1000 : 1002; /* in chains of equal steps, to the edge at every single */
            in.offset = delayed ? 20000 : 0;
            results wanted = {0};
            expect(&config, &in, &wanted);
            for (config.threads = 1; config.threads <= 8; config.threads++) {
                const size_t batch = config.threads % 2 == 0 ? SIZE_MAX : 30011;
                check_kind(config, &in, config.threads % 3 == 0 ? PAIRS : GROUPS, batch, seed, &wanted);
            }
            config.threads = 0; /* one for each processor */
            check_kind(config, &in, GROUPS, SIZE_MAX, seed, &wanted);
            clear(&wanted);
        }
    }
}

static void a_window_of_a_second_holds_what_it_holds(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int number = 0; number < 16 * SLC_PET_POLICIES; number++) {
        slc_pet_coincidence_config config = configuration(number % SLC_PET_POLICIES,
                                                          number / SLC_PET_POLICIES);
        pet_oracle_input in = make_input(&seed, 60, INT64_C(80) * 1000 * 1000 * 10, 0);
        in.window = INT64_C(1000000000000);
        in.offset = number % 3 == 0 && !is_opengate((int)config.policy) ? in.window : 0;
        results wanted = {0};
        expect(&config, &in, &wanted);
        check_kind(config, &in, GROUPS, SIZE_MAX, seed, &wanted);
        check_kind(config, &in, PAIRS, 1, seed, &wanted);
        check_kind(config, &in, F64, 7, seed, &wanted);
        clear(&wanted);
    }
}

/* The pairs and the groups of a delayed window are the opener's alone: those of two others are prompts. */
static void delayed_pairs_are_a_delay_apart(void **state)
{
    (void)state;
    uint64_t seed = 5;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        if (is_opengate(policy)) {
            continue;
        }
        slc_pet_coincidence_config config = configuration(policy, 1);
        config.window_ns = 4;
        config.offset_ns = 100;
        const pet_oracle_input in = make_input(&seed, 20000, 1000, 0);
        slc_pet_coincidence *stage = NULL;
        slc_error error = {SLC_OK, ""};
        assert_int_equal(slc_pet_coincidence_open(&config, &stage, &error), SLC_OK);
        results found = {0};
        run_all(stage, &in, SIZE_MAX, PAIRS, seed, &found);
        assert_true(found.pairs.head.size > 100);
        for (size_t i = 0; i < found.pairs.head.size; i++) {
            assert_true(found.pairs.dt_ps[i] >= 0 && found.pairs.dt_ps[i] < 4000);
            assert_int_equal(found.pairs.delayed[i], 1);
        }
        slc_pet_coincidence_close(stage);
        clear(&found);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_inputs_are_as_the_oracle_says),
        cmocka_unit_test(chains_and_gaps_are_as_the_oracle_says_on_all_targets),
        cmocka_unit_test(threads_change_nothing),
        cmocka_unit_test(a_window_of_a_second_holds_what_it_holds),
        cmocka_unit_test(delayed_pairs_are_a_delay_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
