/* SPDX-License-Identifier: Apache-2.0
 *
 * What the kernels of the VELO on a GPU read of a configuration.
 */
#include "velo/cuda/velo_cuda_room.h"
#include "velo/velo_geometry.h"
#include "velo/velo_vertex_work.h"

#include <math.h>

enum { LAYERS = SLC_VELO_LAYERS };
_Static_assert((int)SLC_VELO_CUDA_VERTEX_BINS == SLC_VELO_VERTEX_BINS &&
                   (int)SLC_VELO_CUDA_VERTEX_GROUP == SLC_VELO_VERTEX_GROUP &&
                   (int)SLC_VELO_CUDA_VERTEX_UNITS == SLC_VELO_VERTEX_UNITS,
               "the processor's histogram");

static void set_settings(slc_velo_cuda_job *job, const slc_velo_track_config *track)
{
    job->settings = (slc_velo_cuda_settings){
        .beam_x = track->beam_x_mm,
        .beam_y = track->beam_y_mm,
        .missing_layer = track->missing_layer_mm2,
        .missing_low2 = track->missing_r_low_mm * track->missing_r_low_mm,
        .missing_high2 = track->missing_r_high_mm * track->missing_r_high_mm,
        .trim = track->trim_mm2,
        .pickup = track->pickup_mm2,
        .merge_slope = track->merge_slope,
        .merge = track->merge_mm2,
        .max_layer_hits = track->max_layer_hits,
        .max_event_hits = track->max_event_hits,
    };
    for (size_t l = 0; l < LAYERS; l++) {
        job->settings.layer_z[l] =
            (slc_velo_design_module_z_mm[2 * l] + slc_velo_design_module_z_mm[2 * l + 1]) / 2;
    }
}

static void set_fit(slc_velo_cuda_fit *to, const slc_velo_fit_config *fit)
{
    *to = (slc_velo_cuda_fit){.noise_constant = fit->noise_constant,
                              .noise_slope = fit->noise_slope,
                              .second_noise_slope = fit->second_noise_slope,
                              .scatter_prior = fit->scatter_prior,
                              .beam_x = fit->beam_x_mm,
                              .beam_y = fit->beam_y_mm,
                              .end_z = fit->end_z_mm};
    to->variance[0] = fit->hit_sigma_mm * fit->hit_sigma_mm;
    for (size_t i = 0; i < SLC_VELO_FIT_SIZES; i++) {
        to->variance[i + 1] = fit->size_sigma_mm[i] * fit->size_sigma_mm[i];
    }
}

/* What velo_vertex.c makes of the configuration. */
static void set_vertex(slc_velo_cuda_vertex *to, const slc_velo_vertex_config *v)
{
    const float threshold = v->bin_mm / (10 * v->max_track_sigma_z_mm);
    const float window = v->max_track_sigma_z_mm * sqrtf(v->max_fit_chi2);
    const uint32_t bins = (uint32_t)((v->z_max_mm - v->z_min_mm) / v->bin_mm);
    *to = (slc_velo_cuda_vertex){.bins = bins,
                                 .threshold = (uint32_t)(threshold * SLC_VELO_VERTEX_UNITS),
                                 .iterations = v->iterations,
                                 .z_min = v->z_min_mm,
                                 .bin = v->bin_mm,
                                 .n_bins = (float)bins,
                                 .beam_x = v->beam_x_mm,
                                 .beam_y = v->beam_y_mm,
                                 .variance_scale = v->error_scale * v->error_scale,
                                 .max_chi2 = v->max_track_chi2,
                                 .max_sigma_z = v->max_track_sigma_z_mm,
                                 .max_fit_chi2 = v->max_fit_chi2,
                                 .min_peak = v->min_peak_tracks,
                                 .dip = v->max_dip_per_mm * v->bin_mm * SLC_VELO_VERTEX_UNITS,
                                 .min_tracks = v->min_tracks,
                                 .max_beam_distance2 = v->max_beam_distance2_mm2,
                                 .min_separation2 = v->min_separation2,
                                 .window = window,
                                 .window_bins = window / v->bin_mm};
}

void slc_velo_cuda_set(slc_velo_cuda_job *job, const slc_velo_cuda_config *config)
{
    set_settings(job, config->track);
    set_fit(&job->fit, config->fit);
    set_vertex(&job->vertex, config->vertex);
}
