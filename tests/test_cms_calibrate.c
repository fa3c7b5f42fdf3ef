/* SPDX-License-Identifier: Apache-2.0
 *
 * Electrons from counts: values that were computed by hand, what becomes of digis that have no gains, and
 * random digis against the formulas of the header in double precision, one digi at a time.
 */
#include "cms/cms_stages.h"
#include "support/cmocka_all.h"
#include "support/cms_events.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

enum { MODULES = 200, DEAD = 255, NOISY = 254 };

/* Gains of 1 to 3.55 by steps of 0.01, pedestals of 10 to 61 by steps of 0.2. */
static slc_cms_gains make_gains(void)
{
    slc_cms_gains gains = {0};
    assert_int_equal(slc_cms_gains_reserve(&gains, MODULES), SLC_OK);
    gains.gain_low = 1.0f;
    gains.gain_step = 0.01f;
    gains.pedestal_low = 10.0f;
    gains.pedestal_step = 0.2f;
    gains.dead = DEAD;
    gains.noisy = NOISY;
    return gains;
}

static slc_cms_gain *gain_at(const slc_cms_gains *gains, uint32_t module, uint32_t column, uint32_t block)
{
    return &gains->gain[module * SLC_CMS_GAINS + column * 2 + block];
}

/* A digi alone in an event; returns its electrons, and that it is still a digi. */
static uint16_t calibrate_one(const slc_cms_calibrate_config *config, const slc_cms_gains *gains,
                              uint32_t module, uint32_t x, uint32_t y, uint32_t adc)
{
    slc_cms_digis digis = {0};
    slc_cms_calibrate_counts counts;
    slc_faults faults = {0};
    cms_digis_put(&digis, module, x, y, adc);
    cms_digis_end(&digis);
    assert_int_equal(slc_cms_calibrate_run(config, gains, 0, &digis, &counts, &faults), SLC_OK);
    const uint16_t electrons = digis.adc[0];
    assert_int_equal(digis.module[0], module);
    assert_int_equal(counts.dead + counts.noisy + slc_faults_total(&faults), 0);
    cms_digis_clear(&digis);
    return electrons;
}

static void test_values_by_hand(void **state)
{
    (void)state;
    slc_cms_gains gains = make_gains();
    slc_cms_calibrate_config config;
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE1);
    /* (100 - 10) · 1 · 47 - 60 = 4170, and in layer 1 90 · 50 - 670 = 3830. */
    assert_int_equal(calibrate_one(&config, &gains, 96, 0, 0, 100), 4170);
    assert_int_equal(calibrate_one(&config, &gains, 95, 0, 0, 100), 3830);
    /* Gain 1 + 100 · 0.01 = 2, pedestal 10 + 50 · 0.2 = 20, in the upper block of column 415 alone. */
    *gain_at(&gains, 100, 415, 1) = (slc_cms_gain){.gain = 100, .pedestal = 50};
    assert_int_equal(calibrate_one(&config, &gains, 100, 80, 415, 100), 7460);
    assert_int_equal(calibrate_one(&config, &gains, 100, 79, 415, 100), 4170);
    assert_int_equal(calibrate_one(&config, &gains, 100, 159, 414, 100), 4170);
    /* At least 100, which is 13 counts of 47 less 60; never more than 16 bits; fractions are cut off. */
    assert_int_equal(calibrate_one(&config, &gains, 100, 0, 0, 0), 100);
    assert_int_equal(calibrate_one(&config, &gains, 100, 0, 0, 13), 100);
    assert_int_equal(calibrate_one(&config, &gains, 100, 0, 0, 14), 128);
    assert_int_equal(calibrate_one(&config, &gains, 100, 0, 0, 1023), 47551);
    assert_int_equal(calibrate_one(&config, &gains, 100, 80, 415, 1023), 65535);
    config.factor = 1.3f;
    config.offset_e = 0;
    config.least_e = 0;
    assert_int_equal(calibrate_one(&config, &gains, 100, 0, 0, 13), 3); /* 3.9 */
    assert_int_equal(calibrate_one(&config, &gains, 100, 0, 0, 3), 0);  /* negative */
    config.least_e = 70000;
    assert_int_equal(calibrate_one(&config, &gains, 100, 0, 0, 13), 65535);
    slc_cms_gains_clear(&gains);
    assert_null(gains.gain);
}

