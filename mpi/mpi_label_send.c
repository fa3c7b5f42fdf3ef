/* SPDX-License-Identifier: Apache-2.0
 * What the processes of `sluice-mpi label` send each other. MPI counts in int, so what may be more goes in
 * pieces. */
#include "mpi_label.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 28 };

/* ---- one page ---------------------------------------------------------------------------------- */

typedef struct shape {
    uint64_t width, rows;
    int64_t type;
} shape;

slc_status slc_mpi_strip_agree(slc_mpi_strip *strip, slc_error *error)
{
    const size_t size = (size_t)strip->world.size;
    const shape mine = {strip->image.width, strip->image.height, (int64_t)strip->image.type};
    shape *all = malloc(size * sizeof *all);
    slc_status status = all == NULL ? slc_fail(error, SLC_ERR_MEMORY, "no memory for the shapes of strips")
                                    : SLC_OK;
    status = slc_mpi_agree(&strip->world, status, error);
    if (status == SLC_OK && all != NULL) {
        (void)MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
    }
    uint64_t height = 0;
    for (size_t r = 0; status == SLC_OK && all != NULL && r < size; r++) {
        strip->first_row[r] = height;
        height += all[r].rows;
        if (all[r].width != all[0].width || all[r].type != all[0].type) {
            status = slc_fail(error, SLC_ERR_FORMAT, "rank %zu reads another image than rank 0", r);
        }
    }
    free(all);
    strip->first_row[size] = height;
    strip->height = (size_t)height;
    return status;
}

/* The last one with rows. */
static int last_of(const slc_mpi_strip *strip)
{
    const uint64_t *first = strip->first_row;
    int end = 0;
    while (end + 1 < strip->world.size && first[end + 2] > first[end + 1]) {
        end++;
    }
    return end;
}

