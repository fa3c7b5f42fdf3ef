/* SPDX-License-Identifier: Apache-2.0
 *
 * Conversion of frames against a slow one of its own: random geometries and tables, damaged frames, clocks of
 * every width that turn and go backwards, ticks as fractions, threads and batches; and frames that are made
 * for a single.
 */
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/pet_frames.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

__extension__ typedef __int128 wide;

/* ---- the slow way ------------------------------------------------------------------------------ */

typedef struct wanted {
    size_t n;
    int64_t *time;
    uint32_t *crystal;
    float *energy;
    slc_pet_convert_counts counts;
} wanted;

/* The formulas of the format, with division and 128 bits. */
static wide floor_division(wide a, wide b)
{
    const wide q = a / b;
    return q * b > a ? q - 1 : q;
}

static bool crystal_of(const slc_pet_tables *t, const slc_pet_frame *f, slc_pet_convert_counts *c,
                       uint32_t *crystal, bool *known_block)
{
    const slc_pet_geometry *g = &t->geometry;
    const uint32_t unit = f->head_unit & 15;
    uint32_t side = t->position_side, local;
    *known_block = false;
    if (f->module >= g->channels * g->modules * g->module_rings) {
        c->module++;
        return false;
    }
    if (unit >= g->blocks_y * g->blocks_z) {
        c->unit++;
        return false;
    }
    *known_block = true;
    if (t->position == NULL) {
        side = g->crystals_y > g->crystals_z ? g->crystals_y : g->crystals_z;
    }
    if (f->x >= side || f->y >= side) {
        c->position++;
        return false;
    }
    if (t->position != NULL) {
        local = t->position[((f->module * g->blocks_y * g->blocks_z + unit) * side + f->y) * side + f->x];
    } else {
        local = f->y < g->crystals_y && f->x < g->crystals_z ? f->y * g->crystals_z + f->x
                                                             : SLC_PET_NO_CRYSTAL;
    }
    if (local == SLC_PET_NO_CRYSTAL) {
        c->no_crystal++;
        return false;
    }
    const uint32_t around = g->channels * g->modules, length = around * g->blocks_y * g->crystals_y;
    const uint32_t in_ring = (f->module % around) * g->blocks_y * g->crystals_y +
                             unit / g->blocks_z * g->crystals_y + local / g->crystals_z;
    const uint32_t ring = f->module / around * g->blocks_z * g->crystals_z +
                          unit % g->blocks_z * g->crystals_z + local % g->crystals_z;
    *crystal = in_ring + ring * length;
    return true;
}

/* What has become of a module's counter. */
static void count_clock(wide now, uint32_t tick_bits, wide *before, bool *began, slc_pet_convert_counts *c)
{
    const wide turn = (wide)1 << tick_bits;
    const wide turns = floor_division(now, turn) - floor_division(*before, turn);
    c->turns += *began && turns > 0 ? (uint64_t)turns : 0;
    c->backwards += *began && now < *before;
    *began = true;
    *before = now;
}

static float energy_of(const slc_pet_tables *t, const slc_pet_frame *f, uint32_t crystal)
{
    float energy = (float)(f->energy[0] * 256 + f->energy[1]);
    energy *= t->gain != NULL ? t->gain[crystal] : 1;
    if (t->energy != NULL) {
        float bin = energy * (1 / t->energy_bin_kev);
        bin = bin < (float)(t->energy_bins - 1) ? floorf(bin) : (float)(t->energy_bins - 1);
        energy *= t->energy[(size_t)crystal * t->energy_bins + (size_t)bin];
    }
    return energy;
}

