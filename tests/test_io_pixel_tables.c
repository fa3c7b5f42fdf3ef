/* SPDX-License-Identifier: Apache-2.0
 * What is known of single pixels: energies against the calibration's own formula, solved by halving; lists,
 * matrices and arrays that say the same; masks, with frames; hot pixels against sums over all neighbours;
 * what is refused; files that end at any byte.
 */
#include "base/improbable.h"
#include "base/splitmix.h"
#include "io/pixel/io_pixel_source.h"
#include "io/pixel/io_pixel_tables.h"
#include "pixel/pixel_hot.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* 0 to below 1. */
static double unit(uint64_t *state)
{
    return (double)(slc_random_u64(state) >> 11) * 0x1p-53;
}

static slc_io_pixels_tables *new_tables(void)
{
    slc_io_pixels_tables *tables = calloc(1, sizeof *tables);
    assert_non_null(tables);
    return tables;
}

/* ---- energies ----------------------------------------------------------------------------------- */

/* ToT grows with E above t: halve until the interval is a double. */
static double energy_by_halves(const slc_pixel_calibration *k, double tot)
{
    double low = k->t, high = 1e9;
    for (int i = 0; i < 200; i++) {
        const double mid = (low + high) / 2;
        const double here = mid > k->t ? k->a * mid + k->b - k->c / (mid - k->t) : -INFINITY;
        if (here < tot) {
            low = mid;
        } else {
            high = mid;
        }
    }
    return high;
}

static void test_energy(void **state)
{
    (void)state;
    uint64_t seed = 5;
    uint32_t compared = 0;
    for (int i = 0; i < 20000; i++) {
        const slc_pixel_calibration k = {0.2 + 5 * unit(&seed), 100 * unit(&seed) - 20, 500 * unit(&seed),
                                         8 * unit(&seed) - 2};
        const uint32_t tot = (uint32_t)(1023 * unit(&seed));
        const double kev = energy_by_halves(&k, tot);
        uint32_t ev = 7;
        if (slc_pixel_energy(&k, tot, &ev)) {
            assert_true(fabs(1e-3 * ev - kev) <= 0.5e-3 + 1e-9 * kev);
            compared++;
        } else {
            assert_true(kev < 0 && ev == 7);
        }
    }
    assert_true(compared > 19000);
    const slc_pixel_calibration none = {0, 1, 1, 1}, wide = {1e-9, 0, 0, 0}, line = {2, 10, 0, 0};
    uint32_t ev = 0;
    assert_false(slc_pixel_energy(&none, 10, &ev) || slc_pixel_energy(&wide, 1000, &ev));
    assert_true(slc_pixel_energy(&line, 110, &ev) && ev == 50000);
    assert_true(slc_pixel_energy(&line, 0, &ev) && ev == 0); /* between -5 keV and t: t */
}

/* ---- calibrations ------------------------------------------------------------------------------- */

enum { W = 5, H = 3 };

static double known(int which, int x, int y)
{
    return which == 0   ? x == 2 && y == 1 ? 0 : 1 + x
           : which == 1 ? 10 * y + 0.5
           : which == 2 ? 100 + x
                        : 0.25 * y;
}

static void check_known(const slc_io_pixels_tables *tables, const char *what)
{
    const slc_pixel_calibration *tile = tables->calibration[0];
    assert_true(tables->n_calibrated == W * H - 1 && tile != NULL && tables->n_calibration_tiles == 1);
    for (int y = 0; y < 256; y++) {
        for (int x = 0; x < 256; x++) {
            const slc_pixel_calibration *k = &tile[y * 256 + x];
            const bool there = x < W && y < H && !(x == 2 && y == 1);
            if ((k->a > 0) != there || (there && (k->a != known(0, x, y) || k->b != known(1, x, y) ||
                                                  k->c != known(2, x, y) || k->t != known(3, x, y)))) {
                fail_msg("%s: %d %d", what, x, y);
            }
        }
    }
}

