/* SPDX-License-Identifier: Apache-2.0
 *
 * What is written reads the same: every type in every format, one page and several, rows with gaps and from
 * the bottom up; what a format cannot hold is refused by a text that says what it can.
 */
#include <stdio.h>

#include "support/image_files.h"
#include "support/temporary_folder.h"

#include <unistd.h>

static const char *const endings[] = {".pgm", ".pbm", ".png", ".tif", ".tiff", ".npy"};
enum { N_ENDINGS = sizeof endings / sizeof *endings };

/* By the public header. */
static bool can_hold(const char *ending, slc_image_type type)
{
    if (strcmp(ending, ".pbm") == 0) {
        return type == SLC_IMAGE_BITS;
    }
    if (strcmp(ending, ".pgm") == 0) {
        return type == SLC_IMAGE_U8 || type == SLC_IMAGE_U16;
    }
    return strcmp(ending, ".png") != 0 || (type != SLC_IMAGE_U32 && type != SLC_IMAGE_F32);
}

static void named(char *to, size_t size, const char *ending)
{
    (void)snprintf(to, size, "%s%s", path, ending);
}

/* NPY has no bits: they come back as bytes. */
static void assert_read_back(const slc_image *image, const slc_image *back, const char *ending)
{
    slc_image expected = *back;
    if (strcmp(ending, ".npy") == 0 && image->type == SLC_IMAGE_BITS) {
        assert_int_equal(back->type, SLC_IMAGE_U8);
    } else {
        expected.type = image->type;
        assert_same_image(image, back);
    }
    for (size_t y = 0; y < image->height; y++) {
        for (size_t x = 0; x < image->width; x++) {
            assert_true(pixel_at(image, x, y) == pixel_at(back, x, y));
        }
    }
    assert_int_equal(image->width, expected.width);
    assert_int_equal(image->height, expected.height);
}

static void round_trip(slc_image_type type, const char *ending, size_t width, size_t height, bool bottom_up)
{
    char name[160];
    slc_error error = {SLC_OK, ""};
    slc_image image = random_image(type, width, height, width % 3, bottom_up, 1000 * width + height);
    named(name, sizeof name, ending);
    const slc_status status = slc_io_image_write(name, &image, &error);
    if (can_hold(ending, type)) {
        assert_string_equal(error.text, "");
        assert_int_equal(status, SLC_OK);
        pages read = read_path(name);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.status, SLC_END);
        assert_int_equal(read.n, 1);
        assert_read_back(&image, &read.page[0], ending);
        free_pages(&read);
        assert_int_equal(unlink(name), 0);
    } else {
        assert_int_equal(status, SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "cannot be written"));
    }
    assert_int_equal(count_files(), 0);
    free_image(&image);
}

static void test_every_type_in_every_format(void **state)
{
    (void)state;
    static const size_t sizes[][2] = {{1, 1},  {7, 5},   {8, 3},   {9, 1},
                                      {1, 70}, {65, 64}, {300, 7}, {1500, 900}};
    for (int type = 0; type < SLC_IMAGE_TYPES; type++) {
        for (size_t e = 0; e < N_ENDINGS; e++) {
            for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
                round_trip((slc_image_type)type, endings[e], sizes[s][0], sizes[s][1], s % 2 == 1);
            }
        }
    }
}

static void several_pages(const char *ending, slc_image_type type, bool same_size)
{
    char name[160];
    slc_io_writer *writer = NULL;
    slc_image image[3];
    named(name, sizeof name, ending);
    assert_int_equal(slc_io_image_writer_open(name, false, &writer, NULL), SLC_OK);
    for (size_t i = 0; i < 3; i++) {
        image[i] = random_image(type, same_size ? 11 : 11 + i, same_size ? 6 : 6 - i, i, i == 1, i + 1);
        assert_int_equal(slc_io_image_writer_add(writer, &image[i], NULL), SLC_OK);
    }
    assert_int_not_equal(access(name, F_OK), 0);
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    pages read = read_path(name);
    assert_int_equal(read.status, SLC_END);
    assert_int_equal(read.n, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_read_back(&image[i], &read.page[i], ending);
        free_image(&image[i]);
    }
    free_pages(&read);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(count_files(), 0);
}

