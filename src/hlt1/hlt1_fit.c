/* SPDX-License-Identifier: Apache-2.0
 * The fit of long tracks: its configuration, its tables in single precision, and what an event's rows are.
 * The work is done in hlt1_fly.simd.c and hlt1_fit.simd.c. */
#include "base/columns.h"
#include "hlt1/hlt1_fit_work.h"
#include "hlt1/hlt1_fitter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const slc_column columns[] = {
    SOA_COLUMN(slc_hlt1_fitted, x_mm, "mm"),        SOA_COLUMN(slc_hlt1_fitted, y_mm, "mm"),
    SOA_COLUMN(slc_hlt1_fitted, z_mm, "mm"),        SOA_COLUMN(slc_hlt1_fitted, tx, "1"),
    SOA_COLUMN(slc_hlt1_fitted, ty, "1"),           SOA_COLUMN(slc_hlt1_fitted, q_over_p, "1/MeV"),
    SOA_COLUMN(slc_hlt1_fitted, cov_xx, "mm^2"),    SOA_COLUMN(slc_hlt1_fitted, cov_xy, "mm^2"),
    SOA_COLUMN(slc_hlt1_fitted, cov_yy, "mm^2"),    SOA_COLUMN(slc_hlt1_fitted, cov_xtx, "mm"),
    SOA_COLUMN(slc_hlt1_fitted, cov_ytx, "mm"),     SOA_COLUMN(slc_hlt1_fitted, cov_txtx, "1"),
    SOA_COLUMN(slc_hlt1_fitted, cov_xty, "mm"),     SOA_COLUMN(slc_hlt1_fitted, cov_yty, "mm"),
    SOA_COLUMN(slc_hlt1_fitted, cov_txty, "1"),     SOA_COLUMN(slc_hlt1_fitted, cov_tyty, "1"),
    SOA_COLUMN(slc_hlt1_fitted, cov_xq, "mm/MeV"),  SOA_COLUMN(slc_hlt1_fitted, cov_yq, "mm/MeV"),
    SOA_COLUMN(slc_hlt1_fitted, cov_txq, "1/MeV"),  SOA_COLUMN(slc_hlt1_fitted, cov_tyq, "1/MeV"),
    SOA_COLUMN(slc_hlt1_fitted, cov_qq, "1/MeV^2"), SOA_COLUMN(slc_hlt1_fitted, chi2, "1"),
    SOA_COLUMN(slc_hlt1_fitted, n_dof, "1"),
};
SOA_SCHEMA(slc_hlt1_fitted, slc_hlt1_fitted_schema, "fitted_tracks", columns);

/* Resolutions in the VELO are those of its own fit; those of UT and SciFi and the loss of energy are where
 * chi2 and the momentum's bias are best on the ten events of the reference sample, the noise where pulls are
 * near 1 on these and on generated events. */
void slc_hlt1_fit_config_default(slc_hlt1_fit_config *config)
{
    *config = (slc_hlt1_fit_config){
        .velo_sigma_mm = {0.0125f, 0.0131f, 0.0115f, 0.0148f, 0.0208f, 0.0325f, 0.07f},
        .ut_sigma_mm = 0.05f,
        .scifi_sigma_mm = 0.1f,
        .noise_beam = 0.6f,
        .noise_velo = 1.15f,
        .noise_velo_ut = 1.15f,
        .noise_ut = 1.15f,
        .noise_magnet = 1.05f,
        .noise_scifi = 1.4f,
        .energy_loss_mev = 4,
        .passes = 1,
        .target = SLC_SIMD_AUTO};
}

enum { EVENTS = 16 }; /* that are fitted together */

struct slc_hlt1_fitter {
    slc_hlt1_fit_config config;
    slc_hlt1_fit_tables tables;
    const slc_hlt1_fit_kernels *fit;
    const slc_hlt1_fly_kernels *fly;
    float beam_x, beam_y;
    slc_hlt1_fit_in in[EVENTS];
    slc_hlt1_fit_work work;
};

/* ---- opening ------------------------------------------------------------------------------------ */

