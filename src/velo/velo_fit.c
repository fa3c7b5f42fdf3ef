/* SPDX-License-Identifier: Apache-2.0
 * The simplified Kalman filter: x and y apart, each a position and a slope. Hits are measured in x and y with
 * the same resolution; scattering adds to the variance of the slope at every layer. Here are the default
 * configuration and the loop over events; the work is done in velo_fit.simd.c. */
#include "velo/velo_fit_work.h"
#include "velo/velo_kernels.h"

#include <stdatomic.h>
#include <string.h>

/* Resolutions are those of the generator's hits less a tenth, as chi2 of most tracks has it; noise_slope is
 * where impact parameters are best and chi2 of particles above 5 GeV is flattest; with second_noise_slope
 * pulls above 2 GeV are one wide (docs/howto/velo-physics.md). LHCb's Allen has 7e-6 and no second pass. */
void slc_velo_fit_config_default(slc_velo_fit_config *config)
{
    *config = (slc_velo_fit_config){.hit_sigma_mm = 0.0125f,
                                    .size_sigma_mm = {0.0131f, 0.0115f, 0.0148f, 0.0208f, 0.0325f, 0.07f},
                                    .noise_constant = 1e-8f,
                                    .noise_slope = 6e-6f,
                                    .second_noise_slope = 8e-6f,
                                    .scatter_prior = 8,
                                    .end_z_mm = 770.0f,
                                    .target = SLC_SIMD_AUTO};
}

static bool has_room(const slc_velo_states *states, const slc_velo_tracks *tracks)
{
    return states->head.block != NULL && states->head.capacity >= tracks->head.size &&
           states->head.event_capacity >= tracks->head.n_events;
}

/* The hits of the longest track; 0 where a track has too few or too many. */
static uint32_t longest_track(const slc_velo_tracks *tracks)
{
    uint32_t shortest = 2, longest = 2;
    for (size_t t = 0; t < tracks->head.size; t++) {
        const uint32_t n = tracks->n_hits[t];
        shortest = n < shortest ? n : shortest;
        longest = n > longest ? n : longest;
    }
    return shortest >= 2 && longest <= SLC_VELO_MAX_TRACK_HITS ? longest : 0;
}

/* Does the target run here? The processor is asked once: it takes as long over its answer as the fit does
 * over several events. */
static bool runs(slc_simd_target target)
{
    static atomic_uint known; /* a bit per target that does */
    if ((int)target < 0 || target >= SLC_SIMD_TARGETS) {
        return false;
    }
    const unsigned bit = 1U << (unsigned)target;
    if ((atomic_load_explicit(&known, memory_order_relaxed) & bit) == 0) {
        if (!slc_simd_runs(target)) {
            return false;
        }
        (void)atomic_fetch_or_explicit(&known, bit, memory_order_relaxed);
    }
    return true;
}

static slc_velo_fit_out rows_from(slc_velo_states *states, size_t row)
{
    return (slc_velo_fit_out){.x = states->x_mm + row,
                              .y = states->y_mm + row,
                              .z = states->z_mm + row,
                              .tx = states->tx + row,
                              .ty = states->ty + row,
                              .xx = states->cov_xx_mm2 + row,
                              .xtx = states->cov_xtx_mm + row,
                              .txtx = states->cov_txtx + row,
                              .yy = states->cov_yy_mm2 + row,
                              .yty = states->cov_yty_mm + row,
                              .tyty = states->cov_tyty + row,
                              .chi2 = states->chi2 + row,
                              .n_dof = states->n_dof + row,
                              .backward = states->backward + row};
}

static void set_variances(const slc_velo_fit_config *config, slc_velo_fit_work *work)
{
    work->variance[0] = config->hit_sigma_mm * config->hit_sigma_mm;
    for (size_t i = 0; i < SLC_VELO_FIT_SIZES; i++) {
        work->variance[i + 1] = config->size_sigma_mm[i] * config->size_sigma_mm[i];
    }
}

slc_status slc_velo_fit_run(const slc_velo_fit_config *config, const slc_velo_hits *hits,
                            const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                            slc_velo_states *beam, slc_velo_states *end)
{
    slc_columns_reset(beam);
    slc_columns_reset(end);
    if (!has_room(beam, tracks) || !has_room(end, tracks)) {
        return SLC_ERR_CAPACITY;
    }
    const uint32_t longest = longest_track(tracks);
    if (longest == 0 || (config->target != SLC_SIMD_AUTO && !runs(config->target))) {
        return SLC_ERR_USAGE;
    }
    const slc_simd_target target = slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_FIT],
                                                          config->target);
    const slc_velo_fit_kernels *kernels = slc_velo_fit_kernels_of(target);
    slc_velo_fit_work work;
    set_variances(config, &work);
    memset(work.row, 0, longest * sizeof work.row[0]);
    for (uint32_t e = 0; e < tracks->head.n_events; e++) {
        const size_t h = hits->head.event_offset[e], t = tracks->head.event_offset[e];
        const slc_velo_fit_in in = {.x = hits->x_mm + h,
                                    .y = hits->y_mm + h,
                                    .z = hits->z_mm + h,
                                    .n_pixels = hits->n_pixels + h,
                                    .hit = track_hits->hit + track_hits->head.event_offset[e],
                                    .hit_begin = tracks->hit_begin + t,
                                    .n_hits = tracks->n_hits + t,
                                    .n_tracks = tracks->head.event_offset[e + 1] - t};
        const slc_velo_fit_out to_beam = rows_from(beam, t), to_end = rows_from(end, t);
        kernels->fit(config, &in, &work, &to_beam, &to_end);
        beam->head.size = end->head.size = t + in.n_tracks;
        slc_columns_end_event(beam);
        slc_columns_end_event(end);
    }
    return SLC_OK;
}
