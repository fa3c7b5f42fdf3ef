/* SPDX-License-Identifier: Apache-2.0
 *
 * The sort on a GPU, by every method, against a stable sort by the host: sizes around those of tiles, equal
 * times, clusters, times far off and from end to end of what 64 bits hold; and as a stream against the stage
 * of the processor, for any cutting into batches, with late singles. Exits with 77 where there is no GPU.
 */
#include "pet/cuda/pet_cuda.h"
#include "support/assert_ok.h"
#include "support/cmocka_all.h"
#include "support/pet_rows.h"
#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How much is sorted: less in the emulator, and where a tool looks at every access. */
typedef struct amounts {
    size_t many, huge;
    uint32_t stream;
    int rounds;
} amounts;
#ifdef SLUICE_SIMT
static const amounts large = {24000, 60000, 5000, 16};
#else
static const amounts large = {1000000, 5000000, 200000, 64};
#endif
static const amounts small = {3000, 20000, 2000, 15};
static amounts use;

static slc_cuda_stream *stream;
static slc_error error; /* of the last call */

/* ---- the slow way ------------------------------------------------------------------------------ */

static pet_arrival *sort_slowly(const int64_t *time, size_t n)
{
    pet_arrival *rows = malloc((n + 1) * sizeof *rows);
    assert_non_null(rows);
    for (size_t i = 0; i < n; i++) {
        rows[i] = (pet_arrival){time[i], i};
    }
    qsort(rows, n, sizeof *rows, pet_arrival_order);
    return rows;
}

/* ---- to the device and back -------------------------------------------------------------------- */

/* Columns on the device, each with a memory of its own, so that their ends are guarded in the emulator. */
typedef struct columns {
    slc_cuda_memory time, crystal, energy;
    slc_pet_cuda_singles at;
} columns;

static columns make_columns(size_t n)
{
    columns c = {.at = {.n = n}};
    ASSERT_OK(slc_cuda_memory_reserve(stream, &c.time, n * sizeof(int64_t), "a test", &error));
    ASSERT_OK(slc_cuda_memory_reserve(stream, &c.crystal, n * sizeof(uint32_t), "a test", &error));
    ASSERT_OK(slc_cuda_memory_reserve(stream, &c.energy, n * sizeof(float), "a test", &error));
    c.at.time_ps = c.time.at;
    c.at.crystal = c.crystal.at;
    c.at.energy_kev = c.energy.at;
    return c;
}

static void clear_columns(columns *c)
{
    slc_cuda_memory_clear(&c->time);
    slc_cuda_memory_clear(&c->crystal);
    slc_cuda_memory_clear(&c->energy);
}

static void put(const slc_pet_singles *from, size_t first, size_t n, const slc_pet_cuda_singles *to)
{
    ASSERT_OK(slc_cuda_to_device(stream, to->time_ps, from->time_ps + first, n * sizeof(int64_t), &error));
    ASSERT_OK(slc_cuda_to_device(stream, to->crystal, from->crystal + first, n * sizeof(uint32_t), &error));
    ASSERT_OK(
        slc_cuda_to_device(stream, to->energy_kev, from->energy_kev + first, n * sizeof(float), &error));
}

/* Appends to a collection with room. */
static void get(const slc_pet_cuda_singles *from, slc_pet_singles *to)
{
    const size_t n = (size_t)from->n, at = to->head.size;
    if (n > 0) {
        ASSERT_OK(slc_cuda_to_host(stream, to->time_ps + at, from->time_ps, n * sizeof(int64_t), &error));
        ASSERT_OK(slc_cuda_to_host(stream, to->crystal + at, from->crystal, n * sizeof(uint32_t), &error));
        ASSERT_OK(slc_cuda_to_host(stream, to->energy_kev + at, from->energy_kev, n * sizeof(float), &error));
        ASSERT_OK(slc_cuda_stream_wait(stream, &error));
    }
    to->head.size += n;
}

static slc_pet_sort_cuda *open_stage(slc_pet_sort_method method, int64_t horizon)
{
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = horizon;
    slc_pet_sort_cuda *stage = NULL;
    ASSERT_OK(slc_pet_sort_cuda_open(&config, method, stream, &stage, &error));
    return stage;
}

/* ---- all at once ------------------------------------------------------------------------------- */

