/* SPDX-License-Identifier: Apache-2.0
 *
 * The exchange. Each process has a window: words that say what is ready and what builders are done with, then
 * slots, as many for each builder as packs may be on their way to it. A thread fills them, pack after pack;
 * it says nothing over MPI. A builder looks at the word of a slot, gets the slot's bytes, and writes down in
 * the unit's window how many packs it has had, or has given up. In step i builder b turns to process b + i,
 * so that each serves one builder at a time.
 *
 * A pack's place in the window of process u is slot p modulo the number of slots. It is filled when its
 * builder is done with the pack that was there. A process that has nothing ready, though a slot is free, is
 * waited for: at most `timeout` seconds in all until something of it comes.
 */
#define _POSIX_C_SOURCE 200809L
#include "mpi_build.h"

#include "cli_talk.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* A slot's word: the pack, from 1 and modulo 2^24, and how many bytes there are. */
enum { SIZE_BITS = 40, BLOCKED = 0, WORDS = 8, PAGE = 4096, NAP_NS = 50000 };
#define SIZE_MASK ((UINT64_C(1) << SIZE_BITS) - 1)

static uint64_t stamp(uint64_t pack)
{
    return (pack + 1) << SIZE_BITS;
}

static uint64_t slot_of(const slc_build_exchange *x, uint64_t pack)
{
    return x->n_slots > 0 ? pack % x->n_slots : 0;
}

static size_t word_of_slot(const slc_build_exchange *x, uint64_t pack)
{
    return WORDS + (size_t)slot_of(x, pack);
}

static size_t word_of_builder(const slc_build_exchange *x, int builder)
{
    return WORDS + (size_t)x->n_slots + (size_t)builder;
}

static uint64_t words_bytes(const slc_build_exchange *x)
{
    return (8 * (WORDS + (uint64_t)x->n_slots + (uint64_t)x->world.size) + PAGE - 1) / PAGE * PAGE;
}

uint8_t *slc_build_exchange_slot(const slc_build_exchange *x, uint64_t pack)
{
    return x->base + words_bytes(x) + (size_t)slot_of(x, pack) * x->slot_bytes;
}

static void nap(void)
{
    const struct timespec time = {.tv_nsec = NAP_NS};
    (void)nanosleep(&time, NULL);
}

double slc_build_processor(void)
{
    struct timespec time = {.tv_sec = 0};
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Without spinning: on a machine with fewer processors than ranks others have work to do meanwhile. */
void slc_build_barrier(void)
{
    MPI_Request all;
    MPI_Status status;
    int reached = 0;
    (void)MPI_Ibarrier(MPI_COMM_WORLD, &all);
    while (MPI_Test(&all, &reached, &status) == MPI_SUCCESS && !reached) {
        nap();
    }
}

/* ---- serving ----------------------------------------------------------------------------------- */

/* Words of the own window, which others write and read by MPI, in the unified model as any memory. */
static _Atomic uint64_t *own(const slc_build_exchange *x, size_t word)
{
    return (_Atomic uint64_t *)(void *)(x->base + 8 * word);
}

static bool is_stopped(slc_build_exchange *x)
{
    return atomic_load(&x->stop);
}

/* --stall: a unit that is slow, for trying out what happens then. */
static void stall(slc_build_exchange *x, uint64_t pack)
{
    const slc_cli_number_list *stall = x->stall;
    if (stall->n == 3 && (int)stall->value[0] == x->world.rank && (uint64_t)stall->value[1] == pack) {
        const double end = slc_clock_seconds() + stall->value[2];
        while (slc_clock_seconds() < end && !is_stopped(x)) {
            nap();
        }
    }
}

static void *serve(void *argument)
{
    slc_build_exchange *x = argument;
    const uint64_t n = (uint64_t)x->world.size;
    for (uint64_t p = 0; p < x->n_packs && !is_stopped(x); p++) {
        const uint64_t k = p / n;
        _Atomic uint64_t *done = own(x, word_of_builder(x, (int)(p % n)));
        while (atomic_load_explicit(done, memory_order_acquire) + x->in_flight <= k && !is_stopped(x)) {
            atomic_store(own(x, BLOCKED), 1);
            nap();
        }
        atomic_store(own(x, BLOCKED), 0);
        stall(x, p);
        uint64_t size = 0;
        const bool given_up = atomic_load(done) > k;
        if (x->status == SLC_OK) {
            x->status = slc_build_units_fill(x->units, p, given_up, x->filled || p >= x->n_slots,
                                             slc_build_exchange_slot(x, p), &size, &x->error);
        }
        size = x->status == SLC_OK ? size : 0;
        atomic_store_explicit(own(x, word_of_slot(x, p)), stamp(p) | size, memory_order_release);
    }
    return NULL;
}

slc_status slc_build_exchange_begin(slc_build_exchange *x, slc_error *error)
{
    slc_status status = SLC_OK;
    memset(x->base, 0, words_bytes(x));
    for (uint32_t i = 0; i < x->in_flight; i++) {
        x->pulls[i].begun = false;
    }
    for (int u = 0; u < x->world.size; u++) {
        x->patience[u] = x->timeout;
    }
    x->bytes = 0;
    x->seconds = x->seconds_waiting = x->processor = 0;
    x->status = SLC_OK;
    atomic_store(&x->stop, false);
    slc_build_barrier();
    x->has_thread = pthread_create(&x->thread, NULL, serve, x) == 0;
    if (!x->has_thread) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no thread for a readout unit");
    }
    return slc_mpi_agree(&x->world, status, error);
}

