/* SPDX-License-Identifier: Apache-2.0
 *
 * Where an acquisition has ended, for another that goes on with it: the last of its files, the number of the
 * next datagram, and what the modules' counters stood at. Of these a reader of the last files learns, as it
 * would for the file that follows. A GiB of them is read: more would keep a receiver that was restarted away
 * from its sockets, and a module that has sent nothing in that time is as one that was switched off.
 */
#include "io/pet/io_pet_raw.h"
#include "io/pet/io_pet_sequence.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AT_ONCE = 1 << 16 /* frames */ };
static const uint64_t most = UINT64_C(1) << 30; /* bytes */

void slc_io_pet_raw_end_clear(slc_io_pet_raw_end *end)
{
    slc_io_pet_watch_close(end->watch);
    slc_io_pet_format_close(end->format);
    free(end->first);
    free(end->last);
    *end = (slc_io_pet_raw_end){.first = NULL};
}

static uint64_t size_of(const char *path)
{
    struct stat there;
    /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): no status is SLC_OK after slc_fail */
    return stat(path, &there) == 0 && there.st_size > 0 ? (uint64_t)there.st_size : 0;
}

/* The writer keeps a lock on the file that it writes. */
static slc_status check_ended(const char *path, slc_error *error)
{
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    }
    const bool written = flock(file, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    (void)close(file);
    return written ? slc_fail(error, SLC_ERR_IO, "%s: another acquisition is still writing it", path)
                   : SLC_OK;
}

/* ---- the files --------------------------------------------------------------------------------- */

/* The earliest file of the acquisition that is there under a name of it: the first, if it is. */
static slc_status find_first(const char *path, slc_io_pet_raw_end *end, char **earliest, slc_error *error)
{
    slc_io_pet_raw_head head;
    if (access(path, R_OK) != 0) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot open: %s", path, strerror(errno));
    }
    if (!slc_io_pet_raw_head_of(path, &end->head)) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: byte 0: no undamaged head of a raw file, so no acquisition to go on with", path);
    }
    end->first = slc_io_pet_raw_first_name(path, end->head.file);
    const bool there = end->first != NULL && slc_io_pet_raw_head_of(end->first, &head) &&
                       head.series == end->head.series && head.file == 0;
    *earliest = strdup(there ? end->first : path);
    return end->first != NULL && *earliest != NULL
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", path);
}

/* ---- reading ----------------------------------------------------------------------------------- */

static slc_status read_file(slc_io_pet_raw *raw, slc_pet_frame *frames, slc_io_pet_raw_end *end,
                            slc_error *error)
{
    slc_faults faults = {0};
    slc_io_pet_raw_info info;
    size_t n = 0;
    slc_status status;
    do {
        status = slc_io_pet_raw_read(raw, frames, NULL, AT_ONCE, &n, &faults, error);
    } while (status == SLC_OK);
    slc_io_pet_raw_info_of(raw, &info);
    end->damaged += slc_faults_of(&faults, SLC_FAULT_PET_BLOCK);
    end->datagrams = info.datagrams > end->datagrams ? info.datagrams : end->datagrams;
    end->last_ns = info.time_ns > 0 ? info.time_ns : end->last_ns;
    return status == SLC_END ? SLC_OK : status;
}

/* Files from this one on, and of it what is from this byte on. */
static slc_status read_files(const char *const *paths, size_t n, uint64_t place, slc_io_pet_raw_end *end,
                             slc_error *error)
{
    slc_pet_frame *frames = malloc(AT_ONCE * sizeof *frames);
    slc_io_pet_raw *raw = NULL, *before = NULL;
    slc_status status = frames != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for frames");
    for (size_t i = 0; i < n && status == SLC_OK; i++) {
        status = slc_io_pet_raw_open(paths[i], &raw, error);
        if (status == SLC_OK && i == 0 && place > 0 && !slc_io_pet_raw_begin_at(raw, place)) {
            status = slc_fail(error, SLC_ERR_IO, "%s: cannot read from byte %llu on", paths[i],
                              (unsigned long long)place);
        }
        if (status == SLC_OK && before != NULL) {
            (void)slc_io_pet_raw_go_on(raw, before);
        }
        status = status == SLC_OK ? read_file(raw, frames, end, error) : status;
        slc_io_pet_raw_close(before);
        before = raw;
        raw = NULL;
    }
    end->watch = before != NULL ? slc_io_pet_raw_take_watch(before) : NULL;
    end->format = before != NULL ? slc_io_pet_raw_take_format(before) : NULL;
    slc_io_pet_raw_close(before);
    free(frames);
    return status;
}

/* The files' last GiB. */
static slc_status read_end(const char *const *paths, size_t n, slc_io_pet_raw_end *end, slc_error *error)
{
    uint64_t there = 0, before = 0;
    size_t from = n;
    while (from > 0 && there < most) {
        there += size_of(paths[--from]);
    }
    for (size_t i = 0; i < from; i++) {
        before += size_of(paths[i]);
    }
    const uint64_t place = there > most ? there - most : 0;
    end->read_from = before + place;
    slc_status status = read_files(paths + from, n - from, place, end, error);
    if (status == SLC_OK && end->datagrams == 0 && end->read_from > 0) {
        status = slc_fail(error, SLC_ERR_FORMAT,
                          "%s: byte %llu: no undamaged block from there on, so the number of the next "
                          "datagram is not known",
                          paths[from], (unsigned long long)place);
    }
    return status;
}

slc_status slc_io_pet_raw_end_of(const char *path, slc_io_pet_raw_end *end, slc_error *error)
{
    *end = (slc_io_pet_raw_end){.first = NULL};
    char *earliest = NULL;
    slc_io_pet_raw_names names = {.n = 0};
    slc_status status = find_first(path, end, &earliest, error);
    status = status == SLC_OK ? slc_io_pet_raw_following(earliest, &names, error) : status;
    const char **paths = status == SLC_OK ? malloc((names.n + 1) * sizeof *paths) : NULL;
    if (status == SLC_OK && paths == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for names", path);
    }
    if (status == SLC_OK) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
        paths[0] = earliest;
        for (size_t i = 0; i < names.n; i++) {
            paths[i + 1] = names.path[i];
        }
        const char *last = paths[names.n];
        /* NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): no status is SLC_OK after slc_fail */
        end->last = strdup(last);
        status = end->last == NULL ? slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", last)
                 : slc_io_pet_raw_head_of(last, &end->head)
                     ? check_ended(last, error)
                     : slc_fail(error, SLC_ERR_IO, "%s: cannot read its head again", last);
        status = status == SLC_OK ? read_end(paths, names.n + 1, end, error) : status;
    }
    free(paths);
    free(names.path);
    free(earliest);
    return status;
}
