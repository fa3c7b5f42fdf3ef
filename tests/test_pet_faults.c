/* SPDX-License-Identifier: Apache-2.0
 *
 * What may be wrong with the data of a PET scanner, from frames to pairs: frames of anything at all, modules
 * that are not there, tables of the wrong size, clocks that go back, jump or begin again, a million singles
 * of one time, a window of a second, a full disk. Nothing may be lost without being counted.
 */
#include "io/pet/io_pet_raw.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/pet_frames.h"
#include "support/pet_rows.h"
#include "support/random.h"

#include <sluice/io_pet.h>
#include <sluice/pet_chain.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A frame of any block of the scanner, by the number of its crystal. */
static slc_pet_frame frame_at(const slc_pet_tables *tables, const slc_pet_convert_config *clock,
                              uint32_t crystal, int64_t time_ps)
{
    slc_pet_frame frame;
    assert_true(pet_frames_of_single(tables, clock, crystal, time_ps, 511, &frame));
    return frame;
}

/* What a chain makes of frames, in batches; singles, late ones and pairs of all calls, one behind the other.
 */
typedef struct outcome {
    slc_pet_totals totals;
    slc_faults faults;
    slc_pet_singles singles, late;
    slc_pet_coincidences pairs;
} outcome;

static outcome run_chain(const slc_pet_config *config, const slc_pet_tables *tables,
                         const slc_pet_frame *frames, size_t n, size_t batch)
{
    outcome o = {.totals = {.checksum = 0}};
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {0};
    slc_error error = {0};
    slc_pet_config own = *config;
    own.keep_singles = true;
    assert_int_equal(slc_pet_chain_open(&own, tables, &chain, &error), SLC_OK);
    for (size_t at = 0; at <= n; at += batch) {
        const size_t now = n - at < batch ? n - at : batch;
        assert_int_equal(slc_pet_chain_run(chain, frames + at, NULL, now, now < batch, &result, &error),
                         SLC_OK);
        slc_faults_merge(&o.faults, &result.faults);
        pet_rows_append(&slc_pet_singles_schema, &result.singles, 0, result.singles.head.size, &o.singles);
        pet_rows_append(&slc_pet_singles_schema, &result.late, 0, result.late.head.size, &o.late);
        pet_rows_append(&slc_pet_coincidences_schema, &result.pairs, 0, result.pairs.head.size, &o.pairs);
    }
    slc_pet_chain_totals(chain, &o.totals);
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    return o;
}

static void clear_outcome(outcome *o)
{
    slc_columns_clear(&slc_pet_singles_schema, &o->singles);
    slc_columns_clear(&slc_pet_singles_schema, &o->late);
    slc_columns_clear(&slc_pet_coincidences_schema, &o->pairs);
}

/* Every frame is a single or counted among those that are none; every single is in order or late. */
static void assert_accounted(const outcome *o, size_t frames)
{
    const slc_pet_convert_counts *c = &o->totals.convert;
    const slc_pet_sort_counts *s = &o->totals.sort;
    assert_int_equal(c->frames, frames);
    assert_int_equal(c->singles + c->module + c->unit + c->position + c->no_crystal + c->below + c->above +
                         c->clock,
                     frames);
    assert_int_equal(s->taken, c->singles);
    assert_int_equal(s->given + s->late, c->singles);
    assert_int_equal(s->held, 0);
    assert_int_equal(o->singles.head.size, s->given);
    assert_int_equal(o->late.head.size, s->late);
    assert_int_equal(slc_faults_of(&o->faults, SLC_FAULT_PET_MODULE), c->module);
    assert_int_equal(slc_faults_of(&o->faults, SLC_FAULT_PET_UNIT), c->unit);
    assert_int_equal(slc_faults_of(&o->faults, SLC_FAULT_PET_POSITION), c->position);
    assert_int_equal(slc_faults_of(&o->faults, SLC_FAULT_PET_CLOCK), c->clock);
    for (size_t i = 1; i < o->singles.head.size; i++) {
        assert_true(o->singles.time_ps[i - 1] <= o->singles.time_ps[i]);
    }
}

/* ---- frames ------------------------------------------------------------------------------------ */

