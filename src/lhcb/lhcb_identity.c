/* SPDX-License-Identifier: Apache-2.0
 * Run, event and bunch crossing from ODIN's bank, or from the header of the event's record. */
#include "lhcb/lhcb_identity.h"
#include "base/bytes.h"
#include "base/columns.h"
#include "lhcb/lhcb_packet.h"
#include "lhcb/lhcb_walk.h"

#include <string.h>

static const slc_column events[] = {
    SOA_COLUMN(slc_lhcb_events, run, "1"),
    SOA_COLUMN(slc_lhcb_events, event, "1"),
    SOA_COLUMN(slc_lhcb_events, bcid, "1"),
    SOA_COLUMN(slc_lhcb_events, input, "index"),
    SOA_COLUMN(slc_lhcb_events, record, "index"),
    SOA_COLUMN(slc_lhcb_events, offset_bytes, "byte"),
    SOA_COLUMN(slc_lhcb_events, identity_from, "1"),
    SOA_COLUMN(slc_lhcb_events, orbit, "1"),
    SOA_COLUMN(slc_lhcb_events, gps_time_us, "us"),
    SOA_COLUMN(slc_lhcb_events, tck, "id"),
    SOA_COLUMN(slc_lhcb_events, partition, "id"),
    SOA_COLUMN(slc_lhcb_events, event_type, "bits"),
    SOA_COLUMN(slc_lhcb_events, calibration_step, "1"),
    SOA_COLUMN(slc_lhcb_events, crossing_type, "1"),
    SOA_COLUMN(slc_lhcb_events, trigger_type, "1"),
    SOA_COLUMN(slc_lhcb_events, calibration_type, "1"),
    SOA_COLUMN(slc_lhcb_events, faults, "1"),
    SOA_COLUMN(slc_lhcb_events, bytes, "byte"),
    SOA_COLUMN(slc_lhcb_events, missing, "1"),
};
SOA_SCHEMA(slc_lhcb_events, slc_lhcb_events_schema, "events", events);

enum { BCID_MASK = 0xfff };

/* Bits of a word; no bits: the version has no such thing. */
typedef struct odin_field {
    uint8_t word, shift, bits;
} odin_field;

typedef struct odin_layout {
    uint8_t version, words;                                       /* words without which it is none */
    odin_field run, event[2], gps_time[2], orbit, tck, partition; /* high and low half of what is longer */
    odin_field event_type, calibration_step, bcid, crossing_type, trigger_type, calibration_type;
} odin_layout;

static const odin_layout layouts[] = {
    /* The last word of version 6, the key, may be missing. */
    {.version = 6,
     .words = 9,
     .run = {0, 0, 32},
     .event = {{3, 0, 32}, {4, 0, 32}},
     .gps_time = {{5, 0, 32}, {6, 0, 32}},
     .orbit = {2, 0, 32},
     .tck = {9, 0, 32},
     .event_type = {1, 0, 16},
     .calibration_step = {1, 16, 16},
     .bcid = {8, 0, 12},
     .crossing_type = {8, 22, 2},
     .trigger_type = {8, 16, 3},
     .calibration_type = {8, 19, 2}},
    {.version = 7,
     .words = 10,
     .run = {0, 0, 32},
     .event = {{9, 0, 32}, {8, 0, 32}},
     .gps_time = {{3, 0, 32}, {2, 0, 32}},
     .orbit = {7, 0, 32},
     .tck = {4, 0, 32},
     .partition = {5, 0, 32},
     .event_type = {1, 0, 16},
     .calibration_step = {1, 16, 16},
     .bcid = {6, 0, 12},
     .crossing_type = {6, 12, 2},
     .trigger_type = {6, 23, 4},
     .calibration_type = {6, 28, 4}},
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

static uint32_t field(const slc_lhcb_bank *odin, odin_field at)
{
    if (at.bits == 0 || odin->size < 4 * (at.word + 1U)) {
        return 0;
    }
    return slc_load_u32(odin->payload + 4 * (size_t)at.word) >> at.shift &
           (uint32_t)((UINT64_C(1) << at.bits) - 1);
}

static uint64_t long_field(const slc_lhcb_bank *odin, const odin_field *halves)
{
    return (uint64_t)field(odin, halves[0]) << 32 | field(odin, halves[1]);
}

/* NULL: it is not ODIN's, of no known version, or too short. */
static const odin_layout *layout_of(const slc_lhcb_bank *bank)
{
    const odin_layout *layout = NULL;
    for (size_t i = 0; i < N_LAYOUTS && layout == NULL && bank->type == SLC_LHCB_BANK_ODIN; i++) {
        layout = bank->version == layouts[i].version && bank->size >= 4U * layouts[i].words ? &layouts[i]
                                                                                            : NULL;
    }
    return layout;
}

static bool read_odin(const slc_lhcb_bank *bank, slc_lhcb_events *to, size_t row)
{
    const odin_layout *layout = layout_of(bank);
    if (layout == NULL) {
        return false;
    }
    to->run[row] = field(bank, layout->run);
    to->event[row] = long_field(bank, layout->event);
    to->bcid[row] = (uint16_t)field(bank, layout->bcid);
    to->identity_from[row] = SLC_LHCB_IDENTITY_ODIN;
    to->orbit[row] = field(bank, layout->orbit);
    to->gps_time_us[row] = long_field(bank, layout->gps_time);
    to->tck[row] = field(bank, layout->tck);
    to->partition[row] = field(bank, layout->partition);
    to->event_type[row] = (uint16_t)field(bank, layout->event_type);
    to->calibration_step[row] = (uint16_t)field(bank, layout->calibration_step);
    to->crossing_type[row] = (uint8_t)field(bank, layout->crossing_type);
    to->trigger_type[row] = (uint8_t)field(bank, layout->trigger_type);
    to->calibration_type[row] = (uint8_t)field(bank, layout->calibration_type);
    return true;
}

static bool find_odin(const slc_batch *batch, uint32_t e, const slc_lhcb_places *places, slc_lhcb_events *to,
                      size_t row)
{
    if (slc_lhcb_places_know(places, e)) {
        const uint8_t *event = batch->bytes + batch->offset[e];
        bool found = false;
        for (size_t i = 0; i < places->n[e] && !found; i++) {
            const uint32_t place = places->place[(size_t)e * SLC_LHCB_PLACES + i];
            if (event[place + 4] == SLC_LHCB_BANK_ODIN) {
                const slc_lhcb_bank bank = slc_lhcb_bank_at(event, place);
                found = read_odin(&bank, to, row);
            }
        }
        return found;
    }
    slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, e);
    slc_lhcb_bank bank;
    while (slc_lhcb_bank_next_readable(&cursor, &bank)) {
        if (bank.type == SLC_LHCB_BANK_ODIN && read_odin(&bank, to, row)) {
            return true;
        }
    }
    return false;
}

