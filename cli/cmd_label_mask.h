/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label`: what becomes foreground, where one threshold does not say it, and the mask that is
 * written. */
#ifndef SLUICE_CMD_LABEL_MASK_H
#define SLUICE_CMD_LABEL_MASK_H

#include "cmd_label.h"

/* The first option that asks for more than a threshold, or writes a mask, as "--hysteresis"; NULL: none. */
const char *slc_label_mask_word(const slc_label_options *options);

/* Chooses threshold and rule of the job: SLC_CLI_GO_ON, or the exit status after a complaint. */
int slc_label_mask_choose(slc_label_job *job);
/* Reads --mask, if any, which the job keeps; SLC_CLI_GO_ON, or the exit status after a complaint. */
int slc_label_mask_read(slc_label_job *job);

/* Of an image or slices without a component SLC_LABEL_BELOW is told. */
slc_label_reach slc_label_reach_of(const slc_label_options *options, const slc_image *image);
#define SLC_LABEL_MISSED                                                                                     \
    "nothing is at or above 1, the threshold if none is asked for, and not all is 0: --threshold says "      \
    "another"

/* The page's pixels that have a label, as 8 bits of 0 and 255. */
slc_status slc_label_mask_write(slc_label_job *job, const slc_flow_image_result *result);

#endif