/* `times`: ticks with all turns; NULL: frames have them. */
static wanted convert_slowly(const slc_pet_convert_config *config, const slc_pet_tables *t,
                             const slc_pet_frame *frames, const uint64_t *times, size_t n)
{
    wanted w = {.time = calloc(n + 1, 8), .crystal = calloc(n + 1, 4), .energy = calloc(n + 1, 4)};
    wide before[256] = {0};
    bool began[256] = {false};
    assert_true(w.time != NULL && w.crystal != NULL && w.energy != NULL);
    w.counts.frames = n;
    for (size_t i = 0; i < n; i++) {
        const slc_pet_frame *f = &frames[i];
        uint32_t crystal = 0;
        bool block;
        uint64_t ticks = 0;
        for (int b = 0; b < 8; b++) {
            ticks = ticks * 256 + f->time[b];
        }
        const bool there = crystal_of(t, f, &w.counts, &crystal, &block);
        if (!block) {
            continue;
        }
        const wide all = times != NULL ? times[i] : ticks;
        count_clock(all, config->tick_bits, &before[f->module], &began[f->module], &w.counts);
        if (!there) {
            continue;
        }
        const float energy = energy_of(t, f, crystal);
        if (energy < (float)config->low_kev || !(energy < (float)config->high_kev)) {
            w.counts.below += energy < (float)config->low_kev;
            w.counts.above += !(energy < (float)config->low_kev);
            continue;
        }
        const wide ps = floor_division(all * config->tick_numerator, config->tick_denominator);
        w.time[w.n] = (int64_t)((uint64_t)ps +
                                (uint64_t)(t->time_offset_ps != NULL ? t->time_offset_ps[crystal] : 0));
        w.crystal[w.n] = crystal;
        w.energy[w.n++] = energy;
    }
    w.counts.singles = w.n;
    return w;
}

static void clear_wanted(wanted *w)
{
    free(w->time);
    free(w->crystal);
    free(w->energy);
}

/* ---- comparing --------------------------------------------------------------------------------- */

static void same_counts(const slc_pet_convert_counts *a, const slc_pet_convert_counts *b)
{
    assert_int_equal(a->frames, b->frames);
    assert_int_equal(a->singles, b->singles);
    assert_int_equal(a->module, b->module);
    assert_int_equal(a->unit, b->unit);
    assert_int_equal(a->position, b->position);
    assert_int_equal(a->no_crystal, b->no_crystal);
    assert_int_equal(a->clock, b->clock);
    assert_int_equal(a->bridged, b->bridged);
    assert_int_equal(a->below, b->below);
    assert_int_equal(a->above, b->above);
    assert_int_equal(a->turns, b->turns);
    assert_int_equal(a->backwards, b->backwards);
}

/* The stage, with batches of so many frames, gives what is wanted, faults included. */
static void compare(const slc_pet_convert_config *config, const slc_pet_tables *tables,
                    const slc_pet_frame *frames, size_t n, size_t batch, const wanted *w)
{
    slc_pet_convert *stage = NULL;
    slc_pet_singles singles = {0};
    slc_faults faults = {0};
    slc_error error = {0};
    slc_pet_convert_counts counts;
    assert_int_equal(slc_pet_convert_open(config, tables, &stage, &error), SLC_OK);
    for (size_t at = 0; at < n; at += batch) {
        const size_t some = n - at < batch ? n - at : batch;
        assert_int_equal(
            slc_pet_convert_run(stage, frames + at, NULL, some, at + some == n, &singles, &faults, &error),
            SLC_OK);
    }
    slc_pet_convert_counts_of(stage, &counts);
    same_counts(&counts, &w->counts);
    assert_int_equal(singles.head.size, w->n);
    if (w->n > 0) {
        assert_memory_equal(singles.time_ps, w->time, w->n * 8);
        assert_memory_equal(singles.crystal, w->crystal, w->n * 4);
        assert_memory_equal(singles.energy_kev, w->energy, w->n * 4);
    }
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_MODULE), counts.module);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_UNIT), counts.unit);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_PET_POSITION), counts.position);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_pet_convert_close(stage);
}

/* Frames get times of one clock for all modules, a little out of order; NULL where counters have 64 bits.
 * What is not so is for test_pet_clock. */
static uint64_t *times_of(uint64_t *seed, slc_pet_convert_config *config, slc_pet_frame *frames, size_t n)
{
    if (config->tick_bits == 64) {
        return NULL;
    }
    const uint64_t turn = UINT64_C(1) << config->tick_bits;
    const wide horizon = (wide)INT64_MAX * config->tick_denominator / config->tick_numerator;
    const uint64_t near = horizon < turn / 8 ? (uint64_t)horizon : turn / 8; /* that times may be apart */
    const uint64_t most = near / 8 < UINT64_C(1) << 50 ? near / 8 : UINT64_C(1) << 50;
    uint64_t *times = malloc((n + 1) * sizeof *times), now = turn / 2 + random_u64(seed) % (turn / 8);
    assert_non_null(times);
    config->horizon_ps = INT64_MAX; /* an eighth of a turn, if that is less */
    for (size_t i = 0; i < n; i++) {
        now += random_u64(seed) % (most + 1);
        times[i] = now - random_u64(seed) % (near / 2);
        for (int b = 0; b < 8; b++) {
            frames[i].time[b] = (uint8_t)((times[i] & (turn - 1)) >> (56 - 8 * b));
        }
    }
    return times;
}

