/* SPDX-License-Identifier: Apache-2.0
 *
 * Receiving. The system writes datagrams into the ring where they stay until they are on the disk: each call
 * is given places one behind the other, of the size that the last call's datagrams had. Where all have this
 * size, which they mostly do, they lie as a block lies in the file. A longer one goes on in a place of its
 * own, and where sizes differ, all of the call's are put together once more.
 *
 * Large receive offload (UDP_GRO) would save calls, but then the system counts a dropped train of 44
 * datagrams as one, and what was lost could not be told exactly.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* recvmmsg, SO_RCVBUFFORCE */
#endif
#include "daq/daq_pet_socket.h"

#include "base/bytes.h"
#include "io/io_address.h"
#include "io/pet/io_pet_raw.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#if !defined(SO_MEMINFO)
#define SO_MEMINFO 55
#endif

enum {
    CALL = SLC_DAQ_PET_CALL,
    LARGEST = SLC_DAQ_PET_DATAGRAM,
    ROOM_MAX = SLC_PET_RAW_MOST - LARGEST, /* bytes of one call's places */
    LEAST_OF_SYSTEM = 256, /* bytes that the system needs for a datagram besides its own, at least */
    MEMINFO_QUEUED = 0,    /* bytes of datagrams that wait */
    MEMINFO_DROPS = 8,
    MEMINFO_VALUES = 16 /* of SO_MEMINFO, linux/sock_diag.h */
};

/* When the system received a datagram (SO_TIMESTAMPNS, CLOCK_REALTIME), as recvmmsg tells it. */
typedef union stamp {
    struct cmsghdr head;
    uint8_t bytes[CMSG_SPACE(sizeof(struct timespec))];
} stamp;

struct slc_daq_pet_socket {
    slc_daq_pet_ring ring;
    int file;
    int wrong; /* errno of a call that failed; read behind the join */
    uint16_t number, header_bytes, record, stamp_bytes; /* stamp_bytes: before each datagram, of its header */
    bool started;
    atomic_bool stop, give_up, ended;
    const char *address;        /* the caller's */
    slc_daq_pet_stream *stream; /* NULL: datagrams */
    size_t stride;              /* bytes of a place */
    uint8_t *spill;             /* CALL · LARGEST: where longer ones go on */
    uint8_t *scratch;           /* the same size: where those of different sizes are put together */
    uint16_t *sizes;
    struct mmsghdr *messages;
    struct iovec *pieces; /* two for each */
    stamp *stamps;        /* one for each; NULL: not wanted */
    pthread_t thread;
    uint64_t clock_ns;    /* added to the steady clock */
    uint64_t taken_bytes; /* as the system counts them, at least */
    _Atomic uint64_t empty, drops, ring_drops;
};

/* ---- open, close ------------------------------------------------------------------------------- */

/* As much as is allowed: beyond the limit of all (rmem_max) where we may (CAP_NET_ADMIN), up to it otherwise.
 */
static void enlarge(int file, size_t wanted)
{
    const int size = wanted == 0 ? 64 << 20 : wanted < (1U << 30) ? (int)wanted : 1 << 30;
#if defined(SO_RCVBUFFORCE)
    if (setsockopt(file, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) == 0) {
        return;
    }
#endif
    (void)setsockopt(file, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
}

static slc_status make_room(slc_daq_pet_socket *s, size_t ring_bytes, slc_error *error)
{
    s->spill = malloc((size_t)CALL * LARGEST);
    s->scratch = malloc((size_t)CALL * LARGEST);
    s->sizes = malloc(CALL * sizeof *s->sizes);
    s->messages = calloc(CALL, sizeof *s->messages);
    s->pieces = calloc((size_t)2 * CALL, sizeof *s->pieces);
    s->stamps = s->stamp_bytes > 0 ? calloc(CALL, sizeof *s->stamps) : NULL;
    const bool has = s->spill != NULL && s->scratch != NULL && s->sizes != NULL && s->messages != NULL &&
                     s->pieces != NULL && (s->stamps != NULL || s->stamp_bytes == 0);
    return has && slc_daq_pet_ring_init(&s->ring, ring_bytes) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a ring of %zu bytes", s->address,
                          ring_bytes);
}

