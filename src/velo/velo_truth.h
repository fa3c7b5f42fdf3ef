/* SPDX-License-Identifier: Apache-2.0
 *
 * The truth banks of simulated events: particles with their hits (bank type 32, versions 1 and 2, cut into
 * pieces over several banks) and proton-proton collisions (type 33, version 1).
 * docs/formats/lhcb-truth-banks.md.
 */
#ifndef SLUICE_VELO_TRUTH_H
#define SLUICE_VELO_TRUTH_H

#include <sluice/lhcb.h>
#include <sluice/velo_types.h>

/* Bytes that the truth banks of one event take, and their writing (particles as version 2, in pieces).
 * Returns the bytes written, 0 where they do not fit. Other detectors' hits are written as none. */
size_t slc_velo_truth_bound(const slc_velo_truth *truth, uint32_t event);
size_t slc_velo_truth_write(const slc_velo_truth *truth, uint32_t event, uint8_t *out, size_t capacity);

#endif
