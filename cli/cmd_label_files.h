/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice label`: the images in folders that it is given, and the output of each input if
 * --output has {name} in it.
 */
#ifndef SLUICE_CMD_LABEL_FILES_H
#define SLUICE_CMD_LABEL_FILES_H

#include "cmd_label.h"

#include <stddef.h>

typedef struct slc_label_files {
    char **inputs;  /* folders are replaced by their images, by name, 9 before 10 */
    char **outputs; /* of each input; NULL if --output has no {name} */
    size_t n;
} slc_label_files;

bool slc_label_is_pattern(const char *output);
/* SLC_CLI_GO_ON, or the exit status after a complaint: a folder without images, two inputs with one output,
 * an output that is an input or another output. Zero-initialise before; _clear in any case. */
int slc_label_files_of(const slc_cli_call *call, slc_label_files *files);
int slc_label_files_add(slc_label_files *files, const char *operand); /* a folder's images, or the file */
void slc_label_files_clear(slc_label_files *files);

#endif