static slc_status check(const slc_hlt1_fit_config *c, slc_error *error)
{
    const struct {
        const char *name;
        float value, low, high;
    } numbers[] = {{"ut_sigma_mm", c->ut_sigma_mm, 1e-6f, 1e3f},
                   {"scifi_sigma_mm", c->scifi_sigma_mm, 1e-6f, 1e3f},
                   {"noise_beam", c->noise_beam, 0, 1e3f},
                   {"noise_velo", c->noise_velo, 1e-6f, 1e3f},
                   {"noise_velo_ut", c->noise_velo_ut, 1e-6f, 1e3f},
                   {"noise_ut", c->noise_ut, 1e-6f, 1e3f},
                   {"noise_magnet", c->noise_magnet, 1e-6f, 1e3f},
                   {"noise_scifi", c->noise_scifi, 1e-6f, 1e3f},
                   {"energy_loss_mev", c->energy_loss_mev, -1e3f, 1e3f},
                   {"passes", (float)c->passes, 1, 4}};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (!(numbers[i].value >= numbers[i].low && numbers[i].value <= numbers[i].high)) {
            return slc_fail(error, SLC_ERR_USAGE, "fit of long tracks: %s must be from %g to %g, not %g",
                            numbers[i].name, (double)numbers[i].low, (double)numbers[i].high,
                            (double)numbers[i].value);
        }
    }
    for (size_t i = 0; i <= SLC_HLT1_FIT_SIZES; i++) {
        const float sigma = c->velo_sigma_mm[i];
        if (!(sigma >= 1e-6f && sigma <= 1e3f)) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "fit of long tracks: velo_sigma_mm[%zu] must be from 1e-06 to 1000, not %g", i,
                            (double)sigma);
        }
    }
    return SLC_OK;
}

static void narrow(const double *from, size_t n, float *to)
{
    for (size_t i = 0; i < n; i++) {
        to[i] = (float)from[i];
    }
}

static void make_tables(const slc_hlt1_transport *from, slc_hlt1_fit_tables *to)
{
    narrow(from->v[0], 42, to->v[0]);
    narrow(from->v_ut[0], 30, to->v_ut);
    narrow(from->ut[0], 3 * 18, to->ut[0]);
    narrow(from->ut_t[0], 21, to->ut_t);
    narrow(from->t_fixed[0], 2 * 18, to->t_fixed[0]);
    narrow(from->t[0], 22 * 18, to->t[0]);
    narrow(from->ut_z_mm, SLC_UT_LAYERS, to->ut_z);
    memcpy(to->ut_dxdy, slc_ut_dxdy, sizeof to->ut_dxdy);
    narrow(from->t_z_mm, SLC_SCIFI_LAYERS, to->t_z);
    to->ut_fixed = (float)from->ut_fixed[0][0];
    to->t_dzdy = (float)(1 / from->t_dydz);
    to->z_begin = (float)from->z_begin_mm;
    to->z_end = (float)from->z_end_mm;
    to->p_min = (float)from->p_min_mev;
    to->bend_x = (float)from->bend_x;
    to->bend_xx = (float)from->bend_xx;
    to->bend_yy = (float)from->bend_yy;
    to->bend_xy = (float)from->bend_xy;
    to->per_x = (float)(0.5 * SLC_HLT1_CELLS_X / (from->max_tx * from->z_begin_mm));
    to->per_y = (float)(0.5 * SLC_HLT1_CELLS_Y / (from->max_ty * from->z_begin_mm));
    to->step = (float)from->step;
    to->sign = (float)from->sign;
    to->cells = from->cells;
}

slc_status slc_hlt1_fitter_open(const slc_hlt1_fit_config *config, const slc_hlt1_transport *transport,
                                float beam_x_mm, float beam_y_mm, slc_hlt1_fitter **fitter, slc_error *error)
{
    *fitter = NULL;
    if (check(config, error) != SLC_OK) {
        return SLC_ERR_USAGE;
    }
    if (!slc_hlt1_transport_complete(transport)) {
        return slc_fail(error, SLC_ERR_USAGE, "fit of long tracks: the transport's tables are not complete");
    }
    if (config->target != SLC_SIMD_AUTO && !slc_simd_runs(config->target)) {
        return slc_fail(error, SLC_ERR_USAGE, "fit of long tracks: instruction set %s does not run here",
                        slc_simd_name(config->target));
    }
    slc_hlt1_fitter *opened = calloc(1, sizeof *opened);
    if (opened == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "fit of long tracks: no memory");
    }
    const slc_simd_target target = slc_simd_kernel_choice(&slc_hlt1_fit_kernel_rows[0], config->target);
    opened->config = *config;
    opened->fit = slc_hlt1_fit_kernels_of(target);
    opened->fly = slc_hlt1_fly_kernels_of(target);
    opened->beam_x = beam_x_mm;
    opened->beam_y = beam_y_mm;
    make_tables(transport, &opened->tables);
    *fitter = opened;
    return SLC_OK;
}

