/* SPDX-License-Identifier: Apache-2.0
 *
 * JPEG files made with libjpeg, plain and progressive, grey and in colours, in memory and cut: blocks of one
 * value at the best quality come back as they were, and luma is that of YCbCr. And what is refused, and told.
 */
#include <stdio.h>

#include "support/image_files.h"

#include <jpeglib.h>

enum { WIDTH = 40, HEIGHT = 24, BLOCK = 8, ROOM = 1 << 16 };

typedef struct made {
    uint8_t bytes[ROOM];
    size_t size;
} made;

static uint8_t value(size_t x, size_t y)
{
    return (uint8_t)(17 * (x / BLOCK) + 61 * (y / BLOCK));
}

static uint8_t luma(uint8_t red, uint8_t green, uint8_t blue)
{
    return (uint8_t)(0.299 * red + 0.587 * green + 0.114 * blue + 0.5);
}

/* `colours` of 1 (grey), 3 (RGB as YCbCr) or 4 (CMYK). */
static void make(made *file, int colours, bool progressive, const uint8_t *exif, unsigned exif_size)
{
    struct jpeg_compress_struct jpeg;
    struct jpeg_error_mgr errors;
    unsigned char *bytes = NULL;
    unsigned long size = 0;
    jpeg.err = jpeg_std_error(&errors);
    jpeg_create_compress(&jpeg);
    jpeg_mem_dest(&jpeg, &bytes, &size);
    jpeg.image_width = WIDTH;
    jpeg.image_height = HEIGHT;
    jpeg.input_components = colours;
    jpeg.in_color_space = colours == 1 ? JCS_GRAYSCALE : colours == 3 ? JCS_RGB : JCS_CMYK;
    jpeg_set_defaults(&jpeg);
    jpeg_set_quality(&jpeg, 100, TRUE);
    if (progressive) {
        jpeg_simple_progression(&jpeg);
    }
    jpeg_start_compress(&jpeg, TRUE);
    if (exif != NULL) {
        jpeg_write_marker(&jpeg, JPEG_APP0 + 1, exif, exif_size);
    }
    for (size_t y = 0; y < HEIGHT; y++) {
        uint8_t row[4 * WIDTH], *rows = row;
        for (size_t x = 0; x < WIDTH; x++) {
            for (int c = 0; c < colours; c++) {
                row[x * (size_t)colours + (size_t)c] = (uint8_t)(value(x, y) + 50 * c);
            }
        }
        (void)jpeg_write_scanlines(&jpeg, &rows, 1);
    }
    jpeg_finish_compress(&jpeg);
    jpeg_destroy_compress(&jpeg);
    assert_true(size <= ROOM);
    memcpy(file->bytes, bytes, size);
    file->size = size;
    free(bytes);
}

static void assert_made(const made *file, int colours, const char *warning)
{
    pages read = read_memory(file->bytes, file->size, "a.jpg", NULL);
    assert_string_equal(read.error.text, "");
    assert_string_equal(read.format, "jpeg");
    assert_string_equal(read.warning, warning);
    assert_int_equal(read.n, 1);
    assert_int_equal(read.page[0].type, SLC_IMAGE_U8);
    assert_int_equal(read.page[0].width, WIDTH);
    assert_int_equal(read.page[0].height, HEIGHT);
    for (size_t y = 0; y < HEIGHT; y++) {
        for (size_t x = 0; x < WIDTH; x++) {
            const uint8_t v = value(x, y);
            const double wanted = colours == 1 ? v : luma(v, (uint8_t)(v + 50), (uint8_t)(v + 100));
            const double is = pixel_at(&read.page[0], x, y);
            /* A grey block's one coefficient is exact; of colours one is rounded twice. */
            if (is < wanted - (colours == 3) || is > wanted + (colours == 3)) {
                fail_msg("%d colours: pixel (%zu, %zu) is %g and should be %g", colours, x, y, is, wanted);
            }
        }
    }
    free_pages(&read);
}

