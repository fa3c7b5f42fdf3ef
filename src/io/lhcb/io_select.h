/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: selections from memory. */
#ifndef SLUICE_IO_SELECT_H
#define SLUICE_IO_SELECT_H

#include <sluice/io_lhcb.h>

/* As slc_io_select_read; `name` stands in messages. */
slc_status slc_io_select_read_memory(const char *text, size_t size, const char *name,
                                     slc_velo_selection *selection, slc_error *error);

#endif
