/* SPDX-License-Identifier: Apache-2.0
 *
 * The files of an acquisition as inputs. One that began further files is often named by its first alone; what
 * is in the others must not be left out without a word, and a shell's pattern names them in another order.
 */

#include "cmd_pet.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* With what the file's head says; 0, 0 where there is none. What is wrong with a file is told when it is
 * read. */
typedef struct listed {
    char *path;
    uint64_t series;
    uint32_t file;
    bool is_file; /* and then which: looked at once, as acquisitions have tens of thousands of files */
    dev_t device;
    ino_t number;
} listed;

typedef struct list {
    listed *file;
    int n;
} list;

static listed look(const char *path)
{
    slc_io_pet_raw *raw = NULL;
    slc_error error;
    struct stat there;
    listed file = {.path = strdup(path)};
    file.is_file = stat(path, &there) == 0 && S_ISREG(there.st_mode);
    if (file.is_file) {
        file.device = there.st_dev;
        file.number = there.st_ino;
    }
    if (slc_io_pet_kind_of(path) == SLC_IO_PET_KIND_RAW &&
        slc_io_pet_raw_open(path, &raw, &error) == SLC_OK) {
        slc_io_pet_raw_info info;
        slc_io_pet_raw_info_of(raw, &info);
        file.series = info.series;
        file.file = info.file;
    }
    slc_io_pet_raw_close(raw);
    return file;
}

static void clear(list *files)
{
    for (int i = 0; i < files->n; i++) {
        free(files->file[i].path);
    }
    free(files->file);
}

/* Takes a copy; with `in_order` before the next file of its acquisition that is there, else last. */
static slc_status add(list *files, const char *name, bool in_order, slc_error *error)
{
    const listed file = look(name);
    listed *more = file.path != NULL ? realloc(files->file, ((size_t)files->n + 1) * sizeof *more) : NULL;
    if (more == NULL) {
        free(file.path);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the names of the inputs");
    }
    int at = 0;
    while (at < files->n &&
           !(in_order && file.series != 0 && more[at].series == file.series && more[at].file > file.file)) {
        at++;
    }
    files->file = more;
    memmove(more + at + 1, more + at, (size_t)(files->n - at) * sizeof *more);
    more[at] = file;
    files->n++;
    return SLC_OK;
}

static bool is_listed(const list *files, const char *name)
{
    struct stat there;
    bool found = false;
    const bool is_file = stat(name, &there) == 0 && S_ISREG(there.st_mode);
    for (int i = 0; i < files->n && is_file && !found; i++) {
        const listed *file = &files->file[i];
        found = file->is_file && file->device == there.st_dev && file->number == there.st_ino;
    }
    return found;
}

/* Files that follow one and are not listed, up to the next that is: the rest is told there. */
static void tell_further(const char *command, const char *name, const slc_io_pet_raw_names *behind,
                         const list *files)
{
    size_t n = 0;
    while (n < behind->n && !is_listed(files, behind->path[n])) {
        n++;
    }
    if (n == 1) {
        slc_cli_say(command, "%s goes on in %s, which is not read; --series reads it, too", name,
                    behind->path[0]);
    } else if (n > 1) {
        slc_cli_say(command,
                    "%s goes on in %zu files, %s to %s, which are not read; --series reads them, too", name,
                    n, behind->path[0], behind->path[n - 1]);
    }
}

static slc_status add_series(list *files, const char *name, slc_error *error)
{
    slc_io_pet_raw_names behind = {.n = 0};
    if (is_listed(files, name)) { /* as a part of one that was named before it */
        return SLC_OK;
    }
    slc_status status = add(files, name, true, error);
    status = status == SLC_OK ? slc_io_pet_raw_following(name, &behind, error) : status;
    for (size_t i = 0; status == SLC_OK && i < behind.n; i++) {
        if (!is_listed(files, behind.path[i])) {
            status = add(files, behind.path[i], true, error);
        }
    }
    free(behind.path);
    return status;
}

/* What cannot be looked for is not told of: the files that were named are read all the same. */
static void tell_all(const char *command, const list *files)
{
    for (int i = 0; i < files->n; i++) {
        slc_io_pet_raw_names behind = {.n = 0};
        slc_error error;
        if (files->file[i].series != 0 &&
            slc_io_pet_raw_following(files->file[i].path, &behind, &error) == SLC_OK) {
            tell_further(command, files->file[i].path, &behind, files);
        }
        free(behind.path);
    }
}

/* Hands the names over. */
static slc_status give(list *files, slc_pet_paths *paths, slc_error *error)
{
    paths->path = malloc(((size_t)files->n + 1) * sizeof *paths->path);
    if (paths->path == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the names of the inputs");
    }
    for (int i = 0; i < files->n; i++) {
        paths->path[paths->n++] = files->file[i].path;
        files->file[i].path = NULL;
    }
    return SLC_OK;
}

/* A shell's pattern names the indexes of older versions, too. One that is the only input is refused when it
 * is read. */
static bool pass_over(const char *command, const char *name, int n, bool quiet)
{
    const bool is_index = n > 1 && slc_io_pet_kind_of(name) == SLC_IO_PET_KIND_RAW_INDEX;
    if (is_index && !quiet) {
        slc_cli_say(command, "%s is the index of a raw file: it is passed over", name);
    }
    return is_index;
}

/* What --series has not found, or not read: files of an acquisition begin with number 0. */
static void tell_series(const char *command, const list *files)
{
    for (int i = 0; i < files->n; i++) {
        const listed *file = &files->file[i];
        int others = 0;
        bool first = true;
        for (int k = 0; k < files->n && file->series != 0; k++) {
            const bool same = k != i && files->file[k].series == file->series;
            others += same;
            first = first && !(same && files->file[k].file < file->file);
        }
        if (others == 0) {
            slc_cli_say(command, "no file is found that follows %s in its acquisition", file->path);
        }
        if (file->series != 0 && first && file->file > 0) {
            slc_cli_say(command,
                        "%s is number %u of its acquisition: what was received before it is not read",
                        file->path, file->file);
        }
    }
}

int slc_pet_paths_of(const slc_cli_command *command, char **named, int n, bool series, bool quiet,
                     slc_pet_paths *paths)
{
    slc_error error = {0};
    slc_status status = SLC_OK;
    list files = {.n = 0};
    *paths = (slc_pet_paths){.n = 0};
    for (int i = 0; i < n && status == SLC_OK; i++) {
        if (series && strcmp(named[i], "-") == 0) {
            clear(&files);
            return slc_cli_wrong(command, "--series looks for files, and '-' is none");
        }
        if (pass_over(command->name, named[i], n, quiet)) {
            continue;
        }
        status = series ? add_series(&files, named[i], &error) : add(&files, named[i], false, &error);
    }
    if (status == SLC_OK && !series && !quiet) {
        tell_all(command->name, &files);
    }
    if (status == SLC_OK && series && !quiet) {
        tell_series(command->name, &files);
    }
    status = status == SLC_OK ? give(&files, paths, &error) : status;
    clear(&files);
    if (status != SLC_OK) {
        slc_cli_say(command->name, "%s", error.text);
        return SLC_CLI_FAILED;
    }
    return SLC_CLI_GO_ON;
}

void slc_pet_paths_clear(slc_pet_paths *paths)
{
    for (int i = 0; i < paths->n; i++) {
        free(paths->path[i]);
    }
    free(paths->path);
    *paths = (slc_pet_paths){.n = 0};
}
