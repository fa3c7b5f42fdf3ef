/* SPDX-License-Identifier: Apache-2.0
 *
 * TIFF files made with libtiff: strips and tiles, every kind of sample, colours together and apart, palettes,
 * both byte orders, compressions, BigTIFF, pages; read from files, memory and pipes.
 */
#include <stdio.h>

#include "support/image_files.h"
#include "support/temporary_folder.h"

#include <sys/wait.h>
#include <tiffio.h>

enum { WIDTH = 37, HEIGHT = 23 };

typedef struct recipe {
    const char *mode;
    uint16_t bits, format, samples, photometric, planar, compression;
    bool tiled;
} recipe;

static char name[160];

/* Sample (x, y, c): small enough for every type, and not symmetric. */
static double sample_of(const recipe *r, size_t x, size_t y, size_t c)
{
    const uint64_t value = x * 7 + y * 13 + c * 29 + 3;
    switch (r->bits) {
    case 1:
        return (double)(value * value % 5 % 2);
    case 2:
    case 4:
        return (double)(value % ((uint64_t)1 << r->bits));
    case 10:
    case 12:
    case 14:
        return (double)(value * value * value % ((uint64_t)1 << r->bits));
    default:
        return r->format == SAMPLEFORMAT_INT ? (double)(value % 251) - 125
               : r->format == SAMPLEFORMAT_IEEEFP
                   ? (double)(value % 251) * 0.25 - (r->bits == 64 ? 8.1 : 8) /* 64 bits: rounded */
                   : (double)(value % 251);
    }
}

static void store(uint8_t *row, size_t index, const recipe *r, double value)
{
    if (r->bits % 8 != 0) {
        for (size_t k = 0; k < r->bits; k++) { /* the highest bit first */
            const size_t bit = index * r->bits + k;
            const unsigned one = (unsigned)value >> (r->bits - 1 - k) & 1;
            row[bit / 8] = (uint8_t)(row[bit / 8] | one << (7 - bit % 8));
        }
    } else if (r->format == SAMPLEFORMAT_IEEEFP) {
        const float real = (float)value;
        memcpy(row + index * r->bits / 8, r->bits == 32 ? (const void *)&real : (const void *)&value,
               r->bits / 8U);
    } else {
        const int64_t whole = (int64_t)value;
        memcpy(row + index * r->bits / 8, &whole, r->bits / 8U); /* on little-endian machines */
    }
}

/* Writes one strip or tile whose first pixel is (x0, y0). */
static void write_part(TIFF *tiff, const recipe *r, uint32_t number, size_t x0, size_t y0, size_t width,
                       size_t rows, size_t plane)
{
    static uint8_t part[1 << 16];
    const bool apart = r->planar == PLANARCONFIG_SEPARATE;
    const size_t samples = apart ? 1 : r->samples, row_bytes = (width * samples * r->bits + 7) / 8;
    memset(part, 0, sizeof part);
    for (size_t y = 0; y < rows; y++) {
        for (size_t x = 0; x < width; x++) {
            for (size_t c = 0; c < samples; c++) {
                store(part + y * row_bytes, x * samples + c, r,
                      sample_of(r, x0 + x, y0 + y, apart ? plane : c));
            }
        }
    }
    const tmsize_t size = (tmsize_t)(row_bytes * rows);
    assert_int_equal(r->tiled ? TIFFWriteEncodedTile(tiff, number, part, size)
                              : TIFFWriteEncodedStrip(tiff, number, part, size),
                     size);
}

static void write_page(TIFF *tiff, const recipe *r)
{
    const uint32_t part_rows = r->tiled ? 16 : 5, part_width = r->tiled ? 16 : WIDTH;
    uint16_t map[3][256];
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, r->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, r->format);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, r->samples);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, r->photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, r->planar);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, r->compression);
    if (r->tiled) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, part_width);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, part_rows);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, part_rows);
    }
    if (r->photometric == PHOTOMETRIC_PALETTE) {
        for (unsigned i = 0; i < 256; i++) {
            map[0][i] = (uint16_t)(i * 257);
            map[1][i] = (uint16_t)((255 - i) * 257);
            map[2][i] = (uint16_t)(i * i % 256 * 257);
        }
        TIFFSetField(tiff, TIFFTAG_COLORMAP, map[0], map[1], map[2]);
    }
    uint32_t number = 0;
    for (size_t plane = 0; plane < (r->planar == PLANARCONFIG_SEPARATE ? r->samples : 1U); plane++) {
        for (size_t y = 0; y < HEIGHT; y += part_rows) {
            for (size_t x = 0; x < WIDTH; x += part_width, number++) {
                const size_t rows = r->tiled || HEIGHT - y > part_rows ? part_rows : HEIGHT - y;
                write_part(tiff, r, number, x, y, part_width, rows, plane);
            }
        }
    }
    assert_true(TIFFWriteDirectory(tiff));
}

