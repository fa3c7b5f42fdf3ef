/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: masks from memory. */
#ifndef SLUICE_IO_VELO_MASK_H
#define SLUICE_IO_VELO_MASK_H

#include <sluice/io_lhcb.h>

/* As slc_io_velo_mask_read; `name` stands in messages. */
slc_status slc_io_velo_mask_read_memory(const char *text, size_t size, const char *name, slc_velo_mask *mask,
                                        slc_error *error);

#endif
