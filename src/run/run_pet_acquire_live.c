/* SPDX-License-Identifier: Apache-2.0
 *
 * The chain of an acquisition, in a thread of its own behind a queue of frames. The queue decouples it: a
 * file that shall be complete does not wait for a reconstruction that is too slow.
 */
#include "io/io_pet_raw.h"
#include "run/run_pet_acquire.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { QUEUE = 1 << 22, MOST = 1 << 20, ENOUGH = 1 << 16 /* frames */ };

struct slc_run_pet_live {
    slc_run_pet_acquisition *a;
    slc_pet_chain *chain;
    slc_pet_result result;
    slc_run_pet_counts counts;
    double told;
    slc_pet_frame *frames;

    pthread_mutex_t mutex; /* over what follows */
    pthread_cond_t more, room;
    uint64_t put, taken; /* frames */
    bool end, failed;
};

slc_status slc_run_pet_live_open(slc_run_pet_acquisition *a, slc_run_pet_live **out, slc_error *error)
{
    *out = NULL;
    slc_run_pet_live *l = calloc(1, sizeof *l);
    if (l == NULL || (l->frames = malloc(QUEUE * sizeof *l->frames)) == NULL) {
        free(l);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the frames of the chain");
    }
    const slc_status status = slc_pet_chain_open(a->config->chain, a->config->tables, &l->chain, error);
    if (status != SLC_OK) {
        free(l->frames);
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

void slc_run_pet_live_close(slc_run_pet_live *l)
{
    if (l == NULL) {
        return;
    }
    (void)pthread_mutex_destroy(&l->mutex);
    (void)pthread_cond_destroy(&l->more);
    (void)pthread_cond_destroy(&l->room);
    slc_pet_chain_close(l->chain);
    slc_pet_result_clear(&l->result);
    free(l->frames);
    free(l);
}

/* ---- the queue --------------------------------------------------------------------------------- */

static void copy_in(slc_run_pet_live *l, uint64_t at, const uint8_t *frames, size_t n)
{
    const size_t place = (size_t)(at % QUEUE), to_end = QUEUE - place, front = n < to_end ? n : to_end;
    memcpy(l->frames + place, frames, front * sizeof *l->frames);
    memcpy(l->frames, frames + front * sizeof *l->frames, (n - front) * sizeof *l->frames);
}

static void copy_block(slc_run_pet_live *l, uint64_t at, const uint8_t *bytes, const slc_io_pet_block *block)
{
    for (uint32_t i = 0; i < block->payload; i += block->datagram) {
        const uint32_t left = block->payload - i, size = left < block->datagram ? left : block->datagram;
        if (size > block->header_bytes) {
            const size_t n = (size - block->header_bytes) / SLC_PET_FRAME_BYTES;
            copy_in(l, at, bytes + SLC_PET_RAW_BLOCK + i + block->header_bytes, n);
            at += n;
        }
    }
}

uint64_t slc_run_pet_live_push(slc_run_pet_live *l, const uint8_t *at, bool wait)
{
    const slc_io_pet_block block = slc_io_pet_block_of(at);
    const uint64_t n = slc_io_pet_block_frames(&block); /* fewer than 2^16 */
    (void)pthread_mutex_lock(&l->mutex);
    while (wait && !l->failed && QUEUE - (l->put - l->taken) < n) {
        (void)pthread_cond_wait(&l->room, &l->mutex);
    }
    const bool fits = !l->failed && QUEUE - (l->put - l->taken) >= n;
    const uint64_t put = l->put;
    (void)pthread_mutex_unlock(&l->mutex);
    if (!fits) {
        return n;
    }
    copy_block(l, put, at, &block); /* the room is ours: only this thread puts */
    (void)pthread_mutex_lock(&l->mutex);
    l->put += n;
    if (l->put - l->taken >= ENOUGH) {
        (void)pthread_cond_signal(&l->more);
    }
    (void)pthread_mutex_unlock(&l->mutex);
    return 0;
}

void slc_run_pet_live_end(slc_run_pet_live *l)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->end = true;
    (void)pthread_cond_signal(&l->more);
    (void)pthread_mutex_unlock(&l->mutex);
}

/* ---- the thread -------------------------------------------------------------------------------- */

/* Frames that lie in one piece, after a moment of waiting for more. *last: there will be no others. */
static size_t wait_for_frames(slc_run_pet_live *l, const slc_pet_frame **frames, bool *last)
{
    struct timespec until;
    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += 50000000;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    (void)pthread_mutex_lock(&l->mutex);
    int over = 0;
    while (over == 0 && !l->end && l->put - l->taken < ENOUGH) {
        over = pthread_cond_timedwait(&l->more, &l->mutex, &until);
    }
    const size_t place = (size_t)(l->taken % QUEUE), there = (size_t)(l->put - l->taken);
    size_t n = there < MOST ? there : MOST;
    n = n < QUEUE - place ? n : QUEUE - place;
    *last = l->end && n == there;
    (void)pthread_mutex_unlock(&l->mutex);
    *frames = l->frames + place;
    return n;
}

static void free_frames(slc_run_pet_live *l, size_t n, bool failed)
{
    (void)pthread_mutex_lock(&l->mutex);
    l->taken += n;
    l->failed = l->failed || failed;
    (void)pthread_cond_signal(&l->room);
    (void)pthread_mutex_unlock(&l->mutex);
}

/* A file goes on without the chain: a measurement cannot be repeated. */
static void fail_live(slc_run_pet_live *l, slc_status status, const slc_error *error)
{
    slc_run_pet_acquisition *a = l->a;
    if (a->raw == NULL) {
        slc_run_pet_fail(a, status, error);
        return;
    }
    (void)pthread_mutex_lock(&a->mutex);
    a->live_error = *error;
    a->live_error.status = status;
    (void)pthread_mutex_unlock(&a->mutex);
}

/* Frames that come behind a failure. */
static void skip(slc_run_pet_live *l, size_t n)
{
    (void)pthread_mutex_lock(&l->a->mutex);
    l->a->skipped += n;
    (void)pthread_mutex_unlock(&l->a->mutex);
}

static void keep_totals(slc_run_pet_live *l)
{
    slc_pet_totals totals;
    slc_pet_chain_totals(l->chain, &totals);
    (void)pthread_mutex_lock(&l->a->mutex);
    l->a->totals = totals;
    (void)pthread_mutex_unlock(&l->a->mutex);
}

static void tell(slc_run_pet_live *l, const slc_pet_result *result)
{
    const slc_run_pet_config *config = l->a->config;
    const double now = slc_clock_seconds();
    if (config->live == NULL) {
        return;
    }
    if (result != NULL) {
        slc_run_pet_counts_now(l->a, &l->counts);
        if (!config->live(config->context, result, &l->counts)) {
            atomic_store(&l->a->stop, true);
        }
    }
    if (now - l->told >= 1) {
        l->told = now;
        slc_run_pet_counts_now(l->a, &l->counts);
        if (!config->live(config->context, NULL, &l->counts)) {
            atomic_store(&l->a->stop, true);
        }
    }
}

void *slc_run_pet_live_run(void *argument)
{
    slc_run_pet_live *l = argument;
    bool last = false;
    slc_status status = SLC_OK;
    l->told = slc_clock_seconds();
    while (!last) {
        const slc_pet_frame *frames = NULL;
        const size_t n = wait_for_frames(l, &frames, &last);
        const bool works = status == SLC_OK;
        if (works && (n > 0 || last)) {
            slc_error error = {.status = SLC_OK};
            status = slc_pet_chain_run(l->chain, frames, n, last, &l->result, &error);
            if (status != SLC_OK) {
                fail_live(l, status, &error);
            }
            keep_totals(l);
        }
        if (!works) {
            skip(l, n);
        }
        free_frames(l, n, status != SLC_OK);
        tell(l, status == SLC_OK && (n > 0 || last) ? &l->result : NULL);
    }
    return NULL;
}
