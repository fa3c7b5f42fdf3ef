/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the commands `sluice pet …`: counts that several of them tell, in their trees of results.
 */
#ifndef SLUICE_CMD_PET_TELL_H
#define SLUICE_CMD_PET_TELL_H

#include "cli_tree.h"
#include "cmd_pet_frames.h"

void slc_pet_put_convert(slc_cli_tree *tree, const slc_pet_convert_counts *counts);
void slc_pet_put_sort(slc_cli_tree *tree, const slc_pet_sort_counts *counts, int64_t horizon_ps);
/* With `path.more`, hidden: windows of three singles or more. */
void slc_pet_put_pairs(slc_cli_tree *tree, const char *path, const slc_pet_coincidence_counts *counts);
/* "randoms" and "randoms_sigma", null if nothing can be told; hidden "randoms_known", "randoms_unknown". */
void slc_pet_put_randoms(slc_cli_tree *tree, double randoms, double sigma);
/* By the sequence counters: null without them. */
void slc_pet_put_losses(slc_cli_tree *tree, const slc_io_pet_inputs *inputs);
void slc_pet_put_doubts(slc_cli_tree *tree, const slc_io_pet_seen *seen, const slc_pet_tables *tables);
/* Of frames, and of all inputs' blocks. */
void slc_pet_put_faults(slc_cli_tree *tree, const slc_io_pet_inputs *inputs, const slc_faults *faults);

#endif