/* Frames are any 16 bytes: of 2^64 ticks and 65536 energies, of all modules, units and places. */
static void frames_of_anything(void **state)
{
    (void)state;
    enum { N = 60000 };
    uint64_t seed = 4;
    slc_pet_frame *frames = malloc(N * sizeof *frames);
    assert_non_null(frames);
    for (size_t i = 0; i < N * sizeof *frames; i++) {
        ((uint8_t *)frames)[i] = (uint8_t)random_u64(&seed);
    }
    for (size_t i = 0; i < N; i += 2) { /* half of them of places that there are */
        frames[i].module %= 20;
        frames[i].head_unit &= 0xf3;
        frames[i].x %= 13;
        frames[i].y %= 13;
    }
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.delayed = true;
    config.convert.high_kev = 60000;
    uint64_t checksum[2][2];
    for (uint32_t bits = 0; bits < 2; bits++) {
        config.convert.tick_bits = bits == 0 ? 64 : 40;
        for (size_t b = 0; b < 2; b++) {
            outcome o = run_chain(&config, &tables, frames, N, b == 0 ? N : 777);
            assert_accounted(&o, N);
            assert_true(o.totals.convert.module > N / 3 && o.totals.convert.above > 500);
            assert_true(o.totals.convert.singles + o.totals.convert.clock > N / 3);
            assert_true((o.totals.convert.clock > 1000) == (bits == 1));
            checksum[bits][b] = o.totals.checksum;
            clear_outcome(&o);
        }
        assert_int_equal(checksum[bits][0], checksum[bits][1]);
    }
    free(frames);
}

/* Raw bytes that are no whole number of frames. */
static void bytes_behind_the_last_frame(void **state)
{
    (void)state;
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    slc_pet_frame frames[101], back[128];
    for (uint32_t i = 0; i < 101; i++) {
        frames[i] = frame_at(&tables, &config.convert, 7 * i, 1000 * (int64_t)i);
    }
    for (size_t left = 0; left < sizeof *frames; left++) {
        slc_io_pet_raw *raw = NULL;
        slc_faults faults = {.n_kept = 0};
        slc_error error = {0};
        size_t n = 0, all = 0;
        slc_status status = slc_io_pet_raw_open_memory(frames, 100 * sizeof *frames + left, "run.raw", &raw,
                                                       &error);
        while (status == SLC_OK) {
            status = slc_io_pet_raw_read(raw, back + all, NULL, 128 - all, &n, &faults, &error);
            all += status == SLC_OK ? n : 0;
        }
        slc_io_pet_raw_close(raw);
        assert_int_equal(status, SLC_END);
        assert_int_equal(all, 100);
        assert_memory_equal(back, frames, 100 * sizeof *frames);
        assert_int_equal(slc_faults_total(&faults), left > 0);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_CUT), left > 0);
    }
}

/* Each is told with the number of its frame, whatever the batch; the others' pairs are as without them. */
static void unknown_modules(void **state)
{
    (void)state;
    enum { N = 5000 };
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    slc_pet_frame *frames = malloc(2 * N * sizeof *frames), *good = frames + N;
    assert_non_null(frames);
    size_t n_good = 0;
    for (uint32_t i = 0; i < N; i++) {
        frames[i] = frame_at(&tables, &config.convert, (i % 2 * 6760 + i) % 13520, 60000 * (int64_t)(i / 2));
        if (i % 50 == 49) {
            frames[i].module = (uint8_t)(20 + i % 236);
        } else if (i % 50 == 24) {
            frames[i].head_unit = (uint8_t)((frames[i].head_unit & 0xf0) | (4 + i % 12));
        } else {
            good[n_good++] = frames[i];
        }
    }
    outcome wanted = run_chain(&config, &tables, good, n_good, N + 1);
    assert_int_equal(slc_faults_total(&wanted.faults), 0);
    assert_int_equal(wanted.totals.prompt.pairs, N / 2 - 2 * N / 50);
    const size_t batches[] = {N + 1, 1, 130};
    for (size_t b = 0; b < 3; b++) {
        outcome o = run_chain(&config, &tables, frames, N, batches[b]);
        assert_accounted(&o, N);
        assert_int_equal(o.totals.convert.module, N / 50);
        assert_int_equal(o.totals.convert.unit, N / 50);
        assert_int_equal(o.totals.checksum, wanted.totals.checksum);
        assert_int_equal(o.faults.n_kept, SLC_FAULTS_KEPT);
        for (uint32_t k = 0; k < SLC_FAULTS_KEPT; k++) {
            const uint64_t frame = 24 + 25 * (uint64_t)k;
            assert_int_equal(o.faults.kept[k].event, frame);
            assert_int_equal(o.faults.kept[k].module, frames[frame].module);
            assert_int_equal(o.faults.kept[k].code, k % 2 == 0 ? SLC_FAULT_PET_UNIT : SLC_FAULT_PET_MODULE);
        }
        clear_outcome(&o);
    }
    clear_outcome(&wanted);
    free(frames);
}

