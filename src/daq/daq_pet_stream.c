/* SPDX-License-Identifier: Apache-2.0
 *
 * Streams. One thread looks after all connections of an address (poll): the system keeps what comes
 * meanwhile, and makes senders wait where it has no room, so that nothing is dropped.
 */
#include "daq/daq_pet_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum { ROOM = 4 * 65536, MOST = SLC_DAQ_PET_CONNECTIONS };

typedef struct connection {
    int file; /* -1: none */
    char peer[80];
    size_t n; /* bytes that are there */
    uint64_t messages, bytes;
    uint8_t *room;
} connection;

struct slc_daq_pet_stream {
    slc_daq_pet_stream_config config;
    connection of[MOST];
    _Atomic uint64_t connections, broken, broken_bytes;
};

slc_status slc_daq_pet_stream_open(const slc_daq_pet_stream_config *config, slc_daq_pet_stream **out)
{
    slc_daq_pet_stream *s = calloc(1, sizeof *s);
    *out = s;
    if (s == NULL) {
        return SLC_ERR_MEMORY;
    }
    s->config = *config;
    for (int i = 0; i < MOST; i++) {
        s->of[i].file = -1;
    }
    return SLC_OK;
}

void slc_daq_pet_stream_close(slc_daq_pet_stream *s)
{
    for (int i = 0; s != NULL && i < MOST; i++) {
        if (s->of[i].file >= 0) {
            (void)close(s->of[i].file);
        }
        free(s->of[i].room);
    }
    free(s);
}

slc_daq_pet_stream_counts slc_daq_pet_stream_counts_of(const slc_daq_pet_stream *s)
{
    return (slc_daq_pet_stream_counts){atomic_load(&s->connections), atomic_load(&s->broken),
                                       atomic_load(&s->broken_bytes)};
}

/* ---- connections ------------------------------------------------------------------------------- */

/* What is left is part of a message that will not be whole. `why` is NULL where the other side ended it. */
static void end(slc_daq_pet_stream *s, connection *c, const char *why)
{
    char text[320], left[96] = "";
    if (c->n > 0) {
        atomic_fetch_add(&s->broken, 1);
        atomic_fetch_add(&s->broken_bytes, c->n);
        (void)snprintf(left, sizeof left, "; %zu bytes of a message that is not whole are left out", c->n);
    }
    (void)snprintf(text, sizeof text, "%s: connection %s%s after %" PRIu64 " messages%s", c->peer,
                   why != NULL ? "broken: " : "ended", why != NULL ? why : "", c->messages, left);
    s->config.note(s->config.note_context, text);
    (void)close(c->file);
    c->file = -1;
    c->n = 0;
}

static void name(const struct sockaddr_storage *at, socklen_t length, char *text, size_t size)
{
    char host[64] = "?", port[8] = "?";
    (void)getnameinfo((const struct sockaddr *)at, length, host, sizeof host, port, sizeof port,
                      NI_NUMERICHOST | NI_NUMERICSERV);
    (void)snprintf(text, size, strchr(host, ':') != NULL ? "[%s]:%s" : "%s:%s", host, port);
}

static connection *free_one(slc_daq_pet_stream *s)
{
    for (int i = 0; i < MOST; i++) {
        connection *c = &s->of[i];
        if (c->file < 0 && (c->room != NULL || (c->room = malloc(ROOM)) != NULL)) {
            return c;
        }
    }
    return NULL;
}

/* All that ask for one; where there are too many, others wait until one ends. */
static void take_connections(slc_daq_pet_stream *s)
{
    for (;;) {
        connection *c = free_one(s);
        struct sockaddr_storage at;
        socklen_t length = sizeof at;
        const int file = c != NULL ? accept(s->config.file, (struct sockaddr *)&at, &length) : -1;
        if (file < 0) {
            return;
        }
        (void)fcntl(file, F_SETFL, O_NONBLOCK);
        (void)fcntl(file, F_SETFD, FD_CLOEXEC);
        *c = (connection){.file = file, .room = c->room};
        name(&at, length, c->peer, sizeof c->peer);
        atomic_fetch_add(&s->connections, 1);
        char text[128];
        (void)snprintf(text, sizeof text, "%s: connected", c->peer);
        s->config.note(s->config.note_context, text);
    }
}

/* ---- messages ---------------------------------------------------------------------------------- */