static void sort_by(slc_pet_sort_cuda *stage, const char *name, const slc_pet_singles *all,
                    const pet_arrival *want)
{
    const size_t n = all->head.size;
    columns from = make_columns(n), to = make_columns(n);
    slc_pet_singles got = pet_arrival_singles(NULL, 0);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &got, n + 1, 1), SLC_OK);
    put(all, 0, n, &from.at);
    if (n > 0) { /* nothing may be left of what was there */
        ASSERT_OK(slc_cuda_fill(stream, to.at.time_ps, 0x5A, n * sizeof(int64_t), &error));
        ASSERT_OK(slc_cuda_fill(stream, to.at.crystal, 0x5A, n * sizeof(uint32_t), &error));
    }
    to.at.n = 0;
    ASSERT_OK(slc_pet_sort_cuda_all(stage, &from.at, &to.at, &error));
    assert_int_equal(to.at.n, n);
    get(&to.at, &got);
    pet_arrival_same(name, &got, want, n);
    slc_columns_clear(&slc_pet_singles_schema, &got);
    clear_columns(&from);
    clear_columns(&to);
}

/* By all methods from `first` on, with one stage each for all sizes that come. */
static slc_pet_sort_cuda *stages[SLC_PET_SORT_METHODS];

static void check_all(const int64_t *time, size_t n)
{
    slc_pet_singles all = pet_arrival_singles(time, n);
    pet_arrival *want = sort_slowly(time, n);
    for (unsigned m = 0; m < SLC_PET_SORT_METHODS; m++) {
        if (stages[m] == NULL) {
            stages[m] = open_stage((slc_pet_sort_method)m, 0);
        }
        sort_by(stages[m], slc_pet_sort_method_name((slc_pet_sort_method)m), &all, want);
    }
    free(want);
    slc_columns_clear(&slc_pet_singles_schema, &all);
}

static void close_stages(void)
{
    for (unsigned m = 0; m < SLC_PET_SORT_METHODS; m++) {
        slc_pet_sort_cuda_close(stages[m]);
        stages[m] = NULL;
    }
}

typedef enum arrival {
    NEARLY,
    PACKETS,
    RANDOM,
    EQUAL,
    TICKS,    /* many of each time, everywhere */
    BURSTS,   /* a thousand at once, then nothing for long */
    OUTLIER,  /* one far after all others */
    CLUSTERS, /* two, at both ends of time */
    CHANGES,  /* at once a two-hundredth as many a second */
    SPIKE,    /* a third of all at one time */
    SLOW,     /* a bucket is longer than 2^32 ps */
    WIDE,
    ENDS,   /* the least time, the largest, and those around 0 */
    DENSER, /* twice as dense with every bit */
    BACKWARDS,
    ARRIVALS
} arrival;

static int64_t pick(uint64_t *seed, arrival kind, size_t i, size_t n, int64_t clock)
{
    switch (kind) {
    case NEARLY:
        return clock - (int64_t)random_below(seed, 300000);
    case RANDOM:
        return (int64_t)random_below(seed, 1000000000) - 300000000;
    case EQUAL:
        return -7;
    case TICKS:
        return clock / 6000 * 6000;
    case BURSTS:
        return clock + (int64_t)(i / 1000) * 1000000000000 - (int64_t)random_below(seed, 30);
    case OUTLIER:
        return i == n / 2 ? INT64_C(1) << 62 : clock;
    case CLUSTERS:
        return i % 2 == 0 ? INT64_MIN + (int64_t)random_below(seed, 1000000)
                          : INT64_MAX - (int64_t)random_below(seed, 1000000);
    case CHANGES:
        return clock + (i > n / 2 ? (int64_t)(i - n / 2) * 10000 : 0) - (int64_t)random_below(seed, 3000);
    case SPIKE:
        return i % 3 == 0 ? 1000000 : clock - (int64_t)random_below(seed, 100000);
    case SLOW:
        return (clock - (int64_t)random_below(seed, 100000)) * 100000;
    case WIDE:
        return (int64_t)random_u64(seed);
    case ENDS: {
        const int64_t ends[] = {INT64_MIN, INT64_MAX, 0, -1, 1};
        return ends[random_below(seed, 5)];
    }
    case DENSER:
        return (int64_t)(random_u64(seed) >> random_below(seed, 64)) >> 1;
    default:
        return -clock;
    }
}

static int64_t *make(uint64_t *seed, arrival kind, size_t n)
{
    int64_t *time = malloc((n + 1) * sizeof *time);
    int64_t clock = -(int64_t)random_below(seed, 1000000), packet[16];
    assert_non_null(time);
    for (size_t m = 0; m < 16; m++) {
        packet[m] = clock;
    }
    for (size_t i = 0; i < n; i++) {
        clock += random_below(seed, 100);
        time[i] = kind == PACKETS ? packet[i / 20 % 16] += random_below(seed, 1600)
                                  : pick(seed, kind, i, n, clock);
    }
    return time;
}

