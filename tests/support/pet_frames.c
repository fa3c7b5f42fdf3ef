/* SPDX-License-Identifier: Apache-2.0
 * Frames for tests of conversion and of the chain. */
#include "support/pet_frames.h"
#include "base/bytes.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t from_to(uint64_t *state, uint32_t low, uint32_t high)
{
    return low + random_below(state, high - low + 1);
}

static bool maybe(uint64_t *state)
{
    return random_below(state, 2) == 0;
}

static const uint16_t *random_position(uint64_t *state, const slc_pet_tables *t)
{
    const uint32_t locals = t->geometry.crystals_y * t->geometry.crystals_z;
    const size_t n = slc_pet_position_elements(t);
    uint16_t *position = malloc(n * sizeof *position);
    assert_non_null(position);
    for (size_t i = 0; i < n; i++) {
        position[i] = random_below(state, 8) == 0 ? SLC_PET_NO_CRYSTAL
                                                  : (uint16_t)random_below(state, locals);
    }
    return position;
}

static const float *random_floats(uint64_t *state, size_t n, float low, float width)
{
    float *values = malloc(n * sizeof *values);
    assert_non_null(values);
    for (size_t i = 0; i < n; i++) {
        values[i] = low + width * (float)random_unit(state);
    }
    return values;
}

slc_pet_tables pet_frames_tables(uint64_t *state)
{
    slc_pet_tables t = {.geometry = {.channels = from_to(state, 1, 9),
                                     .modules = from_to(state, 1, 4),
                                     .module_rings = from_to(state, 1, 7),
                                     .blocks_y = from_to(state, 1, 4),
                                     .blocks_z = from_to(state, 1, 4),
                                     .crystals_y = from_to(state, 1, 9),
                                     .crystals_z = from_to(state, 1, 9),
                                     .radius_mm = 100,
                                     .pitch_z_mm = 2,
                                     .depth_mm = 10}};
    const size_t crystals = slc_pet_crystals(&t.geometry);
    if (maybe(state)) {
        t.position_side = from_to(state, 1, 20);
        t.position = random_position(state, &t);
    }
    if (maybe(state)) {
        t.gain = random_floats(state, crystals, 0, 0.02f);
    }
    if (maybe(state)) {
        t.energy_bins = from_to(state, 1, 50);
        t.energy_bin_kev = 1 + 40 * (float)random_unit(state);
        t.energy = random_floats(state, slc_pet_energy_elements(&t), 0.5f, 1);
    }
    if (maybe(state)) {
        int32_t *offset = malloc(crystals * sizeof *offset);
        assert_non_null(offset);
        for (size_t i = 0; i < crystals; i++) {
            offset[i] = (int32_t)random_u64(state);
        }
        t.time_offset_ps = offset;
    }
    return t;
}

void pet_frames_clear(slc_pet_tables *t)
{
    free((void *)t->position);
    free((void *)t->gain);
    free((void *)t->energy);
    free((void *)t->time_offset_ps);
}

slc_pet_convert_config pet_frames_config(uint64_t *state)
{
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    config.tick_bits = maybe(state) ? 64 : from_to(state, 8, 64);
    if (maybe(state)) {
        config.tick_numerator = random_below(state, 4) == 0 ? UINT32_MAX - random_below(state, 9)
                                                            : from_to(state, 1, 5000);
        config.tick_denominator = maybe(state) ? 1 : from_to(state, 1, 700);
    }
    if (maybe(state)) {
        config.low_kev = 100 * random_unit(state);
        config.high_kev = config.low_kev + 1 + 500 * random_unit(state);
    }
    return config;
}

static void set_time(slc_pet_frame *f, uint64_t ticks)
{
    for (int b = 0; b < 8; b++) {
        f->time[b] = (uint8_t)(ticks >> (56 - 8 * b));
    }
}

