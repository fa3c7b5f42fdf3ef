/* SPDX-License-Identifier: Apache-2.0
 *
 * What a process that is killed leaves of a result file that was flushed: HDF5 itself opens the temporary
 * file, and all that was appended up to the last flush is in it, and nothing else, whatever was written
 * since.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/columns.h"

#include <sluice/io.h>

#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/random.h"
#include "support/temporary_folder.h"

typedef struct sample {
    slc_columns head;
    uint32_t *number;
    int64_t *time;
    double *noise;
} sample;

static const slc_column sample_columns[] = {SOA_COLUMN(sample, number, "index"),
                                            SOA_COLUMN(sample, time, "ps"), SOA_COLUMN(sample, noise, "1")};
SOA_SCHEMA(sample, sample_schema, "sample", sample_columns);

/* Row i: some stretches are compressed well and some are not, so that chunks change their size as they grow,
 * and their places in the file. */
static uint32_t number_of(uint64_t i)
{
    return i / 3000 % 2 == 0 ? 7 : (uint32_t)(i * UINT64_C(0x9e3779b97f4a7c15) >> 32);
}

static double noise_of(uint64_t i)
{
    return (double)(i * UINT64_C(0x2545f4914f6cdd1d) >> 11);
}

/* Events of batch b: b + 1 of them; rows of batch b. */
enum { MOST_ROWS = 9000 };
static size_t rows_of(uint32_t batch)
{
    uint64_t seed = batch + 1;
    return random_below(&seed, MOST_ROWS);
}

static slc_io_results_config config; /* of the files that are written */

static slc_status append(slc_io_writer *writer, sample *s, uint32_t batch, uint64_t *first, slc_error *error)
{
    const size_t n = rows_of(batch);
    slc_columns_reset(s);
    for (size_t i = 0; i < n; i++) {
        s->number[i] = number_of(*first + i);
        s->time[i] = (int64_t)(*first + i);
        s->noise[i] = noise_of(*first + i);
    }
    s->head.size = n / 2;
    slc_columns_end_event(s);
    s->head.size = n;
    slc_columns_end_event(s);
    *first += n;
    const slc_io_group groups[] = {{"a", &sample_schema, s, SLC_IO_ROWS_ANY},
                                   {"b", &sample_schema, s, SLC_IO_ROWS_ANY}};
    return slc_io_results_put(writer, groups, 2, error);
}

static void read_column(hid_t file, const char *name, hid_t type, void *values, hsize_t wanted)
{
    hsize_t rows = 0;
    const hid_t dataset = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(dataset >= 0);
    const hid_t space = H5Dget_space(dataset);
    assert_int_equal(H5Sget_simple_extent_dims(space, &rows, NULL), 1);
    assert_int_equal(rows, wanted);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    (void)H5Sclose(space);
    (void)H5Dclose(dataset);
}

/* All rows of so many batches, no others. */
static void assert_file(const char *name, uint32_t batches)
{
    uint64_t rows = 0;
    for (uint32_t b = 0; b < batches; b++) {
        rows += rows_of(b);
    }
    const hid_t file = H5Fopen(name, H5F_ACC_RDONLY, H5P_DEFAULT);
    assert_true(file >= 0);
    uint64_t *values = malloc((rows + 2 * (size_t)batches + 1) * sizeof *values);
    assert_non_null(values);
    for (int g = 0; g < 2; g++) {
        static const char *const columns[2][4] = {{"/a/number", "/a/time", "/a/noise", "/a/event_offset"},
                                                  {"/b/number", "/b/time", "/b/noise", "/b/event_offset"}};
        read_column(file, columns[g][0], H5T_NATIVE_UINT64, values, rows);
        for (uint64_t i = 0; i < rows; i++) {
            assert_int_equal(values[i], number_of(i));
        }
        read_column(file, columns[g][1], H5T_NATIVE_UINT64, values, rows);
        for (uint64_t i = 0; i < rows; i++) {
            assert_int_equal(values[i], i);
        }
        read_column(file, columns[g][2], H5T_NATIVE_UINT64, values, rows); /* all of them are whole */
        for (uint64_t i = 0; i < rows; i++) {
            assert_int_equal(values[i], (uint64_t)noise_of(i));
        }
        read_column(file, columns[g][3], H5T_NATIVE_UINT64, values, 2 * (hsize_t)batches + 1);
        uint64_t first = 0;
        for (uint32_t b = 0; b < batches; first += rows_of(b++)) {
            assert_int_equal(values[2 * b], first);
            assert_int_equal(values[2 * b + 1], first + rows_of(b) / 2);
        }
        assert_int_equal(values[2 * batches], first);
    }
    free(values);
    assert_true(H5Fclose(file) >= 0);
}

/* Appends `flushed` batches with a flush behind each third and behind the last, then `more` without one; says
 * so, and waits to be killed. */
