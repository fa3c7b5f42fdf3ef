/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of an acquisition, in a thread of its own behind a queue of frames. The queue decouples it: a
 * file that shall be complete does not wait for a reconstruction that is too slow.
 */
#include "daq/daq_pet_acquire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    QUEUE = 1 << 22,   /* frames */
    MOST = 1 << 16,    /* at once, also when the chain is behind: results of many take memory */
    AGAIN = QUEUE / 2, /* room from which on a chain that was too slow is given frames again: few large gaps
                        * spoil fewer coincidences than many small ones */
    GAPS = 8           /* between two there is nearly half a queue: not more than three are in it */
};

/* Frames that were left out before the frame at this position. */
typedef struct gap {
    uint64_t at, n;
} gap;

struct slc_daq_pet_live {
    slc_daq_pet_acquisition *a;
    slc_pet_chain *chain;
    slc_pet_result result;
    slc_pet_totals totals;
    slc_pet_frame *frames;
    uint64_t *received_ns; /* of each frame; NULL where counters do not begin again */
    slc_pet_marks given;   /* with the batch at hand */

    pthread_mutex_t mutex; /* over what follows */
    pthread_cond_t more, room;
    uint64_t put, taken; /* frames */
    bool end, failed;
    bool skips; /* in the last of the gaps */
    gap gap[GAPS];
    uint32_t first_gap, gaps;
    slc_pet_marks marks; /* since the last batch */
};

slc_status slc_daq_pet_live_open(slc_daq_pet_acquisition *a, slc_daq_pet_live **out, slc_error *error)
{
    *out = NULL;
    slc_daq_pet_live *l = calloc(1, sizeof *l);
    const bool times = a->config->chain->convert.tick_bits < 64;
    if (l == NULL || (l->frames = malloc(QUEUE * sizeof *l->frames)) == NULL ||
        (times && (l->received_ns = malloc(QUEUE * sizeof *l->received_ns)) == NULL)) {
        if (l != NULL) {
            free(l->frames);
        }
        free(l);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the frames of the chain");
    }
    const slc_status status = slc_pet_chain_open(a->config->chain, a->config->tables, &l->chain, error);
    if (status != SLC_OK) {
        free(l->frames);
        free(l->received_ns);
        free(l);
        return status;
    }
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_mutex_init(&l->mutex, NULL);
    (void)pthread_cond_init(&l->more, &attributes);
    (void)pthread_cond_init(&l->room, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    l->a = a;
    *out = l;
    return SLC_OK;
}

void slc_daq_pet_live_close(slc_daq_pet_live *l)
{
    if (l == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&l->mutex);
    (void)pthread_cond_destroy(&l->more);
    (void)pthread_cond_destroy(&l->room);
    slc_pet_chain_close(l->chain);
    slc_pet_result_clear(&l->result);
    slc_columns_clear(&slc_pet_marks_schema, &l->marks);
    slc_columns_clear(&slc_pet_marks_schema, &l->given);
    free(l->frames);
    free(l->received_ns);
    free(l);
}

/* ---- the queue --------------------------------------------------------------------------------- */

static void copy_in(slc_daq_pet_live *l, uint64_t at, const uint8_t *frames, size_t n, uint64_t time_ns)
{
    const size_t place = (size_t)(at % QUEUE), to_end = QUEUE - place, front = n < to_end ? n : to_end;
    memcpy(l->frames + place, frames, front * sizeof *l->frames);
    memcpy(l->frames, frames + front * sizeof *l->frames, (n - front) * sizeof *l->frames);
    for (size_t i = 0; l->received_ns != NULL && i < n; i++) {
        l->received_ns[(at + i) % QUEUE] = time_ns;
    }
}

/* n frames that there is no room for. */
static void leave_out(slc_daq_pet_live *l, uint64_t n, slc_daq_pet_counts *counts)
{
    if (!l->skips) {
        assert(l->gaps < GAPS);
        l->gap[(l->first_gap + l->gaps++) % GAPS] = (gap){.at = l->put};
        l->skips = true;
        counts->live_gaps++;
    }
    l->gap[(l->first_gap + l->gaps - 1) % GAPS].n += n;
}

void slc_daq_pet_live_push(slc_daq_pet_live *l, const slc_daq_pet_piece *pieces, size_t n_pieces, bool wait,
                           slc_daq_pet_counts *counts)
{
    uint64_t n = 0;
    for (size_t i = 0; i < n_pieces; i++) {
        n += pieces[i].n;
    }
    (void)pthread_mutex_lock(&l->mutex);
    while (wait && !l->failed && QUEUE - (l->put - l->taken) < n) {
        (void)pthread_cond_wait(&l->room, &l->mutex);
    }
    const uint64_t put = l->put, room = QUEUE - (put - l->taken);
    l->skips = l->skips && room < AGAIN;
    const bool fits = !l->failed && !l->skips && room >= n;
    if (!fits && !l->failed) {
        leave_out(l, n, counts);
    }
    (void)pthread_mutex_unlock(&l->mutex);
    if (!fits) {
        counts->live_skipped += n;
        return;
    }
    for (size_t i = 0, at = put; i < n_pieces;
         at += pieces[i++].n) { /* the room is ours: only this thread puts */
        copy_in(l, at, pieces[i].frames, pieces[i].n, pieces[i].time_ns);
    }
    (void)pthread_mutex_lock(&l->mutex);
    l->put += n;
    atomic_store(&l->a->queue_now, (double)(l->put - l->taken) / QUEUE);
    if (l->put - l->taken >= MOST) {
        (void)pthread_cond_signal(&l->more);
    }
    (void)pthread_mutex_unlock(&l->mutex);
}

void slc_daq_pet_live_mark(slc_daq_pet_live *l, slc_pet_marks *marks, slc_daq_pet_counts *counts)
{
    (void)pthread_mutex_lock(&l->mutex);
    const size_t rows = l->marks.head.size + marks->head.size;
    slc_status status = slc_columns_reserve(&slc_pet_marks_schema, &l->marks, rows, 0);
    if (status == SLC_OK) {
        status = slc_columns_append(&slc_pet_marks_schema, marks, 0, marks->head.size, &l->marks);
    }
    (void)pthread_mutex_unlock(&l->mutex);
    counts->live_skipped += status != SLC_OK ? marks->head.size : 0;
    slc_columns_reset(marks);
}

void slc_daq_pet_live_end(slc_daq_pet_live *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->end = true;
    (void)pthread_cond_signal(&l->more);
    (void)pthread_mutex_unlock(&l->mutex);
}

/* ---- the thread -------------------------------------------------------------------------------- */

/* Frames that were left out right before the next one. */
static uint64_t take_gap(slc_daq_pet_live *l)
{
    if (l->gaps == 0 || l->gap[l->first_gap].at > l->taken) {
        return 0;
    }
    const uint64_t n = l->gap[l->first_gap].n;
    l->first_gap = (l->first_gap + 1) % GAPS;
    l->gaps--;
    return n;
}

/* Frames that lie in one piece, without a gap, after a moment of waiting for more. Last: there will be no
 * others. */
static void wait_for_frames(slc_daq_pet_live *l, slc_pet_batch *batch)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 50000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&l->mutex);
    int over = 0;
    while (over == 0 && !l->end && l->put - l->taken < MOST) {
        over = pthread_cond_timedwait(&l->more, &l->mutex, &until);
    }
    batch->skipped = take_gap(l);
    const size_t place = (size_t)(l->taken % QUEUE), there = (size_t)(l->put - l->taken);
    const size_t whole = l->gaps > 0 ? (size_t)(l->gap[l->first_gap].at - l->taken) : there;
    size_t n = whole < MOST ? whole : MOST;
    n = n < QUEUE - place ? n : QUEUE - place;
    batch->last = l->end && n == there && l->gaps == 0;
    if (batch->marks != NULL) {
        const slc_pet_marks found = l->marks;
        l->marks = l->given;
        l->given = found;
        slc_columns_reset(&l->marks);
    }
    (void)pthread_mutex_unlock(&l->mutex);
    batch->frames = l->frames + place;
    batch->n = n;
}

