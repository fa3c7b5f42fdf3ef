/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 1: raw VP banks to super-pixels. Formats: LHCb VP bank versions 2 and 3 (one bank a sensor, with a
 * count) and 4 (one bank a pair of sensors, bit 23 selects, no count). docs/formats/lhcb-raw-banks.md.
 */
#ifndef SLUICE_VELO_DECODE_H
#define SLUICE_VELO_DECODE_H

#include <sluice/lhcb.h>
#include <sluice/velo_types.h>

/* An upper bound of the super-pixels in a batch; *largest_event (may be NULL) gets that of the largest event.
 */
size_t slc_velo_decode_bound(const slc_batch *batch, size_t *largest_event);

/* Decodes all events of a batch. Super-pixels may come in any order; the output is sorted by sensor, then
 * address, and an address sent twice is united. Damage is recorded in `faults` and costs the smallest unit: a
 * word, a bank, or the rest of an event. Needs room for slc_velo_decode_bound() rows and the batch's events:
 * SLC_ERR_CAPACITY otherwise. The output collection is reset first. Thread-safe over different outputs. */
slc_status slc_velo_decode_run(const slc_batch *batch, slc_velo_superpixels *superpixels, slc_faults *faults);

#endif
