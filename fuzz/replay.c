/* SPDX-License-Identifier: Apache-2.0
 *
 * Runs a fuzz target once over files and folders of inputs, without libFuzzer, so that the corpus is a test
 * with any compiler. Prints how many inputs it ran, and fails where there were none: an empty corpus must not
 * pass.
 */
#include "fuzz.h"
#include "io/io_stream.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned long n_inputs;

static bool run_file(const char *path)
{
    void *bytes = NULL;
    size_t size = 0;
    slc_error error = {0};
    if (slc_io_read_file(path, (size_t)16 << 20, &bytes, &size, &error) != SLC_OK) {
        (void)fprintf(stderr, "replay: %s\n", error.text);
        return false;
    }
    (void)LLVMFuzzerTestOneInput(bytes, size);
    free(bytes);
    n_inputs++;
    return true;
}

static bool run_folder(DIR *folder, const char *path)
{
    bool good = true;
    for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        char name[4096];
        if (entry->d_name[0] != '.') {
            (void)snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
            good = run_file(name) && good;
        }
    }
    (void)closedir(folder);
    return good;
}

int main(int argc, char **argv)
{
    bool good = true;
    for (int i = 1; i < argc; i++) {
        DIR *folder = opendir(argv[i]);
        good = (folder != NULL ? run_folder(folder, argv[i]) : run_file(argv[i])) && good;
    }
    (void)printf("%lu inputs\n", n_inputs);
    return good && n_inputs > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
