/* SPDX-License-Identifier: Apache-2.0
 * Counting what is wrong with detector data, and remembering the first few places. */
#include <sluice/base.h>

#include <string.h>

static const struct {
    const char *name, *text;
} codes[SLC_FAULT_CODES] = {
    [SLC_FAULT_RECORD_HEADER] = {"record_header", "no record header here; bytes skipped up to the next one"},
    [SLC_FAULT_RECORD_SIZE] = {"record_size",
                               "one of the three copies of the record size differs; majority used"},
    [SLC_FAULT_RECORD_TRUNCATED] = {"record_truncated", "the stream ends inside a record"},
    [SLC_FAULT_RECORD_CHECKSUM] = {"record_checksum", "the record's checksum does not match; event dropped"},
    [SLC_FAULT_RECORD_COMPRESSION] = {"record_compression",
                                      "the record cannot be decompressed; event dropped"},
    [SLC_FAULT_RECORD_TYPE] = {"record_type", "the record does not hold raw banks; event dropped"},
    [SLC_FAULT_BANK_MAGIC] = {"bank_magic", "no bank magic 0xCBCB; bytes skipped up to the next bank"},
    [SLC_FAULT_BANK_SIZE] = {"bank_size", "a bank overruns its event; bytes skipped up to the next bank"},
    [SLC_FAULT_BANK_VERSION] = {"bank_version", "unknown bank version; bank dropped"},
    [SLC_FAULT_BANK_SOURCE] = {"bank_source", "source id outside the detector; bank dropped"},
    [SLC_FAULT_BANK_LENGTH] = {"bank_length", "the bank's length disagrees with its count; bank dropped"},
    [SLC_FAULT_BANK_DUPLICATE] = {"bank_duplicate", "a second bank of the same source; dropped"},
    [SLC_FAULT_SUPERPIXEL_ADDRESS] = {"superpixel_address",
                                      "super-pixel or cluster outside its sensor; dropped"},
    [SLC_FAULT_SUPERPIXEL_EMPTY] = {"superpixel_empty", "super-pixel without a pixel; dropped"},
    [SLC_FAULT_SUPERPIXEL_DUPLICATE] = {"superpixel_duplicate",
                                        "super-pixel address sent twice; patterns united"},
    [SLC_FAULT_SUPERPIXEL_HINT] = {"superpixel_hint",
                                   "isolated hint set though a neighbour is hit; hint ignored"},
    [SLC_FAULT_TRUTH] = {"truth", "truth bank cannot be read; event has no truth"},
    [SLC_FAULT_EVENT_CROSSINGS] = {"event_crossings", "several bunch crossings in one record; event dropped"},
    [SLC_FAULT_EVENT_NO_VP] = {"event_no_vp", "no VELO bank of a wanted type (63, 8 or 73) in the event"},
    [SLC_FAULT_EVENT_CROWDED] = {"event_crowded", "too many hits in a layer; tracks not searched"},
    [SLC_FAULT_EVENT_SHAPE] = {"event_shape", "not an event of this format; event dropped"},
    [SLC_FAULT_CMS_ROC_INVALID] = {"cms_roc_invalid", "error word 25, invalid ROC"},
    [SLC_FAULT_CMS_GAP] = {"cms_gap", "error word 26, gap"},
    [SLC_FAULT_CMS_DUMMY] = {"cms_dummy", "error word 27, dummy"},
    [SLC_FAULT_CMS_FIFO] = {"cms_fifo", "error word 28, FIFO nearly full"},
    [SLC_FAULT_CMS_TIMEOUT] = {"cms_timeout", "error word 29, time-out"},
    [SLC_FAULT_CMS_TBM_TRAILER] = {"cms_tbm_trailer", "error word 30, trailer of the token bit manager"},
    [SLC_FAULT_CMS_PKAM] = {"cms_pkam", "error word 30 with reset, PKAM (40)"},
    [SLC_FAULT_CMS_EVENT_NUMBER] = {"cms_event_number", "error word 31, event number"},
    [SLC_FAULT_CMS_CHANNEL] = {"cms_channel", "a link with nothing connected (35); word dropped"},
    [SLC_FAULT_CMS_ROC_ID] = {"cms_roc_id", "a chip that its link does not have (36); word dropped"},
    [SLC_FAULT_CMS_PIXEL] = {"cms_pixel", "a pixel outside of its chip or module (37); dropped"},
    [SLC_FAULT_CMS_ORDER] = {"cms_order", "chips of a link out of order (38); word kept"},
    [SLC_FAULT_CMS_HEADER] = {"cms_header", "no header, or of another source (32); fragment dropped"},
    [SLC_FAULT_CMS_TRAILER] = {"cms_trailer", "no trailer (33); fragment dropped"},
    [SLC_FAULT_CMS_LENGTH] = {"cms_length", "trailer's length is not the fragment's (34); fragment kept"},
    [SLC_FAULT_CMS_CRC] = {"cms_crc", "trailer tells of a wrong checksum (39); fragment kept"},
    [SLC_FAULT_CMS_EVENT] = {"cms_event", "a fragment's size or their number is wrong, or the event is cut"},
    [SLC_FAULT_CMS_MODULE_CROWDED] = {"cms_module_crowded",
                                      "more digis in a module than allowed; the others are in no cluster"},
    [SLC_FAULT_PET_MODULE] = {"pet_module", "a frame of no module of the scanner; dropped"},
    [SLC_FAULT_PET_UNIT] = {"pet_unit", "a frame of a unit that its module does not have; dropped"},
    [SLC_FAULT_PET_POSITION] = {"pet_position", "a frame from outside of its block; dropped"},
    [SLC_FAULT_PET_CLOCK] = {"pet_clock", "a frame of a time that no other agrees with; dropped"},
    [SLC_FAULT_PET_BLOCK] = {"pet_block", "a damaged block of a raw file; skipped up to the next good one"},
    [SLC_FAULT_PET_DATAGRAM] = {"pet_datagram",
                                "a datagram that is no whole number of frames; its tail was dropped"},
};

const char *slc_fault_name(slc_fault_code code)
{
    return (unsigned)code < SLC_FAULT_CODES ? codes[code].name : "unknown";
}

const char *slc_fault_text(slc_fault_code code)
{
    return (unsigned)code < SLC_FAULT_CODES ? codes[code].text : "unknown fault";
}

void slc_faults_reset(slc_faults *faults)
{
    memset(faults->count, 0, sizeof faults->count);
    faults->n_kept = 0;
}

void slc_faults_add(slc_faults *faults, slc_fault_code code, uint64_t event, int32_t module, uint64_t offset)
{
    faults->count[code]++;
    if (faults->n_kept < SLC_FAULTS_KEPT) {
        faults->kept[faults->n_kept++] = (slc_fault){
            .event = event, .offset = offset, .module = module, .code = code};
    }
}

void slc_faults_merge(slc_faults *into, const slc_faults *from)
{
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        into->count[i] += from->count[i];
    }
    for (uint32_t i = 0; i < from->n_kept && into->n_kept < SLC_FAULTS_KEPT; i++) {
        into->kept[into->n_kept++] = from->kept[i];
    }
}

uint64_t slc_faults_total(const slc_faults *faults)
{
    uint64_t total = 0;
    for (size_t i = 0; i < SLC_FAULT_CODES; i++) {
        total += faults->count[i];
    }
    return total;
}
