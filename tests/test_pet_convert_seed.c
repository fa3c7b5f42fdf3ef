/* SPDX-License-Identifier: Apache-2.0
 *
 * The mistakes of the seed's conversion, each with a case that would catch it (formats/pet.md of the
 * project's reference lists them), and what opening refuses.
 */
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"
#include "support/cmocka_all.h"

#include <sluice/pet_convert.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static slc_pet_convert *open_stage(const slc_pet_tables *tables)
{
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    slc_pet_convert *stage = NULL;
    slc_error error = {0};
    assert_int_equal(slc_pet_convert_open(&config, tables, &stage, &error), SLC_OK);
    return stage;
}

/* One frame. */
static void convert(const slc_pet_tables *tables, const slc_pet_frame *frame, slc_pet_singles *singles)
{
    slc_pet_convert *stage = open_stage(tables);
    slc_columns_reset(singles);
    assert_int_equal(slc_pet_convert_run(stage, frame, NULL, 1, false, singles, NULL, NULL), SLC_OK);
    slc_pet_convert_close(stage);
}

/* Local x by one number of crystals and y by the other; a ring's length without the modules of a channel:
 * numbers of crystals collided. Here every crystal of a scanner with all numbers different has its own. */
static void every_crystal_has_its_own_number(void **state)
{
    (void)state;
    const slc_pet_tables tables = {.geometry = {2, 3, 5, 2, 4, 3, 7, 100, 2, 0, NULL}};
    const slc_pet_geometry *g = &tables.geometry;
    const uint32_t all = slc_pet_crystals(g);
    assert_int_equal(all, 2 * 3 * 5 * 2 * 4 * 3 * 7);
    bool *seen = calloc(all, sizeof *seen);
    slc_pet_singles singles = {0};
    slc_pet_convert *stage = open_stage(&tables);
    for (uint32_t i = 0; i < all; i++) {
        const uint32_t local = i % 21, unit = i / 21 % 8, module = i / 168;
        const slc_pet_frame frame = {.module = (uint8_t)module,
                                     .head_unit = (uint8_t)(0x50 | unit),
                                     .x = (uint8_t)(local % 7),
                                     .y = (uint8_t)(local / 7)};
        slc_columns_reset(&singles);
        assert_int_equal(slc_pet_convert_run(stage, &frame, NULL, 1, false, &singles, NULL, NULL), SLC_OK);
        assert_int_equal(singles.head.size, 1);
        assert_in_range(singles.crystal[0], 0, all - 1);
        assert_false(seen[singles.crystal[0]]);
        seen[singles.crystal[0]] = true;
        uint32_t back[3];
        slc_pet_crystal_place(g, singles.crystal[0], &back[0], &back[1], &back[2]);
        assert_int_equal(back[0], module);
        assert_int_equal(back[1], unit);
        assert_int_equal(back[2], local);
    }
    /* One by hand: module 7 is the second of the second row, unit 6 the third along z of the second around.
     */
    const slc_pet_frame one = {.module = 7, .head_unit = 6, .x = 4, .y = 1};
    convert(&tables, &one, &singles);
    assert_int_equal(singles.crystal[0], (1 * 6 + 1 * 3 + 1) + (1 * 28 + 2 * 7 + 4) * 36);
    slc_pet_convert_close(stage);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    free(seen);
}

/* Energies of 10 000 and more read beyond the table, whose last entry is the one of all that is above; and
 * the table of a block was sized with one side squared. */
