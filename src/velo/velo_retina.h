/* SPDX-License-Identifier: Apache-2.0
 *
 * Clusters that LHCb's FPGAs have found ("retina" clusters, bank type 73, versions 2, 3 and 4) to the same
 * hits that stages 1 and 2 make of super-pixels. They are others: an FPGA looks at windows of 3 x 3 pixels,
 * cuts large clusters, and rounds the centroid to fractions of a pixel. docs/formats/lhcb-raw-banks.md.
 */
#ifndef SLUICE_VELO_RETINA_H
#define SLUICE_VELO_RETINA_H

#include "velo/velo_geometry.h"
#include <sluice/lhcb.h>

/* Bits of a cluster's word: fraction and whole of the row, then of the column. Fractions are eighths in
 * version 2 of the banks and quarters later. */
enum { SLC_VELO_RETINA_ROW = 8, SLC_VELO_RETINA_COLUMN = 10 };

/* How many clusters the banks of a batch hold; *largest_event (may be NULL) gets those of the largest event.
 */
size_t slc_velo_retina_bound(const slc_batch *batch, size_t *largest_event);

/* Decodes all events of a batch. Hits come out by sensor, then by column and row with
 * their fractions, in whatever order they were sent; one that was sent twice is there twice. Channels are
 * those of slc_velo_hits with two bits more, as LHCb's truth has them: 27 is set where the column has a
 * fraction, 26 where the row has one. n_pixels is 0, as nobody knows. Banks that are damaged are faults as
 * those of super-pixels are; a cluster outside the sensor is SLC_FAULT_SUPERPIXEL_ADDRESS and dropped, an
 * event without such a bank is SLC_FAULT_EVENT_NO_VP. Needs room for slc_velo_retina_bound() rows and the
 * batch's events: SLC_ERR_CAPACITY otherwise. The hits are reset first. Thread-safe over different outputs.
 * The chain (velo_chain.h) does this where its configuration says so. */
slc_status slc_velo_retina_run(const slc_velo_geometry *geometry, const slc_batch *batch, slc_velo_hits *hits,
                               slc_faults *faults);

#endif
