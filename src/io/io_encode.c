/* SPDX-License-Identifier: Apache-2.0
 * One list of blocks in order, as in the flow (src/run/run_flow.c): threads take the oldest that nobody has
 * taken, and the caller places the first when it is done. Where the list is full the caller encodes one
 * itself, so that with few processors nobody waits. A block is some hundred microseconds of work: one mutex
 * is nothing to it.
 */
#include "io/io_encode.h"

#include "base/block.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

typedef struct encoder {
    slc_io_encoders *all;
    pthread_t thread;
} encoder;

/* Memory of blocks in large pages: results of many columns begin with a block for each of them. */
typedef struct slab {
    struct slab *before;
    _Alignas(SLC_BLOCK_ALIGN) char bytes[];
} slab;

struct slc_io_encoders {
    slc_io_encoders_config config;
    void *scratch; /* the caller's */
    slc_io_block *free;
    slab *slabs; /* the last one, of which so many bytes are left */
    size_t slab_left;
    encoder *threads;
    uint32_t n_started;
    bool asked; /* for threads */

    pthread_mutex_t mutex; /* over what follows */
    pthread_cond_t workable, done;
    slc_io_block *head, *tail, *untaken;
    uint32_t n_flying;
    bool over;
};

slc_status slc_io_block_reserve(slc_io_block *block, size_t size)
{
    if (block->encoded_room < size) {
        free(block->encoded);
        block->encoded = malloc(size);
        block->encoded_room = block->encoded != NULL ? size : 0;
    }
    return block->encoded_room >= size ? SLC_OK : SLC_ERR_MEMORY;
}

