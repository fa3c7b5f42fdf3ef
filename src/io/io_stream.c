/* SPDX-License-Identifier: Apache-2.0
 * Looking ahead in files, pipes and memory. */
#include "io/io_stream.h"

#include "io/io_live.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* A few events' worth: large enough that moving the unread tail to the front costs little. */
enum { FIRST_CAPACITY = 1 << 20 };

/* Who waits for a pipe asks so often whether to go on. */
enum { SLICE_MS = 20 };

/* ---- waiting ----------------------------------------------------------------------------------- */

static _Thread_local struct {
    bool (*give_up)(void *context);
    void *context;
} asked;

void slc_io_stream_ask(bool (*give_up)(void *context), void *context)
{
    asked.give_up = give_up;
    asked.context = context;
}

bool slc_io_stream_is_over(void)
{
    return asked.give_up != NULL && asked.give_up(asked.context);
}

/* A pipe by name is open only once somebody writes to it. Who may give up opens it at once, and waits for the
 * first bytes instead. */
static int open_file(const char *path)
{
    struct stat about;
    const bool at_once = asked.give_up != NULL && stat(path, &about) == 0 && S_ISFIFO(about.st_mode);
    const int file = open(path, O_RDONLY | O_CLOEXEC | (at_once ? O_NONBLOCK : 0));
    if (file >= 0 && at_once) {
        (void)fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
    }
    return file;
}

/* Waits until a read would not. False: nobody wants the bytes any more. */
static bool bytes_come(const slc_io_stream *stream)
{
    struct pollfd ready = {.fd = stream->file, .events = POLLIN};
    while (stream->waits && asked.give_up != NULL) {
        const int n = poll(&ready, 1, SLICE_MS);
        if (n > 0 || (n < 0 && errno != EINTR)) {
            break; /* what is wrong, the read tells */
        }
        if (asked.give_up(asked.context)) {
            return false;
        }
    }
    return true;
}

/* ---- opening ----------------------------------------------------------------------------------- */

static slc_status open_failed(slc_io_stream *stream, const char *reason, slc_error *error)
{
    const slc_status status = slc_fail(error, SLC_ERR_IO, "%s: %s", stream->name, reason);
    slc_io_stream_close(stream);
    return status;
}

slc_status slc_io_stream_open(slc_io_stream *stream, const char *path, slc_error *error)
{
    const bool standard_input = strcmp(path, "-") == 0;
    const char *name = standard_input ? "standard input" : path[0] == '\0' ? "''" : path;
    *stream = (slc_io_stream){.file = -1, .name = strdup(name)};
    if (stream->name == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", name);
    }
    stream->file = standard_input ? STDIN_FILENO : open_file(path);
    if (stream->file < 0) {
        return open_failed(stream, strerror(errno), error);
    }
    struct stat about;
    if (fstat(stream->file, &about) != 0) {
        return open_failed(stream, strerror(errno), error);
    }
    if (S_ISDIR(about.st_mode)) {
        return open_failed(stream, "is a directory, not a file", error);
    }
    stream->waits = !S_ISREG(about.st_mode);
    /* Read, not mapped: a file that is cut while it is being read is then an end, not a signal. The system
     * reads ahead; where there is no file (a pipe), it says so, and nobody minds. */
    (void)posix_fadvise(stream->file, 0, 0, POSIX_FADV_SEQUENTIAL);
    return SLC_OK;
}

slc_status slc_io_stream_open_live(slc_io_stream *stream, struct slc_io_live *live, const char *name,
                                   slc_error *error)
{
    *stream = (slc_io_stream){.file = -1, .name = strdup(name), .live = live};
    if (stream->name == NULL) {
        slc_io_stream_close(stream);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", name);
    }
    return SLC_OK;
}

