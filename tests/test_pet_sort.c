/* SPDX-License-Identifier: Apache-2.0
 *
 * The streaming sort against a stable sort of what is not late: any cutting into batches, threads, equal
 * times, spans of 2^63, bursts, times far off, a horizon of 0; and the sort of a whole collection.
 */
#include "support/cmocka_all.h"
#include "support/pet_rows.h"
#include "support/random.h"

#include <sluice/pet_sort.h>

#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

/* ---- the slow way ------------------------------------------------------------------------------ */

typedef struct wanted {
    pet_arrival *sorted, *late;
    size_t n, n_late;
    wide lag;
} wanted;

static wanted sort_slowly(const int64_t *time, size_t n, int64_t horizon)
{
    wanted w = {.sorted = calloc(n + 1, sizeof(pet_arrival)), .late = calloc(n + 1, sizeof(pet_arrival))};
    wide largest = n > 0 ? time[0] : 0;
    for (size_t i = 0; i < n; i++) {
        const pet_arrival r = {time[i], i};
        const wide lag = largest - time[i];
        if (lag > horizon) {
            w.late[w.n_late++] = r;
        } else {
            w.sorted[w.n++] = r;
        }
        w.lag = lag > w.lag ? lag : w.lag;
        largest = time[i] > largest ? time[i] : largest;
    }
    qsort(w.sorted, w.n, sizeof(pet_arrival), pet_arrival_order);
    return w;
}

static void clear_wanted(wanted *w)
{
    free(w->sorted);
    free(w->late);
}

/* ---- comparing --------------------------------------------------------------------------------- */

/* With every output row known to be final: none given later may be earlier. */
static void run_batches(slc_pet_sort *stage, const int64_t *time, size_t n, size_t batch, const wanted *w)
{
    slc_pet_singles sorted = {0}, late = {0}, all = pet_arrival_singles(time, n);
    slc_pet_sort_counts counts;
    slc_error error = {0};
    for (size_t at = 0; at < n || at == 0; at += batch) {
        const size_t some = n - at < batch ? n - at : batch;
        slc_pet_singles part = all; /* a view */
        part.time_ps += at;
        part.crystal += at;
        part.energy_kev += at;
        part.head.size = some;
        const bool last = at + some == n;
        assert_int_equal(slc_pet_sort_run(stage, &part, last, &sorted, &late, &error), SLC_OK);
        slc_pet_sort_counts_of(stage, &counts);
        assert_int_equal(counts.taken, at + some);
        assert_int_equal(counts.given, sorted.head.size);
        assert_int_equal(counts.late, late.head.size);
        assert_int_equal(counts.held, counts.taken - counts.given - counts.late);
    }
    pet_arrival_same("in order", &sorted, w->sorted, w->n);
    pet_arrival_same("late", &late, w->late, w->n_late);
    assert_true(counts.largest_lag_ps == (w->lag > INT64_MAX ? INT64_MAX : (int64_t)w->lag));
    slc_columns_clear(&slc_pet_singles_schema, &sorted);
    slc_columns_clear(&slc_pet_singles_schema, &late);
    slc_columns_clear(&slc_pet_singles_schema, &all);
}

static void compare(const int64_t *time, size_t n, int64_t horizon, uint32_t threads, const size_t *batches,
                    size_t n_batches)
{
    wanted w = sort_slowly(time, n, horizon);
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = horizon;
    config.exec.threads = threads;
    slc_pet_sort *stage;
    assert_int_equal(slc_pet_sort_open(&config, &stage, NULL), SLC_OK);
    for (size_t b = 0; b < n_batches; b++) { /* the stage is as new after each */
        run_batches(stage, time, n, batches[b], &w);
    }
    slc_pet_sort_close(stage);
    clear_wanted(&w);
}

/* ---- arrivals ---------------------------------------------------------------------------------- */

typedef enum arrival { NEARLY, PACKETS, RANDOM, EQUAL, BURSTS, FAR, WIDE, BACKWARDS, ARRIVALS } arrival;

