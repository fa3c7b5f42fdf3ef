/* SPDX-License-Identifier: Apache-2.0
 *
 * The processes of a run: who they are, what they agree on, and who speaks. Each does the same steps in the
 * same order; a step that may fail ends with slc_mpi_agree, so that no process waits for one that has given
 * up.
 *
 * Process 0 alone is heard: standard output of the others goes nowhere, and what they say (slc_cli_say,
 * slc_cli_wrong) is kept, and told only if the run fails while process 0 has nothing to complain of. What one
 * process knows and all are to hear goes to process 0 with the results, or is said by slc_mpi_say.
 */
#ifndef SLUICE_MPI_WORLD_H
#define SLUICE_MPI_WORLD_H

#include <sluice/base.h>

#include <mpi.h>
#include <stdbool.h>

typedef struct slc_mpi_world {
    int rank, size;
} slc_mpi_world;

/* Of MPI_COMM_WORLD. */
slc_mpi_world slc_mpi_here(void);

/* Before anything is said: all but process 0 are quiet. */
void slc_mpi_hush(void);

/* What a command's `act` begins with: true if every process got so far; else one has refused the command line
 * (a file that is not there on its machine), which is told at the end, and the command returns
 * SLC_CLI_USAGE. Collective. */
bool slc_mpi_begin(void);

/* Whether all are well. If this one is and another is not, that one's complaint is told at the end, and this
 * one has none. Collective. */
bool slc_mpi_all(bool well);

/* One line of this process, "sluice-mpi COMMAND: rank 3: text", whichever it is. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
void slc_mpi_say(const char *command, const char *format, ...);

/* What processes other than 0 have said since, which is no complaint but to be heard, process 0 says after
 * what it said, in the order of ranks. Collective. */
size_t slc_mpi_said(void);
void slc_mpi_say_all(size_t since);

/* The failure of the lowest rank that has one, with its text, everywhere; SLC_OK if none has. Collective. */
slc_status slc_mpi_agree(const slc_mpi_world *world, slc_status status, slc_error *error);

/* The exit status of the run: the largest of all. If process 0 has none to give, the lowest that has tells
 * what it had to say. Collective, at the end. */
int slc_mpi_exit_status(int status);

#endif
