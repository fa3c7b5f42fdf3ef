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

/* slc_velo_truth_read with what other detectors have of the particles; beyond may be NULL. */
slc_status slc_velo_truth_read_all(const slc_batch *batch, slc_velo_truth *truth, slc_velo_beyond *beyond,
                                   slc_faults *faults, slc_error *error);

/* Bytes that the truth banks of one event take, and their writing (particles as version 2, in pieces).
 * Returns the bytes written, 0 where they do not fit. With `beyond` NULL, other detectors' hits are written
 * as none. */
size_t slc_velo_truth_bound(const slc_velo_truth *truth, const slc_velo_beyond *beyond, uint32_t event);
size_t slc_velo_truth_write(const slc_velo_truth *truth, const slc_velo_beyond *beyond, uint32_t event,
                            uint8_t *out, size_t capacity);

#endif