slc_status slc_build_exchange_end(slc_build_exchange *x, slc_error *error)
{
    slc_build_barrier(); /* nobody wants anything any more */
    atomic_store(&x->stop, true);
    if (x->has_thread) {
        (void)pthread_join(x->thread, NULL);
        x->has_thread = false;
        x->filled = x->n_packs >= x->n_slots;
    }
    if (x->status != SLC_OK) {
        *error = x->error;
    }
    return slc_mpi_agree(&x->world, x->status, error);
}

/* ---- windows ----------------------------------------------------------------------------------- */

static slc_status make_pulls(slc_build_exchange *x, slc_error *error)
{
    const size_t n = (size_t)x->world.size;
    uint64_t room = 0;
    for (size_t u = 0; u < n; u++) {
        x->at[u] = room;
        room += x->capacity[u];
    }
    for (uint32_t i = 0; i < x->in_flight; i++) {
        slc_build_pull *pull = &x->pulls[i];
        pull->state = calloc(n, 1);
        pull->size = calloc(n, sizeof *pull->size);
        if (pull->state == NULL || pull->size == NULL ||
            slc_batch_reserve(&pull->batch, room + room / 8, 0) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u packs of %llu bytes", x->in_flight,
                            (unsigned long long)room);
        }
    }
    return SLC_OK;
}

static slc_status make_window(slc_build_exchange *x, slc_error *error)
{
    const uint64_t bytes = words_bytes(x) + x->n_slots * x->slot_bytes;
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int made = MPI_Win_allocate((MPI_Aint)bytes, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &x->base,
                                      &x->window);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (made != MPI_SUCCESS) {
        return slc_fail(error, SLC_ERR_MEMORY, "MPI has no memory for a window of %llu bytes",
                        (unsigned long long)bytes);
    }
    x->has_window = true;
    int *model = NULL, has = 0;
    (void)MPI_Win_get_attr(x->window, MPI_WIN_MODEL, (void *)&model, &has);
    if (!has || *model != MPI_WIN_UNIFIED) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "the MPI here has windows apart from memory");
    }
    (void)MPI_Win_lock_all(MPI_MODE_NOCHECK, x->window);
    return SLC_OK;
}