static void test_several_pages(void **state)
{
    (void)state;
    for (int type = 0; type < SLC_IMAGE_TYPES; type++) {
        several_pages(".tif", (slc_image_type)type, false);
        several_pages(".npy", (slc_image_type)type, true);
    }
    several_pages(".pgm", SLC_IMAGE_U8, false);
    several_pages(".pgm", SLC_IMAGE_U16, false);
    several_pages(".pbm", SLC_IMAGE_BITS, false);
}

/* What cannot be added leaves no file, and the writer says why. */
static void refused_page(const char *ending, slc_image_type first, slc_image_type second, size_t width,
                         const char *text)
{
    char name[160];
    slc_io_writer *writer = NULL;
    slc_error error = {SLC_OK, ""};
    slc_image a = random_image(first, width == 1 ? 1 : 4, 4, 0, false, 1);
    slc_image b = random_image(second, width, 4, 0, false, 2);
    named(name, sizeof name, ending);
    assert_int_equal(slc_io_image_writer_open(name, false, &writer, NULL), SLC_OK);
    assert_int_equal(slc_io_image_writer_add(writer, &a, NULL), SLC_OK);
    assert_int_equal(slc_io_image_writer_add(writer, &b, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, text));
    assert_non_null(strstr(error.text, name));
    assert_int_equal(slc_io_image_writer_add(writer, &a, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_io_finish(writer, &error), SLC_ERR_USAGE);
    assert_int_equal(count_files(), 0);
    free_image(&a);
    free_image(&b);
}

static void test_refusals(void **state)
{
    (void)state;
    slc_io_writer *writer = NULL;
    slc_error error = {SLC_OK, ""};
    refused_page(".png", SLC_IMAGE_U8, SLC_IMAGE_U8, 4, ".png holds one image, not several");
    refused_page(".npy", SLC_IMAGE_U8, SLC_IMAGE_U8, 5, "page 2 differs in size or type from the first");
    refused_page(".npy", SLC_IMAGE_U16, SLC_IMAGE_U16, 4,
                 "several pages of 4 columns of u8, u16 or bits would be read as colours: write TIFF");
    refused_page(".npy", SLC_IMAGE_F32, SLC_IMAGE_F32, 1,
                 "several pages of one column would be read as one image: write TIFF");
    refused_page(".npy", SLC_IMAGE_U16, SLC_IMAGE_U8, 4, "page 2 differs in size or type from the first");
    refused_page(".pgm", SLC_IMAGE_U16, SLC_IMAGE_F32, 4,
                 "pixels of type f32 cannot be written to .pgm, which has u8 and u16");
    assert_int_equal(slc_io_image_writer_open("a.jpg", false, &writer, &error), SLC_ERR_USAGE);
    assert_string_equal(error.text, "a.jpg: its ending names no image format that is written: "
                                    ".pgm .pbm .png .tif .tiff .npy");
    assert_null(writer);
    assert_int_equal(slc_io_image_writer_open("-", false, &writer, &error), SLC_ERR_USAGE);
    assert_int_equal(slc_io_image_writer_open("/nonexistent-folder/a.png", false, &writer, &error),
                     SLC_ERR_IO);
    assert_int_equal(slc_io_image_writer_open("/nonexistent-folder/a.tif", false, &writer, &error),
                     SLC_ERR_IO);
    assert_null(writer);
    for (size_t e = 0; e < N_ENDINGS; e++) {
        char name[160];
        const slc_image nothing = {.pixels = "", .width = 0, .height = 3};
        named(name, sizeof name, endings[e]);
        assert_int_equal(slc_io_image_write(name, &nothing, &error), SLC_ERR_USAGE);
        assert_int_equal(slc_io_image_writer_open(name, false, &writer, NULL), SLC_OK);
        assert_int_equal(slc_io_finish(writer, &error), SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "no image was given"));
        assert_int_equal(slc_io_image_writer_open(name, false, &writer, NULL), SLC_OK);
        slc_io_abandon(writer);
        assert_int_equal(count_files(), 0);
    }
}

/* /dev/full takes an output of ours as it is, and every write to it fails. */
static void test_full_disk(void **state)
{
    (void)state;
    static const char *const streamed[] = {".pgm", ".png", ".npy"};
    slc_image image = random_image(SLC_IMAGE_U8, 300, 300, 0, false, 5);
    for (size_t e = 0; e < 3; e++) {
        char name[160];
        slc_error error = {SLC_OK, ""};
        named(name, sizeof name, streamed[e]);
        assert_int_equal(symlink("/dev/full", name), 0);
        assert_int_equal(slc_io_image_write(name, &image, &error), SLC_ERR_IO);
        assert_non_null(strstr(error.text, "No space left"));
        assert_int_equal(unlink(name), 0);
    }
    free_image(&image);
}

