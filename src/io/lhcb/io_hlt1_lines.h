/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: HLT1's lines and network from memory. */
#ifndef SLUICE_IO_HLT1_LINES_H
#define SLUICE_IO_HLT1_LINES_H

#include <sluice/hlt1_select.h>

/* As those of io_hlt1.h; `name` stands in messages. What is refused leaves the output as it was. */
slc_status slc_io_hlt1_lines_read_memory(const char *text, size_t size, const char *name,
                                         slc_hlt1_lines *lines, slc_error *error);
slc_status slc_io_hlt1_network_read_memory(const char *text, size_t size, const char *name,
                                           slc_hlt1_network *network, slc_error *error);

#endif
