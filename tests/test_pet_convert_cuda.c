/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of frames on a GPU against the one of the processor: the same singles in the same order, the
 * same counts, faults and errors, for random geometries, tables and clocks of every width, cut into batches
 * in many ways. The same source runs on a GPU and in the emulator.
 */
#include "support/cmocka_all.h"
#include "support/fault_counts.h"
#include "support/pet_frames.h"
#include "support/random.h"

#include "pet/cuda/pet_convert_cuda.h"
#include "pet/cuda/pet_cuda.h"
#include "pet/pet_clock.h"
#include "pet/pet_stages.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = SLC_PET_CUDA_FRAMES, CHUNK = SLC_PET_CUDA_FRAMES * SLC_PET_CUDA_CHUNK };

static slc_cuda_stream *stream;

/* ---- both ways ----------------------------------------------------------------------------------------- */

typedef struct outcome {
    slc_pet_singles singles;
    slc_pet_convert_counts counts;
    slc_faults faults;
} outcome;

static outcome by_processor(const slc_pet_convert_config *config, const slc_pet_tables *tables,
                            const slc_pet_frame *frames, size_t n)
{
    outcome o = {0};
    slc_pet_convert *stage = NULL;
    assert_int_equal(slc_pet_convert_open(config, tables, &stage, NULL), SLC_OK);
    assert_int_equal(slc_pet_convert_run(stage, frames, NULL, n, true, &o.singles, &o.faults, NULL), SLC_OK);
    slc_pet_convert_counts_of(stage, &o.counts);
    slc_pet_convert_close(stage);
    return o;
}

static void fetch(void *host, const void *device, size_t bytes)
{
    slc_error error = {0};
    assert_int_equal(slc_cuda_to_host(stream, host, device, bytes, &error), SLC_OK);
    assert_int_equal(slc_cuda_stream_wait(stream, &error), SLC_OK);
}

static void append(slc_pet_singles *to, const slc_pet_cuda_singles *got)
{
    const size_t at = to->head.size, n = (size_t)got->n;
    assert_int_equal(slc_columns_reserve(&slc_pet_singles_schema, to, at + n, 1), SLC_OK);
    fetch(to->time_ps + at, got->time_ps, n * sizeof *to->time_ps);
    fetch(to->crystal + at, got->crystal, n * sizeof *to->crystal);
    fetch(to->energy_kev + at, got->energy_kev, n * sizeof *to->energy_kev);
    to->head.size = at + n;
}

