/* SPDX-License-Identifier: Apache-2.0
 *
 * Opening files of pixels: what the caller may say, and pipes from a readout that goes on. Those open on
 * their first bytes, and what has come is handed out.
 */
#include <stdio.h>
#include <unistd.h>

#include "support/pixel_files.h"

static void assert_refused(const char *text, slc_io_pixels_options options, const char *error)
{
    pixel_file read = read_pixels_with(text, strlen(text), "a", &options, 9);
    assert_int_equal(read.open_status, SLC_ERR_USAGE);
    assert_string_equal(read.error.text, error);
}

static void test_options(void **state)
{
    (void)state;
    const char *const list = "x,y,toa [ns]\n1,2,3\n", *const t3pa = "Matrix Index\tToA\tToT\n1\t2\t3\n";
    const char *const both = "a: a sensor of 256 x 0 pixels: both must be 1 to 65536";
    assert_refused(list, (slc_io_pixels_options){.width = 256}, both);
    assert_refused(list, (slc_io_pixels_options){.width = 65537, .height = 1},
                   "a: a sensor of 65537 x 1 pixels: both must be 1 to 65536");
    assert_refused(list, (slc_io_pixels_options){.tick_seconds = -1},
                   "a: a tick must be a time of more than 0 s");
    assert_refused(list, (slc_io_pixels_options){.tick_seconds = 1e308 * 10},
                   "a: a tick must be a time of more than 0 s");
    assert_refused(t3pa, (slc_io_pixels_options){.tick_seconds = 1e-9},
                   "a: the tick of a t3pa file is known, 25 ns / 16: no other can be given");
    slc_io_pixels_options options = {.width = 300, .height = 200, .tick_seconds = 5e-9};
    pixel_file read = read_pixels_with(list, strlen(list), "a", &options, 9);
    assert_int_equal(read.info.width, 300);
    assert_int_equal(read.info.height, 200);
    assert_true(read.info.tick_seconds == 5e-9);
    assert_int_equal(read.pixels.head.size, 1);
    free_pixels(&read);
    const char *const no_time = "x,y\n1,2\n";
    read = read_pixels_with(no_time, strlen(no_time), "a", &options, 9);
    assert_true(read.info.tick_seconds == 0);
    free_pixels(&read);
    read = read_pixels_with(list, strlen(list), "a", NULL, 9);
    assert_int_equal(read.info.width, 0);
    assert_true(read.info.tick_seconds == 1e-9);
    free_pixels(&read);
}

/* Opens a pipe into which so many bytes were written, and whose other end stays open. */
static slc_io_pixels *open_pipe(const void *bytes, size_t size, int ends[2])
{
    char name[64];
    slc_io_pixels *file = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, size), size);
    (void)snprintf(name, sizeof name, "/dev/fd/%d", ends[0]);
    assert_int_equal(slc_io_pixels_open(name, NULL, &file, &error), SLC_OK);
    assert_int_equal(close(ends[0]), 0);
    return file;
}

static void assert_live(const void *bytes, size_t size, const char *format, size_t pixels_at_hand)
{
    int ends[2];
    slc_column columns[SLC_PIXEL_COLUMNS];
    slc_error error = {SLC_OK, ""};
    slc_pixels pixels = {0};
    (void)alarm(60); /* a reader that waits for more would do so for ever */
    slc_io_pixels *file = open_pipe(bytes, size, ends);
    assert_string_equal(slc_io_pixels_about(file).format, format);
    const slc_schema schema = slc_pixels_schema(slc_io_pixels_about(file).with, columns);
    assert_int_equal(slc_columns_reserve(&schema, &pixels, 100, 1), SLC_OK);
    assert_int_equal(slc_io_pixels_read(file, &pixels, 100, &error), SLC_OK);
    assert_int_equal(pixels.head.size, pixels_at_hand);
    assert_int_equal(write(ends[1], bytes, size), size);
    assert_int_equal(close(ends[1]), 0);
    while (slc_io_pixels_read(file, &pixels, 100, &error) == SLC_OK) {
    }
    assert_true(pixels.head.size >= 2 * pixels_at_hand);
    (void)alarm(0);
    slc_columns_clear(&schema, &pixels);
    slc_io_pixels_close(file);
}

static void test_live_pipes(void **state)
{
    (void)state;
    static const uint8_t tpx3[] = {'T', 'P', 'X', '3',  0, 0, 16, 0, 1, 0, 0, 0,
                                   0,   0,   0,   0xb0, 2, 0, 0,  0, 0, 0, 0, 0xb0};
    static const char csv[] = "x,y\n1,2\n3,4\n5,6\n", t3pa[] = "Matrix Index\tToA\tToT\n1\t2\t3\n2\t2\t3\n";
    assert_live(tpx3, sizeof tpx3, "tpx3", 2);
    assert_live(csv, sizeof csv - 1, "csv", 3);
    assert_live(t3pa, sizeof t3pa - 1, "t3pa", 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_live_pipes),
    };
    return cmocka_run_group_tests_name("io_pixel_open", tests, NULL, NULL);
}
