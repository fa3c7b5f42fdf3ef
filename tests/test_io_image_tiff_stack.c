/* SPDX-License-Identifier: Apache-2.0
 *
 * TIFF files of which libtiff does not tell everything: ImageJ stacks in one directory, made byte by byte
 * here; samples that are not read; pixels that a decoder finds damaged and returns all the same, held against
 * what libtiff itself says while it reads them.
 */
#include <stdio.h>

#include "support/image_files.h"
#include "support/random.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <tiffio.h>
#include <unistd.h>

static char name[160];

/* ---- ImageJ stacks ------------------------------------------------------------------------------- */

enum { WIDTH = 19, HEIGHT = 7, IMAGES = 5 };

typedef struct recipe {
    bool big_endian;
    unsigned bits, samples; /* 32 bits: floats */
    unsigned strips;
    const char *text; /* the description */
    uint64_t begin;   /* of the pixels; 0: behind the directory */
    size_t less;      /* so many bytes are missing at the end */
} recipe;

static uint8_t *put(uint8_t *at, const recipe *r, unsigned bytes, uint64_t value)
{
    for (unsigned i = 0; i < bytes; i++) {
        at[i] = (uint8_t)(value >> 8 * (r->big_endian ? bytes - 1 - i : i));
    }
    return at + bytes;
}

static uint8_t *put_tag(uint8_t *at, const recipe *r, unsigned tag, unsigned type, uint32_t n, uint32_t value)
{
    at = put(put(put(at, r, 2, tag), r, 2, type), r, 4, n);
    return type == 3 && n == 1 ? put(put(at, r, 2, value), r, 2, 0) : put(at, r, 4, value);
}

/* Sample c of a pixel of an image. */
static uint32_t value_of(const recipe *r, size_t image, size_t x, size_t y, size_t c)
{
    return (uint32_t)(image * 37 + x * 5 + y * 11 + c * 50) % (r->bits == 8 ? 256 : 5000);
}

static size_t row_size(const recipe *r)
{
    return (size_t)WIDTH * r->samples * r->bits / 8;
}

/* The pixels of all images; the caller frees them. */
static uint8_t *make_pixels(const recipe *r, size_t *size)
{
    *size = IMAGES * HEIGHT * row_size(r);
    uint8_t *pixels = malloc(*size), *at = pixels;
    assert_non_null(pixels);
    for (size_t image = 0; image < IMAGES; image++) {
        for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++) {
            for (size_t c = 0; c < r->samples; c++) {
                const uint32_t whole = value_of(r, image, i % WIDTH, i / WIDTH, c);
                const float real = (float)whole;
                uint32_t bits;
                memcpy(&bits, &real, sizeof bits);
                at = put(at, r, r->bits / 8, r->bits == 32 ? bits : whole);
            }
        }
    }
    *size -= r->less;
    return pixels;
}

