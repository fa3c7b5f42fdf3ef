/* SPDX-License-Identifier: Apache-2.0
 *
 * A counter of process 0 that all processes take numbers from, by MPI_Fetch_and_op: each number once, and
 * nobody has to answer. Where the engine moves one-sided data only while the target calls MPI (TCP), process
 * 0 must do so now and then: slc_mpi_counter_progress.
 */
#ifndef SLUICE_MPI_COUNTER_H
#define SLUICE_MPI_COUNTER_H

#include "mpi_world.h"

typedef struct slc_mpi_counter {
    MPI_Win window;
    uint64_t *value; /* of process 0 */
} slc_mpi_counter;

/* From 0. Collective, as is _close. */
slc_status slc_mpi_counter_open(const slc_mpi_world *world, slc_mpi_counter *counter, slc_error *error);
void slc_mpi_counter_close(slc_mpi_counter *counter);

/* What it was before `n` was added. */
uint64_t slc_mpi_counter_add(const slc_mpi_counter *counter, uint64_t n);
void slc_mpi_counter_progress(void);

#endif
