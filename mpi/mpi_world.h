/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes of a run: who they are, and what they agree on. Each does the same steps in the same order; a
 * step that may fail ends with slc_mpi_agree, so that no process waits for one that has given up.
 */
#ifndef SLUICE_MPI_WORLD_H
#define SLUICE_MPI_WORLD_H

#include <sluice/base.h>

#include <mpi.h>

typedef struct slc_mpi_world {
    int rank, size;
} slc_mpi_world;

/* Of MPI_COMM_WORLD. */
slc_mpi_world slc_mpi_here(void);

/* The failure of the lowest rank that has one, with its text, everywhere; SLC_OK if none has. Collective. */
slc_status slc_mpi_agree(const slc_mpi_world *world, slc_status status, slc_error *error);

/* The exit status of the run: the largest of all. Collective. */
int slc_mpi_exit_status(int status);

#endif
