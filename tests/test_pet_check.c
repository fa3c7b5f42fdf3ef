/* SPDX-License-Identifier: Apache-2.0
 *
 * Cabling errors, made by changing the frames of a generated measurement as a wrong cable would, and found
 * and named again: each one alone, several at once, with a point, a line and a cylinder. What is right is
 * left alone.
 */
#include <sluice/pet_chain.h>
#include <sluice/pet_check.h>

#include "support/cmocka_all.h"
#include "support/pet_sim.h"
#include "support/sanitized.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MODULES = 20, SIDE = 13, BLOCKS = 2 };

static pet_made point, cylinder, line;
static slc_pet_frame *frames; /* a copy that is changed */
static size_t n_frames;

static void make(pet_made *made, slc_sim_pet_source source)
{
    slc_sim_pet_config config;
    slc_sim_pet_config_default(&config);
    config.seed = 24;
    config.source[0] = source;
    config.singles_hz = 4e5;
    config.time_sigma_ps = 100;
    pet_make(made, &config, SANITIZED ? 0.2 : 0.5);
}

static int set_up(void **state)
{
    (void)state;
    make(&point, (slc_sim_pet_source){.x_mm = 20, .y_mm = 10, .z_mm = 5, .activity_bq = 1e6});
    make(&cylinder,
         (slc_sim_pet_source){
             .x_mm = 12, .y_mm = -5, .z_mm = 4, .radius_mm = 6, .length_mm = 8, .activity_bq = 1e6});
    make(&line, (slc_sim_pet_source){
                    .x_mm = 20, .y_mm = 10, .radius_mm = 0.5, .length_mm = 41.6, .activity_bq = 1e6});
    frames = malloc(4 * point.n * sizeof *frames);
    return frames != NULL ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    pet_clear(&point);
    pet_clear(&cylinder);
    pet_clear(&line);
    free(frames);
    return 0;
}

/* ---- errors ------------------------------------------------------------------------------------------ */

static void take(const pet_made *made)
{
    n_frames = made->n;
    assert_true(n_frames <= 4 * point.n);
    memcpy(frames, made->frames, n_frames * sizeof *frames);
}

/* What comes from module m says that it is module to[m]. */
static void relabel(const uint32_t to[MODULES])
{
    for (size_t i = 0; i < n_frames; i++) {
        frames[i].module = (uint8_t)to[frames[i].module];
    }
}

static void swap(uint32_t a, uint32_t b)
{
    uint32_t to[MODULES];
    for (uint32_t m = 0; m < MODULES; m++) {
        to[m] = m == a ? b : m == b ? a : m;
    }
    relabel(to);
}

/* A module that is mirrored says the mirrored place; the quarter turn sends row y as column. */
enum { MIRROR_Y = 1, MIRROR_Z = 2, QUARTER = 4 };
static void turn(uint32_t module, int how)
{
    const uint32_t last = BLOCKS * SIDE - 1;
    for (size_t i = 0; i < n_frames; i++) {
        slc_pet_frame *f = &frames[i];
        if (f->module != module && module < MODULES) {
            continue;
        }
        uint32_t y = (f->head_unit & 15U) / BLOCKS * SIDE + f->y,
                 z = (f->head_unit & 15U) % BLOCKS * SIDE + f->x;
        if ((how & QUARTER) != 0) {
            const uint32_t was = y;
            y = z;
            z = last - was;
        }
        y = (how & MIRROR_Y) != 0 ? last - y : y;
        z = (how & MIRROR_Z) != 0 ? last - z : z;
        f->head_unit = (uint8_t)((f->head_unit & 0xf0) | (y / SIDE * BLOCKS + z / SIDE));
        f->y = (uint8_t)(y % SIDE);
        f->x = (uint8_t)(z % SIDE);
    }
}

static void delay(uint32_t module, int64_t ps)
{
    for (size_t i = 0; i < n_frames; i++) {
        if (frames[i].module == module) {
            uint64_t ticks = pet_ticks(&frames[i]) + (uint64_t)ps;
            for (int b = 7; b >= 0; b--, ticks >>= 8) {
                frames[i].time[b] = (uint8_t)ticks;
            }
        }
    }
}