static void any_order_is_sorted(void **state)
{
    (void)state;
    uint64_t seed = 60;
    for (int kind = 0; kind < ARRIVALS; kind++) {
        const size_t sizes[] = {1 + random_below(&seed, 400), use.many + random_below(&seed, 5000)};
        for (size_t s = 0; s < 2; s++) {
            int64_t *time = make(&seed, (arrival)kind, sizes[s]);
            check_all(time, sizes[s]);
            free(time);
        }
    }
    close_stages();
}

/* What blocks take: the borders of tiles, pieces, warps and cells. */
static void any_size_is_sorted(void **state)
{
    (void)state;
    static const size_t sizes[] = {0,    1,    2,    3,    31,   32,   33,   255,  256,  257,
                                   1023, 1024, 1025, 1279, 1280, 1281, 1536, 2047, 2048, 2049,
                                   3071, 3072, 3073, 4096, 4097, 8191, 8192, 8193};
    uint64_t seed = 61;
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        int64_t *time = make(&seed, s % 3 == 0 ? NEARLY : s % 3 == 1 ? RANDOM : EQUAL, sizes[s]);
        check_all(time, sizes[s]);
        free(time);
    }
    close_stages();
}

/* More tiles than a window has cells or buckets, some singles of each of which are outside of it. */
static void far_from_their_tile(void **state)
{
    (void)state;
    uint64_t seed = 62;
    int64_t *time = malloc(use.huge * sizeof *time);
    assert_non_null(time);
    for (size_t i = 0; i < use.huge; i++) {
        time[i] = (int64_t)i * 100 + (random_below(&seed, 50) == 0 ? (int64_t)random_below(&seed, 3000000)
                                                                   : (int64_t)random_below(&seed, 3000));
    }
    slc_pet_singles all = pet_arrival_singles(time, use.huge);
    pet_arrival *want = sort_slowly(time, use.huge);
    slc_pet_sort_cuda *stage = open_stage(SLC_PET_SORT_NEAR, 0);
    sort_by(stage, "near", &all, want);
    sort_by(stage, "near, again", &all, want);
    slc_pet_sort_cuda_close(stage);
    free(want);
    free(time);
    slc_columns_clear(&slc_pet_singles_schema, &all);
}

/* ---- streams ----------------------------------------------------------------------------------- */

/* What the processor's stage gives for all at once. */
typedef struct wanted {
    slc_pet_singles all, sorted, late;
    slc_pet_sort_counts counts;
} wanted;

static wanted run_slowly(const int64_t *time, size_t n, int64_t horizon)
{
    wanted w = {.all = pet_arrival_singles(time, n)};
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = horizon;
    slc_pet_sort *stage = NULL;
    ASSERT_OK(slc_pet_sort_open(&config, &stage, &error));
    ASSERT_OK(slc_pet_sort_run(stage, &w.all, true, &w.sorted, &w.late, &error));
    slc_pet_sort_counts_of(stage, &w.counts);
    slc_pet_sort_close(stage);
    return w;
}

static void clear_wanted(wanted *w)
{
    slc_columns_clear(&slc_pet_singles_schema, &w->all);
    slc_columns_clear(&slc_pet_singles_schema, &w->sorted);
    slc_columns_clear(&slc_pet_singles_schema, &w->late);
}

/* In batches of `batch`, the last of which is empty where `empty` is set. */
static void run_batches(slc_pet_sort_cuda *stage, const wanted *w, size_t batch, bool empty)
{
    const size_t n = w->all.head.size;
    slc_pet_singles sorted = pet_arrival_singles(NULL, 0), late = pet_arrival_singles(NULL, 0);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &sorted, n + 1, 1), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, &late, n + 1, 1), SLC_OK);
    slc_pet_sort_counts counts;
    bool last = false;
    for (size_t at = 0; !last; at += batch) {
        const size_t some = at >= n ? 0 : n - at < batch ? n - at : batch;
        last = at + some >= n && (some == 0 || !empty);
        columns part = make_columns(some);
        slc_pet_cuda_singles given = {.n = 99}, behind = {.n = 99};
        put(&w->all, at < n ? at : n, some, &part.at);
        ASSERT_OK(slc_pet_sort_cuda_run(stage, &part.at, last, &given, &behind, &error));
        clear_columns(&part); /* what is held is the stage's own */
        get(&given, &sorted);
        get(&behind, &late);
        slc_pet_sort_cuda_counts_of(stage, &counts);
        assert_int_equal(counts.taken, at < n ? at + some : n);
        assert_int_equal(counts.given, sorted.head.size);
        assert_int_equal(counts.late, late.head.size);
        assert_int_equal(counts.held, counts.taken - counts.given - counts.late);
    }
    pet_rows_same(&slc_pet_singles_schema, &sorted, &w->sorted);
    pet_rows_same(&slc_pet_singles_schema, &late, &w->late);
    assert_true(counts.largest_lag_ps == w->counts.largest_lag_ps);
    slc_columns_clear(&slc_pet_singles_schema, &sorted);
    slc_columns_clear(&slc_pet_singles_schema, &late);
}

