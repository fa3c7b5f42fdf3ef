/* SPDX-License-Identifier: Apache-2.0
 *
 * Outputs of a run of the PET chain: the order of prompts and delayeds beside a stable sort, for policies
 * that give pairs in odd orders, and any batch; rates beside those of the whole measurement (pet_rates.h),
 * for any batch; dead time beside what was put in; pictures.
 */
#include "support/cmocka_all.h"
#include "support/pet_frames.h"
#include "support/pet_rows.h"
#include "support/random.h"

#include <sluice/report_pet.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FRAMES = 20000 };

/* Singles at random from `first` on with pairs among them, in time; one in 500 of a module that is not there.
 */
static slc_pet_frame *make(const slc_pet_tables *tables, int64_t first, double step_ps)
{
    uint64_t seed = 11;
    slc_pet_convert_config clock;
    slc_pet_convert_config_default(&clock);
    slc_pet_frame *frames = malloc(FRAMES * sizeof *frames);
    assert_non_null(frames);
    int64_t time = first;
    for (size_t i = 0; i < FRAMES; i++) {
        const bool pair = random_below(&seed, 3) == 0;
        time += pair ? random_below(&seed, 3000) : (int64_t)(-log(1 - random_unit(&seed)) * step_ps);
        assert_true(slc_pet_frame_make(tables, &clock, random_below(&seed, 13520), time, 511, &frames[i]));
        if (i % 500 == 77) {
            frames[i].module = 200;
        }
    }
    return frames;
}

static slc_pet_config config_of(slc_pet_policy policy, bool all_open, bool delayed)
{
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.keep_singles = true;
    config.delayed = delayed;
    config.sort.horizon_ps = 1000000;
    config.prompt.policy = policy;
    config.prompt.all_open = all_open;
    config.prompt.compat_gate9 = true;
    return config;
}

/* ---- order ------------------------------------------------------------------------------------- */