static int64_t *make(uint64_t *state, arrival kind, size_t n)
{
    int64_t *time = malloc((n + 1) * sizeof *time);
    int64_t clock = (int64_t)(random_u64(state) >> 4) - INT64_MAX / 16;
    int64_t packet[16];
    assert_non_null(time);
    for (size_t m = 0; m < 16; m++) {
        packet[m] = clock - (int64_t)random_below(state, 5000);
    }
    for (size_t i = 0; i < n; i++) {
        clock += random_below(state, 100);
        switch (kind) {
        case NEARLY:
            time[i] = clock - (int64_t)random_below(state, 3000);
            break;
        case PACKETS: /* each module in its own order, 20 at a time */
            time[i] = packet[i / 20 % 16] += random_below(state, 1600);
            break;
        case RANDOM:
            time[i] = random_below(state, 1000000);
            break;
        case EQUAL:
            time[i] = 7 + (int64_t)random_below(state, 2);
            break;
        case BURSTS: /* a thousand in 30 ps, then nothing for long */
            clock += i % 1000 == 0 ? 1000000000 : -95;
            time[i] = clock - (int64_t)random_below(state, 30);
            break;
        case FAR: /* one wild time now and then: before all, or in the future, behind which all are late */
            time[i] = i % 700 == 699 ? INT64_MIN + (int64_t)i : i == n - n / 10 ? INT64_MAX : clock;
            break;
        case WIDE:
            time[i] = (int64_t)random_u64(state);
            break;
        default:
            time[i] = -clock;
        }
    }
    return time;
}

