/* SPDX-License-Identifier: Apache-2.0
 *
 * Results in a series of files: which names there are, what each says of itself, and what is left where one
 * cannot be begun. That together they are what one file has, tests/cli/rotate.sh looks at.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/columns.h"

#include <sluice/io.h>

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

typedef struct rows {
    slc_columns head;
    uint64_t *number;
} rows;
static const slc_column columns[] = {SOA_COLUMN(rows, number, "1")};
SOA_SCHEMA(rows, schema, "rows", columns);

static bool there(const char *name)
{
    struct stat about;
    return stat(name, &about) == 0;
}

static int64_t attribute(const char *name, const char *which)
{
    int64_t value = -1;
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    if (H5Aexists(file, which) > 0) {
        const hid_t a = H5Aopen(file, which, H5P_DEFAULT);
        assert_true(H5Aread(a, H5T_NATIVE_INT64, &value) >= 0);
        (void)H5Aclose(a);
    }
    (void)H5Fclose(file);
    return value;
}

/* Three events of 100 rows: 2 424 bytes. */
static slc_status put(slc_io_writer *writer, slc_error *error)
{
    rows r = {.head = {.size = 0}};
    assert_int_equal(slc_columns_reserve(&schema, &r, 300, 3), SLC_OK);
    for (uint64_t i = 0; i < 300; i++) {
        r.number[r.head.size++] = i;
        if (i % 100 == 99) {
            slc_columns_end_event(&r);
        }
    }
    const slc_io_group group = {"rows", &schema, &r, SLC_IO_ROWS_ANY};
    const slc_status status = slc_io_results_put(writer, &group, 1, error);
    slc_columns_clear(&schema, &r);
    return status;
}

static slc_io_writer *create(const char *name)
{
    slc_error error = {0};
    slc_io_writer *writer = NULL;
    slc_io_results_config config;
    slc_io_results_config_default(&config);
    config.rotate_bytes = 4000;
    assert_int_equal(slc_io_results_create(name, &config, &writer, &error), SLC_OK);
    assert_int_equal(slc_io_results_text(writer, "early", "x", &error), SLC_OK);
    return writer;
}

/* Two calls fill a file. */
static void test_names(void **state)
{
    (void)state;
    slc_error error = {0};
    slc_io_writer *writer = create("a.h5");
    for (int i = 0; i < 5; i++) {
        assert_int_equal(put(writer, &error), SLC_OK);
        assert_int_equal(there("a.h5"), i >= 2); /* complete as soon as the next begins */
        assert_int_equal(there("a.0001.h5"), i >= 4);
    }
    assert_int_equal(slc_io_results_number(writer, "late", 1, &error), SLC_OK);
    assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
    const char *const names[] = {"a.h5", "a.0001.h5", "a.0002.h5"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(attribute(names[i], "file"), i);
        assert_int_equal(attribute(names[i], "first_event"), 6 * i);
        assert_int_equal(attribute(names[i], "files"), i == 2 ? 3 : -1);
        assert_int_equal(attribute(names[i], "late"), i == 2 ? 1 : -1);
    }
    assert_false(there("a.0003.h5"));
}

static void test_given_up(void **state)
{
    (void)state;
    slc_error error = {0};
    slc_io_writer *writer = create("b.h5");
    for (int i = 0; i < 3; i++) {
        assert_int_equal(put(writer, &error), SLC_OK);
    }
    slc_io_abandon(writer);
    assert_true(there("b.h5")); /* it was complete */
    assert_false(there("b.0001.h5"));
}

static void test_in_the_way(void **state)
{
    (void)state;
    slc_error error = {0};
    assert_int_equal(mkdir("c.0001.h5", 0777), 0);
    slc_io_writer *writer = create("c.h5");
    assert_int_equal(put(writer, &error), SLC_OK);
    assert_int_equal(put(writer, &error), SLC_OK);
    assert_int_equal(put(writer, &error), SLC_ERR_IO);
    assert_string_equal(error.text, "c.0001.h5: cannot create: it is a directory");
    assert_int_not_equal(put(writer, &error), SLC_OK);
    assert_int_equal(slc_io_results_flush(writer, 0, &error), SLC_OK);
    assert_int_equal(slc_io_finish(writer, &error), SLC_ERR_IO);
    assert_int_equal(attribute("c.h5", "file"), 0);
    assert_int_equal(rmdir("c.0001.h5"), 0);
}

static void test_no_file(void **state)
{
    (void)state;
    slc_error error = {0};
    slc_io_writer *writer = NULL;
    slc_io_results_config config;
    slc_io_results_config_default(&config);
    config.rotate_seconds = 1;
    config.form = "arrow-stream";
    assert_int_equal(slc_io_results_create("/dev/null", &config, &writer, &error), SLC_ERR_USAGE);
    assert_null(writer);
    assert_string_equal(error.text, "/dev/null: what is no regular file cannot be a series of files");
}

static int enter(void **state)
{
    return make_folder(state) != 0 || chdir(folder) != 0 ? -1 : 0;
}

/* Fails where a test left another file. */
static int leave(void **state)
{
    static const char *const names[] = {"a.h5", "a.0001.h5", "a.0002.h5", "b.h5", "c.h5"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        (void)unlink(names[i]);
    }
    return remove_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_given_up),
        cmocka_unit_test(test_in_the_way),
        cmocka_unit_test(test_no_file),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
