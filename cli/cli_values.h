/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command: the value of an option by its kind.
 */
#ifndef SLUICE_CLI_VALUES_H
#define SLUICE_CLI_VALUES_H

#include "cli_options.h"

/* Stores the value in the option's member. SLC_CLI_GO_ON, or SLC_CLI_USAGE after one line. */
int slc_cli_store(const slc_cli_command *command, const slc_cli_option *option, const char *text,
                  void *options);

static inline slc_cli_kind slc_cli_kind_of(const slc_cli_option *option)
{
    return (slc_cli_kind)(option->kind & (SLC_CLI_NEEDED - 1U));
}

#endif
