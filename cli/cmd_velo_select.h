/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the command `sluice velo`: --select and --write-accepted. Which events the lines of a selection
 * accept, how often, and the file of those that any line accepted.
 */
#ifndef SLUICE_CMD_VELO_SELECT_H
#define SLUICE_CMD_VELO_SELECT_H

#include "cli_tree.h"

#include <sluice/sluice.h>

#include <stdio.h>

typedef struct slc_velo_selecting {
    const char *file;
    slc_velo_selection selection;
    slc_velo_select_scratch scratch;
    slc_velo_decisions decisions; /* of the last batch */
    slc_velo_fired fired;         /* the same, of tracks; without rows unless wants_fired is set */
    bool wants_fired;
    bool by_chain;         /* the chain has decided, but for prescales */
    slc_io_writer *writer; /* NULL without --write-accepted */
    bool with_bank;        /* --decision-bank */
    uint64_t first_event;  /* events of the run before this part */
    uint64_t events, accepted, written;
    uint64_t line_accepted[SLC_VELO_MAX_LINES];
    uint64_t line_alone[SLC_VELO_MAX_LINES];      /* by this line and no other */
    uint64_t line_limited[SLC_VELO_MAX_LINES];    /* not accepted, with pairs left that were not looked at */
    uint64_t accepted_by[SLC_VELO_MAX_LINES + 1]; /* events that so many lines accepted */
} slc_velo_selecting;

/* Functions that return bool return true to go on; on false the reason has been told. */

/* Reads the selection. *selecting is NULL where `file` is, or on failure. */
bool slc_velo_selecting_open(const char *file, slc_velo_selecting **selecting);
/* Opens the file of accepted events, where there is to be one (and a selection). */
bool slc_velo_selecting_create(slc_velo_selecting *selecting, const char *accepted);
/* Does it have a line with a prescale, which goes by the numbers of events? */
bool slc_velo_selecting_counts(const char *file);
/* Decides about a result and writes what was accepted. Results come in the order of the input; `batch` is
 * NULL for events that came as hits. Events are numbered through all inputs, for prescales. */
bool slc_velo_selecting_take(slc_velo_selecting *selecting, const char *input, const slc_velo_result *result,
                             const slc_batch *batch);
/* The run's beam line, for selections that tell none. One that tells another is not changed; that is said. */
void slc_velo_selecting_beam(slc_velo_selecting *selecting, float x_mm, float y_mm);
/* Completes the file. With `keep` false, it is given up. */
bool slc_velo_selecting_finish(slc_velo_selecting *selecting, bool keep);
/* Gives everything back; a file that is not finished is given up. NULL is allowed. */
void slc_velo_selecting_clear(slc_velo_selecting *selecting);

/* What came of it into the tree, and the tables and rows of CSV from there. */
void slc_velo_selecting_put(const slc_velo_selecting *selecting, slc_cli_tree *tree);
void slc_velo_selecting_print(slc_cli_tree *tree);
void slc_velo_selecting_csv(slc_cli_tree *tree, FILE *out);

#endif