/* Pairs as they come, and in order. */
static void run_pairs(const slc_pet_config *config, const slc_pet_tables *tables, const slc_pet_frame *frames,
                      size_t batch, slc_pet_coincidences *plain, slc_pet_coincidences *ordered)
{
    slc_pet_chain *chain = NULL;
    slc_report_pet_pairs *pairs = NULL;
    slc_pet_result result = {0};
    assert_int_equal(slc_pet_chain_open(config, tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_report_pet_pairs_open(config, &pairs, NULL), SLC_OK);
    size_t waiting = 0, most = 0;
    for (size_t at = 0; at <= FRAMES; at += batch) {
        const size_t n = FRAMES - at < batch ? FRAMES - at : batch;
        assert_int_equal(slc_pet_chain_run(chain, frames + at, n, n < batch, &result, NULL), SLC_OK);
        pet_rows_append(&slc_pet_coincidences_schema, &result.pairs, 0, result.pairs.head.size, plain);
        assert_int_equal(slc_report_pet_pairs_add(pairs, &result, n < batch, ordered, NULL), SLC_OK);
        waiting = plain->head.size - ordered->head.size;
        most = waiting > most ? waiting : most;
    }
    assert_int_equal(waiting, 0);
    /* Some 110 ns of pairs wait, not all of them. */
    assert_true(batch > FRAMES || most < plain->head.size / 10);
    slc_report_pet_pairs_close(pairs);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
}

static const slc_pet_coincidences *compared;

static int by_time(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    const int64_t s = compared->time_ps[x], t = compared->time_ps[y];
    const int delayed = compared->delayed[x] - compared->delayed[y];
    return s != t ? (s > t) - (s < t) : delayed != 0 ? delayed : (x > y) - (x < y);
}

/* `plain` is that of one batch: prompts, then delayeds, each in the order in which the stage gives them. */
static void assert_sorted(const slc_pet_coincidences *plain, const slc_pet_coincidences *ordered)
{
    const size_t n = plain->head.size;
    size_t *rows = malloc(n * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < n; i++) {
        rows[i] = i;
    }
    compared = plain;
    qsort(rows, n, sizeof *rows, by_time);
    assert_int_equal(ordered->head.size, n);
    for (size_t i = 0; i < n; i++) {
        const size_t row = rows[i];
        assert_int_equal(ordered->time_ps[i], plain->time_ps[row]);
        assert_int_equal(ordered->dt_ps[i], plain->dt_ps[row]);
        assert_int_equal(ordered->crystal1[i], plain->crystal1[row]);
        assert_int_equal(ordered->crystal2[i], plain->crystal2[row]);
        assert_int_equal(ordered->delayed[i], plain->delayed[row]);
        assert_true(ordered->energy1_kev[i] == plain->energy1_kev[row]);
        assert_true(ordered->energy2_kev[i] == plain->energy2_kev[row]);
    }
    free(rows);
}

static void pairs_in_order(void **state)
{
    (void)state;
    const struct {
        slc_pet_policy policy;
        bool all_open, delayed;
        int64_t first;
        double step_ps;
    } cases[] = {
        {SLC_PET_KILL_ALL, false, true, 0, 5000},
        {SLC_PET_TAKE_ALL_GOODS, true, true, -5000000, 5000},
        {SLC_PET_TAKE_ALL_GOODS, false, false, INT64_MIN + 7, 5000},
        {SLC_PET_KEEP_IF_ANY_IS_GOOD, true, true, 1, 5000},
        {SLC_PET_KILL_ALL_IF_MULTIPLE_GOODS, true, true, INT64_MAX / 2, 5000},
        {SLC_PET_MULTIPLES_AS_SEQUENTIAL, false, true, 5, 5000},
        {SLC_PET_TAKE_ALL_GOODS, true, true, 0, 300000},
        {SLC_PET_TAKE_ALL_GOODS, false, true, 0, 50000},
    };
    const slc_pet_tables tables = pet_frames_mouse();
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        slc_pet_frame *frames = make(&tables, cases[c].first, cases[c].step_ps);
        const slc_pet_config config = config_of(cases[c].policy, cases[c].all_open, cases[c].delayed);
        slc_pet_coincidences whole = {0}, plain = {0}, ordered = {0};
        const size_t batches[] = {FRAMES + 1, 1, 77, 5000};
        for (size_t b = 0; b < 4; b++) {
            slc_columns_reset(&plain);
            slc_columns_reset(&ordered);
            run_pairs(&config, &tables, frames, batches[b], b == 0 ? &whole : &plain, &ordered);
            assert_true(whole.head.size > 2000);
            assert_sorted(&whole, &ordered);
        }
        slc_columns_clear(&slc_pet_coincidences_schema, &whole);
        slc_columns_clear(&slc_pet_coincidences_schema, &plain);
        slc_columns_clear(&slc_pet_coincidences_schema, &ordered);
        free(frames);
    }
    slc_report_pet_pairs *pairs = NULL;
    slc_pet_config config = config_of(SLC_PET_KILL_ALL, false, false);
    config.prompt.window_ns = NAN;
    assert_int_equal(slc_report_pet_pairs_open(&config, &pairs, NULL), SLC_ERR_USAGE);
    assert_null(pairs);
    slc_report_pet_pairs_close(NULL);
}

/* ---- rates ------------------------------------------------------------------------------------- */

static slc_report_pet_rates_config rates_config(double bin_s)
{
    return (slc_report_pet_rates_config){.geometry = pet_frames_mouse().geometry,
                                         .good = {.kind = SLC_PET_GOOD_DIFFERENT_CRYSTAL},
                                         .window_ns = 10,
                                         .bin_s = bin_s,
                                         .horizon_ps = 1000000};
}

