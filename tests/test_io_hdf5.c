/* SPDX-License-Identifier: Apache-2.0
 *
 * HDF5 results, read back through HDF5 itself: values, units, offsets that continue over batches, attributes.
 * And what must not happen: a half file under the final name, a printed error, a crash after a disk was full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <sluice/io.h>

#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "support/rows.h"
#include "support/temporary_folder.h"

/* Value of row i (counted over all batches) in a column of the given number: extremes included, exact in
 * every type. */
static int64_t value_of(size_t column, uint64_t i)
{
    static const int64_t low[] = {0, INT8_MIN, 0, INT16_MIN, 0, INT32_MIN, 0, INT64_MIN, -1000, -100000};
    static const int64_t high[] = {UINT8_MAX, INT8_MAX,  UINT16_MAX, INT16_MAX, UINT32_MAX,
                                   INT32_MAX, INT64_MAX, INT64_MAX,  1000,      100000};
    if (i % 5 == 0) {
        return low[column];
    }
    return i % 5 == 1 ? high[column] : (int64_t)(i * (column + 3) % 120);
}

static void append_row(void *collection, uint64_t i)
{
    every_type *s = collection;
    const size_t row = s->head.size++;
    s->u8[row] = (uint8_t)value_of(0, i);
    s->i8[row] = (int8_t)value_of(1, i);
    s->u16[row] = (uint16_t)value_of(2, i);
    s->i16[row] = (int16_t)value_of(3, i);
    s->u32[row] = (uint32_t)value_of(4, i);
    s->i32[row] = (int32_t)value_of(5, i);
    s->u64[row] = (uint64_t)value_of(6, i);
    s->i64[row] = value_of(7, i);
    s->f32[row] = (float)value_of(8, i);
    s->f64[row] = (double)value_of(9, i);
}

/* Rows continue at `first`. */
static uint64_t fill(every_type *s, uint64_t first, const uint32_t *sizes, uint32_t n_events)
{
    return fill_events(&every_type_schema, s, first, sizes, n_events, append_row);
}

static hsize_t read_column(hid_t file, const char *group, const char *name, hid_t type, size_t size,
                           void **values)
{
    char where[64];
    (void)snprintf(where, sizeof where, "/%s/%s", group, name);
    const hid_t dataset = H5Dopen2(file, where, H5P_DEFAULT);
    assert_true(dataset >= 0);
    const hid_t space = H5Dget_space(dataset);
    hsize_t rows = 0;
    assert_int_equal(H5Sget_simple_extent_dims(space, &rows, NULL), 1);
    *values = calloc(rows + 1, size);
    assert_non_null(*values);
    if (rows > 0) {
        assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, *values) >= 0);
    }
    (void)H5Sclose(space);
    (void)H5Dclose(dataset);
    return rows;
}

static void assert_text(hid_t file, const char *object, const char *name, const char *expected)
{
    char text[128] = "";
    const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(attribute >= 0);
    const hid_t type = H5Aget_type(attribute);
    assert_true(H5Tget_size(type) <= sizeof text);
    assert_true(H5Aread(attribute, type, text) >= 0);
    assert_string_equal(text, expected);
    (void)H5Tclose(type);
    (void)H5Aclose(attribute);
}

/* A 64-bit unsigned column cannot go through int64_t; none of the values exceeds it. */
static void assert_rows(hid_t file, const char *group, uint64_t n)
{
    for (size_t c = 0; c < every_type_schema.n_columns; c++) {
        void *values = NULL;
        const bool is_float = c >= 8;
        assert_int_equal(read_column(file, group, every_type_columns[c].name,
                                     is_float ? H5T_NATIVE_DOUBLE : H5T_NATIVE_INT64, 8, &values),
                         n);
        for (uint64_t i = 0; i < n; i++) {
            if (is_float) {
                assert_true(((double *)values)[i] == (double)value_of(c, i));
            } else {
                assert_true(((int64_t *)values)[i] == value_of(c, i));
            }
        }
        free(values);
        char where[64];
        (void)snprintf(where, sizeof where, "/%s/%s", group, every_type_columns[c].name);
        assert_text(file, where, "unit", every_type_columns[c].unit);
    }
}

