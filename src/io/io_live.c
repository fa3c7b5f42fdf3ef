/* SPDX-License-Identifier: Apache-2.0
 *
 * Words over the network. All is received into one buffer, so that a datagram is always whole and a word that
 * a read cut waits for its rest. Who gives up still gets what the system had received by then, and no more,
 * as a sender may never cease.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* accept4, SO_RCVBUFFORCE */
#endif
#include "io/io_live.h"

#include "io/io_address.h"
#include "io/io_stream.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#if !defined(SO_MEMINFO)
#define SO_MEMINFO 55
#endif

enum {
    WORD = 8,
    ROOM = 1 << 18,          /* more than the largest datagram */
    SLICE_MS = 20,           /* so often who waits asks whether to go on */
    SOCKET_BYTES = 64 << 20, /* in the system, for datagrams */
    MEMINFO_QUEUED = 0,      /* bytes of datagrams that wait, in the system's measure */
    MEMINFO_DROPS = 8,       /* of 32 bits */
    MEMINFO_VALUES = 16      /* of SO_MEMINFO, linux/sock_diag.h */
};

typedef enum live_kind { CLIENT, LISTENER, DATAGRAMS } live_kind;

static const struct {
    const char *prefix;
    live_kind kind;
} kinds[] = {{"tcp://", CLIENT}, {"tcp-listen://", LISTENER}, {"udp://", DATAGRAMS}};

struct slc_io_live {
    live_kind kind;
    slc_io_pixels_live how;
    int listening, file; /* -1: none */
    bool at_border;      /* a connection has ended, and the next has not been asked for */
    bool is_ending;      /* given up: `left` bytes may still be read */
    uint64_t left;
    uint32_t last_drops;
    slc_io_live_counts counts;
    size_t begin, end, cut; /* whole words that are at hand; up to `cut` a part of one more */
    uint8_t bytes[ROOM];
};

static const char *address_in(const char *path, live_kind *kind)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t n = strlen(kinds[i].prefix);
        if (strncmp(path, kinds[i].prefix, n) == 0) {
            *kind = kinds[i].kind;
            return path + n;
        }
    }
    return NULL;
}

bool slc_io_live_is(const char *path)
{
    live_kind kind;
    return address_in(path, &kind) != NULL;
}

/* ---- open and close ---------------------------------------------------------------------------- */

static bool gives_up(void *context)
{
    const slc_io_live *live = context;
    return (live->how.give_up != NULL && live->how.give_up(live->how.context)) || slc_io_stream_is_over();
}

__attribute__((format(printf, 2, 3))) static void tell(const slc_io_live *live, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (live->how.tell != NULL) {
        live->how.tell(live->how.context, text);
    }
}

