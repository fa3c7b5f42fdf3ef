/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command: its manual and what a shell completes, from the tables of the commands.
 */
#ifndef SLUICE_CLI_MANUAL_H
#define SLUICE_CLI_MANUAL_H

#include "cli_options.h"

/* A page of the manual for a command, sluice-NAME(1), as mdoc. */
void slc_cli_print_man(const slc_cli_command *command);
/* A script for bash that completes commands, options, names that an option takes, and files. */
void slc_cli_print_completion(void);

#endif
