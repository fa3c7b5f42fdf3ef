/* SPDX-License-Identifier: Apache-2.0
 *
 * Writing MDF: version-3 records of raw banks with a checksum, plain or in ROOT's 'ZL' blocks. What a record
 * does not say by itself (the event's number) is in the caller's ODIN bank. Packets: io_mep_write.c.
 */
#include "base/bytes.h"
#include "io/io_output.h"
#include "io/lhcb/io_mdf_blocks.h"
#include "io/lhcb/io_mep_write.h"
#include "lhcb/lhcb_identity.h"
#include "lhcb/lhcb_packet.h"
#include <sluice/io.h>

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* zlib's fastest: the sample files use it too, and raw banks shrink little more with a higher one. */
enum { ZIP_LEVEL = 1 };

typedef struct mdf_writer {
    slc_io_writer writer;
    slc_io_mdf_config config;
    slc_mep_packer *packer; /* NULL: records */
    uint8_t *record;        /* scratch for one record */
    size_t capacity;
} mdf_writer;

static slc_status end(slc_io_writer *writer, bool commit, slc_error *error)
{
    mdf_writer *own = (mdf_writer *)writer;
    slc_status status = SLC_OK;
    if (commit && own->packer != NULL) {
        status = slc_mep_packer_flush(own->packer, writer, error);
    }
    slc_mep_packer_close(own->packer);
    free(own->record);
    return status;
}

slc_status slc_io_mdf_create(const char *path, const slc_io_mdf_config *config, slc_io_writer **writer,
                             slc_error *error)
{
    const slc_io_mdf_config wanted = config != NULL ? *config : (slc_io_mdf_config){.compress = false};
    slc_mep_packer *packer = NULL;
    *writer = NULL;
    if (wanted.packing > SLC_PACKET_EVENTS) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: a packet has at most %d events, not %u", path,
                        SLC_PACKET_EVENTS, wanted.packing);
    }
    if (wanted.packing > 0 && (packer = slc_mep_packer_open(&wanted, 0)) == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for packets", path);
    }
    const slc_status status = slc_io_writer_open(sizeof(mdf_writer), path, false, writer, error);
    if (status != SLC_OK) {
        slc_mep_packer_close(packer);
        return status;
    }
    mdf_writer *own = (mdf_writer *)*writer;
    own->writer.end = end;
    own->config = wanted;
    own->packer = packer;
    return SLC_OK;
}

/* Room for the header and the banks in the worst case of their compression. */
static bool reserve(mdf_writer *writer, size_t size)
{
    const size_t blocks = size / SLC_MDF_BLOCK_MAX + 1;
    const size_t need = SLC_MDF_HEADER + compressBound((uLong)size) + blocks * (SLC_MDF_BLOCK_HEADER + 64);
    if (need > writer->capacity) {
        uint8_t *larger = realloc(writer->record, need);
        if (larger == NULL) {
            return false;
        }
        writer->record = larger;
        writer->capacity = need;
    }
    return true;
}

static void store_u24(uint8_t *at, size_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
    at[2] = (uint8_t)(value >> 16);
}

/* Writes blocks at `out`; returns their bytes, or 0 where they would not be smaller than the banks. */
static size_t pack(const uint8_t *banks, size_t size, uint8_t *out, size_t capacity)
{
    size_t used = 0;
    for (size_t at = 0; at < size;) {
        const size_t piece = size - at < SLC_MDF_BLOCK_MAX ? size - at : SLC_MDF_BLOCK_MAX;
        uint8_t *block = out + used;
        uLongf packed = (uLongf)(capacity - used - SLC_MDF_BLOCK_HEADER);
        if (compress2(block + SLC_MDF_BLOCK_HEADER, &packed, banks + at, (uLong)piece, ZIP_LEVEL) != Z_OK ||
            packed >= piece) {
            return 0;
        }
        block[0] = 'Z';
        block[1] = 'L';
        block[2] = Z_DEFLATED;
        store_u24(block + 3, packed);
        store_u24(block + 6, piece);
        used += SLC_MDF_BLOCK_HEADER + packed;
        at += piece;
    }
    return used < size ? used : 0;
}

/* `of`: run, orbit and bunch crossing. */
static void fill_header(uint8_t *record, uint32_t record_size, uint8_t compression, const slc_record *of)
{
    memset(record, 0, SLC_MDF_HEADER);
    for (size_t i = 0; i < 3; i++) {
        slc_store_u32(record + 4 * i, record_size);
    }
    record[16] = compression;
    record[17] = 0x37; /* version 3, a sub-header of seven words */
    record[18] = SLC_MDF_BANKS;
    for (size_t i = 0; i < 4; i++) {
        slc_store_u32(record + 20 + 4 * i, 0xffffffffU); /* passed every trigger line */
    }
    slc_store_u32(record + 36, of->run);
    slc_store_u32(record + 40, of->orbit);
    slc_store_u32(record + 44, of->bunch);
    slc_store_u32(record + 12,
                  slc_mdf_checksum(record + SLC_MDF_HASHED_FROM, record_size - SLC_MDF_HASHED_FROM));
}

slc_status slc_io_mdf_write(slc_io_writer *to, const void *banks, size_t size, slc_error *error)
{
    mdf_writer *writer = (mdf_writer *)to;
    const char *path = to->output.path;
    if (writer->packer != NULL) {
        return slc_mep_packer_add(writer->packer, to, banks, size, error);
    }
    if (size > INT32_MAX) {
        return slc_fail(error, SLC_ERR_USAGE, "%s: an event of %zu bytes does not fit a record", path, size);
    }
    if (!reserve(writer, size)) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for an event of %zu bytes", path, size);
    }
    uint8_t *payload = writer->record + SLC_MDF_HEADER;
    size_t used = writer->config.compress ? pack(banks, size, payload, writer->capacity - SLC_MDF_HEADER) : 0;
    uint8_t compression = 0;
    if (used > 0) {
        /* The high nibble helps readers that must guess how much room the banks take. */
        const size_t factor = (size + used - 1) / used;
        compression = (uint8_t)(ZIP_LEVEL | (factor < 16 ? factor - 1 : 15) << 4);
    } else if (size > 0) {
        memcpy(payload, banks, size);
        used = size;
    }
    const size_t record_size = SLC_MDF_HEADER + used;
    slc_record of = {.run = writer->config.run_number};
    if (of.run == 0) {
        slc_lhcb_identity_of(banks, size, &of);
    }
    fill_header(writer->record, (uint32_t)record_size, compression, &of);
    return slc_io_writer_put(writer, writer->record, record_size, error);
}