static bool take_message(void *context, const uint8_t *bytes, size_t size);

static slc_status open_stream(slc_daq_pet_socket *s, const slc_daq_pet_socket_config *c, slc_error *error)
{
    const slc_daq_pet_stream_config config = {.file = s->file,
                                              .length_bytes = c->length_bytes,
                                              .record = c->record > 0 ? c->record : SLC_PET_FRAME_BYTES,
                                              .big = c->length_big,
                                              .take = take_message,
                                              .context = s,
                                              .note = c->note,
                                              .note_context = c->context};
    return slc_daq_pet_stream_open(&config, &s->stream) == SLC_OK
               ? SLC_OK
               : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its connections", s->address);
}

slc_status slc_daq_pet_socket_open(const slc_daq_pet_socket_config *c, slc_daq_pet_socket **out,
                                   slc_error *error)
{
    *out = NULL;
    slc_daq_pet_socket *s = aligned_alloc(_Alignof(slc_daq_pet_socket), sizeof *s);
    if (s == NULL) {
        (void)close(c->file);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a socket", c->address);
    }
    memset(s, 0, sizeof *s);
    s->file = c->file;
    s->number = c->number;
    s->header_bytes = (uint16_t)c->payload->header_bytes;
    s->record = c->record;
    s->stamp_bytes = c->payload->stamped ? SLC_IO_PET_STAMP : 0;
    s->address = c->address;
    s->stride = 2048;
    const struct timeval wait = {.tv_usec = 50000}; /* so often the thread looks whether it shall stop */
    enlarge(s->file, c->socket_bytes);
    (void)setsockopt(s->file, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    slc_status status = make_room(s, c->ring_bytes, error);
    if (status == SLC_OK && slc_io_address_is_stream(c->address)) {
        status = open_stream(s, c, error);
    }
    const int yes = 1;
    if (status == SLC_OK && c->payload->stamped &&
        setsockopt(s->file, SOL_SOCKET, SO_TIMESTAMPNS, &yes, sizeof yes) != 0) {
        status = slc_fail(error, SLC_ERR_IO, "%s: the system does not tell when it receives: %s", c->address,
                          strerror(errno));
    }
    if (status != SLC_OK) {
        slc_daq_pet_socket_close(s);
        return status;
    }
    *out = s;
    return SLC_OK;
}

void slc_daq_pet_socket_close(slc_daq_pet_socket *s)
{
    if (s == NULL) {
        return;
    }
    if (s->file >= 0) {
        (void)close(s->file);
    }
    slc_daq_pet_stream_close(s->stream);
    slc_daq_pet_ring_clear(&s->ring);
    free(s->spill);
    free(s->scratch);
    free(s->sizes);
    free(s->messages);
    free(s->pieces);
    free(s->stamps);
    free(s);
}

/* ---- counts ------------------------------------------------------------------------------------ */

static uint32_t meminfo(const slc_daq_pet_socket *s, int which)
{
    uint32_t values[MEMINFO_VALUES] = {0};
    socklen_t size = sizeof values;
    (void)getsockopt(s->file, SOL_SOCKET, SO_MEMINFO, values, &size);
    return values[which];
}

/* The counter that SO_RXQ_OVFL sends along with datagrams, asked for directly: so drops behind the last
 * datagram that was received are seen, too. It is 32 bits wide. */
static uint32_t drops_now(const slc_daq_pet_socket *s)
{
    return meminfo(s, MEMINFO_DROPS);
}

/* All of them, however often that counter has begun again. */
static uint64_t drops_so_far(slc_daq_pet_socket *s)
{
    if (s->stream != NULL) { /* senders wait */
        return 0;
    }
    uint64_t before = atomic_load(&s->drops), now = 0;
    do {
        now = slc_daq_pet_socket_count(before, drops_now(s));
    } while (!atomic_compare_exchange_weak(&s->drops, &before, now));
    return now;
}

void slc_daq_pet_socket_drops(slc_daq_pet_socket *s, uint64_t *all, uint64_t *ring)
{
    *ring = atomic_load(&s->ring_drops);
    *all = atomic_load(&s->ended) ? atomic_load(&s->drops) : drops_so_far(s);
    *all = *all > *ring ? *all : *ring;
}

uint64_t slc_daq_pet_socket_empty(slc_daq_pet_socket *s)
{
    return atomic_load(&s->empty);
}

uint64_t slc_daq_pet_socket_room(const slc_daq_pet_socket *s)
{
    int size = 0;
    socklen_t length = sizeof size;
    (void)getsockopt(s->file, SOL_SOCKET, SO_RCVBUF, &size, &length);
    return size > 0 ? (uint64_t)size : 0;
}

size_t slc_daq_pet_socket_granted(const slc_daq_pet_socket *s)
{
    const size_t room = (size_t)slc_daq_pet_socket_room(s);
#if defined(__linux__)
    return room / 2; /* Linux doubles what it is asked for, for what it needs itself */
#else
    return room;
#endif
}

slc_daq_pet_ring *slc_daq_pet_socket_ring(slc_daq_pet_socket *s)
{
    return &s->ring;
}

void slc_daq_pet_socket_address(const slc_daq_pet_socket *s, char *text, size_t size)
{
    const size_t prefix = s->stream != NULL && size > 4 ? 4 : 0;
    memcpy(text, "tcp:", prefix);
    slc_io_address_of(s->file, text + prefix, size - prefix);
}

slc_daq_pet_stream_counts slc_daq_pet_socket_stream(const slc_daq_pet_socket *s)
{
    return s->stream != NULL ? slc_daq_pet_stream_counts_of(s->stream) : (slc_daq_pet_stream_counts){0};
}

/* ---- the thread -------------------------------------------------------------------------------- */

static void pause_us(long us)
{
    const struct timespec time = {.tv_nsec = us * 1000};
    (void)nanosleep(&time, NULL);
}

/* Room in the ring, waiting for the writer. NULL: given up. What the system drops meanwhile is the ring's. */
static uint8_t *wait_for_room(slc_daq_pet_socket *s, size_t bytes)
{
    uint8_t *room = slc_daq_pet_ring_room(&s->ring, bytes);
    if (room != NULL) {
        return room;
    }
    const uint64_t before = drops_so_far(s);
    while (room == NULL && !atomic_load(&s->give_up)) {
        pause_us(200);
        room = slc_daq_pet_ring_room(&s->ring, bytes);
    }
    atomic_fetch_add(&s->ring_drops, drops_so_far(s) - before);
    return room;
}

static void begin_block(const slc_daq_pet_socket *s, uint8_t *at, uint64_t time_ns, size_t payload,
                        size_t datagram)
{
    const slc_io_pet_block block = {.time_ns = time_ns,
                                    .payload = (uint32_t)payload,
                                    .datagram = (uint16_t)datagram,
                                    .header_bytes = s->header_bytes,
                                    .record = s->record,
                                    .socket = s->number};
    slc_io_pet_block_begin(at, &block);
}

/* Datagrams of different sizes: together in scratch, then as blocks of equal ones into the ring. */
static bool put_together(slc_daq_pet_socket *s, const uint8_t *places, size_t n, uint64_t time_ns)
{
    const size_t stride = s->pieces[0].iov_len + s->stamp_bytes;
    uint8_t *end = s->scratch;
    for (size_t i = 0; i < n; i++) {
        const size_t size = s->sizes[i], front = size < stride ? size : stride;
        memcpy(end, places + i * stride, front);
        memcpy(end + front, s->spill + i * LARGEST, size - front);
        end += size;
    }
    const uint8_t *from = s->scratch;
    for (size_t i = 0, next = 0; i < n; i = next) {
        size_t payload = 0;
        bool more = true; /* a shorter one can only be the last */
        for (next = i; next < n && more && s->sizes[next] <= s->sizes[i] && s->sizes[next] > 0 &&
                       payload + s->sizes[next] <= SLC_PET_RAW_MOST;
             next++) {
            payload += s->sizes[next];
            more = s->sizes[next] == s->sizes[i];
        }
        if (payload == 0) { /* an empty datagram: there is nothing to keep */
            atomic_fetch_add(&s->empty, 1);
            next = i + 1;
            continue;
        }
        uint8_t *room = wait_for_room(s, SLC_PET_RAW_BLOCK + payload);
        if (room == NULL) {
            return false;
        }
        begin_block(s, room, time_ns, payload, s->sizes[i]);
        memcpy(room + SLC_PET_RAW_BLOCK, from, payload);
        slc_daq_pet_ring_put(&s->ring, SLC_PET_RAW_BLOCK + payload);
        from += payload;
    }
    return true;
}

static uint64_t since_1970(const struct timespec *time)
{
    return (uint64_t)time->tv_sec * 1000000000 + (uint64_t)time->tv_nsec;
}

/* The time of message i goes before its bytes. A system that did not tell it has only just been asked to. */
static void put_stamp(slc_daq_pet_socket *s, size_t i)
{
    struct msghdr *message = &s->messages[i].msg_hdr;
    struct timespec time = {.tv_sec = 0};
    for (struct cmsghdr *c = CMSG_FIRSTHDR(message); c != NULL; c = CMSG_NXTHDR(message, c)) {
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_TIMESTAMPNS &&
            c->cmsg_len >= CMSG_LEN(sizeof time)) {
            memcpy(&time, CMSG_DATA(c), sizeof time);
        }
    }
    if (time.tv_sec == 0) {
        (void)clock_gettime(CLOCK_REALTIME, &time);
    }
    slc_store_u64((uint8_t *)s->pieces[2 * i].iov_base - s->stamp_bytes, since_1970(&time));
}

