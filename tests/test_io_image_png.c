/* SPDX-License-Identifier: Apache-2.0
 *
 * PNG files made with libpng in every depth and kind of colour that the format has, plain and interlaced,
 * against the samples that went in; and what is wrong with damaged ones.
 */
#include <stdio.h>

#include "support/image_files.h"

#include <png.h>
#include <zlib.h>

enum { WIDTH = 21, HEIGHT = 13, ROOM = 1 << 16 };

typedef struct made {
    uint8_t bytes[ROOM];
    size_t size;
    double grey[HEIGHT][WIDTH]; /* what should be read */
} made;

static void keep(png_structp png, png_bytep bytes, size_t size)
{
    made *file = png_get_io_ptr(png);
    assert_true(file->size + size <= ROOM);
    memcpy(file->bytes + file->size, bytes, size);
    file->size += size;
}

static void nothing(png_structp png)
{
    (void)png;
}

static double luma(double red, double green, double blue)
{
    return (double)(uint64_t)(0.299 * red + 0.587 * green + 0.114 * blue + 0.5 + 1e-9);
}

/* Random samples of `depth` bits in big-endian rows, as libpng takes them. */
static void fill(made *file, uint8_t rows[HEIGHT][WIDTH * 8], int depth, int channels, int n_colours,
                 const png_color *palette)
{
    uint64_t seed = (uint64_t)depth * 100 + (uint64_t)channels;
    memset(rows, 0, (size_t)HEIGHT * WIDTH * 8);
    for (size_t y = 0; y < HEIGHT; y++) {
        for (size_t x = 0; x < WIDTH; x++) {
            double sample[4];
            for (size_t c = 0; c < (size_t)channels; c++) {
                const unsigned bits = (unsigned)depth;
                const unsigned value = random_below(&seed, n_colours > 0 ? (uint32_t)n_colours : 1U << bits);
                const size_t bit = (x * (size_t)channels + c) * bits;
                if (bits == 16) {
                    rows[y][bit / 8] = (uint8_t)(value >> 8);
                    rows[y][bit / 8 + 1] = (uint8_t)value;
                } else {
                    rows[y][bit / 8] = (uint8_t)(rows[y][bit / 8] | value << (8 - bits - bit % 8));
                }
                sample[c] = value;
            }
            if (n_colours > 0) {
                const png_color colour = palette[(int)sample[0]];
                file->grey[y][x] = luma(colour.red, colour.green, colour.blue);
            } else if (channels >= 3) {
                file->grey[y][x] = luma(sample[0], sample[1], sample[2]);
            } else {
                file->grey[y][x] = depth == 2 ? sample[0] * 85 : depth == 4 ? sample[0] * 17 : sample[0];
            }
        }
    }
}

static void make(made *file, int depth, int colour, bool interlaced)
{
    static uint8_t rows[HEIGHT][WIDTH * 8];
    png_color palette[256];
    uint8_t *pointers[HEIGHT];
    *file = (made){.size = 0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, file, keep, nothing);
    png_set_IHDR(png, info, WIDTH, HEIGHT, depth, colour,
                 interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    const int n_colours = colour == PNG_COLOR_TYPE_PALETTE ? (depth == 8 ? 200 : 1 << depth) : 0;
    for (int i = 0; i < n_colours; i++) {
        palette[i] = (png_color){(png_byte)(i * 7), (png_byte)(255 - i), (png_byte)(i * i)};
    }
    if (n_colours > 0) {
        png_set_PLTE(png, info, palette, n_colours);
    }
    const png_text text = {.compression = PNG_TEXT_COMPRESSION_NONE, .key = "Comment", .text = "not pixels"};
    png_set_text(png, info, &text, 1);
    png_write_info(png, info);
    fill(file, rows, depth, png_get_channels(png, info), n_colours, palette);
    for (size_t y = 0; y < HEIGHT; y++) {
        pointers[y] = rows[y];
    }
    png_write_image(png, pointers);
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
}

static void assert_made(const made *file, int depth, int colour)
{
    pages read = read_memory(file->bytes, file->size, "a.png", NULL);
    assert_string_equal(read.error.text, "");
    assert_string_equal(read.format, "png");
    assert_int_equal(read.n, 1);
    const slc_image *image = &read.page[0];
    assert_int_equal(image->type, depth == 16                                   ? SLC_IMAGE_U16
                                  : depth == 1 && colour == PNG_COLOR_TYPE_GRAY ? SLC_IMAGE_BITS
                                                                                : SLC_IMAGE_U8);
    assert_int_equal(image->width, WIDTH);
    assert_int_equal(image->height, HEIGHT);
    for (size_t y = 0; y < HEIGHT; y++) {
        for (size_t x = 0; x < WIDTH; x++) {
            if (pixel_at(image, x, y) != file->grey[y][x]) {
                fail_msg("depth %d, colour %d: pixel (%zu, %zu) is %g and should be %g", depth, colour, x, y,
                         pixel_at(image, x, y), file->grey[y][x]);
            }
        }
    }
    free_pages(&read);
}

static const struct {
    int colour, depths;
} kinds[] = {{PNG_COLOR_TYPE_GRAY, 1 | 2 | 4 | 8 | 16},
             {PNG_COLOR_TYPE_PALETTE, 1 | 2 | 4 | 8},
             {PNG_COLOR_TYPE_GRAY_ALPHA, 8 | 16},
             {PNG_COLOR_TYPE_RGB, 8 | 16},
             {PNG_COLOR_TYPE_RGB_ALPHA, 8 | 16}};

static void test_every_kind(void **state)
{
    (void)state;
    static made file;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        for (int depth = 1; depth <= 16; depth *= 2) {
            for (int interlaced = 0; (kinds[k].depths & depth) != 0 && interlaced < 2; interlaced++) {
                make(&file, depth, kinds[k].colour, interlaced);
                assert_made(&file, depth, kinds[k].colour);
            }
        }
    }
}