slc_status slc_build_exchange_open(slc_build_exchange *x, const slc_mpi_world *world, slc_build_units *units,
                                   const slc_build_options *options, slc_error *error)
{
    const size_t n = (size_t)world->size;
    x->world = *world;
    x->units = units;
    x->n_packs = units->packs.n_packs;
    x->in_flight = (uint32_t)options->in_flight;
    x->n_slots = x->in_flight * (uint32_t)world->size;
    x->piece = options->piece;
    x->timeout = options->timeout;
    x->stall = &options->stall;
    x->slot_bytes = (units->capacity + 63) / 64 * 64;
    x->capacity = calloc(n, sizeof *x->capacity);
    x->at = calloc(n, sizeof *x->at);
    x->patience = calloc(n, sizeof *x->patience);
    x->pulls = calloc(x->in_flight, sizeof *x->pulls);
    slc_status status = SLC_OK;
    if (x->capacity == NULL || x->at == NULL || x->patience == NULL || x->pulls == NULL) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the exchange");
    } else if (x->slot_bytes > SIZE_MASK) {
        status = slc_fail(error, SLC_ERR_USAGE, "packs of %llu bytes are larger than 2^40",
                          (unsigned long long)x->slot_bytes);
    }
    status = slc_mpi_agree(world, status, error);
    if (status != SLC_OK) {
        return status;
    }
    (void)MPI_Allgather(&x->slot_bytes, 1, MPI_UINT64_T, x->capacity, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    status = slc_mpi_agree(world, make_pulls(x, error), error);
    return status == SLC_OK ? slc_mpi_agree(world, make_window(x, error), error) : status;
}

void slc_build_exchange_close(slc_build_exchange *x)
{
    if (x->has_window) {
        (void)MPI_Win_unlock_all(x->window);
        (void)MPI_Win_free(&x->window);
    }
    for (uint32_t i = 0; x->pulls != NULL && i < x->in_flight; i++) {
        slc_batch_clear(&x->pulls[i].batch);
        free(x->pulls[i].state);
        free(x->pulls[i].size);
        free(x->pulls[i].requests);
    }
    free(x->pulls);
    free(x->capacity);
    free(x->at);
    free(x->patience);
}

/* ---- pulling ----------------------------------------------------------------------------------- */

static uint64_t read_word(const slc_build_exchange *x, int u, size_t word)
{
    uint64_t value = 0;
    const uint64_t unused = 0;
    (void)MPI_Fetch_and_op(&unused, &value, MPI_UINT64_T, u, (MPI_Aint)(8 * word), MPI_NO_OP, x->window);
    (void)MPI_Win_flush(u, x->window);
    return value;
}

/* MPI counts in int: larger packs come in pieces. */
static slc_status get_pieces(slc_build_exchange *x, slc_build_pull *pull, int u, uint64_t size,
                             slc_error *error)
{
    const size_t pieces = (size_t)((size + x->piece - 1) / x->piece);
    if (pull->n_requests + pieces > pull->request_capacity) {
        const size_t capacity = 2 * pull->request_capacity + pieces;
        MPI_Request *larger = realloc(pull->requests, capacity * sizeof *larger);
        if (larger == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for the pieces of a pack");
        }
        pull->requests = larger;
        pull->request_capacity = capacity;
    }
    const uint64_t slot = words_bytes(x) + slot_of(x, pull->pack) * x->capacity[u];
    for (uint64_t at = 0; at < size; at += x->piece) {
        const int n = (int)(size - at < x->piece ? size - at : x->piece);
        (void)MPI_Rget(pull->batch.bytes + x->at[u] + at, n, MPI_BYTE, u, (MPI_Aint)(slot + at), n, MPI_BYTE,
                       x->window, &pull->requests[pull->n_requests++]);
    }
    return SLC_OK;
}

/* Asks those that are waited for, and gets what they have; *n_waited: that have nothing yet. */
static slc_status turn_round(slc_build_exchange *x, slc_build_pull *pull, uint32_t *n_waited, bool *got,
                             slc_error *error)
{
    slc_status status = SLC_OK;
    *n_waited = 0;
    for (int i = 0; i < x->world.size && status == SLC_OK; i++) {
        const int u = (x->world.rank + i) % x->world.size;
        if (pull->state[u] != SLC_BUILD_WAITED) {
            continue;
        }
        const uint64_t word = read_word(x, u, word_of_slot(x, pull->pack));
        if (((word ^ stamp(pull->pack)) & ~SIZE_MASK) != 0) {
            ++*n_waited;
            continue;
        }
        *got = true;
        pull->state[u] = SLC_BUILD_COMING;
        pull->size[u] = word & SIZE_MASK;
        x->bytes += pull->size[u];
        x->patience[u] = x->timeout;
        status = get_pieces(x, pull, u, pull->size[u], error);
    }
    return status;
}