static uint32_t length_of(const slc_daq_pet_stream_config *config, const uint8_t *at)
{
    uint32_t length = 0;
    for (uint32_t i = 0; i < config->length_bytes; i++) {
        length = length << 8 | at[config->big ? i : config->length_bytes - 1 - i];
    }
    return length;
}

/* How many bytes at `at` are the next message, with its length; 0: it is not there yet. SIZE_MAX: none can
 * be. */
static size_t message_at(const slc_daq_pet_stream_config *config, const uint8_t *at, size_t n)
{
    if (config->length_bytes == 0) {
        const size_t whole = n < SLC_DAQ_PET_MESSAGE ? n : SLC_DAQ_PET_MESSAGE;
        return whole / config->record * config->record;
    }
    if (n < config->length_bytes) {
        return 0;
    }
    const uint32_t length = length_of(config, at);
    if (length > SLC_DAQ_PET_MESSAGE) {
        return SIZE_MAX;
    }
    return n >= config->length_bytes + (size_t)length ? config->length_bytes + (size_t)length : 0;
}

/* Gives the messages that are there, and keeps the rest. False: they are not wanted any more. */
static bool give(slc_daq_pet_stream *s, connection *c)
{
    const slc_daq_pet_stream_config *config = &s->config;
    size_t at = 0, size;
    while ((size = message_at(config, c->room + at, c->n - at)) > 0) {
        if (size == SIZE_MAX) {
            char why[96];
            (void)snprintf(why, sizeof why, "byte %" PRIu64 ": a message of %u bytes, %d at most,",
                           c->bytes + at, length_of(config, c->room + at), SLC_DAQ_PET_MESSAGE);
            c->n -= at;
            end(s, c, why);
            return true;
        }
        if (!config->take(config->context, c->room + at + config->length_bytes,
                          size - config->length_bytes)) {
            return false;
        }
        c->messages++;
        at += size;
    }
    memmove(c->room, c->room + at, c->n - at);
    c->n -= at;
    c->bytes += at;
    return true;
}

/* So many bytes at most. False: they are not wanted any more. */
static bool receive(slc_daq_pet_stream *s, connection *c, size_t most)
{
    const size_t room = ROOM - c->n, wanted = most < room ? most : room;
    const ssize_t got = recv(c->file, c->room + c->n, wanted, 0);
    if (got > 0) {
        c->n += (size_t)got;
        return give(s, c);
    }
    if (got == 0) {
        end(s, c, NULL);
    } else if (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) {
        end(s, c, strerror(errno));
    }
    return true;
}

bool slc_daq_pet_stream_turn(slc_daq_pet_stream *s, int wait_ms)
{
    struct pollfd look[MOST + 1];
    connection *which[MOST + 1];
    nfds_t n = 0;
    which[n] = NULL;
    look[n++] = (struct pollfd){.fd = s->config.file, .events = POLLIN};
    for (int i = 0; i < MOST; i++) {
        if (s->of[i].file >= 0) {
            which[n] = &s->of[i];
            look[n++] = (struct pollfd){.fd = s->of[i].file, .events = POLLIN};
        }
    }
    if (n == MOST + 1) {
        look[0].fd = -1; /* who asks now waits until one ends */
    }
    if (poll(look, n, wait_ms) < 0) {
        return errno == EINTR;
    }
    for (nfds_t i = 1; i < n; i++) {
        if (look[i].revents != 0 && !receive(s, which[i], ROOM)) {
            return true;
        }
    }
    if (look[0].revents != 0) {
        take_connections(s);
    }
    return true;
}

void slc_daq_pet_stream_end(slc_daq_pet_stream *s)
{
    take_connections(s);
    for (int i = 0; i < MOST; i++) {
        connection *c = &s->of[i];
        int there = 0;
        bool more = c->file >= 0 && ioctl(c->file, FIONREAD, &there) == 0;
        for (size_t left = (size_t)there; more && c->file >= 0 && left > 0;) {
            const size_t before = c->n, bytes = c->bytes;
            more = receive(s, c, left);
            const size_t got = c->file >= 0 ? (size_t)(c->bytes - bytes) + c->n - before : left;
            more = more && got > 0;
            left -= got < left ? got : left;
        }
        if (c->file >= 0 && c->n > 0) {
            end(s, c, "the acquisition ends");
        }
    }
}