/* A message of a stream is a datagram; one alone is a block. */
static bool take_message(void *context, const uint8_t *bytes, size_t size)
{
    slc_daq_pet_socket *s = context;
    struct timespec now;
    if (size == 0) {
        atomic_fetch_add(&s->empty, 1);
        return true;
    }
    uint8_t *room = wait_for_room(s, SLC_PET_RAW_BLOCK + size);
    if (room == NULL) {
        return false;
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    begin_block(s, room, s->clock_ns + since_1970(&now), size, size);
    memcpy(room + SLC_PET_RAW_BLOCK, bytes, size);
    slc_daq_pet_ring_put(&s->ring, SLC_PET_RAW_BLOCK + size);
    return true;
}

static void *receive_stream(void *argument)
{
    slc_daq_pet_socket *s = argument;
    bool good = true;
    while (good && !atomic_load(&s->give_up) && !atomic_load(&s->stop)) {
        good = slc_daq_pet_stream_turn(s->stream, 50);
    }
    s->wrong = good ? 0 : errno;
    if (good && !atomic_load(&s->give_up)) {
        slc_daq_pet_stream_end(s->stream);
    }
    atomic_store(&s->ended, true);
    return NULL;
}

/* Takes what a call has brought: n datagrams in places from room + SLC_PET_RAW_BLOCK on. */
static bool take(slc_daq_pet_socket *s, uint8_t *room, size_t n)
{
    const size_t stride = s->pieces[0].iov_len + s->stamp_bytes;
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    const uint64_t time_ns = s->clock_ns + since_1970(&now);
    size_t largest = 0, payload = 0;
    bool even = true; /* all fill their places, but perhaps the last */
    for (size_t i = 0; i < n; i++) {
        const size_t sent = s->messages[i].msg_len, size = sent > 0 ? sent + s->stamp_bytes : 0;
        if (s->stamps != NULL) {
            put_stamp(s, i);
        }
        s->sizes[i] = (uint16_t)size;
        largest = size > largest ? size : largest;
        payload += size;
        even = even && size <= stride && (size == stride || (i + 1 == n && size > 0));
    }
    s->stride = largest > 0 ? largest : s->stride; /* with the stamp */
    s->taken_bytes += payload + n * LEAST_OF_SYSTEM;
    if (!even) {
        return put_together(s, room + SLC_PET_RAW_BLOCK, n, time_ns);
    }
    begin_block(s, room, time_ns, payload, n == 1 ? payload : stride);
    slc_daq_pet_ring_put(&s->ring, SLC_PET_RAW_BLOCK + payload);
    return true;
}

static size_t lay_out(slc_daq_pet_socket *s, uint8_t *room)
{
    const size_t fit = ROOM_MAX / s->stride, n = fit < CALL ? fit : CALL;
    for (size_t i = 0; i < n; i++) {
        struct iovec *two = s->pieces + 2 * i;
        two[0] = (struct iovec){room + SLC_PET_RAW_BLOCK + i * s->stride + s->stamp_bytes,
                                s->stride - s->stamp_bytes};
        two[1] = (struct iovec){s->spill + i * LARGEST, LARGEST};
        s->messages[i].msg_hdr = (struct msghdr){.msg_iov = two, .msg_iovlen = 2};
        if (s->stamps != NULL) {
            s->messages[i].msg_hdr.msg_control = s->stamps[i].bytes;
            s->messages[i].msg_hdr.msg_controllen = sizeof s->stamps[i].bytes;
        }
    }
    return n;
}

/* Errors that are no reason to give a measurement up. */
static bool passes(int wrong)
{
    return wrong == EAGAIN || wrong == EWOULDBLOCK || wrong == EINTR || wrong == ENOMEM || wrong == ENOBUFS;
}

/* Takes what the system has. False: the end, or a failure. */
static bool receive(slc_daq_pet_socket *s, int how)
{
    uint8_t *room = wait_for_room(s, SLC_PET_RAW_BLOCK + (size_t)ROOM_MAX);
    if (room == NULL) {
        return false;
    }
    const size_t most = lay_out(s, room);
    const int n = recvmmsg(s->file, s->messages, (unsigned)most, how, NULL);
    if (n < 0) {
        s->wrong = passes(errno) ? 0 : errno;
        return s->wrong == 0 && (how != MSG_DONTWAIT || (errno != EAGAIN && errno != EWOULDBLOCK));
    }
    if (n > 0 && !take(s, room, (size_t)n)) {
        return false;
    }
    if (how != MSG_DONTWAIT && n > 0 && (size_t)n < most / 4) {
        pause_us(100); /* a few at once cost less than each by itself; the system keeps them meanwhile */
    }
    return true;
}

/* At the end what waits in the system is taken, and no more, as a sender may never cease: until nothing is
 * there, or as many bytes as there were. */
static void *receive_all(void *argument)
{
    slc_daq_pet_socket *s = argument;
    bool more = true;
    while (more && !atomic_load(&s->give_up) && !atomic_load(&s->stop)) {
        more = receive(s, MSG_WAITFORONE);
    }
    const uint64_t end = s->taken_bytes + meminfo(s, MEMINFO_QUEUED);
    do {
        more = more && !atomic_load(&s->give_up) && receive(s, MSG_DONTWAIT);
    } while (more && s->taken_bytes < end);
    (void)drops_so_far(s);
    atomic_store(&s->ended, true);
    return NULL;
}

int slc_daq_pet_thread(pthread_t *thread, void *(*run)(void *), void *context)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    const int wrong = pthread_create(thread, NULL, run, context);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return wrong;
}