/* Time has passed in waiting: it is counted to those who have a free slot and nothing in it. */
static void lose_patience(slc_build_exchange *x, slc_build_pull *pull, double seconds)
{
    for (int u = 0; u < x->world.size; u++) {
        if (pull->state[u] != SLC_BUILD_WAITED) {
            continue;
        }
        if (x->patience[u] > 0 && read_word(x, u, BLOCKED) != 0) {
            continue;
        }
        x->patience[u] -= seconds;
        if (x->patience[u] <= 0) {
            pull->state[u] = SLC_BUILD_LATE;
            pull->size[u] = 0;
        }
    }
}

static slc_status begin(slc_build_exchange *x, uint64_t k, slc_error *error)
{
    slc_build_pull *pull = &x->pulls[k % x->in_flight];
    const uint64_t pack = k * (uint64_t)x->world.size + (uint64_t)x->world.rank;
    uint32_t waited;
    bool got = false;
    if (pack >= x->n_packs) {
        return SLC_OK;
    }
    if (!pull->begun || pull->pack != pack) {
        pull->begun = true;
        pull->pack = pack;
        pull->n_requests = 0;
        memset(pull->state, SLC_BUILD_WAITED, (size_t)x->world.size);
        slc_batch_reset(&pull->batch);
    }
    return turn_round(x, pull, &waited, &got, error);
}

static void complete(slc_build_pull *pull)
{
    MPI_Status status;
    for (size_t i = 0; i < pull->n_requests; i++) {
        (void)MPI_Wait(&pull->requests[i], &status);
    }
    pull->n_requests = 0;
}

static slc_status wait_for(slc_build_exchange *x, slc_build_pull *pull, slc_error *error)
{
    slc_status status = SLC_OK;
    double before = slc_clock_seconds(), spent = slc_build_processor();
    for (;;) {
        uint32_t waited = 0;
        bool got = false;
        status = turn_round(x, pull, &waited, &got, error);
        if (status != SLC_OK || waited == 0) {
            break;
        }
        if (slc_cli_interrupted()) {
            status = slc_fail(error, SLC_ERR_IO, "interrupted");
            break;
        }
        const double now = slc_clock_seconds();
        if (!got) {
            lose_patience(x, pull, now - before);
            x->seconds_waiting += now - before;
            nap();
            x->processor -= slc_build_processor() - spent;
        }
        spent = slc_build_processor();
        before = now;
    }
    complete(pull);
    return status;
}

/* Slots of this pack are free; units may go on. */
static void tell_done(slc_build_exchange *x, uint64_t k)
{
    const uint64_t done = k + 1;
    for (int i = 0; i < x->world.size; i++) {
        const int u = (x->world.rank + i) % x->world.size;
        (void)MPI_Accumulate(&done, 1, MPI_UINT64_T, u, (MPI_Aint)(8 * word_of_builder(x, x->world.rank)), 1,
                             MPI_UINT64_T, MPI_REPLACE, x->window);
    }
    (void)MPI_Win_flush_all(x->window);
}

slc_status slc_build_exchange_pull(slc_build_exchange *x, uint64_t k, bool drop, slc_build_pull **out,
                                   slc_error *error)
{
    slc_build_pull *pull = &x->pulls[k % x->in_flight];
    const double began = slc_clock_seconds(), processor = slc_build_processor();
    slc_status status = SLC_OK;
    *out = NULL;
    if (!drop) {
        for (uint64_t j = k; j < k + x->in_flight && status == SLC_OK; j++) {
            status = begin(x, j, error);
        }
        status = status == SLC_OK ? wait_for(x, pull, error) : status;
    }
    complete(pull); /* of a pack that was begun and is dropped, too */
    tell_done(x, k);
    pull->begun = false;
    pull->batch.size = x->at[x->world.size - 1] + x->capacity[x->world.size - 1];
    *out = drop || status != SLC_OK ? NULL : pull;
    x->seconds += slc_clock_seconds() - began;
    x->processor += slc_build_processor() - processor;
    return status;
}