slc_pet_frame *pet_frames_random(uint64_t *state, const slc_pet_tables *t, size_t n, uint32_t packet,
                                 uint64_t step)
{
    const slc_pet_geometry *g = &t->geometry;
    const uint32_t modules = slc_pet_module_count(g), units = g->blocks_y * g->blocks_z;
    const uint32_t longer = g->crystals_y > g->crystals_z ? g->crystals_y : g->crystals_z;
    const uint32_t side = t->position != NULL ? t->position_side : longer;
    slc_pet_frame *frames = malloc((n + 1) * sizeof *frames);
    uint64_t clock[256];
    uint32_t left = 0, module = 0;
    assert_non_null(frames);
    for (size_t m = 0; m < 256; m++) {
        clock[m] = random_u64(state);
    }
    for (size_t i = 0; i < n; i++) {
        slc_pet_frame *f = &frames[i];
        const uint64_t low = random_u64(state), high = random_u64(state);
        memcpy(f, &low, sizeof low);
        memcpy((char *)f + sizeof low, &high, sizeof high);
        if (left-- == 0) {
            module = random_below(state, modules);
            left = random_below(state, packet);
        }
        const uint32_t damage = random_below(state, 60);
        f->module = damage == 0 ? f->module : (uint8_t)module;
        f->head_unit = damage == 1 ? f->head_unit
                                   : (uint8_t)((f->head_unit & 0xf0) | random_below(state, units));
        f->x = damage == 2 ? f->x : (uint8_t)random_below(state, side);
        f->y = damage == 3 ? f->y : (uint8_t)random_below(state, side);
        const uint64_t far = random_u64(state) % (step + 1);
        clock[f->module] += random_below(state, 20) == 0 ? 0 - far : far;
        set_time(f, damage == 4 ? random_u64(state) : clock[f->module]);
    }
    return frames;
}

slc_pet_tables pet_frames_mouse(void)
{
    slc_pet_tables tables = {.position = NULL};
    assert_int_equal(slc_pet_scanner("mouse20", &tables.geometry, NULL), SLC_OK);
    return tables;
}

pet_frames_stream pet_frames_make(size_t n)
{
    enum { PACKET = 92, MODULES = 20 };
    pet_frames_stream s = {.tables = pet_frames_mouse(), .frames = malloc((n + PACKET) * sizeof *s.frames)};
    slc_pet_frame packet[MODULES][PACKET];
    int fill[MODULES] = {0};
    slc_pet_convert_config clock;
    const uint32_t crystals = slc_pet_crystals(&s.tables.geometry);
    uint64_t seed = 20;
    int64_t time = 1000000;
    uint32_t crystal = 0;
    assert_non_null(s.frames);
    assert_int_equal(slc_pet_module_count(&s.tables.geometry), MODULES);
    slc_pet_convert_config_default(&clock);
    while (s.n < n) {
        const bool pair = random_below(&seed, 4) == 0;
        time += pair ? random_below(&seed, 3000) : (int64_t)(-log(1 - random_unit(&seed)) * 10000);
        crystal = pair ? (crystal + crystals / 2) % crystals : random_below(&seed, crystals);
        slc_pet_frame frame;
        assert_true(
            pet_frames_of_single(&s.tables, &clock, crystal, time, 300 + 300 * random_unit(&seed), &frame));
        const uint8_t m = frame.module;
        packet[m][fill[m]++] = frame;
        if (fill[m] == PACKET) {
            memcpy(s.frames + s.n, packet[m], sizeof packet[m]);
            s.n += PACKET;
            fill[m] = 0;
        }
    }
    for (size_t i = 5; i < s.n; i += 1000, s.wrong++) {
        s.frames[i].module = 99;
    }
    return s;
}

slc_pet_config pet_frames_chain(void)
{
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.prompt.window_ns = 4;
    config.prompt.policy = SLC_PET_TAKE_ALL_GOODS;
    config.convert.low_kev = 350;
    config.sort.horizon_ps = 400000000;
    config.delayed = true;
    return config;
}

/* ---- the inverse ------------------------------------------------------------------------------- */

