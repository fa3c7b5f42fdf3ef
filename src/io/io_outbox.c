/* SPDX-License-Identifier: Apache-2.0
 *
 * Many small files that are each complete or not there. What takes the time is not their bytes but to wait
 * until the disk has them (fsync, 0.5 to 10 ms a file), which a journal does for many files at once if they
 * are waited for at the same time. So each is waited for by a thread that has nothing else to do, and whoever
 * makes the files goes on.
 */
#include <sluice/io.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum { MOST_THREADS = 16, MOST_WAITING = 64 };

typedef struct letter {
    slc_io_writer *writer;
    uint64_t number;
} letter;

struct slc_io_outbox {
    pthread_mutex_t mutex; /* over all that follows */
    pthread_cond_t filled, emptied;
    letter waiting[MOST_WAITING]; /* a ring */
    size_t first, n_waiting;
    pthread_t threads[MOST_THREADS];
    size_t n_threads, n_idle;
    bool over;
    uint64_t n_put, n_failed, first_failed;
    slc_error error; /* of first_failed */
};

/* Under the lock, which it gives back meanwhile. */
static void finish_one(slc_io_outbox *outbox, letter taken)
{
    slc_error error = {.status = SLC_OK};
    (void)pthread_mutex_unlock(&outbox->mutex);
    const slc_status status = slc_io_finish(taken.writer, &error);
    (void)pthread_mutex_lock(&outbox->mutex);
    if (status != SLC_OK && (outbox->n_failed++ == 0 || taken.number < outbox->first_failed)) {
        outbox->first_failed = taken.number;
        outbox->error = error;
        outbox->error.status = status;
    }
}

static letter take(slc_io_outbox *outbox)
{
    const letter taken = outbox->waiting[outbox->first];
    outbox->first = (outbox->first + 1) % MOST_WAITING;
    outbox->n_waiting--;
    (void)pthread_cond_signal(&outbox->emptied);
    return taken;
}

static void *serve(void *argument)
{
    slc_io_outbox *outbox = argument;
    (void)pthread_mutex_lock(&outbox->mutex);
    while (!outbox->over || outbox->n_waiting > 0) {
        if (outbox->n_waiting > 0) {
            finish_one(outbox, take(outbox));
        } else {
            outbox->n_idle++;
            (void)pthread_cond_wait(&outbox->filled, &outbox->mutex);
            outbox->n_idle--;
        }
    }
    (void)pthread_mutex_unlock(&outbox->mutex);
    return NULL;
}

/* One thread more, which signals do not go to. Under the lock. */
static void start_thread(slc_io_outbox *outbox)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    outbox->n_threads += pthread_create(&outbox->threads[outbox->n_threads], NULL, serve, outbox) == 0;
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
}

slc_status slc_io_outbox_open(slc_io_outbox **outbox, slc_error *error)
{
    slc_io_outbox *opened = calloc(1, sizeof *opened);
    *outbox = opened;
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to complete files with");
    }
    (void)pthread_mutex_init(&opened->mutex,
                             NULL); /* with these attributes nothing of it can fail on Linux */
    (void)pthread_cond_init(&opened->filled, NULL);
    (void)pthread_cond_init(&opened->emptied, NULL);
    return SLC_OK;
}

void slc_io_outbox_put(slc_io_outbox *outbox, slc_io_writer *writer)
{
    (void)pthread_mutex_lock(&outbox->mutex);
    const letter own = {.writer = writer, .number = outbox->n_put++};
    if (outbox->n_idle <= outbox->n_waiting && outbox->n_threads < MOST_THREADS) {
        start_thread(outbox);
    }
    if (outbox->n_threads == 0) { /* the system gives none */
        finish_one(outbox, own);
    } else {
        while (outbox->n_waiting == MOST_WAITING) {
            (void)pthread_cond_wait(&outbox->emptied, &outbox->mutex);
        }
        outbox->waiting[(outbox->first + outbox->n_waiting++) % MOST_WAITING] = own;
        (void)pthread_cond_signal(&outbox->filled);
    }
    (void)pthread_mutex_unlock(&outbox->mutex);
}

slc_status slc_io_outbox_look(slc_io_outbox *outbox, slc_error *error)
{
    (void)pthread_mutex_lock(&outbox->mutex);
    const slc_status status = outbox->n_failed > 0 ? outbox->error.status : SLC_OK;
    if (status != SLC_OK && error != NULL) {
        *error = outbox->error;
    }
    (void)pthread_mutex_unlock(&outbox->mutex);
    return status;
}

slc_status slc_io_outbox_close(slc_io_outbox *outbox, uint64_t *n_failed, slc_error *error)
{
    uint64_t failed = 0;
    slc_status status = SLC_OK;
    if (outbox != NULL) {
        (void)pthread_mutex_lock(&outbox->mutex);
        outbox->over = true;
        (void)pthread_cond_broadcast(&outbox->filled);
        (void)pthread_mutex_unlock(&outbox->mutex);
        for (size_t i = 0; i < outbox->n_threads; i++) {
            (void)pthread_join(outbox->threads[i], NULL);
        }
        failed = outbox->n_failed;
        status = slc_io_outbox_look(outbox, error);
        (void)pthread_cond_destroy(&outbox->emptied);
        (void)pthread_cond_destroy(&outbox->filled);
        (void)pthread_mutex_destroy(&outbox->mutex);
        free(outbox);
    }
    if (n_failed != NULL) {
        *n_failed = failed;
    }
    return status;
}
