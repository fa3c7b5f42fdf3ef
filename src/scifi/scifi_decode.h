/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw banks of the SciFi (type 64, versions 4 to 8) to hits by zone and x. A bank that is damaged costs
 * itself, a word that no mat has costs itself. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_SCIFI_DECODE_H
#define SLUICE_SCIFI_DECODE_H

#include <sluice/lhcb.h>
#include <sluice/scifi_types.h>
#include <sluice/simd.h>

typedef struct slc_scifi_decoder slc_scifi_decoder;

/* `geometry` is the caller's until _close, `target` a choice of slc_simd_choose. NULL: no memory. */
slc_scifi_decoder *slc_scifi_decoder_open(const slc_scifi_geometry *geometry, slc_simd_target target);
void slc_scifi_decoder_close(slc_scifi_decoder *decoder);

/* Hits that a bank can give at most, whatever its words. */
size_t slc_scifi_bank_bound(const slc_lhcb_bank *bank);
/* Room for an event of so many hits. */
slc_status slc_scifi_decoder_reserve(slc_scifi_decoder *decoder, size_t hits);

/* Appends the hits of one event, and ends it. `event` is its number, for faults. There must be room for
 * slc_scifi_bank_bound of all banks in `hits` and in the decoder. */
void slc_scifi_decode(slc_scifi_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, uint64_t event,
                      slc_scifi_hits *hits, slc_faults *faults);

#endif
