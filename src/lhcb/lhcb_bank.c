/* SPDX-License-Identifier: Apache-2.0
 * LHCb raw banks: walking over them and writing them. */
#include "base/bytes.h"
#include "base/faults.h"
#include "lhcb/lhcb_packet.h"
#include "lhcb/lhcb_walk.h"

#include <string.h>

static slc_status stop(slc_fault_code *fault, slc_fault_code code)
{
    if (fault != NULL) {
        *fault = code;
    }
    return SLC_ERR_FORMAT;
}

/* References are the library's own, and still nothing outside the blocks is read. */
static slc_status next_reference(slc_lhcb_bank_cursor *cursor, slc_lhcb_bank *bank, slc_fault_code *fault)
{
    slc_bank_reference to;
    if (cursor->size - cursor->at < sizeof to) {
        return stop(fault, SLC_FAULT_BANK_SIZE);
    }
    memcpy(&to, cursor->bytes + cursor->at, sizeof to);
    if (to.at > cursor->blocks_size || to.size > cursor->blocks_size - to.at) {
        return stop(fault, SLC_FAULT_BANK_SIZE);
    }
    *bank = (slc_lhcb_bank){.payload = cursor->blocks + to.at,
                            .size = to.size,
                            .type = to.type,
                            .version = to.version,
                            .source = to.source,
                            .offset = cursor->offset};
    cursor->at += sizeof to;
    cursor->offset += slc_lhcb_bank_bound(to.size);
    return SLC_OK;
}

slc_status slc_lhcb_bank_next(slc_lhcb_bank_cursor *cursor, slc_lhcb_bank *bank, slc_fault_code *fault)
{
    if (cursor->at >= cursor->size) {
        return SLC_END;
    }
    if (cursor->blocks != NULL) {
        return next_reference(cursor, bank, fault);
    }
    const uint8_t *header = cursor->bytes + cursor->at;
    const size_t left = cursor->size - cursor->at;
    if (left < SLC_LHCB_BANK_HEADER) {
        return stop(fault, SLC_FAULT_BANK_SIZE);
    }
    if (slc_load_u16(header) != SLC_LHCB_BANK_MAGIC) {
        return stop(fault, SLC_FAULT_BANK_MAGIC);
    }
    const size_t length = slc_load_u16(header + 2);
    if (length < SLC_LHCB_BANK_HEADER || length > left) {
        return stop(fault, SLC_FAULT_BANK_SIZE);
    }
    *bank = (slc_lhcb_bank){.payload = header + SLC_LHCB_BANK_HEADER,
                            .size = (uint32_t)(length - SLC_LHCB_BANK_HEADER),
                            .type = header[4],
                            .version = header[5],
                            .source = (int16_t)slc_load_u16(header + 6),
                            .offset = cursor->at};
    /* The last bank's padding may be missing. */
    const size_t whole = (length + 3) & ~(size_t)3;
    cursor->at += whole < left ? whole : left;
    return SLC_OK;
}

/* A bank whose end is the event's, or the beginning of another one. */
static bool is_plausible(const slc_lhcb_bank_cursor *cursor, size_t at)
{
    slc_lhcb_bank_cursor trial = {.bytes = cursor->bytes, .size = cursor->size, .at = at};
    slc_lhcb_bank bank;
    if (slc_lhcb_bank_next(&trial, &bank, NULL) != SLC_OK) {
        return false;
    }
    return trial.at == trial.size ||
           (trial.size - trial.at >= 2 && slc_load_u16(trial.bytes + trial.at) == SLC_LHCB_BANK_MAGIC);
}

void slc_lhcb_bank_resume(slc_lhcb_bank_cursor *cursor)
{
    if (cursor->blocks != NULL) {
        cursor->at = cursor->size;
        return;
    }
    size_t at = (cursor->at & ~(size_t)3) + 4;
    while (at < cursor->size && !is_plausible(cursor, at)) {
        at += 4;
    }
    cursor->at = at < cursor->size ? at : cursor->size;
}

bool slc_lhcb_bank_next_readable(slc_lhcb_bank_cursor *cursor, slc_lhcb_bank *bank)
{
    slc_status status;
    while ((status = slc_lhcb_bank_next(cursor, bank, NULL)) != SLC_OK && status != SLC_END) {
        slc_lhcb_bank_resume(cursor);
    }
    return status == SLC_OK;
}

size_t slc_lhcb_bank_bound(size_t size)
{
    return (SLC_LHCB_BANK_HEADER + size + 3) & ~(size_t)3;
}

size_t slc_lhcb_bank_write(uint8_t *out, size_t capacity, uint8_t type, uint8_t version, int16_t source,
                           const void *payload, size_t size)
{
    const size_t whole = slc_lhcb_bank_bound(size);
    if (size > SLC_LHCB_BANK_MAX_PAYLOAD || whole > capacity) {
        return 0;
    }
    slc_store_u16(out, SLC_LHCB_BANK_MAGIC);
    slc_store_u16(out + 2, (uint16_t)(SLC_LHCB_BANK_HEADER + size));
    out[4] = type;
    out[5] = version;
    slc_store_u16(out + 6, (uint16_t)source);
    if (size > 0) {
        memcpy(out + SLC_LHCB_BANK_HEADER, payload, size);
    }
    memset(out + SLC_LHCB_BANK_HEADER + size, 0, whole - SLC_LHCB_BANK_HEADER - size);
    return whole;
}

const char *slc_lhcb_bank_type_name(uint8_t type)
{
    switch (type) {
    case SLC_LHCB_BANK_VELO:
        return "Velo";
    case 9:
        return "Rich";
    case SLC_LHCB_BANK_MUON:
        return "Muon";
    case SLC_LHCB_BANK_DAQ:
        return "DAQ";
    case SLC_LHCB_BANK_ODIN:
        return "ODIN";
    case 21:
        return "EcalPacked";
    case 22:
        return "HcalPacked";
    case SLC_LHCB_BANK_MC_TRACKS:
        return "MCTracks";
    case SLC_LHCB_BANK_MC_VERTICES:
        return "MCVertices";
    case SLC_LHCB_BANK_TAE:
        return "TAEHeader";
    case SLC_LHCB_BANK_VP:
        return "VP";
    case SLC_LHCB_BANK_SCIFI:
        return "FTCluster";
    case SLC_LHCB_BANK_UT:
        return "UT";
    case SLC_LHCB_BANK_VP_RETINA:
        return "VPRetinaCluster";
    case SLC_LHCB_BANK_SLUICE:
        return "SluiceDecision";
    default:
        return NULL;
    }
}

/* ---- faults ------------------------------------------------------------------------------------ */

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_BANK_MAGIC, "bank_magic", "no bank magic 0xCBCB; bytes skipped up to the next bank", NULL},
    {SLC_FAULT_BANK_SIZE, "bank_size", "a bank overruns its event; bytes skipped up to the next bank", NULL},
    {SLC_FAULT_BANK_VERSION, "bank_version", "unknown bank version; bank dropped", NULL},
    {SLC_FAULT_BANK_SOURCE, "bank_source", "source id outside the detector; bank dropped", NULL},
    {SLC_FAULT_BANK_LENGTH, "bank_length", "the bank's length disagrees with its count; bank dropped", NULL},
    {SLC_FAULT_BANK_DUPLICATE, "bank_duplicate", "a second bank of the same source; dropped", NULL},
};
SLC_FAULTS_REGISTER(fault_kinds)
