/* SPDX-License-Identifier: Apache-2.0
 *
 * Geometry and tables of LHCb's first trigger level from a folder. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_IO_HLT1_H
#define SLUICE_IO_HLT1_H

#include <sluice/hlt1_select.h>
#include <sluice/hlt1_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads velo_geometry.bin, beamline.bin, polarity.bin, ut_boards.bin, ut_geometry.bin, ut_tables.bin,
 * scifi_geometry.bin, forward_params.txt, muon_geometry.bin and muon_tables.bin of the folder, and, if they
 * are there, muon_field_of_interest.bin and the files of kalman_FT6x2. *error names the file, and what is
 * wrong with it or that it is not there; *geometry is NULL then. Closed by slc_io_hlt1_geometry_close, which
 * takes NULL. */
SLC_API slc_status slc_io_hlt1_geometry_open(const char *folder, slc_hlt1_geometry **geometry,
                                             slc_error *error);
SLC_API void slc_io_hlt1_geometry_close(slc_hlt1_geometry *geometry);

/* Lines from JSON (docs/formats/hlt1-lines.md), and the network of TwoTrackMVA as LHCb has it
 * (two_track_mva_model.json). SLC_ERR_FORMAT, with line and column, for what is none; the output is then as
 * it was. */
SLC_API slc_status slc_io_hlt1_lines_read(const char *path, slc_hlt1_lines *lines, slc_error *error);
SLC_API slc_status slc_io_hlt1_network_read(const char *path, slc_hlt1_network *network, slc_error *error);

/* Both as a run needs them: lines of the file (`lines_path` NULL: none), and the network of `network_path`
 * or, where that is NULL, of two_track_mva_model.json in the folder of the geometry, if it is there
 * (*has_network). SLC_ERR_USAGE where a line cuts on the network, and there is none, or on muons,
 * which the folder has no windows for. */
SLC_API slc_status slc_io_hlt1_selection_read(const char *folder, const char *lines_path,
                                              const char *network_path, slc_hlt1_lines *lines,
                                              slc_hlt1_network *network, bool *has_network, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