static int64_t random_horizon(uint64_t *state)
{
    static const int64_t some[] = {0, 1, 500, 3000, 100000, INT64_C(1) << 40, INT64_MAX};
    return some[random_below(state, sizeof some / sizeof *some)];
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void batches_do_not_matter(void **state)
{
    (void)state;
    uint64_t seed = 50;
    for (int round = 0; round < 160; round++) {
        const size_t n = random_below(&seed, 3000);
        int64_t *time = make(&seed, (arrival)(round % ARRIVALS), n);
        const size_t batches[] = {n + 1, 1, 2 + random_below(&seed, 40), 50 + random_below(&seed, 900)};
        compare(time, n, random_horizon(&seed), 1, batches, sizeof batches / sizeof *batches);
        free(time);
    }
}

/* More than what a thread takes at once, and than what is merged in parts. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    uint64_t seed = 51;
    for (int kind = 0; kind < ARRIVALS; kind++) {
        const size_t n = 150000 + random_below(&seed, 1000);
        int64_t *time = make(&seed, (arrival)kind, n);
        const size_t batches[] = {n, 40000 + random_below(&seed, 9999)};
        const int64_t horizon = kind == RANDOM || kind == WIDE ? random_horizon(&seed) : 20000;
        for (uint32_t threads = 1; threads <= 8; threads += threads < 4 ? 1 : 2) {
            compare(time, n, horizon, threads, batches, 2);
        }
        free(time);
    }
}

static void a_million_equal_times(void **state)
{
    (void)state;
    const size_t n = 1000000, batches[] = {n, 77777};
    int64_t *time = calloc(n, sizeof *time);
    assert_non_null(time);
    compare(time, n, 0, 1, batches, 2);
    compare(time, n, 1000, 3, batches, 2);
    free(time);
}

/* What has been given is what a horizon behind the latest time allows, but for what is yet to be sorted. */
static void singles_do_not_wait_for_ever(void **state)
{
    (void)state;
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = 1000;
    slc_pet_sort *stage;
    slc_pet_singles sorted = {0}, one = pet_arrival_singles((const int64_t[]){0}, 1);
    slc_pet_sort_counts counts;
    assert_int_equal(slc_pet_sort_open(&config, &stage, NULL), SLC_OK);
    for (int64_t i = 0; i < 1000; i++) { /* eleven within the horizon */
        one.time_ps[0] = i * 100;
        assert_int_equal(slc_pet_sort_run(stage, &one, false, &sorted, NULL, NULL), SLC_OK);
        slc_pet_sort_counts_of(stage, &counts);
        assert_in_range(counts.held, 1, 12);
    }
    slc_columns_clear(&slc_pet_singles_schema, &sorted);
    slc_columns_clear(&slc_pet_singles_schema, &one);
    slc_pet_sort_close(stage);
}

static void late_ones_are_counted_without_a_collection(void **state)
{
    (void)state;
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = 10;
    slc_pet_sort *stage;
    slc_pet_singles sorted = {0}, some = pet_arrival_singles((const int64_t[]){100, 90, 89, 101, 90}, 5);
    slc_pet_sort_counts counts;
    assert_int_equal(slc_pet_sort_open(&config, &stage, NULL), SLC_OK);
    assert_int_equal(slc_pet_sort_run(stage, &some, true, &sorted, NULL, NULL), SLC_OK);
    slc_pet_sort_counts_of(stage, &counts);
    assert_int_equal(counts.late, 2);
    assert_int_equal(counts.largest_lag_ps, 11);
    assert_int_equal(sorted.head.size, 3);
    slc_columns_clear(&slc_pet_singles_schema, &sorted);
    slc_columns_clear(&slc_pet_singles_schema, &some);
    slc_pet_sort_close(stage);
}

static void a_negative_horizon_is_refused(void **state)
{
    (void)state;
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = -1;
    slc_pet_sort *stage = (slc_pet_sort *)(void *)&stage; /* to be overwritten */
    slc_error error = {0};
    assert_int_equal(slc_pet_sort_open(&config, &stage, &error), SLC_ERR_USAGE);
    assert_null(stage);
    assert_non_null(strstr(error.text, "horizon"));
}

/* All at once, in any order. */
static void a_collection_is_sorted(void **state)
{
    (void)state;
    uint64_t seed = 52;
    for (int round = 0; round < 60; round++) {
        const size_t n = round == 0 ? 0 : random_below(&seed, round % 10 == 9 ? 200000 : 3000);
        int64_t *time = make(&seed, (arrival)(round % ARRIVALS), n);
        slc_pet_singles all = pet_arrival_singles(time, n), work = {0};
        pet_arrival *rows = calloc(n + 1, sizeof *rows);
        for (size_t i = 0; i < n; i++) {
            rows[i] = (pet_arrival){time[i], i};
        }
        qsort(rows, n, sizeof *rows, pet_arrival_order);
        assert_int_equal(slc_pet_sort_all(&all, &work), SLC_OK);
        pet_arrival_same("all", &all, rows, n);
        free(rows);
        slc_columns_clear(&slc_pet_singles_schema, &all);
        slc_columns_clear(&slc_pet_singles_schema, &work);
        free(time);
    }
}

/* Times in floating point, 0 of both signs among them, which are equal. */
static void a_collection_of_floating_point_is_sorted(void **state)
{
    (void)state;
    uint64_t seed = 53;
    for (int round = 0; round < 40; round++) {
        const size_t n = random_below(&seed, 4000);
        slc_pet_singles_f64 all = {0}, work = {0};
        assert_int_equal(slc_columns_reserve(&slc_pet_singles_f64_schema, &all, n + 1, 1), SLC_OK);
        all.head.size = n;
        for (size_t i = 0; i < n; i++) {
            const double x = (random_unit(&seed) - 0.5) * (round % 2 == 0 ? 1e-3 : 1e15);
            all.time_ns[i] = random_below(&seed, 9) == 0 ? (random_below(&seed, 2) == 0 ? 0.0 : -0.0) : x;
            all.crystal[i] = (uint32_t)i;
            all.energy_kev[i] = (float)all.time_ns[i];
        }
        assert_int_equal(slc_pet_sort_all_f64(&all, &work), SLC_OK);
        for (size_t i = 0; i < n; i++) {
            assert_true(all.energy_kev[i] == (float)all.time_ns[i]);
            assert_true(i == 0 || all.time_ns[i - 1] < all.time_ns[i] ||
                        (all.time_ns[i - 1] == all.time_ns[i] && all.crystal[i - 1] < all.crystal[i]));
        }
        slc_columns_clear(&slc_pet_singles_f64_schema, &all);
        slc_columns_clear(&slc_pet_singles_f64_schema, &work);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batches_do_not_matter),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(a_million_equal_times),
        cmocka_unit_test(singles_do_not_wait_for_ever),
        cmocka_unit_test(late_ones_are_counted_without_a_collection),
        cmocka_unit_test(a_negative_horizon_is_refused),
        cmocka_unit_test(a_collection_is_sorted),
        cmocka_unit_test(a_collection_of_floating_point_is_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
