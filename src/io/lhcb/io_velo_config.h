/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: settings of the VELO's chain from memory. */
#ifndef SLUICE_IO_VELO_CONFIG_H
#define SLUICE_IO_VELO_CONFIG_H

#include <sluice/io_lhcb.h>

/* As slc_io_velo_config_read; `name` stands in messages. */
slc_status slc_io_velo_config_read_memory(const char *text, size_t size, const char *name,
                                          slc_velo_config *config, slc_error *error);

#endif