static void test_forms(void **state)
{
    (void)state;
    char list[2048] = "# x y a b c t\n", text[4][1024] = {"", "", "", ""}, npy[128 + 8 * 4 * W * H] = {0};
    const char *const names[] = {"a", "b", "c", "t"};
    size_t used = strlen(list), at[4] = {0};
    slc_error error = {SLC_OK, ""};
    char head[119];
    (void)snprintf(head, sizeof head, "{'descr': '<f8', 'fortran_order': False, 'shape': (4, %d, %d), }", H,
                   W);
    memcpy(npy, "\x93NUMPY\x01\x00\x76\x00", 10);
    memset(npy + 10, ' ', 118);
    memcpy(npy + 10, head, strlen(head));
    npy[127] = '\n';
    for (int y = 0; y < H; y++) {
        for (int x = 0; x < W; x++) {
            used += (size_t)snprintf(list + used, sizeof list - used, "%d %d %.17g %.17g %.17g %.17g\n", x, y,
                                     known(0, x, y), known(1, x, y), known(2, x, y), known(3, x, y));
            for (int k = 0; k < 4; k++) {
                const double value = known(k, x, y);
                memcpy(npy + 128 + 8 * ((k * H + y) * W + x), &value, 8);
                at[k] += (size_t)snprintf(text[k] + at[k], sizeof text[k] - at[k], "%.17g%s", value,
                                          x + 1 < W ? k == 1 ? ", " : "\t"
                                          : k == 2  ? " \r\n"
                                                    : "\n");
            }
        }
    }
    slc_io_pixels_tables *tables = new_tables();
    assert_int_equal(slc_io_pixels_calibration_parse(list, used, "list", tables, &error), SLC_OK);
    check_known(tables, "list");
    slc_io_pixels_tables_close(tables);
    tables = new_tables();
    assert_int_equal(slc_io_pixels_calibration_parse(npy, sizeof npy, "npy", tables, &error), SLC_OK);
    check_known(tables, "npy");
    slc_io_pixels_tables_close(tables);
    tables = new_tables();
    const char *const four[] = {text[0], text[1], text[2], text[3]};
    assert_int_equal(slc_io_pixels_calibration_parse_four(four, at, names, tables, &error), SLC_OK);
    check_known(tables, "four");
    slc_io_pixels_tables_close(tables);
    for (size_t size = 0; size < sizeof npy; size++) {
        tables = new_tables();
        assert_int_equal(slc_io_pixels_calibration_parse(npy, size, "npy", tables, &error), SLC_ERR_FORMAT);
        slc_io_pixels_tables_close(tables);
    }
    for (size_t size = 0; size < used; size++) { /* whole lines are a shorter list */
        tables = new_tables();
        const bool good = slc_io_pixels_calibration_parse(list, size, "list", tables, &error) == SLC_OK;
        assert_int_equal(good, size > 16 && list[size - 1] == '\n');
        slc_io_pixels_tables_close(tables);
    }
    for (size_t size = 0; size < at[3]; size++) {
        const size_t cut[] = {at[0], at[1], at[2], size};
        tables = new_tables();
        assert_int_equal(slc_io_pixels_calibration_parse_four(four, cut, names, tables, &error),
                         SLC_ERR_FORMAT);
        slc_io_pixels_tables_close(tables);
    }
}

static void refused(const char *text, bool mask, const char *message)
{
    slc_error error = {SLC_OK, ""};
    slc_io_pixels_tables *tables = new_tables();
    const slc_status status = mask ? slc_io_pixels_mask_parse(text, strlen(text), "file", tables, &error)
                                   : slc_io_pixels_calibration_parse(text, strlen(text), "file", tables,
                                                                     &error);
    assert_int_equal(status, SLC_ERR_FORMAT);
    assert_string_equal(error.text, message);
    slc_io_pixels_tables_close(tables);
}

