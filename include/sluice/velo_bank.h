/* SPDX-License-Identifier: Apache-2.0
 *
 * LHCb raw banks: the envelope in which every sub-detector's data travel inside an event. An 8-byte
 * little-endian header (u16 magic 0xCBCB, u16 length including the header but not the padding, u8 type, u8
 * version, i16 source), the payload, up to 3 bytes of padding to a multiple of 4.
 * docs/formats/lhcb-raw-banks.md.
 */
#ifndef SLUICE_VELO_BANK_H
#define SLUICE_VELO_BANK_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLC_BANK_MAGIC = 0xCBCB,
    SLC_BANK_HEADER = 8,
    SLC_BANK_MAX_PAYLOAD = 65535 - 8,
    SLC_BANK_VELO = 8,
    SLC_BANK_DAQ = 15,
    SLC_BANK_ODIN = 16,
    SLC_BANK_MC_TRACKS = 32,
    SLC_BANK_MC_VERTICES = 33,
    SLC_BANK_TAE = 48,
    SLC_BANK_VP = 63,
    SLC_BANK_VP_RETINA = 73
};

typedef struct slc_bank {
    const uint8_t *payload; /* borrowed from the event's bytes */
    uint32_t size;          /* bytes of payload */
    uint8_t type;
    uint8_t version;
    int16_t source;
    size_t offset; /* of the bank's header inside the event */
} slc_bank;

/* Walks over the banks of one event: zero `at`, then call until it returns SLC_END. SLC_ERR_FORMAT where the
 * bytes stop being banks; *fault (may be NULL) then holds the code and cursor->at the offset. Reads nothing
 * beyond `size`. */
typedef struct slc_bank_cursor {
    const uint8_t *bytes;
    size_t size;
    size_t at;
} slc_bank_cursor;
SLC_API slc_status slc_bank_next(slc_bank_cursor *cursor, slc_bank *bank, slc_fault_code *fault);

/* After damage: moves the cursor behind its place to the next offset (a multiple of 4) where a bank can begin
 * that fits and is followed by another one or by the end of the event; to the end where there is none. */
SLC_API void slc_bank_resume(slc_bank_cursor *cursor);

/* Writes one bank with its padding at `out`, which has `capacity` bytes. Returns the bytes written, or 0 if
 * it does not fit or the payload is larger than SLC_BANK_MAX_PAYLOAD. */
SLC_API size_t slc_bank_write(uint8_t *out, size_t capacity, uint8_t type, uint8_t version, int16_t source,
                              const void *payload, size_t size);
/* The bytes that slc_bank_write needs for such a payload. */
SLC_API size_t slc_bank_bound(size_t size);

/* Word for a bank type ("VP", "ODIN"), NULL for one that is not known. */
SLC_API const char *slc_bank_type_name(uint8_t type);

#ifdef __cplusplus
}
#endif
#endif
