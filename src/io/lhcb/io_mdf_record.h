/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the envelope of LHCb's Master Data Format, shared by reader and writer: record headers,
 * the checksum, and ROOT's compressed blocks. docs/formats/mdf.md.
 */
#ifndef SLUICE_IO_MDF_RECORD_H
#define SLUICE_IO_MDF_RECORD_H

#include <sluice/base.h>

#ifndef ZLIB_CONST
#define ZLIB_CONST /* zlib then takes const input */
#endif
#include <zlib.h>

enum {
    SLC_MDF_FIXED = 20,  /* the header proper, and all of a version-2 header */
    SLC_MDF_HEADER = 48, /* with the sub-header of versions 1 and 3 */
    SLC_MDF_HASHED_FROM = 16,
    SLC_MDF_BANKS = 1, /* data types of version 3 */
    SLC_MDF_MEP = 2,
    SLC_MDF_BLOCK_HEADER = 9,
    SLC_MDF_BLOCK_MAX = 0xffffff,
    SLC_MDF_LAST_ZIP = 9 /* compression ids 1 … 9 are ROOT's levels */
};

typedef struct slc_mdf_header {
    uint32_t size[3]; /* as they stand in the record */
    uint32_t record_size;
    uint32_t checksum;
    uint32_t header_size;
    uint8_t compression; /* the low nibble */
    uint8_t version;
    uint8_t data_type; /* SLC_MDF_BANKS for versions that do not tell */
    bool sizes_agree;
    uint32_t run, orbit, bunch; /* of the sub-header, where header_size says that there is one */
} slc_mdf_header;

typedef enum slc_mdf_verdict {
    SLC_MDF_GOOD = 0,
    SLC_MDF_SHORT,   /* fewer bytes than the header has */
    SLC_MDF_SIZES,   /* no two of the three sizes agree */
    SLC_MDF_RANGE,   /* smaller than the header, or larger than `limit` */
    SLC_MDF_VERSION, /* record_size holds, the rest cannot be known */
} slc_mdf_verdict;

/* Reads a header from the `size` bytes at hand. */
slc_mdf_verdict slc_mdf_header_read(const uint8_t *bytes, size_t size, size_t limit, slc_mdf_header *header);
/* Strict: a good header that is followed by what must follow. For finding a record in the middle of bytes;
 * the payload of a record is hardly ever taken for one except by malice. */
bool slc_mdf_header_plausible(const uint8_t *bytes, size_t size, size_t limit);
/* A header of version 3 that has lost its sizes, and nothing else: a record that cannot be read, but counts.
 */
bool slc_mdf_header_ruined(const uint8_t *bytes, size_t size, size_t limit);
/* Bytes that these two want to see. */
enum { SLC_MDF_PLAUSIBLE = SLC_MDF_HEADER + 4 };

/* Jenkins' one-at-a-time hash over `size` bytes taken as signed characters. */
uint32_t slc_mdf_checksum(const uint8_t *bytes, size_t size);
/* The same in steps: from 0, over as many pieces as there are, to the end. Many records at once:
 * io_mdf_hash.h. */
uint32_t slc_mdf_hash(uint32_t hash, const uint8_t *bytes, size_t size);
uint32_t slc_mdf_hash_end(uint32_t hash);

/* The size that a sequence of compressed blocks says it expands to. SLC_ERR_FORMAT with *why where the blocks
 * do not fill `size`, claim more than their bytes can hold or more than `limit`, or are of an unknown kind.
 */
slc_status slc_mdf_blocks_size(const uint8_t *bytes, size_t size, size_t limit, size_t *expanded,
                               const char **why);
/* Expands them into `out`, which has that size. `zip` has been through inflateInit. */
slc_status slc_mdf_blocks_expand(z_stream *zip, const uint8_t *bytes, size_t size, uint8_t *out,
                                 const char **why);

/* Appends a whole record, header and all, as it is. */
struct slc_io_mdf_writer;
slc_status slc_mdf_write_record(struct slc_io_mdf_writer *writer, const void *record, size_t size,
                                slc_error *error);

#endif
