/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a part of an input of events, for slc_flow_config.part.
 */
#ifndef SLUICE_IO_PART_H
#define SLUICE_IO_PART_H

#include <sluice/io.h>

/* From here on the source, which is just open, gives the events that begin at byte `from` or after it and
 * before byte `until` (UINT64_MAX: all that follow). What is before is walked over by the reader's own steps,
 * so that numbers of records are those of the whole input, and what ends at a byte is what goes on there,
 * be the input damaged or not. *before is what was counted there, which is no part's loss. */
slc_status slc_io_cut(slc_io_source *source, uint64_t from, uint64_t until, slc_io_totals *before,
                      slc_error *error);

#endif