static slc_io_results_config config; /* of the files that are written */

static slc_status create(slc_io_writer **writer, slc_error *error)
{
    return slc_io_results_create(path, &config, writer, error);
}

/* The group "none" never has a row. */
static slc_status put(slc_io_writer *writer, const every_type *s, slc_error *error)
{
    static const every_type nothing;
    const slc_io_group groups[] = {{"part", &every_type_schema, s, SLC_IO_ROWS_ANY},
                                   {"none", &every_type_schema, &nothing, SLC_IO_ROWS_ANY}};
    return slc_io_results_put(writer, groups, 2, error);
}

static void join_batches(void)
{
    static const uint32_t first_sizes[] = {3, 0, 20000}, second_sizes[] = {1}, third_sizes[] = {0, 17001};
    static const uint32_t fourth_sizes[] = {200000};
    slc_io_writer *writer = NULL;
    slc_error error = {.status = SLC_OK};
    every_type s = {.u8 = NULL};
    assert_int_equal(create(&writer, &error), SLC_OK);
    assert_int_equal(access(path, F_OK), -1);          /* not yet under its name */
    assert_int_equal(put(writer, &s, &error), SLC_OK); /* no event yet */
    uint64_t rows = fill(&s, 0, first_sizes, 3);
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    rows = fill(&s, rows, second_sizes, 1);
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    rows = fill(&s, rows, third_sizes, 2);
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    rows = fill(&s, rows, fourth_sizes, 1); /* more than a chunk, then the next one's beginning */
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    assert_int_equal(slc_io_results_text(writer, "command", "µ 'quoted'", &error), SLC_OK);
    assert_int_equal(slc_io_results_number(writer, "cut", 0.0095, &error), SLC_OK);
    assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
    assert_int_equal(count_files(), 1);

    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_rows(file, "part", rows);
    assert_rows(file, "none", 0);
    static const uint64_t expected[] = {0, 3, 3, 20003, 20004, 20004, 37005, 237005};
    void *offsets = NULL;
    assert_int_equal(read_column(file, "part", "event_offset", H5T_NATIVE_UINT64, 8, &offsets), 8);
    assert_memory_equal(offsets, expected, sizeof expected);
    free(offsets);
    assert_int_equal(read_column(file, "none", "event_offset", H5T_NATIVE_UINT64, 8, &offsets), 1);
    assert_true(*(uint64_t *)offsets == 0);
    free(offsets);
    assert_text(file, "/", "command", "µ 'quoted'");
    double cut = 0;
    const hid_t attribute = H5Aopen(file, "cut", H5P_DEFAULT);
    assert_true(attribute >= 0 && H5Aread(attribute, H5T_NATIVE_DOUBLE, &cut) >= 0);
    assert_true(cut == 0.0095);
    (void)H5Aclose(attribute);
    assert_true(H5Fclose(file) >= 0);
    slc_columns_clear(&every_type_schema, &s);
}

/* How chunks are encoded, and by how many threads, cannot be seen in the rows; threads not in the bytes. */
static void test_batches_are_joined(void **state)
{
    static uint8_t bytes[2][32 << 20];
    size_t size[2] = {0, 0};
    (void)state;
    for (int how = SLC_IO_COMPRESSION_NONE; how <= SLC_IO_COMPRESSION_DEFLATE; how++) {
        for (uint32_t threads = 1; threads <= 4; threads += 3) {
            config.compression = (slc_io_compression)how;
            config.exec.threads = threads;
            join_batches();
            FILE *file = fopen(path, "rb");
            assert_non_null(file);
            size[threads > 1] = fread(bytes[threads > 1], 1, sizeof bytes[0], file);
            assert_int_equal(fclose(file), 0);
            assert_true(size[threads > 1] < sizeof bytes[0]);
            assert_int_equal(unlink(path), 0);
        }
        assert_int_equal(size[0], size[1]);
        assert_memory_equal(bytes[0], bytes[1], size[0]);
    }
}

