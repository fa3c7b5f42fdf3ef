/* SPDX-License-Identifier: Apache-2.0
 *
 * An acquisition from its opening to its end (daq_pet_acquire.h shows the parts). Everything is opened, and
 * all memory is there, before the first datagram is taken; at the end each thread is ended behind the one
 * that gives to it, so that nothing is left on the way.
 */
#include "daq/daq_pet_acquire.h"
#include "base/config.h"
#include "io/io_address.h"

#include "io/pet/io_pet_raw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const size_t ring_default = (size_t)256 << 20, ring_least = (size_t)8 << 20;

void slc_daq_pet_fail(slc_daq_pet_acquisition *a, slc_status status, const slc_error *error)
{
    (void)pthread_mutex_lock(&a->mutex);
    if (a->status == SLC_OK) {
        a->status = status;
        a->error = *error;
    }
    (void)pthread_mutex_unlock(&a->mutex);
    atomic_store(&a->stop, true);
}

/* Frames of datagrams that are missing: as many in each as those of its module have, on the average. What the
 * system dropped and no counter shows, as there is none or nothing came behind it, has the average of all. */
static uint64_t lost_frames_of(const slc_daq_pet_counts *c)
{
    const uint64_t drops = c->kernel_drops + c->ring_drops;
    const double all = c->datagrams > 0 ? (double)c->frames / (double)c->datagrams : 1;
    double frames = drops > c->lost ? (double)(drops - c->lost) * all : 0;
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        const slc_daq_pet_module *m = &c->module[i];
        frames += m->lost > 0 ? (double)m->lost * (double)m->frames / (double)m->datagrams : 0;
    }
    return (uint64_t)(frames + 0.5);
}

void slc_daq_pet_counts_now(slc_daq_pet_acquisition *a, slc_daq_pet_counts *counts)
{
    (void)pthread_mutex_lock(&a->mutex);
    *counts = a->counts;
    counts->chain = a->totals;
    counts->live_skipped += a->skipped;
    counts->queue_now = atomic_load(&a->queue_now);
    const double ended = a->ended;
    counts->notes_left_out = a->notes_left_out;
    (void)pthread_mutex_unlock(&a->mutex);
    for (uint32_t i = 0; i < a->n; i++) {
        uint64_t all = 0, ring = 0;
        slc_daq_pet_socket_drops(a->socket[i], &all, &ring);
        const uint64_t empty = slc_daq_pet_socket_empty(a->socket[i]);
        counts->kernel_drops += all - ring;
        counts->ring_drops += ring;
        counts->datagrams += empty;
        counts->malformed += empty;
        counts->empty += empty;
        const slc_daq_pet_stream_counts stream = slc_daq_pet_socket_stream(a->socket[i]);
        counts->connections += stream.connections;
        counts->broken += stream.broken;
        counts->broken_bytes += stream.broken_bytes;
    }
    counts->lost_frames = lost_frames_of(counts);
    counts->socket_bytes = slc_daq_pet_socket_room(a->socket[0]);
    counts->seconds = (ended > 0 ? ended : slc_clock_seconds()) - a->began;
}

/* ---- opening ----------------------------------------------------------------------------------- */

static slc_status check(const slc_daq_pet_config *config, slc_error *error)
{
    if (config->n_listen == 0 || config->n_listen > SLC_DAQ_PET_SOCKETS) {
        return slc_fail(error, SLC_ERR_USAGE, "%u addresses to listen at: 1 to %d", config->n_listen,
                        (int)SLC_DAQ_PET_SOCKETS);
    }
    if (config->shards > SLC_DAQ_PET_SOCKETS / config->n_listen) {
        return slc_fail(error, SLC_ERR_USAGE, "%u addresses with %u sockets each: %d sockets at most",
                        config->n_listen, config->shards, (int)SLC_DAQ_PET_SOCKETS);
    }
    if (config->resume && (config->output == NULL || config->raw.replace)) {
        return slc_fail(error, SLC_ERR_USAGE, "to go on with an acquisition is to write behind its files");
    }
    if (!(config->seconds >= 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "an acquisition of %g s", config->seconds);
    }
    for (uint32_t i = 0; i < config->n_listen; i++) {
        if (slc_io_address_is_stream(config->listen[i]) &&
            (config->shards > 1 || config->raw.payload.stamped)) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "'%s': several sockets at an address, and times of the system, are of datagrams",
                            config->listen[i]);
        }
        if (slc_io_address_is_stream(config->listen[i]) && config->stream_length_bytes == 0 &&
            config->raw.payload.header_bytes > 0) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "'%s': messages with a header need their length before them in a stream",
                            config->listen[i]);
        }
    }
    if (config->stream_length_bytes != 0 && config->stream_length_bytes != 2 &&
        config->stream_length_bytes != 4) {
        return slc_fail(error, SLC_ERR_USAGE, "a length of %u bytes before messages: it has 2 or 4",
                        config->stream_length_bytes);
    }
    if (config->chain != NULL && config->tables == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "a chain needs tables");
    }
    return slc_io_pet_payload_check(&config->raw.payload, error);
}

