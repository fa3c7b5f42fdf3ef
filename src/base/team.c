/* SPDX-License-Identifier: Apache-2.0
 * Fork and join on a fixed set of threads. A run is a new generation: threads that see it do their parts and
 * count themselves out. Both sides look for a moment without sleeping, since runs follow each other within
 * microseconds, and then sleep on a condition, so that an idle team costs nothing. A sleeper announces itself
 * before it looks for the last time, and who changes something looks for sleepers afterwards; all of that in
 * one total order (sequentially consistent atomics), so no wake-up is lost.
 *
 * Threads are started by the first run that has parts for them: most of the cost of a team that is opened for
 * one small piece of work. And after fork() the child has none of them, so that its first run starts its own.
 */
#if defined(__linux__)
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "base/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct worker {
    slc_team *team;
    pthread_t thread;
    uint32_t index; /* from 1; 0 is the caller */
} worker;

struct slc_team {
    uint32_t size;
    uint32_t n_workers; /* threads that were started */
    bool asked;         /* for threads: whether or not all could be had */
    uint32_t forks;     /* `forks` when they were */
    worker *workers;

    /* The work at hand; written before the generation changes, read after it was seen to. */
    void (*work)(void *context, uint32_t part);
    void *context;
    uint32_t parts;
    bool stop;

    atomic_uint_least32_t generation;
    atomic_uint_least32_t remaining;       /* workers that have not finished this generation */
    atomic_uint_least32_t sleeping;        /* workers that sleep or are about to */
    atomic_uint_least32_t caller_sleeping; /* the same of the caller: 0 or 1 */
    pthread_mutex_t mutex;
    pthread_cond_t begun, done;
};

/* ---- fork() ------------------------------------------------------------------------------------ */

/* How many forks lie between the process that began with this library and this one. */
static atomic_uint_least32_t forks;

static void count_fork(void)
{
    atomic_fetch_add(&forks, 1);
}

static pthread_once_t forks_once = PTHREAD_ONCE_INIT;
static int forks_watched; /* 0 where they are */

static void watch_forks(void)
{
    forks_watched = pthread_atfork(NULL, NULL, count_fork);
}

static bool begin_without_workers(slc_team *team)
{
    team->n_workers = 0;
    team->asked = false;
    team->forks = atomic_load(&forks);
    atomic_init(&team->generation, 0);
    atomic_init(&team->remaining, 0);
    atomic_init(&team->sleeping, 0);
    atomic_init(&team->caller_sleeping, 0);
    /* These cannot fail with default attributes on the systems that there are. */
    return pthread_mutex_init(&team->mutex, NULL) == 0 && pthread_cond_init(&team->begun, NULL) == 0 &&
           pthread_cond_init(&team->done, NULL) == 0;
}

/* In a child the workers are not there, and mutex and conditions are as they were in the middle of whatever
 * those did: they are made anew, not destroyed, which would wait for the sleepers. */
static void forget_lost_workers(slc_team *team)
{
    if (team->forks != atomic_load(&forks)) {
        (void)begin_without_workers(team);
    }
}

/* ---- waiting ----------------------------------------------------------------------------------- */

static const double spin_seconds = 20e-6;
enum { LOOKS_PER_CLOCK = 64 };

/* Tells the processor that another thread has to move first. */
static inline void relax(void)
{
#if defined(__GNUC__) && (defined(__x86_64__) || defined(__i386__))
    __builtin_ia32_pause();
#endif
}

/* Looks for a moment whether the value has become (or, with `change`, is no longer) the given one. */
static bool spin(const atomic_uint_least32_t *value, uint32_t given, bool change)
{
    const double begin = slc_clock_seconds();
    do {
        for (int i = 0; i < LOOKS_PER_CLOCK; i++) {
            if ((atomic_load(value) == given) != change) {
                return true;
            }
            relax();
        }
    } while (slc_clock_seconds() - begin < spin_seconds);
    return false;
}

static void wait_for_work(slc_team *team, uint32_t seen)
{
    if (spin(&team->generation, seen, true)) {
        return;
    }
    (void)pthread_mutex_lock(&team->mutex);
    atomic_fetch_add(&team->sleeping, 1);
    while (atomic_load(&team->generation) == seen) {
        (void)pthread_cond_wait(&team->begun, &team->mutex);
    }
    atomic_fetch_sub(&team->sleeping, 1);
    (void)pthread_mutex_unlock(&team->mutex);
}