/* Columns that were asked for, and no others. */
static void test_columns_of_a_list(void **state)
{
    static const uint32_t sizes[] = {5};
    slc_io_writer *writer = NULL;
    slc_error error = {.status = SLC_OK};
    every_type s = {.u8 = NULL};
    (void)state;
    const uint64_t rows = fill(&s, 0, sizes, 1);
    config.columns = "none,part.i16";
    assert_int_equal(create(&writer, &error), SLC_OK);
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    void *values = NULL;
    assert_true(file >= 0);
    assert_int_equal(read_column(file, "part", "i16", H5T_NATIVE_INT64, 8, &values), rows);
    free(values);
    assert_true(H5Lexists(file, "part/event_offset", H5P_DEFAULT) > 0);
    assert_true(H5Lexists(file, "none/u8", H5P_DEFAULT) > 0);
    assert_true(H5Lexists(file, "part/u8", H5P_DEFAULT) == 0);
    assert_true(H5Fclose(file) >= 0);
    static const char *const wrong[] = {"par", "part.", "part.i1", "part.i164", "part,other", "i16", ".i16"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        config.columns = wrong[i];
        assert_int_equal(create(&writer, &error), SLC_OK);
        assert_int_equal(put(writer, &s, &error), SLC_ERR_USAGE);
        assert_non_null(strstr(error.text, "there is no group or column"));
        slc_io_abandon(writer);
    }
    config.columns = NULL;
    slc_columns_clear(&every_type_schema, &s);
}

static void test_abandoned_leaves_nothing(void **state)
{
    static const uint32_t sizes[] = {5};
    slc_io_writer *writer = NULL;
    slc_error error = {.status = SLC_OK};
    every_type s = {.u8 = NULL};
    (void)state;
    (void)fill(&s, 0, sizes, 1);
    assert_int_equal(create(&writer, &error), SLC_OK);
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    assert_int_equal(count_files(), 1);
    slc_io_abandon(writer);
    assert_int_equal(count_files(), 0);
    slc_io_abandon(NULL);
    slc_columns_clear(&every_type_schema, &s);
}

static void test_refusals(void **state)
{
    static const slc_schema narrower = {.name = "every_type", .columns = every_type_columns, .n_columns = 3};
    slc_io_writer *writer = NULL;
    slc_error error = {.status = SLC_OK};
    every_type s = {.u8 = NULL};
    (void)state;
    assert_int_equal(slc_io_results_create("-", NULL, &writer, &error), SLC_ERR_USAGE);
    assert_null(writer);
    assert_int_equal(slc_io_results_create("/nowhere/x.h5", NULL, &writer, &error), SLC_ERR_IO);
    assert_string_equal(error.text, "/nowhere/x.h5: cannot create: No such file or directory");
    assert_null(writer);
    assert_int_equal(create(&writer, &error), SLC_OK);
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    const slc_io_group other = {"part", &narrower, &s, SLC_IO_ROWS_ANY},
                       late = {"late", &every_type_schema, &s, SLC_IO_ROWS_ANY};
    assert_int_equal(slc_io_results_put(writer, &other, 1, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "group 'part' has other columns"));
    assert_int_equal(slc_io_results_put(writer, &late, 1, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "group 'late' comes late"));
    slc_io_abandon(writer);
}

/* Writes a file of a few chunks; returns the status of the first call that fails. */
static slc_status write_much(const every_type *s, slc_error *error)
{
    slc_io_writer *writer = NULL;
    slc_status status = create(&writer, error);
    if (status != SLC_OK) {
        return status;
    }
    for (int i = 0; i < 8 && status == SLC_OK; i++) {
        status = put(writer, s, error);
    }
    if (status != SLC_OK) {
        slc_io_abandon(writer);
        return status;
    }
    return slc_io_finish(writer, error);
}

/* The limit on the size of files stands in for a full disk. It is met at many places of the writing, in this
 * process, which must survive all of them and then write a good file. */
