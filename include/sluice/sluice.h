/* SPDX-License-Identifier: Apache-2.0
 *
 * Sluice: the raw bytes of detectors to physics objects. This header includes all of the library's.
 */
#ifndef SLUICE_SLUICE_H
#define SLUICE_SLUICE_H

#include <sluice/base.h>
#include <sluice/cms_chain.h>
#include <sluice/cms_types.h>
#include <sluice/cuda.h>
#include <sluice/daq_pet.h>
#include <sluice/hlt1_chain.h>
#include <sluice/hlt1_check.h>
#include <sluice/hlt1_fit.h>
#include <sluice/hlt1_select.h>
#include <sluice/hlt1_types.h>
#include <sluice/image_label.h>
#include <sluice/image_mask.h>
#include <sluice/image_measure.h>
#include <sluice/image_split.h>
#include <sluice/image_volume.h>
#include <sluice/io.h>
#include <sluice/io_cms.h>
#include <sluice/io_hlt1.h>
#include <sluice/io_image.h>
#include <sluice/io_lhcb.h>
#include <sluice/io_pet.h>
#include <sluice/io_pet_factors.h>
#include <sluice/io_pet_frames.h>
#include <sluice/io_pixel.h>
#include <sluice/lhcb.h>
#include <sluice/live.h>
#include <sluice/live_flow.h>
#include <sluice/live_pet.h>
#include <sluice/live_results.h>
#include <sluice/muon_types.h>
#include <sluice/pet_calibrate.h>
#include <sluice/pet_check.h>
#include <sluice/pet_look.h>
#include <sluice/pet_normalise.h>
#include <sluice/pet_rates.h>
#include <sluice/pixel.h>
#include <sluice/pixel_stream.h>
#include <sluice/report_hlt1.h>
#include <sluice/report_pet.h>
#include <sluice/report_velo.h>
#include <sluice/run_flow.h>
#include <sluice/run_flow_hlt1.h>
#include <sluice/scifi_types.h>
#include <sluice/sim.h>
#include <sluice/sim_cms.h>
#include <sluice/sim_hlt1.h>
#include <sluice/sim_pet.h>
#include <sluice/simd.h>
#include <sluice/ut_types.h>
#include <sluice/velo_beam.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_check.h>
#include <sluice/velo_ip.h>
#include <sluice/velo_monitor.h>
#include <sluice/velo_residuals.h>
#include <sluice/velo_select.h>
#include <sluice/velo_types.h>

#endif
