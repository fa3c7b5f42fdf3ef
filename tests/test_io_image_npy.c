/* SPDX-License-Identifier: Apache-2.0
 *
 * NPY: headers written by hand and the exact words for what is wrong with them; what numbers become; and
 * files made by NumPy in all of its types, orders and versions, whose pixels NumPy tells as well.
 */
#include <stdio.h>

#include "support/image_files.h"
#include "support/temporary_folder.h"

#include <float.h>
#include <math.h>

/* Debian's own, which has Debian's NumPy, before any other of the same name. */
#define PYTHON "PATH=/usr/bin:$PATH python3"

enum { ROOM = 1024 };

/* A file of version 1 with this dictionary and these bytes; returns its size. */
static size_t npy(uint8_t *file, const char *dictionary, const void *bytes, size_t size)
{
    const size_t n = strlen(dictionary);
    memcpy(file, "\x93NUMPY\x01\0", 8);
    file[8] = (uint8_t)n;
    file[9] = (uint8_t)(n >> 8);
    memcpy(file + 10, dictionary, n);
    memcpy(file + 10 + n, bytes, size);
    return 10 + n + size;
}

#define DICT(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }\n"

static void test_pages_and_orders(void **state)
{
    (void)state;
    uint8_t file[ROOM];
    const uint8_t bytes[24] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11,
                               12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23};
    for (int fortran = 0; fortran < 2; fortran++) {
        const size_t n = npy(
            file, fortran ? DICT("|i1", "True", "(2, 3, 4)") : DICT("|i1", "False", "(2, 3, 4)"), bytes, 24);
        pages read = read_memory(file, n, "a", NULL);
        assert_string_equal(read.error.text, "");
        assert_string_equal(read.format, "npy");
        assert_int_equal(read.n, 2);
        for (size_t p = 0; p < 2; p++) {
            assert_int_equal(read.page[p].width, 4);
            assert_int_equal(read.page[p].height, 3);
            for (size_t y = 0; y < 3; y++) {
                for (size_t x = 0; x < 4; x++) {
                    const size_t element = fortran ? p + 2 * (y + 3 * x) : (p * 3 + y) * 4 + x;
                    assert_true(pixel_at(&read.page[p], x, y) == (double)element);
                }
            }
        }
        free_pages(&read);
    }
}

static void test_dictionaries_of_any_writing(void **state)
{
    (void)state;
    static const char *const same[] = {
        "{\"shape\":(1,2),\"fortran_order\":False,\"descr\":\"<u2\"}",
        "{ 'descr' : '<u2' , 'fortran_order':False,'shape':( 1L , 2L , ) } \n\n",
        DICT("<u2", "False", "(1, 2)"), DICT("<u2", "True", "(1,2,)")};
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        uint8_t file[ROOM];
        const size_t n = npy(file, same[i], "\x01\x02\x03\x04", 4);
        pages read = read_memory(file, n, "a", NULL);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.n, 1);
        assert_int_equal(read.page[0].type, SLC_IMAGE_U16);
        assert_true(pixel_at(&read.page[0], 0, 0) == 0x201);
        assert_true(pixel_at(&read.page[0], 1, 0) == 0x403);
        free_pages(&read);
    }
}

