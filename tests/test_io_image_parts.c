/* SPDX-License-Identifier: Apache-2.0
 *
 * Pages in strips: what n readers get of a page, each its part, is the page, in every format, whether rows
 * can be read alone or not; a damaged file is told as it is of a whole page. And the reverse: an NPY file
 * whose rows several write is the one that one writes.
 */
#include <stdio.h>

#include "support/image_files.h"
#include "support/temporary_folder.h"

#include <fcntl.h>
#include <tiffio.h>
#include <unistd.h>

static pages read_part(const char *name, uint32_t part, uint32_t n, size_t max_bytes)
{
    pages read = {.n = 0};
    slc_io_images *images = NULL;
    slc_io_image_config config;
    slc_io_image_config_default(&config);
    config.part = part;
    config.n_parts = n;
    config.max_bytes = max_bytes > 0 ? max_bytes : config.max_bytes;
    read.open_status = slc_io_images_open(name, &config, &images, &read.error);
    read_on(images, &read);
    return read;
}

/* Rows of the part of `whole` that begins at *y are those of `part`. */
static void expect_rows(const slc_image *whole, const slc_image *part, size_t *y)
{
    assert_int_equal(part->type, whole->type);
    assert_int_equal(part->width, whole->width);
    assert_true(*y + part->height <= whole->height);
    slc_image rows = *whole;
    rows.pixels = (const char *)whole->pixels + (ptrdiff_t)*y * whole->stride;
    rows.height = part->height;
    assert_same_image(&rows, part);
    *y += part->height;
}

static void expect_parts(const char *name)
{
    pages whole = read_path(name);
    assert_string_equal(whole.error.text, "");
    assert_true(whole.n > 0);
    for (uint32_t n = 1; n <= 9; n++) {
        size_t y[MOST_PAGES] = {0}, least[MOST_PAGES] = {0};
        for (uint32_t part = 0; part < n; part++) {
            pages read = read_part(name, part, n, 0);
            assert_string_equal(read.error.text, "");
            assert_int_equal(read.n, whole.n);
            assert_string_equal(read.warning, whole.warning);
            for (size_t p = 0; p < whole.n; p++) {
                const size_t rows = read.page[p].height;
                assert_true(part == 0 || rows == least[p] || rows + 1 == least[p]); /* equal shares */
                least[p] = rows;
                expect_rows(&whole.page[p], &read.page[p], &y[p]);
            }
            free_pages(&read);
        }
        for (size_t p = 0; p < whole.n; p++) {
            assert_int_equal(y[p], whole.page[p].height);
        }
    }
    free_pages(&whole);
}

static void named(char *to, size_t size, const char *ending)
{
    (void)snprintf(to, size, "%s%s", path, ending);
}

static void put_file(const char *name, const void *bytes, size_t size)
{
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
}

/* ---- formats ----------------------------------------------------------------------------------- */

static void test_what_is_written(void **state)
{
    (void)state;
    static const char *const endings[] = {".pgm", ".pbm", ".png", ".tif", ".npy"};
    static const slc_image_type types[][5] = {{SLC_IMAGE_U8, SLC_IMAGE_U16, SLC_IMAGE_TYPES},
                                              {SLC_IMAGE_BITS, SLC_IMAGE_TYPES},
                                              {SLC_IMAGE_U8, SLC_IMAGE_BITS, SLC_IMAGE_TYPES},
                                              {SLC_IMAGE_BITS, SLC_IMAGE_U16, SLC_IMAGE_F32, SLC_IMAGE_TYPES},
                                              {SLC_IMAGE_U8, SLC_IMAGE_U32, SLC_IMAGE_F32, SLC_IMAGE_TYPES}};
    char name[120];
    for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
        named(name, sizeof name, endings[e]);
        for (size_t t = 0; types[e][t] != SLC_IMAGE_TYPES; t++) {
            for (size_t height = 1; height < 18; height += 5) {
                slc_image image = random_image(types[e][t], 37, height, 0, false, height + 20 * t);
                const size_t n_pages = strcmp(endings[e], ".png") == 0 ? 1 : 3;
                slc_io_writer *writer = NULL;
                slc_error error;
                assert_int_equal(slc_io_image_writer_open(name, false, &writer, &error), SLC_OK);
                for (size_t p = 0; p < n_pages; p++) {
                    assert_int_equal(slc_io_image_writer_add(writer, &image, &error), SLC_OK);
                }
                assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
                expect_parts(name);
                free_image(&image);
                assert_int_equal(remove(name), 0);
            }
        }
    }
}