/* ---- tests ------------------------------------------------------------------------------------- */

static void random_input_is_converted_as_the_slow_way_does(void **state)
{
    (void)state;
    uint64_t seed = 90;
    for (int round = 0; round < 150; round++) {
        slc_pet_tables tables = pet_frames_tables(&seed);
        slc_pet_convert_config config = pet_frames_config(&seed);
        const size_t n = random_below(&seed, 4) == 0 ? random_below(&seed, 5)
                                                     : 200 + random_below(&seed, 2000);
        slc_pet_frame *frames = pet_frames_random(&seed, &tables, n, 1, UINT64_C(1) << 40);
        uint64_t *times = times_of(&seed, &config, frames, n);
        wanted w = convert_slowly(&config, &tables, frames, times, n);
        const size_t batches[] = {1, 7, 255, 256, 257, n + 1};
        for (size_t b = 0; b < sizeof batches / sizeof *batches; b++) {
            compare(&config, &tables, frames, n, batches[b], &w);
        }
        clear_wanted(&w);
        free(times);
        free(frames);
        pet_frames_clear(&tables);
    }
}

/* Parts of threads have 8192 frames at least. */
static void threads_do_not_matter(void **state)
{
    (void)state;
    uint64_t seed = 91;
    for (int round = 0; round < 6; round++) {
        slc_pet_tables tables = pet_frames_tables(&seed);
        slc_pet_convert_config config = pet_frames_config(&seed);
        config.tick_bits = round % 3 == 2 ? 20 : 64;
        const size_t n = 70000 + random_below(&seed, 1000);
        slc_pet_frame *frames = pet_frames_random(&seed, &tables, n, 1, 1000);
        uint64_t *times = times_of(&seed, &config, frames, n);
        wanted w = convert_slowly(&config, &tables, frames, times, n);
        assert_true(w.counts.backwards > 100 && w.counts.module + w.counts.unit + w.counts.position > 0);
        for (config.exec.threads = 1; config.exec.threads <= 8; config.exec.threads++) {
            compare(&config, &tables, frames, n, n, &w);
        }
        compare(&config, &tables, frames, n, 30011, &w);
        clear_wanted(&w);
        free(times);
        free(frames);
        pet_frames_clear(&tables);
    }
}