static const struct {
    const char *dictionary, *text;
    slc_status status;
} wrong_headers[] = {
    {"", "a.npy: byte 10: the header should begin with {", SLC_ERR_FORMAT},
    {"{'descr'}", "a.npy: byte 18: a colon should be here", SLC_ERR_FORMAT},
    {"{descr: 1}", "a.npy: byte 11: a string should be here", SLC_ERR_FORMAT},
    {"{'descr': '<u2", "a.npy: byte 20: a string without an end", SLC_ERR_FORMAT},
    {"{'descr': '<u2', 'descr': '<u2'}", "a.npy: byte 27: the header has a key twice", SLC_ERR_FORMAT},
    {"{'order': 1}", "a.npy: byte 11: the header has a key that is not of this format", SLC_ERR_FORMAT},
    {"{'descr': '<u2', 'shape': (1, 2)}", "a.npy: byte 10: the header needs descr, fortran_order and shape",
     SLC_ERR_FORMAT},
    {DICT("<u2", "0", "(1, 2)"), "a.npy: byte 44: True or False should be here", SLC_ERR_FORMAT},
    {DICT("<u2", "False", "1, 2"), "a.npy: byte 60: the shape should begin with (", SLC_ERR_FORMAT},
    {DICT("<u2", "False", "(-1, 2)"), "a.npy: byte 61: a negative size", SLC_ERR_FORMAT},
    {DICT("<u2", "False", "(1, 9223372036854775808)"), "a.npy: byte 64: a size larger than 4294967294",
     SLC_ERR_FORMAT},
    {DICT("<u2", "False", "(1, 999999999999999999999999999999)"),
     "a.npy: byte 64: a size larger than 4294967294", SLC_ERR_FORMAT},
    {DICT("<u2", "False", "(1, x)"), "a.npy: byte 64: a size should be here", SLC_ERR_FORMAT},
    {DICT("<u2", "False", "(1 2)"), "a.npy: byte 63: the shape has no end", SLC_ERR_FORMAT},
    {DICT("<u2", "False", "(1, 2)") "x", "a.npy: byte 70: something follows the header's dictionary",
     SLC_ERR_FORMAT},
    {DICT("<u2", "False", "(6,)"),
     "a.npy: byte 60: an array of 1 dimensions: 2 (an image) and 3 (a stack of images) can be read",
     SLC_ERR_UNSUPPORTED},
    {DICT("<u2", "False", "(1, 2, 3, 4)"),
     "a.npy: byte 60: an array of 4 dimensions: 2 (an image) and 3 (a stack of images) can be read",
     SLC_ERR_UNSUPPORTED},
    {DICT("<u2", "False", "(0, 2)"), "a.npy: byte 60: an array without pixels", SLC_ERR_UNSUPPORTED},
    {DICT("<c8", "False", "(1, 2)"),
     "a.npy: byte 20: an array of type '<c8': bool, u1 to u8, i1 to i8 and f2 to f8 can be read",
     SLC_ERR_UNSUPPORTED},
    {DICT("|O", "False", "(1, 2)"),
     "a.npy: byte 20: an array of type '|O': bool, u1 to u8, i1 to i8 and f2 to f8 can be read",
     SLC_ERR_UNSUPPORTED},
    {"{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1, 2)}",
     "a.npy: byte 20: an array of records: plain numbers can be read", SLC_ERR_UNSUPPORTED},
    {DICT("<u2", "False", "(65536, 32769)"),
     "a.npy: 32769 x 65536 pixels of 16 bits need more than the limit of 4294967296 bytes",
     SLC_ERR_UNSUPPORTED},
    {DICT("<f4", "True", "(2, 65536, 16384)"),
     "a.npy: an array in Fortran order must be in memory whole, and needs more than the limit of "
     "4294967296 bytes",
     SLC_ERR_UNSUPPORTED},
    {DICT("<u2", "False", "(2, 2)"),
     "a.npy: byte 73: the file ends, and of 4 pixels or groups of pixels 3 are missing", SLC_ERR_FORMAT},
    {DICT("<u2", "True", "(2, 2)"),
     "a.npy: byte 72: the file ends, and 5 of 8 bytes of the array are missing", SLC_ERR_FORMAT},
    {DICT("|u1", "False", "(1, 2)"),
     "a.npy: page 2: byte 72: the file goes on behind the array that its header tells of", SLC_ERR_FORMAT},
};

static void test_what_is_wrong_with_a_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof wrong_headers / sizeof *wrong_headers; i++) {
        uint8_t file[ROOM];
        const size_t n = npy(file, wrong_headers[i].dictionary, "abc", 3);
        assert_refused(file, n, "a.npy", wrong_headers[i].status, wrong_headers[i].text);
    }
    assert_refused("\x93NUMPY\x04\0\0\0\0\0", 12, "a.npy", SLC_ERR_UNSUPPORTED,
                   "a.npy: byte 6: NPY version 4.0: 1.0, 2.0 and 3.0 can be read");
    assert_refused("\x93NUMPY\x02\0\xff\xff\xff\xff", 12, "a.npy", SLC_ERR_FORMAT,
                   "a.npy: byte 8: a header of 4294967295 bytes: at most 65536 are allowed");
    assert_refused("\x93NUMPY\x01\0\x40\0{'", 12, "a.npy", SLC_ERR_FORMAT,
                   "a.npy: byte 12: the file ends inside its header of 64 bytes");
}