/* The rates of a run; whole: of the library's stage that keeps all bins, to compare with (may be NULL). */
static slc_report_pet_rates *run_rates(const slc_report_pet_rates_config *config, const slc_pet_frame *frames,
                                       size_t batch, slc_pet_rates *whole)
{
    const slc_pet_tables tables = pet_frames_mouse();
    const slc_pet_config chain_config = config_of(SLC_PET_TAKE_ALL_GOODS, false, true);
    slc_pet_chain *chain = NULL;
    slc_report_pet_rates *rates = NULL;
    slc_pet_result result = {0};
    slc_pet_totals totals;
    assert_int_equal(slc_pet_chain_open(&chain_config, &tables, &chain, NULL), SLC_OK);
    assert_int_equal(slc_report_pet_rates_open(config, &rates, NULL), SLC_OK);
    for (size_t at = 0; at <= FRAMES; at += batch) {
        const size_t n = FRAMES - at < batch ? FRAMES - at : batch;
        assert_int_equal(slc_pet_chain_run(chain, frames + at, n, n < batch, &result, NULL), SLC_OK);
        slc_pet_chain_totals(chain, &totals);
        assert_int_equal(
            slc_report_pet_rates_add(rates, frames + at, n, &result, &totals, at == 0 ? 3 : 0, NULL), SLC_OK);
        if (whole != NULL) {
            assert_int_equal(slc_pet_rates_add_singles(whole, &result.singles, NULL), SLC_OK);
            assert_int_equal(slc_pet_rates_add_pairs(whole, &result.pairs, NULL), SLC_OK);
        }
    }
    assert_int_equal(slc_report_pet_rates_finish(rates, NULL), SLC_OK);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    return rates;
}

static void rates_against_time(void **state)
{
    (void)state;
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_frame *frames = make(&tables, -20000000, 30000);
    const slc_report_pet_rates_config config = rates_config(20e-6);
    const slc_pet_rates_config plain = {
        .geometry = tables.geometry, .good = config.good, .window_ns = 10, .bin_s = 20e-6};
    const size_t batches[] = {FRAMES + 1, 100, 1, 3333};
    for (size_t b = 0; b < 4; b++) {
        slc_pet_rates *whole = NULL;
        assert_int_equal(slc_pet_rates_open(&plain, &whole, NULL), SLC_OK);
        slc_report_pet_rates *rates = run_rates(&config, frames, batches[b], whole);
        const slc_report_pet_rate_rows *rows = slc_report_pet_rates_rows(rates);
        const slc_pet_rate_rows *wanted = slc_pet_rates_rows(whole);
        slc_report_pet_rates_totals totals;
        slc_report_pet_rates_totals_of(rates, &totals);
        double seconds = 0;
        (void)slc_pet_rates_singles(whole, &seconds);
        assert_true(fabs(totals.seconds - seconds) < 1e-15);
        assert_true(fabs(totals.randoms / slc_pet_rates_randoms(whole) - 1) < 1e-9);
        assert_int_equal(rows->head.size, wanted->head.size);
        assert_true(rows->head.size > 10);
        uint64_t sum[3] = {0};
        for (size_t i = 0; i < rows->head.size; i++) {
            assert_true(fabs(rows->begin_s[i] - wanted->begin_s[i]) < 1e-12);
            assert_int_equal(rows->singles[i], wanted->singles[i]);
            assert_int_equal(rows->prompts[i], wanted->prompts[i]);
            assert_int_equal(rows->delayeds[i], wanted->delayeds[i]);
            const double share = rows->length_s[i] / seconds;
            assert_true(fabs((double)rows->frames[i] - FRAMES * share) < 0.2 * FRAMES * share + 40);
            sum[0] += rows->frames[i];
            sum[1] += rows->lost[i];
            sum[2] += rows->multiples[i];
        }
        assert_int_equal(sum[0], FRAMES);
        assert_int_equal(sum[1], FRAMES / 500 + 3);
        assert_true(sum[2] > 500);
        assert_int_equal(totals.frames, FRAMES - FRAMES / 500);
        slc_report_pet_rates_close(rates);
        slc_pet_rates_close(whole);
    }
    free(frames);
}