/* One directory with the size and the strips of the first image. */
static void make_file(const recipe *r)
{
    uint8_t head[1024] = {0}, *at = head;
    const uint32_t rows = (HEIGHT + r->strips - 1) / r->strips, text_at = 200, strips_at = 400;
    const uint64_t begin = r->begin != 0 ? r->begin : sizeof head;
    memcpy(at, r->big_endian ? "MM" : "II", 2);
    at = put(put(put(at + 2, r, 2, 42), r, 4, 8), r, 2, 11);
    at = put_tag(at, r, 256, 4, 1, WIDTH);
    at = put_tag(at, r, 257, 4, 1, HEIGHT);
    at = put_tag(at, r, 258, 3, 1, r->bits);
    at = put_tag(at, r, 259, 3, 1, 1);
    at = put_tag(at, r, 262, 3, 1, r->samples == 3 ? 2 : 1);
    at = put_tag(at, r, 270, 2, (uint32_t)strlen(r->text) + 1, text_at);
    at = put_tag(at, r, 273, 4, r->strips, r->strips == 1 ? (uint32_t)begin : strips_at);
    at = put_tag(at, r, 277, 3, 1, r->samples);
    at = put_tag(at, r, 278, 4, 1, rows);
    at = put_tag(at, r, 279, 4, r->strips,
                 r->strips == 1 ? (uint32_t)(HEIGHT * row_size(r)) : strips_at + 4 * r->strips);
    at = put_tag(at, r, 339, 3, 1, r->bits == 32 ? SAMPLEFORMAT_IEEEFP : SAMPLEFORMAT_UINT);
    assert_true(at + 4 <= head + text_at);
    memcpy(head + text_at, r->text, strlen(r->text) + 1);
    for (uint32_t i = 0; i < r->strips; i++) {
        const uint32_t left = HEIGHT - i * rows;
        (void)put(head + strips_at + 4 * i, r, 4, begin + i * rows * row_size(r));
        (void)put(head + strips_at + 4 * (i + r->strips), r, 4, (left < rows ? left : rows) * row_size(r));
    }
    size_t size;
    uint8_t *pixels = make_pixels(r, &size);
    (void)snprintf(name, sizeof name, "%s/a.tif", folder);
    const int file = open(name, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, head, sizeof head, 0), sizeof head);
    assert_int_equal(pwrite(file, pixels, size, (off_t)begin), size);
    assert_int_equal(close(file), 0);
    free(pixels);
}

static void assert_image(const slc_image *image, const recipe *r, size_t number)
{
    assert_int_equal(image->width, WIDTH);
    assert_int_equal(image->height, HEIGHT);
    for (size_t y = 0; y < HEIGHT; y++) {
        for (size_t x = 0; x < WIDTH; x++) {
            const uint32_t red = value_of(r, number, x, y, 0);
            const double wanted = r->samples == 1 ? red
                                                  : (299 * red + 587 * value_of(r, number, x, y, 1) +
                                                     114 * value_of(r, number, x, y, 2) + 500) /
                                                        1000;
            if (pixel_at(image, x, y) != wanted) {
                fail_msg("image %zu, pixel (%zu, %zu): %g, not %g", number, x, y, pixel_at(image, x, y),
                         wanted);
            }
        }
    }
}

static const char stack_text[] = "ImageJ=1.53t\nimages=5\nslices=5\nloop=false\n";

static void test_stacks(void **state)
{
    (void)state;
    static const unsigned bits[] = {8, 16, 32};
    for (unsigned i = 0; i < 24; i++) {
        const recipe r = {.big_endian = i % 2 != 0,
                          .bits = bits[i / 2 % 3],
                          .samples = i / 6 % 2 != 0 && i / 2 % 3 < 2 ? 3 : 1,
                          .strips = i / 12 % 2 != 0 ? 3 : 1,
                          .text = stack_text};
        make_file(&r);
        size_t size;
        uint8_t *bytes = file_bytes(name, &size);
        for (unsigned from_memory = 0; from_memory < 2; from_memory++) {
            pages read = from_memory != 0 ? read_memory(bytes, size, "m", NULL) : read_path(name);
            assert_string_equal(read.error.text, "");
            assert_int_equal(read.n, IMAGES);
            assert_string_equal(read.warning, "");
            for (size_t image = 0; image < IMAGES; image++) {
                assert_image(&read.page[image], &r, image);
            }
            free_pages(&read);
        }
        free(bytes);
    }
    assert_int_equal(unlink(name), 0);
}

/* The pixels lie across the first 4 GiB of the file, or behind them, in a file with a hole. */
static void test_large_files(void **state)
{
    (void)state;
    recipe r = {.bits = 16, .samples = 1, .strips = 1, .text = stack_text};
    const uint64_t image = HEIGHT * row_size(&r);
    for (r.begin = 0xffffffffU - 3 * image; r.begin < 0xffffffffU - 1; r.begin += image - 1) {
        make_file(&r);
        pages read = read_path(name);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.n, IMAGES);
        for (size_t i = 0; i < IMAGES; i++) {
            assert_image(&read.page[i], &r, i);
        }
        free_pages(&read);
    }
    assert_int_equal(unlink(name), 0);
}

