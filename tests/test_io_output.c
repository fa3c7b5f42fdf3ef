/* SPDX-License-Identifier: Apache-2.0
 *
 * Output files appear complete under their final name or not at all: committed, abandoned, over an older
 * file, in a folder that is not there, on a full disk (/dev/full stands in), and after a failed rename.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "io/io_output.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/temporary_folder.h"

static void test_commit_makes_the_file_appear(void **state)
{
    (void)state;
    slc_io_output output;
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_true(fputs("whole", output.stream) >= 0);
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(count_files(), 1);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_contents("whole");
    assert_int_equal(count_files(), 1);
    slc_io_output_abandon(&output); /* harmless on a closed output */
    assert_contents("whole");
}

static void test_abandon_keeps_the_older_file(void **state)
{
    (void)state;
    slc_io_output output;
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_true(fputs("older", output.stream) >= 0);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_true(fputs("newer", output.stream) >= 0);
    assert_contents("older");
    slc_io_output_abandon(&output);
    assert_contents("older");
    assert_int_equal(count_files(), 1);
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_true(fputs("newest", output.stream) >= 0);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_contents("newest");
}

/* A large one is let go by the kernel: who has it open reads it to the end, and no descriptor is left. */
static void test_large_files_are_replaced(void **state)
{
    (void)state;
    static const char block[1 << 20] = "older";
    slc_io_output output;
    const int before = dup(0);
    (void)close(before);
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    for (int i = 0; i < 9; i++) {
        assert_int_equal(fwrite(block, sizeof block, 1, output.stream), 1);
    }
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    const int reader = open(path, O_RDONLY);
    assert_int_equal(reader, before);
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_true(fputs("newer", output.stream) >= 0);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_contents("newer");
    assert_int_equal(count_files(), 1);
    char last[1 << 10];
    assert_int_equal(pread(reader, last, sizeof last, 8 << 20), sizeof last);
    assert_memory_equal(last, block, sizeof last);
    const int after = dup(0);
    assert_int_equal(after, before + 1);
    (void)close(after);
    (void)close(reader);
}

static void test_reserved_names(void **state)
{
    (void)state;
    slc_io_output output;
    assert_int_equal(slc_io_output_reserve_name(&output, path, NULL), SLC_OK);
    assert_null(output.stream);
    assert_int_equal(access(output.temporary, W_OK), 0);
    assert_int_equal(access(path, F_OK), -1);
    FILE *file = fopen(output.temporary, "wb");
    assert_non_null(file);
    assert_true(fputs("by name", file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_contents("by name");
    assert_int_equal(slc_io_output_reserve_name(&output, path, NULL), SLC_OK);
    slc_io_output_abandon(&output);
    assert_contents("by name");
    assert_int_equal(count_files(), 1);
}

/* A link goes on naming its file, a device is written to and stays one, a folder is refused at once. */
static void test_links_devices_and_folders(void **state)
{
    (void)state;
    slc_io_output output;
    slc_error error = {SLC_OK, ""};
    char link[sizeof path + 8];
    struct stat there;
    (void)snprintf(link, sizeof link, "%s.link", path);
    assert_int_equal(symlink(path, link), 0);
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_int_equal(slc_io_output_open(&output, link, NULL), SLC_OK);
    assert_true(fputs("through the link", output.stream) >= 0);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_contents("through the link");
    assert_true(lstat(link, &there) == 0 && S_ISLNK(there.st_mode));
    assert_int_equal(unlink(link), 0);
    assert_int_equal(slc_io_output_open(&output, "/dev/null", NULL), SLC_OK);
    assert_null(output.temporary);
    assert_true(fputs("into the void", output.stream) >= 0);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_true(lstat("/dev/null", &there) == 0 && S_ISCHR(there.st_mode));
    assert_int_equal(slc_io_output_reserve_name(&output, "/dev/null", &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "/dev/null"));
    assert_int_equal(slc_io_output_open(&output, "/", &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "directory"));
    assert_null(output.path);
}

static void test_folder_that_is_not_there(void **state)
{
    (void)state;
    slc_io_output output;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_io_output_open(&output, "/nonexistent-folder/a.h5", &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, "/nonexistent-folder/a.h5"));
    assert_null(output.path);
    slc_io_output_abandon(&output);
    assert_int_equal(slc_io_output_reserve_name(&output, "/nonexistent-folder/a.h5", &error), SLC_ERR_IO);
    assert_null(output.path);
}

/* The temporary name is made to lead to /dev/full, where every flush fails. */
static void test_full_disk(void **state)
{
    (void)state;
    if (access("/dev/full", W_OK) != 0) {
        print_message("[  SKIPPED ] no /dev/full here\n");
        skip();
    }
    slc_io_output output;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_non_null(freopen("/dev/full", "wb", output.stream));
    assert_true(fputs("nowhere to go", output.stream) >= 0);
    assert_int_equal(slc_io_output_commit(&output, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, path));
    assert_non_null(strstr(error.text, "No space left"));
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(count_files(), 0);
}

/* The final name has become a folder in the meantime. */
static void test_failed_rename(void **state)
{
    (void)state;
    slc_io_output output;
    slc_error error = {SLC_OK, ""};
    assert_int_equal(slc_io_output_open(&output, path, NULL), SLC_OK);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(slc_io_output_commit(&output, &error), SLC_ERR_IO);
    assert_non_null(strstr(error.text, path));
    assert_int_equal(count_files(), 1);
    assert_int_equal(rmdir(path), 0);
}

static void test_standard_output_stays_open(void **state)
{
    (void)state;
    slc_io_output output;
    assert_int_equal(slc_io_output_open(&output, "-", NULL), SLC_OK);
    assert_ptr_equal(output.stream, stdout);
    assert_null(output.temporary);
    assert_int_equal(slc_io_output_commit(&output, NULL), SLC_OK);
    assert_true(puts("still open") >= 0);
    assert_int_equal(slc_io_output_open(&output, "-", NULL), SLC_OK);
    slc_io_output_abandon(&output);
    assert_true(puts("still open") >= 0);
    assert_int_equal(fflush(stdout), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_commit_makes_the_file_appear, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_abandon_keeps_the_older_file, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_large_files_are_replaced, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_reserved_names, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_links_devices_and_folders, make_folder, remove_folder),
        cmocka_unit_test(test_folder_that_is_not_there),
        cmocka_unit_test_setup_teardown(test_full_disk, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(test_failed_rename, make_folder, remove_folder),
        cmocka_unit_test(test_standard_output_stays_open),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