static void batches_do_not_matter(void **state)
{
    (void)state;
    static const int64_t horizons[] = {0, 500, 3000, 100000, 400000, INT64_C(1) << 40, INT64_MAX};
    uint64_t seed = 63;
    for (int round = 0; round < use.rounds; round++) {
        const size_t n = round == 0 ? 0 : random_below(&seed, use.stream);
        int64_t *time = make(&seed, (arrival)(round % ARRIVALS), n);
        const int64_t horizon = horizons[random_below(&seed, sizeof horizons / sizeof *horizons)];
        wanted w = run_slowly(time, n, horizon);
        slc_pet_sort_cuda *stage = open_stage((slc_pet_sort_method)(round % 5 < 3 ? 0 : round % 5 - 2),
                                              horizon);
        const size_t batches[] = {n + 1, n / 3 + 1, n / 37 + 1 + random_below(&seed, 90)};
        for (size_t b = 0; b < 3; b++) { /* the stage is as new after each */
            run_batches(stage, &w, batches[b], (round + (int)b) % 2 == 0);
        }
        slc_pet_sort_cuda_close(stage);
        clear_wanted(&w);
        free(time);
    }
}

/* One at a time. */
static void singles_do_not_wait_for_ever(void **state)
{
    (void)state;
    uint64_t seed = 64;
    int64_t time[300];
    for (size_t i = 0; i < 300; i++) {
        time[i] = (int64_t)i * 100 - (int64_t)random_below(&seed, 900) - (i % 50 == 49 ? 2000 : 0);
    }
    wanted w = run_slowly(time, 300, 1000);
    assert_in_range(w.counts.late, 5, 6);
    slc_pet_sort_cuda *stage = open_stage(SLC_PET_SORT_NEAR, 1000);
    run_batches(stage, &w, 1, true);
    slc_pet_sort_counts counts;
    for (size_t i = 0; i < 300; i++) {
        columns one = make_columns(1);
        slc_pet_cuda_singles given;
        put(&w.all, i, 1, &one.at);
        ASSERT_OK(slc_pet_sort_cuda_run(stage, &one.at, false, &given, NULL, &error));
        slc_pet_sort_cuda_counts_of(stage, &counts);
        assert_in_range(counts.held, 0, 24);
        clear_columns(&one);
    }
    slc_pet_sort_cuda_close(stage);
    clear_wanted(&w);
}

static void what_is_wrong_is_refused(void **state)
{
    (void)state;
    slc_pet_sort_config config;
    slc_pet_sort_config_default(&config);
    config.horizon_ps = -1;
    slc_pet_sort_cuda *stage = (slc_pet_sort_cuda *)(void *)&stage; /* to be overwritten */
    assert_int_equal(slc_pet_sort_cuda_open(&config, SLC_PET_SORT_NEAR, stream, &stage, &error),
                     SLC_ERR_USAGE);
    assert_null(stage);
    assert_non_null(strstr(error.text, "horizon"));
    config.horizon_ps = 0;
    assert_int_equal(slc_pet_sort_cuda_open(&config, SLC_PET_SORT_METHODS, stream, &stage, &error),
                     SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "method"));
    assert_null(slc_pet_sort_method_name(SLC_PET_SORT_METHODS));
    stage = open_stage(SLC_PET_SORT_NEAR, 0);
    const slc_pet_cuda_singles many = {.n = UINT32_MAX};
    slc_pet_cuda_singles sorted;
    assert_int_equal(slc_pet_sort_cuda_all(stage, &many, &sorted, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_pet_sort_cuda_run(stage, &many, true, &sorted, NULL, &error), SLC_ERR_MEMORY);
    slc_pet_sort_cuda_close(stage);
    slc_pet_sort_cuda_close(NULL);
}

int main(void)
{
    if (slc_cuda_devices(&error) == 0) {
        (void)printf("skipped: %s\n", error.text);
        return 77;
    }
    if (slc_cuda_stream_open(0, &stream, &error) != SLC_OK) {
        (void)fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    use = getenv("SLUICE_TEST_SMALL") != NULL ? small : large;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_is_sorted),          cmocka_unit_test(any_size_is_sorted),
        cmocka_unit_test(far_from_their_tile),          cmocka_unit_test(batches_do_not_matter),
        cmocka_unit_test(singles_do_not_wait_for_ever), cmocka_unit_test(what_is_wrong_is_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_cuda_stream_close(stream);
    return failed;
}