/* Cut anywhere, every kind fails with a text; bytes behind the image are nobody's. */
static void test_every_cut(void **state)
{
    (void)state;
    static made file;
    for (int interlaced = 0; interlaced < 2; interlaced++) {
        make(&file, 8, PNG_COLOR_TYPE_PALETTE, interlaced);
        for (size_t size = 0; size < file.size; size++) {
            pages read = read_memory(file.bytes, size, "cut.png", NULL);
            assert_true(read.open_status < 0 || read.status == SLC_ERR_FORMAT);
            assert_int_equal(read.n, 0);
            assert_memory_equal(read.error.text, "cut.png: ", 9);
        }
        file.size += 7;
        assert_made(&file, 8, PNG_COLOR_TYPE_PALETTE);
    }
}

/* Sets the sizes of the header, with the checksum that they need. */
static void set_sizes(made *file, uint32_t width, uint32_t height)
{
    for (unsigned i = 0; i < 4; i++) {
        file->bytes[16 + i] = (uint8_t)(width >> (24 - 8 * i));
        file->bytes[20 + i] = (uint8_t)(height >> (24 - 8 * i));
    }
    const uint32_t sum = (uint32_t)crc32(0, file->bytes + 12, 17);
    for (unsigned i = 0; i < 4; i++) {
        file->bytes[29 + i] = (uint8_t)(sum >> (24 - 8 * i));
    }
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    static made file;
    make(&file, 8, PNG_COLOR_TYPE_GRAY, false);
    const size_t size = file.size;
    file.bytes[20] ^= 1;
    assert_refused(file.bytes, size, "a.png", SLC_ERR_FORMAT, "a.png: byte 33: libpng: IHDR: CRC error");
    set_sizes(&file, 0, 5);
    assert_refused(file.bytes, size, "a.png", SLC_ERR_FORMAT, "a.png: byte 33: libpng: Invalid IHDR data");
    set_sizes(&file, 0x80000000U, 5);
    assert_refused(file.bytes, size, "a.png", SLC_ERR_FORMAT,
                   "a.png: byte 33: libpng: PNG unsigned integer out of range");
    set_sizes(&file, 0x7fffffffU, 0x7fffffffU);
    assert_refused(
        file.bytes, size, "a.png", SLC_ERR_UNSUPPORTED,
        "a.png: 2147483647 x 2147483647 pixels of 8 bits need more than the limit of 4294967296 bytes");
    char text[160];
    (void)snprintf(text, sizeof text,
                   "a.png: byte %zu: the file ends: too short for the 2147483647 x 2 pixels of its header",
                   size);
    set_sizes(&file, 0x7fffffffU, 2);
    assert_refused(file.bytes, size, "a.png", SLC_ERR_FORMAT, text);
    set_sizes(&file, WIDTH, HEIGHT + 1);
    pages read = read_memory(file.bytes, size, "a.png", NULL);
    assert_int_equal(read.status, SLC_ERR_FORMAT);
    assert_non_null(strstr(read.error.text, "libpng: Not enough"));
    set_sizes(&file, WIDTH, HEIGHT);
    assert_made(&file, 8, PNG_COLOR_TYPE_GRAY);
}

static void test_colour_outside_the_palette(void **state)
{
    (void)state;
    static made file;
    make(&file, 8, PNG_COLOR_TYPE_PALETTE, false);
    /* A palette of 200 colours becomes one of 1: the chunk behind the header is shortened, the rest moves. */
    uint8_t *chunk = file.bytes + 33;
    assert_memory_equal(chunk + 4, "PLTE", 4);
    const size_t length = (size_t)chunk[2] << 8 | chunk[3];
    memmove(chunk + 8 + 3 + 4, chunk + 8 + length + 4, file.size - 33 - 12 - length);
    file.size -= length - 3;
    chunk[2] = 0;
    chunk[3] = 3;
    const uint32_t sum = (uint32_t)crc32(0, chunk + 4, 7);
    for (unsigned i = 0; i < 4; i++) {
        chunk[11 + i] = (uint8_t)(sum >> (24 - 8 * i));
    }
    pages read = read_memory(file.bytes, file.size, "a.png", NULL);
    assert_int_equal(read.status, SLC_ERR_FORMAT);
    assert_non_null(strstr(read.error.text, "of a palette of 1"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_what_is_wrong),
        cmocka_unit_test(test_colour_outside_the_palette),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
