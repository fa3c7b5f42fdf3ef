/* SPDX-License-Identifier: Apache-2.0
 *
 * NIfTI: headers of both versions and both orders of bytes, written here from the format's documents
 * (nifti1.h, nifti2.h), plain and packed by zlib; every type of voxels, scaled ones, and what is wrong with a
 * file that is cut at every byte.
 */
#include <math.h>
#include <stdio.h>

#include "support/image_files.h"

#include <zlib.h>

enum { ROOM = 4096 };

typedef struct volume {
    int version; /* 1 or 2 */
    bool swap;   /* the other order of bytes than little endian */
    int sides[8];
    int code, bytes; /* of a voxel */
    double slope, inter, begin;
} volume;

static void put(uint8_t *at, uint64_t bits, int size, bool swap)
{
    for (int i = 0; i < size; i++) {
        at[swap ? size - 1 - i : i] = (uint8_t)(bits >> 8 * i);
    }
}

static void put_real(uint8_t *at, double value, int size, bool swap)
{
    const float single = (float)value;
    uint64_t bits = 0;
    uint32_t low = 0;
    memcpy(&bits, &value, sizeof bits);
    memcpy(&low, &single, sizeof low);
    put(at, size == 4 ? low : bits, size, swap);
}

/* The header, and zeros up to the voxels. Returns where they begin. */
static size_t header(uint8_t *file, const volume *v)
{
    const bool second = v->version == 2;
    const int side = second ? 8 : 2;
    memset(file, 0, ROOM);
    put(file, second ? 540 : 348, 4, v->swap);
    memcpy(file + (second ? 4 : 344), second ? "n+2\0\r\n\032\n" : "n+1", second ? 8 : 4);
    put(file + (second ? 12 : 70), (uint64_t)v->code, 2, v->swap);
    put(file + (second ? 14 : 72), 8 * (uint64_t)v->bytes, 2, v->swap);
    for (int i = 0; i < 8; i++) {
        put(file + (second ? 16 : 40) + i * side, (uint64_t)(int64_t)v->sides[i], side, v->swap);
    }
    if (second) {
        put(file + 168, (uint64_t)v->begin, 8, v->swap);
        put_real(file + 176, v->slope, 8, v->swap);
        put_real(file + 184, v->inter, 8, v->swap);
    } else {
        put_real(file + 108, v->begin, 4, v->swap);
        put_real(file + 112, v->slope, 4, v->swap);
        put_real(file + 116, v->inter, 4, v->swap);
    }
    return v->begin > 0 ? (size_t)v->begin : second ? 540 : 348;
}

/* Two slices of three rows of four voxels: 0, 1, 2 …, less three where the type has a sign. */
static double value_of(int code, size_t i)
{
    const bool has_sign = code != 2 && code != 512 && code != 768 && code != 1280;
    return (double)i - (has_sign ? 3 : 0);
}

static size_t make(uint8_t *file, const volume *v)
{
    const size_t begin = header(file, v);
    for (size_t i = 0; i < 24; i++) {
        uint8_t *at = file + begin + i * (size_t)v->bytes;
        if (v->code == 16 || v->code == 64) {
            put_real(at, value_of(v->code, i), v->bytes, v->swap);
        } else {
            put(at, (uint64_t)(int64_t)value_of(v->code, i), v->bytes, v->swap);
        }
    }
    return begin + 24 * (size_t)v->bytes;
}

static size_t pack(const uint8_t *file, size_t size, uint8_t *packed)
{
    z_stream z = {.next_in = (Bytef *)file, .avail_in = (uInt)size, .next_out = packed, .avail_out = ROOM};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t n = ROOM - z.avail_out;
    assert_int_equal(deflateEnd(&z), Z_OK);
    return n;
}

static void expect(const uint8_t *file, size_t size, const volume *v)
{
    const bool scaled = v->slope != 0 && (v->slope != 1 || v->inter != 0);
    pages read = read_memory(file, size, "a.nii", NULL);
    assert_string_equal(read.error.text, "");
    assert_string_equal(read.format, "nifti");
    assert_int_equal(read.n, 2);
    for (size_t i = 0; i < 24; i++) {
        const double raw = value_of(v->code, i);
        const double found = pixel_at(&read.page[i / 12], i % 4, i / 4 % 3);
        assert_true(found == (scaled ? (double)(float)(v->slope * raw + v->inter) : raw));
    }
    free_pages(&read);
}

static const volume plain = {.version = 1, .sides = {3, 4, 3, 2}, .code = 2, .bytes = 1, .begin = 352};

static void every_type(void **state)
{
    (void)state;
    static const int types[][2] = {{2, 1},   {4, 2},   {8, 4},   {16, 4},   {64, 8},
                                   {256, 1}, {512, 2}, {768, 4}, {1024, 8}, {1280, 8}};
    uint8_t file[ROOM], packed[ROOM];
    for (size_t t = 0; t < sizeof types / sizeof *types; t++) {
        for (int form = 0; form < 8; form++) {
            const bool second = (form & 1) != 0, scaled = (form & 4) != 0;
            const volume v = {.version = second ? 2 : 1,
                              .swap = (form & 2) != 0,
                              .sides = {form % 3 == 0 ? 4 : 3, 4, 3, 2, 1, form % 3 == 0 ? 0 : 1},
                              .code = types[t][0],
                              .bytes = types[t][1],
                              .begin = form % 3 == 1 ? 0
                                       : second      ? 560
                                                     : 352,
                              .slope = scaled ? 0.5 : form % 3,
                              .inter = scaled ? -1000 : 0};
            if (!scaled && v.slope > 1) {
                continue;
            }
            const size_t size = make(file, &v);
            expect(file, size, &v);
            expect(packed, pack(file, size, packed), &v);
        }
    }
}