/* Singles at these times, of two crystals in turn. */
static slc_report_pet_rates *rates_of_few(double bin_s, const int64_t *times, size_t n)
{
    const slc_report_pet_rates_config config = rates_config(bin_s);
    const slc_pet_totals totals = {.checksum = 0};
    slc_report_pet_rates *rates = NULL;
    slc_pet_result result = {0};
    assert_int_equal(slc_report_pet_rates_open(&config, &rates, NULL), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &result.singles, 2, 1), SLC_OK);
    for (size_t i = 0; i < n; i++) { /* one at a time */
        result.singles.head.size = 1;
        result.singles.time_ps[0] = times[i];
        result.singles.crystal[0] = (uint32_t)(i % 2) * 100;
        assert_int_equal(slc_report_pet_rates_add(rates, NULL, 0, &result, &totals, 0, NULL), SLC_OK);
    }
    assert_int_equal(slc_report_pet_rates_finish(rates, NULL), SLC_OK);
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
        slc_report_pet_rates *rates = rates_of_few(1e-3, cases[i].times, cases[i].n);
        const slc_report_pet_rate_rows *rows = slc_report_pet_rates_rows(rates);
        slc_report_pet_rates_totals totals;
        slc_report_pet_rates_totals_of(rates, &totals);
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
        slc_report_pet_rates_close(rates);
    }
}

/* Times that are farther apart than a signed number can say. */
static void rates_of_the_farthest_times(void **state)
{
    (void)state;
    const slc_report_pet_rates_config config = rates_config(1e-6);
    slc_report_pet_rates *rates = NULL;
    const slc_pet_totals totals = {.checksum = 0};
    slc_pet_result result = {0};
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &result.singles, 2, 1), SLC_OK);
    result.singles.head.size = 1;
    result.singles.crystal[0] = 0;
    const slc_pet_frame frame = {.module = 0};
    slc_report_pet_rates_totals sums;
    assert_int_equal(slc_report_pet_rates_open(&config, &rates, NULL), SLC_OK);
    for (int i = 0; i < 2; i++) {
        result.singles.time_ps[0] = i == 0 ? INT64_MIN + 5 : INT64_MAX - 5;
        assert_int_equal(slc_report_pet_rates_add(rates, &frame, 1, &result, &totals, 0, NULL), SLC_OK);
    }
    slc_report_pet_rates_totals_of(rates, &sums);
    assert_int_equal(sums.frames, 2); /* the stretch between them was closed */
    slc_report_pet_rates_close(rates);
    slc_pet_result_clear(&result);
}

/* Without a single there are no rows; one time far from the others needs no rows between; too many are
 * refused; so is what cannot be. */
