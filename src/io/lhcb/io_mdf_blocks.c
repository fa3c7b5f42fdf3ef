/* SPDX-License-Identifier: Apache-2.0
 *
 * ROOT's compressed blocks in MDF records: zlib's (by libdeflate, which is faster), LZ4's, zstd's and
 * LZMA's.
 */
#include "io/lhcb/io_mdf_blocks.h"

#include <libdeflate.h>
#include <lz4.h>
#include <lzma.h>
#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL /* its header alone is needed */
#include <xxhash.h>
#include <zstd.h>

struct slc_mdf_unpacker {
    struct libdeflate_decompressor *zip;
    ZSTD_DCtx *zstd;
    lzma_stream xz; /* all zero is LZMA_STREAM_INIT */
};

slc_mdf_unpacker *slc_mdf_unpacker_open(void)
{
    return calloc(1, sizeof(slc_mdf_unpacker));
}

void slc_mdf_unpacker_close(slc_mdf_unpacker *unpacker)
{
    if (unpacker == NULL) {
        return;
    }
    libdeflate_free_decompressor(unpacker->zip);
    (void)ZSTD_freeDCtx(unpacker->zstd);
    lzma_end(&unpacker->xz);
    free(unpacker);
}

/* ---- kinds ------------------------------------------------------------------------------------- */

static bool expand_zlib(slc_mdf_unpacker *u, const uint8_t *packed, size_t n_packed, uint8_t *out,
                        size_t n_out)
{
    size_t taken = 0, made = 0;
    u->zip = u->zip != NULL ? u->zip : libdeflate_alloc_decompressor();
    if (u->zip != NULL &&
        libdeflate_zlib_decompress_ex(u->zip, packed, n_packed, out, n_out, &taken, &made) ==
            LIBDEFLATE_SUCCESS &&
        taken == n_packed && made == n_out) {
        return true;
    }
    /* What does not shrink may have been kept as it is: equal sizes. */
    if (n_packed == n_out) {
        memcpy(out, packed, n_out);
        return true;
    }
    return false;
}

/* In front of the data stands their XXH64, high byte first. */
static bool expand_lz4(slc_mdf_unpacker *u, const uint8_t *packed, size_t n_packed, uint8_t *out,
                       size_t n_out)
{
    XXH64_canonical_t sum;
    (void)u;
    if (n_packed <= sizeof sum) {
        return false;
    }
    memcpy(&sum, packed, sizeof sum);
    packed += sizeof sum;
    n_packed -= sizeof sum;
    return XXH64(packed, n_packed, 0) == XXH64_hashFromCanonical(&sum) &&
           LZ4_decompress_safe((const char *)packed, (char *)out, (int)n_packed, (int)n_out) == (int)n_out;
}

static bool expand_zstd(slc_mdf_unpacker *u, const uint8_t *packed, size_t n_packed, uint8_t *out,
                        size_t n_out)
{
    u->zstd = u->zstd != NULL ? u->zstd : ZSTD_createDCtx();
    return u->zstd != NULL && ZSTD_decompressDCtx(u->zstd, out, n_out, packed, n_packed) == n_out;
}

/* A whole .xz file. It says how large a window it wants; level 9 takes 65 MiB. */
static bool expand_xz(slc_mdf_unpacker *u, const uint8_t *packed, size_t n_packed, uint8_t *out, size_t n_out)
{
    enum { MEMORY_MAX = 96 << 20 };
    if (lzma_stream_decoder(&u->xz, MEMORY_MAX, 0) != LZMA_OK) {
        return false;
    }
    u->xz.next_in = packed;
    u->xz.avail_in = n_packed;
    u->xz.next_out = out;
    u->xz.avail_out = n_out;
    return lzma_code(&u->xz, LZMA_FINISH) == LZMA_STREAM_END && u->xz.avail_out == 0 && u->xz.avail_in == 0;
}

/* `ratio`: the data cannot expand by more, `SLACK` bytes apart, so a block that claims more is damaged: it
 * bounds what is allocated. Deflate has 258 bytes in 2 bits, LZ4 255 in a byte, zstd 128 kB in a block of
 * four bytes, LZMA 273 in 0.3 bits. */
