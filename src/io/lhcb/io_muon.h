/* SPDX-License-Identifier: Apache-2.0
 * Geometry of the muon stations out of a folder of LHCb's files. */
#ifndef SLUICE_IO_MUON_H
#define SLUICE_IO_MUON_H

#include <sluice/muon_types.h>

/* Reads muon_geometry.bin, muon_tables.bin and, where it is there, muon_field_of_interest.bin (without it,
 * muons cannot be identified: slc_muon_geometry.has_field_of_interest). *error names the file, byte and
 * reason. slc_muon_geometry_free gives it back. */
slc_status slc_io_muon_geometry_read(const char *folder, slc_muon_geometry **geometry, slc_error *error);

#endif