static bool same_payload(const slc_io_pet_payload *a, const slc_io_pet_payload *b)
{
    return a->header_bytes == b->header_bytes && a->sequence_at == b->sequence_at &&
           a->sequence_bytes == b->sequence_bytes && a->sequence_big_endian == b->sequence_big_endian &&
           a->stamped == b->stamped;
}

/* Before sockets are there, which would fill meanwhile. */
static slc_status find_end(slc_daq_pet_acquisition *a, slc_error *error)
{
    const slc_daq_pet_config *c = a->config;
    slc_io_pet_raw_end *end = &a->end;
    const slc_status status = slc_io_pet_raw_end_of(c->output, end, error);
    if (status != SLC_OK) {
        return status;
    }
    if (!same_payload(&end->head.payload, &c->raw.payload)) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: its datagrams have another header", end->last);
    }
    const slc_io_pet_format *format = c->raw.format;
    if ((format == NULL) != (end->format == NULL) ||
        (format != NULL && !slc_io_pet_format_is(format, end->format))) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: its frames have another format", end->last);
    }
    if (end->watch != NULL) {
        slc_io_pet_watch_use_format(end->watch, format);
    }
    const slc_daq_pet_resumed from = {
        .last = end->last,
        .file = end->head.file,
        .series = end->head.series,
        .datagrams = end->datagrams,
        .last_ns = end->last_ns,
        .damaged = end->damaged,
        .counters = end->watch != NULL ? slc_io_pet_watch_count_anew(end->watch) : 0,
        .read_from = end->read_from,
    };
    if (c->resumes != NULL) {
        c->resumes(c->context, &from);
    }
    return SLC_OK;
}

/* Of a socket's thread. */
static void keep_note(void *context, const char *text)
{
    slc_daq_pet_acquisition *a = context;
    (void)pthread_mutex_lock(&a->mutex);
    if (a->n_notes < SLC_DAQ_PET_NOTES) {
        (void)snprintf(a->note[a->n_notes++], sizeof a->note[0], "%s", text);
    } else {
        a->notes_left_out++;
    }
    (void)pthread_mutex_unlock(&a->mutex);
}

static void tell_notes(slc_daq_pet_acquisition *a)
{
    for (uint32_t i = 0;; i++) {
        char text[sizeof a->note[0]];
        (void)pthread_mutex_lock(&a->mutex);
        const bool more = i < a->n_notes;
        if (more) {
            memcpy(text, a->note[i], sizeof text);
        } else {
            a->n_notes = 0;
        }
        (void)pthread_mutex_unlock(&a->mutex);
        if (!more) {
            return;
        }
        if (a->config->note != NULL) {
            a->config->note(a->config->context, text);
        }
    }
}

/* The sockets of an address: the first one tells the others which port 0 is. */
static slc_status open_sockets(slc_daq_pet_acquisition *a, uint32_t shards, size_t ring, slc_error *error)
{
    const slc_daq_pet_config *c = a->config;
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < c->n_listen && status == SLC_OK; i++) {
        int files[SLC_DAQ_PET_SOCKETS];
        status = slc_io_address_listen(c->listen[i], shards, files, error);
        for (uint32_t k = 0; k < shards && status == SLC_OK; k++) {
            const slc_daq_pet_socket_config config = {.file = files[k],
                                                      .address = c->listen[i],
                                                      .number = (uint16_t)a->n,
                                                      .payload = &c->raw.payload,
                                                      .record = slc_io_pet_block_record(c->raw.format),
                                                      .ring_bytes = ring,
                                                      .socket_bytes = c->socket_bytes,
                                                      .length_bytes = c->stream_length_bytes,
                                                      .length_big = c->stream_length_big_endian,
                                                      .note = keep_note,
                                                      .context = a};
            status = slc_daq_pet_socket_open(&config, &a->socket[a->n], error);
            files[k] = -1; /* closed by that where it fails */
            a->n += status == SLC_OK;
        }
        for (uint32_t k = 0; k < shards; k++) {
            if (files[k] >= 0) {
                (void)close(files[k]);
            }
        }
    }
    return status;
}

