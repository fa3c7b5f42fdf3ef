/* SPDX-License-Identifier: Apache-2.0
 * Two rings under one mutex: pixels go over, rows come back. Where no block is free, closed clusters wait in
 * their slots, of which there are enough.
 */
#include "pixel/pixel_stream_pair.h"

#include "base/columns.h"
#include "pixel/pixel_stream_rows.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

enum {
    JOBS = 64,
    BLOCKS = 32,
    ROWS = 2048,
    BUSY = 12 /* with so many jobs before it the other thread has enough to do */
};

typedef struct job {
    slc_pixel_arrival *pixels;
    size_t n;
    uint64_t present;
    bool is_rough;
} job;

typedef struct block {
    slc_pixel_clusters rows;
    size_t taken;    /* of the rows, by the caller */
    uint64_t pixels; /* of all of them; 0 once they are taken off */
} block;

struct slc_pixel_pair {
    slc_pixel_join *join;
    uint32_t features;
    slc_column columns[SLC_PIXEL_CLUSTER_COLUMNS];
    slc_schema schema;
    pthread_t thread;
    pthread_mutex_t mutex; /* over all that follows, but for blocks that one of the two has */
    pthread_cond_t to_do, done;
    bool is_over, caller_waits, other_waits;
    job jobs[JOBS];
    uint64_t handed, finished; /* how many so far */
    block blocks[BLOCKS];
    uint64_t made, collected; /* the same */
};

/* ---- the other thread ---------------------------------------------------------------------------- */

/* Rows of what is closed, as far as blocks are free. Not under the lock. */
static void make_rows(slc_pixel_pair *p, uint64_t made, uint64_t most)
{
    bool more = true;
    while (more && made < most) {
        block *b = &p->blocks[made % BLOCKS];
        b->rows.head.size = 0;
        b->taken = 0;
        b->pixels = 0;
        more = !slc_pixel_rows_give_out(p->join, p->features, &b->rows, NULL, &b->pixels);
        made += b->rows.head.size > 0;
    }
    (void)pthread_mutex_lock(&p->mutex);
    p->made = made;
    (void)pthread_mutex_unlock(&p->mutex);
}

static void *join_all(void *argument)
{
    slc_pixel_pair *p = argument;
    (void)pthread_mutex_lock(&p->mutex);
    while (!p->is_over) {
        if (p->handed == p->finished) {
            p->other_waits = true;
            (void)pthread_cond_wait(&p->to_do, &p->mutex);
            p->other_waits = false;
            continue;
        }
        const job now = p->jobs[p->finished % JOBS];
        const uint64_t made = p->made, most = p->collected + BLOCKS;
        (void)pthread_mutex_unlock(&p->mutex);
        if (now.is_rough) {
            slc_pixel_order_smooth(now.pixels, now.n);
        }
        slc_pixel_join_run(p->join, now.pixels, now.n);
        slc_pixel_join_advance(p->join, now.present);
        make_rows(p, made, most);
        (void)pthread_mutex_lock(&p->mutex);
        p->finished++;
        if (p->caller_waits) {
            (void)pthread_cond_signal(&p->done);
        }
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return NULL;
}

/* ---- the caller's -------------------------------------------------------------------------------- */

/* Signals are left to other threads. */
static bool start(slc_pixel_pair *p)
{
    sigset_t all, before;
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_BLOCK, &all, &before);
    const int wrong = pthread_create(&p->thread, NULL, join_all, p);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return wrong == 0;
}

static void clear(slc_pixel_pair *p)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        slc_columns_clear(&p->schema, &p->blocks[i].rows);
    }
    (void)pthread_cond_destroy(&p->to_do);
    (void)pthread_cond_destroy(&p->done);
    (void)pthread_mutex_destroy(&p->mutex);
    free(p);
}

slc_pixel_pair *slc_pixel_pair_open(slc_pixel_join *join, uint32_t features)
{
    slc_pixel_pair *p = calloc(1, sizeof *p);
    if (p == NULL) {
        return NULL;
    }
    p->join = join;
    p->features = features;
    p->schema = slc_pixel_clusters_schema(features, 0, p->columns);
    (void)pthread_mutex_init(&p->mutex, NULL);
    (void)pthread_cond_init(&p->to_do, NULL);
    (void)pthread_cond_init(&p->done, NULL);
    bool good = true;
    for (size_t i = 0; i < BLOCKS && good; i++) {
        good = slc_columns_reserve(&p->schema, &p->blocks[i].rows, ROWS, 1) == SLC_OK;
    }
    if (!good || !start(p)) {
        clear(p);
        return NULL;
    }
    return p;
}

void slc_pixel_pair_close(slc_pixel_pair *p)
{
    if (p != NULL) {
        (void)pthread_mutex_lock(&p->mutex);
        p->is_over = true;
        (void)pthread_cond_signal(&p->to_do);
        (void)pthread_mutex_unlock(&p->mutex);
        (void)pthread_join(p->thread, NULL);
        clear(p);
    }
}

/* Under the lock. */
static void wait_for(slc_pixel_pair *p, uint64_t number)
{
    while (p->finished < number) {
        p->caller_waits = true;
        (void)pthread_cond_wait(&p->done, &p->mutex);
        p->caller_waits = false;
    }
}

uint64_t slc_pixel_pair_hand_over(slc_pixel_pair *p, slc_pixel_arrival *pixels, size_t n, bool is_rough,
                                  uint64_t present)
{
    (void)pthread_mutex_lock(&p->mutex);
    if (is_rough && p->handed - p->finished >= BUSY) {
        (void)pthread_mutex_unlock(&p->mutex);
        slc_pixel_order_smooth(pixels, n);
        is_rough = false;
        (void)pthread_mutex_lock(&p->mutex);
    }
    wait_for(p, p->handed < JOBS ? 0 : p->handed - JOBS + 1);
    p->jobs[p->handed % JOBS] = (job){pixels, n, present, is_rough};
    const uint64_t number = ++p->handed;
    if (p->other_waits) {
        (void)pthread_cond_signal(&p->to_do);
    }
    (void)pthread_mutex_unlock(&p->mutex);
    return number;
}

void slc_pixel_pair_wait(slc_pixel_pair *p, uint64_t number)
{
    if (p != NULL) {
        (void)pthread_mutex_lock(&p->mutex);
        wait_for(p, number < p->handed ? number : p->handed);
        (void)pthread_mutex_unlock(&p->mutex);
    }
}

bool slc_pixel_pair_collect(slc_pixel_pair *p, slc_pixel_clusters *closed, uint64_t *waiting)
{
    (void)pthread_mutex_lock(&p->mutex);
    const uint64_t made = p->made;
    uint64_t collected = p->collected;
    (void)pthread_mutex_unlock(&p->mutex);
    bool has_room = true;
    for (; collected < made && has_room; collected += has_room) {
        block *b = &p->blocks[collected % BLOCKS];
        const size_t left = b->rows.head.size - b->taken, room = closed->head.capacity - closed->head.size;
        const size_t n = left < room ? left : room;
        (void)slc_columns_append(&p->schema, &b->rows, b->taken, n, closed);
        b->taken += n;
        *waiting -= b->pixels;
        b->pixels = 0;
        has_room = n == left;
    }
    (void)pthread_mutex_lock(&p->mutex);
    p->collected = collected;
    (void)pthread_mutex_unlock(&p->mutex);
    return has_room;
}
