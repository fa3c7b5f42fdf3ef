/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw banks of the muon stations (type 13, version 2) to hits: words are addresses and times, an address is a
 * pad or a strip, and where two strips of a quarter cross, there is a hit. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_MUON_DECODE_H
#define SLUICE_MUON_DECODE_H

#include "muon/muon_geometry.h"
#include <sluice/lhcb.h>

/* What the decoder works in; one for each thread. */
typedef struct slc_muon_decoder slc_muon_decoder;

/* The geometry must stay. SLC_ERR_MEMORY. */
slc_status slc_muon_decoder_open(const slc_muon_geometry *geometry, slc_muon_decoder **decoder,
                                 slc_error *error);
void slc_muon_decoder_close(slc_muon_decoder *decoder);

/* An event: begin, take its banks of type 13 in any order (their bytes are borrowed until the decode), then
 * decode. A bank that cannot be read is a fault and costs that bank: of a version that is not 2 or 3
 * (SLC_FAULT_BANK_VERSION), of a source that there is not, sent twice, or of a length that does not agree
 * with its counts. Banks of version 3 are looked through: with hits they are SLC_FAULT_MUON_TELL40, damaged
 * ones SLC_FAULT_BANK_LENGTH. */
void slc_muon_event_begin(slc_muon_decoder *decoder, uint64_t event, slc_faults *faults);
void slc_muon_event_take(slc_muon_decoder *decoder, const slc_lhcb_bank *bank);
/* Rows that the event can have at most: what must be free in `hits`. */
size_t slc_muon_event_bound(const slc_muon_decoder *decoder);
/* Appends the event's hits, and ends it in `hits`. Words that mean nothing are faults. */
void slc_muon_event_decode(slc_muon_decoder *decoder, slc_muon_hits *hits);
/* Words of the last event that were a pad or strip, each once; and how many hits were crossings. */
size_t slc_muon_event_tiles(const slc_muon_decoder *decoder);
size_t slc_muon_event_crossings(const slc_muon_decoder *decoder);

/* The three in one, of banks that somebody else has found: appends the hits of event number `event`, and ends
 * it. There must be room for slc_muon_bank_bound of all banks. */
void slc_muon_decode(slc_muon_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, uint64_t event,
                     slc_muon_hits *hits, slc_faults *faults);
/* Has what the banks' words mean fetched from memory, for a caller who has something else to do before. */
void slc_muon_ask(const slc_muon_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks);
size_t slc_muon_bank_bound(const slc_muon_decoder *decoder, const slc_lhcb_bank *bank);

/* All events of a batch, with a walk over their banks. `hits` is emptied first, and grows. SLC_ERR_MEMORY. */
slc_status slc_muon_decode_batch(slc_muon_decoder *decoder, const slc_batch *batch, slc_muon_hits *hits,
                                 slc_faults *faults, slc_error *error);

/* Hits in the words of a bank of version 3 (Tell40), by fibre and channel: how many there are; SIZE_MAX for a
 * bank whose blocks do not fit. */
size_t slc_muon_tell40_hits(const uint8_t *payload, size_t size);

#endif