slc_status slc_daq_pet_socket_start(slc_daq_pet_socket *s, uint64_t clock_ns, slc_error *error)
{
    s->clock_ns = clock_ns;
    void *(*const run)(void *) = s->stream != NULL ? receive_stream : receive_all;
    const int wrong = slc_daq_pet_thread(&s->thread, run, s);
    if (wrong != 0) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: cannot start its thread: %s", s->address,
                        strerror(wrong));
    }
    s->started = true;
    return SLC_OK;
}

void slc_daq_pet_socket_stop(slc_daq_pet_socket *s)
{
    atomic_store(&s->stop, true);
}

void slc_daq_pet_socket_give_up(slc_daq_pet_socket *s)
{
    atomic_store(&s->give_up, true);
}

bool slc_daq_pet_socket_has_ended(const slc_daq_pet_socket *s)
{
    return !s->started || atomic_load(&s->ended);
}

slc_status slc_daq_pet_socket_join(slc_daq_pet_socket *s, slc_error *error)
{
    if (!s->started) {
        return SLC_OK;
    }
    (void)pthread_join(s->thread, NULL);
    s->started = false;
    return s->wrong == 0
               ? SLC_OK
               : slc_fail(error, SLC_ERR_IO, "%s: cannot receive: %s", s->address, strerror(s->wrong));
}