/* `unit` 16: all of them. One in `keep` frames stays; 0: none. */
static void silence(uint32_t module, uint32_t unit, size_t keep)
{
    size_t n = 0, seen = 0;
    for (size_t i = 0; i < n_frames; i++) {
        const bool of = frames[i].module == module && (unit == 16 || (frames[i].head_unit & 15U) == unit);
        if (!of || (keep > 0 && seen++ % keep == 0)) {
            frames[n++] = frames[i];
        }
    }
    n_frames = n;
}

/* ---- what is found ----------------------------------------------------------------------------------- */

typedef struct checked {
    slc_pet_check *check;
    slc_pet_checked found;
} checked;

static void look(checked *c, const pet_made *made, const double source[3], bool singles)
{
    slc_error error = {.status = SLC_OK};
    slc_pet_config config;
    slc_pet_config_default(&config);
    config.convert.low_kev = 400;
    config.convert.high_kev = 650;
    config.keep_singles = true;
    slc_pet_check_config how;
    slc_pet_check_config_default(&how);
    how.geometry = made->config.geometry;
    how.window_ps = 10000;
    how.has_source = source != NULL;
    if (source != NULL) {
        memcpy(how.source_mm, source, sizeof how.source_mm);
    }
    slc_pet_chain *chain = NULL;
    slc_pet_result result = {.singles = {.head = {.size = 0}}};
    assert_int_equal(slc_pet_chain_open(&config, slc_sim_pet_tables(made->sim), &chain, &error), SLC_OK);
    assert_int_equal(slc_pet_check_open(&how, &c->check, &error), SLC_OK);
    for (size_t at = 0; at <= n_frames; at += 100000) {
        const size_t n = n_frames - at < 100000 ? n_frames - at : 100000;
        assert_int_equal(slc_pet_chain_run(chain, frames + at, NULL, n, at + n == n_frames, &result, &error),
                         SLC_OK);
        if (singles) {
            slc_pet_check_add_singles(c->check, &result.singles);
        }
        assert_int_equal(slc_pet_check_add(c->check, &result.pairs, &error), SLC_OK);
    }
    slc_pet_result_clear(&result);
    slc_pet_chain_close(chain);
    assert_int_equal(slc_pet_check_find(c->check, &c->found, &error), SLC_OK);
}

/* The errors that are found are these, and no others. */
static void want(const pet_made *made, const double source[3], size_t n, const char *const *texts)
{
    checked c;
    look(&c, made, source, true);
    for (size_t i = 0; i < c.found.n_findings; i++) {
        print_message("  %s: %s (%.0f)\n", slc_pet_finding_name(c.found.finding[i].kind),
                      c.found.finding[i].text, c.found.finding[i].odds);
    }
    assert_int_equal(c.found.n_errors, n);
    for (size_t i = 0; i < n; i++) {
        if (strncmp(c.found.finding[i].text, texts[i], strlen(texts[i])) != 0) {
            fail_msg("found '%s', wanted '%s'", c.found.finding[i].text, texts[i]);
        }
    }
    slc_pet_check_close(c.check);
}
#define WANT(made, source, ...)                                                                              \
    want(made, source, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                          \
         (const char *const[]){__VA_ARGS__})

static const double at_point[3] = {20, 10, 5};

/* ---- tests ------------------------------------------------------------------------------------------- */

static void test_nothing_is_wrong(void **state)
{
    (void)state;
    take(&point);
    want(&point, at_point, 0, NULL);
    want(&point, NULL, 0, NULL);
    take(&cylinder);
    want(&cylinder, (double[3]){12, -5, 4}, 0, NULL);
    take(&line);
    want(&line, (double[3]){20, 10, 0}, 0, NULL);
}

static void test_swapped(void **state)
{
    (void)state;
    take(&point);
    swap(3, 7);
    WANT(&point, at_point, "modules 3 and 7 are swapped");
    take(&cylinder);
    swap(11, 12);
    WANT(&cylinder, NULL, "modules 11 and 12 are swapped");
    take(&line);
    swap(0, 10);
    WANT(&line, NULL, "modules 0 and 10 are swapped");
}

