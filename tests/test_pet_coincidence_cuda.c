/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences on a GPU against the stage on the processor, row by row and in all counts: every policy,
 * windows that are single or open for every single, prompt and delayed, both edges, three kinds of good,
 * energies, both types of times, equal times, chains that cross tiles, windows of everything, batches down to
 * one single; and the same errors. Runs on a device and in the emulator (tests/simt), where less is tried.
 */
#include "support/pet_gpu.h"
#include "support/random.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 400000 };

static int64_t times[MOST];
static double times_ns[MOST];
static uint32_t crystals[MOST];
static float energies[MOST];
static bool small; /* the emulator, or a checker that looks on */

/* ---- inputs ------------------------------------------------------------------------------------ */

typedef struct input {
    size_t n;
    int64_t window, offset; /* in the unit of the times */
} input;

static input make_input(uint64_t *seed, size_t n, int64_t mean, int kind)
{
    pet_cases_singles(seed, n, mean, kind, 3000, times, crystals, energies);
    for (size_t i = 0; i < n; i++) {
        times_ns[i] = (double)(times[i] - times[0]) * 0x1p-10; /* exact in both types */
    }
    return (input){.n = n};
}

/* ---- runs -------------------------------------------------------------------------------------- */

/* The processor's rows. */
static void expect(const slc_pet_coincidence_config *config, const input *in, pet_gpu_kind kind,
                   pet_cases_rows *wanted)
{
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence *stage = NULL;
    slc_status status = slc_pet_coincidence_open(config, &stage, &error);
    const slc_pet_singles some = {
        .head = {.size = in->n}, .time_ps = times, .crystal = crystals, .energy_kev = energies};
    const slc_pet_singles_f64 exact = {
        .head = {.size = in->n}, .time_ns = times_ns, .crystal = crystals, .energy_kev = energies};
    if (status == SLC_OK && kind == PET_GPU_F64) {
        status = slc_pet_coincidence_run_f64(stage, &exact, true, &wanted->groups, &error);
    } else if (status == SLC_OK && kind == PET_GPU_PAIRS) {
        status = slc_pet_coincidence_run_pairs(stage, &some, true, &wanted->pairs, &error);
    } else if (status == SLC_OK) {
        status = slc_pet_coincidence_run(stage, &some, true, &wanted->groups, &error);
    }
    if (status != SLC_OK) {
        fail_msg("%s", error.text);
    }
    slc_pet_coincidence_counts_of(stage, &wanted->counts);
    slc_pet_coincidence_close(stage);
}

