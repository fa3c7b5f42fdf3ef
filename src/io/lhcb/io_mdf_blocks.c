/* SPDX-License-Identifier: Apache-2.0
 * ROOT's compressed blocks in MDF records. */
#include "io/lhcb/io_mdf_blocks.h"

#include <string.h>

/* Deflate cannot expand by more than this, so a block that claims more is damaged: it bounds what is
 * allocated. */
enum { DEFLATE_RATIO_MAX = 1032, DEFLATE_SLACK = 64 };

static uint32_t load_u24(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

slc_status slc_mdf_blocks_size(const uint8_t *bytes, size_t size, size_t limit, size_t *expanded,
                               const char **why)
{
    *expanded = 0;
    for (size_t at = 0; at < size;) {
        if (size - at < SLC_MDF_BLOCK_HEADER) {
            *why = "the record ends inside the header of a compressed block";
            return SLC_ERR_FORMAT;
        }
        const uint8_t *header = bytes + at;
        const size_t packed = load_u24(header + 3), unpacked = load_u24(header + 6);
        if (header[0] != 'Z' || header[1] != 'L' || header[2] != Z_DEFLATED) {
            *why = header[0] >= 'A' && header[0] <= 'Z'
                       ? "a compressed block is not of the kind 'ZL', the one that can be read"
                       : "no compressed block where one must begin";
            return SLC_ERR_FORMAT;
        }
        at += SLC_MDF_BLOCK_HEADER;
        if (packed > size - at) {
            *why = "a compressed block overruns the record";
            return SLC_ERR_FORMAT;
        }
        if (unpacked > packed * DEFLATE_RATIO_MAX + DEFLATE_SLACK) {
            *why = "a compressed block claims to hold more than it can";
            return SLC_ERR_FORMAT;
        }
        *expanded += unpacked;
        if (*expanded > limit) {
            *why = "the record expands beyond the largest event allowed";
            return SLC_ERR_FORMAT;
        }
        at += packed;
    }
    return SLC_OK;
}

static bool expand_block(z_stream *zip, const uint8_t *packed, size_t n_packed, uint8_t *out, size_t n_out)
{
    if (inflateReset(zip) != Z_OK) {
        return false;
    }
    zip->next_in = packed;
    zip->avail_in = (uInt)n_packed;
    zip->next_out = out;
    zip->avail_out = (uInt)n_out;
    if (inflate(zip, Z_FINISH) == Z_STREAM_END && zip->avail_out == 0 && zip->avail_in == 0) {
        return true;
    }
    /* ROOT keeps what does not shrink as it is: equal sizes. */
    if (n_packed == n_out) {
        memcpy(out, packed, n_out);
        return true;
    }
    return false;
}

slc_status slc_mdf_blocks_expand(z_stream *zip, const uint8_t *bytes, size_t size, uint8_t *out,
                                 const char **why)
{
    for (size_t at = 0, to = 0; at < size;) {
        const size_t packed = load_u24(bytes + at + 3), unpacked = load_u24(bytes + at + 6);
        at += SLC_MDF_BLOCK_HEADER;
        if (!expand_block(zip, bytes + at, packed, out + to, unpacked)) {
            *why = "a compressed block does not expand to the size it states";
            return SLC_ERR_FORMAT;
        }
        at += packed;
        to += unpacked;
    }
    return SLC_OK;
}