/* ---- tables ------------------------------------------------------------------------------------ */

static void assert_refused(const slc_pet_tables *tables, const char *text)
{
    slc_pet_chain *chain = NULL;
    slc_pet_config config;
    slc_error error = {0};
    slc_pet_config_default(&config);
    assert_int_equal(slc_pet_chain_open(&config, tables, &chain, &error), SLC_ERR_FORMAT);
    assert_null(chain);
    if (strstr(error.text, text) == NULL) {
        fail_msg("'%s' is not in '%s'", text, error.text);
    }
}

static void tables_of_the_wrong_size(void **state)
{
    (void)state;
    const slc_pet_tables plain = pet_frames_mouse();
    const uint32_t blocks = 80, side = 40;
    const size_t places = (size_t)blocks * side * side;
    uint16_t *position = calloc(places, sizeof *position);
    float *numbers = calloc(13520 * 10, sizeof *numbers);
    assert_non_null(position);
    assert_non_null(numbers);
    slc_pet_tables tables = plain;
    tables.position = position;
    assert_refused(&tables, "flood maps of side 0");
    tables.position_side = 257;
    assert_refused(&tables, "flood maps of side 257");
    tables.position_side = side;
    position[places - 1] = 169; /* a block has 13 x 13 */
    assert_refused(&tables, "x 39, y 39 is crystal 169");
    position[places - 1] = 168;
    slc_pet_convert *stage = NULL;
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    assert_int_equal(slc_pet_convert_open(&config, &tables, &stage, NULL), SLC_OK);
    slc_pet_convert_close(stage);
    tables = plain;
    tables.energy = numbers;
    assert_refused(&tables, "energy factors in 0 bins");
    tables.energy_bins = 10;
    assert_refused(&tables, "of 0 keV");
    tables = plain;
    tables.gain = numbers;
    numbers[13519] = -1;
    assert_refused(&tables, "gain of crystal 13519");
    free(position);
    free(numbers);
}

/* ---- clocks ------------------------------------------------------------------------------------ */

/* Pairs of opposite crystals every 10 us, all modules in turn. */
static void make_pairs(const slc_pet_tables *tables, const slc_pet_convert_config *clock,
                       slc_pet_frame *frames, size_t n, int64_t first_ps)
{
    for (size_t i = 0; i < n; i++) {
        const uint32_t k = (uint32_t)(i / 2 * 26 % 260 + i % 2 * 260);
        frames[i] = frame_at(tables, clock, k,
                             first_ps + (int64_t)(i / 2) * 10000000 + (int64_t)(i % 2) * 1000);
    }
}

/* A module's clock goes back: within the horizon the order is found; beyond it the singles are late, kept
 * aside, and all others are as without them. */
static void time_goes_back(void **state)
{
    (void)state;
    enum { N = 4000, BACK = 100 };
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.sort.horizon_ps = 1000000000;
    slc_pet_frame frames[N];
    make_pairs(&tables, &config.convert, frames, N, 0);
    outcome wanted = run_chain(&config, &tables, frames, N, N + 1);
    assert_int_equal(wanted.totals.prompt.pairs, N / 2);
    assert_int_equal(wanted.totals.convert.backwards, 0);
    /* The frames of 1 ms, in reverse. */
    slc_pet_frame reversed[N];
    memcpy(reversed, frames, sizeof frames);
    for (size_t i = 0; i < 2 * BACK; i++) {
        reversed[1000 + i] = frames[1000 + 2 * BACK - 1 - i];
    }
    const size_t batches[] = {N + 1, 1, 61};
    for (size_t b = 0; b < 3; b++) {
        outcome o = run_chain(&config, &tables, reversed, N, batches[b]);
        assert_accounted(&o, N);
        assert_int_equal(o.totals.checksum, wanted.totals.checksum);
        assert_int_equal(o.totals.sort.late, 0);
        assert_true(o.totals.convert.backwards > BACK / 2);
        clear_outcome(&o);
    }
    /* A horizon of 0.1 ms: all but the last 11 pairs of them are late, in the order in which they came. */
    config.sort.horizon_ps = 100000000;
    for (size_t b = 0; b < 3; b++) {
        outcome o = run_chain(&config, &tables, reversed, N, batches[b]);
        assert_accounted(&o, N);
        assert_int_equal(o.totals.sort.late, 2 * BACK - 21);
        assert_int_equal(o.totals.sort.largest_lag_ps, 990001000);
        assert_int_equal(o.late.time_ps[0], 5890000000);
        assert_int_equal(o.late.time_ps[1], 5880001000);
        assert_int_equal(o.totals.prompt.pairs, N / 2 - BACK + 10);
        clear_outcome(&o);
    }
    clear_outcome(&wanted);
}

