/* SPDX-License-Identifier: Apache-2.0
 *
 * What is told of a window of energies that keeps next to nothing, and the energies that are set beside it.
 */
#include "support/cmocka_all.h"
#include "support/random.h"

#include "report/report_pet_doubts.h"

#include <sluice/report_pet.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void energies_are_summed_up(void **state)
{
    (void)state;
    const float kev[] = {511, NAN, 3, 900.5f, 420, NAN, 7};
    slc_report_pet_energies e;
    assert_int_equal(slc_report_pet_energies_of(kev, 7, &e, NULL), SLC_OK);
    assert_int_equal(e.n, 5);
    assert_true(e.least_kev == 3 && e.median_kev == 420 && e.most_kev == 900.5);
    assert_int_equal(slc_report_pet_energies_of(kev, 0, &e, NULL), SLC_OK);
    assert_int_equal(e.n, 0);
}

/* The same in batches; tables count; frames of no crystal do not. */
static void frames_are_kept_to_ask(void **state)
{
    (void)state;
    enum { N = 200000 };
    const slc_pet_geometry geometry = {3, 1, 1, 1, 1, 2, 2, 50, 2, 0, NULL};
    float gain[12];
    slc_pet_tables tables = {.geometry = geometry};
    slc_pet_frame *frames = calloc(N, sizeof *frames);
    slc_io_pet_seen *whole = calloc(1, sizeof *whole), *parts = calloc(1, sizeof *parts);
    assert_true(frames != NULL && whole != NULL && parts != NULL);
    uint64_t seed = 7;
    for (size_t i = 0; i < N; i++) {
        const uint32_t energy = 1000 + random_below(&seed, 1001);
        frames[i] = (slc_pet_frame){.module = (uint8_t)random_below(&seed, 4),
                                    .energy = {(uint8_t)(energy >> 8), (uint8_t)energy}};
    }
    slc_io_pet_seen_add(whole, frames, N);
    for (size_t at = 0; at < N; at += 77) {
        slc_io_pet_seen_add(parts, frames + at, N - at < 77 ? N - at : 77);
    }
    assert_memory_equal(whole, parts, sizeof *whole);
    assert_int_equal(whole->kept, SLC_IO_PET_SEEN_FRAMES);
    slc_report_pet_energies e;
    for (int i = 0; i < 12; i++) {
        gain[i] = 0.25f;
    }
    for (int round = 0; round < 2; round++) {
        const double unit = round == 0 ? 1 : 0.25;
        tables.gain = round == 0 ? NULL : gain;
        assert_int_equal(slc_report_pet_seen_energies(whole, &tables, &e, NULL), SLC_OK);
        assert_in_range(e.n, SLC_IO_PET_SEEN_FRAMES / 2, SLC_IO_PET_SEEN_FRAMES - 1);
        assert_true(e.least_kev >= 1000 * unit && e.least_kev < 1020 * unit);
        assert_true(fabs(e.median_kev - 1500 * unit) < 100 * unit);
        assert_true(e.most_kev <= 2000 * unit && e.most_kev > 1980 * unit);
    }
    free(frames);
    free(whole);
    free(parts);
}

