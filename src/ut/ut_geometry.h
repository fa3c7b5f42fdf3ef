/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the UT's strips are. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_UT_GEOMETRY_H
#define SLUICE_UT_GEOMETRY_H

#include <sluice/ut_types.h>

/* Bytes of LHCb's ut_boards.bin and ut_geometry.bin. */
enum { SLC_UT_BOARDS_BYTES = 47048, SLC_UT_GEOMETRY_BYTES = 41924 };

/* Reads the images of the two files. SLC_ERR_FORMAT if sizes, counts or the version are wrong, if a board's
 * hybrid is of a sector that there is not, if two are of the same, or if a number cannot be one of a strip;
 * with the byte. */
slc_status slc_ut_boards_parse(const void *bytes, size_t size, slc_ut_geometry *geometry, slc_error *error);
slc_status slc_ut_geometry_parse(const void *bytes, size_t size, slc_ut_geometry *geometry, slc_error *error);

/* The sector's index in ut_geometry.bin, of where it is: 124 or 138 sectors a half layer, stave by stave,
 * from the outside inwards on side 0 and the other way on side 1. */
uint32_t slc_ut_sector_of(uint32_t side, uint32_t layer, uint32_t stave, uint32_t face, uint32_t module,
                          uint32_t sector);

#endif
