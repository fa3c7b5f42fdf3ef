/* SPDX-License-Identifier: Apache-2.0
 *
 * Files that an outbox completes are those that slc_io_finish makes: all of them, whole, and none under a
 * temporary name. The first failure, in the order in which they were put, is told whichever thread met it,
 * and costs no other file.
 */
#include "support/cmocka_all.h"

#include <sluice/io.h>

#include "support/temporary_folder.h"

#include <stdint.h>
#include <sys/stat.h>

enum { FILES = 300 };

static void name_of(char name[160], int i)
{
    (void)snprintf(name, 160, "%s/%d", folder, i);
}

static void put(slc_io_outbox *outbox, int i)
{
    char name[160];
    slc_io_writer *writer = NULL;
    slc_error error;
    name_of(name, i);
    assert_int_equal(slc_io_text_create(name, &writer, &error), SLC_OK);
    assert_true(fprintf(slc_io_text_stream(writer), "file %d\n", i) > 0);
    slc_io_outbox_put(outbox, writer);
}

static void assert_whole(int i)
{
    char name[160], wanted[40], found[40] = "";
    name_of(name, i);
    (void)snprintf(wanted, sizeof wanted, "file %d\n", i);
    FILE *file = fopen(name, "rb");
    assert_non_null(file);
    assert_non_null(fgets(found, sizeof found, file));
    assert_int_equal(fclose(file), 0);
    assert_string_equal(found, wanted);
    assert_int_equal(unlink(name), 0);
}

static void test_all_are_completed(void **state)
{
    (void)state;
    slc_io_outbox *outbox;
    slc_error error;
    uint64_t failed = 1;
    assert_int_equal(slc_io_outbox_open(&outbox, &error), SLC_OK);
    for (int i = 0; i < FILES; i++) {
        put(outbox, i);
    }
    assert_int_equal(slc_io_outbox_look(outbox, &error), SLC_OK);
    assert_int_equal(slc_io_outbox_close(outbox, &failed, &error), SLC_OK);
    assert_true(failed == 0);
    assert_int_equal(count_files(), FILES);
    for (int i = 0; i < FILES; i++) {
        assert_whole(i);
    }
}

/* A folder that has taken a file's name meanwhile: it cannot be renamed. */
static void test_failures_are_told(void **state)
{
    (void)state;
    slc_io_outbox *outbox;
    slc_io_writer *writers[3];
    slc_error error;
    uint64_t failed = 0;
    char name[160];
    assert_int_equal(slc_io_outbox_open(&outbox, &error), SLC_OK);
    for (int i = 0; i < 3; i++) {
        name_of(name, 1000 + i);
        assert_int_equal(slc_io_text_create(name, &writers[i], &error), SLC_OK);
        assert_int_equal(mkdir(name, 0700), 0);
    }
    for (int i = 0; i < 40; i++) {
        put(outbox, i);
        if (i % 10 == 9 && i < 39) {
            slc_io_outbox_put(outbox, writers[i / 10]);
        }
    }
    assert_int_equal(slc_io_outbox_close(outbox, &failed, &error), SLC_ERR_IO);
    assert_true(failed == 3);
    name_of(name, 1000);
    assert_int_equal(strncmp(error.text, name, strlen(name)), 0);
    assert_int_equal(count_files(), 43);
    for (int i = 0; i < 40; i++) {
        assert_whole(i);
    }
    for (int i = 0; i < 3; i++) {
        name_of(name, 1000 + i);
        assert_int_equal(rmdir(name), 0);
    }
}

static void test_of_nothing(void **state)
{
    (void)state;
    slc_io_outbox *outbox;
    slc_error error;
    assert_int_equal(slc_io_outbox_close(NULL, NULL, &error), SLC_OK);
    assert_int_equal(slc_io_outbox_open(&outbox, &error), SLC_OK);
    assert_int_equal(slc_io_outbox_close(outbox, NULL, &error), SLC_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_all_are_completed, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_failures_are_told, make_folder, remove_folder),
        cmocka_unit_test(test_of_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