static void free_frames(slc_daq_pet_live *l, size_t n, bool failed)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->taken += n;
    atomic_store(&l->a->queue_now, (double)(l->put - l->taken) / QUEUE);
    l->failed = l->failed || failed;
    (void)pthread_cond_signal(&l->room);
    (void)pthread_mutex_unlock(&l->mutex);
}

/* A file goes on without the chain: a measurement cannot be repeated. */
static void fail_live(slc_daq_pet_live *l, slc_status status, const slc_error *error)
{
    slc_daq_pet_acquisition *a = l->a;
    if (a->config->output == NULL) {
        slc_daq_pet_fail(a, status, error);
        return;
    }
    (void)pthread_mutex_lock(&a->mutex);
    a->live_error = *error;
    a->live_error.status = status;
    (void)pthread_mutex_unlock(&a->mutex);
}

/* Frames that come behind a failure. */
static void skip(slc_daq_pet_live *l, size_t n)
{
    (void)pthread_mutex_lock(&l->a->mutex);
    l->a->skipped += n;
    (void)pthread_mutex_unlock(&l->a->mutex);
}

static void keep_totals(slc_daq_pet_live *l)
{
    slc_pet_chain_totals(l->chain, &l->totals);
    (void)pthread_mutex_lock(&l->a->mutex);
    l->a->totals = l->totals;
    (void)pthread_mutex_unlock(&l->a->mutex);
}

/* One step of the chain. */
static slc_status find(slc_daq_pet_live *l, const slc_pet_batch *batch)
{
    const slc_daq_pet_config *config = l->a->config;
    slc_error error = {.status = SLC_OK};
    const uint64_t *times = l->received_ns != NULL ? l->received_ns + (batch->frames - l->frames) : NULL;
    const slc_status status = slc_pet_chain_run(l->chain, batch->frames, times, batch->n, batch->last,
                                                &l->result, &error);
    keep_totals(l);
    if (status != SLC_OK) {
        fail_live(l, status, &error);
    } else if (config->live != NULL && !config->live(config->context, batch)) {
        atomic_store(&l->a->stop, true);
    }
    return status;
}

void *slc_daq_pet_live_run(void *argument)
{
    slc_daq_pet_live *l = argument;
    slc_pet_batch batch = {
        .result = &l->result, .totals = &l->totals, .marks = l->a->config->keep_marks ? &l->given : NULL};
    slc_status status = SLC_OK;
    while (!batch.last) {
        wait_for_frames(l, &batch);
        if (status != SLC_OK) {
            skip(l, batch.n);
        } else if (batch.n > 0 || batch.skipped > 0 || batch.last || l->given.head.size > 0) {
            status = find(l, &batch);
        }
        free_frames(l, batch.n, status != SLC_OK);
    }
    atomic_store(&l->a->found, true);
    return NULL;
}