/* All numbers that a byte can have where it matters, one by one. */
static void every_byte_is_checked(void **state)
{
    (void)state;
    slc_pet_tables tables = {.geometry = {3, 1, 1, 2, 1, 3, 5, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    slc_pet_frame frames[4 * 256] = {{0}};
    for (uint32_t i = 0; i < 256; i++) {
        frames[i].module = frames[256 + i].head_unit = frames[512 + i].x = frames[768 + i].y = (uint8_t)i;
    }
    wanted w = convert_slowly(&config, &tables, frames, NULL, 1024);
    assert_int_equal(w.counts.module, 253);
    assert_int_equal(w.counts.unit, 256 - 16 * 2);
    assert_int_equal(w.counts.position, 2 * 251);
    assert_int_equal(w.counts.no_crystal, 2); /* y of 3 and 4 */
    compare(&config, &tables, frames, 1024, 1024, &w);
    clear_wanted(&w);
}

static void the_first_fault_names_its_frame(void **state)
{
    (void)state;
    slc_pet_tables tables = {.geometry = {3, 1, 1, 2, 1, 3, 5, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    slc_pet_convert *stage;
    slc_pet_singles singles = {0};
    slc_faults faults = {0};
    slc_pet_frame frames[5] = {{0}};
    assert_int_equal(slc_pet_convert_open(&config, &tables, &stage, NULL), SLC_OK);
    assert_int_equal(slc_pet_convert_run(stage, frames, NULL, 5, false, &singles, &faults, NULL), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    frames[3].module = 77;
    assert_int_equal(slc_pet_convert_run(stage, frames, NULL, 5, false, &singles, &faults, NULL), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 1);
    assert_int_equal(faults.kept[0].code, SLC_FAULT_PET_MODULE);
    assert_int_equal(faults.kept[0].event, 8);
    assert_int_equal(faults.kept[0].module, 77);
    assert_int_equal(faults.kept[0].offset, 8 * 16);
    assert_int_equal(singles.head.size, 9);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_pet_convert_close(stage);
}

/* A frame that is made for a single converts to it, with the time at the beginning of its tick. */
static void frames_are_made_for_singles(void **state)
{
    (void)state;
    uint64_t seed = 92;
    size_t made = 0;
    for (int round = 0; round < 300; round++) {
        slc_pet_tables tables = pet_frames_tables(&seed);
        free((void *)tables.energy); /* whose factors change too much from bin to bin here */
        tables.energy = NULL;
        slc_pet_convert_config config = pet_frames_config(&seed);
        config.low_kev = 0;
        config.high_kev = INFINITY;
        const uint32_t crystal = random_below(&seed, slc_pet_crystals(&tables.geometry));
        const int64_t time = (int64_t)(random_u64(&seed) >> (18 + random_below(&seed, 23)));
        const double gain = tables.gain != NULL ? (double)tables.gain[crystal] : 1;
        const double energy = gain * 65000 * random_unit(&seed);
        slc_pet_frame frame;
        if (pet_frames_of_single(&tables, &config, crystal, time, energy, &frame)) {
            wanted w = convert_slowly(&config, &tables, &frame, NULL, 1);
            const int64_t offset = tables.time_offset_ps != NULL ? tables.time_offset_ps[crystal] : 0;
            const wide tick = floor_division((wide)(time - offset) * config.tick_denominator,
                                             config.tick_numerator);
            const wide turn = (wide)1 << config.tick_bits;
            const wide in_turn = tick - floor_division(tick, turn) * turn;
            const wide ps = floor_division(in_turn * config.tick_numerator, config.tick_denominator);
            assert_int_equal(w.n, 1);
            assert_int_equal(w.crystal[0], crystal);
            assert_true((uint64_t)w.time[0] == (uint64_t)ps + (uint64_t)offset);
            assert_true(fabs((double)w.energy[0] - energy) <= 0.51 * gain + 1e-4 * energy);
            clear_wanted(&w);
            made++;
        }
        pet_frames_clear(&tables);
    }
    assert_true(made > 200); /* the others have maps without that crystal */
}

static void what_cannot_be_is_not_made(void **state)
{
    (void)state;
    slc_pet_tables tables = {.geometry = {3, 1, 1, 2, 1, 3, 5, 50, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    slc_pet_frame frame;
    assert_true(pet_frames_of_single(&tables, &config, 89, 5, 500, &frame));
    assert_false(pet_frames_of_single(&tables, &config, 90, 5, 500, &frame));
    assert_true(pet_frames_of_single(&tables, &config, 0, -5, 500, &frame)); /* comes back as it is */
    assert_int_equal(frame.time[7], 251);
    config.tick_numerator = 10;
    assert_false(pet_frames_of_single(&tables, &config, 0, -5, 500, &frame));
    config.tick_bits = 16;
    assert_true(pet_frames_of_single(&tables, &config, 0, -5, 500, &frame));
    assert_int_equal(frame.time[6] << 8 | frame.time[7], 65535);
    config.tick_bits = 64;
    config.tick_numerator = 1;
    config.tick_denominator = 1000;
    assert_false(pet_frames_of_single(&tables, &config, 0, INT64_MAX, 500, &frame));
    assert_true(pet_frames_of_single(&tables, &config, 0, 5, (double)NAN, &frame));
    assert_int_equal(frame.energy[0] | frame.energy[1], 0);
    assert_true(pet_frames_of_single(&tables, &config, 0, 5, 1e9, &frame));
    assert_int_equal(frame.energy[0] & frame.energy[1], 255);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_input_is_converted_as_the_slow_way_does),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(every_byte_is_checked),
        cmocka_unit_test(the_first_fault_names_its_frame),
        cmocka_unit_test(frames_are_made_for_singles),
        cmocka_unit_test(what_cannot_be_is_not_made),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
