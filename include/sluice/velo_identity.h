/* SPDX-License-Identifier: Apache-2.0
 *
 * Which event it is: the run, the number and the bunch crossing that LHCb's readout supervisor (ODIN) gave to
 * an event, and the place where the event stands in its input.
 *
 * ODIN's bank (type 16) of version 6: word 0 is the run, words 3 and 4 are the high and the low half of the
 * event's number, the low 12 bits of word 8 are the bunch crossing. Version 7, of Run 3: word 0, words 9 and
 * 8, the low 12 bits of word 6. Source: LHCb's classes ODIN (version 6) and ODINImplementation::v7.
 */
#ifndef SLUICE_VELO_IDENTITY_H
#define SLUICE_VELO_IDENTITY_H

#include <sluice/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Who told run, event and bunch crossing. */
typedef enum slc_velo_identity_from {
    SLC_VELO_IDENTITY_NONE = 0,   /* nobody: the three are 0 */
    SLC_VELO_IDENTITY_ODIN = 1,   /* the first ODIN bank of version 6 or 7 with all its words */
    SLC_VELO_IDENTITY_HEADER = 2, /* the record's header, which has no event number: `event` is the orbit */
    SLC_VELO_IDENTITY_SOURCES
} slc_velo_identity_from;
/* "none", "odin", "header". */
SLC_API const char *slc_velo_identity_name(slc_velo_identity_from from);

/* One row an event. `input` is the caller's number of the input; `record` counts the records (of a list of
 * hits: the events) of that input from 0, damaged ones included; `offset_bytes` is where the record begins in
 * it. */
typedef struct slc_velo_events {
    slc_columns head;
    uint32_t *run;
    uint64_t *event;
    uint16_t *bcid;
    uint32_t *input;
    uint64_t *record;
    uint64_t *offset_bytes;
    uint8_t *identity_from; /* slc_velo_identity_from */
} slc_velo_events;
SLC_API extern const slc_schema slc_velo_events_schema;

/* Fills `events` (reset first) with a row for each event of the batch, in its order. Room for as many rows
 * and events as the batch has is the caller's to reserve (slc_columns_reserve): SLC_ERR_CAPACITY otherwise.
 * Damage between the banks is stepped over and not counted: decoding does that. Allocates nothing; different
 * threads may work on different batches. */
SLC_API slc_status slc_velo_identity_run(const slc_batch *batch, uint32_t input, slc_velo_events *events);

#ifdef __cplusplus
}
#endif
#endif
