/* SPDX-License-Identifier: Apache-2.0
 *
 * How rows become record batches of Arrow: gathered, split, from groups that are left out; and what is
 * refused. What stands in the columns is compared by tests/cli/results_arrow.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sluice/io.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/rows.h"
#include "support/temporary_folder.h"

typedef struct sample {
    slc_columns head;
    uint8_t *u8;
} sample;

static const slc_column sample_columns[] = {SOA_COLUMN(sample, u8, "index")};
SOA_SCHEMA(sample, sample_schema, "sample", sample_columns);

static void append_row(void *collection, uint64_t i)
{
    sample *s = collection;
    s->u8[s->head.size++] = (uint8_t)i;
}

static void fill(sample *s, const uint32_t *sizes, uint32_t n_events)
{
    (void)fill_events(&sample_schema, s, 0, sizes, n_events, append_row);
}

static uint32_t u32(const uint8_t *at)
{
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

/* Field n of a flatbuffer's table; NULL: it is not there. */
static const uint8_t *field(const uint8_t *table, unsigned n)
{
    const uint8_t *vtable = table - (int32_t)u32(table);
    uint16_t size, at = 0;
    memcpy(&size, vtable, 2);
    if (4 + 2 * n < size) {
        memcpy(&at, vtable + 4 + 2 * (size_t)n, 2);
    }
    return at != 0 ? table + at : NULL;
}

/* Rows of each record batch of a stream that begins `from` bytes into the file; returns how many there are.
 */
