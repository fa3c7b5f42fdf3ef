/* SPDX-License-Identifier: Apache-2.0
 *
 * Coincidences of a range of time: whose windows reach into it is handed on from process to process where a
 * range cannot tell by itself; then each has a stage of its own. Counts are sums, and so is the checksum:
 * that of a range is multiplied by the factor's power of the pairs in the ranges before.
 */
#include "mpi_pet.h"

#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 16, MOST = 64 /* singles at a time, for each thread; threads */ };

/* One kind of windows. */
typedef struct search {
    slc_pet_coincidence *stage;
    slc_pet_openers before, after;
    slc_pet_coincidences *pairs;
    bool delayed, keep;
    uint64_t rows, checksum; /* of the range */
    slc_pet_coincidence_counts counts;
} search;

static slc_pet_singles view(const slc_pet_singles *all, size_t from, size_t end)
{
    slc_pet_singles some = {.head = {.size = end - from}};
    if (end > from) {
        some.time_ps = all->time_ps + from;
        some.crystal = all->crystal + from;
        some.energy_kev = all->energy_kev + from;
    }
    return some;
}

/* ---- handing on -------------------------------------------------------------------------------- */

static slc_status hand_on(const slc_mpi_pet *pet, search *s, const slc_pet_openers *before, bool *known)
{
    const slc_pet_singles own = view(&pet->singles, 0, pet->own);
    return slc_pet_coincidence_hand_on(s->stage, &pet->range, &own, before, &s->after, known,
                                       &pet->job->error);
}

/* What is sent tells of failures, too: the next process must not wait. */
static void send_after(const slc_mpi_pet *pet, const search *s)
{
    const uint64_t n = s->after.n;
    if (pet->world.rank + 1 < pet->world.size) {
        slc_mpi_pet_swap(&n, sizeof n, pet->world.rank + 1, NULL, 0, MPI_PROC_NULL);
        slc_mpi_pet_swap(s->after.time_ps, s->after.n * sizeof *s->after.time_ps, pet->world.rank + 1, NULL,
                         0, MPI_PROC_NULL);
    }
}

static slc_status receive_before(const slc_mpi_pet *pet, search *s)
{
    uint64_t n = 0;
    slc_status status = SLC_OK;
    if (pet->world.rank == 0) {
        return SLC_OK;
    }
    slc_mpi_pet_swap(NULL, 0, MPI_PROC_NULL, &n, sizeof n, pet->world.rank - 1);
    if (n > 0) {
        int64_t *times = malloc(n * sizeof *times);
        if (times == NULL) { /* which cannot be told before: this process ends the run */
            slc_mpi_say("pet", "no memory for %llu open windows", (unsigned long long)n);
            (void)MPI_Abort(MPI_COMM_WORLD, SLC_CLI_FAILED);
        }
        slc_mpi_pet_swap(NULL, 0, MPI_PROC_NULL, times, n * sizeof *times, pet->world.rank - 1);
        s->before = (slc_pet_openers){times, n, n};
    }
    return status;
}

static slc_status meet_neighbours(const slc_mpi_pet *pet, search *s)
{
    const slc_pet_openers none = {0};
    const bool last = pet->world.rank + 1 == pet->world.size;
    bool known = true;
    slc_status status = last ? SLC_OK : hand_on(pet, s, pet->world.rank == 0 ? &none : NULL, &known);
    const bool waits = status == SLC_OK && !known;
    if (!waits) {
        send_after(pet, s);
    }
    const slc_status got = receive_before(pet, s);
    status = status == SLC_OK ? got : status;
    if (waits) {
        if (status == SLC_OK) {
            status = hand_on(pet, s, &s->before, &known);
        }
        send_after(pet, s);
    }
    return status;
}

/* ---- pairs ------------------------------------------------------------------------------------- */

static slc_pet_coincidences rows_from(const slc_pet_coincidences *all, size_t from)
{
    slc_pet_coincidences some = *all;
    some.head.size -= from;
    if (some.head.size > 0) {
        some.time_ps += from;
        some.dt_ps += from;
        some.crystal1 += from;
        some.crystal2 += from;
        some.energy1_kev += from;
        some.energy2_kev += from;
        some.delayed += from;
    }
    return some;
}

/* Pairs that have come, from row `from` on. */
static void sum_up(search *s, size_t from)
{
    const slc_pet_coincidences some = rows_from(s->pairs, from);
    s->checksum += slc_pet_pairs_checksum(&some, s->delayed, s->rows);
    s->rows += some.head.size;
    if (!s->keep) {
        slc_columns_reset(s->pairs);
    }
}

