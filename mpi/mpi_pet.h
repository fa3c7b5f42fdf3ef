/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside `sluice-mpi pet`: a run of PET over the processes.
 * mpi_pet.c        its options, and the steps in order
 * mpi_pet_read.c   shares of the inputs to singles in time order
 * mpi_pet_join.c   what was read, joined on process 0
 * mpi_pet_share.c  ranges of time, and each process gets the singles of its own
 * mpi_pet_find.c   coincidences of a range; counts and checksum of all
 * mpi_pet_write.c  pairs to process 0, which writes
 */
#ifndef SLUICE_MPI_PET_H
#define SLUICE_MPI_PET_H

#include "cmd_pet_run.h"
#include "mpi_world.h"

/* What a process knows of each module's clock in its share: of process 0 those of all joined. */
typedef struct slc_mpi_pet_clocks {
    uint64_t first[SLC_PET_MAX_MODULES], last[SLC_PET_MAX_MODULES];
    bool began[SLC_PET_MAX_MODULES];
} slc_mpi_pet_clocks;

/* A place in the inputs, one after the other: an input, and a frame of it. */
typedef struct slc_mpi_pet_place {
    uint64_t input, frame;
} slc_mpi_pet_place;

typedef struct slc_mpi_pet {
    slc_mpi_world world;
    slc_pet_run_job *job;     /* of process 0: what is printed in the end; of all: configuration and tables */
    slc_mpi_pet_place *place; /* where the share of each process begins, and the end of the last */
    slc_io_pet_inputs inputs; /* of the share */
    slc_pet_singles singles;  /* of the share in time order; then of the range, and its halo */
    size_t own;               /* of the range */
    slc_pet_range range;
    slc_mpi_pet_clocks clocks;
    slc_faults faults; /* of the share's frames */
    slc_pet_totals totals;
    int64_t earliest, latest; /* of all singles of the share, late ones, too, if there are any */
    bool any;
    slc_pet_coincidences prompts, delayeds; /* those of the range, kept if they are written */
    double seconds[SLC_PET_STAGES];
} slc_mpi_pet;

/* Each step is collective: its failure is that of the lowest process, with its text in job->error. */

/* The share of this process to singles in time order, without those that come too late. */
slc_status slc_mpi_pet_read(slc_mpi_pet *pet);
/* What was read, on process 0: job->inputs, job->faults, job->totals.convert and .sort. */
slc_status slc_mpi_pet_gather(slc_mpi_pet *pet);
slc_status slc_mpi_pet_share(slc_mpi_pet *pet);
/* Counts and checksum of all in job->totals. */
slc_status slc_mpi_pet_find(slc_mpi_pet *pet, bool keep);
/* On process 0 the outputs take all pairs in order. */
slc_status slc_mpi_pet_write(slc_mpi_pet *pet);

/* Any number of bytes, in pieces that MPI can count. To or from MPI_PROC_NULL: nothing. */
void slc_mpi_pet_swap(const void *send, size_t n_send, int to, void *receive, size_t n_receive, int from);

#endif
