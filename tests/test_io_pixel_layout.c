/* SPDX-License-Identifier: Apache-2.0
 * Places of chips: every pixel of the quad where its published table has it, turns and mirrors against a
 * picture that is turned step by step, what is refused, and lists that end at any byte.
 */
#include "io/pixel/io_pixel_layout.h"
#include "support/cmocka_all.h"

#include <stdio.h>
#include <string.h>

enum { SIDE = SLC_PIXEL_CHIP_SIDE, ALL = 4 * SIDE * SIDE };

static uint16_t xs[ALL], ys[ALL];
static uint32_t charges[ALL];
static int64_t times[ALL];

static slc_pixels every_pixel(uint32_t chips)
{
    size_t n = 0;
    for (uint32_t chip = 0; chip < chips; chip++) {
        for (uint32_t y = 0; y < SIDE; y++) {
            for (uint32_t x = 0; x < SIDE; x++, n++) {
                xs[n] = (uint16_t)(SIDE * chip + x);
                ys[n] = (uint16_t)y;
                charges[n] = (uint32_t)n;
                times[n] = -(int64_t)n;
            }
        }
    }
    return (slc_pixels){
        .head = {.size = n, .capacity = ALL}, .x = xs, .y = ys, .charge = charges, .time = times};
}

static slc_io_pixels_layout layout_of(const char *text)
{
    slc_io_pixels_layout layout;
    slc_error error = {SLC_OK, ""};
    if (slc_io_pixels_layout_parse(text, strlen(text), "list", &layout, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    return layout;
}

/* The table that ASI's tpx3-to-root and NSLS-II's tpx3awkward have, g more columns and rows in the cross. */
static void test_quad(void **state)
{
    (void)state;
    for (uint32_t g = 0; g <= 4; g += 2) {
        slc_io_pixels_layout layout;
        const char *words[] = {"quad", "", "quad+2", "", "quad+4"};
        assert_int_equal(slc_io_pixels_layout_read(words[g], &layout, NULL), SLC_OK);
        assert_true(layout.width == 512 + g && layout.height == 512 + g);
        slc_pixels pixels = every_pixel(4);
        const slc_io_pixels_options options = {.layout = &layout};
        assert_int_equal(slc_io_pixels_layout_run(&options, &pixels, 0), 0);
        for (uint32_t n = 0; n < ALL; n++) {
            const uint32_t x = n % SIDE, y = n / SIDE % SIDE, chip = n / (SIDE * SIDE);
            const uint32_t wanted_x[] = {x + 256 + g, 511 - x + g, 255 - x, x};
            const uint32_t wanted_y[] = {y, 511 - y + g, 511 - y + g, y};
            assert_true(xs[n] == wanted_x[chip] && ys[n] == wanted_y[chip] && charges[n] == n);
        }
    }
}

/* Each of the eight ways against quarter turns done one after the other: (x, y) goes to (255 - y, x). */
static void test_turns(void **state)
{
    (void)state;
    for (uint32_t way = 0; way < 8; way++) {
        char text[64];
        (void)snprintf(text, sizeof text, "0, 1000, 30, %u%s # one\n", way % 4 * 90,
                       way >= 4 ? " mirror" : "");
        const slc_io_pixels_layout layout = layout_of(text);
        slc_pixels pixels = every_pixel(1);
        const slc_io_pixels_options options = {.layout = &layout};
        assert_int_equal(slc_io_pixels_layout_run(&options, &pixels, 0), 0);
        for (uint32_t n = 0; n < SIDE * SIDE; n++) {
            uint32_t x = way >= 4 ? 255 - n % SIDE : n % SIDE, y = n / SIDE;
            for (uint32_t turn = 0; turn < way % 4; turn++) {
                const uint32_t old = x;
                x = 255 - y;
                y = old;
            }
            assert_true(xs[n] == 1000 + x && ys[n] == 30 + y);
        }
    }
}

static void test_chips(void **state)
{
    (void)state;
    const uint8_t chips[SLC_IO_PIXELS_CHIPS / 8] = {0x06};
    const slc_io_pixels_layout layout = layout_of("1 0 0\n3 0 256\n");
    slc_pixels pixels = every_pixel(4);
    const slc_io_pixels_options both = {.layout = &layout, .chips = chips}, some = {.chips = chips};
    assert_int_equal(slc_io_pixels_layout_run(&both, &pixels, 5), ALL - 5 - SIDE * SIDE);
    assert_int_equal(pixels.head.size, 5 + SIDE * SIDE);
    assert_true(xs[4] == 4 && xs[5] == 0 && charges[5] == SIDE * SIDE && times[5] == -SIDE * SIDE);
    pixels = every_pixel(4);
    assert_int_equal(slc_io_pixels_layout_run(&some, &pixels, 0), 2 * SIDE * SIDE);
    assert_true(xs[0] == 256 && xs[SIDE * SIDE] == 512);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "there is no chip in it"},
        {"# none\n\n", "there is no chip in it"},
        {"0 0\n", "line 1: a chip is: number"},
        {"0 0 0\n1 0 256 45\n", "line 2: a chip is"},
        {"256 0 0\n", "line 1: a chip is"},
        {"0 65281 0\n", "line 1: a chip is"},
        {"0 0 0 360\n", "line 1: a chip is"},
        {"mirror\n", "line 1: a chip is"},
        {"0 0 0 0 0\n", "line 1: a chip is"},
        {"0 0 0 mirror 90\n", "line 1: a chip is"},
        {"0 -1 0\n", "line 1: a chip is"},
        {"0 99999999999999999999 0\n", "line 1: a chip is"},
        {"0 0 0\n\n0 300 0\n", "line 3: chip 0 is there twice"},
        {"0 0 0\n7 255 255\n", "line 2: chip 7 lies over chip 0"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        slc_io_pixels_layout layout;
        slc_error error = {SLC_OK, ""};
        assert_int_equal(
            slc_io_pixels_layout_parse(cases[i].text, strlen(cases[i].text), "list", &layout, &error),
            SLC_ERR_FORMAT);
        if (strstr(error.text, cases[i].says) == NULL || strncmp(error.text, "list: ", 6) != 0) {
            fail_msg("%s: %s", cases[i].text, error.text);
        }
    }
    slc_io_pixels_layout layout;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_io_pixels_layout_read("quad+x", &layout, &error), SLC_ERR_IO); /* no such file */
    assert_int_equal(slc_io_pixels_layout_read("quad+256", &layout, &error), SLC_ERR_IO);
}

/* Every beginning of a list is a list or is refused with its line. */
static void test_cut(void **state)
{
    (void)state;
    const char text[] = "# four\n0 258 0\n1 258 258 180\n2, 0, 258, 180, mirror\n3 0 0\n";
    for (size_t n = 0; n < sizeof text; n++) {
        char *copy = test_malloc(n + 1);
        memcpy(copy, text, n);
        slc_io_pixels_layout layout;
        slc_error error = {SLC_OK, ""};
        const slc_status status = slc_io_pixels_layout_parse(copy, n, "cut", &layout, &error);
        assert_true(status == SLC_OK || (status == SLC_ERR_FORMAT && strncmp(error.text, "cut: ", 5) == 0));
        test_free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_quad), cmocka_unit_test(test_turns),
                                       cmocka_unit_test(test_chips), cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_cut)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