static void test_moved_in_a_circle(void **state)
{
    (void)state;
    uint32_t to[MODULES];
    for (uint32_t m = 0; m < MODULES; m++) {
        to[m] = m == 2 ? 5 : m == 5 ? 9 : m == 9 ? 2 : m;
    }
    take(&point);
    relabel(to);
    WANT(&point, at_point, "module 2 is in the place of module 9", "module 5 is in the place of module 2",
         "module 9 is in the place of module 5");
}

static void test_turned(void **state)
{
    (void)state;
    take(&point);
    turn(4, MIRROR_Y);
    WANT(&point, at_point, "module 4 is mirrored around the ring");
    take(&point);
    turn(4, MIRROR_Z);
    WANT(&point, at_point, "module 4 is mirrored along the axis");
    take(&point);
    turn(4, MIRROR_Y | MIRROR_Z);
    WANT(&point, at_point, "module 4 is turned by 180 degrees");
    take(&point);
    turn(4, QUARTER);
    turn(17, QUARTER | MIRROR_Y);
    WANT(&point, at_point, "module 4 is turned by 90 degrees (its z runs against y)",
         "module 17 is mirrored about its other diagonal");
    take(&cylinder);
    turn(6, MIRROR_Y);
    WANT(&cylinder, NULL, "module 6 is mirrored around the ring");
}

static void test_all_turned(void **state)
{
    (void)state;
    take(&point);
    turn(MODULES, MIRROR_Y);
    WANT(&point, NULL,
         "every module is mirrored around the ring, or modules are numbered in the wrong direction");
    WANT(&point, at_point, "every module is mirrored around the ring");
    take(&point);
    turn(MODULES, QUARTER);
    WANT(&point, at_point, "every module is turned by 90 degrees");
}

static void test_numbering(void **state)
{
    (void)state;
    uint32_t other_way[MODULES], later[MODULES];
    for (uint32_t m = 0; m < MODULES; m++) {
        other_way[m] = (MODULES - m) % MODULES;
        later[m] = (m + MODULES - 3) % MODULES;
    }
    take(&point);
    relabel(other_way);
    WANT(&point, at_point, "modules are numbered in the wrong direction around the ring");
    take(&point);
    relabel(later);
    WANT(&point, at_point, "the first module is +54 degrees on: module 0 is in the place of module 3");
    take(&point);
    relabel(other_way);
    relabel(later);
    WANT(&point, at_point, "modules are numbered in the wrong direction around the ring",
         "the first module is -54 degrees on: module 0 is in the place of module 17");
    take(&point);
    turn(MODULES, MIRROR_Z);
    WANT(&point, at_point, "the ends of the scanner are exchanged");
    take(&point);
    relabel(other_way);
    turn(MODULES, MIRROR_Y);
    WANT(&point, at_point, "modules, and the crystals in them, run in the wrong direction");
    take(&point);
    WANT(&point, ((double[3]){-3, 31, 5}),
         "lines meet at (20.0, 10.0, 5.0) mm, and the source is said to be at (-3, 31, 5) mm");
}

static void test_late(void **state)
{
    (void)state;
    checked c;
    take(&point);
    delay(8, 1500);
    delay(13, -400);
    look(&c, &point, at_point, true);
    assert_int_equal(c.found.n_errors, 2);
    assert_int_equal(c.found.finding[0].kind, SLC_PET_FOUND_LATE);
    assert_int_equal(c.found.finding[0].module, 8);
    assert_true(fabs(c.found.finding[0].value - 1500) < 30);
    assert_int_equal(c.found.finding[1].module, 13);
    assert_true(fabs(c.found.finding[1].value + 400) < 30);
    assert_true(strstr(c.found.finding[1].text, "module 13 is early by ") != NULL);
    slc_pet_check_close(c.check);
    /* By more than the window: it has no pairs but random ones. */
    take(&point);
    delay(8, 200000);
    WANT(&point, at_point, "module 8 has singles, but ");
}

