/* SPDX-License-Identifier: Apache-2.0
 * What two results of the VELO's chain have to have in common: all but their times and who found it. */
#ifndef SLUICE_TEST_VELO_SAME_H
#define SLUICE_TEST_VELO_SAME_H

#include <sluice/velo_select.h>

void expect_same_velo(const slc_velo_result *a, const slc_velo_result *b);
/* The chain's decisions, which get their prescales, are those about its result, of which all is there. */
void expect_velo_decisions(const slc_velo_selection *selection, slc_velo_result *result);

#endif
