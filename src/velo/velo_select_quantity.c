/* SPDX-License-Identifier: Apache-2.0
 * The quantities of tracks and pairs of tracks of collections; their names. */
#include "velo/velo_select_quantity.h"

#include <assert.h>

static const struct {
    const char *name;
    uint32_t of;
} quantities[SLC_VELO_QUANTITIES] = {
    [SLC_VELO_Q_IP_MM] = {"ip_mm", 1},
    [SLC_VELO_Q_IP_CHI2] = {"ip_chi2", 1},
    [SLC_VELO_Q_CHI2_NDOF] = {"chi2_ndof", 1},
    [SLC_VELO_Q_HITS] = {"hits", 1},
    [SLC_VELO_Q_ETA] = {"eta", 1},
    [SLC_VELO_Q_PHI] = {"phi", 1},
    [SLC_VELO_Q_BACKWARD] = {"backward", 1},
    [SLC_VELO_Q_BEAM_DOCA_MM] = {"beam_doca_mm", 1},
    [SLC_VELO_Q_PAIR_DOCA_MM] = {"pair_doca_mm", 2},
    [SLC_VELO_Q_PAIR_FLIGHT_MM] = {"pair_flight_mm", 2},
    [SLC_VELO_Q_PAIR_FLIGHT_RHO_MM] = {"pair_flight_rho_mm", 2},
    [SLC_VELO_Q_PAIR_VERTEX_Z_MM] = {"pair_vertex_z_mm", 2},
    [SLC_VELO_Q_PAIR_OPENING_RAD] = {"pair_opening_rad", 2},
    [SLC_VELO_Q_PAIR_POINTING] = {"pair_pointing", 2},
    [SLC_VELO_Q_EVENT_TRACKS] = {"event_tracks", 0},
    [SLC_VELO_Q_EVENT_HITS] = {"event_hits", 0},
    [SLC_VELO_Q_EVENT_VERTICES] = {"event_vertices", 0},
};

const char *slc_velo_quantity_name(slc_velo_quantity quantity)
{
    return (unsigned)quantity < SLC_VELO_QUANTITIES ? quantities[quantity].name : NULL;
}

uint32_t slc_velo_quantity_of(slc_velo_quantity quantity)
{
    return (unsigned)quantity < SLC_VELO_QUANTITIES ? quantities[quantity].of : 0;
}

/* ---- what formulas see ---------------------------------------------------------------------------- */

static slc_velo_select_state state_of(const slc_velo_select_event *event, size_t track)
{
    const slc_velo_states *s = event->states;
    const size_t i = event->first_track + track;
    return (slc_velo_select_state){.x = s->x_mm[i],
                                   .y = s->y_mm[i],
                                   .z = s->z_mm[i],
                                   .tx = s->tx[i],
                                   .ty = s->ty[i],
                                   .xx = s->cov_xx_mm2[i],
                                   .xtx = s->cov_xtx_mm[i],
                                   .txtx = s->cov_txtx[i],
                                   .yy = s->cov_yy_mm2[i],
                                   .yty = s->cov_yty_mm[i],
                                   .tyty = s->cov_tyty[i],
                                   .chi2 = s->chi2[i],
                                   .n_dof = s->n_dof[i],
                                   .n_hits = event->tracks != NULL ? event->tracks->n_hits[i] : 0,
                                   .backward = s->backward[i] != 0};
}

static slc_velo_select_vertices vertices_of(const slc_velo_select_event *event)
{
    const slc_velo_primaries *v = event->primaries;
    if (event->n_vertices == 0) { /* there may be no columns */
        return (slc_velo_select_vertices){.n = 0};
    }
    const size_t k = event->first_vertex;
    return (slc_velo_select_vertices){.x = v->x_mm + k,
                                      .y = v->y_mm + k,
                                      .z = v->z_mm + k,
                                      .xx = v->cov_xx_mm2 + k,
                                      .xy = v->cov_xy_mm2 + k,
                                      .yy = v->cov_yy_mm2 + k,
                                      .xz = v->cov_xz_mm2 + k,
                                      .yz = v->cov_yz_mm2 + k,
                                      .zz = v->cov_zz_mm2 + k,
                                      .step = 1,
                                      .n = event->n_vertices};
}

/* ---- quantities ------------------------------------------------------------------------------------- */

size_t slc_velo_select_nearest(const slc_velo_select_event *event, size_t track, float *ip_mm)
{
    const slc_velo_select_state s = state_of(event, track);
    const slc_velo_select_vertices v = vertices_of(event);
    size_t from = v.n;
    *ip_mm = slc_velo_is_sound(&s) ? (float)slc_velo_impact_parameter(&s, &v, &from) : NAN;
    return from;
}

float slc_velo_select_track(const slc_velo_select_event *event, slc_velo_quantity quantity, size_t track)
{
    const slc_velo_select_state s = state_of(event, track);
    const slc_velo_select_vertices v = vertices_of(event);
    assert(slc_velo_quantity_of(quantity) == 1);
    return slc_velo_track_quantity(&s, &v, event->beam_x, event->beam_y, quantity);
}

void slc_velo_select_begin_pair(const slc_velo_select_event *event, size_t first, size_t second,
                                slc_velo_select_pair *pair)
{
    const slc_velo_select_state a = state_of(event, first), b = state_of(event, second);
    slc_velo_pair_begin(&a, &b, pair);
}

float slc_velo_select_pair_of(const slc_velo_select_event *event, slc_velo_quantity quantity,
                              slc_velo_select_pair *pair)
{
    const slc_velo_select_vertices v = vertices_of(event);
    assert(slc_velo_quantity_of(quantity) == 2);
    return slc_velo_pair_quantity(&v, quantity, pair);
}