static slc_status open_all(slc_daq_pet_acquisition *a, slc_error *error)
{
    const slc_daq_pet_config *c = a->config;
    const uint32_t shards = c->shards > 0 ? c->shards : 1;
    const size_t all = c->ring_bytes > 0 ? c->ring_bytes : ring_default, each = all / c->n_listen / shards;
    const size_t ring = (each > ring_least ? each : ring_least) & ~(size_t)4095;
    slc_status status = c->resume ? find_end(a, error) : SLC_OK;
    status = status == SLC_OK ? open_sockets(a, shards, ring, error) : status;
    if (status == SLC_OK && c->chain != NULL) {
        status = slc_daq_pet_live_open(a, &a->live, error);
    }
    if (status == SLC_OK && c->output != NULL) { /* last: a file is made only if all else is well */
        status = c->resume ? slc_io_pet_raw_create_behind(&a->end, &c->raw, &a->raw, error)
                           : slc_io_pet_raw_create(c->output, &c->raw, &a->raw, error);
    }
    return status;
}

/* ---- running ----------------------------------------------------------------------------------- */

static void nap(long ns)
{
    const struct timespec time = {.tv_nsec = ns};
    (void)nanosleep(&time, NULL);
}

static bool is_over(slc_daq_pet_acquisition *a)
{
    const slc_daq_pet_config *c = a->config;
    bool failed = false;
    for (uint32_t i = 0; i < a->n; i++) {
        failed = failed || slc_daq_pet_socket_has_ended(a->socket[i]);
    }
    return failed || atomic_load(&a->stop) ||
           (c->seconds > 0 && slc_clock_seconds() - a->began >= c->seconds) ||
           (c->frames > 0 && atomic_load(&a->frames) >= c->frames) ||
           (c->stop != NULL && c->stop(c->context));
}

/* Once a second. False: the caller wants an end. */
static bool tell(slc_daq_pet_acquisition *a, slc_daq_pet_counts *counts, bool ending)
{
    const slc_daq_pet_config *c = a->config;
    const double now = slc_clock_seconds();
    if (now - a->told < 1) {
        return true;
    }
    a->told = now;
    slc_daq_pet_counts_now(a, counts); /* in any case: the system's counters begin again */
    counts->ending = ending;
    counts->written = atomic_load(&a->written);
    return c->tell == NULL || c->tell(c->context, counts);
}

static void wait_for_end(slc_daq_pet_acquisition *a, slc_daq_pet_counts *counts)
{
    a->told = slc_clock_seconds();
    while (!is_over(a)) {
        nap(10000000);
        tell_notes(a);
        if (!tell(a, counts, false)) {
            break;
        }
    }
    a->told = slc_clock_seconds(); /* of the end only if it takes a second */
}

/* Waits for a thread, and tells how far things are: what is written to may take its time. */
static void join(slc_daq_pet_acquisition *a, pthread_t thread, const atomic_bool *ended,
                 slc_daq_pet_counts *counts)
{
    while (!atomic_load(ended)) {
        nap(1000000);
        (void)tell(a, counts, true);
    }
    (void)pthread_join(thread, NULL);
}

static bool start(slc_daq_pet_acquisition *a, pthread_t *thread, void *(*run)(void *), void *context)
{
    const int wrong = slc_daq_pet_thread(thread, run, context);
    if (wrong != 0) {
        slc_error error;
        slc_daq_pet_fail(a, slc_fail(&error, SLC_ERR_MEMORY, "cannot start a thread: %s", strerror(wrong)),
                         &error);
    }
    return wrong == 0;
}

static void tell_addresses(const slc_daq_pet_acquisition *a)
{
    const uint32_t shards = a->n / a->config->n_listen;
    for (uint32_t i = 0; i < a->config->n_listen && a->config->listening != NULL; i++) {
        const slc_daq_pet_socket *socket = a->socket[i * shards];
        char address[96];
        slc_daq_pet_socket_address(socket, address, sizeof address);
        a->config->listening(a->config->context, i, address, slc_daq_pet_socket_granted(socket));
    }
}

/* How far the system's clock is before one that never leaps. Taken once, so that times of blocks stay in
 * order where the system's clock is set meanwhile. */
static uint64_t clock_lead_ns(void)
{
    struct timespec system, steady;
    (void)clock_gettime(CLOCK_REALTIME, &system);
    (void)clock_gettime(CLOCK_MONOTONIC, &steady);
    return (uint64_t)(system.tv_sec - steady.tv_sec) * 1000000000 + (uint64_t)system.tv_nsec -
           (uint64_t)steady.tv_nsec;
}

