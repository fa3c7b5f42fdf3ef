/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the envelope of LHCb's Master Data Format, shared by reader and writer: record headers
 * and the checksum. docs/formats/mdf.md.
 */
#ifndef SLUICE_LHCB_RECORD_H
#define SLUICE_LHCB_RECORD_H

#include <sluice/base.h>

enum {
    SLC_MDF_FIXED = 20,  /* the header proper, and all of a version-2 header */
    SLC_MDF_HEADER = 48, /* with the sub-header of versions 1 and 3 */
    SLC_MDF_HASHED_FROM = 16,
    SLC_MDF_BANKS = 1, /* data types of version 3 */
    SLC_MDF_MEP = 2,
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
 * lhcb_checksum.h. */
uint32_t slc_mdf_hash(uint32_t hash, const uint8_t *bytes, size_t size);
uint32_t slc_mdf_hash_end(uint32_t hash);

#endif
