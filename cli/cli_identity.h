/* SPDX-License-Identifier: Apache-2.0
 *
 * Which event is which, for commands that read raw events of LHCb: run, event and bunch crossing, the input,
 * and the record in it, as columns of the JSON; counted and kept in the order of the input.
 */
#ifndef SLUICE_CLI_IDENTITY_H
#define SLUICE_CLI_IDENTITY_H

#include "cli_tree.h"

#include <sluice/sluice.h>

/* Events by who told their run and number. */
typedef uint64_t slc_cli_identity_from[SLC_LHCB_IDENTITY_SOURCES];

/* Zero-initialise. */
typedef struct slc_cli_identity {
    struct json_t *columns; /* NULL: not kept */
    slc_cli_identity_from from;
} slc_cli_identity;

/* For the JSON; false if there is no memory. */
bool slc_cli_identity_keep(slc_cli_identity *identity);
void slc_cli_identity_clear(slc_cli_identity *identity);
/* Adds the events of a batch, also to those of its input; false if there is no memory, which is told. */
bool slc_cli_identity_take(slc_cli_identity *identity, slc_cli_identity_from of_input, const char *command,
                           const slc_lhcb_events *events);
/* The end of an input of raw events: one line for events whose run and number are not those of ODIN. */
void slc_cli_identity_tell(const slc_cli_identity_from of_input, const char *command, const char *path);
/* The object of the JSON, which takes the columns. */
void slc_cli_identity_put(slc_cli_identity *identity, slc_cli_tree *tree, char *const *inputs, int n_inputs);

#endif