static void rates_at_the_limits(void **state)
{
    (void)state;
    slc_report_pet_rates_config config = rates_config(1e-6);
    slc_report_pet_rates *rates = NULL;
    slc_error error = {0};
    const slc_pet_totals totals = {.checksum = 0};
    slc_pet_result result = {0};
    assert_int_equal(slc_report_pet_rates_open(&config, &rates, NULL), SLC_OK);
    assert_int_equal(slc_report_pet_rates_add(rates, NULL, 0, &result, &totals, 0, NULL), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &result.singles, 2, 1), SLC_OK);
    const int64_t times[] = {-3, INT64_MAX - 5};
    for (int i = 0; i < 2; i++) {
        result.singles.head.size = 1;
        result.singles.time_ps[0] = times[i];
        result.singles.crystal[0] = 0;
        assert_int_equal(slc_report_pet_rates_add(rates, NULL, 0, &result, &totals, 10, NULL), SLC_OK);
    }
    assert_int_equal(slc_report_pet_rates_finish(rates, NULL), SLC_OK);
    const slc_report_pet_rate_rows *rows = slc_report_pet_rates_rows(rates);
    assert_int_equal(rows->head.size, 2);
    assert_int_equal(rows->lost[0], 10);
    assert_int_equal(rows->lost[1], 10);
    assert_int_equal(slc_report_pet_rates_svg("/dev/null", rows, config.bin_s, &error), SLC_OK);
    slc_report_pet_rates_close(rates);

    assert_int_equal(slc_report_pet_rates_open(&config, &rates, NULL), SLC_OK);
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
        status = slc_report_pet_rates_add(rates, NULL, 0, &result, &totals, 0, &error);
    }
    assert_int_equal(status, SLC_ERR_FORMAT);
    assert_int_equal(bins, (1 << 20) + (1 << 16));
    assert_non_null(strstr(error.text, "choose longer ones"));
    slc_report_pet_rates_close(rates);
    slc_pet_result_clear(&result);

    config.bin_s = 0;
    assert_int_equal(slc_report_pet_rates_open(&config, &rates, NULL), SLC_ERR_USAGE);
    config.bin_s = 1;
    config.dead_time_ns = -1;
    assert_int_equal(slc_report_pet_rates_open(&config, &rates, NULL), SLC_ERR_USAGE);
    config.dead_time_ns = 0;
    config.geometry.channels = 0;
    assert_int_equal(slc_report_pet_rates_open(&config, &rates, NULL), SLC_ERR_USAGE);
    assert_null(rates);
    slc_report_pet_rates_close(NULL);
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
        slc_pet_frame *frames = malloc(FRAMES * sizeof *frames);
        assert_non_null(frames);
        uint64_t seed = 5;
        int64_t time = 0, ready[SLC_PET_MAX_MODULES][SLC_PET_MAX_UNITS] = {{0}};
        uint64_t lost = 0;
        for (size_t n = 0; n < FRAMES;) {
            /* 80 blocks of 1.67 MHz, dead for 100 ns. */
            time += (int64_t)(-log(1 - random_unit(&seed)) * 7500);
            slc_pet_frame *frame = &frames[n];
            assert_true(slc_pet_frame_make(&tables, &clock, random_below(&seed, 13520), time, 511, frame));
            int64_t *until = &ready[frame->module][frame->head_unit & 15U];
            const bool dead = time < *until;
            if (!dead || paralysable == 1) {
                *until = time + 100000;
            }
            lost += dead;
            n += !dead;
        }
        slc_report_pet_rates_config config = rates_config(50e-6);
        config.dead_time_ns = 100;
        config.paralysable = paralysable == 1;
        const size_t batches[] = {FRAMES + 1, 100};
        for (size_t b = 0; b < 2; b++) {
            slc_report_pet_rates *rates = run_rates(&config, frames, batches[b], NULL);
            slc_report_pet_rates_totals totals;
            slc_report_pet_rates_totals_of(rates, &totals);
            assert_int_equal(totals.frames, FRAMES);
            assert_int_equal(totals.saturated, 0);
            assert_true(lost > FRAMES / 8);
            assert_true(fabs(totals.dead_frames / (double)lost - 1) < 0.06);
            assert_true(totals.worst_fraction > 0.14 && totals.worst_fraction < 0.5);
            slc_report_pet_rates_close(rates);
        }
        /* A dead time that cannot be. */
        config.dead_time_ns = 10000;
        slc_report_pet_rates *rates = run_rates(&config, frames, FRAMES + 1, NULL);
        slc_report_pet_rates_totals totals;
        slc_report_pet_rates_totals_of(rates, &totals);
        assert_true(totals.saturated > 0 && totals.dead_frames == 0);
        slc_report_pet_rates_close(rates);
        free(frames);
    }
}

/* ---- pictures ---------------------------------------------------------------------------------- */

static char *read_text(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = calloc(1, 1 << 20);
    assert_non_null(text);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 1000);
    assert_int_equal(fclose(file), 0);
    return text;
}