static void high_energies_take_the_last_factor(void **state)
{
    (void)state;
    slc_pet_tables tables = {
        .geometry = {1, 1, 1, 1, 1, 2, 3, 100, 2, 0, NULL}, .energy_bins = 1000, .energy_bin_kev = 10};
    /* Exactly as long as it says, so that a read beyond it is seen by the sanitizer. */
    float *factor = malloc(6 * 1000 * sizeof *factor);
    for (size_t i = 0; i < 6000; i++) {
        factor[i] = i % 1000 == 999 ? 0.5f : 2;
    }
    tables.energy = factor;
    assert_int_equal(slc_pet_energy_elements(&tables), 6000);
    slc_pet_singles singles = {0};
    const uint16_t energies[] = {0, 9989, 9990, 9999, 10000, 65535};
    const float wanted[] = {0, 2 * 9989, 4995, 4999.5f, 5000, 32767.5f};
    for (int i = 0; i < 6; i++) {
        const slc_pet_frame frame = {
            .x = 2, .y = 1, .energy = {(uint8_t)(energies[i] >> 8), (uint8_t)energies[i]}};
        convert(&tables, &frame, &singles);
        assert_int_equal(singles.head.size, 1);
        assert_int_equal(singles.crystal[0], 1 + 2 * 2);
        assert_true(singles.energy_kev[0] == wanted[i]);
    }
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    free(factor);
}

/* Ticks above 2^53 lost digits in floating point. */
static void no_tick_is_lost(void **state)
{
    (void)state;
    const slc_pet_tables tables = {.geometry = {1, 1, 1, 1, 1, 1, 1, 100, 2, 0, NULL}};
    slc_pet_singles singles = {0};
    const slc_pet_frame frame = {.time = {0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde, 0xf1}};
    convert(&tables, &frame, &singles);
    assert_true(singles.time_ps[0] == INT64_C(0x123456789abcdef1));
    slc_columns_clear(&slc_pet_singles_schema, &singles);
}

/* Nothing was carried from one batch to the next. */
static void counters_are_followed_across_batches(void **state)
{
    (void)state;
    const slc_pet_tables tables = {.geometry = {1, 1, 1, 1, 1, 1, 1, 100, 2, 0, NULL}};
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    config.tick_bits = 8;
    config.tick_numerator = 5;
    slc_pet_convert *stage;
    slc_pet_convert_counts counts;
    slc_pet_singles singles = {0};
    int64_t now = 10, wanted[100];
    uint64_t turns = 0;
    assert_int_equal(slc_pet_convert_open(&config, &tables, &stage, NULL), SLC_OK);
    for (int i = 0; i < 100; i++) {
        const slc_pet_frame frame = {.time = {1, 2, 3, 4, 5, 6, 7, (uint8_t)now}};
        wanted[i] = now;
        now += i % 10 == 7 ? -9 : 21;
        turns += i < 99 && now / 256 > wanted[i] / 256;
        assert_int_equal(slc_pet_convert_run(stage, &frame, NULL, 1, false, &singles, NULL, NULL), SLC_OK);
    }
    assert_int_equal(slc_pet_convert_run(stage, NULL, NULL, 0, true, &singles, NULL, NULL), SLC_OK);
    assert_int_equal(singles.head.size, 100);
    for (int i = 0; i < 100; i++) {
        assert_true(singles.time_ps[i] == wanted[i] * 5);
    }
    slc_pet_convert_counts_of(stage, &counts);
    assert_int_equal(counts.turns, turns);
    assert_int_equal(counts.backwards, 10);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_pet_convert_close(stage);
}

/* An infinite energy has no factor; it is above the window, not lost from the counts. */
static void every_frame_is_counted_once(void **state)
{
    (void)state;
    const float gain = 3e38f, factor = 0;
    const slc_pet_tables tables = {.geometry = {1, 1, 1, 1, 1, 1, 1, 100, 2, 0, NULL},
                                   .gain = &gain,
                                   .energy = &factor,
                                   .energy_bins = 1,
                                   .energy_bin_kev = 1};
    slc_pet_convert *stage = open_stage(&tables);
    slc_pet_singles singles = {0};
    slc_pet_convert_counts counts;
    const slc_pet_frame frame = {.energy = {255, 255}};
    assert_int_equal(slc_pet_convert_run(stage, &frame, NULL, 1, false, &singles, NULL, NULL), SLC_OK);
    slc_pet_convert_counts_of(stage, &counts);
    assert_int_equal(counts.above, 1);
    assert_int_equal(counts.singles, 0);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    slc_pet_convert_close(stage);
}

/* ---- what opening refuses ---------------------------------------------------------------------- */