/* Plain PNM, and colours; NPY in Fortran order, numbers that become floats, and colours. */
static void test_by_hand(void **state)
{
    (void)state;
    static const char plain[] = "P2\n3 5\n9\n1 2 3\n4 5 6\n7 8 9\n1 3 5\n7 9 2\nP1\n2 2\n01\n10\n";
    static const char colours[] = "P6\n2 3\n255\nabcdefghijklmnopqr";
    char name[120], array[10 + 118 + 24];
    named(name, sizeof name, ".x");
    put_file(name, plain, sizeof plain - 1);
    expect_parts(name);
    put_file(name, colours, sizeof colours - 1);
    expect_parts(name);
    static const char *const shapes[] = {
        "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3, 4), }",
        "{'descr': '>i2', 'fortran_order': False, 'shape': (4, 3), }",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (4, 2, 3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 1), }",
    };
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        memset(array, ' ', sizeof array);
        memcpy(array, "\x93NUMPY\x01\0\x76\0", 10);
        memcpy(array + 10, shapes[i], strlen(shapes[i]));
        array[127] = '\n';
        for (int k = 0; k < 24; k++) {
            array[128 + k] = (char)(k + 1);
        }
        put_file(name, array, sizeof array);
        expect_parts(name);
    }
    assert_int_equal(remove(name), 0);
}

/* Strips of any height, tiles, colours in planes, compressed. */
static void put_tiff(const char *name, bool tiled, uint32_t rows, bool planes)
{
    enum { WIDTH = 40, HEIGHT = 23 };
    uint8_t part[64 * 64 * 3];
    uint64_t seed = rows;
    TIFF *tiff = TIFFOpen(name, "w");
    assert_non_null(tiff);
    (void)TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, WIDTH);
    (void)TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, HEIGHT);
    (void)TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, 8);
    (void)TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, planes ? 3 : 1);
    (void)TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, planes ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK);
    (void)TIFFSetField(tiff, TIFFTAG_PLANARCONFIG, planes ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    (void)TIFFSetField(tiff, TIFFTAG_COMPRESSION, COMPRESSION_ADOBE_DEFLATE);
    if (tiled) {
        (void)TIFFSetField(tiff, TIFFTAG_TILEWIDTH, 16);
        (void)TIFFSetField(tiff, TIFFTAG_TILELENGTH, rows);
    } else {
        (void)TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
    }
    const uint32_t n = tiled ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
    for (uint32_t i = 0; i < n; i++) {
        for (size_t k = 0; k < sizeof part; k++) {
            part[k] = (uint8_t)random_u64(&seed);
        }
        const uint32_t strip = i % ((HEIGHT + rows - 1) / rows), left = HEIGHT - strip * rows;
        const tmsize_t size = tiled ? TIFFTileSize(tiff) : TIFFVStripSize(tiff, left < rows ? left : rows);
        assert_true(size <= (tmsize_t)sizeof part);
        assert_true(tiled ? TIFFWriteEncodedTile(tiff, i, part, size) == size
                          : TIFFWriteEncodedStrip(tiff, i, part, size) == size);
    }
    TIFFClose(tiff);
}