static void test_refused(void **state)
{
    (void)state;
    refused("1 2 3 4 5 6\n1 2 3 4 5\n", false,
            "file: line 2: a calibrated pixel is x and y (0 to 65535), a, b, c and t");
    refused("1 65536 3 4 5 6\n", false,
            "file: line 1: a calibrated pixel is x and y (0 to 65535), a, b, c and t");
    refused("1 2 x 4 5 6\n", false, "file: line 1: no number where one is needed");
    refused("1 2 3,5 4 5 6\n", false,
            "file: line 1: numbers have a point, and between them blanks, or one comma, everywhere");
    refused("3 2 1 4 5 6\n1 2 nan 4 5 6\n", false,
            "file: line 2: a, b, c and t are to be numbers: a pixel without them is left out");
    refused("1 2 3 4 inf 6\n", false,
            "file: line 1: a, b, c and t are to be numbers: a pixel without them is left out");
    refused("nan 2 3 4 5 6\n", false,
            "file: line 1: a calibrated pixel is x and y (0 to 65535), a, b, c and t");
    refused("1 2 3 4 5 6\n# twice\n300 2 3 4 5 6\n1 2 3 4 5 6\n", false,
            "file: line 4: the pixel at x 1, y 2 has a line before it");
    refused("1 2 0 4 5 6\n1 2 3 4 5 6\n", false, "file: line 2: the pixel at x 1, y 2 has a line before it");
    refused("1 2 3 4 5 6", false, "file: line 1: the last line has no end: the file is cut");
    refused("1 2 0 4 5 6\n3 4 1 1 -1 0\n", false, "file: no pixel has a calibration with a > 0 and c >= 0");
    refused("", true, "file: line 1: the file is empty: a mask has a line for each pixel");
    refused("# none\n1\n", true,
            "file: line 2: a masked pixel is two whole numbers from 0 to 65535, x and y");
    refused("1 2 3\n", true, "file: line 1: a masked pixel is two whole numbers from 0 to 65535, x and y");
    refused("1 65536\n", true, "file: line 1: a masked pixel is two whole numbers from 0 to 65535, x and y");
    refused("1 -2\n", true, "file: line 1: a masked pixel is two whole numbers from 0 to 65535, x and y");
    refused("1 2\n1 25", true, "file: line 2: the last line has no end: the file is cut");
}

/* ---- masks -------------------------------------------------------------------------------------- */

/* Frames of a list keep their places in it, also those of which nothing is left. */
static void test_mask(void **state)
{
    (void)state;
    static const char list[] =
        "frame,x,y,charge\n1,1,2,10\n1,3,4,20\n2,1,2,30\n4,300,5,40\n4,1,2,50\n4,6,7,60\n";
    static const char mask[] = "1 2 # hot\n\n300,5\r\n1 2\n";
    static const uint16_t wanted_x[] = {3, 6};
    slc_error error = {SLC_OK, ""};
    slc_io_pixels_tables *tables = new_tables();
    assert_int_equal(slc_io_pixels_mask_parse(mask, strlen(mask), "mask", tables, &error), SLC_OK);
    assert_int_equal(tables->n_masked, 2);
    const slc_io_pixels_options options = {.tables = tables};
    slc_io_pixels *file = NULL;
    assert_int_equal(slc_io_pixels_open_memory(list, strlen(list), "list", &options, &file, &error), SLC_OK);
    slc_column columns[SLC_PIXEL_COLUMNS];
    const slc_schema schema = slc_pixels_schema(slc_io_pixels_about(file).with, columns);
    slc_pixels pixels = {.x = NULL};
    assert_int_equal(slc_columns_reserve(&schema, &pixels, 100, 100), SLC_OK);
    slc_columns_reset(&pixels);
    while (slc_io_pixels_read(file, &pixels, 100, &error) == SLC_OK) {
    }
    assert_true(pixels.head.size == 2 && pixels.head.n_events == 3);
    const uint32_t offsets[] = {0, 1, 1, 2};
    assert_memory_equal(pixels.head.event_offset, offsets, sizeof offsets);
    assert_memory_equal(pixels.x, wanted_x, sizeof wanted_x);
    assert_true(pixels.charge[0] == 20 && pixels.charge[1] == 60);
    const slc_io_pixels_counts counts = slc_io_pixels_count(file);
    assert_true(counts.masked == 4 && counts.pixels == 2 && counts.uncalibrated == 0);
    slc_columns_clear(&schema, &pixels);
    slc_io_pixels_close(file);
    slc_io_pixels_tables_close(tables);
    for (size_t size = 0; size < strlen(mask); size++) {
        tables = new_tables();
        const bool good = slc_io_pixels_mask_parse(mask, size, "mask", tables, &error) == SLC_OK;
        assert_int_equal(good, size > 0 && mask[size - 1] == '\n');
        slc_io_pixels_tables_close(tables);
    }
}

/* ---- times -------------------------------------------------------------------------------------- */