/* An integer of each kind that no float is, behind one that is. */
static void test_what_a_float_cannot_hold(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary, *bytes, *value;
        size_t size;
    } cases[] = {
        {DICT("<i4", "False", "(1, 2)"), "\1\0\0\1\1\0\0\1", "16777217", 8},
        {DICT("<i4", "False", "(1, 2)"), "\0\0\0\x80\xff\xff\xff\x7f", "2147483647", 8},
        {DICT("<i8", "False", "(1, 2)"), "\0\0\0\0\0\0\0\x80\xff\xff\xff\xff\xff\xff\xff\x7f",
         "9223372036854775807", 16},
        {DICT("<u8", "False", "(1, 2)"), "\0\0\0\0\0\0\0\x80\xff\xff\xff\xff\xff\xff\xff\xff",
         "18446744073709551615", 16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t file[ROOM];
        char text[200];
        const size_t n = npy(file, cases[i].dictionary, cases[i].bytes, cases[i].size);
        const bool first = i == 0;
        (void)snprintf(
            text, sizeof text,
            "a.npy: byte %zu: %s is no 32-bit float, which pixels of this type become: convert the "
            "image to u8, u16, u32 or f32",
            n - (first ? cases[i].size : cases[i].size / 2), cases[i].value);
        assert_refused(file, n, "a.npy", SLC_ERR_FORMAT, text);
    }
}

/* Doubles become the nearest float, ties to even; beyond the largest float is infinity. */
static void test_doubles_are_rounded(void **state)
{
    (void)state;
    static const double in[] = {0.1,      -0.7,    1e300,    -1e300, 1e-300,    3.4028235677973362e38,
                                16777217, -0.0,    INFINITY, 1e-45,  -INFINITY, NAN,
                                3.5e38,   16777219};
    static const float out[] = {0.1F,  -0.7F,    INFINITY, -INFINITY, 0,   FLT_MAX,  16777216,
                                -0.0F, INFINITY, 1e-45F,   -INFINITY, NAN, INFINITY, 16777220};
    enum { N = sizeof in / sizeof *in };
    const uint16_t one = 1;
    const bool little = *(const uint8_t *)&one == 1;
    for (int k = 0; k < 4; k++) {
        const bool swap = k % 2 == 1, fortran = k / 2 == 1;
        uint8_t file[ROOM], bytes[sizeof in], turned[sizeof in];
        memcpy(bytes, in, sizeof in);
        for (size_t i = 0; i < sizeof in; i++) {
            turned[i] = bytes[swap ? i / 8 * 8 + 7 - i % 8 : i];
        }
        const char *const dictionary[2] = {
            fortran ? DICT(">f8", "True", "(2, 7)") : DICT(">f8", "False", "(2, 7)"),
            fortran ? DICT("<f8", "True", "(2, 7)") : DICT("<f8", "False", "(2, 7)")};
        const size_t n = npy(file, dictionary[little != swap], turned, sizeof turned);
        pages read = read_memory(file, n, "a", NULL);
        assert_string_equal(read.error.text, "");
        assert_int_equal(read.page[0].type, SLC_IMAGE_F32);
        for (size_t i = 0; i < N; i++) {
            const double pixel = fortran ? pixel_at(&read.page[0], i / 2, i % 2)
                                         : pixel_at(&read.page[0], i % 7, i / 7);
            assert_true(isnan(out[i]) ? isnan(pixel) : pixel == (double)out[i]);
            assert_true(isnan(pixel) || !signbit(pixel) == !signbit(out[i]));
        }
        free_pages(&read);
    }
}

/* (height, width, 3 or 4) of bytes and words are colours, of any other number stacks of narrow pages. */
static void test_colours(void **state)
{
    (void)state;
    uint8_t file[ROOM];
    const uint8_t rgb[12] = {255, 0, 0, 0, 255, 0, 0, 0, 255, 1, 2, 3};
    const double grey[4] = {76, 150, 29, 2};
    size_t n = npy(file, DICT("|u1", "False", "(2, 2, 3)"), rgb, 12);
    pages read = read_memory(file, n, "a", NULL);
    assert_string_equal(read.error.text, "");
    assert_int_equal(read.n, 1);
    assert_int_equal(read.page[0].type, SLC_IMAGE_U8);
    assert_int_equal(read.page[0].width, 2);
    assert_int_equal(read.page[0].height, 2);
    for (size_t i = 0; i < 4; i++) {
        assert_true(pixel_at(&read.page[0], i % 2, i / 2) == grey[i]);
    }
    free_pages(&read);
    /* Alpha, here 255 and 0, is not looked at; words in the other order of bytes. */
    n = npy(file, DICT(">u2", "True", "(1, 2, 4)"), "\0\1\1\0\0\2\2\0\0\3\3\0\0\xff\0\0", 16);
    read = read_memory(file, n, "a", NULL);
    assert_string_equal(read.error.text, "");
    assert_int_equal(read.n, 1);
    assert_int_equal(read.page[0].type, SLC_IMAGE_U16);
    assert_string_equal(read.warning, "a: of the 4 samples of each pixel the last, alpha, is not read");
    assert_true(pixel_at(&read.page[0], 0, 0) == 2);
    assert_true(pixel_at(&read.page[0], 1, 0) == 465); /* 0.299 256 + 0.587 512 + 0.114 768 = 464.64 */
    free_pages(&read);
    n = npy(file, DICT("|i1", "False", "(2, 2, 3)"), "\1\2\3\4\5\6\7\1\2\3\4\5", 12);
    read = read_memory(file, n, "a", NULL);
    assert_string_equal(read.error.text, "");
    assert_int_equal(read.n, 2);
    assert_int_equal(read.page[1].width, 3);
    free_pages(&read);
    n = npy(file, DICT("|u1", "False", "(2, 2, 3)"), rgb, 11);
    assert_refused(file, n, "a.npy", SLC_ERR_FORMAT,
                   "a.npy: byte 84: the file ends, and of 4 pixels or groups of pixels 1 are missing");
}

