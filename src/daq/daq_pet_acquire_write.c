/* SPDX-License-Identifier: Apache-2.0
 *
 * The writer of an acquisition. It takes the blocks of all rings in the order in which they were received,
 * looks at each datagram's module and sequence counter, gives pieces of a MiB or more to the file, and their
 * frames to the chain's queue. It looks once in a millisecond: nobody has to wake it, so that the threads of
 * the sockets do nothing but receive.
 */
#include "daq/daq_pet_acquire.h"
#include "io/pet/io_pet_raw.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BLOCKS = 512, PIECES = 128, ENOUGH = 1 << 20, MOST = 8 << 20 /* bytes a turn */ };
static const double longest_wait = 10e-3, counts_every = 0.1;

struct slc_daq_pet_writer {
    slc_daq_pet_acquisition *a;
    uint32_t n; /* rings */
    slc_daq_pet_ring *ring[SLC_DAQ_PET_SOCKETS];
    uint64_t at[SLC_DAQ_PET_SOCKETS];    /* position of the next block */
    uint64_t put[SLC_DAQ_PET_SOCKETS];   /* how far blocks are known to be there */
    uint8_t *front[SLC_DAQ_PET_SOCKETS]; /* the next block; NULL: none */
    uint64_t front_ns[SLC_DAQ_PET_SOCKETS];
    uint8_t *block[BLOCKS];
    slc_io_pet_block head[BLOCKS]; /* as they were received: writing may shorten one */
    slc_daq_pet_counts counts;
    uint64_t used; /* frames, of those that are counted */
    slc_io_pet_watch *watch;
    slc_io_pet_records records; /* of frames that have a format */
    slc_pet_marks marks;
    slc_daq_pet_piece piece[PIECES];
    size_t n_pieces;
    double written, told;
};

slc_status slc_daq_pet_writer_open(slc_daq_pet_acquisition *a, slc_daq_pet_writer **out, slc_error *error)
{
    slc_daq_pet_writer *w = calloc(1, sizeof *w);
    *out = w;
    if (w == NULL || (a->end.watch == NULL && (w->watch = slc_io_pet_watch_open()) == NULL)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the writer");
    }
    if (a->end.watch != NULL) {
        w->watch = a->end.watch;
        a->end.watch = NULL;
    }
    const slc_io_pet_format *format = a->config->raw.format;
    slc_pet_marks *marks = a->config->keep_marks && a->live != NULL ? &w->marks : NULL;
    slc_io_pet_watch_use_format(w->watch, format);
    if (slc_io_pet_records_open(&w->records, format, marks) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for records");
    }
    w->a = a;
    w->n = a->n;
    for (uint32_t i = 0; i < w->n; i++) {
        w->ring[i] = slc_daq_pet_socket_ring(a->socket[i]);
    }
    return SLC_OK;
}

void slc_daq_pet_writer_close(slc_daq_pet_writer *w)
{
    if (w != NULL) {
        slc_io_pet_watch_close(w->watch);
        slc_io_pet_records_clear(&w->records);
        slc_columns_clear(&slc_pet_marks_schema, &w->marks);
    }
    free(w);
}

/* ---- counting ---------------------------------------------------------------------------------- */

static void push(slc_daq_pet_writer *w)
{
    const slc_daq_pet_config *config = w->a->config;
    for (size_t i = 0; config->sample != NULL && i < w->n_pieces; i++) {
        config->sample(config->context, (const slc_pet_frame *)w->piece[i].frames, w->piece[i].n);
    }
    if (w->a->live != NULL && w->n_pieces > 0) {
        slc_daq_pet_live_push(w->a->live, w->piece, w->n_pieces, w->a->raw == NULL, &w->counts);
    }
    w->n_pieces = 0;
}

/* Records that are used, as frames for the chain. They are looked at, too, where there is none: that they are
 * not what the format says is worth to know at once. What their places are only readers tell. */
