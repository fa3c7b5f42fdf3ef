/* SPDX-License-Identifier: Apache-2.0
 *
 * BMP files put together byte by byte: every number of bits, palettes, fields, both directions, both kinds of
 * heads; cut at every byte; and what is refused.
 */
#include <stdio.h>

#include "support/image_files.h"

enum { WIDTH = 13, HEIGHT = 5, ROOM = 1 << 12, FILE_HEAD = 14 };

typedef struct made {
    uint8_t bytes[ROOM];
    size_t size;
    double grey[HEIGHT][WIDTH];
} made;

static void put(made *file, uint32_t number, int bytes)
{
    for (int i = 0; i < bytes; i++) {
        file->bytes[file->size++] = (uint8_t)(i < 4 ? number >> 8 * i : 0);
    }
}

static double luma(double red, double green, double blue)
{
    return (double)(uint64_t)(0.299 * red + 0.587 * green + 0.114 * blue + 0.5 + 1e-9);
}

typedef struct kind {
    uint32_t head, bits, compression, colours;
    bool top_down;
    uint32_t masks[3]; /* 0: the usual ones */
} kind;

static void put_heads(made *file, const kind *k)
{
    const uint32_t rows = k->top_down ? 0U - HEIGHT : HEIGHT;
    file->size = 0;
    put(file, 'B' | 'M' << 8, 2);
    put(file, 0, 8); /* its size and two fields that nobody looks at */
    put(file, 0, 4); /* where pixels begin: later */
    put(file, k->head, 4);
    if (k->head == 12) {
        put(file, WIDTH, 2);
        put(file, HEIGHT, 2);
        put(file, 1, 2);
        put(file, k->bits, 2);
        return;
    }
    put(file, WIDTH, 4);
    put(file, rows, 4);
    put(file, 1, 2);
    put(file, k->bits, 2);
    put(file, k->compression, 4);
    put(file, 0, 12);
    put(file, k->colours, 4);
    put(file, 0, 4);
    for (int i = 0; k->compression == 3 && i < 3; i++) {
        put(file, k->masks[i], 4);
    }
    while (file->size < FILE_HEAD + k->head) {
        put(file, 0, 1);
    }
}

/* 0 … 255 of a part of a pixel. */
static double part(uint32_t pixel, uint32_t mask)
{
    const uint32_t most = mask / (mask & (0U - mask)), v = (pixel & mask) / (mask & (0U - mask));
    return (double)(uint64_t)((double)v * 255.0 / most + 0.5);
}

static void put_pixels(made *file, const kind *k, const uint8_t (*palette)[3])
{
    static const uint32_t usual[2][3] = {{0x7c00, 0x3e0, 0x1f}, {0xff0000, 0xff00, 0xff}};
    const uint32_t *masks = k->masks[0] != 0 ? k->masks : usual[k->bits == 32];
    const uint32_t colours = k->colours != 0 ? k->colours : k->bits <= 8 ? 1U << k->bits : 0;
    uint64_t seed = k->bits;
    for (size_t i = 0; i < HEIGHT; i++) {
        uint8_t row[4 * WIDTH + 4] = {0};
        const size_t y = k->top_down ? i : HEIGHT - 1 - i;
        for (size_t x = 0; x < WIDTH; x++) {
            const uint32_t any = (uint32_t)random_u64(&seed);
            const uint32_t pixel = colours > 0    ? any % colours
                                   : k->bits < 32 ? any & ((1U << k->bits) - 1)
                                                  : any;
            for (uint32_t b = 0; b < k->bits && k->bits <= 8;
                 b++) { /* the first pixel is in the highest bits */
                const size_t at = x * k->bits + b;
                row[at / 8] = (uint8_t)(row[at / 8] | (pixel >> (k->bits - 1 - b) & 1) << (7 - at % 8));
            }
            for (uint32_t b = 0; b < k->bits / 8 && k->bits > 8; b++) {
                row[x * k->bits / 8 + b] = (uint8_t)(pixel >> 8 * b);
            }
            file->grey[y][x] = colours > 0     ? luma(palette[pixel][0], palette[pixel][1], palette[pixel][2])
                               : k->bits == 24 ? luma(pixel >> 16, pixel >> 8 & 255, pixel & 255)
                                               : luma(part(pixel, masks[0]), part(pixel, masks[1]),
                                                      part(pixel, masks[2]));
        }
        for (size_t b = 0; b < (WIDTH * k->bits + 31) / 32 * 4; b++) {
            put(file, row[b], 1);
        }
    }
}

static void make(made *file, const kind *k)
{
    uint8_t palette[256][3];
    const uint32_t colours = k->bits > 8 ? 0 : k->colours != 0 ? k->colours : 1U << k->bits;
    put_heads(file, k);
    for (uint32_t i = 0; i < colours; i++) {
        for (uint32_t c = 0; c < 3; c++) {
            palette[i][c] = (uint8_t)(i * 37 + c * 91);
        }
        put(file, (uint32_t)(palette[i][2] | palette[i][1] << 8 | palette[i][0] << 16),
            k->head == 12 ? 3 : 4);
    }
    file->bytes[10] = (uint8_t)file->size;
    file->bytes[11] = (uint8_t)(file->size >> 8);
    put_pixels(file, k, (const uint8_t(*)[3])palette);
}

