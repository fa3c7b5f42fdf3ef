/* SPDX-License-Identifier: Apache-2.0
 *
 * Which files belong to one acquisition. An acquisition that begins further files numbers their names, and
 * writes the same series into all heads. Names are only where to look; heads decide, so that a file of the
 * right name that has always been there, or was put there, is not taken for a part.
 */
#include "io/pet/io_pet_raw.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many bytes of a name are before its ending: "a/run" of "a/run.raw". */
static size_t stem_of(const char *path)
{
    const char *folder = strrchr(path, '/'), *dot = strrchr(path, '.');
    const bool has_ending = dot != NULL && dot != path && (folder == NULL || dot > folder + 1);
    return has_ending ? (size_t)(dot - path) : strlen(path);
}

char *slc_io_pet_raw_name(const char *path, uint32_t number)
{
    const size_t size = strlen(path) + 16, stem = stem_of(path);
    char *name = malloc(size);
    if (name != NULL && number == 0) {
        (void)snprintf(name, size, "%s", path);
    } else if (name != NULL) {
        (void)snprintf(name, size, "%.*s.%04u%s", (int)stem, path, number, path + stem);
    }
    return name;
}

/* Versions before this one wrote an index for seeking beside a file, FILE.index; nothing reads it. */
const uint8_t slc_io_pet_raw_index_magic[8] = {0x89, 'S', 'L', 'C', 'P', 'I', 'X', '\n'};

/* The first bytes of a regular file; false where it is none, or shorter. A pipe would lose them. */
static bool first_bytes(const char *path, uint8_t *bytes, size_t size)
{
    struct stat there;
    const bool regular = stat(path, &there) == 0 && S_ISREG(there.st_mode);
    const int file = regular ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool read_all = file >= 0 && read(file, bytes, size) == (ssize_t)size;
    if (file >= 0) {
        (void)close(file);
    }
    return read_all;
}

bool slc_io_pet_raw_is(const char *path)
{
    uint8_t bytes[sizeof slc_io_pet_raw_magic];
    return first_bytes(path, bytes, sizeof bytes) && memcmp(bytes, slc_io_pet_raw_magic, sizeof bytes) == 0;
}

static bool ends_as_singles(const char *path)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    const bool is = slc_io_pet_singles_end(file);
    if (file >= 0) {
        (void)close(file);
    }
    return is;
}

slc_io_pet_kind slc_io_pet_kind_of(const char *path)
{
    static const struct {
        slc_io_pet_kind kind;
        const uint8_t *magic;
    } kinds[] = {{SLC_IO_PET_KIND_RAW, slc_io_pet_raw_magic},
                 {SLC_IO_PET_KIND_RAW_INDEX, slc_io_pet_raw_index_magic},
                 {SLC_IO_PET_KIND_SINGLES, slc_io_pet_singles_magic}};
    uint8_t bytes[8];
    if (!first_bytes(path, bytes, sizeof bytes)) {
        return SLC_IO_PET_KIND_NONE;
    }
    if (ends_as_singles(path)) {
        return SLC_IO_PET_KIND_SINGLES;
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (memcmp(bytes, kinds[i].magic, sizeof bytes) == 0) {
            return kinds[i].kind;
        }
    }
    return slc_io_pet_is_hdf5(bytes) && slc_io_pet_is_tables(path) ? SLC_IO_PET_KIND_TABLES
                                                                   : SLC_IO_PET_KIND_NONE;
}

bool slc_io_pet_raw_head_of(const char *path, slc_io_pet_raw_head *head)
{
    uint8_t bytes[SLC_PET_RAW_HEAD];
    return first_bytes(path, bytes, sizeof bytes) &&
           memcmp(bytes, slc_io_pet_raw_magic, sizeof slc_io_pet_raw_magic) == 0 &&
           slc_io_pet_raw_head_load(bytes, head) == SLC_OK;
}

/* ---- the files behind one ---------------------------------------------------------------------- */

/* "a/run.raw" of "a/run.0012.raw", number 12. */
char *slc_io_pet_raw_first_name(const char *path, uint32_t number)
{
    char digits[16];
    char *name = strdup(path);
    const size_t stem = stem_of(path);
    const size_t size = (size_t)snprintf(digits, sizeof digits, ".%04u", number);
    /* Without an ending, the number looks like one. */
    const size_t end = path[stem] != '\0' && strcmp(path + stem, digits) == 0 ? strlen(path) : stem;
    if (name != NULL && number > 0 && end > size && memcmp(path + end - size, digits, size) == 0) {
        memmove(name + end - size, path + end, strlen(path) - end + 1);
    }
    return name;
}