/* The first place of a flood map that is this crystal's. */
static bool find_place(const slc_pet_tables *t, uint32_t module, uint32_t unit, uint32_t local, uint8_t *x,
                       uint8_t *y)
{
    const slc_pet_geometry *g = &t->geometry;
    if (t->position == NULL) {
        *x = (uint8_t)(local % g->crystals_z);
        *y = (uint8_t)(local / g->crystals_z);
        return true;
    }
    const size_t side = t->position_side, block = (size_t)module * g->blocks_y * g->blocks_z + unit;
    const uint16_t *map = t->position + block * side * side;
    for (size_t i = 0; i < side * side; i++) {
        if (map[i] == local) {
            *x = (uint8_t)(i % side);
            *y = (uint8_t)(i / side);
            return true;
        }
    }
    return false;
}

/* The number of a frame's energy, from 0 to 65535, that is converted to the nearest energy. */
static uint16_t energy_number(const slc_pet_tables *t, uint32_t crystal, double energy_kev)
{
    const double gain = t->gain != NULL ? (double)t->gain[crystal] : 1;
    double raw = gain > 0 ? energy_kev / gain : 0;
    if (t->energy !=
        NULL) { /* what the factor of that energy makes of it; factors change little from bin to bin */
        const double bin = energy_kev / (double)t->energy_bin_kev;
        const size_t last = t->energy_bins - 1U, at = bin < (double)last ? (size_t)(bin > 0 ? bin : 0) : last;
        const double factor = (double)t->energy[(size_t)crystal * t->energy_bins + at];
        raw = factor > 0 ? raw / factor : raw;
    }
    raw = round(raw);
    return !(raw > 0) ? 0 : raw >= 65535 ? 65535 : (uint16_t)raw;
}

/* The counter's number at a time. A counter that turns has one for every time; one of 64 bits has none for
 * times below 0, but where a tick is 1 ps, and for those beyond its range. */
static bool ticks_for(const slc_pet_convert_config *c, uint64_t ps, uint64_t *ticks)
{
    const uint64_t numerator = c->tick_numerator, denominator = c->tick_denominator;
    uint64_t whole = ps / numerator;
    if (ps > INT64_MAX && !(numerator == 1 && denominator == 1)) {
        if (c->tick_bits == 64) {
            return false;
        }
        whole = ~(~ps / numerator); /* rounded down */
    } else if (c->tick_bits == 64 && whole > (UINT64_MAX - denominator) / denominator) {
        return numerator == 1 && denominator == 1 && (*ticks = ps, true);
    }
    const uint64_t rest = ps - whole * numerator;
    *ticks = whole * denominator + rest * denominator / numerator;
    *ticks &= c->tick_bits < 64 ? (UINT64_C(1) << c->tick_bits) - 1 : UINT64_MAX;
    return true;
}

bool pet_frames_of_single(const slc_pet_tables *tables, const slc_pet_convert_config *config,
                          uint32_t crystal, int64_t time_ps, double energy_kev, slc_pet_frame *frame)
{
    uint32_t module, unit, local;
    memset(frame, 0, sizeof *frame);
    if (crystal >= slc_pet_crystals(&tables->geometry)) {
        return false;
    }
    slc_pet_crystal_place(&tables->geometry, crystal, &module, &unit, &local);
    if (!find_place(tables, module, unit, local, &frame->x, &frame->y)) {
        return false;
    }
    const int64_t offset = tables->time_offset_ps != NULL ? tables->time_offset_ps[crystal] : 0;
    uint64_t ticks;
    if (!ticks_for(config, (uint64_t)time_ps - (uint64_t)offset, &ticks)) {
        return false;
    }
    frame->head_unit = (uint8_t)(0xa0 | unit);
    frame->module = (uint8_t)module;
    slc_store_big_u64(frame->time, ticks);
    const uint16_t energy = energy_number(tables, crystal, energy_kev);
    frame->energy[0] = (uint8_t)(energy >> 8);
    frame->energy[1] = (uint8_t)energy;
    frame->temperature = 25;
    return true;
}
