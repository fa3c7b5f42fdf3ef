/* SPDX-License-Identifier: Apache-2.0
 *
 * Rates of a run of the chain beside their definition (tests/oracle/pet_rates_oracle.c) and beside its pairs,
 * for any batch; few singles, far times, limits; dead time beside what was put in.
 */
#include "pet/pet_rates_sum.h"

#include "oracle/pet_rates_oracle.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/near.h"
#include "support/pet_frames.h"
#include "support/pet_stream.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a run of the chain ------------------------------------------------------------------------ */

static uint64_t pairs_in(const slc_pet_coincidences *pairs, uint8_t delayed, double begin_s, double bin_s)
{
    uint64_t n = 0;
    for (size_t i = 0; i < pairs->head.size; i++) {
        const double at = (double)pairs->time_ps[i] - begin_s * 1e12;
        n += pairs->delayed[i] == delayed && at > -0.5 && at < bin_s * 1e12 - 0.5;
    }
    return n;
}

static void compare_rows(const slc_pet_rates_config *config, const slc_pet_rates *rates,
                         const slc_pet_singles *singles, const slc_pet_coincidences *pairs)
{
    const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
    slc_pet_rates_totals totals;
    slc_pet_rates_totals_of(rates, &totals);
    double seconds = 0;
    size_t n = 0;
    oracle_pet_bin *wanted = oracle_pet_rates(config, singles, NULL, &n, &seconds);
    assert_near(totals.seconds, seconds, 1e-15);
    assert_near(totals.randoms / oracle_pet_randoms(config, singles, NULL), 1, 1e-9);
    assert_int_equal(rows->head.size, n);
    assert_true(n > 10);
    uint64_t sum[3] = {0};
    for (size_t i = 0; i < n; i++) {
        assert_near(rows->begin_s[i], wanted[i].begin_s, 1e-12);
        assert_int_equal(rows->singles[i], wanted[i].singles);
        assert_int_equal(rows->prompts[i], pairs_in(pairs, 0, wanted[i].begin_s, config->bin_s));
        assert_int_equal(rows->delayeds[i], pairs_in(pairs, 1, wanted[i].begin_s, config->bin_s));
        const double share = rows->length_s[i] / seconds;
        assert_near((double)rows->frames[i], PET_STREAM_FRAMES * share, 0.2 * PET_STREAM_FRAMES * share + 40);
        sum[0] += rows->frames[i];
        sum[1] += rows->lost[i];
        sum[2] += rows->multiples[i];
    }
    assert_int_equal(sum[0], PET_STREAM_FRAMES);
    assert_int_equal(sum[1], PET_STREAM_FRAMES / 500 + 3);
    assert_true(sum[2] > 500);
    assert_int_equal(totals.frames, PET_STREAM_FRAMES - PET_STREAM_FRAMES / 500);
    free(wanted);
}

static void rates_against_time(void **state)
{
    (void)state;
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_frame *frames = pet_stream_make(&tables, -20000000, 30000);
    const slc_pet_rates_config config = pet_stream_rates_config(20e-6);
    const size_t batches[] = {PET_STREAM_FRAMES + 1, 100, 1, 3333};
    for (size_t b = 0; b < 4; b++) {
        slc_pet_singles singles = {0};
        slc_pet_coincidences pairs = {0};
        slc_pet_rates *rates = pet_stream_rates(&config, frames, batches[b], &singles, &pairs);
        compare_rows(&config, rates, &singles, &pairs);
        slc_pet_rates_close(rates);
        slc_columns_clear(&slc_pet_singles_schema, &singles);
        slc_columns_clear(&slc_pet_coincidences_schema, &pairs);
    }
    free(frames);
}

/* ---- few singles, far times, limits ------------------------------------------------------------ */

/* Singles at these times, of two crystals in turn. */
static slc_pet_rates *rates_of_few(double bin_s, const int64_t *times, size_t n)
{
    const slc_pet_rates_config config = pet_stream_rates_config(bin_s);
    const slc_pet_totals totals = {.checksum = 0};
    slc_pet_rates *rates = NULL;
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &result.singles, 2, 1), SLC_OK);
    for (size_t i = 0; i < n; i++) { /* one at a time */
        result.singles.head.size = 1;
        result.singles.time_ps[0] = times[i];
        result.singles.crystal[0] = (uint32_t)(i % 2) * 100;
        assert_int_equal(
            slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, NULL), SLC_OK);
    }
    assert_int_equal(slc_pet_rates_finish(rates, NULL, NULL), SLC_OK);
    slc_pet_result_clear(&result);
    return rates;
}

