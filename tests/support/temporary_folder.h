/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder of its own for every test of outputs, as set-up and tear-down of cmocka. Include it after
 * <cmocka.h>.
 */
#ifndef SUPPORT_TEMPORARY_FOLDER_H
#define SUPPORT_TEMPORARY_FOLDER_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[64], path[96]; /* the folder, and a file in it that is not there yet */

static int make_folder(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/sluice-test-XXXXXX");
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof path, "%s/result", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)remove(path);
    return rmdir(folder); /* fails where a test left a file behind */
}

/* Files in the folder, whatever their names. */
static inline int count_files(void)
{
    DIR *open_folder = opendir(folder);
    assert_non_null(open_folder);
    int n = 0;
    for (const struct dirent *entry = readdir(open_folder); entry != NULL; entry = readdir(open_folder)) {
        n += entry->d_name[0] != '.';
    }
    (void)closedir(open_folder);
    return n;
}

/* The file is this text, and nothing else. */
static inline void assert_contents(const char *expected)
{
    char text[2048] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    const size_t n = fread(text, 1, sizeof text - 1, file);
    (void)fclose(file);
    assert_string_equal(text, expected);
    assert_int_equal(n, strlen(expected));
}

#endif