static void run_sockets(slc_daq_pet_acquisition *a, slc_daq_pet_counts *counts)
{
    const uint32_t n = a->n;
    const uint64_t clock_ns = clock_lead_ns();
    slc_error error = {.status = SLC_OK};
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < n && status == SLC_OK; i++) {
        status = slc_daq_pet_socket_start(a->socket[i], clock_ns, &error);
    }
    if (status != SLC_OK) {
        slc_daq_pet_fail(a, status, &error);
    }
    wait_for_end(a, counts);
    (void)pthread_mutex_lock(&a->mutex);
    const bool failed = a->status != SLC_OK;
    (void)pthread_mutex_unlock(&a->mutex);
    for (uint32_t i = 0; i < n; i++) {
        slc_daq_pet_socket_stop(a->socket[i]);
        if (failed) {
            slc_daq_pet_socket_give_up(a->socket[i]);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        while (!slc_daq_pet_socket_has_ended(a->socket[i])) {
            nap(1000000);
            (void)tell(a, counts, true);
        }
        status = slc_daq_pet_socket_join(a->socket[i], &error);
        if (status != SLC_OK) {
            slc_daq_pet_fail(a, status, &error);
        }
    }
}

/* At once when all frames are in it, however long the chain still takes. */
static void finish_file(slc_daq_pet_acquisition *a)
{
    slc_error error = {.status = SLC_OK};
    (void)pthread_mutex_lock(&a->mutex);
    const bool good = a->status == SLC_OK && a->raw != NULL;
    (void)pthread_mutex_unlock(&a->mutex);
    if (good) {
        slc_io_pet_raw_writer *raw = a->raw;
        a->raw = NULL;
        const slc_status status = slc_io_pet_raw_finish(raw, &error);
        if (status != SLC_OK) {
            slc_daq_pet_fail(a, status, &error);
        }
    }
}

static void run_all(slc_daq_pet_acquisition *a, slc_daq_pet_writer *writer, slc_daq_pet_counts *counts)
{
    pthread_t writing, reconstructing;
    const bool live = a->live != NULL && start(a, &reconstructing, slc_daq_pet_live_run, a->live);
    const bool writes = (a->live == NULL || live) && start(a, &writing, slc_daq_pet_writer_run, writer);
    if (writes) {
        run_sockets(a, counts);
        tell_notes(a);
        (void)pthread_mutex_lock(&a->mutex);
        a->ended = slc_clock_seconds();
        (void)pthread_mutex_unlock(&a->mutex);
        atomic_store(&a->received, true);
        join(a, writing, &a->written, counts);
        slc_daq_pet_writer_count_rest(writer);
        finish_file(a);
    }
    if (live) {
        slc_daq_pet_live_end(a->live);
        join(a, reconstructing, &a->found, counts);
    }
}

static void clear(slc_daq_pet_acquisition *a)
{
    slc_io_pet_raw_abandon(a->raw);
    slc_io_pet_raw_end_clear(&a->end);
    slc_daq_pet_live_close(a->live);
    for (uint32_t i = 0; i < SLC_DAQ_PET_SOCKETS; i++) {
        slc_daq_pet_socket_close(a->socket[i]);
    }
    (void)pthread_mutex_destroy(&a->mutex);
    free(a);
}

static slc_status acquire(slc_daq_pet_acquisition *a, slc_daq_pet_counts *counts, slc_error *error)
{
    slc_daq_pet_writer *writer = NULL;
    slc_status status = open_all(a, error);
    status = status == SLC_OK ? slc_daq_pet_writer_open(a, &writer, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    tell_addresses(a);
    a->began = slc_clock_seconds();
    run_all(a, writer, counts);
    slc_daq_pet_writer_close(writer);
    slc_daq_pet_counts_now(a, counts);
    if (a->status != SLC_OK) {
        return slc_fail(error, a->status, "%s", a->error.text);
    }
    if (a->live_error.status != SLC_OK) {
        return slc_fail(error, a->live_error.status, "the chain ended before the acquisition: %s",
                        a->live_error.text);
    }
    return status;
}

void slc_daq_pet_config_default(slc_daq_pet_config *config)
{
    *config = (slc_daq_pet_config){.size = sizeof *config};
    slc_io_pet_raw_config_default(&config->raw);
}

slc_status slc_daq_pet_acquire(const slc_daq_pet_config *given, slc_daq_pet_counts *counts, slc_error *error)
{
    slc_daq_pet_config config;
    *counts = (slc_daq_pet_counts){0};
    slc_daq_pet_config_default(&config);
    slc_status status = slc_config_take(&config, sizeof config, given, "slc_daq_pet_config", error);
    status = status == SLC_OK ? check(&config, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    slc_daq_pet_acquisition *a = calloc(1, sizeof *a);
    if (a == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for an acquisition");
    }
    a->config = &config;
    (void)pthread_mutex_init(&a->mutex, NULL);
    status = acquire(a, counts, error);
    clear(a);
    return status;
}