static void pictures(void **state)
{
    (void)state;
    char path[] = "/tmp/test_report_pet-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_frame *frames = make(&tables, 0, 30000);
    /* 500 bins and more: curves of 400 steps at most. */
    const slc_report_pet_rates_config config = rates_config(1e-6);
    slc_report_pet_rates *rates = run_rates(&config, frames, 500, NULL);
    const slc_report_pet_rate_rows *rows = slc_report_pet_rates_rows(rates);
    slc_error error = {0};
    assert_true(rows->head.size > 400);
    assert_int_equal(slc_report_pet_rates_svg(path, rows, config.bin_s, &error), SLC_OK);
    char *text = read_text(path);
    const char *const words[] = {
        "frames: 4",   "singles: ",         "lost: ", "prompts: ", "delayeds: ", "randoms from singles: ",
        "multiples: ", "millions a second", "µs"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (strstr(text, words[i]) == NULL) {
            fail_msg("no '%s' in the picture", words[i]);
        }
    }
    size_t points = 0;
    for (const char *at = strchr(text, 'L'); at != NULL; at = strchr(at + 1, 'L')) {
        points++;
    }
    assert_in_range(points, 7 * 400, 7 * 2 * 400);
    free(text);
    slc_report_pet_rate_rows none = {0};
    assert_int_equal(slc_report_pet_rates_svg(path, &none, 1, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_report_pet_rates_svg("/nowhere/at/all.svg", rows, 1, &error), SLC_ERR_IO);
    assert_int_equal(unlink(path), 0);
    slc_report_pet_rates_close(rates);
    free(frames);
}

/* Rates of many orders of magnitude are drawn in decades, others from zero; bins without anything are no
 * trouble on either. */
static void picture_in_decades(void **state)
{
    (void)state;
    char path[] = "/tmp/test_report_pet-XXXXXX";
    const int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(close(file), 0);
    enum { ROWS = 20 };
    static const struct {
        uint64_t singles, prompts, delayeds;
        const char *words[4], *absent[3];
    } cases[] = {
        {20000000,
         1000000,
         1000,
         {">10M<", ">100k<", ">10k<", "none: at the lower edge"},
         {"millions a second", "thousands a second", ">0.5<"}},
        {5000,
         900,
         300,
         {"thousands a second", ">a second<", ">200<", ">0<"},
         {">10k<", "lower edge", ">1000<"}},
        {0, 0, 0, {">0<", ">0.4<", ">1<", "singles: 0<"}, {"lower edge", "nan", "inf"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_report_pet_rate_rows rows = {0};
        slc_error error = {0};
        assert_int_equal(slc_columns_reserve(&slc_report_pet_rate_rows_schema, &rows, ROWS, 0), SLC_OK);
        rows.head.size = ROWS;
        for (size_t r = 0; r < ROWS; r++) {
            const bool nothing = r == 7; /* in this bin */
            rows.begin_s[r] = (double)r;
            rows.length_s[r] = 1;
            rows.frames[r] = rows.singles[r] = nothing ? 0 : cases[i].singles;
            rows.prompts[r] = nothing ? 0 : cases[i].prompts;
            rows.delayeds[r] = nothing ? 0 : cases[i].delayeds;
            rows.randoms[r] = (double)rows.delayeds[r];
            rows.multiples[r] = 0;
            rows.lost[r] = i == 0 && r == 3;
        }
        assert_int_equal(slc_report_pet_rates_svg(path, &rows, 1, &error), SLC_OK);
        char *text = read_text(path);
        for (size_t k = 0; k < 4; k++) {
            if (strstr(text, cases[i].words[k]) == NULL) {
                fail_msg("case %zu: no '%s' in the picture", i, cases[i].words[k]);
            }
            if (k < 3 && strstr(text, cases[i].absent[k]) != NULL) {
                fail_msg("case %zu: '%s' is in the picture", i, cases[i].absent[k]);
            }
        }
        free(text);
        slc_columns_clear(&slc_report_pet_rate_rows_schema, &rows);
    }
    assert_int_equal(unlink(path), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pairs_in_order),
        cmocka_unit_test(rates_against_time),
        cmocka_unit_test(rates_of_few_singles),
        cmocka_unit_test(rates_of_the_farthest_times),
        cmocka_unit_test(rates_at_the_limits),
        cmocka_unit_test(dead_time),
        cmocka_unit_test(pictures),
        cmocka_unit_test(picture_in_decades),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