slc_status slc_mpi_send_border(const slc_mpi_strip *strip, const void *last, size_t bytes, bool round,
                               void **above, slc_error *error)
{
    const int rank = strip->world.rank, end = last_of(strip);
    int to = MPI_PROC_NULL, from = MPI_PROC_NULL;
    if (rank <= end) {
        to = rank < end ? rank + 1 : round ? 0 : MPI_PROC_NULL;
        from = rank > 0 ? rank - 1 : round ? end : MPI_PROC_NULL;
    }
    *above = from != MPI_PROC_NULL ? malloc(bytes) : NULL;
    slc_status status = from != MPI_PROC_NULL && *above == NULL
                            ? slc_fail(error, SLC_ERR_MEMORY, "no memory for a border")
                            : SLC_OK;
    status = slc_mpi_agree(&strip->world, status, error);
    char unused = 0;
    for (size_t i = 0; status == SLC_OK && i < bytes; i += PIECE) {
        const int n = (int)(bytes - i < PIECE ? bytes - i : PIECE);
        const bool sends = to != MPI_PROC_NULL, gets = from != MPI_PROC_NULL;
        (void)MPI_Sendrecv(sends ? (const char *)last + i : &unused, sends ? n : 0, MPI_BYTE, to, 0,
                           gets ? (char *)*above + i : &unused, gets ? n : 0, MPI_BYTE, from, 0,
                           MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return status;
}

void slc_mpi_take_on(const slc_mpi_strip *strip, void *bytes, size_t n)
{
    const int rank = strip->world.rank;
    for (size_t i = 0; i < n && rank > 0 && rank <= last_of(strip); i += PIECE) {
        (void)MPI_Recv((char *)bytes + i, (int)(n - i < PIECE ? n - i : PIECE), MPI_BYTE, rank - 1, 2,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

void slc_mpi_hand_on(const slc_mpi_strip *strip, void *bytes, size_t n)
{
    const int rank = strip->world.rank, end = last_of(strip);
    for (size_t i = 0; i < n && rank < end; i += PIECE) {
        (void)MPI_Send((char *)bytes + i, (int)(n - i < PIECE ? n - i : PIECE), MPI_BYTE, rank + 1, 2,
                       MPI_COMM_WORLD);
    }
    for (size_t i = 0; i < n; i += PIECE) {
        (void)MPI_Bcast((char *)bytes + i, (int)(n - i < PIECE ? n - i : PIECE), MPI_BYTE, end,
                        MPI_COMM_WORLD);
    }
}

/* ---- all to all -------------------------------------------------------------------------------- */

/* Places of everyone's items, as MPI wants them; fails where they are more than int counts. */
static slc_status place(const slc_mpi_world *world, const uint64_t *counts, int *numbers, int *places,
                        slc_error *error)
{
    uint64_t before = 0;
    for (int r = 0; r < world->size; r++) {
        if (before + counts[r] > INT_MAX) {
            return slc_fail(error, SLC_ERR_UNSUPPORTED,
                            "more than 2^31 components cross the borders of strips");
        }
        numbers[r] = (int)counts[r];
        places[r] = (int)before;
        before += counts[r];
    }
    return SLC_OK;
}

slc_status slc_mpi_gather_all(const slc_mpi_world *world, const void *mine, uint64_t n, size_t bytes,
                              uint64_t *counts, void **all, slc_error *error)
{
    const size_t size = (size_t)world->size;
    uint64_t total = 0;
    int *numbers = malloc(2 * size * sizeof *numbers);
    *all = NULL;
    (void)MPI_Allgather(&n, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (size_t r = 0; r < size; r++) {
        total += counts[r];
    }
    slc_status status = numbers != NULL ? place(world, counts, numbers, numbers + size, error)
                                        : SLC_ERR_MEMORY;
    *all = status == SLC_OK ? malloc((size_t)total * bytes + 1) : NULL;
    if (status == SLC_ERR_MEMORY || (status == SLC_OK && *all == NULL)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for what crosses the borders of strips");
    }
    status = slc_mpi_agree(world, status, error);
    if (status == SLC_OK) {
        MPI_Datatype item;
        (void)MPI_Type_contiguous((int)bytes, MPI_BYTE, &item);
        (void)MPI_Type_commit(&item);
        (void)MPI_Allgatherv(mine, (int)n, item, *all, numbers, numbers + size, item, MPI_COMM_WORLD);
        (void)MPI_Type_free(&item);
    }
    free(numbers);
    return status;
}

int slc_mpi_most(int number)
{
    (void)MPI_Allreduce(MPI_IN_PLACE, &number, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return number;
}

void slc_mpi_sum_u32(uint32_t *numbers, uint64_t n)
{
    for (uint64_t i = 0; i < n; i += PIECE) {
        const int here = (int)(n - i < PIECE ? n - i : PIECE);
        (void)MPI_Allreduce(MPI_IN_PLACE, numbers + i, here, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
    }
}

void slc_mpi_sum_u64(uint64_t *numbers, size_t n)
{
    (void)MPI_Allreduce(MPI_IN_PLACE, numbers, (int)n, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
}

/* ---- rows to process 0 ------------------------------------------------------------------------- */

static char *column_of(const void *components, const slc_column *column)
{
    void *at;
    memcpy(&at, (const char *)components + column->member, sizeof at);
    return at;
}

static void send_bytes(const char *bytes, size_t size)
{
    for (size_t i = 0; i < size; i += PIECE) {
        (void)MPI_Send(bytes + i, (int)(size - i < PIECE ? size - i : PIECE), MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void receive_bytes(char *bytes, size_t size, int from)
{
    for (size_t i = 0; i < size; i += PIECE) {
        (void)MPI_Recv(bytes + i, (int)(size - i < PIECE ? size - i : PIECE), MPI_BYTE, from, 1,
                       MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

slc_status slc_mpi_gather_rows(const slc_mpi_world *world, const slc_schema *schema, const void *mine,
                               void *into, slc_error *error)
{
    const uint64_t own = ((const slc_columns *)mine)->size; /* the first member of a collection */
    uint64_t *counts = malloc((size_t)world->size * sizeof *counts), total = 0;
    slc_status status = counts != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory for counts");
    status = slc_mpi_agree(world, status, error);
    if (status != SLC_OK || counts == NULL) {
        free(counts);
        return status;
    }
    (void)MPI_Allgather(&own, 1, MPI_UINT64_T, counts, 1, MPI_UINT64_T, MPI_COMM_WORLD);
    for (int r = 0; r < world->size; r++) {
        total += counts[r];
    }
    if (world->rank == 0 && slc_columns_reserve(schema, into, (size_t)total, 1) != SLC_OK) {
        status = slc_fail(error, SLC_ERR_MEMORY, "no memory for the %llu components on rank 0",
                          (unsigned long long)total);
    }
    status = slc_mpi_agree(world, status, error);
    for (size_t c = 0; status == SLC_OK && c < schema->n_columns; c++) {
        const size_t bytes = schema->columns[c].type == SLC_TYPE_U32 ? 4 : 8; /* there are no other columns */
        const char *from = column_of(mine, &schema->columns[c]);
        if (world->rank > 0) {
            send_bytes(from, (size_t)own * bytes);
            continue;
        }
        char *to = column_of(into, &schema->columns[c]);
        if (own > 0) {
            memcpy(to, from, (size_t)own * bytes);
        }
        to += (size_t)own * bytes;
        for (int r = 1; r < world->size; r++) {
            receive_bytes(to, (size_t)counts[r] * bytes, r);
            to += (size_t)counts[r] * bytes;
        }
    }
    if (status == SLC_OK && world->rank == 0) {
        slc_columns_reset(into);
        ((slc_columns *)into)->size = (size_t)total;
        slc_columns_end_event(into);
    }
    free(counts);
    return status;
}
