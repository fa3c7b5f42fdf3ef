/* SPDX-License-Identifier: Apache-2.0
 *
 * A counter of process 0 that all processes take numbers from, each number once: by MPI_Fetch_and_op, so that
 * nobody has to answer. An MPI may have no one-sided data between its processes (Debian's Open MPI has none
 * over TCP): then process 0 answers, whenever it looks after messages (_progress). It does so now and then in
 * any case, as there are engines that move one-sided data only while the target calls MPI.
 */
#ifndef SLUICE_MPI_COUNTER_H
#define SLUICE_MPI_COUNTER_H

#include "mpi_world.h"

typedef struct slc_mpi_counter {
    slc_mpi_world world;
    MPI_Win window;  /* MPI_WIN_NULL: process 0 answers */
    uint64_t *value; /* of process 0, in the window */
    uint64_t count;  /* or without one */
    int n_closed;    /* processes that will not ask any more */
} slc_mpi_counter;

/* From 0. Collective, as is _close, in which process 0 waits for the last who asks. */
void slc_mpi_counter_open(const slc_mpi_world *world, slc_mpi_counter *counter);
void slc_mpi_counter_close(slc_mpi_counter *counter);

/* What it was before `n`, which is not 0, was added. */
uint64_t slc_mpi_counter_add(slc_mpi_counter *counter, uint64_t n);
void slc_mpi_counter_progress(slc_mpi_counter *counter);

#endif
