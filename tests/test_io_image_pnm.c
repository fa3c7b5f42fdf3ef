/* SPDX-License-Identifier: Apache-2.0
 *
 * PNM written by hand: all six kinds, comments, maxima, several images, and the exact words for what is
 * wrong. Also what all image inputs share: unknown formats, limits, folders, pipes.
 */
#include <stdio.h>

#include "support/image_files.h"
#include "support/sanitized.h"

#include <sys/wait.h>
#include <unistd.h>

static slc_image only_page(pages *read)
{
    assert_string_equal(read->error.text, "");
    assert_int_equal(read->status, SLC_END);
    assert_int_equal(read->n, 1);
    return read->page[0];
}

static void assert_pixels(const char *file, size_t size, slc_image_type type, size_t width, size_t height,
                          const double *expected)
{
    pages read = read_memory(file, size, "a.pnm", NULL);
    const slc_image image = only_page(&read);
    assert_string_equal(read.format, "pnm");
    assert_int_equal(image.type, type);
    assert_int_equal(image.width, width);
    assert_int_equal(image.height, height);
    for (size_t i = 0; i < width * height; i++) {
        assert_true(pixel_at(&image, i % width, i / width) == expected[i]);
    }
    free_pages(&read);
}

#define FILE_OF(text) (text), sizeof(text) - 1

static void test_plain(void **state)
{
    (void)state;
    assert_pixels(FILE_OF("P1\n3 2\n1 0 1\n0 1 0\n"), SLC_IMAGE_BITS, 3, 2, (double[]){1, 0, 1, 0, 1, 0});
    assert_pixels(FILE_OF("P1 9 1 101010101"), SLC_IMAGE_BITS, 9, 1, (double[]){1, 0, 1, 0, 1, 0, 1, 0, 1});
    assert_pixels(FILE_OF("P2\n2 2\n255\n0 1\n254 255\n"), SLC_IMAGE_U8, 2, 2, (double[]){0, 1, 254, 255});
    assert_pixels(FILE_OF("P2 2 1 65535 256 65535"), SLC_IMAGE_U16, 2, 1, (double[]){256, 65535});
    assert_pixels(FILE_OF("P3 2 1 255 255 0 0  1 2 3"), SLC_IMAGE_U8, 2, 1, (double[]){76, 2});
    assert_pixels(FILE_OF("P3 1 1 1000 1000 500 0\n\n"), SLC_IMAGE_U16, 1, 1, (double[]){593});
    /* Samples are not scaled, whatever the maximum. */
    assert_pixels(FILE_OF("P2 2 1 3 0 3"), SLC_IMAGE_U8, 2, 1, (double[]){0, 3});
    assert_pixels(FILE_OF("P2 0002 001 0003 000000000000000000000000000001 3"), SLC_IMAGE_U8, 2, 1,
                  (double[]){1, 3});
}

static void test_raw(void **state)
{
    (void)state;
    assert_pixels(FILE_OF("P4\n10 2\n\xa0\x7f\x01\x80"), SLC_IMAGE_BITS, 10, 2,
                  (double[]){1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0});
    assert_pixels(FILE_OF("P5 2 2 255\n\0\x01\xfe\xff"), SLC_IMAGE_U8, 2, 2, (double[]){0, 1, 254, 255});
    assert_pixels(FILE_OF("P5\t2\r1\v300 \x01\x2c\0\x07"), SLC_IMAGE_U16, 2, 1, (double[]){300, 7});
    assert_pixels(FILE_OF("P6 2 1 255 \xff\0\0\0\xff\0"), SLC_IMAGE_U8, 2, 1, (double[]){76, 150});
    assert_pixels(FILE_OF("P6 1 1 65535 \xff\xff\0\0\xff\xff"), SLC_IMAGE_U16, 1, 1, (double[]){27066});
    /* A raster may look like white space or a comment. */
    assert_pixels(FILE_OF("P5 3 1 255\n\n# "), SLC_IMAGE_U8, 3, 1, (double[]){'\n', '#', ' '});
}

static void test_bits_behind_a_row_are_none(void **state)
{
    (void)state;
    slc_io_images *images = NULL;
    slc_image image;
    assert_int_equal(slc_io_images_open_memory(FILE_OF("P4 3 1 \xff"), "a", NULL, &images, NULL), SLC_OK);
    assert_int_equal(slc_io_images_next(images, &image, NULL), SLC_OK);
    assert_int_equal(*(const uint8_t *)image.pixels, 7);
    slc_io_images_close(images);
}