/* One wrong time far ahead makes all that follows late. It is counted and kept, single by single. */
static void time_jumps_ahead(void **state)
{
    (void)state;
    enum { N = 4000, AT = 1500 };
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    slc_pet_frame frames[N + 1];
    make_pairs(&tables, &config.convert, frames, N, 0);
    memmove(frames + AT + 1, frames + AT, (N - AT) * sizeof *frames);
    frames[AT] = frame_at(&tables, &config.convert, 0, INT64_MAX / 2);
    const size_t batches[] = {N + 2, 1, 61};
    for (size_t b = 0; b < 3; b++) {
        outcome o = run_chain(&config, &tables, frames, N + 1, batches[b]);
        assert_accounted(&o, N + 1);
        assert_int_equal(o.totals.sort.late, N - AT);
        assert_int_equal(o.totals.prompt.pairs, AT / 2);
        for (size_t i = 0; i < N - AT; i++) {
            const size_t k = AT + i;
            assert_int_equal(o.late.time_ps[i], (int64_t)(k / 2) * 10000000 + (int64_t)(k % 2) * 1000);
        }
        clear_outcome(&o);
    }
}

/* Counters of few bits: the same pairs as with times that go on, from any first turn. */
static void time_begins_again(void **state)
{
    (void)state;
    enum { N = 6000 };
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.delayed = true;
    config.convert.tick_numerator = 125;
    config.convert.tick_denominator = 8;
    slc_pet_frame frames[N];
    make_pairs(&tables, &config.convert, frames, N, 0);
    outcome wanted = run_chain(&config, &tables, frames, N, N + 1);
    for (uint32_t bits = 24; bits <= 40; bits += 4) {
        config.convert.tick_bits = bits;
        slc_pet_frame cut[N];
        memcpy(cut, frames, sizeof frames);
        for (size_t i = 0; i < N; i++) {
            for (uint32_t byte = 0; byte < 8; byte++) { /* big-endian; bits are whole halves of bytes */
                const uint32_t weight = 8 * (7 - byte);
                const uint32_t left = bits > weight ? bits - weight : 0;
                cut[i].time[byte] = (uint8_t)(cut[i].time[byte] & (left >= 8 ? 0xff : (1U << left) - 1));
            }
        }
        const size_t batches[] = {N + 1, 1, 61};
        for (size_t b = 0; b < 3; b++) {
            outcome o = run_chain(&config, &tables, cut, N, batches[b]);
            assert_accounted(&o, N);
            assert_int_equal(o.totals.checksum, wanted.totals.checksum);
            assert_int_equal(o.totals.convert.backwards, 0);
            assert_true((o.totals.convert.turns > 0) == (bits < 32));
            clear_outcome(&o);
        }
    }
    clear_outcome(&wanted);
}

/* ---- crowds ------------------------------------------------------------------------------------ */

/* They keep the order in which they came, are one window, and take no longer than others. */
static void a_million_equal_times(void **state)
{
    (void)state;
    enum { N = 1000000 };
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.delayed = true;
    config.exec.threads = 2;
    slc_pet_frame *frames = malloc(N * sizeof *frames);
    assert_non_null(frames);
    for (uint32_t k = 0; k < 13520; k++) {
        frames[k] = frame_at(&tables, &config.convert, k, 5000000);
    }
    for (size_t i = 13520; i < N; i++) {
        frames[i] = frames[i % 13520];
    }
    frames[N - 1] = frame_at(&tables, &config.convert, 17, 5000000 + 100000); /* 100 ns behind them */
    const slc_pet_policy policies[] = {SLC_PET_KILL_ALL, SLC_PET_REJECT_HIGHER_MULTIPLES};
    const size_t batches[] = {N + 1, 40000};
    for (size_t p = 0; p < 4; p++) {
        config.prompt.policy = policies[p / 2];
        outcome o = run_chain(&config, &tables, frames, N, batches[p % 2]);
        assert_accounted(&o, N);
        assert_int_equal(o.singles.head.size, N);
        for (size_t i = 0; i + 1 < N; i += 7) {
            assert_int_equal(o.singles.crystal[i], i % 13520);
        }
        assert_int_equal(o.totals.prompt.windows, 1);
        assert_int_equal(o.totals.prompt.multiplicity[SLC_PET_MULTIPLICITIES - 1], 1);
        assert_int_equal(o.totals.prompt.pairs, 0);
        /* Nobody is in a delayed window but the last one; so each opens one and is paired with that, but
         * for those of its own crystal. */
        assert_int_equal(o.totals.delayed.pairs, N - 1 - ((N - 2 - 17) / 13520 + 1));
        assert_int_equal(o.pairs.crystal1[0], 0);
        assert_int_equal(o.pairs.crystal2[0], 17);
        clear_outcome(&o);
    }
    free(frames);
}

