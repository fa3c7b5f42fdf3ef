/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: all files that a command reads and writes, with those whose names are
 * made of others, so that none destroys another.
 */
#ifndef SLUICE_CMD_PET_FILES_H
#define SLUICE_CMD_PET_FILES_H

#include "cli_options.h"

/* For rows of outputs: the two files of a sinogram. */
char *slc_pet_sinogram_files(const void *options, const char *name, size_t i);
/* The same of a list-mode format of io_pet.h; beyond these it is the file of that name. */
char *slc_pet_list_files(int format, const char *name, size_t i);

/* What slc_cli_check says of the options' outputs and of `inputs`; and no other output may have a name that
 * an output of raw frames goes on in, run.0001.raw. Results replace what is there, as those of all commands
 * do; but not raw data, which cannot be made again: that is wrong usage. */
int slc_pet_files_check(const slc_cli_command *command, const void *options, char **inputs, int n);

#endif