/* (height, width, 1) of any number is one image, in both orders of the axes. */
static void test_one_sample(void **state)
{
    (void)state;
    uint8_t file[ROOM];
    for (unsigned fortran = 0; fortran < 2; fortran++) {
        const float values[6] = {0, 1, 2, 3, 4, 5};
        const size_t n = fortran != 0 ? npy(file, DICT("<f4", "True", "(2, 3, 1)"), values, sizeof values)
                                      : npy(file, DICT("<f4", "False", "(2, 3, 1)"), values, sizeof values);
        pages read = read_memory(file, n, "a", NULL);
        assert_string_equal(read.error.text, "");
        assert_string_equal(read.warning, "");
        assert_int_equal(read.n, 1);
        assert_int_equal(read.page[0].width, 3);
        assert_int_equal(read.page[0].height, 2);
        for (size_t i = 0; i < 6; i++) {
            assert_true(pixel_at(&read.page[0], i % 3, i / 3) ==
                        (fortran != 0 ? (double)(i / 3 + 2 * (i % 3)) : (double)i));
        }
        free_pages(&read);
    }
}

/* ---- NumPy ----------------------------------------------------------------------------------- */

/* Makes arrays of every type, order and version, and beside each "<name>.raw": pages, height, width and then
 * the pixels as doubles. Values are such that a float holds them, but for doubles, which are rounded. */
static const char script[] =
    "import numpy as np, sys, warnings\n"
    "warnings.simplefilter('ignore')\n"
    "folder = sys.argv[1]\n"
    "rng = np.random.default_rng(7)\n"
    "names = []\n"
    "for kind in ['b1','u1','u2','u4','u8','i1','i2','i4','i8','f2','f4','f8']:\n"
    "  for order in '<>':\n"
    "    for layout in 'CF':\n"
    "      for version in [(1,0),(2,0),(3,0)]:\n"
    "        for shape in [(5,3),(1,1),(3,4,2),(1,200,3),(2,3,300),(5,130,4)]:\n"
    "          dtype = np.dtype(order + kind)\n"
    "          v = rng.integers(-120 if kind[0] in 'if' else 0, 121, shape)\n"
    "          if kind in ('u4',): v = rng.integers(0, 2**32, shape)\n"
    "          if kind in ('i4','i8'): v = v * 2**20\n"
    "          if kind == 'u8': v = v.astype(np.uint64) << np.uint64(56)\n"
    "          if kind == 'f2': v = v / 64 * 2.0 ** rng.integers(-18, 8, shape)\n"
    "          if kind == 'f4': v = rng.normal(size=shape)\n"
    "          if kind == 'f8': v = rng.normal(size=shape) * 10.0 ** rng.integers(-50, 50, shape)\n"
    "          if kind[0] == 'f': v.flat[0] = [np.nan, np.inf, -np.inf, -0.0][len(names) % 4]\n"
    "          a = np.asarray(v).astype(dtype, order=layout)\n"
    "          name = '%s/%d' % (folder, len(names))\n"
    "          with open(name + '.npy', 'wb') as f: np.lib.format.write_array(f, a, version=version)\n"
    "          with open(name + '.raw', 'wb') as f:\n"
    "            if kind in ('u1','u2') and len(shape) == 3 and shape[2] in (3,4):\n"
    "              a = (a[:,:,:3].astype('u8') @ np.array([299,587,114],'u8') + 500) // 1000\n"
    "            full = ((1,) + a.shape)[-3:]\n"
    "            np.array(full, 'f8').tofile(f)\n"
    "            if kind == 'f8': a = a.astype('f4')\n"
    "            a.reshape(full).astype('f8').tofile(f)\n"
    "          names.append(name)\n"
    "print(len(names))\n";

