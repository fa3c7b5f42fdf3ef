/* SPDX-License-Identifier: Apache-2.0
 *
 * Ranges of time with equally many singles, and each process gets the singles of its own, and after them
 * those that its windows reach. Singles of one time are in one range, and stay in the order of the processes,
 * which is that of the inputs.
 */
#include "mpi_pet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 29 /* bytes of a message, below what an int can count */ };

void slc_mpi_pet_swap(const void *send, size_t n_send, int to, void *receive, size_t n_receive, int from)
{
    size_t sent = 0, got = 0;
    while (sent < n_send || got < n_receive) {
        const size_t out = n_send - sent < PIECE ? n_send - sent : PIECE;
        const size_t in = n_receive - got < PIECE ? n_receive - got : PIECE;
        (void)MPI_Sendrecv(out > 0 ? (const char *)send + sent : NULL, (int)out, MPI_BYTE,
                           out > 0 ? to : MPI_PROC_NULL, 1, in > 0 ? (char *)receive + got : NULL, (int)in,
                           MPI_BYTE, in > 0 ? from : MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        sent += out;
        got += in;
    }
}

/* The first single that is at a time or after it. */
static size_t first_at(const slc_pet_singles *singles, int64_t time)
{
    size_t low = 0, high = singles->head.size;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (singles->time_ps[middle] < time) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The time of a number without a sign, in their order. */
static int64_t time_of(uint64_t key)
{
    return (int64_t)(key ^ UINT64_C(1) << 63);
}

/* Where ranges begin, by halving all that there may be, for all of them at once: so many are before them as
 * their share says. begins[0] is the earliest time, whatever there is. */
static slc_status find_ranges(const slc_mpi_pet *pet, int64_t *begins, slc_error *error)
{
    const size_t n = (size_t)pet->world.size;
    uint64_t *low = malloc(4 * n * sizeof *low), *high = low + n, *mine = high + n, *before = mine + n;
    uint64_t all = 0, here = pet->singles.head.size;
    slc_status status = low == NULL ? slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu ranges", n) : SLC_OK;
    status = slc_mpi_agree(&pet->world, status, error);
    if (status != SLC_OK || low == NULL) {
        free(low);
        return status;
    }
    (void)MPI_Allreduce(&here, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (size_t k = 0; k < n; k++) {
        low[k] = 0;
        high[k] = UINT64_MAX;
    }
    for (int bit = 0; bit < 64; bit++) { /* the first time that has its share of singles before it */
        for (size_t k = 0; k < n; k++) {
            mine[k] = first_at(&pet->singles, time_of(low[k] + (high[k] - low[k]) / 2));
        }
        (void)MPI_Allreduce(mine, before, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
        for (size_t k = 0; k < n; k++) {
            const uint64_t middle = low[k] + (high[k] - low[k]) / 2;
            const uint64_t share = all / n * k + all % n * k / n;
            if (low[k] < high[k] && before[k] < share) {
                low[k] = middle + 1;
            } else if (low[k] < high[k]) {
                high[k] = middle;
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        begins[k] = k == 0 ? INT64_MIN : time_of(low[k]);
    }
    free(low);
    return SLC_OK;
}

/* How far behind a range its windows reach. */
static uint64_t reach_of(const slc_pet_config *config)
{
    const double ns = config->prompt.window_ns + (config->delayed ? config->delay_ns : 0);
    return (uint64_t)ceil(ns * 1000) + 1;
}

static int64_t later(int64_t time, uint64_t by)
{
    return by > (uint64_t)INT64_MAX - (uint64_t)time ? INT64_MAX : (int64_t)((uint64_t)time + by);
}

/* What each process gets of this one: rows from[k] … end[k] - 1. */
typedef struct parcels {
    int64_t *begins;                     /* of ranges */
    uint64_t *from, *end, *count, *gets; /* gets: rows of each process for this one */
} parcels;

static void pack(const slc_mpi_pet *pet, parcels *p)
{
    const size_t n = (size_t)pet->world.size;
    const uint64_t reach = reach_of(&pet->job->config);
    for (size_t k = 0; k < n; k++) {
        const bool last = k + 1 == n;
        p->from[k] = first_at(&pet->singles, p->begins[k]);
        p->end[k] = last ? pet->singles.head.size : first_at(&pet->singles, later(p->begins[k + 1], reach));
        p->end[k] = last || later(p->begins[k + 1], reach) < INT64_MAX ? p->end[k] : pet->singles.head.size;
        p->count[k] = p->end[k] - p->from[k];
    }
    (void)MPI_Alltoall(p->count, 1, MPI_UINT64_T, p->gets, 1, MPI_UINT64_T, MPI_COMM_WORLD);
}

/* Rows of singles, column by column. */
typedef struct column {
    char *of;
    size_t size;
} column;
enum { COLUMNS = 3 };

static void columns_of(const slc_pet_singles *s, column columns[COLUMNS])
{
    columns[0] = (column){(char *)s->time_ps, sizeof *s->time_ps};
    columns[1] = (column){(char *)s->crystal, sizeof *s->crystal};
    columns[2] = (column){(char *)s->energy_kev, sizeof *s->energy_kev};
}

/* Rows within a collection, or from another one. */
static void move_rows(const slc_pet_singles *from, size_t row, size_t n, const slc_pet_singles *to, size_t at)
{
    column a[COLUMNS], b[COLUMNS];
    columns_of(from, a);
    columns_of(to, b);
    for (int c = 0; c < COLUMNS && n > 0; c++) {
        memmove(b[c].of + at * b[c].size, a[c].of + row * a[c].size, n * a[c].size);
    }
}

static void swap_rows(const slc_pet_singles *from, size_t row, size_t n, int to, const slc_pet_singles *into,
                      size_t at, size_t gets, int whom)
{
    column a[COLUMNS], b[COLUMNS];
    columns_of(from, a);
    columns_of(into, b);
    for (int c = 0; c < COLUMNS; c++) {
        slc_mpi_pet_swap(n > 0 ? a[c].of + row * a[c].size : NULL, n * a[c].size, to,
                         gets > 0 ? b[c].of + at * b[c].size : NULL, gets * b[c].size, whom);
    }
}

static slc_pet_singles view(const slc_pet_singles *all, size_t from, size_t end)
{
    slc_pet_singles some = *all;
    some.time_ps += from;
    some.crystal += from;
    some.energy_kev += from;
    some.head.size = end - from;
    return some;
}

/* Runs that are in order one after the other, run k from begins[k] on, to one order; those of one time stay
 * as they are. Shares that follow each other in time overlap little: only that is sorted. */
static slc_status merge_runs(slc_pet_singles *s, const uint64_t *begins, size_t n)
{
    slc_pet_singles work = {0};
    const int64_t *t = s->time_ps;
    slc_status status = SLC_OK;
    for (size_t k = 1; k < n && status == SLC_OK; k++) {
        const size_t at = begins[k], end = k + 1 < n ? begins[k + 1] : s->head.size;
        if (at == 0 || at == end || t[at - 1] <= t[at]) {
            continue;
        }
        const slc_pet_singles before = view(s, 0, at), run = view(s, at, end);
        const size_t from = first_at(&before, t[at] + 1), until = at + first_at(&run, t[at - 1]);
        const bool all = until - from > s->head.size / 4; /* files of one time: all at once */
        slc_pet_singles some = all ? view(s, 0, s->head.size) : view(s, from, until);
        status = slc_pet_sort_all(&some, &work);
        if (all) {
            break;
        }
    }
    slc_columns_clear(&slc_pet_singles_schema, &work);
    return status;
}

/* Copies what goes to others, as what comes is put in the place of it. */
static slc_status copy_out(const slc_mpi_pet *pet, const parcels *p, uint64_t rows, slc_pet_singles *out)
{
    uint64_t all = 0;
    for (int k = 0; k < pet->world.size; k++) {
        all += k != pet->world.rank ? p->count[k] : 0;
    }
    if (rows > UINT32_MAX || all > UINT32_MAX ||
        slc_columns_reserve(&slc_pet_singles_schema, out, (size_t)all, 1) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    for (int k = 0; k < pet->world.size; k++) {
        if (k != pet->world.rank) {
            move_rows(&pet->singles, p->from[k], p->count[k], out, out->head.size);
            out->head.size += p->count[k];
        }
    }
    return SLC_OK;
}

/* One partner after the other, so that nobody gets from several at a time. `at`: where the rows of each
 * process go. */
static void exchange_rows(const slc_mpi_pet *pet, const parcels *p, const slc_pet_singles *out,
                          const uint64_t *at)
{
    const int n = pet->world.size, rank = pet->world.rank;
    for (int step = 1; step < n; step++) {
        const int to = (rank + step) % n, from = (rank + n - step) % n;
        size_t row = 0;
        for (int k = 0; k < to; k++) {
            row += k != rank ? p->count[k] : 0;
        }
        swap_rows(out, row, p->count[to], to, &pet->singles, at[from], p->gets[from], from);
    }
}

static slc_status exchange(slc_mpi_pet *pet, parcels *p)
{
    const size_t n = (size_t)pet->world.size, rank = (size_t)pet->world.rank;
    slc_pet_singles out = {0}, *s = &pet->singles;
    uint64_t rows = 0, *at = p->end; /* which has been used */
    pack(pet, p);
    for (size_t k = 0; k < n; k++) {
        at[k] = rows;
        rows += p->gets[k];
    }
    slc_status status = copy_out(pet, p, rows, &out);
    if (status == SLC_OK) { /* those that stay, first, as others may have to be kept for room */
        move_rows(s, p->from[rank], p->count[rank], s, 0);
        s->head.size = p->count[rank];
        status = slc_columns_reserve(&slc_pet_singles_schema, s, (size_t)rows, 1);
    }
    if (status != SLC_OK) {
        status = slc_fail(&pet->job->error, SLC_ERR_MEMORY,
                          "no memory for the %llu singles of a range of time", (unsigned long long)rows);
    }
    status = slc_mpi_agree(&pet->world, status, &pet->job->error);
    if (status == SLC_OK) {
        move_rows(s, 0, p->count[rank], s, at[rank]);
        s->head.size = (size_t)rows;
        exchange_rows(pet, p, &out, at);
        status = merge_runs(s, at, n) == SLC_OK
                     ? SLC_OK
                     : slc_fail(&pet->job->error, SLC_ERR_MEMORY, "no memory to sort %llu singles",
                                (unsigned long long)rows);
        status = slc_mpi_agree(&pet->world, status, &pet->job->error);
    }
    slc_columns_clear(&slc_pet_singles_schema, &out);
    return status;
}

slc_status slc_mpi_pet_share(slc_mpi_pet *pet)
{
    const int n = pet->world.size, rank = pet->world.rank;
    const double began = slc_clock_seconds();
    slc_error *error = &pet->job->error;
    if (n == 1) {
        pet->range = (slc_pet_range){INT64_MIN, INT64_MAX};
        pet->own = pet->singles.head.size;
        return SLC_OK;
    }
    const size_t words = (size_t)n;
    uint64_t *room = malloc(4 * words * sizeof *room);
    int64_t *begins = calloc(words, sizeof *begins);
    slc_status status = room == NULL || begins == NULL
                            ? slc_fail(error, SLC_ERR_MEMORY, "no memory for %d processes", n)
                            : SLC_OK;
    status = slc_mpi_agree(&pet->world, status, error);
    const bool ready = status == SLC_OK && room != NULL && begins != NULL;
    status = ready ? find_ranges(pet, begins, error) : status;
    if (ready && status == SLC_OK) {
        parcels p = {begins, room, room + words, room + 2 * words, room + 3 * words};
        status = exchange(pet, &p);
        pet->range = (slc_pet_range){begins[rank], rank + 1 < n ? begins[rank + 1] : INT64_MAX};
        pet->own = rank + 1 < n ? first_at(&pet->singles, pet->range.end_ps) : pet->singles.head.size;
    }
    free(begins);
    free(room);
    pet->seconds[SLC_PET_STAGE_SORT] += slc_clock_seconds() - began;
    return status;
}
