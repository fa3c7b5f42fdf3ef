/* SPDX-License-Identifier: Apache-2.0
 *
 * LHCb's pixel vertex detector (VELO): the collections that its chain is made of, and all of its stages.
 *
 * A newcomer starts at velo_chain.h. Frame: LHCb's, z along the beam (mm), x horizontal, y up. Numbers: 208
 * sensors of 768 × 256 pixels; module = sensor / 4 (52), layer = sensor / 8 (26 pairs of modules, the two
 * halves). Every collection has per-event offsets (base.h); rows are grouped by event in the order of the
 * input.
 */
#ifndef SLUICE_VELO_H
#define SLUICE_VELO_H

#include <sluice/velo_types.h>

#include <sluice/lhcb.h>
#include <sluice/velo_geometry.h>

#include <sluice/velo_decode.h>

#include <sluice/velo_cluster.h>

#include <sluice/velo_retina.h>

#include <sluice/velo_track.h>

#include <sluice/velo_fit.h>

#include <sluice/velo_vertex.h>

#include <sluice/velo_ip.h>

#include <sluice/velo_truth.h>

#include <sluice/velo_check.h>

#include <sluice/velo_chain.h>

#include <sluice/velo_beam.h>

#include <sluice/velo_select.h>

#endif