static slc_status run_piece(search *s, const slc_pet_singles *some, slc_error *error)
{
    const size_t from = s->pairs->head.size;
    const slc_status status = slc_pet_coincidence_run_pairs(s->stage, some, false, s->pairs, error);
    if (status == SLC_OK) {
        sum_up(s, from);
    }
    return status;
}

/* Both kinds of windows on the same singles, while they are in the cache. */
static slc_status run_range(const slc_mpi_pet *pet, search *searches, int n, slc_error *error)
{
    const uint64_t threads = pet->job->options->threads;
    const size_t piece = (size_t)PIECE * (threads == 0 ? MOST : threads == 1 ? 1 : 2 * threads);
    slc_status status = SLC_OK;
    for (int i = 0; i < n && status == SLC_OK; i++) {
        status = slc_pet_coincidence_enter(searches[i].stage, &searches[i].before, error);
    }
    for (size_t at = 0; at < pet->own && status == SLC_OK; at += piece) {
        const slc_pet_singles some = view(&pet->singles, at, pet->own - at < piece ? pet->own : at + piece);
        for (int i = 0; i < n && status == SLC_OK; i++) {
            status = run_piece(&searches[i], &some, error);
        }
    }
    const slc_pet_singles halo = view(&pet->singles, pet->own, pet->singles.head.size);
    for (int i = 0; i < n && status == SLC_OK; i++) {
        const size_t from = searches[i].pairs->head.size;
        status = slc_pet_coincidence_leave(searches[i].stage, &halo, searches[i].pairs, error);
        if (status == SLC_OK) {
            sum_up(&searches[i], from);
            slc_pet_coincidence_counts_of(searches[i].stage, &searches[i].counts);
        }
    }
    return status;
}

/* ---- sums -------------------------------------------------------------------------------------- */

static uint64_t power(uint64_t n)
{
    uint64_t product = 1, factor = SLC_CHECKSUM_FACTOR;
    for (; n > 0; n >>= 1, factor *= factor) {
        product *= n & 1 ? factor : 1;
    }
    return product;
}

static void add_up(const slc_mpi_pet *pet, const search *s, slc_pet_coincidence_counts *counts)
{
    enum { COUNTS = sizeof *counts / sizeof(uint64_t) };
    _Static_assert(sizeof *counts == COUNTS * sizeof(uint64_t), "all of them are counts");
    uint64_t before = 0, part = 0, all = 0, rows = s->rows;
    (void)MPI_Exscan(&rows, &before, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    part = s->checksum * power(pet->world.rank == 0 ? 0 : before);
    (void)MPI_Allreduce(&part, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    (void)MPI_Allreduce(&s->counts, counts, COUNTS, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    pet->job->totals.checksum += all;
}

static slc_status open_stages(const slc_mpi_pet *pet, search *searches, int n)
{
    slc_pet_coincidence_config config = pet->job->config.prompt;
    slc_status status = SLC_OK;
    config.exec = pet->job->config.exec;
    for (int i = 0; i < n && status == SLC_OK; i++) {
        config.offset_ns = searches[i].delayed ? pet->job->config.delay_ns : 0;
        status = slc_pet_coincidence_open(&config, &searches[i].stage, &pet->job->error);
    }
    return slc_mpi_agree(&pet->world, status, &pet->job->error);
}

slc_status slc_mpi_pet_find(slc_mpi_pet *pet, bool keep)
{
    slc_pet_run_job *job = pet->job;
    const int n = job->config.delayed ? 2 : 1;
    const double began = slc_clock_seconds();
    search searches[2] = {{.pairs = &pet->prompts, .keep = keep},
                          {.pairs = &pet->delayeds, .keep = keep, .delayed = true}};
    slc_status status = open_stages(pet, searches, n);
    for (int i = 0; i < n && status == SLC_OK; i++) {
        status = slc_mpi_agree(&pet->world, meet_neighbours(pet, &searches[i]), &job->error);
    }
    status = status == SLC_OK ? run_range(pet, searches, n, &job->error) : status;
    pet->seconds[SLC_PET_STAGE_COINCIDENCE] = slc_clock_seconds() - began;
    status = slc_mpi_agree(&pet->world, status, &job->error);
    for (int i = 0; i < n && status == SLC_OK; i++) {
        add_up(pet, &searches[i], i == 0 ? &job->totals.prompt : &job->totals.delayed);
    }
    for (int i = 0; i < 2; i++) {
        slc_pet_coincidence_close(searches[i].stage);
        free(searches[i].before.time_ps);
        free(searches[i].after.time_ps);
    }
    return status;
}