static void test_every_kind(void **state)
{
    (void)state;
    static made file;
    for (int progressive = 0; progressive < 2; progressive++) {
        for (int colours = 1; colours <= 3; colours += 2) {
            make(&file, colours, progressive, NULL, 0);
            assert_made(&file, colours, "");
            file.size += 5; /* what is behind is nobody's */
            assert_made(&file, colours, "");
        }
    }
}

static void test_every_cut(void **state)
{
    (void)state;
    static made file;
    for (int progressive = 0; progressive < 2; progressive++) {
        make(&file, 3, progressive, NULL, 0);
        for (size_t size = 0; size < file.size; size++) {
            pages read = read_memory(file.bytes, size, "cut.jpg", NULL);
            assert_true(read.open_status < 0 || read.status == SLC_ERR_FORMAT);
            assert_int_equal(read.n, 0);
            assert_memory_equal(read.error.text, "cut.jpg: ", 9);
        }
    }
}

/* libjpeg would go on after damage, and only warn. */
static void test_damage(void **state)
{
    (void)state;
    static made file, other;
    make(&file, 3, false, NULL, 0);
    for (size_t at = 2; at < file.size; at++) {
        other = file;
        other.bytes[at] ^= 0x10;
        pages read = read_memory(other.bytes, other.size, "bad.jpg", NULL);
        assert_true(read.open_status < 0 || read.status == SLC_ERR_FORMAT ||
                    read.status == SLC_ERR_UNSUPPORTED || (read.status == SLC_END && read.n == 1));
        free_pages(&read);
    }
    /* A marker in the midst of the pixels. */
    other = file;
    other.bytes[file.size - 40] = 0xff;
    other.bytes[file.size - 39] = 0xd9;
    pages read = read_memory(other.bytes, other.size, "bad.jpg", NULL);
    assert_int_equal(read.status, SLC_ERR_FORMAT);
    assert_non_null(strstr(read.error.text, "libjpeg: "));
    assert_int_equal(read.n, 0);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    static made file;
    make(&file, 4, false, NULL, 0);
    assert_refused(file.bytes, file.size, "a.jpg", SLC_ERR_UNSUPPORTED,
                   "a.jpg: 4 colours that are neither grey, YCbCr nor RGB");
    make(&file, 1, true, NULL, 0);
    uint8_t *frame = NULL; /* its head, behind the marker of progressive ones */
    for (size_t i = 0; i + 1 < file.size && frame == NULL; i++) {
        frame = file.bytes[i] == 0xff && file.bytes[i + 1] == 0xc2 ? file.bytes + i : NULL;
    }
    assert_non_null(frame);
    memcpy(frame + 5, "\xff\x00\xff\x00", 4); /* rows, columns */
    pages read = read_memory(file.bytes, file.size, "a.jpg", NULL);
    assert_non_null(
        strstr(read.error.text, "65280 x 65280 pixels needs 8522956800 bytes, more than the limit"));
    memcpy(frame + 5, "\x7f\x00\x7f\x00", 4);
    pages again = read_memory(file.bytes, file.size, "a.jpg", NULL);
    assert_non_null(strstr(again.error.text, "too short for the 32512 x 32512 pixels of its header"));
}

/* Of both orders of bytes, and damaged. */
static void test_orientation(void **state)
{
    (void)state;
    static made file;
    static const char told[] = "a.jpg: pixels are as they are stored; Exif's orientation 6 is not applied";
    uint8_t big[] = "Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    uint8_t little[] = "Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0";
    make(&file, 1, false, big, sizeof big - 1);
    assert_made(&file, 1, told);
    make(&file, 1, false, little, sizeof little - 1);
    assert_made(&file, 1, told);
    little[24] = 1;
    make(&file, 1, false, little, sizeof little - 1);
    assert_made(&file, 1, "");
    for (unsigned size = 0; size < sizeof big - 1; size++) {
        make(&file, 1, false, big, size);
        assert_made(&file, 1, size >= 28 ? told : "");
    }
    memset(big + 10, 0xff, 4); /* far behind its end */
    make(&file, 1, false, big, sizeof big - 1);
    assert_made(&file, 1, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),  cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_damage),      cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_orientation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