static double luma(double red, double green, double blue)
{
    return 0.299 * red + 0.587 * green + 0.114 * blue;
}

static double expected_at(const recipe *r, size_t x, size_t y)
{
    const double value = sample_of(r, x, y, 0);
    const double most = r->bits < 32 ? (double)((1U << r->bits) - 1) : 4294967295.0;
    if (r->photometric == PHOTOMETRIC_PALETTE) {
        const unsigned i = (unsigned)value;
        return (double)(unsigned)(luma(i, 255 - i, i * i % 256) + 0.5 + 1e-9);
    }
    if (r->photometric == PHOTOMETRIC_RGB) {
        const double grey = luma(value, sample_of(r, x, y, 1), sample_of(r, x, y, 2));
        return r->format == SAMPLEFORMAT_IEEEFP ? (double)(float)grey : (double)(unsigned)(grey + 0.5 + 1e-9);
    }
    if (r->bits == 1) {
        return value; /* 1 is foreground, be it white or black */
    }
    const double grey = r->photometric == PHOTOMETRIC_MINISWHITE ? most - value : value;
    return r->bits == 2 ? 85 * grey : r->bits == 4 ? 17 * grey : grey;
}

static slc_image_type type_of(const recipe *r)
{
    if (r->format != SAMPLEFORMAT_UINT || r->bits == 64) {
        return SLC_IMAGE_F32;
    }
    return r->bits == 1 && r->photometric != PHOTOMETRIC_PALETTE ? SLC_IMAGE_BITS
           : r->bits <= 8                                        ? SLC_IMAGE_U8
           : r->bits <= 16                                       ? SLC_IMAGE_U16
                                                                 : SLC_IMAGE_U32;
}

static void assert_page(const slc_image *image, const recipe *r)
{
    assert_int_equal(image->type, type_of(r));
    assert_int_equal(image->width, WIDTH);
    assert_int_equal(image->height, HEIGHT);
    for (size_t y = 0; y < HEIGHT; y++) {
        for (size_t x = 0; x < WIDTH; x++) {
            const double away = pixel_at(image, x, y) - expected_at(r, x, y);
            if (away > 1e-5 || away < -1e-5) {
                fail_msg("%s, %u bits of format %u, %u samples, photometric %u, planar %u, compression %u: "
                         "pixel (%zu, %zu) is %g and should be %g",
                         r->mode, r->bits, r->format, r->samples, r->photometric, r->planar, r->compression,
                         x, y, pixel_at(image, x, y), expected_at(r, x, y));
            }
        }
    }
}

static void make_file(const recipe *r, int n)
{
    (void)snprintf(name, sizeof name, "%s/a.tif", folder);
    TIFF *tiff = TIFFOpen(name, r->mode);
    assert_non_null(tiff);
    for (int i = 0; i < n; i++) {
        write_page(tiff, r);
    }
    TIFFClose(tiff);
}

static void assert_recipe(const recipe *r)
{
    size_t size;
    make_file(r, 1);
    uint8_t *bytes = file_bytes(name, &size);
    pages from_file = read_path(name), from_memory = read_memory(bytes, size, "m", NULL);
    assert_string_equal(from_file.error.text, "");
    assert_string_equal(from_memory.error.text, "");
    assert_string_equal(from_file.format, "tiff");
    assert_int_equal(from_file.n, 1);
    assert_int_equal(from_memory.n, 1);
    assert_page(&from_file.page[0], r);
    assert_page(&from_memory.page[0], r);
    free_pages(&from_file);
    free_pages(&from_memory);
    free(bytes);
    assert_int_equal(unlink(name), 0);
}

enum { U = SAMPLEFORMAT_UINT, I = SAMPLEFORMAT_INT, F = SAMPLEFORMAT_IEEEFP };

