/* SPDX-License-Identifier: Apache-2.0
 * Of `sluice label`: --pixel-size, by which features are lengths and areas in micrometres. */
#ifndef SLUICE_CMD_LABEL_SIZE_H
#define SLUICE_CMD_LABEL_SIZE_H

#include "cmd_label.h"

/* Reads the option into the job: SLC_CLI_GO_ON, or the exit status after a complaint. */
int slc_label_size_choose(slc_label_job *job);
/* Columns of slc_label_rows that are lengths and areas in pixels become those in micrometres. */
void slc_label_size_columns(slc_column *columns, size_t n);
/* These of a schema, for which memory is needed; returns how many. */
size_t slc_label_size_own(const slc_schema *written, slc_column columns[SLC_LABEL_PHYSICAL]);
/* Fills them, for a page whose pixels are as large as `page` says. False after a complaint: the page's file
 * does not say, or its pixels are not square and a feature needs them to be. */
bool slc_label_size_rows(slc_label_job *job, const slc_label_page *page, const slc_label_rows *rows);

#endif
