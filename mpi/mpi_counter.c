/* SPDX-License-Identifier: Apache-2.0
 * A counter for all processes. */
#include "mpi_counter.h"

#include <stdlib.h>
#include <string.h>

enum { ASK = 101, ANSWER };

/* All processes are of one machine, or have an engine for it, or none has a window. SLUICE_MPI_MESSAGES: as
 * if there were none, for tests. */
static bool open_window(slc_mpi_counter *counter)
{
    const char *messages = getenv("SLUICE_MPI_MESSAGES");
    const MPI_Aint size = counter->world.rank == 0 ? (MPI_Aint)sizeof *counter->value : 0;
    counter->window = MPI_WIN_NULL;
    if (messages != NULL && strcmp(messages, "1") == 0) {
        return false;
    }
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    const int status = MPI_Win_allocate(size, (int)sizeof *counter->value, MPI_INFO_NULL, MPI_COMM_WORLD,
                                        &counter->value, &counter->window);
    (void)MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    if (status != MPI_SUCCESS) {
        counter->window = MPI_WIN_NULL;
    }
    return status == MPI_SUCCESS;
}

void slc_mpi_counter_open(const slc_mpi_world *world, slc_mpi_counter *counter)
{
    *counter = (slc_mpi_counter){.world = *world};
    if (open_window(counter)) {
        (void)MPI_Win_lock_all(MPI_MODE_NOCHECK, counter->window);
        if (world->rank == 0) {
            const uint64_t none = 0;
            uint64_t before;
            (void)MPI_Fetch_and_op(&none, &before, MPI_UINT64_T, 0, 0, MPI_REPLACE, counter->window);
            (void)MPI_Win_flush(0, counter->window);
        }
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
}

static uint64_t count(slc_mpi_counter *counter, uint64_t n)
{
    const uint64_t before = counter->count;
    counter->count += n;
    return before;
}

/* Who asks for 0 asks no more. */
static void answer(slc_mpi_counter *counter, int from)
{
    uint64_t n = 0;
    (void)MPI_Recv(&n, 1, MPI_UINT64_T, from, ASK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (n == 0) {
        counter->n_closed++;
        return;
    }
    const uint64_t before = count(counter, n);
    (void)MPI_Send(&before, 1, MPI_UINT64_T, from, ANSWER, MPI_COMM_WORLD);
}

uint64_t slc_mpi_counter_add(slc_mpi_counter *counter, uint64_t n)
{
    uint64_t before = 0;
    if (counter->window != MPI_WIN_NULL) {
        (void)MPI_Fetch_and_op(&n, &before, MPI_UINT64_T, 0, 0, MPI_SUM, counter->window);
        (void)MPI_Win_flush(0, counter->window);
        return before;
    }
    if (counter->world.rank == 0) {
        return count(counter, n);
    }
    (void)MPI_Send(&n, 1, MPI_UINT64_T, 0, ASK, MPI_COMM_WORLD);
    (void)MPI_Recv(&before, 1, MPI_UINT64_T, 0, ANSWER, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return before;
}

void slc_mpi_counter_progress(slc_mpi_counter *counter)
{
    int there = 1;
    while (there != 0) {
        MPI_Status status;
        (void)MPI_Iprobe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &there, &status);
        if (there != 0) {
            answer(counter, status.MPI_SOURCE);
        }
    }
}

void slc_mpi_counter_close(slc_mpi_counter *counter)
{
    if (counter->window != MPI_WIN_NULL) {
        (void)MPI_Win_unlock_all(counter->window);
        (void)MPI_Win_free(&counter->window);
        return;
    }
    if (counter->world.rank > 0) {
        const uint64_t none = 0;
        (void)MPI_Send(&none, 1, MPI_UINT64_T, 0, ASK, MPI_COMM_WORLD);
        return;
    }
    while (counter->n_closed < counter->world.size - 1) {
        MPI_Status status;
        (void)MPI_Probe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        answer(counter, status.MPI_SOURCE);
    }
}
