/* SPDX-License-Identifier: Apache-2.0
 *
 * What is LHCb's and not one detector's: raw banks, and which event it is. docs/formats/lhcb-raw-banks.md.
 */
#ifndef SLUICE_LHCB_H
#define SLUICE_LHCB_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Faults of raw banks. `module` is the bank's source id, -1 where there is none; `offset` is inside the
 * event. */
#define SLC_FAULT_OF_LHCB(n) SLC_FAULT_CODE('l', 'h', 'c', n)
enum {
    SLC_FAULT_BANK_MAGIC = SLC_FAULT_OF_LHCB(
        1), /* no 0xCBCB where a bank must begin: bytes skipped up to the next bank */
    SLC_FAULT_BANK_SIZE = SLC_FAULT_OF_LHCB(
        2), /* a bank that overruns its event: bytes skipped up to the next bank */
    SLC_FAULT_BANK_VERSION = SLC_FAULT_OF_LHCB(
        3),                                       /* a version that cannot be decoded: the bank was dropped */
    SLC_FAULT_BANK_SOURCE = SLC_FAULT_OF_LHCB(4), /* a source id outside the detector: the bank was dropped */
    SLC_FAULT_BANK_LENGTH = SLC_FAULT_OF_LHCB(
        5), /* the payload's length does not agree with its count: the bank was dropped */
    SLC_FAULT_BANK_DUPLICATE = SLC_FAULT_OF_LHCB(6), /* a second bank of the same source: dropped */
};

/* ---- raw banks ---------------------------------------------------------------------------------- */

/* The envelope in which every sub-detector's data travel inside an event: an 8-byte little-endian header (u16
 * magic 0xCBCB, u16 length including the header but not the padding, u8 type, u8 version, i16 source), the
 * payload, up to 3 bytes of padding to a multiple of 4. */
enum {
    SLC_LHCB_BANK_MAGIC = 0xCBCB,
    SLC_LHCB_BANK_HEADER = 8,
    SLC_LHCB_BANK_MAX_PAYLOAD = 65535 - 8,
    SLC_LHCB_BANK_VELO = 8,
    SLC_LHCB_BANK_MUON = 13,
    SLC_LHCB_BANK_DAQ = 15,
    SLC_LHCB_BANK_ODIN = 16,
    SLC_LHCB_BANK_MC_TRACKS = 32,
    SLC_LHCB_BANK_MC_VERTICES = 33,
    SLC_LHCB_BANK_TAE = 48,
    SLC_LHCB_BANK_VP = 63,
    SLC_LHCB_BANK_SCIFI = 64,
    SLC_LHCB_BANK_UT = 66,
    SLC_LHCB_BANK_VP_RETINA = 73,
    SLC_LHCB_BANK_SLUICE = 240 /* our own: decisions (velo_select.h) */
};

typedef struct slc_lhcb_bank {
    const uint8_t *payload; /* borrowed from the event's bytes */
    uint32_t size;          /* bytes of payload */
    uint8_t type;
    uint8_t version;
    int16_t source;
    size_t offset; /* of the bank's header inside the event */
} slc_lhcb_bank;

/* Walks over the banks of one event: zero `at`, then call until it returns SLC_END. SLC_ERR_FORMAT where the
 * bytes stop being banks; *fault (may be NULL) then holds the code and cursor->at the offset. Reads nothing
 * beyond `size`.
 *
 * An event of a scattered batch (slc_batch.scattered: it came in a packet of many events) has no banks one
 * after the other: `bytes` are references, and payloads lie in the blocks of their sources, in `blocks`. Its
 * banks have the offsets that they would have one after the other. SLC_LHCB_BANKS_OF makes a cursor for an
 * event of either kind. */