/* However few singles a bin has, it has its length: a lone pair makes no randoms. */
static void rates_of_few_singles(void **state)
{
    (void)state;
    const int64_t ms = INT64_C(1000000000);
    const struct {
        int64_t times[6];
        size_t n, rows;
        double first_s, last_s, randoms;
    } cases[] = {
        {{0}, 0, 0, 0, 0, 0},
        {{7}, 1, 1, 1e-3, 1e-3, 0},
        {{7, 14}, 2, 1, 1e-3, 1e-3, 2e-8 / 1e-3},
        {{7, 7 + 20000}, 2, 1, 4e-8 + 7e-12, 4e-8 + 7e-12, 2e-8 / (4e-8 + 7e-12)}, /* from the bin's begin */
        {{-3, 4}, 2, 2, 1e-3, 1e-3, 0},
        /* Three lone pairs in bins of their own, of which the last begins with its pair. */
        {{ms / 2, ms / 2 + 7, 2 * ms, 2 * ms + 7, 7 * ms, 7 * ms + 7}, 6, 3, 1e-3, 1e-3, 3 * 2e-8 / 1e-3},
        /* 0.1 ms apart, the first and last bins in part. */
        {{ms * 8 / 10, ms * 9 / 10, ms, ms + ms / 10}, 4, 2, 3e-4, 2e-4, 2e-8 / 3e-4 + 2e-8 / 2e-4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_pet_rates *rates = rates_of_few(1e-3, cases[i].times, cases[i].n);
        const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
        slc_pet_rates_totals totals;
        slc_pet_rates_totals_of(rates, &totals);
        assert_int_equal(rows->head.size, cases[i].rows);
        assert_true(fabs(totals.randoms - cases[i].randoms) <= 1e-9 * cases[i].randoms);
        double sum = 0;
        for (size_t k = 0; k < cases[i].rows; k++) {
            sum += rows->randoms[k];
        }
        assert_true(fabs(sum - cases[i].randoms) <= 1e-9 * cases[i].randoms);
        if (cases[i].rows > 0) {
            assert_true(fabs(rows->length_s[0] - cases[i].first_s) < 1e-15);
            assert_true(fabs(rows->length_s[cases[i].rows - 1] - cases[i].last_s) < 1e-15);
        }
        slc_pet_rates_close(rates);
    }
}

/* Times that are farther apart than a signed number can say. */
static void rates_of_the_farthest_times(void **state)
{
    (void)state;
    const slc_pet_rates_config config = pet_stream_rates_config(1e-6);
    slc_pet_rates *rates = NULL;
    const slc_pet_totals totals = {.checksum = 0};
    slc_pet_result result = {0};
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &result.singles, 2, 1), SLC_OK);
    result.singles.head.size = 1;
    result.singles.crystal[0] = 0;
    const slc_pet_frame frame = {.module = 0};
    slc_pet_rates_totals sums;
    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_OK);
    for (int i = 0; i < 2; i++) {
        result.singles.time_ps[0] = i == 0 ? INT64_MIN + 5 : INT64_MAX - 5;
        assert_int_equal(slc_pet_rates_add(
                             rates,
                             &(slc_pet_batch){.frames = &frame, .n = 1, .result = &result, .totals = &totals},
                             NULL),
                         SLC_OK);
    }
    slc_pet_rates_totals_of(rates, &sums);
    assert_int_equal(sums.frames, 2); /* the stretch between them was closed */
    slc_pet_rates_close(rates);
    slc_pet_result_clear(&result);
}

/* Without a single there are no rows; one time far from the others needs no rows between; too many are
 * refused; so is what cannot be. */
