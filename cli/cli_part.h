/* SPDX-License-Identifier: Apache-2.0
 *
 * --part K/N: which part of the inputs a run is, in the words of who starts it, and what its results say of
 * it.
 */
#ifndef SLUICE_CLI_PART_H
#define SLUICE_CLI_PART_H

#include "cli_options.h"

#include <sluice/io.h>

enum { SLC_CLI_PART_NAMES = 8 };

/* Goes into a command's options. */
typedef struct slc_cli_part {
    const char *word;               /* "1/3", "auto"; NULL: all */
    uint32_t part, n;               /* n is 0 without */
    char *name[SLC_CLI_PART_NAMES]; /* of outputs in which %p was replaced */
    char *lock;                     /* of the one that has none and says itself which part it is */
    int lock_file;
} slc_cli_part;

/* NOLINTBEGIN(bugprone-macro-parentheses): names of types and members. */
/* The row of a command's table. */
#define SLC_CLI_PART(o, m)                                                                                   \
    {                                                                                                        \
        "part", 0, TEXT(o, m.word), "K/N",                                                                   \
            "part K of N alone, from 0; auto: as the launcher says; %p in an output is K"                    \
    }
/* NOLINTEND(bugprone-macro-parentheses) */

/* Reads the option, and puts the part into names of outputs that have %p. SLC_CLI_GO_ON, or the exit status
 * after a complaint: also if two parts would write one file. */
int slc_cli_part_choose(const slc_cli_command *command, void *options, slc_cli_part *part);
void slc_cli_part_clear(slc_cli_part *part);

/* Puts down which part of which run the results are, before their first rows; nothing without --part.
 * `whole`: the group whose rows are all one event, or NULL. */
slc_status slc_cli_part_put(const slc_cli_command *command, const slc_cli_part *part, char *const *inputs,
                            int n_inputs, const char *whole, slc_io_writer *results, slc_error *error);

/* Whether a file of results that stands under this name is another part of as many, which is told: a run that
 * goes on would replace it. */
bool slc_cli_part_taken(const slc_cli_command *command, const slc_cli_part *part, const char *name);

#endif
