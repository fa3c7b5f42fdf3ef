/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: all files that a command reads and writes, with those whose names are
 * made of others, so that none destroys another.
 */
#ifndef SLUICE_CMD_PET_FILES_H
#define SLUICE_CMD_PET_FILES_H

#include "cli_options.h"

enum { SLC_PET_FILES = 16 };

/* Begins empty, {.n = 0}; a name of NULL or "-" is no file and is left out wherever names are added. */
typedef struct slc_pet_files {
    struct {
        const char *flag; /* "--output"; NULL: an input */
        char *name;
        bool raw; /* an output of raw frames, whose writer knows what may be replaced */
    } file[SLC_PET_FILES];
    size_t n;
    bool no_room; /* or no memory */
} slc_pet_files;

/* An output, by its flag, or an input, which has none. */
void slc_pet_files_add(slc_pet_files *files, const char *flag, const char *name);
/* All files of a list-mode format of io_pet.h; beyond these it is the file of that name. Inputs beside the
 * one that is named count where they are there. */
void slc_pet_files_add_list(slc_pet_files *files, const char *flag, const char *name, int format);
void slc_pet_files_add_sinogram(slc_pet_files *files, const char *flag, const char *name);
/* Raw frames, and FILE.index. */
void slc_pet_files_add_raw(slc_pet_files *files, const char *flag, const char *name);

/* What slc_cli_check_files says of them, of `inputs` of raw frames or singles with their FILE.index, and of
 * --tables (may be NULL); and no other output may have a name that an output of raw frames goes on in,
 * run.0001.raw. Results replace what is there, as those of all commands do; but not raw data, which
 * cannot be made again: that is wrong usage. Frees the names. */
int slc_pet_files_check(slc_pet_files *files, const slc_cli_command *command, const char *tables,
                        char **inputs, int n);

#endif