static slc_io_pixels_tables *timewalk_of(const char *text)
{
    slc_error error = {SLC_OK, ""};
    slc_io_pixels_tables *tables = new_tables();
    if (slc_io_pixels_timewalk_parse(text, strlen(text), "walk", tables, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return tables;
}

static int64_t corrected(const slc_io_pixels_tables *tables, uint32_t x, uint32_t tot, uint64_t *none)
{
    int64_t time = 1000000;
    slc_io_pixels_correct_time(tables, x, tot, &time, none);
    return time - 1000000;
}

static void test_times(void **state)
{
    (void)state;
    uint64_t none = 0;
    slc_error error = {SLC_OK, ""};
    slc_io_pixels_tables *tables = timewalk_of("# ToT, ns\n10 40\n\n20, 20 # half\n5000\t-5\r\n");
    slc_io_pixels_timewalk_begin(tables, 1e-9);
    static const int64_t wanted[][2] = {{0, -40},   {10, -40}, {11, -38}, {15, -30},  {20, -20},
                                        {2510, -8}, {4095, 0}, {5000, 5}, {900000, 5}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_int_equal(corrected(tables, 0, (uint32_t)wanted[i][0], &none), wanted[i][1]);
    }
    assert_int_equal(none, 0);
    slc_io_pixels_tables_close(tables);
    tables = new_tables();
    assert_int_equal(slc_io_pixels_timewalk_read("c=100,d=3.5", tables, &error), SLC_OK);
    slc_io_pixels_timewalk_begin(tables, 25e-9 / 16);
    for (uint32_t tot = 0; tot < 6000; tot++) {
        const double ticks = floor(100 / (tot - 3.5) * 16 / 25 + 0.5);
        assert_int_equal(corrected(tables, 0, tot, &none), tot < 4 ? 0 : -(int64_t)ticks);
    }
    assert_int_equal(none, 4);
    slc_io_pixels_tables_close(tables);
    tables = new_tables();
    tables->has_phases = true;
    for (uint32_t x = 0; x < 1024; x++) { /* as tpx3awkward has it */
        const uint32_t phase = x % 256 / 2 % 16;
        assert_int_equal(corrected(tables, x, 5, &none), phase == 0 ? 16 : phase);
    }
    slc_io_pixels_tables_close(tables);
}

static void test_times_refused(void **state)
{
    (void)state;
    static const char *const of[][2] = {
        {"1 2\n3 4 5\n", "walk: line 2: a timewalk is a ToT and a delay in ns"},
        {"1 nan\n", "walk: line 1: a timewalk is a ToT and a delay in ns"},
        {"-1 2\n", "walk: line 1: a timewalk is a ToT and a delay in ns"},
        {"1,,2\n", "walk: line 1: a timewalk is a ToT and a delay in ns"},
        {"1 2,5\n", "walk: line 1: a timewalk is a ToT and a delay in ns"},
        {"1 2\n1 3\n", "walk: line 2: ToT is to rise from line to line"},
        {"1 2e6\n", "walk: line 1: a delay is up to 1e6 ns"},
        {"1 2\n3 4", "walk: line 2: the last line has no end: the file is cut"},
        {"# none\n", "walk: no line has a ToT and a delay"},
        {"", "walk: no line has a ToT and a delay"}};
    for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
        slc_error error = {SLC_OK, ""};
        slc_io_pixels_tables *tables = new_tables();
        assert_int_equal(slc_io_pixels_timewalk_parse(of[i][0], strlen(of[i][0]), "walk", tables, &error),
                         SLC_ERR_FORMAT);
        assert_string_equal(error.text, of[i][1]);
        slc_io_pixels_tables_close(tables);
    }
    static const char good[] = "1 30\n10, 12.5\n500\t0.1\n";
    for (size_t size = 0; size < strlen(good); size++) {
        slc_error error = {SLC_OK, ""};
        slc_io_pixels_tables *tables = new_tables();
        const bool read = slc_io_pixels_timewalk_parse(good, size, "walk", tables, &error) == SLC_OK;
        assert_int_equal(read, size > 0 && good[size - 1] == '\n');
        slc_io_pixels_tables_close(tables);
    }
}

/* ---- hot pixels --------------------------------------------------------------------------------- */

static uint32_t hits[SLC_PIXEL_HOT_ALL];
static uint8_t hot[SLC_PIXEL_HOT_ALL], slow[SLC_PIXEL_HOT_ALL];
static float expected[SLC_PIXEL_HOT_ALL];

/* Whether something was hit in the row or before and behind it, and so in the column. */
static bool row_is_there[2][256];

static void find_rows(void)
{
    for (int k = 0; k < 2; k++) {
        int first = 256, last = -1;
        for (int i = 0; i < SLC_PIXEL_HOT_ALL; i++) {
            const int at = k == 0 ? i % 256 : i / 256;
            first = hits[i] > 0 && at < first ? at : first;
            last = hits[i] > 0 && at > last ? at : last;
        }
        for (int at = 0; at < 256; at++) {
            row_is_there[k][at] = at >= first && at <= last;
        }
    }
}

/* All neighbours of each pixel, one after the other. */
static double mean_of_others(int at)
{
    uint64_t n = 0;
    uint32_t pixels = 0;
    for (int y = at / 256 - 8; y <= at / 256 + 8; y++) {
        for (int x = at % 256 - 8; x <= at % 256 + 8; x++) {
            if (x >= 0 && y >= 0 && x < 256 && y < 256 && row_is_there[0][x] && row_is_there[1][y] &&
                y * 256 + x != at && slow[y * 256 + x] == 0) {
                n += hits[y * 256 + x];
                pixels++;
            }
        }
    }
    return n > 0 ? (double)n / pixels : 1.0 / 288;
}

static void find_slowly(void)
{
    static uint8_t found[SLC_PIXEL_HOT_ALL];
    find_rows();
    for (bool more = true; more;) {
        more = false;
        memset(found, 0, sizeof found);
        for (int i = 0; i < SLC_PIXEL_HOT_ALL; i++) {
            const double mean = slow[i] == 0 && hits[i] > 1 ? mean_of_others(i) : 0;
            found[i] = mean > 0 && hits[i] > 3 * mean && slc_is_improbable(hits[i], mean, 1e-10);
            more = more || found[i] != 0;
        }
        for (int i = 0; i < SLC_PIXEL_HOT_ALL; i++) {
            slow[i] = found[i] != 0 ? 2 : slow[i];
        }
    }
}

static void test_hot(void **state)
{
    (void)state;
    uint64_t seed = 77;
    for (int way = 0; way < 4;
         way++) { /* an even light, a spot, next to nothing, and a chip that is half there */
        const int x_end = way == 3 ? 192 : 256;
        uint32_t placed = 0, seen = 0;
        for (int i = 0; i < SLC_PIXEL_HOT_ALL; i++) {
            const double r = hypot(i % 256 - 100, i / 256.0 - 100);
            const double rate = way == 1 ? 400 * exp(-r * r / 5000) : way == 2 ? 0.01 : 40;
            hits[i] = i % 256 < x_end ? (uint32_t)(rate * (0.5 + unit(&seed)) + unit(&seed)) : 0;
            slow[i] = hot[i] = 0;
        }
        for (int k = 0; k < 60; k++) { /* some beside each other, one of them masked */
            const int i = k < 6 ? 20000 + k % 3 + 256 * (k / 3) : (int)(65535 * unit(&seed));
            hits[i] = i % 256 < x_end ? 3000 + (uint32_t)k : 0;
        }
        slow[20000] = hot[20000] = 1;
        find_slowly();
        assert_int_equal(slc_pixel_hot_find(hits, hot, expected), SLC_OK);
        for (int i = 0; i < SLC_PIXEL_HOT_ALL; i++) {
            placed += hits[i] >= 3000;
            seen += hot[i] == 2;
            if (hot[i] != slow[i]) {
                fail_msg("way %d, x %d, y %d with %u hits: %d, not %d (%.3g in the mean)", way, i % 256,
                         i / 256, hits[i], hot[i], slow[i], mean_of_others(i));
            }
            assert_true(hot[i] != 2 ||
                        fabs((double)expected[i] - mean_of_others(i)) <= 1e-6 * (double)expected[i]);
        }
        assert_int_equal(seen, placed - 1); /* these, and no other */
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_energy),        cmocka_unit_test(test_forms), cmocka_unit_test(test_refused),
        cmocka_unit_test(test_mask),          cmocka_unit_test(test_hot),   cmocka_unit_test(test_times),
        cmocka_unit_test(test_times_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