static size_t batches(size_t from, int64_t rows[8])
{
    static uint8_t bytes[16 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    assert_int_equal(fclose(file), 0);
    size_t n = 0, at = from;
    while (at + 8 <= size && u32(bytes + at + 4) > 0) {
        assert_int_equal(u32(bytes + at), UINT32_MAX);
        const uint8_t *root = bytes + at + 8, *message = root + u32(root);
        const uint8_t *length = field(message, 3), *header = field(message, 2);
        int64_t body = 0;
        memcpy(&body, length, sizeof body);
        if (*field(message, 1) == 3) {
            assert_true(n < 8);
            memcpy(&rows[n++], field(header + u32(header), 0), sizeof *rows);
        }
        at += 8 + u32(bytes + at + 4) + (size_t)body;
    }
    return n;
}

static slc_io_writer *create(const char *form)
{
    slc_io_results_config config;
    slc_io_writer *writer = NULL;
    slc_error error = {.status = SLC_OK};
    slc_io_results_config_default(&config);
    config.form = form;
    assert_int_equal(slc_io_results_create(path, &config, &writer, &error), SLC_OK);
    return writer;
}

static slc_status put(slc_io_writer *writer, const sample *a, const sample *b, slc_io_rows of_b,
                      slc_error *error)
{
    const slc_io_group groups[] = {{"a", &sample_schema, a, SLC_IO_ROWS_ANY}, {"b", &sample_schema, b, of_b}};
    return slc_io_results_put(writer, groups, b != NULL ? 2 : 1, error);
}

/* Small puts wait for each other, large ones are split between events, an event alone is not. */
static void test_events_are_gathered_and_split(void **state)
{
    static const uint32_t small[] = {3, 0, 5}, large[] = {600000, 400000, 100000, 1200000, 0},
                          ones[] = {1, 1, 1, 1, 1};
    sample a = {.u8 = NULL}, b = {.u8 = NULL};
    int64_t rows[8];
    (void)state;
    slc_io_writer *writer = create("arrow-stream");
    for (int i = 0; i < 2; i++) {
        fill(&a, small, 3);
        fill(&b, ones, 3);
        assert_int_equal(put(writer, &a, &b, SLC_IO_ROWS_ONE, NULL), SLC_OK);
    }
    fill(&a, large, 5);
    fill(&b, ones, 5);
    assert_int_equal(put(writer, &a, &b, SLC_IO_ROWS_ONE, NULL), SLC_OK);
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    assert_int_equal(batches(0, rows), 5);
    assert_true(rows[0] == 6 && rows[1] == 2 && rows[2] == 1 && rows[3] == 1 && rows[4] == 1);
    slc_columns_clear(&sample_schema, &a);
    slc_columns_clear(&sample_schema, &b);
}

/* A group that is left out has empty events; not so one that has a row in each. */
static void test_groups_that_are_left_out(void **state)
{
    static const uint32_t sizes[] = {3, 2};
    sample a = {.u8 = NULL}, none = {.u8 = NULL};
    slc_error error = {.status = SLC_OK};
    int64_t rows[8];
    (void)state;
    fill(&a, sizes, 2);
    for (int of_b = SLC_IO_ROWS_ANY; of_b <= SLC_IO_ROWS_ONE; of_b += SLC_IO_ROWS_ONE) {
        slc_io_writer *writer = create("arrow");
        assert_int_equal(put(writer, &none, &none, (slc_io_rows)of_b, &error), SLC_OK);
        assert_int_equal(put(writer, &a, NULL, SLC_IO_ROWS_ANY, &error), SLC_OK);
        const slc_status status = slc_io_finish(writer, &error);
        assert_int_equal(status, of_b == SLC_IO_ROWS_ANY ? SLC_OK : SLC_ERR_USAGE);
        if (of_b == SLC_IO_ROWS_ANY) {
            assert_int_equal(batches(8, rows), 1);
            assert_true(rows[0] == 2);
            assert_int_equal(unlink(path), 0);
        }
    }
    assert_non_null(strstr(error.text, "group 'b' has not one row an event"));
    assert_int_equal(access(path, F_OK), -1);
    slc_columns_clear(&sample_schema, &a);
}

static void test_refusals(void **state)
{
    static const uint32_t sizes[] = {3, 2, 4};
    sample a = {.u8 = NULL}, b = {.u8 = NULL};
    slc_error error = {.status = SLC_OK};
    (void)state;
    fill(&a, sizes, 2);
    fill(&b, sizes, 3);
    slc_io_writer *writer = create("arrow");
    assert_int_equal(put(writer, &a, &b, SLC_IO_ROWS_ANY, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "groups 'a' and 'b' have not the same events"));
    slc_io_abandon(writer);
    writer = create("arrow");
    assert_int_equal(put(writer, &a, &b, SLC_IO_ROWS_WHOLE, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "rows of group 'b' are no events"));
    assert_int_equal(put(writer, &a, &a, SLC_IO_ROWS_ANY, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "result: cannot write: it failed before"));
    assert_int_equal(slc_io_finish(writer, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "result: cannot write: it failed before"));
    assert_int_equal(count_files(), 0);
    slc_columns_clear(&sample_schema, &a);
    slc_columns_clear(&sample_schema, &b);
}

/* A table is cut into batches of one size, whatever it is put in; what was flushed is a stream. */
static void test_a_table(void **state)
{
    static const uint32_t pieces[] = {100000, 31072, 1, 300000};
    sample a = {.u8 = NULL};
    int64_t rows[8];
    (void)state;
    for (int flushed = 0; flushed < 2; flushed++) {
        slc_io_writer *writer = create("arrow");
        for (size_t i = 0; i < 4; i++) {
            fill(&a, &pieces[i], 1);
            assert_int_equal(put(writer, &a, NULL, SLC_IO_ROWS_ANY, NULL), SLC_OK);
            assert_int_equal(slc_io_results_flush(writer, flushed && i == 0 ? 0 : 1000, NULL), SLC_OK);
        }
        assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
        assert_int_equal(batches(8, rows), 4);
        assert_true(rows[0] == (flushed ? 100000 : 131072) && rows[1] == 131072);
        assert_true(rows[0] + rows[1] + rows[2] + rows[3] == 431073);
    }
    slc_columns_clear(&sample_schema, &a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_events_are_gathered_and_split),
                                       cmocka_unit_test(test_groups_that_are_left_out),
                                       cmocka_unit_test(test_refusals), cmocka_unit_test(test_a_table)};
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
