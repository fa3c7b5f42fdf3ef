/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: list-mode files as inputs, with their scanner.
 */
#ifndef SLUICE_CMD_PET_OPEN_H
#define SLUICE_CMD_PET_OPEN_H

#include "cmd_pet.h"

/* "castor" … "hdf5", NULL beyond: for a row of options. */
const char *slc_pet_list_format_name(size_t i);
/* The format by an option's value, from 1, or where that is 0 by the name's end; −1: none that is read. */
int slc_pet_list_format_of(int option, const char *path);

/* "20,10,5". SLC_CLI_GO_ON, or the exit status after a line. */
int slc_pet_triple(const slc_cli_command *command, const char *flag, const char *text, double triple[3]);

/* That several are named, and how many files come to one: the exit status. */
int slc_pet_one_list(const slc_cli_command *command);

/* No output of the options replaces a file that the name of a list stands for. */
int slc_pet_list_kept(const slc_cli_command *command, const void *options, const char *path, int format);

/* Begins as {0}; _close in any case. */
typedef struct slc_pet_list_input {
    slc_io_pet_list *list;
    slc_io_pet_list_about about; /* when it was opened */
    slc_pet_tables tables;
    bool owned;
} slc_pet_list_input;
/* Opens it with the scanner of --tables or --scanner, or the one that it says. SLC_CLI_GO_ON, or the exit
 * status after a line. */
int slc_pet_list_input_open(const slc_cli_command *command, const char *path, int format,
                            const slc_pet_frame_words *words, slc_pet_list_input *input);
/* Of which file the scanner is that the list says, where that is to be told. */
void slc_pet_list_scanner_tell(const char *command, const char *path, int format,
                               const slc_io_pet_list_about *about);
/* The scanner that a list names, if it is one that is known here, which is told. */
bool slc_pet_list_scanner_named(const char *command, const char *path, const slc_io_pet_list_about *about,
                                slc_pet_geometry *geometry);
/* What it holds and is not read, and pairs that are none of the scanner; once all was read. True: these are
 * so many that the exit status is to be 1. */
bool slc_pet_list_input_tell(const slc_cli_command *command, const char *path, slc_pet_list_input *input);
void slc_pet_list_input_close(slc_pet_list_input *input);

/* A ring as a map has it: how far from the axis its first crystal is, and its first two rings apart. */
slc_status slc_pet_geometry_of_map(const char *path, slc_pet_geometry *geometry, slc_error *error);

#endif
