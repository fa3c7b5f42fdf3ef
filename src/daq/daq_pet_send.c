/* SPDX-License-Identifier: Apache-2.0
 *
 * Sending frames as modules do, at a steady rate. Datagrams of one size for one address go to the system as
 * one piece, which it cuts itself (UDP_SEGMENT, Linux 4.18): 44 datagrams of 92 frames cost little more than
 * one. Where that is refused, they go one by one in one call (sendmmsg).
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sendmmsg */
#endif
#include "base/bytes.h"
#include "base/config.h"
#include "io/io_address.h"
#include <sluice/daq_pet.h>

#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#if !defined(SOL_UDP)
#define SOL_UDP 17
#endif
#if !defined(UDP_SEGMENT)
#define UDP_SEGMENT 103
#endif

enum { PIECES = 64, PIECE_BYTES = 65000, SEQUENCE_BYTES = 8, MOST_FRAMES = 4000 };

/* What waits for one address: datagrams of one size, of which the last may be shorter. */
typedef struct train {
    const char *address;
    int file;
    uint32_t n;
    size_t datagram, bytes; /* of each; of all */
    uint8_t *data;
} train;

typedef struct sender {
    const slc_daq_pet_send_config *config;
    train *to;
    bool single;
    double began, next_look;
    uint64_t frames, sent, datagrams; /* frames: also those that wait */
    uint64_t sequence[SLC_PET_MAX_MODULES];
    slc_error *error;
} sender;

/* ---- sending ----------------------------------------------------------------------------------- */

static void pause_for(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    (void)nanosleep(&time, NULL);
}

static slc_status cannot_send(const sender *s, const train *t, int wrong)
{
    return slc_fail(s->error, SLC_ERR_IO, "%s: cannot send: %s", t->address,
                    wrong == ECONNREFUSED ? "nobody listens there" : strerror(wrong));
}

/* Worth another try, after a moment? */
static bool is_full(int wrong)
{
    return wrong == EINTR || wrong == EAGAIN || wrong == EWOULDBLOCK || wrong == ENOBUFS;
}

static slc_status send_singly(const sender *s, const train *t)
{
    struct mmsghdr message[PIECES];
    struct iovec piece[PIECES];
    for (uint32_t i = 0; i < t->n; i++) {
        const size_t at = i * t->datagram, left = t->bytes - at;
        piece[i] = (struct iovec){t->data + at, left < t->datagram ? left : t->datagram};
        message[i] = (struct mmsghdr){.msg_hdr = {.msg_iov = &piece[i], .msg_iovlen = 1}};
    }
    for (uint32_t i = 0; i < t->n;) {
        const int done = sendmmsg(t->file, message + i, t->n - i, 0);
        if (done > 0) {
            i += (uint32_t)done;
        } else if (!is_full(errno)) {
            return cannot_send(s, t, errno);
        } else {
            pause_for(100e-6);
        }
    }
    return SLC_OK;
}

/* As one piece. *refused: the system does not do that, and nothing was sent. */
static slc_status send_together(const sender *s, const train *t, bool *refused)
{
    union {
        struct cmsghdr head;
        uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
    } control = {.bytes = {0}};
    struct iovec piece = {t->data, t->bytes};
    struct msghdr message = {.msg_iov = &piece,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    const uint16_t size = (uint16_t)t->datagram;
    head->cmsg_level = SOL_UDP;
    head->cmsg_type = UDP_SEGMENT;
    head->cmsg_len = CMSG_LEN(sizeof size);
    memcpy(CMSG_DATA(head), &size, sizeof size);
    while (sendmsg(t->file, &message, 0) < 0) {
        const int wrong = errno;
        *refused = wrong == EINVAL || wrong == EIO || wrong == ENOPROTOOPT || wrong == EMSGSIZE;
        if (*refused) {
            return SLC_OK;
        }
        if (!is_full(wrong)) {
            return cannot_send(s, t, wrong);
        }
        pause_for(100e-6);
    }
    return SLC_OK;
}

static slc_status flush(sender *s, train *t)
{
    if (t->n == 0) {
        return SLC_OK;
    }
    bool refused = s->single || t->n == 1;
    slc_status status = refused ? SLC_OK : send_together(s, t, &refused);
    if (status == SLC_OK && refused) {
        s->single = s->single || t->n > 1;
        status = send_singly(s, t);
    }
    if (status == SLC_OK) {
        const size_t header = s->config->sequence ? SEQUENCE_BYTES : 0;
        s->datagrams += t->n;
        s->sent += (t->bytes - t->n * header) / SLC_PET_FRAME_BYTES;
        t->n = 0;
        t->bytes = 0;
    }
    return status;
}

static slc_status flush_all(sender *s)
{
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < s->config->n_to && status == SLC_OK; i++) {
        status = flush(s, &s->to[i]);
    }
    return status;
}

/* ---- datagrams --------------------------------------------------------------------------------- */

static void copy_frames(uint8_t *to, const slc_pet_frame *frames, size_t n, uint64_t later)
{
    memcpy(to, frames, n * sizeof *frames);
    for (size_t i = 0; later > 0 && i < n; i++) {
        uint8_t *time = to + i * sizeof *frames + offsetof(slc_pet_frame, time);
        slc_store_big_u64(time, slc_load_big_u64(time) + later);
    }
}

