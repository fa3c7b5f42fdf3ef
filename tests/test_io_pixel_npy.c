/* SPDX-License-Identifier: Apache-2.0
 *
 * NPY lists of pixels: every integer type in both orders of bytes and axes, rows with numbers out of range,
 * shapes and types that are refused, truncation at every byte.
 */
#include <stdio.h>

#include "support/pixel_files.h"

enum { ROOM = 512, ROWS = 5 };

static const int64_t table[ROWS][4] = {
    {1, 2, 3, 4}, {255, 254, 9, 100}, {0, 0, 0, 0}, {7, 7, 7, 7}, {120, 3, 77, 1}};

/* The first `rows` rows and `columns` columns of a table as a file; returns its size. */
static size_t npy(uint8_t *file, const int64_t (*rows_of)[4], const char *type, bool fortran, size_t rows,
                  size_t columns)
{
    const size_t size = (size_t)(type[2] - '0');
    const int n = snprintf((char *)file + 10, ROOM - 10,
                           "{'descr': '%s', 'fortran_order': %s, 'shape': (%zu, %zu), }\n", type,
                           fortran ? "True" : "False", rows, columns);
    memcpy(file, "\x93NUMPY\x01\0", 8);
    file[8] = (uint8_t)n;
    file[9] = 0;
    size_t at = 10 + (size_t)n;
    for (size_t i = 0; i < rows * columns; i++) {
        const size_t row = fortran ? i % rows : i / columns, column = fortran ? i / rows : i % columns;
        const uint64_t value = (uint64_t)rows_of[row][column];
        for (size_t k = 0; k < size; k++) {
            file[at++] = (uint8_t)(value >> 8 * (type[0] == '>' ? size - 1 - k : k));
        }
    }
    return at;
}

static void test_types_and_orders(void **state)
{
    (void)state;
    static const char *const types[] = {"|u1", "<u2", ">u2", "<u4", ">u4", "<u8", ">u8",
                                        "<i2", ">i2", "<i4", ">i4", "<i8", ">i8"};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        for (size_t columns = 2; columns <= 4; columns++) {
            for (int fortran = 0; fortran < 2; fortran++) {
                uint8_t file[ROOM];
                const size_t size = npy(file, table, types[i], fortran != 0, ROWS, columns);
                pixel_file read = read_pixels(file, size, "a", 2);
                assert_string_equal(read.error.text, "");
                assert_string_equal(read.info.format, "npy");
                assert_int_equal(read.info.with,
                                 (columns > 2 ? SLC_PIXEL_CHARGE : 0) | (columns > 3 ? SLC_PIXEL_TIME : 0));
                assert_int_equal(read.counts.damaged, 0);
                assert_int_equal(read.counts.bytes, size);
                assert_int_equal(read.pixels.head.size, ROWS);
                for (size_t k = 0; k < ROWS; k++) {
                    assert_int_equal(read.pixels.x[k], table[k][0]);
                    assert_int_equal(read.pixels.y[k], table[k][1]);
                    assert_true(columns < 3 || read.pixels.charge[k] == (uint32_t)table[k][2]);
                    assert_true(columns < 4 || read.pixels.time[k] == table[k][3]);
                }
                free_pixels(&read);
            }
        }
    }
}

