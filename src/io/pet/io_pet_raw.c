/* SPDX-License-Identifier: Apache-2.0
 *
 * Heads of raw files and of their blocks, and the hash over them. XXH64 was chosen because it runs at the
 * speed of memory in plain C, so that checking every byte costs an acquisition next to nothing, and because
 * other programs have it: Y. Collet, "xxHash fast digest algorithm", version 0.1.1, from which this was
 * written.
 */
#include "io/pet/io_pet_raw.h"
#include "lhcb/lhcb_record.h"

#include <string.h>

const uint8_t slc_io_pet_raw_magic[8] = {0x89, 'S', 'L', 'C', 'P', 'E', 'T', '\n'};
const uint8_t slc_io_pet_block_magic[4] = {0x9e, 'S', 'P', 'B'};

enum { VERSION = 1, VERSION_WITH_FORMAT = 2, BIG_ENDIAN_FLAG = 1, STAMPED_FLAG = 2 };

/* ---- XXH64 ------------------------------------------------------------------------------------- */

#define P1 UINT64_C(11400714785074694791)
#define P2 UINT64_C(14029467366897019727)
#define P3 UINT64_C(1609587929392839161)
#define P4 UINT64_C(9650029242287828579)
#define P5 UINT64_C(2870177450012600261)

static inline uint64_t turn(uint64_t x, int by)
{
    return x << by | x >> (64 - by);
}

static inline uint64_t step(uint64_t lane, uint64_t word)
{
    return turn(lane + word * P2, 31) * P1;
}

static inline uint64_t join(uint64_t hash, uint64_t lane)
{
    return (hash ^ step(0, lane)) * P1 + P4;
}

/* Four lanes over stripes of 32 bytes. */
static uint64_t stripes(const uint8_t *bytes, size_t size)
{
    uint64_t a = P1 + P2, b = P2, c = 0, d = 0 - P1;
    for (; size >= 32; size -= 32, bytes += 32) {
        a = step(a, slc_load_u64(bytes));
        b = step(b, slc_load_u64(bytes + 8));
        c = step(c, slc_load_u64(bytes + 16));
        d = step(d, slc_load_u64(bytes + 24));
    }
    uint64_t hash = turn(a, 1) + turn(b, 7) + turn(c, 12) + turn(d, 18);
    hash = join(hash, a);
    hash = join(hash, b);
    hash = join(hash, c);
    return join(hash, d);
}

uint64_t slc_io_pet_raw_hash(const uint8_t *bytes, size_t size)
{
    uint64_t hash = (size >= 32 ? stripes(bytes, size) : P5) + size;
    size_t i = size / 32 * 32;
    for (; i + 8 <= size; i += 8) {
        hash = turn(hash ^ step(0, slc_load_u64(bytes + i)), 27) * P1 + P4;
    }
    for (; i + 4 <= size; i += 4) {
        hash = turn(hash ^ slc_load_u32(bytes + i) * P1, 23) * P2 + P3;
    }
    for (; i < size; i++) {
        hash = turn(hash ^ bytes[i] * P5, 11) * P1;
    }
    hash = (hash ^ hash >> 33) * P2;
    hash = (hash ^ hash >> 29) * P3;
    return hash ^ hash >> 32;
}

bool slc_io_pet_is_hdf5(const uint8_t *bytes)
{
    static const uint8_t magic[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    return memcmp(bytes, magic, sizeof magic) == 0;
}

/* ---- blocks ------------------------------------------------------------------------------------ */

void slc_io_pet_block_begin(uint8_t *at, const slc_io_pet_block *block)
{
    memset(at, 0, SLC_PET_RAW_BLOCK);
    memcpy(at, slc_io_pet_block_magic, sizeof slc_io_pet_block_magic);
    slc_store_u16(at + 4, block->header_bytes);
    slc_store_u16(at + 6, block->socket);
    slc_store_u64(at + 8, block->time_ns);
    slc_store_u32(at + 24, block->payload);
    slc_store_u16(at + 28, block->datagram);
    slc_store_u16(at + 30, block->record);
}

bool slc_io_pet_block_is_good(const uint8_t *at)
{
    const slc_io_pet_block b = slc_io_pet_block_of(at);
    return memcmp(at, slc_io_pet_block_magic, sizeof slc_io_pet_block_magic) == 0 && b.payload > 0 &&
           b.payload <= SLC_PET_RAW_MOST && b.datagram > 0 && b.header_bytes <= SLC_PET_RAW_MOST_HEADER &&
           slc_load_u64(at + 40) == slc_io_pet_raw_hash(at, 40);
}

static uint64_t frames_of(const slc_io_pet_block *block, uint32_t size)
{
    const uint32_t header = block->header_bytes, record = block->record;
    return size > header ? (size - header) / (record > 0 ? record : SLC_PET_FRAME_BYTES) : 0;
}

uint64_t slc_io_pet_block_frames(const slc_io_pet_block *block)
{
    const uint32_t whole = block->payload / block->datagram, rest = block->payload % block->datagram;
    return whole * frames_of(block, block->datagram) + frames_of(block, rest);
}

uint64_t slc_io_pet_received(const slc_io_pet_payload *p, const uint8_t *datagram, uint32_t size,
                             uint64_t time_ns)
{
    const uint64_t most = UINT64_C(60) * 1000000000;
    const uint64_t stamp = p->stamped && size >= SLC_IO_PET_STAMP ? slc_load_u64(datagram) : time_ns;
    return stamp - time_ns <= most || time_ns - stamp <= most ? stamp : time_ns;
}

/* ---- files ------------------------------------------------------------------------------------- */

slc_status slc_io_pet_payload_check(const slc_io_pet_payload *p, slc_error *error)
{
    if (p->header_bytes > SLC_PET_RAW_MOST_HEADER) {
        return slc_fail(error, SLC_ERR_USAGE, "a header of %u bytes before the frames: %d at most",
                        p->header_bytes, (int)SLC_PET_RAW_MOST_HEADER);
    }
    if (p->sequence_bytes != 0 && p->sequence_bytes != 4 && p->sequence_bytes != 8) {
        return slc_fail(error, SLC_ERR_USAGE, "a sequence counter of %u bytes: it has 4 or 8",
                        p->sequence_bytes);
    }
    if (p->sequence_at > p->header_bytes || p->header_bytes - p->sequence_at < p->sequence_bytes) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a sequence counter of %u bytes at %u is not inside a header of %u bytes",
                        p->sequence_bytes, p->sequence_at, p->header_bytes);
    }
    if (p->stamped && (p->header_bytes < SLC_IO_PET_STAMP ||
                       (p->sequence_bytes > 0 && p->sequence_at < SLC_IO_PET_STAMP))) {
        return slc_fail(error, SLC_ERR_USAGE, "a header of %u bytes has no room for a time before the rest",
                        p->header_bytes);
    }
    return SLC_OK;
}