void slc_hlt1_fitter_close(slc_hlt1_fitter *fitter)
{
    free(fitter);
}

/* ---- running ------------------------------------------------------------------------------------ */

static void view(const slc_hlt1_fitter *fitter, const slc_hlt1_fit_events *e, uint32_t event,
                 slc_hlt1_fit_in *in)
{
    const size_t vh = e->velo_hits->head.event_offset[event];
    const size_t vt = e->velo_tracks->head.event_offset[event];
    const size_t ut = e->ut->head.event_offset[event], ft = e->scifi->head.event_offset[event];
    const size_t up = e->upstream->head.event_offset[event];
    const size_t from = e->long_tracks->head.event_offset[event];
    *in = (slc_hlt1_fit_in){
        .velo_x = e->velo_hits->x_mm + vh,
        .velo_y = e->velo_hits->y_mm + vh,
        .velo_z = e->velo_hits->z_mm + vh,
        .velo_pixels = e->velo_hits->n_pixels + vh,
        .velo_hit = e->velo_track_hits->hit + e->velo_track_hits->head.event_offset[event],
        .velo_begin = e->velo_tracks->hit_begin + vt,
        .velo_n = e->velo_tracks->n_hits + vt,
        .beam_x = e->beam->x_mm + vt,
        .beam_y = e->beam->y_mm + vt,
        .beam_z = e->beam->z_mm + vt,
        .beam_tx = e->beam->tx + vt,
        .beam_ty = e->beam->ty + vt,
        .ut_x = e->ut->x_mm + ut,
        .ut_z = e->ut->z_mm + ut,
        .ut_layer = e->ut->layer + ut,
        .ut_hit = e->upstream_hits->hit + e->upstream_hits->head.event_offset[event],
        .upstream_begin = e->upstream->hit_begin + up,
        .upstream_n = e->upstream->n_hits + up,
        .scifi_x = e->scifi->x_mm + ft,
        .scifi_z = e->scifi->z_mm + ft,
        .scifi_channel = e->scifi->channel + ft,
        .scifi_hit = e->long_hits->hit + e->long_hits->head.event_offset[event],
        .long_begin = e->long_tracks->hit_begin + from,
        .long_n = e->long_tracks->n_hits + from,
        .velo_track = e->long_tracks->velo_track + from,
        .upstream_track = e->long_tracks->upstream_track + from,
        .q_over_p = e->long_tracks->q_over_p + from,
        .mat_dxdy = e->scifi_geometry->dxdy,
        .mat_dzdy = e->scifi_geometry->dzdy,
        .beam_line_x = fitter->beam_x,
        .beam_line_y = fitter->beam_y,
        .n_tracks = e->long_tracks->head.event_offset[event + 1] - from,
    };
}

static void fit_events(slc_hlt1_fitter *fitter, const slc_hlt1_fit_events *events, uint32_t first, uint32_t n,
                       slc_hlt1_fitted *fitted)
{
    slc_hlt1_fit_out out = {
        .x = fitted->x_mm,
        .y = fitted->y_mm,
        .z = fitted->z_mm,
        .tx = fitted->tx,
        .ty = fitted->ty,
        .q_over_p = fitted->q_over_p,
        .chi2 = fitted->chi2,
        .covariance = {fitted->cov_xx, fitted->cov_xy, fitted->cov_yy, fitted->cov_xtx, fitted->cov_ytx,
                       fitted->cov_txtx, fitted->cov_xty, fitted->cov_yty, fitted->cov_txty, fitted->cov_tyty,
                       fitted->cov_xq, fitted->cov_yq, fitted->cov_txq, fitted->cov_tyq, fitted->cov_qq},
        .n_dof = fitted->n_dof};
    for (uint32_t i = 0; i < n; i++) {
        view(fitter, events, first + i, &fitter->in[i]);
        fitter->in[i].row = fitted->head.size;
        fitted->head.size += fitter->in[i].n_tracks;
        slc_columns_end_event(fitted);
    }
    fitter->fit->fit(&fitter->config, &fitter->tables, fitter->fly, fitter->in, n, &fitter->work, &out);
}

void slc_hlt1_fitter_run(slc_hlt1_fitter *fitter, const slc_hlt1_fit_events *events, slc_hlt1_fitted *fitted)
{
    for (uint32_t done = 0; done < events->n_events; done += EVENTS) {
        const uint32_t left = events->n_events - done;
        fit_events(fitter, events, events->first_event + done, left < EVENTS ? left : EVENTS, fitted);
    }
}