static void both_numbers_are_told(void **state)
{
    (void)state;
    enum { N = 1000 };
    static float kev[N];
    char text[SLC_REPORT_PET_DOUBT];
    for (int i = 0; i < N; i++) {
        kev[i] = i < N / 2 ? 1500 : i < 9 * N / 10 ? 5012 : 6300;
    }
    assert_false(slc_report_pet_energies_doubt(kev, 0, 430, 650, 0, text)); /* nothing was there */
    assert_false(slc_report_pet_energies_doubt(kev, N, 430, 650, 10, text));
    assert_true(slc_report_pet_energies_doubt(kev, N, 430, 650, 9, text));
    assert_string_equal(text,
                        "9 of 1000 singles are from 430 to below 650 keV; the energies that there are: from "
                        "1500 to 6300 keV, median 5012 keV");
    /* Of frames, whose energies are their units without a table of gains. */
    const slc_pet_tables tables = {.geometry = {3, 1, 1, 1, 1, 2, 2, 50, 2, 0, NULL}};
    const slc_pet_convert_config window = {.low_kev = 430, .high_kev = 650};
    const slc_pet_convert_counts counts = {.singles = 0, .above = 3};
    static slc_io_pet_seen seen;
    slc_pet_frame frames[3];
    for (int i = 0; i < 3; i++) {
        const uint32_t energy = i == 0 ? 1500 : i == 1 ? 5012 : 6300;
        frames[i] = (slc_pet_frame){.energy = {(uint8_t)(energy >> 8), (uint8_t)energy}};
    }
    slc_io_pet_seen_add(&seen, frames, 3);
    assert_false(slc_report_pet_frames_doubt(&seen, &tables, &window, &(slc_pet_convert_counts){0}, text));
    assert_true(slc_report_pet_frames_doubt(&seen, &tables, &window, &counts, text));
    assert_string_equal(text,
                        "0 of 3 singles are from 430 to below 650 keV; the energies that there are: from "
                        "1500 to 6300 keV, median 5012 keV; without a table of gains (--tables) a unit of a "
                        "frame's energy is 1 keV");
}

/* Frames with a peak of a third within 8 % of `peak`, and a continuum below it. */
static void see_peak(slc_io_pet_seen *seen, double peak, int n)
{
    *seen = (slc_io_pet_seen){.frames = 0};
    for (int i = 0; i < n; i++) {
        const double part = (double)(i * 37 % 101) / 101;
        const double energy = i % 3 == 0 ? peak * (0.96 + 0.08 * part) : peak * (0.2 + 0.5 * part);
        const uint32_t units = (uint32_t)energy;
        const slc_pet_frame frame = {.energy = {(uint8_t)(units >> 8), (uint8_t)units}};
        slc_io_pet_seen_add(seen, &frame, 1);
    }
}

static void units_that_are_no_kev(void **state)
{
    (void)state;
    static slc_io_pet_seen seen;
    char text[SLC_REPORT_PET_DOUBT];
    const float gain = 0.1F;
    const slc_pet_tables none = {.position = NULL}, gains = {.gain = &gain};
    for (int peak = 430; peak <= 600; peak += 10) {
        see_peak(&seen, peak, 500);
        assert_false(slc_report_pet_units_doubt(&seen, &none, text));
    }
    see_peak(&seen, 5110, 150); /* too few */
    assert_false(slc_report_pet_units_doubt(&seen, &none, text));
    see_peak(&seen, 5110, 500);
    assert_false(slc_report_pet_units_doubt(&seen, &gains, text));
    assert_true(slc_report_pet_units_doubt(&seen, &none, text));
    assert_non_null(strstr(text, "energies of frames gather at 51"));
    see_peak(&seen, 51, 500);
    assert_true(slc_report_pet_units_doubt(&seen, &none, text));
    see_peak(&seen, 0, 500); /* no energy at all */
    assert_false(slc_report_pet_units_doubt(&seen, &none, text));
    seen = (slc_io_pet_seen){.frames = 0};
    for (int i = 0; i < 1000; i++) { /* gathered nowhere */
        const uint32_t units = 40U * (uint32_t)i + 1;
        const slc_pet_frame frame = {.energy = {(uint8_t)(units >> 8), (uint8_t)units}};
        slc_io_pet_seen_add(&seen, &frame, 1);
    }
    assert_false(slc_report_pet_units_doubt(&seen, &none, text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(energies_are_summed_up),
        cmocka_unit_test(frames_are_kept_to_ask),
        cmocka_unit_test(both_numbers_are_told),
        cmocka_unit_test(units_that_are_no_kev),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