static void test_tiff(void **state)
{
    (void)state;
    char name[120];
    named(name, sizeof name, ".tif");
    for (uint32_t rows = 1; rows < 25; rows += 3) {
        put_tiff(name, false, rows, false);
        expect_parts(name);
        put_tiff(name, false, rows, true);
        expect_parts(name);
    }
    for (uint32_t rows = 16; rows <= 32; rows += 16) {
        put_tiff(name, true, rows, rows == 16);
        expect_parts(name);
    }
    assert_int_equal(remove(name), 0);
}

/* ---- limits and damage ------------------------------------------------------------------------- */

static void test_limits(void **state)
{
    (void)state;
    char name[120];
    slc_error error;
    named(name, sizeof name, ".npy");
    slc_image image = random_image(SLC_IMAGE_U8, 100, 100, 0, false, 5);
    assert_int_equal(slc_io_image_write(name, &image, &error), SLC_OK);
    pages third = read_part(name, 2, 3, 4000); /* its rows are limited, not the page */
    assert_int_equal(third.status, SLC_END);
    assert_int_equal(third.page[0].height, 33);
    free_pages(&third);
    pages half = read_part(name, 0, 2, 4000);
    assert_int_equal(half.status, SLC_ERR_UNSUPPORTED);
    assert_non_null(
        strstr(half.error.text, "100 x 50 pixels of 8 bits need more than the limit of 4000 bytes"));
    pages wrong = read_part(name, 3, 3, 0);
    assert_int_equal(wrong.open_status, SLC_ERR_USAGE);
    free_image(&image);
    assert_int_equal(remove(name), 0);
}

/* A file that is cut is told by all of them as by one; a wrong sample by who has its row. */
static void test_damage(void **state)
{
    (void)state;
    char name[120], grey[] = "P5\n4 5\n9\n\1\2\3\4\1\2\3\4\1\2\3\4\1\2\3\4\1\2\3\4";
    named(name, sizeof name, ".pgm");
    put_file(name, grey, sizeof grey - 4);
    pages whole = read_path(name);
    assert_int_equal(whole.status, SLC_ERR_FORMAT);
    for (uint32_t part = 0; part < 3; part++) {
        pages read = read_part(name, part, 3, 0);
        assert_int_equal(read.status, SLC_ERR_FORMAT);
        assert_string_equal(read.error.text, whole.error.text);
    }
    grey[sizeof grey - 3] = 77; /* in the last row */
    put_file(name, grey, sizeof grey - 1);
    whole = read_path(name);
    assert_int_equal(whole.status, SLC_ERR_FORMAT);
    pages last = read_part(name, 2, 3, 0), first = read_part(name, 0, 3, 0);
    assert_string_equal(last.error.text, whole.error.text);
    assert_int_equal(first.status, SLC_END);
    free_pages(&first);
    assert_int_equal(remove(name), 0);
}

/* A page of more than 2^32 pixels and 12 GiB, nearly all of it a hole in the file, which no reader could
 * hold. */
static void test_thin(void **state)
{
    (void)state;
    static const char header[] = "P5\n3 4294967294\n255\n";
    const off_t begin = sizeof header - 1, rows = 4294967294;
    char name[120];
    named(name, sizeof name, ".pgm");
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    assert_true(file >= 0);
    assert_int_equal(pwrite(file, header, sizeof header - 1, 0), begin);
    assert_int_equal(pwrite(file, "\7", 1, begin + 3 * (rows - 1) + 2), 1); /* the last pixel */
    assert_int_equal(pwrite(file, "\5", 1, begin + 3 * (rows / 2)), 1);     /* the first of the second half */
    assert_int_equal(close(file), 0);
    const size_t share = (size_t)rows / 4096, more = (size_t)rows % 4096;
    pages last = read_part(name, 4095, 4096, 0), middle = read_part(name, 2048, 4096, 0);
    assert_string_equal(last.error.text, "");
    assert_int_equal(last.n, 1);
    assert_int_equal(last.page[0].height, share);
    assert_true(pixel_at(&last.page[0], 2, share - 1) == 7);
    const size_t first = 2048 * share + (more < 2048 ? more : 2048); /* of the middle part, in the page */
    const size_t y = (size_t)(rows / 2) >= first ? (size_t)(rows / 2) - first : SIZE_MAX;
    if (y < middle.page[0].height) {
        assert_true(pixel_at(&middle.page[0], 0, y) == 5);
    } else {
        pages before = read_part(name, 2047, 4096, 0);
        assert_true(pixel_at(&before.page[0], 0, before.page[0].height - (first - (size_t)(rows / 2))) == 5);
        free_pages(&before);
    }
    free_pages(&last);
    free_pages(&middle);
    pages whole = read_path(name);
    assert_int_equal(whole.status, SLC_ERR_UNSUPPORTED);
    assert_int_equal(remove(name), 0);
}