/* What is there is read; what is not there is an error which says so. */
static void test_short_stacks(void **state)
{
    (void)state;
    recipe r = {.bits = 16, .samples = 1, .strips = 1, .text = stack_text};
    const size_t image = HEIGHT * row_size(&r);
    for (r.less = 1; r.less < IMAGES * image; r.less += image / 3) {
        make_file(&r);
        pages read = read_path(name);
        const size_t whole = (IMAGES * image - r.less) / image;
        char place[80];
        (void)snprintf(place, sizeof place, "page %zu: byte %zu: ", whole + 1, 1024 + whole * image);
        assert_int_equal(read.status, SLC_ERR_FORMAT);
        assert_int_equal(read.n, whole);
        assert_non_null(strstr(read.error.text, place));
        assert_non_null(strstr(read.error.text, "description tells of 5 images (ImageJ)"));
        free_pages(&read);
    }
    /* So many that their places wrap around. */
    r.less = 0;
    r.text = "ImageJ=1.53t\nimages=18446744073709551615\n";
    make_file(&r);
    pages read = read_path(name);
    assert_int_equal(read.status, SLC_ERR_FORMAT);
    assert_int_equal(read.n, IMAGES);
    free_pages(&read);
    assert_int_equal(unlink(name), 0);
}

/* Descriptions that say nothing of the kind, and one of a stack that ImageJ would not have written. */
static void test_other_descriptions(void **state)
{
    (void)state;
    static const char *const texts[] = {"images=5\n", "ImageJ=1.53t\n", "ImageJ=1.53t\nimages=1\n",
                                        "NIH\nImageJ=1\nimages=5\n"};
    for (size_t i = 0; i < 5; i++) {
        recipe r = {.bits = 8, .samples = 1, .strips = 1, .text = i < 4 ? texts[i] : stack_text};
        r.less = i == 1 || i == 2 ? (IMAGES - 1) * HEIGHT * row_size(&r) : 0; /* one image */
        make_file(&r);
        if (i == 4) {
            TIFF *tiff = TIFFOpen(name, "r+");
            assert_non_null(tiff);
            assert_true(TIFFSetField(tiff, TIFFTAG_FILLORDER, FILLORDER_LSB2MSB));
            assert_true(TIFFRewriteDirectory(tiff));
            TIFFClose(tiff);
        }
        pages read = read_path(name);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.n, 1);
        assert_true((read.warning[0] != '\0') == (i == 4));
        if (i == 4) {
            assert_non_null(strstr(read.warning, "page 2: there is none, and the file's description tells of "
                                                 "5 images (ImageJ)"));
        }
        free_pages(&read);
    }
    assert_int_equal(unlink(name), 0);
}

/* Numbers of images that are too few, none, or told by the dimensions alone. */
static void test_numbers_of_images(void **state)
{
    (void)state;
    static const char none[] = "page 1: the number of images in the file's description (ImageJ) is none";
    static const struct {
        const char *text, *warning;
        size_t images;
    } cases[] = {
        {"ImageJ=1\nimages=3\n",
         "page 1: the file's description tells of 3 images (ImageJ), and bytes of 2 more", 3},
        {"ImageJ=1\nimages=1\n", "description tells of 1 images (ImageJ), and bytes of 4 more", 1},
        {"ImageJ=1\nslices=2\nframes=2\n", "description tells of 4 images (ImageJ), and bytes of 1 more", 4},
        {"ImageJ=1\nslices=5\n", NULL, 5},
        {"ImageJ=1\nchannels=1\nframes=5\nhyperstack=true\n", NULL, 5},
        {"ImageJ=1\nimages=5\nslices=2\n", NULL, 5},
        {"ImageJ=1\nimages=0\n", none, 1},
        {"ImageJ=1\nimages=-3\n", none, 1},
        {"ImageJ=1\nimages=\n", none, 1},
        {"ImageJ=1\nslices=0\n", none, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const recipe r = {.bits = 8, .samples = 1, .strips = 1, .text = cases[i].text};
        make_file(&r);
        pages read = read_path(name);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.n, cases[i].images);
        assert_true((read.warning[0] != '\0') == (cases[i].warning != NULL));
        assert_true(cases[i].warning == NULL || strstr(read.warning, cases[i].warning) != NULL);
        for (size_t image = 0; image < read.n; image++) {
            assert_image(&read.page[image], &r, image);
        }
        free_pages(&read);
    }
    assert_int_equal(unlink(name), 0);
}

