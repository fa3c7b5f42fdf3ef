/* SPDX-License-Identifier: Apache-2.0
 * A counter for all processes. */
#include "mpi_counter.h"

slc_status slc_mpi_counter_open(const slc_mpi_world *world, slc_mpi_counter *counter, slc_error *error)
{
    *counter = (slc_mpi_counter){.window = MPI_WIN_NULL};
    const MPI_Aint size = world->rank == 0 ? (MPI_Aint)sizeof *counter->value : 0;
    if (MPI_Win_allocate(size, (int)sizeof *counter->value, MPI_INFO_NULL, MPI_COMM_WORLD, &counter->value,
                         &counter->window) != MPI_SUCCESS) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory that all processes see");
    }
    (void)MPI_Win_lock_all(MPI_MODE_NOCHECK, counter->window);
    if (world->rank == 0) {
        const uint64_t none = 0;
        uint64_t before;
        (void)MPI_Fetch_and_op(&none, &before, MPI_UINT64_T, 0, 0, MPI_REPLACE, counter->window);
        (void)MPI_Win_flush(0, counter->window);
    }
    (void)MPI_Barrier(MPI_COMM_WORLD);
    return SLC_OK;
}

uint64_t slc_mpi_counter_add(const slc_mpi_counter *counter, uint64_t n)
{
    uint64_t before = 0;
    (void)MPI_Fetch_and_op(&n, &before, MPI_UINT64_T, 0, 0, MPI_SUM, counter->window);
    (void)MPI_Win_flush(0, counter->window);
    return before;
}

void slc_mpi_counter_progress(void)
{
    int there;
    (void)MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
}

void slc_mpi_counter_close(slc_mpi_counter *counter)
{
    (void)MPI_Win_unlock_all(counter->window);
    (void)MPI_Win_free(&counter->window);
}
