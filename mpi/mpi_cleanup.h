/* SPDX-License-Identifier: Apache-2.0
 *
 * A folder that does not outlive the process, even if that is killed: launchers kill all processes if one
 * has died. A second process, begun before MPI is, waits for the end of this one, and removes the folder.
 */
#ifndef SLUICE_MPI_CLEANUP_H
#define SLUICE_MPI_CLEANUP_H

/* Before MPI_Init. Without a second process nothing is removed. */
void slc_mpi_cleanup_begin(void);

/* This file, or this folder and the files in it, is removed when the process ends, too; NULL: none is. Up to
 * four. */
void slc_mpi_cleanup_of(const char *folder);

/* Removes it now; also if it is not there. */
void slc_mpi_cleanup_now(const char *folder);

/* Nothing is left to remove: waits for the second process. */
void slc_mpi_cleanup_end(void);

#endif