static outcome by_gpu(const slc_pet_convert_config *config, const slc_pet_tables *tables,
                      const slc_pet_frame *frames, size_t n, size_t batch)
{
    outcome o = {0};
    slc_pet_convert_cuda *stage = NULL;
    slc_cuda_memory memory = {0};
    slc_error error = {0};
    slc_pet_clock *clock = NULL;
    assert_int_equal(slc_cuda_memory_reserve(stream, &memory, n * sizeof *frames, "frames", &error), SLC_OK);
    assert_int_equal(slc_pet_clock_open(config, &tables->geometry, &clock, &error), SLC_OK);
    if (slc_pet_convert_cuda_open(config, tables, stream, &stage, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    for (size_t at = 0; at < n; at += batch) {
        size_t some = n - at < batch ? n - at : batch;
        const slc_pet_frame *now = frames + at;
        slc_pet_cuda_singles got;
        if (clock != NULL) {
            assert_int_equal(slc_pet_clock_run(clock, now, NULL, some, at + some == n, &now, &some, &error),
                             SLC_OK);
        }
        assert_int_equal(slc_cuda_to_device(stream, memory.at, now, some * sizeof *frames, &error), SLC_OK);
        if (slc_pet_convert_cuda_run(stage, memory.at, some, &got, &o.faults, &error) != SLC_OK) {
            fail_msg("%s", error.text);
        }
        append(&o.singles, &got);
    }
    slc_pet_convert_cuda_counts_of(stage, &o.counts);
    if (clock != NULL) {
        slc_pet_clock_counts(clock, &o.counts);
    }
    slc_pet_clock_close(clock);
    slc_pet_convert_cuda_close(stage);
    slc_cuda_memory_clear(&memory);
    return o;
}

static void same(const outcome *a, const outcome *b)
{
    const size_t n = b->singles.head.size;
    assert_int_equal(a->singles.head.size, n);
    if (n > 0) {
        assert_memory_equal(a->singles.time_ps, b->singles.time_ps, n * sizeof *b->singles.time_ps);
        assert_memory_equal(a->singles.crystal, b->singles.crystal, n * sizeof *b->singles.crystal);
        assert_memory_equal(a->singles.energy_kev, b->singles.energy_kev, n * sizeof *b->singles.energy_kev);
    }
    assert_memory_equal(&a->counts, &b->counts, sizeof a->counts);
    assert_true(fault_counts_equal(&a->faults, &b->faults));
    assert_int_equal(a->faults.n_kept, b->faults.n_kept);
    for (uint32_t i = 0; i < b->faults.n_kept; i++) {
        assert_int_equal(a->faults.kept[i].code, b->faults.kept[i].code);
        assert_int_equal(a->faults.kept[i].event, b->faults.kept[i].event);
        assert_int_equal(a->faults.kept[i].module, b->faults.kept[i].module);
        assert_int_equal(a->faults.kept[i].offset, b->faults.kept[i].offset);
    }
}

static void compare(const slc_pet_convert_config *config, const slc_pet_tables *tables,
                    const slc_pet_frame *frames, size_t n, size_t batch, const outcome *wanted)
{
    outcome got = by_gpu(config, tables, frames, n, batch);
    same(&got, wanted);
    slc_columns_clear(&slc_pet_singles_schema, &got.singles);
}

static void clear(outcome *o)
{
    slc_columns_clear(&slc_pet_singles_schema, &o->singles);
}

static bool small(void)
{
    return getenv("SLUICE_TEST_SMALL") != NULL;
}

/* ---- tests --------------------------------------------------------------------------------------------- */

/* Steps of up to a third of a turn, so that counters turn every few frames; packets of one to a hundred. */
static void random_input_is_converted_as_on_the_processor(void **state)
{
    (void)state;
    uint64_t seed = 190;
    uint64_t turns = 0, backwards = 0;
    const int rounds = small() ? 30 : 200;
    for (int round = 0; round < rounds; round++) {
        slc_pet_tables tables = pet_frames_tables(&seed);
        const slc_pet_convert_config config = pet_frames_config(&seed);
        const size_t sizes[] = {1, 31, 32, 33, 255, TILE - 1, TILE, TILE + 1, 700, 2 * TILE + 77};
        const size_t n = sizes[round % 10];
        const uint64_t most = config.tick_bits == 64 ? UINT64_C(1) << 40
                                                     : (UINT64_C(1) << config.tick_bits) / 3;
        slc_pet_frame *frames = pet_frames_random(&seed, &tables, n, round % 3 == 0 ? 1 : 100, most);
        outcome wanted = by_processor(&config, &tables, frames, n);
        compare(&config, &tables, frames, n, n, &wanted);
        compare(&config, &tables, frames, n, n / 3 + 1, &wanted);
        turns += wanted.counts.turns;
        backwards += wanted.counts.backwards;
        clear(&wanted);
        free(frames);
        pet_frames_clear(&tables);
    }
    assert_true(turns > 100 && backwards > 100);
}

/* A module's counter that another tile, chunk or call has seen last. */
static void clocks_go_on_over_tiles_chunks_and_calls(void **state)
{
    (void)state;
    uint64_t seed = 191;
    slc_pet_tables tables = {.geometry = {32, 8, 1, 2, 2, 4, 4, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    config.tick_numerator = 7;
    const size_t n = small() ? 9 * TILE + 13 : (size_t)CHUNK + 3 * TILE + 13;
    for (int round = 0; round < 4; round++) {
        config.tick_bits = round % 2 == 0 ? 64 : 20;
        slc_pet_frame *frames = pet_frames_random(&seed, &tables, n, round < 2 ? 1 : 5000, 1 << 18);
        for (size_t i = 0; i < n; i++) { /* the last modules are seldom, the first one comes often */
            frames[i].module = frames[i].module >= 250 && i % 1001 != 0 ? 0 : frames[i].module;
        }
        outcome wanted = by_processor(&config, &tables, frames, n);
        assert_true(wanted.counts.backwards > 0 && (wanted.counts.turns > 0) == (round % 2 == 1));
        compare(&config, &tables, frames, n, n, &wanted);
        compare(&config, &tables, frames, n, TILE * 4 + 1, &wanted);
        clear(&wanted);
        free(frames);
    }
}

static void nothing_and_all_are_kept(void **state)
{
    (void)state;
    uint64_t seed = 192;
    slc_pet_tables tables = {.geometry = {3, 1, 1, 2, 1, 3, 5, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    const size_t n = 3 * TILE;
    slc_pet_frame *frames = pet_frames_random(&seed, &tables, n, 92, 1000);
    for (size_t i = 0; i < n; i++) {
        frames[i].module %= 3;
        frames[i].head_unit &= 1;
        frames[i].x %= 5;
        frames[i].y %= 3;
        frames[i].energy[0] = 1;
    }
    outcome all = by_processor(&config, &tables, frames, n);
    assert_int_equal(all.counts.singles, n);
    compare(&config, &tables, frames, n, n, &all);
    config.high_kev = 255;
    outcome none = by_processor(&config, &tables, frames, n);
    assert_int_equal(none.counts.above, n);
    compare(&config, &tables, frames, n, n, &none);
    config.high_kev = 1e9;
    config.low_kev = 1e6;
    clear(&none);
    none = by_processor(&config, &tables, frames, n);
    assert_int_equal(none.counts.below, n);
    compare(&config, &tables, frames, n, n, &none);
    clear(&none);
    clear(&all);
    free(frames);
}

/* More faults than are kept, all in few tiles far apart, or everywhere. */
static void faults_are_those_of_the_processor(void **state)
{
    (void)state;
    uint64_t seed = 193;
    slc_pet_tables tables = {.geometry = {3, 1, 1, 2, 1, 3, 5, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    const size_t n = (small() ? 20 : 300) * (size_t)TILE;
    slc_pet_frame *frames = calloc(n, sizeof *frames);
    assert_non_null(frames);
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < n; i++) {
            const uint32_t damage = random_below(&seed, round == 2 ? 3 : 200000);
            frames[i].module = damage == 0 ? 77 : 0;
            frames[i].head_unit = damage == 1 ? 9 : 0;
            frames[i].x = damage == 2 ? 200 : 0;
        }
        frames[n - 1].module = round == 0 ? 0 : 3;
        frames[n - 2].y = 4; /* no crystal there: counted, but no fault */
        outcome wanted = by_processor(&config, &tables, frames, n);
        compare(&config, &tables, frames, n, n, &wanted);
        compare(&config, &tables, frames, n, n / 2 + 5, &wanted);
        clear(&wanted);
    }
    free(frames);
}

static void an_empty_batch_and_no_list_of_faults(void **state)
{
    (void)state;
    slc_pet_tables tables = {.geometry = {3, 1, 1, 2, 1, 3, 5, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    slc_pet_convert_cuda *stage = NULL;
    slc_pet_cuda_singles got;
    slc_pet_convert_counts counts;
    slc_cuda_memory memory = {0};
    slc_pet_frame frame = {.module = 5};
    slc_error error = {0};
    assert_int_equal(slc_pet_convert_cuda_open(&config, &tables, stream, &stage, &error), SLC_OK);
    assert_int_equal(slc_pet_convert_cuda_run(stage, NULL, 0, &got, NULL, &error), SLC_OK);
    assert_int_equal(got.n, 0);
    assert_int_equal(slc_cuda_memory_reserve(stream, &memory, sizeof frame, "a frame", &error), SLC_OK);
    assert_int_equal(slc_cuda_to_device(stream, memory.at, &frame, sizeof frame, &error), SLC_OK);
    assert_int_equal(slc_pet_convert_cuda_run(stage, memory.at, 1, &got, NULL, &error), SLC_OK);
    assert_int_equal(got.n, 0);
    slc_pet_convert_cuda_counts_of(stage, &counts);
    assert_int_equal(counts.frames, 1);
    assert_int_equal(counts.module, 1);
    slc_pet_convert_cuda_close(stage);
    slc_pet_convert_cuda_close(NULL);
    slc_cuda_memory_clear(&memory);
}

static void what_the_processor_refuses_is_refused(void **state)
{
    (void)state;
    slc_pet_tables tables = {.geometry = {3, 1, 1, 2, 1, 3, 5, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_cuda *stage = NULL;
    slc_pet_convert *twin = NULL;
    for (int round = 0; round < 3; round++) {
        slc_error error = {0}, wanted = {0};
        slc_pet_convert_config_default(&config);
        config.tick_bits = round == 0 ? 7 : 64;
        config.low_kev = round == 1 ? (double)INFINITY : 0;
        tables.geometry.blocks_y = round == 2 ? 0 : 2;
        const slc_status status = slc_pet_convert_open(&config, &tables, &twin, &wanted);
        assert_int_not_equal(status, SLC_OK);
        assert_int_equal(slc_pet_convert_cuda_open(&config, &tables, stream, &stage, &error), status);
        assert_string_equal(error.text, wanted.text);
        assert_null(stage);
    }
}

int main(void)
{
    slc_error error = {0};
    uint32_t device = 0;
    if (slc_cuda_choose("cuda", &device, &error) != SLC_OK) {
        (void)printf("test_pet_convert_cuda: skipped, %s\n", error.text);
        return 77;
    }
    if (slc_cuda_stream_open(device, &stream, &error) != SLC_OK) {
        (void)printf("%s\n", error.text);
        return 1;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_input_is_converted_as_on_the_processor),
        cmocka_unit_test(clocks_go_on_over_tiles_chunks_and_calls),
        cmocka_unit_test(nothing_and_all_are_kept),
        cmocka_unit_test(faults_are_those_of_the_processor),
        cmocka_unit_test(an_empty_batch_and_no_list_of_faults),
        cmocka_unit_test(what_the_processor_refuses_is_refused),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    slc_cuda_stream_close(stream);
    return failed;
}
