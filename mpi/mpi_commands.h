/* SPDX-License-Identifier: Apache-2.0
 * Commands that sluice-mpi has of its own. */
#ifndef SLUICE_MPI_COMMANDS_H
#define SLUICE_MPI_COMMANDS_H

#include "cli_options.h"

extern const slc_cli_command slc_mpi_cmd_build;
extern const slc_cli_command slc_mpi_cmd_label;
extern const slc_cli_command slc_mpi_cmd_pet;
extern const slc_cli_command slc_mpi_cmd_velo;

#endif