static void test_phase2_by_hand(void **state)
{
    (void)state;
    slc_cms_calibrate_config config;
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE2);
    static const uint32_t values[][2] = {{0, 300},  {1, 900},    {7, 4500},   {8, 6000},
                                         {9, 8400}, {15, 22800}, {32, 63600}, {33, 65535}};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        assert_int_equal(calibrate_one(&config, NULL, 3999, 2000, 2000, values[i][0]), values[i][1]);
    }
    config.slope = 0;
    assert_int_equal(calibrate_one(&config, NULL, 0, 0, 0, 15), 9300);
    config.slope = 30; /* far beyond 16 bits */
    assert_int_equal(calibrate_one(&config, NULL, 0, 0, 0, 8), 65535);
    assert_int_equal(calibrate_one(&config, NULL, 0, 0, 0, 7), 4500);
}

static void test_what_is_no_digi_stays_and_what_has_no_gain_is_none(void **state)
{
    (void)state;
    slc_cms_gains gains = make_gains();
    slc_cms_calibrate_config config;
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE1);
    gain_at(&gains, 7, 3, 0)->pedestal = DEAD;
    gain_at(&gains, 7, 3, 1)->pedestal = NOISY;
    slc_cms_digis digis = {0};
    cms_digis_put(&digis, 7, 1, 2, 100); /* event 0 */
    cms_digis_end(&digis);
    static const struct {
        uint32_t module, x, y, module_after, adc_after;
    } cases[] = {
        {SLC_CMS_NO_MODULE, 1, 2, SLC_CMS_NO_MODULE, 100},
        {7, 79, 3, SLC_CMS_NO_MODULE, 0},      /* dead */
        {7, 80, 3, SLC_CMS_NO_MODULE, 0},      /* noisy */
        {7, 0, 3, SLC_CMS_NO_MODULE, 0},       /* dead */
        {MODULES, 0, 3, SLC_CMS_NO_MODULE, 0}, /* beyond the gains */
        {9999, 1000, 1000, SLC_CMS_NO_MODULE, 0},
        {65535, 0, 0, SLC_CMS_NO_MODULE, 0},
        {7, 160, 2, SLC_CMS_NO_MODULE, 0}, /* outside: a fault */
        {8, 2, 416, SLC_CMS_NO_MODULE, 0}, /* and another one */
        {7, 159, 415, 7, 3830},
    };
    enum { CASES = sizeof cases / sizeof *cases, COPIES = 20 }; /* many blocks of digis */
    for (uint32_t i = 0; i < COPIES * CASES; i++) {
        cms_digis_put(&digis, cases[i % CASES].module, cases[i % CASES].x, cases[i % CASES].y, 100);
    }
    cms_digis_end(&digis);
    slc_cms_calibrate_counts counts = {.dead = 77, .noisy = 77};
    slc_faults faults = {0};
    assert_int_equal(slc_cms_calibrate_run(&config, &gains, 1000, &digis, &counts, &faults), SLC_OK);
    for (uint32_t i = 0; i < COPIES * CASES; i++) {
        assert_int_equal(digis.module[1 + i], cases[i % CASES].module_after);
        assert_int_equal(digis.adc[1 + i], cases[i % CASES].adc_after);
        assert_int_equal(digis.x[1 + i], cases[i % CASES].x);
    }
    assert_int_equal(counts.dead, 2 * COPIES);
    assert_int_equal(counts.noisy, COPIES);
    assert_int_equal(slc_faults_total(&faults), 2 * COPIES);
    assert_int_equal(slc_faults_of(&faults, SLC_FAULT_CMS_PIXEL), 2 * COPIES);
    assert_int_equal(faults.kept[0].event, 1001);
    assert_int_equal(faults.kept[0].offset, 7);
    assert_int_equal(faults.kept[0].module, 7);
    assert_int_equal(faults.kept[1].module, 8);
    assert_int_equal(faults.kept[2].offset, CASES + 7);
    /* In phase 2 there are no gains, and digis that are none stay as they are. */
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE2);
    digis.adc[1] = 5;
    digis.adc[2] = 5;
    digis.module[2] = 9999;
    assert_int_equal(slc_cms_calibrate_run(&config, NULL, 0, &digis, &counts, &faults), SLC_OK);
    assert_int_equal(digis.module[1], SLC_CMS_NO_MODULE);
    assert_int_equal(digis.adc[1], 5);
    assert_int_equal(digis.adc[2], 3300);
    assert_int_equal(counts.dead + counts.noisy, 0);
    cms_digis_clear(&digis);
    slc_cms_gains_clear(&gains);
}

/* In double precision; far enough from whole numbers, float gives the same electrons. */
static double electrons_of(const slc_cms_gains *gains, slc_cms_gain bytes, bool layer1, uint32_t adc)
{
    const double gain = (double)gains->gain_low + bytes.gain * (double)gains->gain_step;
    const double pedestal = (double)gains->pedestal_low + bytes.pedestal * (double)gains->pedestal_step;
    const double electrons = (adc - pedestal) * gain * (layer1 ? 50 : 47) - (layer1 ? 670 : 60);
    return electrons < 100 ? 100 : electrons > 65535 ? 65535 : electrons;
}