static void compare_with_raw(const char *folder_name, unsigned i)
{
    char name[160];
    size_t size;
    (void)snprintf(name, sizeof name, "%s/%u.raw", folder_name, i);
    uint8_t *raw = file_bytes(name, &size);
    const double *number = (const double *)(const void *)raw;
    assert_int_equal(unlink(name), 0);
    (void)snprintf(name, sizeof name, "%s/%u.npy", folder_name, i);
    slc_io_images *images = NULL;
    slc_image image;
    slc_error error = {SLC_OK, ""};
    (void)slc_io_images_open(name, NULL, &images, &error);
    assert_string_equal(error.text, "");
    size_t at = 3;
    for (size_t p = 0; p < (size_t)number[0]; p++) {
        (void)slc_io_images_next(images, &image, &error);
        assert_string_equal(error.text, "");
        assert_int_equal(image.height, (size_t)number[1]);
        assert_int_equal(image.width, (size_t)number[2]);
        for (size_t k = 0; k < image.width * image.height; k++, at++) {
            const double pixel = pixel_at(&image, k % image.width, k / image.width);
            assert_true(pixel == number[at] || (isnan(pixel) && isnan(number[at])));
            assert_true(isnan(pixel) || !signbit(pixel) == !signbit(number[at]));
        }
    }
    assert_int_equal(size, at * 8);
    assert_int_equal(slc_io_images_next(images, &image, &error), SLC_END);
    slc_io_images_close(images);
    assert_int_equal(unlink(name), 0);
    free(raw);
}

static bool no_numpy;

static void test_files_of_numpy(void **state)
{
    (void)state;
    if (system(PYTHON " -c 'import numpy' 2>/dev/null") != 0) {
        no_numpy = true;
        print_message("[  SKIPPED ] no NumPy here\n");
        skip();
    }
    char command[256];
    (void)snprintf(command, sizeof command, "%s/make.py", folder);
    FILE *file = fopen(command, "w");
    assert_non_null(file);
    assert_true(fputs(script, file) >= 0);
    assert_int_equal(fclose(file), 0);
    (void)snprintf(command, sizeof command, PYTHON " %s/make.py %s && rm %s/make.py", folder, folder, folder);
    FILE *made = popen(command, "r");
    unsigned n = 0;
    assert_non_null(made);
    assert_int_equal(fscanf(made, "%u", &n), 1);
    assert_int_equal(pclose(made), 0);
    assert_int_equal(n, 12 * 2 * 2 * 3 * 6);
    for (unsigned i = 0; i < n; i++) {
        compare_with_raw(folder, i);
    }
    assert_int_equal(count_files(), 0);
}

/* What we write is what NumPy loads. */
static void test_numpy_reads_ours(void **state)
{
    (void)state;
    if (no_numpy) {
        skip();
    }
    static const char *const types[SLC_IMAGE_TYPES] = {"uint8", "uint16", "uint32", "float32", "uint8"};
    for (int type = 0; type < SLC_IMAGE_TYPES; type++) {
        char name[160], command[512];
        slc_image image = random_image((slc_image_type)type, 13, 4, 0, false, 9);
        (void)snprintf(name, sizeof name, "%s/ours.npy", folder);
        assert_int_equal(slc_io_image_write(name, &image, NULL), SLC_OK);
        double sum = 0;
        for (size_t y = 0; y < 4; y++) {
            for (size_t x = 0; x < 13; x++) {
                sum += pixel_at(&image, x, y) * (double)(y * 13 + x + 1);
            }
        }
        (void)snprintf(command, sizeof command,
                       PYTHON
                       " -c \"import numpy as np; a = np.load('%s'); assert a.shape == (4, 13); "
                       "assert a.dtype == np.%s; s = (a.ravel().astype(float) * np.arange(1, 53)).sum(); "
                       "assert abs(s - %.17g) <= 1e-9 * abs(s)\"",
                       name, types[type], sum);
        assert_int_equal(system(command), 0);
        assert_int_equal(unlink(name), 0);
        free_image(&image);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pages_and_orders),
        cmocka_unit_test(test_dictionaries_of_any_writing),
        cmocka_unit_test(test_what_is_wrong_with_a_header),
        cmocka_unit_test(test_what_a_float_cannot_hold),
        cmocka_unit_test(test_doubles_are_rounded),
        cmocka_unit_test(test_colours),
        cmocka_unit_test(test_one_sample),
        cmocka_unit_test_setup_teardown(test_files_of_numpy, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_numpy_reads_ours, make_folder, remove_folder),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed == 0 && no_numpy ? 77 : failed;
}
