/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what reader and writer of MDF share besides the record's envelope (lhcb/lhcb_record.h):
 * ROOT's compressed blocks. docs/formats/mdf.md.
 */
#ifndef SLUICE_IO_MDF_BLOCKS_H
#define SLUICE_IO_MDF_BLOCKS_H

#include "lhcb/lhcb_record.h"

enum { SLC_MDF_BLOCK_HEADER = 9, SLC_MDF_BLOCK_MAX = 0xffffff };

/* The size that a sequence of compressed blocks says it expands to. SLC_ERR_FORMAT with *why where the blocks
 * do not fill `size`, claim more than their bytes can hold or more than `limit`, or are of an unknown kind.
 */
slc_status slc_mdf_blocks_size(const uint8_t *bytes, size_t size, size_t limit, size_t *expanded,
                               const char **why);
/* The same where of `size` bytes only the first are seen: whether they are a single block, and a good one. */
bool slc_mdf_block_whole(const uint8_t *bytes, size_t visible, size_t size, size_t limit, size_t *expanded);

/* What the libraries that expand keep between blocks. One thread at a time. NULL: no memory. */
typedef struct slc_mdf_unpacker slc_mdf_unpacker;
slc_mdf_unpacker *slc_mdf_unpacker_open(void);
void slc_mdf_unpacker_close(slc_mdf_unpacker *unpacker);
/* Expands blocks of which slc_mdf_blocks_size has told the size into `out`, which has that size. */
slc_status slc_mdf_blocks_expand(slc_mdf_unpacker *unpacker, const uint8_t *bytes, size_t size, uint8_t *out,
                                 const char **why);

#endif