static void test_every_kind(void **state)
{
    (void)state;
    static const uint16_t numbers[][2] = {{1, U},  {2, U},  {4, U},  {8, U},  {10, U}, {12, U},
                                          {14, U}, {16, U}, {32, U}, {64, U}, {8, I},  {16, I},
                                          {32, I}, {64, I}, {32, F}, {64, F}};
    static const char *const modes[] = {"wl", "wb", "w8"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        for (size_t k = 0; k < 6; k++) {
            recipe r = {.mode = modes[k / 2],
                        .bits = numbers[i][0],
                        .format = numbers[i][1],
                        .tiled = k % 2,
                        .samples = 1,
                        .planar = PLANARCONFIG_CONTIG,
                        .compression = COMPRESSION_NONE};
            r.photometric = PHOTOMETRIC_MINISBLACK;
            assert_recipe(&r);
            if (r.format == U && r.bits <= 32) {
                r.photometric = PHOTOMETRIC_MINISWHITE;
                assert_recipe(&r);
            }
            if (r.bits <= 8 && r.format == U) {
                r.photometric = PHOTOMETRIC_PALETTE;
                assert_recipe(&r);
            }
            r.photometric = PHOTOMETRIC_RGB;
            for (r.samples = 3; r.samples <= 4 && r.bits % 8 == 0 && r.bits <= 32 && r.format != I;
                 r.samples++) {
                r.planar = PLANARCONFIG_CONTIG;
                assert_recipe(&r);
                r.planar = PLANARCONFIG_SEPARATE;
                assert_recipe(&r);
            }
            r.photometric = PHOTOMETRIC_MINISBLACK;
            for (r.samples = 2; r.samples <= 3 && r.bits % 8 == 0; r.samples++) {
                r.planar = r.samples == 2 ? PLANARCONFIG_CONTIG : PLANARCONFIG_SEPARATE;
                assert_recipe(&r); /* the first sample is grey, the others are alpha and the like */
            }
        }
    }
}

static void test_compressions(void **state)
{
    (void)state;
    static const uint16_t compressions[] = {
        COMPRESSION_LZW,  COMPRESSION_PACKBITS,  COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD,
        COMPRESSION_LZMA, COMPRESSION_CCITTFAX4, COMPRESSION_CCITTFAX3};
    for (size_t i = 0; i < sizeof compressions / sizeof *compressions; i++) {
        const bool fax = compressions[i] == COMPRESSION_CCITTFAX4 || compressions[i] == COMPRESSION_CCITTFAX3;
        if (!TIFFIsCODECConfigured(compressions[i])) {
            print_message("libtiff has no compression %u\n", compressions[i]);
            continue;
        }
        for (int tiled = 0; tiled < 2; tiled++) {
            const recipe r = {.mode = "w",
                              .bits = fax ? 1 : 16,
                              .format = U,
                              .tiled = tiled,
                              .samples = 1,
                              .photometric = fax ? PHOTOMETRIC_MINISWHITE : PHOTOMETRIC_MINISBLACK,
                              .planar = PLANARCONFIG_CONTIG,
                              .compression = compressions[i]};
            assert_recipe(&r);
        }
    }
}

static const recipe simple = {.mode = "w",
                              .bits = 8,
                              .format = U,
                              .samples = 1,
                              .photometric = PHOTOMETRIC_MINISBLACK,
                              .planar = PLANARCONFIG_CONTIG,
                              .compression = COMPRESSION_NONE};

/* Through a pipe, pages are read like from a file. */
static void test_pages_and_pipes(void **state)
{
    (void)state;
    make_file(&simple, 5);
    pages read = read_path(name);
    assert_string_equal(read.error.text, "");
    assert_int_equal(read.n, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_page(&read.page[i], &simple);
    }
    free_pages(&read);
    int ends[2];
    size_t size;
    uint8_t *bytes = file_bytes(name, &size);
    assert_int_equal(pipe(ends), 0);
    assert_true(size < 60000); /* what a pipe holds without a reader */
    assert_int_equal(write(ends[1], bytes, size), size);
    (void)close(ends[1]);
    const int kept = dup(STDIN_FILENO);
    assert_true(dup2(ends[0], STDIN_FILENO) >= 0);
    read = read_path("-");
    assert_string_equal(read.error.text, "");
    assert_int_equal(read.n, 5);
    assert_page(&read.page[4], &simple);
    free_pages(&read);
    if (kept >= 0) {
        (void)dup2(kept, STDIN_FILENO);
        (void)close(kept);
    }
    (void)close(ends[0]);
    free(bytes);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(count_files(), 0);
}