slc_status slc_io_stream_open_memory(slc_io_stream *stream, const void *bytes, size_t size, const char *name,
                                     slc_error *error)
{
    *stream = (slc_io_stream){.file = -1, .name = strdup(name), .bytes = bytes, .end = size, .at_end = true};
    if (stream->name == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", name);
    }
    return SLC_OK;
}

void slc_io_stream_close(slc_io_stream *stream)
{
    if (stream->file >= 0 && stream->file != STDIN_FILENO) {
        (void)close(stream->file);
    }
    slc_io_live_close(stream->live);
    free(stream->buffer);
    free(stream->name);
    *stream = (slc_io_stream){.file = -1};
}

void slc_io_printable(char *text)
{
    for (; *text != '\0'; text++) {
        *text = (unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f ? '?' : *text;
    }
}

slc_status slc_io_stream_fail_at(const slc_io_stream *stream, slc_error *error, slc_status status,
                                 const char *where, uint64_t place, const char *format, va_list arguments)
{
    char byte[40] = "", reason[400] = "";
    if (place != SLC_IO_NO_PLACE) {
        (void)snprintf(byte, sizeof byte, " byte %llu:", (unsigned long long)place);
    }
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    slc_io_printable(reason);
    return slc_fail(error, status, "%s:%s%s %s", stream->name, where, byte, reason);
}

slc_status slc_io_stream_fail(const slc_io_stream *stream, slc_error *error, slc_status status,
                              uint64_t place, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    status = slc_io_stream_fail_at(stream, error, status, "", place, format, arguments);
    va_end(arguments);
    return status;
}

/* Makes room after `end`: by moving the unread bytes to the front, or by doubling. */
static bool make_room(slc_io_stream *stream)
{
    if (stream->end < stream->capacity) {
        return true;
    }
    if (stream->begin > 0) {
        memmove(stream->buffer, stream->buffer + stream->begin, stream->end - stream->begin);
        stream->end -= stream->begin;
        stream->begin = 0;
        return true;
    }
    const size_t capacity = stream->capacity > 0 ? 2 * stream->capacity : FIRST_CAPACITY;
    uint8_t *larger = realloc(stream->buffer, capacity);
    if (larger == NULL) {
        return false;
    }
    stream->buffer = larger;
    stream->bytes = larger;
    stream->capacity = capacity;
    return true;
}

/* Words of the network. False where nothing more is to be waited for: the deadline, the end, the end of a
 * connection, which is told once before the next one is taken, or a failure. */
static bool read_live(slc_io_stream *stream, double deadline, bool goes_on)
{
    bool over;
    const ssize_t n = slc_io_live_read(stream->live, stream->buffer + stream->end,
                                       stream->capacity - stream->end, deadline, goes_on && stream->at_border,
                                       &over);
    if (n > 0) {
        stream->end += (size_t)n;
        stream->at_border = false;
        return true;
    }
    if (n < 0) {
        stream->wrong = errno == EAGAIN ? 0 : errno;
        return false;
    }
    stream->at_end = over;
    stream->at_border = goes_on;
    return false;
}

/* What comes after the bytes that are at hand. */
static ssize_t read_more(const slc_io_stream *stream, size_t size)
{
    uint8_t *to = stream->buffer + stream->end;
    const uint64_t at = stream->base + stream->offset + (stream->end - stream->begin);
    return stream->placed ? pread(stream->file, to, size, (off_t)at) : read(stream->file, to, size);
}

slc_status slc_io_stream_peek(slc_io_stream *stream, size_t want, const uint8_t **bytes, size_t *visible,
                              slc_error *error)
{
    while (stream->end - stream->begin < want && !stream->at_end && stream->wrong == 0) {
        if (!make_room(stream)) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: byte %llu: no memory for %zu bytes", stream->name,
                            (unsigned long long)stream->offset, 2 * stream->capacity);
        }
        if (stream->live != NULL) {
            if (!read_live(stream, (double)INFINITY, true)) {
                break;
            }
            continue;
        }
        const size_t room = stream->capacity - stream->end;
        const size_t useful = want - (stream->end - stream->begin) + stream->ahead;
        if (!bytes_come(stream)) {
            stream->at_end = true;
            break;
        }
        const ssize_t n = read_more(stream, stream->ahead > 0 && useful < room ? useful : room);
        if (n > 0) {
            stream->end += (size_t)n;
        } else if (n == 0) {
            stream->at_end = true;
        } else if (errno != EINTR) {
            stream->wrong = errno;
        }
    }
    if (stream->wrong != 0 && stream->end - stream->begin < want) {
        return slc_fail(error, SLC_ERR_IO, "%s: byte %llu: cannot read: %s", stream->name,
                        (unsigned long long)(stream->offset + (stream->end - stream->begin)),
                        strerror(stream->wrong));
    }
    *visible = stream->end - stream->begin;
    *bytes = *visible > 0 ? stream->bytes + stream->begin : NULL;
    return SLC_OK;
}