static void run_all(slc_pet_coincidence_cuda *stage, const input *in, size_t batch, pet_gpu_kind kind,
                    uint64_t seed, pet_cases_rows *out)
{
    const pet_gpu_input all = {times, times_ns, crystals, energies, in->n};
    slc_error error = {SLC_OK, ""};
    size_t at = 0;
    bool last = false;
    while (!last) {
        const size_t n = pet_cases_batch(in->n - at, batch, &seed);
        last = at + n == in->n && (batch != 0 || random_below(&seed, 2) == 0);
        if (pet_gpu_run(stage, &all, at, n, kind, last, in->offset > 0, out, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        at += n;
    }
}

static void check(slc_pet_coincidence_config config, const input *in, pet_gpu_kind kind,
                  const size_t *batches, size_t n_batches, uint64_t seed)
{
    const double unit = kind == PET_GPU_F64 ? 0x1p-10 : 1e-3;
    config.window_ns = (double)in->window * unit;
    config.offset_ns = (double)in->offset * unit;
    pet_cases_rows wanted = {0};
    expect(&config, in, kind, &wanted);
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence_cuda *stage = NULL;
    if (slc_pet_coincidence_cuda_open(&config, pet_gpu_stream(), &stage, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    /* One stage for all, as nothing of one input may stay for the next. */
    for (size_t b = 0; b < n_batches; b++) {
        char what[240];
        (void)snprintf(what, sizeof what,
                       "%s, %s, window %" PRId64 " from %" PRId64 " %s, good %d, %g to %g keV, %zu singles, "
                       "kind %d, batches of %zu",
                       slc_pet_policy_name(config.policy), config.all_open ? "all-open" : "single",
                       in->window, in->offset, config.closed ? "closed" : "open", (int)config.good.kind,
                       config.low_kev, config.high_kev, in->n, (int)kind, batches[b]);
        pet_cases_rows found = {0};
        run_all(stage, in, batches[b], kind, seed, &found);
        pet_cases_same(&found, &wanted, kind == PET_GPU_PAIRS, what);
        pet_cases_clear(&found);
    }
    slc_pet_coincidence_cuda_close(stage);
    pet_cases_clear(&wanted);
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void small_inputs_are_as_on_the_processor(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int policy = 0; policy < SLC_PET_POLICIES; policy++) {
        for (int number = small ? policy % 4 : 0; number < 16 * 3; number += small ? 7 : 1) {
            slc_pet_coincidence_config config = pet_cases_config(policy, number);
            const int64_t mean = 1 + random_below(&seed, 100);
            const uint32_t most = number % 3 == 0 ? 10 : small ? 150 : 700;
            input in = make_input(&seed, random_below(&seed, most), mean, number % 5);
            in.window = 1 + random_below(&seed, (uint32_t)(5 * mean));
            in.offset = (number & 4) && !pet_cases_is_opengate(policy)
                            ? 1 + random_below(&seed, (uint32_t)(20 * mean))
                            : 0;
            if (number % 7 == 0) {
                config.low_kev = 350;
                config.high_kev = number % 2 ? 550 : INFINITY;
            }
            const size_t batches[] = {SIZE_MAX, 1 + random_below(&seed, 100), 0, 1};
            const bool one_by_one = in.n < (small ? 12 : 80);
            const pet_gpu_kind kind = (pet_gpu_kind)((number + policy) % PET_GPU_KINDS);
            check(config, &in, kind, batches, one_by_one ? 4 : small ? 2 : 3, seed);
        }
    }
}

/* Every setting, on more singles than a tile has. */
static void tiles_are_as_on_the_processor(void **state)
{
    (void)state;
    uint64_t seed = 2;
    for (int number = 0; number < 5 * 19; number += small ? 8 : 1) {
        const int policy = number % SLC_PET_POLICIES;
        slc_pet_coincidence_config config = pet_cases_config(policy, (int)random_below(&seed, 48));
        const int64_t mean = 100;
        /* Steps of the window's length and one more or less: a chain of all, and none. */
        input in = make_input(&seed, small ? 4500 : 30000, mean, number / 19);
        in.window = mean - 1 + random_below(&seed, 3) + (int64_t)random_below(&seed, 2) * 3 * mean;
        in.offset = number % 3 == 0 && !pet_cases_is_opengate(policy) ? 10 * mean : 0;
        const size_t batches[] = {SIZE_MAX, small ? 2049 : 4097, 0};
        check(config, &in, (pet_gpu_kind)(number % PET_GPU_KINDS), batches, small ? 2 : 3, seed);
    }
}

/* Windows that overlap without end, so that each opener depends on all before it, in steps of equal length
 * and of any. */
static void long_chains_are_as_on_the_processor(void **state)
{
    (void)state;
    uint64_t seed = 3;
    static const int64_t windows[] = {99, 100, 150, 250, 2000, 40000, 1000000};
    static const int64_t offsets[] = {0, 1, 50, 100, 250, 3000, 500000};
    for (int w = 0; w < 7; w++) {
        for (int o = 0; o < 7; o++) {
            slc_pet_coincidence_config config = pet_cases_config(
                o % 2 ? SLC_PET_KILL_ALL : SLC_PET_MULTIPLES_AS_SEQUENTIAL, 2 * w + 16 * o);
            config.all_open = false;
            input in = make_input(&seed, small ? 2200 : 100000, 100, (w + o) % 2 == 0 ? 3 : 0);
            in.window = windows[w];
            in.offset = offsets[o];
            const size_t batches[] = {SIZE_MAX, small ? 1025 : 30001};
            check(config, &in, o % 3 == 0 ? PET_GPU_F64 : PET_GPU_PAIRS, batches, 2, seed);
        }
    }
}

static void a_window_of_a_second_holds_what_it_holds(void **state)
{
    (void)state;
    uint64_t seed = 4;
    for (int number = 0; number < 4 * SLC_PET_POLICIES; number += small ? 3 : 1) {
        slc_pet_coincidence_config config = pet_cases_config(number % SLC_PET_POLICIES,
                                                             number / SLC_PET_POLICIES);
        config.compat_gate9 = number % 2;
        /* More pairs than a thread looks at by itself. */
        input in = make_input(&seed, small ? 40 : 300, INT64_C(1000) * 1000, 0);
        in.window = INT64_C(1000000000000);
        in.offset = number % 3 == 0 && !pet_cases_is_opengate((int)config.policy) ? INT64_C(3) * 1000 * 1000
                                                                                  : 0;
        const size_t batches[] = {SIZE_MAX, 7};
        check(config, &in, (pet_gpu_kind)(number % PET_GPU_KINDS), batches, 2, seed);
    }
}

/* Singles exactly at the end of a window of more than two, and one unit on either side of it. */
static void the_end_of_a_window_is_as_on_the_processor(void **state)
{
    (void)state;
    static const slc_pet_policy policies[] = {SLC_PET_KILL_ALL, SLC_PET_TAKE_ALL_GOODS};
    uint64_t seed = 10;
    input in = make_input(&seed, small ? 4500 : 30000, 100, 0);
    in.window = 40;
    for (size_t i = 0; i < in.n; i++) { /* 0, 15, 39 … 41; 1000; 1000 + 39 … 41; … */
        const int64_t end = 39 + (int64_t)(i / 5 % 3), begin = (int64_t)(i / 5) * 3000;
        times[i] = begin + (const int64_t[]){0, 15, end, 1000, 1000 + end}[i % 5];
        times_ns[i] = (double)times[i] * 0x1p-10;
        crystals[i] = (uint32_t)i % 7;
    }
    for (int number = 0; number < 16; number++) {
        slc_pet_coincidence_config config = pet_cases_config((int)policies[number / 4 % 2], number % 4);
        const size_t batches[] = {SIZE_MAX, 1024};
        check(config, &in, number < 8 ? PET_GPU_GROUPS : PET_GPU_F64, batches, 2, seed);
    }
}

static void all_at_one_time(void **state)
{
    (void)state;
    uint64_t seed = 5;
    static const slc_pet_policy policies[] = {
        SLC_PET_KILL_ALL, SLC_PET_KEEP_ALL, SLC_PET_REJECT_HIGHER_MULTIPLES, SLC_PET_MULTIPLES_AS_SEQUENTIAL};
    for (int number = 0; number < 16; number++) {
        slc_pet_coincidence_config config = pet_cases_config((int)policies[number % 4], number / 4);
        input in = make_input(&seed, small ? 5000 : MOST, 0, 3);
        in.window = 1000;
        in.offset = number % 2 == 0 ? 500 : 0;
        const size_t batches[] = {SIZE_MAX, in.n / 3};
        check(config, &in, PET_GPU_GROUPS, batches, 2, seed);
    }
}

static void rates_as_they_are(void **state)
{
    (void)state;
    uint64_t seed = 6;
    static const int64_t means[] = {50000, 5000, 500}; /* 20, 200 and 2000 million a second */
    for (int number = 0; number < 6 * SLC_PET_POLICIES; number += small ? 23 : 1) {
        const int policy = number % SLC_PET_POLICIES, setting = number / SLC_PET_POLICIES;
        slc_pet_coincidence_config config = pet_cases_config(policy, setting + 16);
        input in = make_input(&seed, small ? 6000 : MOST, means[number % 3], 0);
        in.window = means[number % 3] == 500 ? 2000 : 10000;
        in.offset = setting & 2 && !pet_cases_is_opengate(policy) ? 100000 : 0;
        const size_t batches[] = {SIZE_MAX, in.n / 2 + 7};
        check(config, &in, (pet_gpu_kind)(number % PET_GPU_KINDS), batches, 2, seed);
    }
}

/* ---- errors ------------------------------------------------------------------------------------ */

/* Both stages say the same, and take nothing: what comes next is as if it had not been. */
static void check_error(slc_pet_coincidence_config config, pet_gpu_kind kind, size_t first, size_t n,
                        size_t bad)
{
    slc_error mine = {SLC_OK, ""}, wanted = {SLC_OK, ""};
    slc_pet_coincidence_cuda *stage = NULL;
    slc_pet_coincidence *other = NULL;
    pet_cases_rows rows = {0}, expected = {0};
    assert_int_equal(slc_pet_coincidence_cuda_open(&config, pet_gpu_stream(), &stage, &mine), SLC_OK);
    assert_int_equal(slc_pet_coincidence_open(&config, &other, &wanted), SLC_OK);
    const pet_gpu_input all = {times, times_ns, crystals, energies, n};
    const size_t sizes[] = {first, n - first, n - first};
    const int64_t kept = times[bad];
    const double kept_ns = times_ns[bad];
    for (int call = 0; call < 3; call++) {
        const size_t at = call == 0 ? 0 : first;
        if (call == 1) {
            times[bad] = -1;
            times_ns[bad] = kind == PET_GPU_F64 && bad % 2 == 0 ? NAN : -1;
        } else {
            times[bad] = kept;
            times_ns[bad] = kept_ns;
        }
        const slc_pet_singles some = {.head = {.size = sizes[call]},
                                      .time_ps = times + at,
                                      .crystal = crystals + at,
                                      .energy_kev = energies + at};
        const slc_pet_singles_f64 exact = {.head = {.size = sizes[call]},
                                           .time_ns = times_ns + at,
                                           .crystal = crystals + at,
                                           .energy_kev = energies + at};
        const slc_status status =
            kind == PET_GPU_F64
                ? slc_pet_coincidence_run_f64(other, &exact, call == 2, &expected.groups, &wanted)
                : slc_pet_coincidence_run(other, &some, call == 2, &expected.groups, &wanted);
        assert_int_equal(pet_gpu_run(stage, &all, at, sizes[call], kind, call == 2, false, &rows, &mine),
                         status);
        assert_int_equal(status, call == 1 ? SLC_ERR_FORMAT : SLC_OK);
        assert_string_equal(mine.text, wanted.text);
    }
    slc_pet_coincidence_counts_of(other, &expected.counts);
    pet_cases_same(&rows, &expected, kind == PET_GPU_PAIRS, "after an error");
    slc_pet_coincidence_cuda_close(stage);
    slc_pet_coincidence_close(other);
    pet_cases_clear(&rows);
    pet_cases_clear(&expected);
}

static void singles_out_of_order_are_told(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (int number = 0; number < 16; number++) {
        slc_pet_coincidence_config config = pet_cases_config(
            number % 2 ? SLC_PET_KILL_ALL : SLC_PET_TAKE_ALL_GOODS, number);
        config.window_ns = 4;
        config.offset_ns = number & 4 ? 100 : 0;
        config.low_kev = number & 8 ? 350 : 0;
        const size_t n = 5000, first = number % 3 == 0 ? 0 : 1200;
        do {
            (void)make_input(&seed, n, 3000, 0);
        } while (times[0] < 0);
        const size_t bad = number % 4 == 1 && first > 0 ? first : first + 1 + random_below(&seed, 3000);
        check_error(config, number % 2 ? PET_GPU_F64 : PET_GPU_GROUPS, first, n, bad);
    }
}

static void times_of_the_wrong_kind_are_told(void **state)
{
    (void)state;
    uint64_t seed = 8;
    (void)make_input(&seed, 10, 1000, 0);
    const pet_gpu_input all = {times, times_ns, crystals, energies, 10};
    slc_pet_coincidence_config config = pet_cases_config(SLC_PET_KILL_ALL, 0);
    slc_pet_coincidence_cuda *stage = NULL;
    slc_error error = {SLC_OK, ""};
    pet_cases_rows rows = {0};
    assert_int_equal(slc_pet_coincidence_cuda_open(&config, pet_gpu_stream(), &stage, &error), SLC_OK);
    assert_int_equal(pet_gpu_run(stage, &all, 0, 5, PET_GPU_GROUPS, false, false, &rows, &error), SLC_OK);
    assert_int_equal(pet_gpu_run(stage, &all, 5, 5, PET_GPU_F64, false, false, &rows, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "other type"));
    slc_pet_coincidence_cuda_close(stage);
    config.window_ns = 0.0015;
    assert_int_equal(slc_pet_coincidence_cuda_open(&config, pet_gpu_stream(), &stage, &error), SLC_OK);
    assert_int_equal(pet_gpu_run(stage, &all, 0, 5, PET_GPU_GROUPS, false, false, &rows, &error),
                     SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "not whole picoseconds"));
    slc_pet_coincidence_cuda_close(stage);
    config.window_ns = 0;
    assert_int_equal(slc_pet_coincidence_cuda_open(&config, pet_gpu_stream(), &stage, &error), SLC_ERR_USAGE);
    assert_null(stage);
    pet_cases_clear(&rows);
}

/* exec.device: singles and rows of the host; behind rows that are there. */
static void rows_of_the_host_are_the_same(void **state)
{
    (void)state;
    uint64_t seed = 9;
    size_t rows = 0;
    for (int number = 0; number < 4; number++) {
        const int policy = number % 2 ? SLC_PET_KEEP_IF_ANY_IS_GOOD : SLC_PET_KILL_ALL;
        slc_pet_coincidence_config config = pet_cases_config(policy, 16 + number / 2);
        config.window_ns = 10;
        config.offset_ns = number == 3 ? 100 : 0;
        const input in = make_input(&seed, 3000, 20000, 0);
        pet_cases_rows wanted = {0}, found = {0};
        expect(&config, &in, PET_GPU_PAIRS, &wanted);
        slc_error error = {SLC_OK, ""};
        slc_pet_coincidence *stage = NULL;
        config.exec.device = "cuda:0";
        assert_int_equal(slc_pet_coincidence_open(&config, &stage, &error), SLC_OK);
        for (size_t at = 0; at < in.n; at += 600) {
            const slc_pet_singles some = {.head = {.size = 600},
                                          .time_ps = times + at,
                                          .crystal = crystals + at,
                                          .energy_kev = energies + at};
            if (slc_pet_coincidence_run_pairs(stage, &some, at + 600 == in.n, &found.pairs, &error) !=
                SLC_OK) {
                fail_msg("%s", error.text);
            }
        }
        slc_pet_coincidence_counts_of(stage, &found.counts);
        rows += found.pairs.head.size;
        pet_cases_same(&found, &wanted, true, "rows of the host");
        slc_pet_coincidence_close(stage);
        pet_cases_clear(&found);
        pet_cases_clear(&wanted);
    }
    assert_true(rows > 500);
    slc_pet_coincidence *stage = NULL;
    slc_error error = {SLC_OK, ""};
    slc_pet_coincidence_config config = pet_cases_config(SLC_PET_KILL_ALL, 0);
    config.exec.device = "cuda:4711";
    assert_int_equal(slc_pet_coincidence_open(&config, &stage, &error), SLC_ERR_UNSUPPORTED);
    assert_null(stage);
}

int main(void)
{
    if (!pet_gpu_open()) {
        return 77;
    }
    small = getenv("SLUICE_TEST_SMALL") != NULL;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_inputs_are_as_on_the_processor),
        cmocka_unit_test(tiles_are_as_on_the_processor),
        cmocka_unit_test(long_chains_are_as_on_the_processor),
        cmocka_unit_test(a_window_of_a_second_holds_what_it_holds),
        cmocka_unit_test(the_end_of_a_window_is_as_on_the_processor),
        cmocka_unit_test(all_at_one_time),
        cmocka_unit_test(rates_as_they_are),
        cmocka_unit_test(singles_out_of_order_are_told),
        cmocka_unit_test(times_of_the_wrong_kind_are_told),
        cmocka_unit_test(rows_of_the_host_are_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, pet_gpu_close);
}