static void assert_made(const made *file, const kind *k)
{
    pages read = read_memory(file->bytes, file->size, "a.bmp", NULL);
    assert_string_equal(read.error.text, "");
    assert_string_equal(read.format, "bmp");
    assert_int_equal(read.n, 1);
    assert_int_equal(read.page[0].type, SLC_IMAGE_U8);
    assert_int_equal(read.page[0].width, WIDTH);
    assert_int_equal(read.page[0].height, HEIGHT);
    for (size_t y = 0; y < HEIGHT; y++) {
        for (size_t x = 0; x < WIDTH; x++) {
            if (pixel_at(&read.page[0], x, y) != file->grey[y][x]) {
                fail_msg("head %u, %u bits: pixel (%zu, %zu) is %g and should be %g", k->head, k->bits, x, y,
                         pixel_at(&read.page[0], x, y), file->grey[y][x]);
            }
        }
    }
    free_pages(&read);
}

static const kind kinds[] = {
    {.head = 40, .bits = 1},
    {.head = 40, .bits = 4},
    {.head = 40, .bits = 4, .colours = 11},
    {.head = 40, .bits = 8},
    {.head = 40, .bits = 8, .colours = 200, .top_down = true},
    {.head = 40, .bits = 16},
    {.head = 40, .bits = 16, .compression = 3, .masks = {0xf800, 0x7e0, 0x1f}},
    {.head = 40, .bits = 24},
    {.head = 40, .bits = 24, .top_down = true},
    {.head = 40, .bits = 32},
    {.head = 40, .bits = 32, .compression = 3, .masks = {0xff, 0xff00, 0xff0000}},
    {.head = 56, .bits = 32, .compression = 3, .masks = {0x3ff00000, 0xffc00, 0x3ff}},
    {.head = 108, .bits = 32, .compression = 3, .masks = {0xff000000, 0xff0000, 0xff00}},
    {.head = 124, .bits = 24},
    {.head = 12, .bits = 1},
    {.head = 12, .bits = 8},
    {.head = 12, .bits = 24},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void test_every_kind(void **state)
{
    (void)state;
    static made file;
    for (size_t i = 0; i < KINDS; i++) {
        make(&file, &kinds[i]);
        assert_made(&file, &kinds[i]);
        file.size += 3;
        assert_made(&file, &kinds[i]);
    }
}

static void test_every_cut(void **state)
{
    (void)state;
    static made file;
    for (size_t i = 0; i < KINDS; i++) {
        make(&file, &kinds[i]);
        for (size_t size = 0; size < file.size; size++) {
            pages read = read_memory(file.bytes, size, "cut.bmp", NULL);
            assert_true(read.open_status < 0 || read.status == SLC_ERR_FORMAT);
            assert_int_equal(read.n, 0);
            assert_memory_equal(read.error.text, "cut.bmp: ", 9);
        }
    }
}

static void refused(size_t at, uint32_t number, int bytes, const kind *k, slc_status status, const char *text)
{
    static made file;
    make(&file, k);
    for (int i = 0; i < bytes; i++) {
        file.bytes[at + (size_t)i] = (uint8_t)(number >> 8 * i);
    }
    assert_refused(file.bytes, file.size, "a.bmp", status, text);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    const kind *grey = &kinds[3], *fields = &kinds[10];
    refused(14, 41, 4, grey, SLC_ERR_UNSUPPORTED, "a.bmp: byte 14: no size of a head that is read: 41");
    refused(26, 2, 2, grey, SLC_ERR_FORMAT, "a.bmp: byte 14: planes, of which there is one in every BMP: 2");
    refused(28, 7, 2, grey, SLC_ERR_FORMAT, "a.bmp: byte 14: no number of bits of a pixel: 7");
    refused(30, 1, 4, grey, SLC_ERR_UNSUPPORTED,
            "a.bmp: byte 30: pixels are compressed (RLE8); plain ones are read");
    refused(30, 9, 4, grey, SLC_ERR_FORMAT, "a.bmp: byte 14: no compression of BMP: 9");
    refused(30, 3, 4, grey, SLC_ERR_FORMAT,
            "a.bmp: byte 14: fields in pixels of another number of bits than 16, 32: 8");
    refused(46, 300, 4, grey, SLC_ERR_FORMAT,
            "a.bmp: byte 46: colours in the palette, more than pixels can tell: 300");
    refused(46, 100, 4, grey, SLC_ERR_FORMAT,
            "a.bmp: byte 1081: a pixel has a colour number beyond the palette, "
            "whose size is: 100");
    refused(54, 0x500, 4, fields, SLC_ERR_FORMAT,
            "a.bmp: byte 54: a mask of colours that is no row of bits: 1280");
    refused(10, 20, 4, fields, SLC_ERR_FORMAT, "a.bmp: byte 10: pixels begin within the heads, at byte: 20");
    refused(18, 0, 4, grey, SLC_ERR_FORMAT, "a.bmp: 0 x 5 pixels: sizes from 1 to 4294967294 can be read");
    refused(18, 0x7fffffff, 4, grey, SLC_ERR_UNSUPPORTED,
            "a.bmp: 2147483647 x 5 pixels of 8 bits need more than the limit of 4294967296 bytes");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind),
        cmocka_unit_test(test_every_cut),
        cmocka_unit_test(test_what_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