static void refuse(const slc_pet_convert_config *config, const slc_pet_tables *tables, slc_status status,
                   const char *word)
{
    slc_pet_convert *stage = (slc_pet_convert *)(void *)&stage; /* to be overwritten */
    slc_error error = {0};
    assert_int_equal(slc_pet_convert_open(config, tables, &stage, &error), status);
    assert_null(stage);
    if (strstr(error.text, word) == NULL) {
        fail_msg("'%s' does not name %s", error.text, word);
    }
}

static void wrong_configurations_are_refused(void **state)
{
    (void)state;
    const slc_pet_tables tables = {.geometry = {1, 1, 1, 1, 1, 1, 1, 100, 2, 0, NULL}};
    slc_pet_convert_config good, bad;
    slc_pet_convert_config_default(&good);
    bad = good;
    bad.tick_denominator = 0;
    refuse(&bad, &tables, SLC_ERR_USAGE, "tick");
    bad = good;
    bad.tick_bits = 7;
    refuse(&bad, &tables, SLC_ERR_USAGE, "tick_bits");
    bad.tick_bits = 65;
    refuse(&bad, &tables, SLC_ERR_USAGE, "tick_bits");
    bad = good;
    bad.low_kev = (double)NAN;
    refuse(&bad, &tables, SLC_ERR_USAGE, "energies");
    bad.low_kev = bad.high_kev = 5;
    refuse(&bad, &tables, SLC_ERR_USAGE, "energies");
}

static void wrong_tables_are_refused(void **state)
{
    (void)state;
    slc_pet_convert_config config;
    slc_pet_convert_config_default(&config);
    const slc_pet_tables good = {.geometry = {2, 1, 1, 1, 1, 2, 3, 100, 2, 0, NULL}};
    slc_pet_tables bad = good;
    bad.geometry.blocks_y = 0;
    refuse(&config, &bad, SLC_ERR_USAGE, "blocks_y");
    bad = good;
    bad.geometry.channels = 257;
    refuse(&config, &bad, SLC_ERR_USAGE, "257");
    bad = good;
    bad.geometry.blocks_y = 17;
    refuse(&config, &bad, SLC_ERR_USAGE, "17");
    uint16_t position[2 * 4] = {0, 1, 2, SLC_PET_NO_CRYSTAL, 5, 6, 0, 0};
    bad = good;
    bad.position = position;
    refuse(&config, &bad, SLC_ERR_FORMAT, "side 0");
    bad.position_side = 2;
    refuse(&config, &bad, SLC_ERR_FORMAT, "module 1, unit 0, x 1, y 0 is crystal 6");
    float gain[12] = {0};
    gain[11] = -1;
    bad = good;
    bad.gain = gain;
    refuse(&config, &bad, SLC_ERR_FORMAT, "gain of crystal 11");
    gain[11] = (float)NAN;
    refuse(&config, &bad, SLC_ERR_FORMAT, "gain of crystal 11");
    float factor[24] = {0};
    factor[7] = (float)INFINITY;
    bad = good;
    bad.energy = factor;
    bad.energy_bin_kev = 1;
    refuse(&config, &bad, SLC_ERR_FORMAT, "0 bins");
    bad.energy_bins = 2;
    refuse(&config, &bad, SLC_ERR_FORMAT, "energy factor of crystal 3, entry 1");
    /* 0xffff is no crystal, and would be one of this block. */
    bad = good;
    bad.geometry.crystals_y = bad.geometry.crystals_z = 256;
    refuse(&config, &bad, SLC_ERR_FORMAT, "256 x 256");
    bad.geometry.crystals_y = 2;
    bad.geometry.crystals_z = 257;
    refuse(&config, &bad, SLC_ERR_FORMAT, "2 x 257");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_crystal_has_its_own_number),
        cmocka_unit_test(high_energies_take_the_last_factor),
        cmocka_unit_test(no_tick_is_lost),
        cmocka_unit_test(counters_are_followed_across_batches),
        cmocka_unit_test(every_frame_is_counted_once),
        cmocka_unit_test(wrong_configurations_are_refused),
        cmocka_unit_test(wrong_tables_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