static void child(uint32_t flushed, uint32_t more, int say)
{
    slc_io_writer *writer = NULL;
    sample s = {.number = NULL};
    uint64_t first = 0;
    slc_status status = slc_columns_reserve(&sample_schema, &s, MOST_ROWS, 2);
    status = status == SLC_OK ? slc_io_results_create(path, &config, &writer, NULL) : status;
    for (uint32_t b = 0; b < flushed + more && status == SLC_OK; b++) {
        status = append(writer, &s, b, &first, NULL);
        if (status == SLC_OK && (b + 1 == flushed || (b % 3 == 2 && b < flushed))) {
            status = slc_io_results_flush(writer, 0, NULL);
        }
    }
    (void)!write(say, status == SLC_OK ? "y" : "n", 1);
    (void)pause();
    _exit(1);
}

static void killed(uint32_t flushed, uint32_t more)
{
    int line[2];
    char word = ' ', name[160];
    assert_int_equal(pipe(line), 0);
    const pid_t process = fork();
    assert_true(process >= 0);
    if (process == 0) {
        child(flushed, more, line[1]);
    }
    assert_int_equal(close(line[1]), 0);
    assert_int_equal(read(line[0], &word, 1), 1);
    assert_int_equal(close(line[0]), 0);
    assert_int_equal(word, 'y');
    assert_int_equal(kill(process, SIGKILL), 0);
    assert_int_equal(waitpid(process, NULL, 0), process);
    (void)snprintf(name, sizeof name, "%s.tmp-%ld", path, (long)process);
    assert_file(name, flushed);
    assert_int_equal(unlink(name), 0);
    assert_int_equal(count_files(), 0);
}

static void what_was_flushed_is_there(void **state)
{
    (void)state;
    static const uint32_t flushed[] = {1, 2, 3, 7, 20, 60}, more[] = {0, 1, 2, 40};
    for (size_t i = 0; i < sizeof flushed / sizeof *flushed; i++) {
        for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
            killed(flushed[i], more[k]);
        }
    }
}

static slc_status write_whole(uint32_t batches, uint32_t flush_each, slc_error *error)
{
    slc_io_writer *writer = NULL;
    sample s = {.number = NULL};
    uint64_t first = 0;
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, MOST_ROWS, 2), SLC_OK);
    slc_status status = slc_io_results_create(path, &config, &writer, error);
    for (uint32_t b = 0; b < batches && status == SLC_OK; b++) {
        status = append(writer, &s, b, &first, error);
        if (status == SLC_OK && b % flush_each == 0) {
            status = slc_io_results_flush(writer, 0, error);
        }
    }
    slc_columns_clear(&sample_schema, &s);
    if (status == SLC_OK) {
        return slc_io_finish(writer, error);
    }
    slc_io_abandon(writer);
    return status;
}

/* Flushes do not show in a file that is finished. */
static void a_finished_file_has_all(void **state)
{
    (void)state;
    for (uint32_t each = 1; each < 9; each += 3) {
        slc_error error = {.status = SLC_OK};
        assert_int_equal(write_whole(40, each, &error), SLC_OK);
        assert_file(path, 40);
    }
}

/* Not before its time. */
static void a_flush_waits(void **state)
{
    (void)state;
    slc_io_writer *writer = NULL;
    sample s = {.number = NULL};
    uint64_t first = 0;
    char name[160];
    assert_int_equal(slc_columns_reserve(&sample_schema, &s, MOST_ROWS, 2), SLC_OK);
    assert_int_equal(slc_io_results_create(path, &config, &writer, NULL), SLC_OK);
    (void)snprintf(name, sizeof name, "%s.tmp-%ld", path, (long)getpid());
    assert_int_equal(append(writer, &s, 0, &first, NULL), SLC_OK);
    assert_int_equal(slc_io_results_flush(writer, 0, NULL), SLC_OK);
    assert_int_equal(append(writer, &s, 1, &first, NULL), SLC_OK);
    assert_int_equal(slc_io_results_flush(writer, 86400, NULL), SLC_OK);
    assert_file(name, 1);
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    assert_file(path, 2);
    slc_columns_clear(&sample_schema, &s);
}

/* The limit on the size of files stands in for a full disk: it is told, and nothing stays. */
static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct rlimit normal;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &normal), 0);
    (void)signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 1000; limit < 2000000; limit = limit * 3 + 17) {
        slc_error error = {.status = SLC_OK};
        const struct rlimit small = {limit, normal.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        const slc_status status = write_whole(60, 2, &error);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &normal), 0);
        assert_int_equal(status, SLC_ERR_IO);
        assert_non_null(strstr(error.text, "File too large"));
        assert_int_equal(count_files(), 0);
    }
    (void)signal(SIGXFSZ, SIG_DFL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_flushed_is_there, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_finished_file_has_all, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_flush_waits, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(a_full_disk_is_told, make_folder, remove_folder),
    };
    slc_io_results_config_default(&config);
    const int plain = cmocka_run_group_tests(tests, NULL, NULL);
    config.compression = SLC_IO_COMPRESSION_DEFLATE;
    config.exec.threads = 2;
    return plain != 0 ? plain : cmocka_run_group_tests_name("compressed", tests, NULL, NULL);
}