slc_status slc_io_encoders_open(const slc_io_encoders_config *config, slc_io_encoders **encoders,
                                slc_error *error)
{
    slc_io_encoders *e = calloc(1, sizeof *e);
    *encoders = NULL;
    if (e != NULL) {
        e->config = *config;
        e->threads = calloc(config->threads > 0 ? config->threads : 1, sizeof *e->threads);
    }
    if (e == NULL || e->threads == NULL || pthread_mutex_init(&e->mutex, NULL) != 0 ||
        pthread_cond_init(&e->workable, NULL) != 0 || pthread_cond_init(&e->done, NULL) != 0) {
        free(e != NULL ? e->threads : NULL);
        free(e);
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to write it", config->name);
    }
    *encoders = e;
    return SLC_OK;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

static void free_bytes(slc_io_block *block)
{
    if (!block->of_slab) {
        free(block->bytes);
    }
    block->bytes = NULL;
    block->room = 0;
    block->of_slab = false;
}

static void free_block(slc_io_block *block)
{
    free_bytes(block);
    free(block->encoded);
    free(block);
}

void slc_io_encoders_return(slc_io_encoders *e, slc_io_block *block)
{
    if (block != NULL) {
        block->next = e->free;
        e->free = block;
    }
}

static char *take_of_slab(slc_io_encoders *e, size_t room)
{
    const size_t all = SLC_BLOCK_PAGE - sizeof(slab);
    if (e->slab_left < room) {
        slab *next = slc_block_pages(SLC_BLOCK_PAGE);
        if (next == NULL) {
            return NULL;
        }
        next->before = e->slabs;
        e->slabs = next;
        e->slab_left = all;
    }
    char *bytes = e->slabs->bytes + (all - e->slab_left);
    e->slab_left -= room;
    return bytes;
}

/* A block that grows has memory of its own, as nobody takes back what is of a slab. */
static bool need_room(slc_io_encoders *e, slc_io_block *block, size_t room)
{
    enum { LEAST = 1 << 14, MOST = 1 << 19 };
    const bool first = block->bytes == NULL;
    free_bytes(block);
    block->of_slab = first && room >= LEAST && room <= MOST;
    block->bytes = block->of_slab ? (uint8_t *)take_of_slab(e, slc_block_bound(room)) : malloc(room);
    block->room = block->bytes != NULL ? room : 0;
    return block->bytes != NULL;
}

slc_io_block *slc_io_encoders_take(slc_io_encoders *e, size_t room)
{
    slc_io_block *block = e->free;
    if (block != NULL) {
        e->free = block->next;
    } else {
        block = calloc(1, sizeof *block);
    }
    if (block != NULL && block->room < room && !need_room(e, block, room)) {
        free_block(block);
        return NULL;
    }
    if (block != NULL) {
        block->size = block->encoded_size = 0;
        block->status = SLC_OK;
        block->done = false;
        block->next = NULL;
        block->flags = 0;
    }
    return block;
}

/* ---- encoding ---------------------------------------------------------------------------------- */

/* The oldest that is not taken. Under the lock, which is given back meanwhile. */
static void encode_one(slc_io_encoders *e, void **scratch)
{
    slc_io_block *block = e->untaken;
    do { /* those that are done at once are nobody's work */
        e->untaken = e->untaken->next;
    } while (e->untaken != NULL && e->untaken->done);
    (void)pthread_mutex_unlock(&e->mutex);
    block->status = block->encode != NULL ? block->encode(block, scratch) : SLC_OK;
    (void)pthread_mutex_lock(&e->mutex);
    block->done = true;
    if (block == e->head) {
        (void)pthread_cond_signal(&e->done);
    }
}

static void *serve(void *argument)
{
    const encoder *self = argument;
    slc_io_encoders *e = self->all;
    void *scratch = NULL;
    (void)pthread_mutex_lock(&e->mutex);
    while (!e->over) {
        if (e->untaken != NULL) {
            encode_one(e, &scratch);
        } else {
            (void)pthread_cond_wait(&e->workable, &e->mutex);
        }
    }
    (void)pthread_mutex_unlock(&e->mutex);
    if (e->config.scratch_close != NULL && scratch != NULL) {
        e->config.scratch_close(scratch);
    }
    return NULL;
}

/* As many as the system gives; signals are for other threads. */
static void start(slc_io_encoders *e)
{
    sigset_t all, before;
    e->asked = true;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    for (bool good = true; good && e->n_started < e->config.threads; e->n_started += good) {
        e->threads[e->n_started].all = e;
        good = pthread_create(&e->threads[e->n_started].thread, NULL, serve, &e->threads[e->n_started]) == 0;
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* ---- placing ----------------------------------------------------------------------------------- */

/* The first, which is done. Under the lock, which is given back meanwhile. */
static slc_status place_first(slc_io_encoders *e, slc_error *error)
{
    slc_io_block *block = e->head;
    e->head = block->next;
    e->tail = e->head == NULL ? NULL : e->tail;
    e->n_flying--;
    (void)pthread_mutex_unlock(&e->mutex);
    slc_status status = block->status;
    if (status == SLC_OK) {
        status = e->config.place(e->config.context, block, error);
    } else {
        (void)slc_fail(error, status, "%s: no memory to encode it", e->config.name);
    }
    slc_io_encoders_return(e, block);
    (void)pthread_mutex_lock(&e->mutex);
    return status;
}

/* Until at most `most` are in flight; what is done already is placed in any case. */
static slc_status settle(slc_io_encoders *e, uint32_t most, slc_error *error)
{
    slc_status status = SLC_OK;
    (void)pthread_mutex_lock(&e->mutex);
    while (status == SLC_OK && e->head != NULL && (e->n_flying > most || e->head->done)) {
        if (e->head->done) {
            status = place_first(e, error);
        } else if (e->untaken != NULL) {
            encode_one(e, &e->scratch);
        } else {
            (void)pthread_cond_wait(&e->done, &e->mutex);
        }
    }
    (void)pthread_mutex_unlock(&e->mutex);
    return status;
}

slc_status slc_io_encoders_give(slc_io_encoders *e, slc_io_block *block, slc_io_encode encode,
                                slc_error *error)
{
    block->encode = encode;
    block->done = encode == NULL; /* nothing to wait for but those before it */
    if (!e->asked && encode != NULL) {
        start(e);
    }
    (void)pthread_mutex_lock(&e->mutex);
    if (e->tail != NULL) {
        e->tail->next = block;
    } else {
        e->head = block;
    }
    e->tail = block;
    e->n_flying++;
    if (!block->done) {
        e->untaken = e->untaken != NULL ? e->untaken : block;
        (void)pthread_cond_signal(&e->workable);
    }
    (void)pthread_mutex_unlock(&e->mutex);
    return settle(e, 3 * e->n_started, error);
}

slc_status slc_io_encoders_drain(slc_io_encoders *e, slc_error *error)
{
    return settle(e, 0, error);
}

void slc_io_encoders_stop(slc_io_encoders *e)
{
    if (e == NULL) {
        return;
    }
    (void)pthread_mutex_lock(&e->mutex);
    e->over = true;
    (void)pthread_cond_broadcast(&e->workable);
    (void)pthread_mutex_unlock(&e->mutex);
    for (uint32_t i = 0; i < e->n_started; i++) {
        (void)pthread_join(e->threads[i].thread, NULL);
    }
    while (e->head != NULL) {
        slc_io_block *block = e->head;
        e->head = block->next;
        slc_io_encoders_return(e, block);
    }
    e->n_started = e->n_flying = 0;
    e->untaken = e->tail = NULL;
}

void slc_io_encoders_close(slc_io_encoders *e)
{
    if (e == NULL) {
        return;
    }
    slc_io_encoders_stop(e);
    while (e->free != NULL) {
        slc_io_block *block = e->free;
        e->free = block->next;
        free_block(block);
    }
    while (e->slabs != NULL) {
        slab *last = e->slabs;
        e->slabs = last->before;
        free(last);
    }
    if (e->config.scratch_close != NULL && e->scratch != NULL) {
        e->config.scratch_close(e->scratch);
    }
    (void)pthread_mutex_destroy(&e->mutex);
    (void)pthread_cond_destroy(&e->workable);
    (void)pthread_cond_destroy(&e->done);
    free(e->threads);
    free(e);
}