/* ---- written by several ------------------------------------------------------------------------ */

static void put_rows(const char *name, off_t at, const slc_image *image)
{
    const int file = open(name, O_WRONLY);
    assert_true(file >= 0);
    const size_t row = row_bytes_of(image->type, image->width);
    for (size_t y = image->height; y-- > 0;) {
        const uint8_t *from = (const uint8_t *)image->pixels + (ptrdiff_t)y * image->stride;
        assert_int_equal(pwrite(file, from, row, at + (off_t)(y * row)), row);
    }
    assert_int_equal(close(file), 0);
}

static void test_several_write(void **state)
{
    (void)state;
    char one[120], several[120];
    slc_error error;
    named(one, sizeof one, ".npy");
    named(several, sizeof several, "-2.npy");
    slc_image image = random_image(SLC_IMAGE_U32, 21, 13, 0, false, 6);
    for (size_t n = 1; n < 4; n++) {
        slc_io_writer *a = NULL, *b = NULL;
        slc_image empty = image;
        empty.pixels = NULL;
        assert_int_equal(slc_io_image_writer_open(one, false, &a, &error), SLC_OK);
        assert_int_equal(slc_io_image_writer_open(several, false, &b, &error), SLC_OK);
        assert_string_not_equal(slc_io_temporary(b), several);
        for (size_t p = 0; p < n; p++) {
            assert_int_equal(slc_io_image_writer_add(a, &image, &error), SLC_OK);
            assert_int_equal(slc_io_image_writer_add(b, &empty, &error), SLC_OK);
            put_rows(slc_io_temporary(b), (off_t)(128 + p * 21 * 13 * 4), &image);
        }
        assert_int_equal(slc_io_finish(a, &error), SLC_OK);
        assert_int_equal(slc_io_finish(b, &error), SLC_OK);
        size_t size, other;
        uint8_t *want = file_bytes(one, &size), *found = file_bytes(several, &other);
        assert_int_equal(size, other);
        assert_memory_equal(want, found, size);
        free(want);
        free(found);
    }
    free_image(&image);
    assert_int_equal(remove(one), 0);
    assert_int_equal(remove(several), 0);
}

static void test_several_refused(void **state)
{
    (void)state;
    char name[120];
    slc_error error;
    slc_io_writer *writer = NULL;
    const slc_image endless = {NULL, 4294967294, 4294967294, 4, SLC_IMAGE_U32};
    named(name, sizeof name, ".npy");
    assert_int_equal(slc_io_image_writer_open(name, false, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_image_writer_add(writer, &endless, &error), SLC_ERR_UNSUPPORTED);
    slc_io_abandon(writer);
    named(name, sizeof name, ".tif");
    assert_int_equal(slc_io_image_writer_open(name, false, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_image_writer_add(writer, &endless, &error), SLC_ERR_USAGE);
    slc_io_abandon(writer);
    assert_int_equal(count_files(), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_what_is_written), CASE(test_by_hand), CASE(test_tiff),          CASE(test_limits),
        CASE(test_damage),          CASE(test_thin),    CASE(test_several_write), CASE(test_several_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