static slc_status write_preview(const char *name, const slc_image *image)
{
    slc_io_writer *writer = NULL;
    assert_int_equal(slc_io_image_writer_open(name, true, &writer, NULL), SLC_OK);
    const slc_status status = slc_io_image_writer_add(writer, image, NULL);
    if (status != SLC_OK) {
        slc_io_abandon(writer);
        return status;
    }
    return slc_io_finish(writer, NULL);
}

/* A palette of colours, of which neighbours are far apart; 0 is black, and equal numbers have equal colours.
 */
static void test_preview(void **state)
{
    (void)state;
    enum { N = 1000 };
    uint32_t labels[2 * N];
    char name[160];
    for (uint32_t i = 0; i < N; i++) {
        labels[i] = i;
        labels[N + i] = i == 0 ? UINT32_MAX : i;
    }
    named(name, sizeof name, ".png");
    slc_image image = {
        .pixels = labels, .width = N, .height = 2, .stride = N * sizeof *labels, .type = SLC_IMAGE_U32};
    assert_int_equal(write_preview(name, &image), SLC_OK);
    pages read = read_path(name);
    assert_int_equal(read.status, SLC_END);
    assert_int_equal(read.page[0].width, N);
    assert_true(pixel_at(&read.page[0], 0, 0) == 0);
    assert_true(pixel_at(&read.page[0], 0, 1) > 0);
    for (size_t x = 1; x < N; x++) {
        assert_true(pixel_at(&read.page[0], x, 0) == pixel_at(&read.page[0], x, 1));
        assert_true(pixel_at(&read.page[0], x, 0) > 20);
    }
    free_pages(&read);
    /* The palette itself. */
    size_t size;
    uint8_t *bytes = file_bytes(name, &size);
    const uint8_t *chunk = bytes + 8 + 25;
    assert_memory_equal(chunk + 4, "PLTE", 4);
    const size_t n = ((size_t)chunk[2] << 8 | chunk[3]) / 3;
    assert_true(n > 200);
    for (size_t i = 1; i < n; i++) {
        const uint8_t *a = chunk + 8 + 3 * i, *b = chunk + 8 + 3 * (i + 1 < n ? i + 1 : 1);
        const int red = a[0] - b[0], green = a[1] - b[1], blue = a[2] - b[2];
        assert_true(red * red + green * green + blue * blue > 90 * 90);
    }
    free(bytes);
    assert_int_equal(unlink(name), 0);
    image.width = 0;
    assert_int_equal(write_preview(name, &image), SLC_ERR_USAGE);
    assert_int_equal(count_files(), 0);
}

/* A preview is there when its writer is closed, holds one image of labels, and may be given up. */
static void test_preview_writer(void **state)
{
    (void)state;
    const uint32_t labels[4] = {0, 1, 2, 3};
    slc_image image = {.pixels = labels, .width = 2, .height = 2, .stride = 8, .type = SLC_IMAGE_U32};
    slc_io_writer *writer = NULL;
    slc_error error = {SLC_OK, ""};
    char name[160];
    named(name, sizeof name, ".png");
    for (int commit = 0; commit < 2; commit++) {
        assert_int_equal(slc_io_image_writer_open(name, true, &writer, &error), SLC_OK);
        assert_int_equal(slc_io_image_writer_add(writer, &image, &error), SLC_OK);
        assert_int_equal(access(name, F_OK), -1);
        if (commit) {
            assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
        } else {
            slc_io_abandon(writer);
        }
        assert_int_equal(count_files(), commit);
    }
    assert_int_equal(unlink(name), 0);
    assert_int_equal(slc_io_image_writer_open(name, true, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_image_writer_add(writer, &image, &error), SLC_OK);
    assert_int_equal(slc_io_image_writer_add(writer, &image, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "a preview holds one image, not several"));
    slc_io_abandon(writer);
    image.type = SLC_IMAGE_U8;
    assert_int_equal(slc_io_image_writer_open(name, true, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_image_writer_add(writer, &image, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "pixels of type u8 cannot be written to a preview, which has u32"));
    slc_io_abandon(writer);
    assert_int_equal(count_files(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_type_in_every_format, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_several_pages, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_refusals, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_full_disk, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_preview, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_preview_writer, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