void slc_lhcb_identity_none(slc_lhcb_events *to, size_t row)
{
    for (size_t i = 0; i < slc_lhcb_events_schema.n_columns; i++) {
        const slc_column *column = &slc_lhcb_events_schema.columns[i];
        const size_t size = slc_type_size(column->type);
        memset((char *)*slc_column_pointer(to, column) + row * size, 0, size);
    }
}

void slc_lhcb_identity_of(const void *banks, size_t size, slc_record *of)
{
    slc_lhcb_bank_cursor cursor = {.bytes = banks, .size = size};
    slc_lhcb_bank bank;
    const odin_layout *layout = NULL;
    while (layout == NULL && slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        layout = layout_of(&bank);
    }
    if (layout != NULL) {
        of->run = field(&bank, layout->run);
        of->orbit = field(&bank, layout->orbit);
        of->bunch = field(&bank, layout->bcid);
    }
}

static void take_header(const slc_record *record, slc_lhcb_events *to, size_t row)
{
    if (record->known) {
        to->run[row] = record->run;
        to->event[row] = to->orbit[row] = record->orbit;
        to->bcid[row] = (uint16_t)(record->bunch & BCID_MASK);
        to->identity_from[row] = SLC_LHCB_IDENTITY_HEADER;
    }
}

slc_status slc_lhcb_identity_run(const slc_batch *batch, uint32_t input, slc_lhcb_events *to,
                                 slc_error *error)
{
    return slc_lhcb_identity_noted(batch, input, NULL, to, error);
}

slc_status slc_lhcb_identity_noted(const slc_batch *batch, uint32_t input, const slc_lhcb_places *places,
                                   slc_lhcb_events *to, slc_error *error)
{
    const uint32_t n = batch->n_events;
    if (to->head.block == NULL || to->head.capacity < n || to->head.event_capacity < n) {
        return slc_fail(error, SLC_ERR_CAPACITY, "identity of events: no room for %u", n);
    }
    slc_columns_reset(to);
    for (uint32_t e = 0; e < n; e++) {
        const size_t row = to->head.size++;
        slc_lhcb_identity_none(to, row);
        if (!find_odin(batch, e, places, to, row)) {
            take_header(&batch->record[e], to, row);
        }
        to->input[row] = input;
        to->record[row] = batch->record[e].number;
        to->offset_bytes[row] = batch->file_offset[e];
        to->bytes[row] = (uint32_t)(batch->scattered ? slc_packet_event_size(batch, e) : batch->length[e]);
        to->missing[row] = batch->record[e].missing;
        slc_columns_end_event(to);
    }
    return SLC_OK;
}