slc_status slc_io_stream_wait(slc_io_stream *stream, size_t want, double deadline, const uint8_t **bytes,
                              size_t *visible, slc_error *error)
{
    size_t least = 0;
    for (bool more = stream->live != NULL; more && stream->end - stream->begin < want && make_room(stream);) {
        more = read_live(stream, deadline, false);
    }
    for (;;) {
        const slc_status status = slc_io_stream_peek(stream, least, bytes, visible, error);
        if (status != SLC_OK || *visible >= want || *visible < least || stream->at_end || stream->file < 0) {
            return status;
        }
        struct pollfd ready = {.fd = stream->file, .events = POLLIN};
        const double left = deadline - slc_clock_seconds();
        const bool slice = asked.give_up != NULL && 1000 * left > SLICE_MS;
        const int n = poll(&ready, 1, slice ? SLICE_MS : left > 0 ? (int)(1000 * left) + 1 : 0);
        if ((n == 0 && (!slice || asked.give_up(asked.context))) || (n < 0 && errno != EINTR)) {
            return SLC_OK;
        }
        least = n > 0 ? *visible + 1 : 0;
    }
}

void slc_io_stream_skip(slc_io_stream *stream, size_t size)
{
    assert(size <= stream->end - stream->begin);
    stream->begin += size;
    stream->offset += size;
    if (stream->begin == stream->end && stream->buffer != NULL) {
        stream->begin = 0;
        stream->end = 0;
    }
}

bool slc_io_stream_turn_away(slc_io_stream *stream, const char *begins, size_t *skipped)
{
    if (!slc_io_live_turn_away(stream->live, begins)) {
        return false;
    }
    *skipped = stream->end - stream->begin;
    slc_io_stream_skip(stream, *skipped);
    stream->at_border = true; /* it need not be told: there was nothing before */
    return true;
}

void slc_io_stream_place(slc_io_stream *stream)
{
    struct stat about;
    if (stream->placed || stream->file < 0 || fstat(stream->file, &about) != 0 || !S_ISREG(about.st_mode)) {
        return;
    }
    const off_t here = lseek(stream->file, 0, SEEK_CUR);
    const uint64_t seen = stream->offset + (stream->end - stream->begin);
    if (here >= 0 && (uint64_t)here >= seen) { /* standard input may begin in the middle of a file */
        stream->placed = true;
        stream->base = (uint64_t)here - seen;
    }
}

bool slc_io_stream_has(slc_io_stream *stream, size_t size)
{
    const uint64_t end = stream->offset + size;
    if (end > stream->size) { /* it may have grown */
        struct stat about;
        const bool known = fstat(stream->file, &about) == 0 && (uint64_t)about.st_size > stream->base;
        stream->size = known ? (uint64_t)about.st_size - stream->base : 0;
    }
    return end <= stream->size;
}

/* Who passes over bytes looks at a page here and a page there, from which the system learns nothing. Of what
 * is in memory already this is a look at a table. */