static void expect_error(const uint8_t *file, size_t size, const char *text)
{
    pages read = read_memory(file, size, "a", NULL);
    if (strstr(read.error.text, text) == NULL) {
        fail_msg("'%s' is not in '%s'", text, read.error.text);
    }
    free_pages(&read);
}

/* Nothing is scaled where the slope is no number, as nibabel and SPM write it, whatever the other is; what
 * would make voxels infinite, or no numbers, is refused and not taken as unscaled. */
static void scales_that_are_no_numbers(void **state)
{
    (void)state;
    static const double good[][2] = {{NAN, NAN}, {NAN, 3}, {0, NAN}},
                        bad[][2] = {{2, NAN}, {2, INFINITY}, {INFINITY, 0}, {-INFINITY, NAN}, {1, NAN}};
    uint8_t file[ROOM];
    for (int version = 1; version <= 2; version++) {
        volume v = plain;
        v.version = version;
        v.begin = version == 1 ? 352 : 560;
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
            v.slope = good[i][0];
            v.inter = good[i][1];
            const size_t size = make(file, &v);
            v.slope = v.inter = 0; /* what is expected */
            expect(file, size, &v);
        }
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
            v.slope = bad[i][0];
            v.inter = bad[i][1];
            expect_error(file, make(file, &v),
                         version == 1 ? "byte 112: voxels that are to be scaled by"
                                      : "byte 176: voxels that are to be scaled by");
        }
    }
}

static void what_is_wrong(void **state)
{
    (void)state;
    uint8_t file[ROOM];
    volume v = plain;
    v.sides[0] = 0;
    expect_error(file, make(file, &v), "byte 40: 0 dimensions");
    v.sides[0] = 8;
    expect_error(file, make(file, &v), "8 dimensions");
    v = plain;
    v.sides[2] = -3;
    expect_error(file, make(file, &v), "byte 44: side 2");
    v = plain;
    v.sides[0] = 4;
    v.sides[4] = 7;
    expect_error(file, make(file, &v), "byte 48: 7 volumes");
    v = plain;
    v.code = 128;
    expect_error(file, make(file, &v), "byte 70: voxels of type 128");
    v = plain;
    const size_t size = make(file, &v);
    put_real(file + 108, 300, 4, false);
    expect_error(file, size, "byte 108: voxels that begin at byte 300");
    put_real(file + 108, -1, 4, false);
    expect_error(file, size, "byte 108: voxels that begin at byte -1");
    put_real(file + 108, 352.5, 4, false);
    expect_error(file, size, "byte 108: voxels that begin at byte 352.5");
    (void)make(file, &v);
    put(file + 72, 8 * (uint64_t)v.bytes + 8, 2, false);
    expect_error(file, size, "byte 72: voxels of type");
    put(file + 72, 0, 2, false); /* as some writers leave it */
    pages untold = read_memory(file, size, "a", NULL);
    assert_int_equal(untold.n, 2);
    free_pages(&untold);
    (void)make(file, &v);
    memcpy(file + 344, "ni1", 3);
    expect_error(file, size, "a pair of files");
}

static void what_is_behind_is_told(void **state)
{
    (void)state;
    uint8_t file[ROOM];
    const size_t size = make(file, &plain);
    slc_io_images *images = NULL;
    slc_image image;
    slc_error error;
    assert_int_equal(slc_io_images_open_memory(file, size + 1, "a.nii", NULL, &images, &error), SLC_OK);
    assert_int_equal(slc_io_images_next(images, &image, &error), SLC_OK);
    assert_int_equal(slc_io_images_next(images, &image, &error), SLC_OK);
    assert_null(slc_io_images_warning(images));
    assert_int_equal(slc_io_images_next(images, &image, &error), SLC_END);
    assert_non_null(strstr(slc_io_images_warning(images), "behind the last slice"));
    slc_io_images_close(images);
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    uint8_t file[ROOM], packed[ROOM];
    const size_t size = make(file, &plain), n = pack(file, size, packed);
    for (size_t cut = 1; cut < size; cut++) {
        pages read = read_memory(file, cut, "a", NULL);
        assert_true(read.error.text[0] != '\0');
        assert_true(read.n < 2);
        free_pages(&read);
    }
    for (size_t cut = 1; cut < n; cut++) {
        pages read = read_memory(packed, cut, "a", NULL);
        assert_true(read.error.text[0] != '\0');
        free_pages(&read);
    }
}

static void damaged_packing(void **state)
{
    (void)state;
    uint8_t file[ROOM], packed[ROOM];
    const size_t size = make(file, &plain), n = pack(file, size, packed);
    packed[n - 5] ^= 1; /* the checksum */
    expect_error(packed, n, "cannot be unpacked");
    expect_error(packed, pack((const uint8_t *)"not of NIfTI", 12, packed), "unpack it first");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type),        cmocka_unit_test(scales_that_are_no_numbers),
        cmocka_unit_test(what_is_wrong),     cmocka_unit_test(what_is_behind_is_told),
        cmocka_unit_test(cut_at_every_byte), cmocka_unit_test(damaged_packing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