/* As much as is allowed, beyond the limit of all (rmem_max) where we may. */
static void enlarge(int file)
{
    const int size = SOCKET_BYTES;
#if defined(SO_RCVBUFFORCE)
    if (setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0) {
        return;
    }
#endif
    (void)setsockopt(file, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

/* A peer that is gone without a word is noticed in the end. */
static void begin_connection(slc_io_live *live, const char *with)
{
    const int yes = 1;
    (void)setsockopt(live->file, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    live->counts.connections++;
    live->at_border = false;
    tell(live, live->kind == CLIENT ? "connected to %s" : "a connection has come%s", with);
}

static slc_status open_sockets(slc_io_live *live, const char *address, slc_error *error)
{
    char text[300];
    slc_status status;
    if (live->kind == CLIENT) {
        status = slc_io_address_reach(address, gives_up, live, &live->file, error);
        if (status != SLC_OK && status != SLC_ERR_USAGE && gives_up(live)) {
            live->is_ending = true; /* nobody answered, and nobody waits any more: an empty input */
            return SLC_OK;
        }
        if (status == SLC_OK) {
            begin_connection(live, address);
        }
        return status;
    }
    (void)snprintf(text, sizeof text, "%s%s", live->kind == LISTENER ? "tcp:" : "", address);
    status = slc_io_address_listen(text, 1, live->kind == LISTENER ? &live->listening : &live->file, error);
    if (status != SLC_OK) {
        return status;
    }
    if (live->kind == DATAGRAMS) {
        enlarge(live->file);
    }
    slc_io_address_of(live->kind == LISTENER ? live->listening : live->file, text, sizeof text);
    tell(live, "listening at %s", text);
    return SLC_OK;
}

slc_status slc_io_live_open(const char *path, const slc_io_pixels_live *how, slc_io_live **out,
                            slc_error *error)
{
    live_kind kind = CLIENT;
    const char *address = address_in(path, &kind);
    *out = NULL;
    slc_io_live *live = malloc(sizeof *live);
    if (live == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to receive", path);
    }
    memset(live, 0, offsetof(slc_io_live, bytes));
    live->kind = kind;
    live->how = how != NULL ? *how : (slc_io_pixels_live){.give_up = NULL};
    live->listening = live->file = -1;
    const slc_status status = open_sockets(live, address, error);
    if (status != SLC_OK) {
        slc_io_live_close(live);
        return status;
    }
    *out = live;
    return SLC_OK;
}

static void drop(int *file)
{
    if (*file >= 0) {
        (void)close(*file);
        *file = -1;
    }
}

void slc_io_live_close(slc_io_live *live)
{
    if (live != NULL) {
        drop(&live->file);
        drop(&live->listening);
        free(live);
    }
}

/* ---- counts ------------------------------------------------------------------------------------ */

static uint32_t meminfo(const slc_io_live *live, int which)
{
    uint32_t values[MEMINFO_VALUES] = {0};
    socklen_t size = sizeof values;
    (void)getsockopt(live->file, SOL_SOCKET, SO_MEMINFO, values, &size);
    return values[which];
}

slc_io_live_counts slc_io_live_count(slc_io_live *live)
{
    if (live->kind == DATAGRAMS && live->file >= 0) {
        const uint32_t now = meminfo(live, MEMINFO_DROPS);
        live->counts.dropped += now - live->last_drops;
        live->last_drops = now;
    }
    return live->counts;
}

/* ---- receiving --------------------------------------------------------------------------------- */

/* What is left of a word at the end of a connection or a datagram. */
static void leave_out_rest(slc_io_live *live)
{
    live->counts.broken_bytes += live->cut - live->end;
    live->cut = live->end;
}

static void end_connection(slc_io_live *live, int wrong)
{
    const size_t rest = live->cut - live->end;
    leave_out_rest(live);
    if (wrong != 0) {
        tell(live, "the connection broke off: %s", strerror(wrong));
    } else if (live->kind == LISTENER || rest > 0) {
        tell(live, rest > 0 ? "a connection has ended inside a word" : "a connection has ended");
    }
    drop(&live->file);
    live->at_border = true;
    live->left = 0;
}

/* Who waits gives up: what the system has by now may still be taken. */
static void begin_to_end(slc_io_live *live)
{
    int there = 0;
    live->is_ending = true;
    if (live->kind == DATAGRAMS) {
        live->left = meminfo(live, MEMINFO_QUEUED);
    } else if (live->file >= 0 && ioctl(live->file, FIONREAD, &there) == 0) {
        live->left = (uint64_t)there;
    }
}

bool slc_io_live_turn_away(slc_io_live *live, const char *begins)
{
    if (live->kind == CLIENT) {
        return false;
    }
    live->begin = live->end = live->cut = 0;
    if (live->kind == LISTENER && live->file >= 0) {
        drop(&live->file);
        live->at_border = true;
        live->left = 0;
    }
    tell(live, "%s no words of a Timepix readout, and was %s: it began with%s",
         live->kind == LISTENER ? "a connection brought" : "a datagram had",
         live->kind == LISTENER ? "closed" : "left out", begins);
    return true;
}

static bool passes(int wrong)
{
    return wrong == EAGAIN || wrong == EWOULDBLOCK || wrong == EINTR || wrong == ENOMEM || wrong == ENOBUFS ||
           wrong == ECONNABORTED;
}

static void take_connection(slc_io_live *live)
{
    live->file = accept4(live->listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (live->file >= 0) {
        begin_connection(live, "");
    }
}

/* Takes what the system has, into the buffer, which has no whole word. False: errno. */
static bool receive(slc_io_live *live)
{
    const size_t part = live->cut - live->end;
    memmove(live->bytes, live->bytes + live->end, part);
    live->begin = live->end = 0;
    live->cut = part;
    const ssize_t n = recv(live->file, live->bytes + part, ROOM - part, MSG_DONTWAIT);
    if (n < 0 && passes(errno)) {
        live->left = live->is_ending && errno != EINTR ? 0 : live->left; /* nothing is there */
        return true;
    }
    if (live->kind == DATAGRAMS) {
        live->counts.datagrams += n >= 0;
    } else if (n <= 0) {
        end_connection(live, n < 0 ? errno : 0);
        return true;
    }
    if (n < 0) {
        return false;
    }
    /* In the system's measure an empty datagram has some size, too. */
    const uint64_t size = (uint64_t)n + (live->kind == DATAGRAMS ? 256 : 0);
    live->left -= live->is_ending ? (size < live->left ? size : live->left) : 0;
    live->cut = part + (size_t)n;
    live->end = live->cut / WORD * WORD;
    if (live->kind == DATAGRAMS) {
        leave_out_rest(live);
    }
    return true;
}

/* Waits for a moment, takes what there is. False: errno. */
static bool turn(slc_io_live *live, double deadline)
{
    const double left = 1000 * (deadline - slc_clock_seconds());
    struct pollfd ready = {.fd = live->file >= 0 ? live->file : live->listening, .events = POLLIN};
    const int wait = live->is_ending || left <= 0 ? 0 : left < SLICE_MS ? (int)left + 1 : SLICE_MS;
    const int n = poll(&ready, 1, wait);
    if (n < 0) {
        return errno == EINTR;
    }
    if (n == 0) {
        live->left = 0;
    } else if (live->file < 0) {
        take_connection(live);
    } else {
        return receive(live);
    }
    return true;
}

ssize_t slc_io_live_read(slc_io_live *live, uint8_t *to, size_t size, double deadline, bool goes_on,
                         bool *over)
{
    *over = false;
    while (live->begin == live->end) {
        const bool was_at_border = live->at_border;
        if (!live->is_ending && gives_up(live)) {
            begin_to_end(live);
        }
        *over = (live->is_ending && live->left == 0) || (live->at_border && live->kind == CLIENT);
        if (*over || (live->at_border && !goes_on)) {
            leave_out_rest(live);
            return 0;
        }
        if (!turn(live, deadline)) {
            return -1;
        }
        if (live->at_border && !was_at_border) {
            *over = live->kind == CLIENT;
            return 0;
        }
        if (live->begin == live->end && slc_clock_seconds() >= deadline) {
            errno = EAGAIN;
            return -1;
        }
    }
    const size_t there = live->end - live->begin, n = there < size ? there : size;
    memcpy(to, live->bytes + live->begin, n);
    live->begin += n;
    return (ssize_t)n;
}