/* Longer than all batches: the stage waits for it, whatever the batch. */
static void a_window_of_a_second(void **state)
{
    (void)state;
    enum { N = 100000 };
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.prompt.window_ns = 1e9;
    slc_pet_frame *frames = malloc(N * sizeof *frames);
    assert_non_null(frames);
    for (size_t i = 0; i < N; i++) { /* 25 us apart: 2.5 s in all */
        frames[i] = frame_at(&tables, &config.convert, (uint32_t)(i * 37 % 13520), 25000000 * (int64_t)i);
    }
    const size_t batches[] = {N + 1, 997};
    for (size_t b = 0; b < 2; b++) {
        outcome o = run_chain(&config, &tables, frames, N, batches[b]);
        assert_accounted(&o, N);
        /* Closed windows of 40 001 singles, and what is left of the last. */
        assert_int_equal(o.totals.prompt.windows, 3);
        assert_int_equal(o.totals.prompt.pairs, 0);
        clear_outcome(&o);
    }
    /* Policies that look at pairs, with few singles: 400 in a second. */
    config.prompt.policy = SLC_PET_TAKE_WINNER_OF_GOODS;
    config.prompt.all_open = true;
    for (size_t i = 0; i < 1000; i++) {
        frames[i] = frame_at(&tables, &config.convert, (uint32_t)(i * 37 % 13520), 2500000000 * (int64_t)i);
    }
    outcome wanted = run_chain(&config, &tables, frames, 1000, 1001);
    assert_int_equal(wanted.totals.prompt.pairs, 999);
    outcome o = run_chain(&config, &tables, frames, 1000, 7);
    assert_int_equal(o.totals.checksum, wanted.totals.checksum);
    clear_outcome(&o);
    clear_outcome(&wanted);
    free(frames);
}

/* ---- full disk --------------------------------------------------------------------------------- */

static void a_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        skip();
    }
    const slc_pet_tables tables = pet_frames_mouse();
    slc_pet_config config;
    slc_pet_config_default(&config);
    enum { N = 40000 };
    slc_pet_frame *frames = malloc(N * sizeof *frames);
    assert_non_null(frames);
    make_pairs(&tables, &config.convert, frames, N, 0);
    outcome o = run_chain(&config, &tables, frames, N, N + 1);
    slc_error error = {0};
    slc_io_writer *singles = NULL;
    assert_int_equal(slc_io_pet_singles_create("/dev/full", &singles, &error), SLC_OK);
    slc_status status = slc_io_pet_singles_write(singles, &o.singles, &error);
    if (status == SLC_OK) {
        status = slc_io_finish(singles, &error);
    } else {
        slc_io_abandon(singles);
    }
    assert_int_equal(status, SLC_ERR_IO);
    assert_non_null(strstr(error.text, "/dev/full: "));
    const slc_io_pet_list_format formats[] = {SLC_IO_PET_YRT, SLC_IO_PET_GATE};
    for (size_t f = 0; f < 2; f++) {
        const slc_io_pet_list_config list = {
            .size = sizeof(slc_io_pet_list_config), .geometry = tables.geometry, .window_ps = 10000};
        slc_io_pet_list_writer *writer = NULL;
        error = (slc_error){0};
        assert_int_equal(slc_io_pet_list_create("/dev/full", formats[f], &list, &writer, &error), SLC_OK);
        status = slc_io_pet_list_write(writer, &o.pairs, &error);
        if (status == SLC_OK) {
            status = slc_io_pet_list_finish(writer, &error);
        } else {
            slc_io_pet_list_abandon(writer);
        }
        assert_int_equal(status, SLC_ERR_IO);
        assert_non_null(strstr(error.text, "/dev/full: "));
    }
    clear_outcome(&o);
    free(frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames_of_anything),   cmocka_unit_test(bytes_behind_the_last_frame),
        cmocka_unit_test(unknown_modules),      cmocka_unit_test(tables_of_the_wrong_size),
        cmocka_unit_test(time_goes_back),       cmocka_unit_test(time_jumps_ahead),
        cmocka_unit_test(time_begins_again),    cmocka_unit_test(a_million_equal_times),
        cmocka_unit_test(a_window_of_a_second), cmocka_unit_test(a_full_disk),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