static void test_silent(void **state)
{
    (void)state;
    take(&point);
    silence(5, 16, 0);
    silence(9, 2, 0);
    silence(14, 16, 20);
    WANT(&point, at_point, "module 5 is silent: it sends nothing", "module 9: its unit 2 sends nothing",
         "module 14 is weak: ");
    checked c;
    look(&c, &point, at_point, false);
    assert_string_equal(c.found.finding[0].text, "module 5 is silent: no pair is of it");
    slc_pet_check_close(c.check);
}

static void test_several_at_once(void **state)
{
    (void)state;
    take(&point);
    turn(1, MIRROR_Y);
    swap(1, 2);
    swap(16, 6);
    turn(10, MIRROR_Y | MIRROR_Z);
    delay(3, 800);
    silence(19, 16, 0);
    WANT(&point, at_point, "module 19 is silent", "modules 1 and 2 are swapped",
         "module 2 is mirrored around the ring", "modules 6 and 16 are swapped",
         "module 10 is turned by 180 degrees", "module 3 is late by ");
}

/* Matrices and histograms are what a count of the pairs gives. */
static void test_numbers(void **state)
{
    (void)state;
    const slc_pet_geometry *g = &point.config.geometry;
    slc_pet_check_config config;
    slc_pet_check_config_default(&config);
    config.bins = 10;
    config.range_ps = 1000;
    slc_error error = {.status = SLC_OK};
    slc_pet_check *check = NULL;
    uint32_t crystal1[] = {0, 30, 30, 0, 5, 13520, 0}, crystal2[] = {30, 0, 90, 1, 200, 3, 30};
    int64_t dt[] = {150, 150, -1001, 0, 999, 0, 0}, time[7] = {0};
    float energy[7] = {0};
    uint8_t delayed[] = {0, 0, 0, 0, 1, 0, 1};
    const slc_pet_coincidences pairs = {.head = {.size = 7},
                                        .time_ps = time,
                                        .dt_ps = dt,
                                        .crystal1 = crystal1,
                                        .crystal2 = crystal2,
                                        .energy1_kev = energy,
                                        .energy2_kev = energy,
                                        .delayed = delayed};
    config.geometry = *g;
    assert_int_equal(slc_pet_check_open(&config, &check, &error), SLC_OK);
    assert_int_equal(slc_pet_check_add(check, &pairs, &error), SLC_OK);
    slc_pet_checked found;
    assert_int_equal(slc_pet_check_find(check, &found, &error), SLC_OK);
    assert_int_equal(found.modules, 20);
    assert_int_equal(found.pairs, 4);
    assert_int_equal(found.delayeds, 2);
    assert_int_equal(found.outside, 1);
    assert_int_equal(found.same_module, 1);
    assert_int_equal(found.prompt[0], 1);
    assert_int_equal(found.prompt[1], 2);
    assert_int_equal(found.prompt[20], 2);
    assert_int_equal(found.prompt[20 + 3], 1);
    assert_int_equal(found.delayed[7], 1);
    assert_int_equal(found.delayed[1], 1);
    /* 0 to 1: +150 and -150. */
    assert_int_equal(found.times[1 * 10 + 5], 1);
    assert_int_equal(found.times[1 * 10 + 4], 1);
    assert_int_equal(found.times[20 * 10 + 5], 1);
    uint64_t all = 0;
    for (size_t i = 0; i < 20U * 20 * 10; i++) {
        all += found.times[i];
    }
    assert_int_equal(all, 4);
    assert_true(isnan(found.offset_ps[0]));
    assert_int_equal(found.n_errors, 17); /* modules without a pair */
    slc_pet_check_close(check);
    config.bins = 0;
    assert_int_equal(slc_pet_check_open(&config, &check, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "slc_pet_check_config: bins is 0, not from 1 to 4096");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_is_wrong),
        cmocka_unit_test(test_swapped),
        cmocka_unit_test(test_moved_in_a_circle),
        cmocka_unit_test(test_turned),
        cmocka_unit_test(test_all_turned),
        cmocka_unit_test(test_numbering),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_silent),
        cmocka_unit_test(test_several_at_once),
        cmocka_unit_test(test_numbers),
    };
    cmocka_set_test_filter(getenv("ONLY"));
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