static void foretell(slc_io_stream *stream)
{
    enum { AHEAD = 32 << 20, PIECE = 256 << 10 /* more at once would be cut off */ };
    const uint64_t until = stream->offset + AHEAD < stream->size ? stream->offset + AHEAD : stream->size;
    if (stream->foretold < stream->offset) {
        stream->foretold = stream->offset;
    }
    for (; stream->foretold + PIECE <= until; stream->foretold += PIECE) {
        (void)posix_fadvise(stream->file, (off_t)(stream->base + stream->foretold), PIECE,
                            POSIX_FADV_WILLNEED);
    }
}

void slc_io_stream_pass(slc_io_stream *stream, size_t size)
{
    assert(stream->placed);
    const size_t unread = stream->end - stream->begin;
    if (size <= unread) {
        slc_io_stream_skip(stream, size);
    } else {
        stream->begin = 0;
        stream->end = 0;
        stream->offset += size;
    }
    foretell(stream);
}

bool slc_io_stream_jump(slc_io_stream *stream, size_t size)
{
    if (size <= stream->end - stream->begin) {
        slc_io_stream_skip(stream, size);
        return true;
    }
    slc_io_stream_place(stream);
    if (!stream->placed || !slc_io_stream_has(stream, size)) {
        return false;
    }
    stream->begin = 0;
    stream->end = 0;
    stream->offset += size;
    return true;
}

slc_status slc_io_stream_give_back(slc_io_stream *stream, const void *bytes, size_t size, slc_error *error)
{
    const size_t unread = stream->end - stream->begin;
    if (stream->capacity < size + unread) {
        uint8_t *larger = realloc(stream->buffer, size + unread);
        if (larger == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: byte %llu: no memory for %zu bytes", stream->name,
                            (unsigned long long)stream->offset, size + unread);
        }
        stream->buffer = larger;
        stream->bytes = larger;
        stream->capacity = size + unread;
    }
    memmove(stream->buffer + size, stream->buffer + stream->begin, unread);
    memcpy(stream->buffer, bytes, size);
    stream->begin = 0;
    stream->end = size + unread;
    stream->offset -= size;
    return SLC_OK;
}

/* Reads the rest of `size` bytes, of which `have` are there, and what may come after them into the buffer,
 * which is empty. Returns how many of them are there. */
static size_t fill(slc_io_stream *stream, uint8_t *to, size_t have, size_t size)
{
    const size_t behind = stream->ahead < stream->capacity ? stream->ahead : stream->capacity;
    while (have < size && !stream->at_end && stream->wrong == 0) {
        const struct iovec parts[2] = {{.iov_base = to + have, .iov_len = size - have},
                                       {.iov_base = stream->buffer, .iov_len = behind}};
        if (!bytes_come(stream)) {
            stream->at_end = true;
            break;
        }
        const ssize_t n = readv(stream->file, parts, 2);
        if (n > 0) {
            const size_t read = (size_t)n, own = read < size - have ? read : size - have;
            have += own;
            stream->begin = 0;
            stream->end = read - own;
        } else if (n == 0) {
            stream->at_end = true;
        } else if (errno != EINTR) {
            stream->wrong = errno;
        }
    }
    return have;
}

slc_status slc_io_stream_take(slc_io_stream *stream, void *to, size_t size, bool *complete, slc_error *error)
{
    const size_t unread = stream->end - stream->begin;
    const size_t seen = unread < size ? unread : size;
    *complete = false;
    if (seen > 0) {
        memcpy(to, stream->bytes + stream->begin, seen);
    }
    if (seen == size) {
        slc_io_stream_skip(stream, size);
        *complete = true;
        return SLC_OK;
    }
    if (stream->file < 0) {
        return SLC_OK; /* memory has no more */
    }
    stream->begin = 0;
    stream->end = 0;
    const size_t have = fill(stream, to, seen, size);
    *complete = have == size;
    stream->offset += have;
    return *complete ? SLC_OK : slc_io_stream_give_back(stream, to, have, error);
}