static void meet_full_disk(void)
{
    static const uint32_t sizes[] = {9000};
    slc_error error = {.status = SLC_OK};
    every_type s = {.u8 = NULL};
    struct rlimit normal;
    struct stat whole;
    enum { STEPS = 40 };
    (void)fill(&s, 0, sizes, 1);
    for (size_t i = 0; i < s.head.size; i++) {
        s.f64[i] = (double)(i * i * 2654435761U % 1000003); /* does not compress */
    }
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &normal), 0);
    assert_int_equal(write_much(&s, &error), SLC_OK);
    assert_int_equal(stat(path, &whole), 0);
    assert_int_equal(remove(path), 0);
    assert_true(whole.st_size > 50000);
    for (int i = 0; i < STEPS; i++) {
        const struct rlimit tight = {.rlim_cur = (rlim_t)whole.st_size * (rlim_t)i / STEPS,
                                     .rlim_max = normal.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        const slc_status status = write_much(&s, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &normal), 0);
        assert_int_equal(status, SLC_ERR_IO);
        assert_non_null(strstr(error.text, "result: cannot write: File too large"));
        assert_int_equal(count_files(), 0);
    }
    assert_int_equal(write_much(&s, &error), SLC_OK);
    assert_int_equal(count_files(), 1);
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    assert_true(H5Fclose(file) >= 0);
    slc_columns_clear(&every_type_schema, &s);
}

static void test_full_disk(void **state)
{
    (void)state;
    for (int how = SLC_IO_COMPRESSION_NONE; how <= SLC_IO_COMPRESSION_DEFLATE; how++) {
        config.compression = (slc_io_compression)how;
        meet_full_disk();
        assert_int_equal(unlink(path), 0);
    }
    config.compression = SLC_IO_COMPRESSION_DEFAULT;
}

/* The caller's own use of HDF5 goes on as before: its error handler is still set, no identifier of ours is
 * left. */
static void test_leaves_hdf5_alone(void **state)
{
    H5E_auto2_t before = NULL, after = NULL;
    void *data = NULL;
    slc_io_writer *writer = NULL;
    slc_error error = {.status = SLC_OK};
    every_type s = {.u8 = NULL};
    (void)state;
    assert_true(H5Eget_auto2(H5E_DEFAULT, &before, &data) >= 0);
    assert_non_null(before);
    assert_int_equal(create(&writer, &error), SLC_OK);
    assert_int_equal(put(writer, &s, &error), SLC_OK);
    assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
    assert_true(H5Eget_auto2(H5E_DEFAULT, &after, &data) >= 0);
    assert_ptr_equal(before, after);
    assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

static size_t written_bytes(uint8_t *bytes, size_t room)
{
    const uint32_t sizes[] = {5};
    slc_io_writer *writer = NULL;
    every_type s = {.u8 = NULL};
    (void)fill(&s, 0, sizes, 1);
    assert_int_equal(create(&writer, NULL), SLC_OK);
    assert_int_equal(put(writer, &s, NULL), SLC_OK);
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    slc_columns_clear(&every_type_schema, &s);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(bytes, 1, room, file);
    assert_int_equal(fclose(file), 0);
    return n;
}

/* The same results are the same bytes, in another second, too: nothing in the file has a time. */
static void test_same_bytes(void **state)
{
    (void)state;
    enum { ROOM = 1 << 17 };
    static uint8_t first[ROOM], second[ROOM];
    const size_t n = written_bytes(first, ROOM);
    assert_true(n > 1000 && n < ROOM);
    const time_t then = time(NULL);
    while (time(NULL) == then) {
        const struct timespec wait = {.tv_nsec = 20000000};
        (void)nanosleep(&wait, NULL);
    }
    assert_int_equal(written_bytes(second, ROOM), n);
    assert_memory_equal(first, second, n);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_batches_are_joined, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_columns_of_a_list, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_abandoned_leaves_nothing, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_refusals, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_full_disk, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_same_bytes, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_leaves_hdf5_alone, make_folder, remove_folder),
    };
    slc_io_results_config_default(&config);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
