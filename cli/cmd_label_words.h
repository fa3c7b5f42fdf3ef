/* SPDX-License-Identifier: Apache-2.0
 *
 * Names of features and algorithms on the command lines of `sluice label` and `sluice bench label`.
 */
#ifndef SLUICE_CMD_LABEL_WORDS_H
#define SLUICE_CMD_LABEL_WORDS_H

#include "cli_options.h"

/* A list with commas, or "all", to the sum of flags. Returns SLC_CLI_GO_ON, or SLC_CLI_USAGE after a line
 * that lists the features there are. */
int slc_label_features(const slc_cli_command *command, const char *list, uint32_t *features);

/* The number of an algorithm; SIZE_MAX for a name that there is not. */
size_t slc_label_algorithm(const char *name);
/* One line that lists those there are, `more` among them; returns SLC_CLI_USAGE. */
int slc_label_no_algorithm(const slc_cli_command *command, const char *name, const char *more);

#endif
