/* SPDX-License-Identifier: Apache-2.0
 *
 * Raw banks of the UT (type 66, versions 3 and 4) to hits by layer and x. A bank that is damaged costs
 * itself, a word that no strip has costs itself. docs/formats/lhcb-hlt1.md.
 */
#ifndef SLUICE_UT_DECODE_H
#define SLUICE_UT_DECODE_H

#include <sluice/lhcb.h>
#include <sluice/simd.h>
#include <sluice/ut_types.h>

typedef struct slc_ut_decoder slc_ut_decoder;

/* Tables made of the geometry, which is not needed any more afterwards. `target` is a choice of
 * slc_simd_choose. NULL: no memory. */
slc_ut_decoder *slc_ut_decoder_open(const slc_ut_geometry *geometry, slc_simd_target target);
void slc_ut_decoder_close(slc_ut_decoder *decoder);

/* Hits that a bank can give at most, whatever its version and its words. */
size_t slc_ut_bank_bound(const slc_lhcb_bank *bank);
/* Room for an event of so many hits. */
slc_status slc_ut_decoder_reserve(slc_ut_decoder *decoder, size_t hits);

/* Appends the hits of one event, and ends it. `event` is its number, for faults. There must be room for
 * slc_ut_bank_bound of all banks in `hits` and in the decoder. */
void slc_ut_decode(slc_ut_decoder *decoder, const slc_lhcb_bank *banks, size_t n_banks, uint64_t event,
                   slc_ut_hits *hits, slc_faults *faults);

#endif
