/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what reader and writer of MDF share besides the record's envelope (lhcb/lhcb_record.h):
 * ROOT's compressed blocks. docs/formats/mdf.md.
 */
#ifndef SLUICE_IO_MDF_BLOCKS_H
#define SLUICE_IO_MDF_BLOCKS_H

#include "lhcb/lhcb_record.h"

#ifndef ZLIB_CONST
#define ZLIB_CONST /* zlib then takes const input */
#endif
#include <zlib.h>

enum { SLC_MDF_BLOCK_HEADER = 9, SLC_MDF_BLOCK_MAX = 0xffffff };

/* The size that a sequence of compressed blocks says it expands to. SLC_ERR_FORMAT with *why where the blocks
 * do not fill `size`, claim more than their bytes can hold or more than `limit`, or are of an unknown kind.
 */
slc_status slc_mdf_blocks_size(const uint8_t *bytes, size_t size, size_t limit, size_t *expanded,
                               const char **why);
/* Expands them into `out`, which has that size. `zip` has been through inflateInit. */
slc_status slc_mdf_blocks_expand(z_stream *zip, const uint8_t *bytes, size_t size, uint8_t *out,
                                 const char **why);

#endif