static void test_random_digis(void **state)
{
    (void)state;
    enum { DIGIS = 20000 };
    uint64_t seed = 2026;
    slc_cms_gains gains = make_gains();
    for (size_t i = 0; i < (size_t)MODULES * SLC_CMS_GAINS; i++) {
        gains.gain[i] = (slc_cms_gain){.gain = (uint8_t)random_below(&seed, 256),
                                       .pedestal = (uint8_t)random_below(&seed, 256)};
    }
    slc_cms_digis digis = {0}, before = {0};
    for (uint32_t i = 0; i < DIGIS; i++) {
        cms_digis_put(&digis, random_below(&seed, MODULES + (random_below(&seed, 100) == 0)),
                      random_below(&seed, SLC_CMS_ROWS), random_below(&seed, SLC_CMS_COLUMNS),
                      random_below(&seed, 1024));
        if (random_below(&seed, 300) == 0) {
            cms_digis_end(&digis);
        }
    }
    cms_digis_end(&digis);
    cms_digis_copy(&before, &digis);
    slc_cms_calibrate_config config;
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE1);
    slc_cms_calibrate_counts counts;
    slc_faults faults = {0};
    assert_int_equal(slc_cms_calibrate_run(&config, &gains, 0, &digis, &counts, &faults), SLC_OK);
    uint32_t dead = 0, noisy = 0, compared = 0;
    for (uint32_t i = 0; i < DIGIS; i++) {
        const uint32_t module = before.module[i];
        const slc_cms_gain bytes = module < MODULES ? *gain_at(&gains, module, before.y[i], before.x[i] >= 80)
                                                    : (slc_cms_gain){0};
        const bool special = module < MODULES && bytes.pedestal >= NOISY;
        dead += special && bytes.pedestal == DEAD;
        noisy += special && bytes.pedestal == NOISY;
        assert_int_equal(digis.module[i], special || module >= MODULES ? SLC_CMS_NO_MODULE : module);
        if (special || module >= MODULES) {
            assert_int_equal(digis.adc[i], 0);
            continue;
        }
        const double expected = electrons_of(&gains, bytes, module < SLC_CMS_LAYER1_END, before.adc[i]);
        const double fraction = expected - floor(expected);
        if (fraction > 0.05 && fraction < 0.95) {
            assert_int_equal(digis.adc[i], (uint16_t)expected);
            compared++;
        } else {
            assert_true(fabs(digis.adc[i] - expected) <= 1.05);
        }
    }
    assert_true(compared > DIGIS / 3);
    assert_true(dead > 0 && noisy > 0);
    assert_int_equal(counts.dead, dead);
    assert_int_equal(counts.noisy, noisy);
    assert_int_equal(slc_faults_total(&faults), 0);
    cms_digis_clear(&digis);
    cms_digis_clear(&before);
    slc_cms_gains_clear(&gains);
}

static void test_what_cannot_be_done_is_refused(void **state)
{
    (void)state;
    slc_cms_gains gains = make_gains(), none = {0};
    slc_cms_digis digis = {0};
    cms_digis_put(&digis, 1, 1, 1, 50);
    cms_digis_end(&digis);
    slc_cms_calibrate_config config;
    slc_cms_calibrate_counts counts;
    slc_faults faults = {0};
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE1);
    assert_int_equal(slc_cms_calibrate_run(&config, NULL, 0, &digis, &counts, &faults), SLC_ERR_USAGE);
    assert_int_equal(slc_cms_calibrate_run(&config, &none, 0, &digis, &counts, &faults), SLC_ERR_USAGE);
    gains.noisy = gains.dead;
    assert_int_equal(slc_cms_calibrate_run(&config, &gains, 0, &digis, &counts, &faults), SLC_ERR_USAGE);
    gains.noisy = NOISY;
    config.phase = (slc_cms_phase)3;
    assert_int_equal(slc_cms_calibrate_run(&config, &gains, 0, &digis, &counts, &faults), SLC_ERR_USAGE);
    config.phase = SLC_CMS_PHASE2;
    config.slope = 31;
    assert_int_equal(slc_cms_calibrate_run(&config, &gains, 0, &digis, &counts, &faults), SLC_ERR_USAGE);
    assert_int_equal(digis.adc[0], 50);
    assert_int_equal(digis.module[0], 1);
    cms_digis_clear(&digis);
    slc_cms_gains_clear(&gains);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values_by_hand),
        cmocka_unit_test(test_phase2_by_hand),
        cmocka_unit_test(test_what_is_no_digi_stays_and_what_has_no_gain_is_none),
        cmocka_unit_test(test_random_digis),
        cmocka_unit_test(test_what_cannot_be_done_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
