/* SPDX-License-Identifier: Apache-2.0
 * Headers of MDF records, and their checksum byte after byte. */
#include "lhcb/lhcb_record.h"

#include "base/bytes.h"
#include <sluice/lhcb.h>

#include <string.h>

static bool majority(slc_mdf_header *header)
{
    const uint32_t *size = header->size;
    header->sizes_agree = size[0] == size[1] && size[0] == size[2];
    header->record_size = size[0] == size[1] || size[0] == size[2] ? size[0] : size[1];
    return header->sizes_agree || size[0] == size[1] || size[0] == size[2] || size[1] == size[2];
}

slc_mdf_verdict slc_mdf_header_read(const uint8_t *bytes, size_t size, size_t limit, slc_mdf_header *header)
{
    *header = (slc_mdf_header){.header_size = SLC_MDF_FIXED};
    if (size < SLC_MDF_FIXED) {
        return SLC_MDF_SHORT;
    }
    for (size_t i = 0; i < 3; i++) {
        header->size[i] = slc_load_u32(bytes + 4 * i);
    }
    header->checksum = slc_load_u32(bytes + 12);
    header->compression = bytes[16] & 15;
    header->version = bytes[17] >> 4;
    header->data_type = header->version == 3 ? bytes[18] : SLC_MDF_BANKS;
    if (!majority(header)) {
        return SLC_MDF_SIZES;
    }
    if (header->record_size < SLC_MDF_FIXED || header->record_size > limit) {
        return SLC_MDF_RANGE;
    }
    /* Versions 1 and 3 say how long their sub-header is; there is one kind of it. */
    const bool long_header = (header->version == 1 || header->version == 3) && (bytes[17] & 15) == 7;
    if (!long_header && header->version != 2) {
        return SLC_MDF_VERSION;
    }
    header->header_size = long_header ? SLC_MDF_HEADER : SLC_MDF_FIXED;
    if (header->record_size < header->header_size) {
        return SLC_MDF_RANGE;
    }
    if (size < header->header_size) {
        return SLC_MDF_SHORT;
    }
    if (long_header) {
        header->run = slc_load_u32(bytes + 36);
        header->orbit = slc_load_u32(bytes + 40);
        header->bunch = slc_load_u32(bytes + 44);
    }
    return SLC_MDF_GOOD;
}

static bool is_letter(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

/* Whether the first two bytes after the header are those of what must follow. */
static bool payload_begins(const uint8_t *bytes, size_t size, const slc_mdf_header *header)
{
    const uint8_t *payload = bytes + header->header_size;
    if (size < (size_t)header->header_size + 2) {
        return false;
    }
    return header->compression == 0 ? slc_load_u16(payload) == SLC_LHCB_BANK_MAGIC
                                    : is_letter(payload[0]) && (is_letter(payload[1]) || payload[1] == '4');
}

bool slc_mdf_header_plausible(const uint8_t *bytes, size_t size, size_t limit)
{
    slc_mdf_header header;
    /* A cheap look first: this is asked of every byte after damage. */
    if (size < SLC_MDF_FIXED || bytes[19] != 0 || (bytes[17] >> 4) - 1U > 2) {
        return false;
    }
    if (slc_mdf_header_read(bytes, size, limit, &header) != SLC_MDF_GOOD ||
        header.compression > SLC_MDF_LAST_ZIP || header.data_type != SLC_MDF_BANKS) {
        return false;
    }
    /* A short header has less to recognise it by. */
    if (header.header_size == SLC_MDF_FIXED && !header.sizes_agree) {
        return false;
    }
    return header.record_size == header.header_size || payload_begins(bytes, size, &header);
}

bool slc_mdf_header_ruined(const uint8_t *bytes, size_t size, size_t limit)
{
    static const uint8_t long_version_3[] = {0x37, SLC_MDF_BANKS, 0}; /* bytes 17 to 19 */
    slc_mdf_header header;
    if (size < SLC_MDF_HEADER || memcmp(bytes + 17, long_version_3, sizeof long_version_3) != 0) {
        return false;
    }
    const slc_mdf_verdict verdict = slc_mdf_header_read(bytes, size, limit, &header);
    header.header_size = SLC_MDF_HEADER;
    return (verdict == SLC_MDF_SIZES || verdict == SLC_MDF_RANGE) && header.compression <= SLC_MDF_LAST_ZIP &&
           payload_begins(bytes, size, &header);
}

static inline uint32_t mix(uint32_t h, uint8_t byte)
{
    h += (byte ^ 0x80U) - 0x80U; /* the sign is extended */
    h += h << 10;
    return h ^ h >> 6;
}

uint32_t slc_mdf_hash(uint32_t h, const uint8_t *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        h = mix(h, bytes[i]);
    }
    return h;
}

uint32_t slc_mdf_hash_end(uint32_t h)
{
    h += h << 3;
    h ^= h >> 11;
    return h + (h << 15);
}

uint32_t slc_mdf_checksum(const uint8_t *bytes, size_t size)
{
    return slc_mdf_hash_end(slc_mdf_hash(0, bytes, size));
}