/* ---- samples that are not read --------------------------------------------------------------------- */

static void test_samples(void **state)
{
    (void)state;
    static const struct {
        uint16_t samples, extra, photometric, planar;
        const char *warning;
    } cases[] = {
        {1, 0, PHOTOMETRIC_MINISBLACK, PLANARCONFIG_CONTIG, NULL},
        {3, 0, PHOTOMETRIC_RGB, PLANARCONFIG_CONTIG, NULL},
        {4, EXTRASAMPLE_UNASSALPHA, PHOTOMETRIC_RGB, PLANARCONFIG_CONTIG,
         "of the 4 samples of each pixel the last, alpha, is not read"},
        {4, EXTRASAMPLE_ASSOCALPHA, PHOTOMETRIC_RGB, PLANARCONFIG_SEPARATE,
         "of the 4 samples of each pixel the last, alpha, is not read"},
        {2, EXTRASAMPLE_UNSPECIFIED, PHOTOMETRIC_MINISBLACK, PLANARCONFIG_CONTIG,
         "of the 2 samples of each pixel the last is not read"},
        {5, EXTRASAMPLE_UNSPECIFIED, PHOTOMETRIC_MINISBLACK, PLANARCONFIG_SEPARATE,
         "of the 5 samples of each pixel the last ones are not read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint16_t samples = cases[i].samples,
                       extra[4] = {cases[i].extra, cases[i].extra, cases[i].extra, cases[i].extra};
        const uint16_t own = cases[i].photometric == PHOTOMETRIC_RGB ? 3 : 1;
        (void)snprintf(name, sizeof name, "%s/s.tif", folder);
        TIFF *tiff = TIFFOpen(name, "w");
        assert_non_null(tiff);
        TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, 4);
        TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, 1);
        TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
        TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, samples);
        TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, cases[i].photometric);
        TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, cases[i].planar);
        if (samples > own) {
            TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, (uint16_t)(samples - own), extra);
        }
        uint8_t row[20] = {1, 2, 3, 4, 5, 6};
        for (int plane = 0; plane < (cases[i].planar == PLANARCONFIG_SEPARATE ? samples : 1); plane++) {
            assert_int_equal(TIFFWriteScanline(tiff, row, 0, (uint16_t)plane), 1);
        }
        TIFFClose(tiff);
        pages read = read_path(name);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.n, 1);
        assert_true((read.warning[0] != '\0') == (cases[i].warning != NULL));
        if (cases[i].warning != NULL) {
            assert_non_null(strstr(read.warning, cases[i].warning));
            assert_non_null(strstr(read.warning, "page 1: "));
        }
        free_pages(&read);
    }
    assert_int_equal(unlink(name), 0);
}

/* ---- damaged pixels -------------------------------------------------------------------------------- */

static unsigned said; /* errors and warnings of libtiff */

__attribute__((format(printf, 4, 0))) static int count_message(TIFF *tiff, void *user, const char *module,
                                                               const char *format, va_list arguments)
{
    (void)tiff;
    (void)user;
    (void)module;
    (void)format;
    (void)arguments;
    said++;
    return 1;
}

enum { SIDE = 64 };

