/* SPDX-License-Identifier: Apache-2.0
 * Tables of the track search from the images of their files. docs/formats/lhcb-hlt1.md. */
#ifndef SLUICE_HLT1_TABLES_H
#define SLUICE_HLT1_TABLES_H

#include <sluice/hlt1_types.h>

/* ut_tables.bin: 15 544 bytes. SLC_ERR_FORMAT for other sizes or counts, and numbers that are not finite,
 * with the byte. */
slc_status slc_hlt1_deflection_parse(const void *bytes, size_t size, slc_hlt1_deflection *deflection,
                                     slc_error *error);

/* forward_params.txt: a line "name count : numbers" for each array, in any order; lines that begin with # say
 * nothing. SLC_ERR_FORMAT, with the line, for a name that is unknown, twice there or missing, another count,
 * and what is no finite number. */
slc_status slc_hlt1_forward_parse(const void *bytes, size_t size, slc_hlt1_forward_params *params,
                                  slc_error *error);

#endif