typedef struct slc_lhcb_bank_cursor {
    const uint8_t *bytes;
    size_t size;
    size_t at;
    const uint8_t *blocks; /* NULL: not scattered */
    size_t blocks_size;
    size_t offset; /* of the next bank, if scattered */
} slc_lhcb_bank_cursor;
#define SLC_LHCB_BANKS_OF(batch, event)                                                                      \
    {                                                                                                        \
        (batch)->length[event] > 0 ? (batch)->bytes + (batch)->offset[event] : NULL, (batch)->length[event], \
            0, (batch)->scattered ? (batch)->bytes : NULL, (batch)->size, 0                                  \
    }
SLC_API slc_status slc_lhcb_bank_next(slc_lhcb_bank_cursor *cursor, slc_lhcb_bank *bank,
                                      slc_fault_code *fault);

/* Writes one bank with its padding at `out`, which has `capacity` bytes. Returns the bytes written, or 0 if
 * it does not fit or the payload is larger than SLC_LHCB_BANK_MAX_PAYLOAD. */
SLC_API size_t slc_lhcb_bank_write(uint8_t *out, size_t capacity, uint8_t type, uint8_t version,
                                   int16_t source, const void *payload, size_t size);
/* The bytes that slc_lhcb_bank_write needs for such a payload. */
SLC_API size_t slc_lhcb_bank_bound(size_t size);

/* Word for a bank type ("VP", "ODIN"), NULL for one that is not known. */
SLC_API const char *slc_lhcb_bank_type_name(uint8_t type);

/* ---- which event it is -------------------------------------------------------------------------- */

/* The run, the number and the bunch crossing that LHCb's readout supervisor (ODIN) gave to an event, and the
 * place where the event stands in its input; and what else ODIN's bank (type 16, versions 6 and 7) says of
 * the crossing. Where each of these is in its words: docs/formats/lhcb-raw-banks.md. */

/* Who told run, event and bunch crossing. */
typedef enum slc_lhcb_identity_from {
    SLC_LHCB_IDENTITY_NONE = 0,   /* nobody: the three are 0 */
    SLC_LHCB_IDENTITY_ODIN = 1,   /* the first ODIN bank of version 6 or 7 with all its words */
    SLC_LHCB_IDENTITY_HEADER = 2, /* the record's header, which has no event number: `event` is the orbit */
    SLC_LHCB_IDENTITY_SOURCES
} slc_lhcb_identity_from;
/* "none", "odin", "header". */
SLC_API const char *slc_lhcb_identity_name(slc_lhcb_identity_from from);

/* One row an event. `input` is the caller's number of the input; `record` counts the records (of a list of
 * hits: the events) of that input from 0, damaged ones included; `offset_bytes` is where the record begins in
 * it. From `orbit` on it is ODIN's (`orbit` also the header's), 0 where nobody tells or its version has no
 * such thing: `gps_time_us` in µs, `tck` the trigger's configuration key, `partition` of version 7 alone.
 * `faults` counts what is wrong with the event's data, and is whoever's that finds it: 0 at first. `bytes` of
 * its banks, expanded. `missing`: sources of a packet that the event lost to damage. */
typedef struct slc_lhcb_events {
    slc_columns head;
    uint32_t *run;
    uint64_t *event;
    uint16_t *bcid;
    uint32_t *input;
    uint64_t *record;
    uint64_t *offset_bytes;
    uint8_t *identity_from; /* slc_lhcb_identity_from */
    uint32_t *orbit;
    uint64_t *gps_time_us;
    uint32_t *tck;
    uint32_t *partition;
    uint16_t *event_type; /* bits */
    uint16_t *calibration_step;
    uint8_t *crossing_type; /* 0 no beam, 1 and 2 one of them alone, 3 both */
    uint8_t *trigger_type;
    uint8_t *calibration_type;
    uint32_t *faults;
    uint32_t *bytes;
    uint32_t *missing;
} slc_lhcb_events;
SLC_API extern const slc_schema slc_lhcb_events_schema;

#ifdef __cplusplus
}
#endif
#endif
