/* SPDX-License-Identifier: Apache-2.0
 * What two results of the VELO's chain have to have in common: all but their times and who found it. */
#ifndef SLUICE_TEST_VELO_SAME_H
#define SLUICE_TEST_VELO_SAME_H

#include <sluice/velo_chain.h>

void expect_same_velo(const slc_velo_result *a, const slc_velo_result *b);

#endif
