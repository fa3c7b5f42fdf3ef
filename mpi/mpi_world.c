/* SPDX-License-Identifier: Apache-2.0
 * The processes of a run. */
#include "mpi_world.h"

#include <limits.h>

slc_mpi_world slc_mpi_here(void)
{
    slc_mpi_world world = {0, 1};
    (void)MPI_Comm_rank(MPI_COMM_WORLD, &world.rank);
    (void)MPI_Comm_size(MPI_COMM_WORLD, &world.size);
    return world;
}

slc_status slc_mpi_agree(const slc_mpi_world *world, slc_status status, slc_error *error)
{
    int mine = status < 0 ? world->rank : INT_MAX, first = INT_MAX;
    (void)MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == INT_MAX) {
        return SLC_OK;
    }
    slc_error shared = {.status = status};
    if (world->rank == first && error != NULL) {
        shared = *error;
        shared.status = status;
    }
    (void)MPI_Bcast(&shared, (int)sizeof shared, MPI_BYTE, first, MPI_COMM_WORLD);
    if (error != NULL) {
        *error = shared;
    }
    return shared.status;
}

int slc_mpi_exit_status(int status)
{
    int all = status;
    (void)MPI_Allreduce(&status, &all, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    return all;
}