/* Overwrites the value of a tag in the first directory of a little-endian file. */
static void set_tag(uint8_t *bytes, uint16_t tag, uint32_t value)
{
    const uint8_t *head = bytes + 4;
    uint8_t *at = bytes + (head[0] | (size_t)head[1] << 8 | (size_t)head[2] << 16 | (size_t)head[3] << 24);
    const size_t n = at[0] | (size_t)at[1] << 8;
    for (size_t i = 0; i < n; i++) {
        uint8_t *entry = at + 2 + 12 * i;
        if ((entry[0] | (unsigned)entry[1] << 8) == tag) {
            const bool is_short = entry[2] == 3;
            for (unsigned k = 0; k < (is_short ? 2U : 4U); k++) {
                entry[8 + k] = (uint8_t)(value >> 8 * k);
            }
            if (is_short && value > 0xffff) {
                entry[2] = 4; /* a long, in the same place */
                entry[10] = (uint8_t)(value >> 16);
                entry[11] = (uint8_t)(value >> 24);
            }
            return;
        }
    }
    fail_msg("no tag %u", tag);
}

static void assert_tag_refused(uint16_t tag, uint32_t value, slc_status status, const char *text)
{
    size_t size;
    make_file(&simple, 1);
    uint8_t *bytes = file_bytes(name, &size);
    set_tag(bytes, tag, value);
    pages read = read_memory(bytes, size, "a.tif", NULL);
    if (read.open_status == SLC_OK) {
        assert_int_equal(read.status, status);
    }
    if (strstr(read.error.text, text) == NULL) {
        fail_msg("tag %u: \"%s\" does not say \"%s\"", tag, read.error.text, text);
    }
    assert_memory_equal(read.error.text, "a.tif: ", 7);
    free_pages(&read);
    free(bytes);
    assert_int_equal(unlink(name), 0);
}

static void test_what_is_wrong(void **state)
{
    (void)state;
    assert_tag_refused(TIFFTAG_IMAGEWIDTH, 0xffffffffU, SLC_ERR_FORMAT,
                       "page 1: 4294967295 x 23 pixels: sizes from 1 to 4294967294 can be read");
    assert_tag_refused(
        TIFFTAG_IMAGEWIDTH, 4000000000U, SLC_ERR_UNSUPPORTED,
        "page 1: 4000000000 x 23 pixels of 8 bits need more than the limit of 4294967296 bytes");
    assert_tag_refused(TIFFTAG_IMAGEWIDTH, 100000000, SLC_ERR_FORMAT, "page 1: ");
    assert_tag_refused(TIFFTAG_IMAGELENGTH, 100000000, SLC_ERR_FORMAT, "libtiff: Incorrect count");
    assert_tag_refused(TIFFTAG_BITSPERSAMPLE, 7, SLC_ERR_UNSUPPORTED,
                       "page 1: samples of 7 bits in sample format 1 are not supported");
    assert_tag_refused(TIFFTAG_BITSPERSAMPLE, 24, SLC_ERR_UNSUPPORTED,
                       "page 1: samples of 24 bits in sample format 1 are not supported");
    assert_tag_refused(TIFFTAG_SAMPLEFORMAT, SAMPLEFORMAT_COMPLEXINT, SLC_ERR_UNSUPPORTED,
                       "page 1: samples of 8 bits in sample format 5 are not supported");
    assert_tag_refused(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_CIELAB, SLC_ERR_UNSUPPORTED,
                       "page 1: photometric interpretation 8 is not supported: grey, palette and RGB are");
    assert_tag_refused(TIFFTAG_COMPRESSION, 12345, SLC_ERR_UNSUPPORTED,
                       "page 1: compression 12345 is not supported");
    assert_refused("II\x2a\0\xff\xff\xff\x7f", 8, "a.tif", SLC_ERR_FORMAT,
                   "a.tif: the first page cannot be read: libtiff: Can not read TIFF directory count");
}

/* Colours outside a palette cannot be, but files can be cut: from the file system, where sizes are known. */
static void test_cut_files(void **state)
{
    (void)state;
    size_t size;
    make_file(&simple, 1);
    uint8_t *bytes = file_bytes(name, &size);
    for (size_t cut = 0; cut < size; cut += 7) {
        assert_int_equal(truncate(name, (off_t)(size - 1 - cut)), 0);
        pages read = read_path(name);
        assert_true(read.open_status < 0 || read.status == SLC_ERR_FORMAT);
        assert_non_null(strstr(read.error.text, name));
        free_pages(&read);
    }
    free(bytes);
    assert_int_equal(unlink(name), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_every_kind, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_compressions, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_pages_and_pipes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_what_is_wrong, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_cut_files, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
