/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: results as NeXus's event data, beside what they are in HDF5 anyway.
 */
#ifndef SLUICE_IO_NEXUS_H
#define SLUICE_IO_NEXUS_H

#include "io/io_results.h"

#include <hdf5.h>

/* Which columns of results are fields of NXevent_data; all of them must be there. */
enum { SLC_IO_NEXUS_FIELDS = 4 };

/* What the groups lack for it: the name of a field, or NULL. */
const char *slc_io_nexus_lacks(const slc_io_results *results);
/* Adds /entry/events, whose fields are the data sets of the groups themselves. False on failure, with the
 * reason on HDF5's stack. */
bool slc_io_nexus_add(hid_t file, const slc_io_results *results);

#endif