enum { SLACK = 64 };
static const struct kind {
    char letters[2];
    uint8_t method;
    uint32_t ratio;
    bool (*expand)(slc_mdf_unpacker *u, const uint8_t *packed, size_t n_packed, uint8_t *out, size_t n_out);
} kinds[] = {
    {{'Z', 'L'}, 8, 1032, expand_zlib},
    {{'L', '4'}, LZ4_VERSION_MAJOR, 255, expand_lz4},
    {{'Z', 'S'}, ZSTD_VERSION_MAJOR, 1 << 15, expand_zstd},
    {{'X', 'Z'}, 0, 1 << 14, expand_xz},
};

/* ---- blocks ------------------------------------------------------------------------------------ */

typedef struct block {
    const struct kind *kind;
    size_t packed, unpacked;
} block;

static uint32_t load_u24(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16;
}

/* The block whose header stands at `header`, with `left` bytes from there on; NULL, or what is wrong. */
static const char *read_header(const uint8_t *header, size_t left, block *b)
{
    if (left < SLC_MDF_BLOCK_HEADER) {
        return "the record ends inside the header of a compressed block";
    }
    *b = (block){.packed = load_u24(header + 3), .unpacked = load_u24(header + 6)};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (memcmp(header, kinds[i].letters, 2) == 0 && header[2] == kinds[i].method) {
            b->kind = &kinds[i];
        }
    }
    if (b->kind == NULL) {
        if (header[0] == 'C' && header[1] == 'S') {
            return "a compressed block is of ROOT's old kind 'CS', which is not read";
        }
        return header[0] >= 'A' && header[0] <= 'Z'
                   ? "a compressed block is of none of the kinds that can be read: 'ZL', 'L4', 'ZS', 'XZ'"
                   : "no compressed block where one must begin";
    }
    if (b->packed > left - SLC_MDF_BLOCK_HEADER) {
        return "a compressed block overruns the record";
    }
    return b->unpacked > b->packed * b->kind->ratio + SLACK
               ? "a compressed block claims to hold more than it can"
               : NULL;
}

slc_status slc_mdf_blocks_size(const uint8_t *bytes, size_t size, size_t limit, size_t *expanded,
                               const char **why)
{
    *expanded = 0;
    for (size_t at = 0; at < size;) {
        block b;
        const char *wrong = read_header(bytes + at, size - at, &b);
        if (wrong == NULL) {
            *expanded += b.unpacked;
            wrong = *expanded > limit ? "the record expands beyond the largest event allowed" : NULL;
        }
        if (wrong != NULL) {
            *why = wrong;
            return SLC_ERR_FORMAT;
        }
        at += SLC_MDF_BLOCK_HEADER + b.packed;
    }
    return SLC_OK;
}

bool slc_mdf_block_whole(const uint8_t *bytes, size_t visible, size_t size, size_t limit, size_t *expanded)
{
    block b;
    if (visible < SLC_MDF_BLOCK_HEADER || read_header(bytes, size, &b) != NULL ||
        SLC_MDF_BLOCK_HEADER + b.packed != size || b.unpacked > limit) {
        return false;
    }
    *expanded = b.unpacked;
    return true;
}

slc_status slc_mdf_blocks_expand(slc_mdf_unpacker *unpacker, const uint8_t *bytes, size_t size, uint8_t *out,
                                 const char **why)
{
    for (size_t at = 0; at < size;) {
        block b;
        const char *wrong = read_header(bytes + at, size - at, &b);
        const uint8_t *packed = bytes + at + SLC_MDF_BLOCK_HEADER;
        if (wrong == NULL && !b.kind->expand(unpacker, packed, b.packed, out, b.unpacked)) {
            wrong = "a compressed block does not expand to the size it states";
        }
        if (wrong != NULL) {
            *why = wrong;
            return SLC_ERR_FORMAT;
        }
        at += SLC_MDF_BLOCK_HEADER + b.packed;
        out += b.unpacked;
    }
    return SLC_OK;
}