/* Whether libtiff reads the strips of `name` and says nothing. */
static bool libtiff_is_content(void)
{
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    TIFFOpenOptionsSetErrorHandlerExtR(options, count_message, NULL);
    TIFFOpenOptionsSetWarningHandlerExtR(options, count_message, NULL);
    TIFF *tiff = TIFFOpenExt(name, "r", options);
    TIFFOpenOptionsFree(options);
    assert_non_null(tiff);
    static uint8_t strip[4 * SIDE * SIDE];
    said = 0;
    bool whole = true;
    for (uint32_t i = 0; i < TIFFNumberOfStrips(tiff); i++) {
        whole = TIFFReadEncodedStrip(tiff, i, strip, sizeof strip) > 0 && whole;
    }
    TIFFClose(tiff);
    return whole && said == 0;
}

static uint64_t make_compressed(uint16_t compression, uint64_t *begin)
{
    const bool fax = compression == COMPRESSION_CCITTFAX3 || compression == COMPRESSION_CCITTFAX4 ||
                     compression == COMPRESSION_CCITTRLE;
    uint8_t row[SIDE];
    uint64_t seed = compression;
    (void)snprintf(name, sizeof name, "%s/c.tif", folder);
    TIFF *tiff = TIFFOpen(name, "w");
    assert_non_null(tiff);
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, SIDE);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, fax ? 1 : 8);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, 1);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, compression);
    TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, SIDE);
    for (uint32_t y = 0; y < SIDE; y++) {
        for (size_t x = 0; x < SIDE; x++) {
            row[x] = random_below(&seed, 3) == 0 ? (uint8_t)random_u64(&seed) : x > 0 ? row[x - 1] : 0;
        }
        assert_int_equal(TIFFWriteScanline(tiff, row, y, 0), 1);
    }
    TIFFClose(tiff);
    tiff = TIFFOpen(name, "r");
    *begin = TIFFGetStrileOffset(tiff, 0);
    const uint64_t size = TIFFGetStrileByteCount(tiff, 0);
    TIFFClose(tiff);
    return size;
}

static void test_damaged_pixels(void **state)
{
    (void)state;
    static const uint16_t compressions[] = {
        COMPRESSION_CCITTFAX4, COMPRESSION_CCITTFAX3, COMPRESSION_CCITTRLE,     COMPRESSION_LZW,
        COMPRESSION_JPEG,      COMPRESSION_PACKBITS,  COMPRESSION_ADOBE_DEFLATE};
    for (size_t k = 0; k < sizeof compressions / sizeof *compressions; k++) {
        if (!TIFFIsCODECConfigured(compressions[k])) {
            print_message("libtiff has no compression %u\n", compressions[k]);
            continue;
        }
        uint64_t begin, size = make_compressed(compressions[k], &begin), seed = k;
        assert_true(libtiff_is_content());
        size_t n, seen = 0;
        uint8_t *bytes = file_bytes(name, &n);
        for (unsigned i = 0; i < 200; i++) {
            const size_t at = (size_t)begin + random_below(&seed, (uint32_t)size);
            const uint8_t kept = bytes[at];
            bytes[at] ^= (uint8_t)(1U << random_below(&seed, 8));
            FILE *file = fopen(name, "wb");
            assert_non_null(file);
            assert_int_equal(fwrite(bytes, 1, n, file), n);
            assert_int_equal(fclose(file), 0);
            bytes[at] = kept;
            const bool content = libtiff_is_content();
            pages read = read_path(name);
            if ((read.n == 1) != content || (read.status == SLC_ERR_FORMAT) == content) {
                fail_msg("compression %u, byte %zu: libtiff %s, and the error is \"%s\"", compressions[k], at,
                         content ? "says nothing" : "complains", read.error.text);
            }
            if (!content) {
                seen++;
                assert_non_null(strstr(read.error.text, "page 1: strip 0 cannot be decoded: libtiff: "));
            }
            free_pages(&read);
        }
        assert_true(seen > 10);
        free(bytes);
    }
    assert_int_equal(unlink(name), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stacks, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_large_files, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_short_stacks, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_other_descriptions, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_numbers_of_images, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_samples, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_damaged_pixels, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