static void push_records(slc_daq_pet_writer *w, const uint8_t *records, size_t n, uint64_t time_ns)
{
    const slc_io_pet_records_place nowhere = {0, 0, false};
    size_t made = 0;
    if (slc_io_pet_records_make(&w->records, records, n, w->records.frames[0], nowhere, NULL, &made) !=
        SLC_OK) {
        w->counts.live_skipped += n;
    }
    if (w->marks.head.size > 0) {
        slc_daq_pet_live_mark(w->a->live, &w->marks, &w->counts);
    }
    if (made > 0) {
        w->piece[w->n_pieces++] = (slc_daq_pet_piece){(const uint8_t *)w->records.frames[0], made, time_ns};
        push(w);
    }
}

/* Counts a block, and gives the chain what is used of it. */
static void take_block(slc_daq_pet_writer *w, const uint8_t *at)
{
    const slc_io_pet_payload *payload = &w->a->config->raw.payload;
    const slc_io_pet_block block = slc_io_pet_block_of(at);
    const uint64_t frames = slc_io_pet_block_frames(&block);
    uint64_t used = 0;
    for (uint32_t i = 0; i < block.payload; i += block.datagram) {
        const uint32_t left = block.payload - i, size = left < block.datagram ? left : block.datagram;
        const uint8_t *datagram = at + SLC_PET_RAW_BLOCK + i;
        const uint64_t time_ns = slc_io_pet_received(payload, datagram, size, block.time_ns);
        const slc_io_pet_taken taken = slc_io_pet_watch_take(w->watch, payload, datagram, size, time_ns);
        used += taken.n_held + taken.n;
        if (w->records.format != NULL) {
            push_records(w, taken.held, taken.n_held, taken.held_ns);
            push_records(w, datagram + block.header_bytes, taken.n, time_ns);
            continue;
        }
        if (taken.n_held > 0) { /* it is there until the next is taken */
            w->piece[w->n_pieces++] = (slc_daq_pet_piece){taken.held, taken.n_held, taken.held_ns};
            push(w);
        }
        if (taken.n > 0) {
            w->piece[w->n_pieces++] = (slc_daq_pet_piece){datagram + block.header_bytes, taken.n, time_ns};
        }
        if (w->n_pieces == PIECES - 1) {
            push(w);
        }
    }
    push(w);
    w->used += used;
    w->counts.datagrams += slc_io_pet_block_datagrams(&block);
    w->counts.frames += frames;
    w->counts.left_out = w->counts.frames - w->used; /* less what was held and is used after all */
    w->counts.bytes += block.payload;
    w->counts.records = w->records.counts;
}

static void sum_modules(slc_daq_pet_counts *c, const slc_io_pet_watch *watch)
{
    memcpy(c->module, slc_io_pet_watch_modules(watch), sizeof c->module);
    c->malformed = slc_io_pet_watch_malformed(watch);
    c->lost = c->repeated = c->foreign = 0;
    for (int i = 0; i < SLC_PET_MAX_MODULES; i++) {
        c->lost += c->module[i].lost;
        c->repeated += c->module[i].repeated;
        c->foreign += c->module[i].foreign;
    }
}

/* A block that was received, and is not in the file. */
static void count_unwritten(slc_daq_pet_writer *w, const slc_io_pet_block *block)
{
    w->counts.unwritten += slc_io_pet_block_datagrams(block);
    w->counts.unwritten_frames += slc_io_pet_block_frames(block);
}

static void tell_counts(slc_daq_pet_writer *w, double now)
{
    slc_daq_pet_acquisition *a = w->a;
    w->told = now;
    sum_modules(&w->counts, w->watch);
    atomic_store(&a->frames, w->counts.frames);
    if (a->raw != NULL) {
        slc_io_pet_raw_written(a->raw, &w->counts.written_bytes, &w->counts.files);
    }
    (void)pthread_mutex_lock(&a->mutex);
    a->counts = w->counts;
    (void)pthread_mutex_unlock(&a->mutex);
}

/* ---- a turn ------------------------------------------------------------------------------------ */

static void look_at(slc_daq_pet_writer *w, uint32_t i)
{
    w->front[i] = slc_daq_pet_ring_at(w->ring[i], &w->at[i], w->put[i]);
    w->front_ns[i] = w->front[i] != NULL ? slc_io_pet_block_of(w->front[i]).time_ns : UINT64_MAX;
}