static void test_numbers_out_of_range(void **state)
{
    (void)state;
    static const int64_t rows[ROWS][4] = {{-1, 0, 0, 0},
                                          {0, 65536, 0, 0},
                                          {0, 0, (int64_t)1 << 32, 0},
                                          {0, 0, 0, -9},
                                          {65535, 65535, UINT32_MAX, INT64_MAX}};
    uint8_t file[ROOM];
    size_t size = npy(file, rows, "<i8", false, ROWS, 4);
    pixel_file read = read_pixels(file, size, "a", 2);
    assert_int_equal(read.counts.damaged, 3);
    assert_int_equal(read.counts.damaged_offset, size - sizeof rows);
    assert_string_equal(read.counts.damaged_reason, "row 0: a negative x");
    assert_int_equal(read.pixels.head.size, 2);
    assert_int_equal(read.pixels.time[0], -9);
    assert_true(read.pixels.time[1] == INT64_MAX);
    free_pixels(&read);
    size = npy(file, rows, "<u8", true, ROWS, 4); /* a time that no i64 has */
    read = read_pixels(file, size, "a", 2);
    assert_int_equal(read.counts.damaged, 4);
    assert_int_equal(read.pixels.head.size, 1);
    free_pixels(&read);
    static const struct {
        int64_t row[4];
        const char *reason;
    } bad[] = {{{65536, 0, 0, 0}, "row 1: an x above 65535"},
               {{0, -1, 0, 0}, "row 1: a negative y"},
               {{0, 65536, 0, 0}, "row 1: a y above 65535"},
               {{0, 0, -1, 0}, "row 1: a negative charge"},
               {{0, 0, (int64_t)1 << 32, 0}, "row 1: a charge above 4294967295"},
               {{0, 0, 0, INT64_MIN}, "row 1: a time above 9223372036854775807"}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int64_t two[2][4] = {{1, 2, 3, 4}};
        memcpy(two[1], bad[i].row, sizeof two[1]);
        const bool unsigned_time = bad[i].row[3] < 0;
        size = npy(file, (const int64_t(*)[4])two, unsigned_time ? "<u8" : "<i8", false, 2, 4);
        read = read_pixels(file, size, "a", 2);
        assert_int_equal(read.status, SLC_END);
        assert_string_equal(read.counts.damaged_reason, bad[i].reason);
        free_pixels(&read);
    }
    size = npy(file, rows, "<i8", false, 3, 4); /* none is good */
    read = read_pixels(file, size, "a", 2);
    assert_int_equal(read.status, SLC_ERR_FORMAT);
    assert_string_equal(read.error.text,
                        "a: byte 70: no row could be read, and 3 are damaged; the first: row "
                        "0: a negative x");
    free_pixels(&read);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *dictionary, *text;
    } cases[] = {
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (1, 2)}",
         "a: byte 20: numbers of this type: u1 to u8, i1 to i8, f4 and f8 can be read"},
        {"{'descr': '|b1', 'fortran_order': False, 'shape': (1, 2)}",
         "a: byte 20: numbers of this type: u1 to u8, i1 to i8, f4 and f8 can be read"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (1, 5)}",
         "a: byte 60: an array of this shape: (pixels, 2 to 4) can be read, the columns being x, y, charge "
         "and time; or records"},
        {"{'descr': '<u2', 'fortran_order': False, 'shape': (4,)}",
         "a: byte 60: an array of this shape: (pixels, 2 to 4) can be read, the columns being x, y, charge "
         "and time; or records"},
        {"{'descr': '<u8', 'fortran_order': True, 'shape': (4294967294, 4)}",
         "a: byte 59: an array in Fortran order must be in memory whole, and needs more than 4 GiB: save it "
         "in "
         "C order"},
        {"{'descr': [('x', '<u2')], 'fortran_order': False, 'shape': (4,)}",
         "a: byte 20: records of which no columns are called x and y"},
        {"{'descr': [('x', '<u2'), ('y', '<u2', (2,))], 'fortran_order': False, 'shape': (4,)}",
         "a: byte 36: a column of records that is no plain number"},
        {"{'descr': [('x', '<u2'), ('y', [('a', 'u1')])], 'fortran_order': False, 'shape': (4,)}", NULL},
        {"{'descr': [('x', '<u2'), ('y', '<U9')], 'fortran_order': False, 'shape': (4,)}",
         "a: byte 20: the column y is of a type that is not read: u1 to u8, i1 to i8, f4 and f8 can be"},
        {"{'descr': [('x', '<u2'), ('y', '<u2')], 'fortran_order': False, 'shape': (4, 1)}",
         "a: byte 83: records of this shape: one dimension can be read"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint8_t file[ROOM] = "\x93NUMPY\x01";
        const size_t n = strlen(cases[i].dictionary);
        file[7] = 0;
        file[8] = (uint8_t)n;
        file[9] = 0;
        memcpy(file + 10, cases[i].dictionary, n);
        assert_not_opened(file, 10 + n, cases[i].text != NULL ? SLC_ERR_UNSUPPORTED : SLC_ERR_FORMAT,
                          cases[i].text != NULL ? cases[i].text : "a: byte 41: a string should be here");
    }
}

static void test_truncation_at_every_byte(void **state)
{
    (void)state;
    uint8_t file[ROOM];
    for (int fortran = 0; fortran < 2; fortran++) {
        const size_t size = npy(file, table, "<u4", fortran != 0, ROWS, 3), head = size - ROWS * 12;
        for (size_t cut = 0; cut < size; cut++) {
            pixel_file read = read_pixels(file, cut, "a", 2);
            assert_int_equal(read.open_status, cut < head ? SLC_ERR_FORMAT : SLC_OK);
            if (cut >= head && fortran == 0) {
                assert_int_equal(read.status, SLC_END);
                assert_int_equal(read.pixels.head.size, (cut - head) / 12);
                assert_int_equal(read.counts.damaged, 1);
                assert_int_equal(read.counts.bytes, cut);
            } else if (cut >= head) {
                assert_int_equal(read.status, SLC_ERR_FORMAT);
                assert_int_equal(read.pixels.head.size, 0);
            }
            assert_true((read.error.text[0] != '\0') == (cut < head || fortran != 0));
            free_pixels(&read);
        }
        file[size] = 1; /* and one byte more */
        pixel_file read = read_pixels(file, size + 1, "a", 2);
        assert_int_equal(read.pixels.head.size, ROWS);
        assert_int_equal(read.counts.damaged, 1);
        assert_int_equal(read.counts.damaged_offset, size);
        free_pixels(&read);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_types_and_orders),
        cmocka_unit_test(test_numbers_out_of_range),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_truncation_at_every_byte),
    };
    return cmocka_run_group_tests_name("io_pixel_npy", tests, NULL, NULL);
}