static slc_status add(sender *s, const slc_pet_frame *frames, size_t n, uint64_t later)
{
    const uint8_t module = frames[0].module;
    train *t = &s->to[module % s->config->n_to];
    const size_t header = s->config->sequence ? SEQUENCE_BYTES : 0, size = header + n * sizeof *frames;
    slc_status status = SLC_OK;
    if (t->n == PIECES || t->bytes + size > PIECE_BYTES || (t->n > 0 && size > t->datagram)) {
        status = flush(s, t);
    }
    if (status != SLC_OK) {
        return status;
    }
    t->datagram = t->n == 0 ? size : t->datagram;
    if (s->config->sequence) {
        slc_store_u64(t->data + t->bytes, s->sequence[module]++);
    }
    copy_frames(t->data + t->bytes + header, frames, n, later);
    t->n++;
    t->bytes += size;
    s->frames += n;
    return size < t->datagram ? flush(s, t) : SLC_OK; /* a shorter one can only be the last */
}

/* Waits until another datagram is due. SLC_END: stop. */
static slc_status keep_rate(sender *s)
{
    const double hz = s->config->frames_hz;
    for (;;) {
        const double now = slc_clock_seconds();
        if (now >= s->next_look) {
            s->next_look = now + 0.05;
            if (s->config->stop != NULL && s->config->stop(s->config->context)) {
                return SLC_END;
            }
        }
        const double ahead = hz > 0 ? (double)s->frames / hz - (now - s->began) : 0;
        if (ahead <= 0) {
            return SLC_OK;
        }
        /* What is not due yet is slept over, but for a train's time where the rate is high: then trains are
         * long. */
        const slc_status status = flush_all(s);
        if (status != SLC_OK) {
            return status;
        }
        const double train_time = 4096 / hz, least = train_time < 1e-3 ? train_time : 0;
        const double wait = ahead > least ? ahead : least;
        pause_for(wait < 0.02 ? wait : 0.02);
    }
}

static slc_status send_round(sender *s, const slc_pet_frame *frames, size_t n, uint64_t later)
{
    const size_t most = s->config->frames_per_datagram;
    slc_status status = SLC_OK;
    for (size_t i = 0, k = 0; i < n && status == SLC_OK; i += k) {
        for (k = 1; k < most && i + k < n && frames[i + k].module == frames[i].module; k++) {
        }
        status = keep_rate(s);
        status = status == SLC_OK ? add(s, frames + i, k, later) : status;
    }
    return status;
}

/* ---- the whole --------------------------------------------------------------------------------- */

static slc_status check(const slc_daq_pet_send_config *config, slc_error *error)
{
    if (config->n_to == 0 || config->n_to > SLC_DAQ_PET_SOCKETS) {
        return slc_fail(error, SLC_ERR_USAGE, "%u addresses to send to: 1 to %d", config->n_to,
                        (int)SLC_DAQ_PET_SOCKETS);
    }
    if (config->frames_per_datagram == 0 || config->frames_per_datagram > MOST_FRAMES) {
        return slc_fail(error, SLC_ERR_USAGE, "%u frames in a datagram: 1 to %d", config->frames_per_datagram,
                        (int)MOST_FRAMES);
    }
    if (!(config->frames_hz >= 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "a rate of %g frames a second", config->frames_hz);
    }
    return SLC_OK;
}

static slc_status open_trains(sender *s)
{
    const slc_daq_pet_send_config *c = s->config;
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < c->n_to; i++) {
        s->to[i].file = -1;
    }
    for (uint32_t i = 0; i < c->n_to && status == SLC_OK; i++) {
        const int room = 1 << 20;
        s->to[i].address = c->to[i];
        s->to[i].data = malloc(PIECE_BYTES);
        status = s->to[i].data != NULL ? slc_io_address_connect(c->to[i], &s->to[i].file, s->error)
                                       : slc_fail(s->error, SLC_ERR_MEMORY, "no memory for datagrams");
        if (status == SLC_OK) {
            (void)setsockopt(s->to[i].file, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
        }
    }
    return status;
}

static void close_trains(sender *s)
{
    for (uint32_t i = 0; i < s->config->n_to; i++) {
        if (s->to[i].file >= 0) {
            (void)close(s->to[i].file);
        }
        free(s->to[i].data);
    }
    free(s->to);
}

void slc_daq_pet_send_config_default(slc_daq_pet_send_config *config)
{
    *config = (slc_daq_pet_send_config){.size = sizeof *config, .frames_per_datagram = 92};
}

slc_status slc_daq_pet_send_frames(const slc_daq_pet_send_config *given, const slc_pet_frame *frames,
                                   size_t n, uint64_t *sent, uint64_t *datagrams, slc_error *error)
{
    slc_daq_pet_send_config own;
    const slc_daq_pet_send_config *config = &own;
    *sent = *datagrams = 0;
    slc_daq_pet_send_config_default(&own);
    slc_status status = slc_config_take(&own, sizeof own, given, "slc_daq_pet_send_config", error);
    status = status == SLC_OK ? check(config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    sender s = {
        .config = config, .single = config->single, .to = calloc(config->n_to, sizeof *s.to), .error = error};
    if (s.to == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for datagrams");
    }
    status = open_trains(&s);
    s.began = slc_clock_seconds();
    const uint64_t rounds = config->repeat > 1 ? config->repeat : 1;
    for (uint64_t i = 0; i < rounds && n > 0 && status == SLC_OK; i++) {
        status = send_round(&s, frames, n, i * config->repeat_ticks);
    }
    if (status == SLC_OK || status == SLC_END) {
        status = flush_all(&s);
    }
    close_trains(&s);
    *sent = s.sent;
    *datagrams = s.datagrams;
    return status;
}