/* Looks at all rings. Returns how many bytes are there. */
static uint64_t look(slc_daq_pet_writer *w)
{
    uint64_t there = 0;
    w->counts.ring_now = 0;
    for (uint32_t i = 0; i < w->n; i++) {
        w->put[i] = atomic_load_explicit(&w->ring[i]->put, memory_order_acquire);
        look_at(w, i);
        const uint64_t bytes = w->put[i] - w->at[i];
        const double fill = (double)bytes / (double)w->ring[i]->size;
        w->counts.ring_now = fill > w->counts.ring_now ? fill : w->counts.ring_now;
        w->counts.ring_fill = fill > w->counts.ring_fill ? fill : w->counts.ring_fill;
        there += bytes;
    }
    return there;
}

static uint32_t earliest(const slc_daq_pet_writer *w)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < w->n; i++) {
        if (w->front[i] != NULL && (w->front[best] == NULL || w->front_ns[i] < w->front_ns[best])) {
            best = i;
        }
    }
    return best;
}

/* The next blocks, in the order of their times. */
static size_t gather(slc_daq_pet_writer *w)
{
    size_t n = 0, bytes = 0;
    while (n < BLOCKS && bytes < MOST) {
        const uint32_t i = earliest(w);
        if (w->front[i] == NULL) {
            break;
        }
        const slc_io_pet_block block = slc_io_pet_block_of(w->front[i]);
        w->head[n] = block;
        w->block[n++] = w->front[i];
        bytes += SLC_PET_RAW_BLOCK + (size_t)block.payload;
        w->at[i] += SLC_PET_RAW_BLOCK + (uint64_t)block.payload;
        look_at(w, i);
    }
    return n;
}

static bool pass_on(slc_daq_pet_writer *w)
{
    slc_daq_pet_acquisition *a = w->a;
    slc_error error = {.status = SLC_OK};
    const size_t n = gather(w);
    size_t written = n;
    slc_status status = SLC_OK;
    if (a->raw != NULL) {
        status = slc_io_pet_raw_put(a->raw, w->block, n, &written, &error);
    }
    /* Counted is what is in the file, and nothing else goes to the chain. */
    const uint64_t datagrams = w->counts.datagrams, frames = w->counts.frames;
    for (size_t i = 0; i < written; i++) {
        take_block(w, w->block[i]);
    }
    if (status != SLC_OK) {
        for (size_t i = 0; i < n; i++) {
            count_unwritten(w, &w->head[i]);
        }
        w->counts.unwritten -= w->counts.datagrams - datagrams;
        w->counts.unwritten_frames -= w->counts.frames - frames;
        slc_daq_pet_fail(a, status, &error);
        return false;
    }
    for (uint32_t i = 0; i < w->n; i++) {
        atomic_store_explicit(&w->ring[i]->taken, w->at[i], memory_order_release);
    }
    return true;
}

void *slc_daq_pet_writer_run(void *argument)
{
    slc_daq_pet_writer *w = argument;
    slc_daq_pet_acquisition *a = w->a;
    bool good = true;
    for (;;) {
        const bool received = atomic_load(&a->received); /* before looking: then nothing is overlooked */
        const uint64_t there = look(w);
        const double now = slc_clock_seconds();
        if (there >= ENOUGH || (there > 0 && (received || now - w->written > longest_wait))) {
            good = pass_on(w);
            w->written = now;
        } else if (received && there == 0) {
            break;
        } else {
            const struct timespec moment = {.tv_nsec = 1000000};
            (void)nanosleep(&moment, NULL);
        }
        if (!good) {
            break;
        }
        if (now - w->told > counts_every || a->config->frames > 0) {
            tell_counts(w, now);
        }
    }
    tell_counts(w, slc_clock_seconds());
    atomic_store(&a->written, true);
    return NULL;
}

void slc_daq_pet_writer_count_rest(slc_daq_pet_writer *w)
{
    while (look(w) > 0) {
        for (uint32_t i = 0; i < w->n; i++) {
            while (w->front[i] != NULL) {
                const slc_io_pet_block block = slc_io_pet_block_of(w->front[i]);
                count_unwritten(w, &block);
                w->at[i] += SLC_PET_RAW_BLOCK + (uint64_t)block.payload;
                look_at(w, i);
            }
        }
    }
    tell_counts(w, slc_clock_seconds());
}
