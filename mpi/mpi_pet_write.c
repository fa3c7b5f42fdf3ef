/* SPDX-License-Identifier: Apache-2.0
 *
 * Pairs of all ranges, one range after the other, to process 0, whose outputs take them as those of one
 * chain: what is written is what one process writes. An output that fails ends nothing before all others have
 * sent.
 */
#include "mpi_pet.h"

#include <stdlib.h>
#include <string.h>

enum { AT_ONCE = 1 << 20 /* pairs of a kind */ };

/* What a process is about to send. */
typedef struct offer {
    uint64_t rows[2];
    int64_t first_ps; /* the first single of the range, with `any` */
    uint64_t any;
} offer;

static slc_status reserve(slc_pet_coincidences *pairs, size_t rows)
{
    return slc_columns_reserve(&slc_pet_coincidences_schema, pairs, rows, 1);
}

/* Rows from … from + n - 1 of a process, appended to `to` on process 0, which has room. */
static void move(const slc_pet_coincidences *own, size_t from, size_t n, int rank, slc_pet_coincidences *to)
{
    const struct {
        const void *own;
        void *to;
        size_t size;
    } column[] = {{own->time_ps, to->time_ps, sizeof *to->time_ps},
                  {own->dt_ps, to->dt_ps, sizeof *to->dt_ps},
                  {own->crystal1, to->crystal1, sizeof *to->crystal1},
                  {own->crystal2, to->crystal2, sizeof *to->crystal2},
                  {own->energy1_kev, to->energy1_kev, sizeof *to->energy1_kev},
                  {own->energy2_kev, to->energy2_kev, sizeof *to->energy2_kev},
                  {own->delayed, to->delayed, sizeof *to->delayed}};
    const bool here = slc_mpi_here().rank == 0;
    for (size_t c = 0; c < sizeof column / sizeof *column && n > 0; c++) {
        const size_t size = column[c].size;
        if (rank > 0 && !here) {
            slc_mpi_pet_swap((const char *)column[c].own + from * size, n * size, 0, NULL, 0, MPI_PROC_NULL);
        } else if (rank > 0) {
            slc_mpi_pet_swap(NULL, 0, MPI_PROC_NULL, (char *)column[c].to + to->head.size * size, n * size,
                             rank);
        } else {
            memcpy((char *)column[c].to + to->head.size * size, (const char *)column[c].own + from * size,
                   n * size);
        }
    }
    to->head.size += here ? n : 0;
}

/* How many of `all` go at once in turn number `turn` of `turns`. */
static size_t share(uint64_t all, size_t turn, size_t turns)
{
    return (size_t)(all / turns * (turn + 1) + all % turns * (turn + 1) / turns -
                    (all / turns * turn + all % turns * turn / turns));
}

static size_t turns_of(const offer *o)
{
    const uint64_t most = o->rows[0] > o->rows[1] ? o->rows[0] : o->rows[1];
    return (size_t)(most / AT_ONCE + 1);
}

/* The pairs of one process, of which this one is on one side, or is both. Outputs take them in turns, prompts
 * and delayeds up to about one time. The first single stands for all of the range: nothing before it comes
 * any more. */
static slc_status take(slc_mpi_pet *pet, int rank, const offer *o, bool last, slc_pet_result *result,
                       slc_status status)
{
    const bool here = pet->world.rank == 0;
    const slc_pet_coincidences *own[2] = {&pet->prompts, &pet->delayeds};
    const size_t turns = turns_of(o);
    size_t at[2] = {0, 0};
    int64_t first_ps = o->first_ps;
    for (size_t turn = 0; turn < turns; turn++) {
        slc_columns_reset(&result->pairs);
        for (int kind = 0; kind < 2; kind++) {
            const size_t n = share(o->rows[kind], turn, turns);
            move(own[kind], at[kind], n, rank, &result->pairs);
            at[kind] += n;
        }
        result->singles = (slc_pet_singles){.head = {.size = turn == 0 && o->any}, .time_ps = &first_ps};
        const slc_pet_batch batch = {
            .result = result, .totals = &pet->job->totals, .last = last && turn + 1 == turns};
        if (here && status == SLC_OK) {
            status = slc_pet_run_outputs_take(pet->job, &batch);
        }
        result->singles = (slc_pet_singles){.head = {.size = 0}};
    }
    return status;
}

slc_status slc_mpi_pet_write(slc_mpi_pet *pet)
{
    slc_pet_run_job *job = pet->job;
    const int n = pet->world.size;
    slc_pet_result result = {.seconds = {0}};
    const offer mine = {.rows = {pet->prompts.head.size, pet->delayeds.head.size},
                        .first_ps = pet->own > 0 ? pet->singles.time_ps[0] : 0,
                        .any = pet->own > 0};
    offer *offers = malloc((size_t)n * sizeof *offers);
    slc_status status =
        offers == NULL || (pet->world.rank == 0 && reserve(&result.pairs, 2 * (size_t)AT_ONCE) != SLC_OK)
            ? slc_fail(&job->error, SLC_ERR_MEMORY, "no memory for the pairs of other processes")
            : SLC_OK;
    status = slc_mpi_agree(&pet->world, status, &job->error);
    if (status == SLC_OK) {
        (void)MPI_Allgather(&mine, (int)sizeof mine, MPI_BYTE, offers, (int)sizeof mine, MPI_BYTE,
                            MPI_COMM_WORLD);
        for (int rank = 0; rank < n; rank++) {
            if (pet->world.rank == 0 || pet->world.rank == rank) {
                status = take(pet, rank, &offers[rank], rank + 1 == n, &result, status);
            }
        }
        status = slc_mpi_agree(&pet->world, status, &job->error);
    }
    slc_pet_result_clear(&result);
    free(offers);
    return status;
}
