/* SPDX-License-Identifier: Apache-2.0
 * Run, event and bunch crossing from ODIN's bank, or from the header of the event's record. */
#include "lhcb/lhcb_identity.h"
#include "base/bytes.h"
#include "base/columns.h"
#include "lhcb/lhcb_walk.h"

static const slc_column events[] = {
    SOA_COLUMN(slc_lhcb_events, run, "1"),           SOA_COLUMN(slc_lhcb_events, event, "1"),
    SOA_COLUMN(slc_lhcb_events, bcid, "1"),          SOA_COLUMN(slc_lhcb_events, input, "index"),
    SOA_COLUMN(slc_lhcb_events, record, "index"),    SOA_COLUMN(slc_lhcb_events, offset_bytes, "byte"),
    SOA_COLUMN(slc_lhcb_events, identity_from, "1"),
};
SOA_SCHEMA(slc_lhcb_events, slc_lhcb_events_schema, "events", events);

enum { BCID_MASK = 0xfff };

/* The words of ODIN's bank that matter, by its version. */
typedef struct odin_layout {
    uint8_t version, event_high, event_low, bcid, words;
} odin_layout;

static const odin_layout layouts[] = {
    /* The last word of version 6, which is another's key, may be missing: nothing of it is read. */
    {.version = 6, .event_high = 3, .event_low = 4, .bcid = 8, .words = 9},
    {.version = 7, .event_high = 9, .event_low = 8, .bcid = 6, .words = 10},
};
enum { N_LAYOUTS = sizeof layouts / sizeof *layouts };

const char *slc_lhcb_identity_name(slc_lhcb_identity_from from)
{
    switch (from) {
    case SLC_LHCB_IDENTITY_ODIN:
        return "odin";
    case SLC_LHCB_IDENTITY_HEADER:
        return "header";
    case SLC_LHCB_IDENTITY_NONE:
    default:
        return "none";
    }
}

static bool read_odin(const slc_lhcb_bank *bank, slc_lhcb_events *to, size_t row)
{
    for (size_t i = 0; i < N_LAYOUTS; i++) {
        const odin_layout *layout = &layouts[i];
        if (bank->version == layout->version && bank->size >= 4U * layout->words) {
            const uint8_t *words = bank->payload;
            to->run[row] = slc_load_u32(words);
            to->event[row] = (uint64_t)slc_load_u32(words + 4 * layout->event_high) << 32 |
                             slc_load_u32(words + 4 * layout->event_low);
            to->bcid[row] = (uint16_t)(slc_load_u32(words + 4 * layout->bcid) & BCID_MASK);
            to->identity_from[row] = SLC_LHCB_IDENTITY_ODIN;
            return true;
        }
    }
    return false;
}

static bool find_odin(const uint8_t *bytes, size_t size, slc_lhcb_events *to, size_t row)
{
    slc_lhcb_bank_cursor cursor = {.bytes = bytes, .size = size};
    slc_lhcb_bank bank;
    slc_status status;
    while ((status = slc_lhcb_bank_next(&cursor, &bank, NULL)) != SLC_END) {
        if (status != SLC_OK) {
            slc_lhcb_bank_resume(&cursor);
        } else if (bank.type == SLC_LHCB_BANK_ODIN && read_odin(&bank, to, row)) {
            return true;
        }
    }
    return false;
}

static void take_header(const slc_record *record, slc_lhcb_events *to, size_t row)
{
    to->run[row] = record->known ? record->run : 0;
    to->event[row] = record->known ? record->orbit : 0;
    to->bcid[row] = (uint16_t)(record->known ? record->bunch & BCID_MASK : 0);
    to->identity_from[row] = record->known ? SLC_LHCB_IDENTITY_HEADER : SLC_LHCB_IDENTITY_NONE;
}

slc_status slc_lhcb_identity_run(const slc_batch *batch, uint32_t input, slc_lhcb_events *to,
                                 slc_error *error)
{
    const uint32_t n = batch->n_events;
    if (to->head.block == NULL || to->head.capacity < n || to->head.event_capacity < n) {
        return slc_fail(error, SLC_ERR_CAPACITY, "identity of events: no room for %u", n);
    }
    slc_columns_reset(to);
    for (uint32_t e = 0; e < n; e++) {
        const size_t row = to->head.size++;
        if (!find_odin(batch->bytes + batch->offset[e], batch->length[e], to, row)) {
            take_header(&batch->record[e], to, row);
        }
        to->input[row] = input;
        to->record[row] = batch->record[e].number;
        to->offset_bytes[row] = batch->file_offset[e];
        slc_columns_end_event(to);
    }
    return SLC_OK;
}