static void wait_for_workers(slc_team *team)
{
    if (spin(&team->remaining, 0, false)) {
        return;
    }
    (void)pthread_mutex_lock(&team->mutex);
    atomic_store(&team->caller_sleeping, 1);
    while (atomic_load(&team->remaining) != 0) {
        (void)pthread_cond_wait(&team->done, &team->mutex);
    }
    atomic_store(&team->caller_sleeping, 0);
    (void)pthread_mutex_unlock(&team->mutex);
}

/* ---- working ----------------------------------------------------------------------------------- */

static void do_parts(const slc_team *team, uint32_t index)
{
    for (uint64_t part = index; part < team->parts; part += team->n_workers + 1) {
        team->work(team->context, (uint32_t)part);
    }
}

static void *serve(void *argument)
{
    const worker *self = argument;
    slc_team *team = self->team;
    for (uint32_t seen = 0;; seen++) {
        wait_for_work(team, seen);
        if (team->stop) {
            return NULL;
        }
        do_parts(team, self->index);
        if (atomic_fetch_sub(&team->remaining, 1) == 1 && atomic_load(&team->caller_sleeping) != 0) {
            (void)pthread_mutex_lock(&team->mutex);
            (void)pthread_cond_signal(&team->done);
            (void)pthread_mutex_unlock(&team->mutex);
        }
    }
}

/* Begins a generation. */
static void begin(slc_team *team)
{
    atomic_store(&team->remaining, team->n_workers);
    atomic_fetch_add(&team->generation, 1);
    if (atomic_load(&team->sleeping) != 0) {
        (void)pthread_mutex_lock(&team->mutex);
        (void)pthread_cond_broadcast(&team->begun);
        (void)pthread_mutex_unlock(&team->mutex);
    }
}

/* Once, since a system that refused one will hardly have it a moment later. */
static void start_workers(slc_team *team)
{
    if (team->asked) {
        return;
    }
    team->asked = true;
    while (team->n_workers + 1 < team->size) {
        worker *next = &team->workers[team->n_workers];
        *next = (worker){.team = team, .index = team->n_workers + 1};
        if (pthread_create(&next->thread, NULL, serve, next) != 0) {
            return;
        }
        team->n_workers++;
    }
}

void slc_team_run(slc_team *team, uint32_t parts, void (*work)(void *context, uint32_t part), void *context)
{
    if (team != NULL && parts > 1) {
        forget_lost_workers(team);
        start_workers(team);
    }
    if (team == NULL || parts <= 1 || team->n_workers == 0) {
        for (uint32_t part = 0; part < parts; part++) {
            work(context, part);
        }
        return;
    }
    team->work = work;
    team->context = context;
    team->parts = parts;
    begin(team);
    do_parts(team, 0);
    wait_for_workers(team);
}

/* ---- the team ---------------------------------------------------------------------------------- */

slc_status slc_team_open(uint32_t threads, slc_team **out)
{
    *out = NULL;
    slc_team *team = calloc(1, sizeof *team);
    if (team == NULL) {
        return SLC_ERR_MEMORY;
    }
    team->size = threads > 0 ? threads : 1;
    team->workers = calloc(team->size, sizeof *team->workers);
    (void)pthread_once(&forks_once, watch_forks);
    if (team->workers == NULL || forks_watched != 0 || !begin_without_workers(team)) {
        free(team->workers);
        free(team);
        return SLC_ERR_MEMORY;
    }
    *out = team;
    return SLC_OK;
}

void slc_team_close(slc_team *team)
{
    if (team == NULL) {
        return;
    }
    forget_lost_workers(team);
    if (team->n_workers > 0) {
        team->stop = true;
        begin(team);
    }
    for (uint32_t i = 0; i < team->n_workers; i++) {
        (void)pthread_join(team->workers[i].thread, NULL);
    }
    (void)pthread_cond_destroy(&team->begun);
    (void)pthread_cond_destroy(&team->done);
    (void)pthread_mutex_destroy(&team->mutex);
    free(team->workers);
    free(team);
}

uint32_t slc_team_size(const slc_team *team)
{
    return team->size;
}

uint32_t slc_team_processors(void)
{
#if defined(__linux__)
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_COUNT(&allowed) > 0) {
        return (uint32_t)CPU_COUNT(&allowed);
    }
#endif
    /* More than 1024 processors do not fit the set above. */
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (uint32_t)online : 1;
}