/* Is it "run.NNNN.raw", of "run.raw"? */
static bool is_numbered(const char *name, const char *first)
{
    const size_t stem = stem_of(first), size = strlen(name), ending = strlen(first + stem);
    if (size < stem + 5 + ending || memcmp(name, first, stem) != 0 || name[stem] != '.' ||
        strcmp(name + size - ending, first + stem) != 0) {
        return false;
    }
    return strspn(name + stem + 1, "0123456789") == size - stem - 1 - ending;
}

typedef struct found {
    char *path;
    uint32_t file;
} found;

static int by_file(const void *a, const void *b)
{
    const found *x = a, *y = b;
    return x->file != y->file ? (x->file > y->file) - (x->file < y->file) : strcmp(x->path, y->path);
}

/* Takes a file of the folder if it is one of those. False without memory. */
static bool take(const char *first, size_t folder, const char *name, const slc_io_pet_raw_head *of,
                 found **files, size_t *n)
{
    slc_io_pet_raw_head head;
    char *path = malloc(folder + strlen(name) + 1);
    if (path == NULL) {
        return false;
    }
    memcpy(path, first, folder);
    memcpy(path + folder, name, strlen(name) + 1);
    if (!is_numbered(path, first) || !slc_io_pet_raw_head_of(path, &head) || head.series != of->series ||
        head.file <= of->file) {
        free(path);
        return true;
    }
    found *more = realloc(*files, (*n + 1) * sizeof *more);
    if (more == NULL) {
        free(path);
        return false;
    }
    *files = more;
    more[(*n)++] = (found){path, head.file};
    return true;
}

static slc_status look_through(const char *path, const slc_io_pet_raw_head *of, found **files, size_t *n,
                               slc_error *error)
{
    char *first = slc_io_pet_raw_first_name(path, of->file);
    const char *slash = first != NULL ? strrchr(first, '/') : NULL;
    const size_t folder = slash != NULL ? (size_t)(slash - first) + 1 : 0;
    char *place = folder > 0 ? strndup(first, folder) : strdup(".");
    DIR *all = place != NULL ? opendir(place) : NULL;
    slc_status status = SLC_OK;
    if (first == NULL || place == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for names", path);
    } else if (all == NULL) {
        status = slc_fail(error, SLC_ERR_IO, "%s: cannot look for files that follow %s: %s", place, path,
                          strerror(errno));
    }
    const struct dirent *entry;
    while (all != NULL && status == SLC_OK && (entry = readdir(all)) != NULL) {
        if (!take(first, folder, entry->d_name, of, files, n)) {
            status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for names", path);
        }
    }
    if (all != NULL) {
        (void)closedir(all);
    }
    free(place);
    free(first);
    return status;
}

static bool is_link(const char *path)
{
    struct stat there;
    return lstat(path, &there) == 0 && S_ISLNK(there.st_mode);
}

/* Copies the names to one block: where they are, and then themselves. */
static bool give(const found *files, size_t n, slc_io_pet_raw_names *names)
{
    size_t bytes = n * sizeof *names->path;
    for (size_t i = 0; i < n; i++) {
        bytes += strlen(files[i].path) + 1;
    }
    names->path = malloc(bytes);
    if (names->path == NULL) {
        return false;
    }
    char *at = (char *)(names->path + n);
    for (; names->n < n; names->n++) {
        const size_t size = strlen(files[names->n].path) + 1;
        names->path[names->n] = memcpy(at, files[names->n].path, size);
        at += size;
    }
    return true;
}

slc_status slc_io_pet_raw_following(const char *path, slc_io_pet_raw_names *names, slc_error *error)
{
    slc_io_pet_raw_head head;
    found *files = NULL;
    size_t n = 0;
    *names = (slc_io_pet_raw_names){.n = 0};
    if (!slc_io_pet_raw_head_of(path, &head)) {
        return SLC_OK;
    }
    slc_status status = look_through(path, &head, &files, &n, error);
    /* Files beside a link's target have no links of their own, as a rule. */
    char *target = status == SLC_OK && n == 0 && is_link(path) ? realpath(path, NULL) : NULL;
    if (target != NULL) {
        status = look_through(target, &head, &files, &n, error);
    }
    free(target);
    if (status == SLC_OK && n > 0) {
        qsort(files, n, sizeof *files, by_file);
        status = give(files, n, names) ? SLC_OK
                                       : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for names", path);
    }
    for (size_t i = 0; i < n; i++) {
        free(files[i].path);
    }
    free(files);
    return status;
}
