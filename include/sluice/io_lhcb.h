/* SPDX-License-Identifier: Apache-2.0
 *
 * Files of LHCb: selections as JSON files (docs/formats/selection.md), files of the events that they accept,
 * settings of the VELO's chain (docs/formats/velo-config.md), and events built of what readout units have
 * (docs/formats/mep.md).
 */
#ifndef SLUICE_IO_LHCB_H
#define SLUICE_IO_LHCB_H

#include <sluice/io.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_select.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a selection. *error names file, line, column and what is wrong: no JSON, an unknown word, a wrong
 * type, a predicate that names itself by way of others, too many lines or cuts. */
SLC_API slc_status slc_io_select_read(const char *path, slc_velo_selection *selection, slc_error *error);

/* Reads a mask: text, a line "sensor column row" for each pixel, or JSON, a list or what `sluice velo
 * --monitor-pixels` writes, of which the hot pixels count. *error names file, line and what is wrong.
 * docs/formats/velo-mask.md */
SLC_API slc_status slc_io_velo_mask_read(const char *path, slc_velo_mask *mask, slc_error *error);

/* Writes accepted events as MDF: like slc_io_mdf_create and its companions, but that events are written as
 * they came. */
SLC_API slc_status slc_io_select_create(const char *path, slc_io_writer **writer, slc_error *error);
/* Event `event` of a batch that was read from the file `input`. Its record is
 * written byte for byte, with its header, compressed if it was: that of a regular file is read again, that of
 * a pipe or standard input ("-") must have been kept (slc_io_config.keep_records); if it was not, or if the
 * event came in a packet (MEP), the banks are written unchanged in a new record, with run, orbit and bunch
 * crossing of ODIN. SLC_ERR_FORMAT where `input` has no record there (any longer).
 *
 * `decision` NULL: nothing else. Otherwise it is appended as a raw bank, in a block of its own to a record
 * that is compressed; the record's sizes, and its checksum if it has one, are those of the longer record, all
 * other bytes are as they were. Its source is the number of such banks that the event has already. */
SLC_API slc_status slc_io_select_write(slc_io_writer *writer, const char *input, const slc_batch *batch,
                                       uint32_t event, const slc_velo_decision *decision, slc_error *error);

/* Settings of the VELO's chain from a JSON file: those that it names are put into *config, all others stay.
 * *error names file, line, column and what is wrong (SLC_ERR_FORMAT): no JSON, an unknown setting, a wrong
 * type, a value out of its limits, which are told; *config is then as it was. */
SLC_API slc_status slc_io_velo_config_read(const char *path, slc_velo_config *config, slc_error *error);
/* All settings as such a text, which the caller frees; read back, they are the same bits. SLC_ERR_USAGE, and
 * *text NULL, for a configuration out of range. */
SLC_API slc_status slc_io_velo_config_write(const slc_velo_config *config, char **text, slc_error *error);

/* ---- event building ---------------------------------------------------------------------------- */

/* Readout units have the fragments of their sources for packs of consecutive events: a multi-fragment packet
 * (MFP) for each source, one after the other. Faults of packs; `offset` is in the unit's bytes of the pack.
 */
enum {
    SLC_FAULT_PACK_LOST = SLC_FAULT_OF_IO(
        12), /* a source's packet did not come (module -1: nothing of the unit): the pack's events lack it */
    SLC_FAULT_PACK_LATE = SLC_FAULT_OF_IO(13),    /* the unit had it not in time: the pack's events lack it */
    SLC_FAULT_PACK_DOUBLED = SLC_FAULT_OF_IO(14), /* the same packet once more: dropped, nothing lacks */
    SLC_FAULT_PACK_TRUNCATED = SLC_FAULT_OF_IO(15), /* its end is missing: events lack what was there */
    SLC_FAULT_PACK_SOURCE = SLC_FAULT_OF_IO(16),    /* of a source that the unit has not: dropped */
    SLC_FAULT_PACK_EVENT = SLC_FAULT_OF_IO(17),     /* of other events: dropped */
    SLC_FAULT_PACK_HEADER = SLC_FAULT_OF_IO(18),    /* bytes that are no packet: dropped */
};

/* A packet of a source, or bytes that are none (`fault` SLC_FAULT_PACK_HEADER, and the rest 0). Of one whose
 * end is missing (SLC_FAULT_PACK_TRUNCATED) `here` bytes are there of `size`. */
typedef struct slc_io_mfp {
    size_t at, size, here;
    uint64_t event_id; /* of its first fragment */
    uint32_t n;        /* fragments */
    uint16_t source;
    uint8_t type; /* of the first fragment that is there; 0: none is */
    uint8_t version, align;
    slc_fault_code fault; /* SLC_FAULT_NONE: it is whole */
} slc_io_mfp;
/* The next one at *at or after it, over what fills up, and over heads of packets of many sources (MEP);
 * SLC_END after the last. Reads nothing beyond `size`. */
SLC_API slc_status slc_io_mfp_next(const uint8_t *bytes, size_t size, size_t *at, slc_io_mfp *mfp);

/* How many packets of a source a unit sends in every pack, and at most: detectors may share its number. */
typedef struct slc_io_mfp_source {
    uint16_t source, must, may;
} slc_io_mfp_source;

/* What came of a unit for a pack. */
typedef struct slc_io_mfp_unit {
    const slc_io_mfp_source *sources; /* by rising number */
    uint32_t n_sources;
    bool late;          /* it was not waited for: nothing came */
    size_t at, size;    /* of its bytes in the batch */
    slc_faults *faults; /* may be NULL */
} slc_io_mfp_unit;

typedef struct slc_io_mfp_pack {
    uint64_t event_id;    /* of its first event */
    uint64_t first_event; /* that event's number in the run, for faults */
    uint32_t n_events, n_units;
    const slc_io_mfp_unit *units;
    slc_faults *faults; /* what stands in the place of data (SLC_FAULT_PACKET_ERROR); may be NULL */
} slc_io_mfp_pack;
/* Builds the pack's events: `batch`, whose bytes (`size`) hold what came of the units, becomes a scattered
 * one of n_events. Banks of an event stand by source, ODIN first. Events that lack a source have
 * slc_record.missing, and *incomplete (may be NULL) grows by their number; simulation truth (types 32 and 33)
 * nobody misses. SLC_ERR_MEMORY alone is an error. */
SLC_API slc_status slc_io_mfp_build(const slc_io_mfp_pack *pack, slc_batch *batch, uint64_t *incomplete,
                                    slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