void slc_io_pet_raw_head_store(uint8_t at[SLC_PET_RAW_HEAD], const slc_io_pet_raw_head *head)
{
    memset(at, 0, SLC_PET_RAW_HEAD);
    memcpy(at, slc_io_pet_raw_magic, sizeof slc_io_pet_raw_magic);
    slc_store_u32(at + 8, head->format_bytes > 0 ? VERSION_WITH_FORMAT : VERSION);
    slc_store_u32(at + 12, head->file);
    slc_store_u64(at + 16, head->series);
    slc_store_u64(at + 24, head->started_ns);
    slc_store_u16(at + 32, (uint16_t)head->payload.header_bytes);
    slc_store_u16(at + 34, (uint16_t)head->payload.sequence_at);
    at[36] = (uint8_t)head->payload.sequence_bytes;
    at[37] = (uint8_t)((head->payload.sequence_big_endian ? BIG_ENDIAN_FLAG : 0) |
                       (head->payload.stamped ? STAMPED_FLAG : 0));
    slc_store_u32(at + 40, head->format_bytes);
    slc_store_u64(at + 48, head->format_hash);
    slc_store_u64(at + 56, slc_io_pet_raw_hash(at, 56));
}

slc_status slc_io_pet_raw_head_load(const uint8_t at[SLC_PET_RAW_HEAD], slc_io_pet_raw_head *head)
{
    *head = (slc_io_pet_raw_head){
        .file = slc_load_u32(at + 12),
        .series = slc_load_u64(at + 16),
        .started_ns = slc_load_u64(at + 24),
        .payload = {.header_bytes = slc_load_u16(at + 32),
                    .sequence_at = slc_load_u16(at + 34),
                    .sequence_bytes = at[36],
                    .sequence_big_endian = (at[37] & BIG_ENDIAN_FLAG) != 0,
                    .stamped = (at[37] & STAMPED_FLAG) != 0},
    };
    if (slc_load_u64(at + 56) != slc_io_pet_raw_hash(at, 56)) {
        return SLC_ERR_FORMAT;
    }
    const uint32_t version = slc_load_u32(at + 8);
    if (version == VERSION_WITH_FORMAT) {
        head->format_bytes = slc_load_u32(at + 40);
        head->format_hash = slc_load_u64(at + 48);
        if (head->format_bytes == 0 || head->format_bytes > SLC_PET_FORMAT_BYTES) {
            return SLC_ERR_FORMAT;
        }
    } else if (version != VERSION) {
        return SLC_ERR_UNSUPPORTED;
    }
    return slc_io_pet_payload_check(&head->payload, NULL) == SLC_OK ? SLC_OK : SLC_ERR_FORMAT;
}

/* Files that lie beside raw data, and begin with what no frame would: bare frames may be anything else. */
const char *slc_io_pet_raw_stranger(const uint8_t *bytes, size_t n)
{
    static const struct {
        size_t at, size;
        const uint8_t *magic;
        const char *text;
    } strangers[] = {{0, 8, (const uint8_t *)"\x89HDF\r\n\x1a\n", "an HDF5 file"},
                     {0, 8, slc_io_pet_raw_index_magic, "the index of a raw file"},
                     {0, 8, slc_io_pet_singles_magic, "a file of singles"},
                     {0, 8, (const uint8_t *)"\x89PNG\r\n\x1a\n", "a PNG image"},
                     {0, 8, (const uint8_t *)"ARROW1\0\0", "an Arrow file"},
                     {0, 7, (const uint8_t *)"\x93NUMPY\1", "an NPY file"},
                     {5, 14, (const uint8_t *)" CListModeData", "a list-mode file of coincidences"},
                     {0, 10, (const uint8_t *)"!INTERFILE", "an Interfile header"},
                     {0, 13, (const uint8_t *)"Scanner name:", "a header of CASToR"}};
    for (size_t i = 0; i < sizeof strangers / sizeof *strangers; i++) {
        if (n >= strangers[i].at + strangers[i].size &&
            memcmp(bytes + strangers[i].at, strangers[i].magic, strangers[i].size) == 0) {
            return strangers[i].text;
        }
    }
    slc_mdf_header header;
    return slc_mdf_header_read(bytes, n, 64 << 20, &header) == SLC_MDF_GOOD && header.sizes_agree
               ? "a file of LHCb's events (MDF)"
               : NULL;
}