static void test_comments(void **state)
{
    (void)state;
    assert_pixels(FILE_OF("P5# one\n# two\n2# three\n #\r1 # four 255\n255# five\n\x0a\x0b"), SLC_IMAGE_U8, 2,
                  1, (double[]){10, 11});
    assert_pixels(FILE_OF("P5 2 1 255\n#\n"), SLC_IMAGE_U8, 2, 1, (double[]){'#', '\n'});
    assert_pixels(FILE_OF("P2#\n2 1 9 # a\n1 # 7 7 7\n 2 # b"), SLC_IMAGE_U8, 2, 1, (double[]){1, 2});
    assert_pixels(FILE_OF("P1 2 1 1#\n0"), SLC_IMAGE_BITS, 2, 1, (double[]){1, 0});
}

static void test_several_images(void **state)
{
    (void)state;
    static const char file[] = "P5 1 1 255 aP1 2 1 10\nP6 1 1 255 \x01\x01\x01\nP4 1 1 \x80\n";
    pages read = read_memory(FILE_OF(file), "a", NULL);
    assert_string_equal(read.error.text, "");
    assert_int_equal(read.n, 4);
    assert_true(pixel_at(&read.page[0], 0, 0) == 'a');
    assert_true(pixel_at(&read.page[1], 1, 0) == 0);
    assert_true(pixel_at(&read.page[2], 0, 0) == 1);
    assert_true(pixel_at(&read.page[3], 0, 0) == 1);
    free_pages(&read);
    assert_refused(FILE_OF("P5 1 1 255 aX"), "a.pgm", SLC_ERR_FORMAT,
                   "a.pgm: page 2: byte 12: neither the end of the file nor another image (P1 to P6)");
    assert_refused(FILE_OF("P5 1 1 255 aP5 1"), "a.pgm", SLC_ERR_FORMAT,
                   "a.pgm: page 2: byte 16: the file ends where the height should be");
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    static const struct {
        const char *file, *text;
    } cases[] = {
        {"P5 x", "a: byte 3: the width should be a number, it begins with 0x78"},
        {"P5 -3 2 255 ", "a: byte 3: the width should be a number, it begins with 0x2d"},
        {"P5 3 2x 255 ", "a: byte 6: 0x78 inside the number that is the height"},
        {"P5 0 2 255 ", "a: byte 3: the width is 0"},
        {"P5 2 00 255 ", "a: byte 5: the height is 0"},
        {"P5 4294967295 2 255 ", "a: byte 3: the width is larger than 4294967294"},
        {"P2 2 999999999999999999999999999999 255 ", "a: byte 5: the height is larger than 4294967294"},
        {"P5 2 18446744073709551618 255 ", "a: byte 5: the height is larger than 4294967294"},
        {"P5 2 2 0 ", "a: byte 7: the maximum is 0"},
        {"P5 2 2 65536 ", "a: byte 7: the maximum is larger than 65535"},
        {"P5 2 2 255", "a: byte 10: the file ends where the pixels should be"},
        {"P5 2 2 255 abc", "a: byte 14: the file ends, and of 4 pixels or groups of pixels 1 are missing"},
        {"P5 2 1 100 ae", "a: byte 12: a sample is 101, above the header's maximum of 100"},
        {"P6 1 1 100 aea", "a: byte 11: a sample is 101, above the header's maximum of 100"},
        {"P2 2 1 100 1 101", "a: byte 13: a sample is larger than 100"},
        {"P2 2 1 100 1 -1", "a: byte 13: a sample should be a number, it begins with 0x2d"},
        {"P2 2 2 100 1 2 3", "a: byte 16: the file ends where a sample should be"},
        {"P1 2 1 12", "a: byte 8: a pixel should be 0 or 1, it is 0x32"},
        {"P1 2 1 1", "a: byte 8: the file ends where a pixel should be"},
        {"P8 2 2", "a: byte 0: no image that can be read (PNM, PNG, JPEG, BMP, TIFF, NPY): it begins with 50 "
                   "38 20 32 20 32"},
        {"P55 2", "a: byte 0: no image that can be read (PNM, PNG, JPEG, BMP, TIFF, NPY): it begins with 50 "
                  "35 35 20 32"},
        {"", "a: byte 0: the input is empty"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_refused(cases[i].file, strlen(cases[i].file), "a", SLC_ERR_FORMAT, cases[i].text);
    }
}

static void test_strangers_get_advice(void **state)
{
    (void)state;
    assert_refused(FILE_OF("GIF89a"), "a.gif", SLC_ERR_UNSUPPORTED,
                   "a.gif: byte 0: a GIF file: convert it to PNG first");
    assert_refused(FILE_OF("PK\x03\x04 zip"), "a.npz", SLC_ERR_UNSUPPORTED,
                   "a.npz: byte 0: a zip archive (NPZ is one): unpack it first");
    assert_refused(FILE_OF("P7\nWIDTH 3"), "a.pam", SLC_ERR_UNSUPPORTED,
                   "a.pam: byte 0: a PAM file (P7): convert it to PGM first");
}

static void test_limit_on_memory(void **state)
{
    (void)state;
    const slc_io_image_config config = {.size = sizeof(slc_io_image_config), .max_bytes = 100};
    char file[200] = "P5 10 10 255 ";
    pages read = read_memory(file, strlen(file) + 100, "a", &config);
    assert_int_equal(only_page(&read).width, 10);
    free_pages(&read);
    read = read_memory(FILE_OF("P5 101 1 255 "), "a", &config);
    assert_int_equal(read.status, SLC_ERR_UNSUPPORTED);
    assert_string_equal(read.error.text, "a: 101 x 1 pixels of 8 bits need more than the limit of 100 bytes");
    /* By default 4 GiB; products beyond 64 bits, too. */
    assert_refused(FILE_OF("P5 65536 65537 255 "), "a", SLC_ERR_UNSUPPORTED,
                   "a: 65536 x 65537 pixels of 8 bits need more than the limit of 4294967296 bytes");
    assert_refused(
        FILE_OF("P5 4294967294 4294967294 65535 "), "a", SLC_ERR_UNSUPPORTED,
        "a: 4294967294 x 4294967294 pixels of 16 bits need more than the limit of 4294967296 bytes");
}

/* A header that claims 4 GiB over a few bytes: the error comes, and the memory does not. */
static void test_claims_allocate_nothing(void **state)
{
    (void)state;
    slc_io_images *images = NULL;
    slc_image image;
    slc_error error;
    static const char *const files[] = {"P5 65536 65536 255 abc", "P4 4294967294 8 abc",
                                        "P1 4294967294 8 101", "P6 4294967294 1 255 abc",
                                        "P2 65536 65536 255 1 2 3"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        assert_int_equal(write(ends[1], files[i], strlen(files[i])), strlen(files[i]));
        (void)close(ends[1]);
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            /* 64 MiB of address space more than now would not do for what is claimed. */
            char command[128];
            (void)dup2(ends[0], STDIN_FILENO);
            if (slc_io_images_open("-", NULL, &images, &error) != SLC_OK ||
                slc_io_images_next(images, &image, &error) != SLC_ERR_FORMAT) {
                _exit(1);
            }
            (void)snprintf(command, sizeof command, "awk '/VmPeak/ {exit $2 > 1000000}' /proc/%ld/status",
                           (long)getpid());
            _exit(!SANITIZED && system(command) != 0); /* a sanitizer's own shadow is terabytes */
        }
        (void)close(ends[0]);
        int status = 1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_int_equal(status, 0);
    }
}

static void test_paths(void **state)
{
    (void)state;
    slc_io_images *images = NULL;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_io_images_open("/nonexistent/a.pgm", NULL, &images, &error), SLC_ERR_IO);
    assert_string_equal(error.text, "/nonexistent/a.pgm: No such file or directory");
    assert_null(images);
    assert_int_equal(slc_io_images_open("/tmp", NULL, &images, &error), SLC_ERR_IO);
    assert_string_equal(error.text, "/tmp: is a directory, not a file");
    slc_io_images_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_raw),
        cmocka_unit_test(test_bits_behind_a_row_are_none),
        cmocka_unit_test(test_comments),
        cmocka_unit_test(test_several_images),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_strangers_get_advice),
        cmocka_unit_test(test_limit_on_memory),
        cmocka_unit_test(test_claims_allocate_nothing),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