static void rates_at_the_limits(void **state)
{
    (void)state;
    slc_pet_rates_config config = pet_stream_rates_config(1e-6);
    slc_pet_rates *rates = NULL;
    slc_error error = {0};
    const slc_pet_totals totals = {.checksum = 0};
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_OK);
    assert_int_equal(slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, NULL),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &result.singles, 2, 1), SLC_OK);
    const int64_t times[] = {-3, INT64_MAX - 5};
    for (int i = 0; i < 2; i++) {
        result.singles.head.size = 1;
        result.singles.time_ps[0] = times[i];
        result.singles.crystal[0] = 0;
        assert_int_equal(
            slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals, .skipped = 10},
                              NULL),
            SLC_OK);
    }
    assert_int_equal(slc_pet_rates_finish(rates, NULL, NULL), SLC_OK);
    const slc_pet_rate_rows *rows = slc_pet_rates_rows(rates);
    assert_int_equal(rows->head.size, 2);
    assert_int_equal(rows->lost[0], 10);
    assert_int_equal(rows->lost[1], 10);
    slc_pet_rates_close(rates);

    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_OK);
    slc_status status = SLC_OK;
    size_t bins = 0;
    assert_int_equal(slc_columns_reserve(&slc_pet_coincidences_schema, &result.pairs, 1 << 16, 1), SLC_OK);
    result.singles.head.size = 0;
    while (status == SLC_OK && bins < 2U << 20) {
        for (size_t i = 0; i < 1 << 16; i++) {
            result.pairs.time_ps[i] = (int64_t)(bins++) * 1000000;
            result.pairs.delayed[i] = 0;
        }
        result.pairs.head.size = 1 << 16;
        status = slc_pet_rates_add(rates, &(slc_pet_batch){.result = &result, .totals = &totals}, &error);
    }
    assert_int_equal(status, SLC_ERR_FORMAT);
    assert_int_equal(bins, (1 << 20) + (1 << 16));
    assert_non_null(strstr(error.text, "choose longer ones"));
    slc_pet_rates_close(rates);
    slc_pet_result_clear(&result);

    config.bin_s = 0;
    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_ERR_USAGE);
    config.bin_s = 1;
    config.dead_time_ns = -1;
    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_ERR_USAGE);
    config.dead_time_ns = 0;
    config.geometry.channels = 0;
    assert_int_equal(slc_pet_rates_open(&config, &rates, NULL), SLC_ERR_USAGE);
    assert_null(rates);
    slc_pet_rates_close(NULL);
}

/* ---- dead time --------------------------------------------------------------------------------- */

/* Frames of a Poisson process, of which those less than the dead time behind the last that was taken are
 * lost: how many is found again from the others. */
static void dead_time(void **state)
{
    (void)state;
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_convert_config clock;
    slc_pet_convert_config_default(&clock);
    for (int paralysable = 0; paralysable < 2; paralysable++) {
        slc_pet_frame *frames = malloc(PET_STREAM_FRAMES * sizeof *frames);
        assert_non_null(frames);
        uint64_t seed = 5;
        int64_t time = 0, ready[SLC_PET_MAX_MODULES][SLC_PET_MAX_UNITS] = {{0}};
        uint64_t lost = 0;
        for (size_t n = 0; n < PET_STREAM_FRAMES;) {
            /* 80 blocks of 1.67 MHz, dead for 100 ns. */
            time += (int64_t)(-log(1 - random_unit(&seed)) * 7500);
            slc_pet_frame *frame = &frames[n];
            assert_true(pet_frames_of_single(&tables, &clock, random_below(&seed, 13520), time, 511, frame));
            int64_t *until = &ready[frame->module][frame->head_unit & 15U];
            const bool dead = time < *until;
            if (!dead || paralysable == 1) {
                *until = time + 100000;
            }
            lost += dead;
            n += !dead;
        }
        slc_pet_rates_config config = pet_stream_rates_config(50e-6);
        config.dead_time_ns = 100;
        config.paralysable = paralysable == 1;
        const size_t batches[] = {PET_STREAM_FRAMES + 1, 100};
        for (size_t b = 0; b < 2; b++) {
            slc_pet_rates *rates = pet_stream_rates(&config, frames, batches[b], NULL, NULL);
            slc_pet_rates_totals totals;
            slc_pet_rates_totals_of(rates, &totals);
            assert_int_equal(totals.frames, PET_STREAM_FRAMES);
            assert_int_equal(totals.saturated, 0);
            assert_true(lost > PET_STREAM_FRAMES / 8);
            assert_true(fabs(totals.dead_frames / (double)lost - 1) < 0.06);
            assert_true(totals.worst_fraction > 0.14 && totals.worst_fraction < 0.5);
            slc_pet_rates_close(rates);
        }
        /* A dead time that cannot be. */
        config.dead_time_ns = 10000;
        slc_pet_rates *rates = pet_stream_rates(&config, frames, PET_STREAM_FRAMES + 1, NULL, NULL);
        slc_pet_rates_totals totals;
        slc_pet_rates_totals_of(rates, &totals);
        assert_true(totals.saturated > 0 && totals.dead_frames == 0);
        slc_pet_rates_close(rates);
        free(frames);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rates_against_time),
        cmocka_unit_test(rates_of_few_singles),
        cmocka_unit_test(rates_of_the_farthest_times),
        cmocka_unit_test(rates_at_the_limits),
        cmocka_unit_test(dead_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
