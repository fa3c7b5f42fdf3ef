/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: settings beyond the VELO, checked. */
#ifndef SLUICE_HLT1_CONFIG_H
#define SLUICE_HLT1_CONFIG_H

#include <sluice/hlt1_chain.h>

/* SLC_ERR_USAGE names the first setting that is out of its limits. */
slc_status slc_hlt1_config_check(const slc_hlt1_config *config, slc_error *error);

#endif
