/* SPDX-License-Identifier: Apache-2.0
 *
 * From where a particle is to what it hits: strips of the UT, fibres of the SciFi, pads and strips of the
 * muon stations, by the geometry that the decoders read, turned round. Sectors and staves overlap, and what
 * overlaps is hit twice; between mats, in the gaps of SiPMs and dies and around the beam pipe there is
 * nothing.
 */
#include "scifi/scifi_geometry.h"
#include "sim/sim_hlt1_event.h"

#include <stdlib.h>

/* What a hit is off by, beside rounding to a quarter of a strip and half a channel: so that residuals are as
 * in LHCb's simulation (0.048 and 0.098 mm). */
static const double ut_sigma_mm = 0.045, scifi_sigma_mm = 0.088;
/* A second cluster beside the first, of a knock-on electron or a particle between two mats. */
static const double scifi_again = 0.025, scifi_again_mm = 4;
/* No fibres around the beam pipe; half height of a mat. */
static const double scifi_hole_mm = 110, scifi_height_mm = 2417;
/* A neighbour fires, too. */
static const double muon_again = 0.12;

/* ---- places by layer ---------------------------------------------------------------------------- */

static slc_status add_place(sim_places *to, uint32_t place)
{
    if ((to->n & (to->n - 1)) == 0) { /* a power of two: full */
        uint32_t *grown = realloc(to->place, (to->n > 0 ? 2 * (size_t)to->n : 1) * sizeof *grown);
        if (grown == NULL) {
            return SLC_ERR_MEMORY;
        }
        to->place = grown;
    }
    to->place[to->n++] = place;
    return SLC_OK;
}

slc_status slc_sim_hlt1_places(slc_sim_hlt1 *sim, slc_error *error)
{
    const slc_ut_geometry *ut = sim->geometry->ut;
    const slc_scifi_geometry *scifi = sim->geometry->scifi;
    const slc_muon_geometry *muon = sim->geometry->muon;
    slc_status status = SLC_OK;
    for (uint32_t i = 0; i < SLC_UT_BOARDS * SLC_UT_HYBRIDS && status == SLC_OK; i++) {
        if (ut->sector[i] != SLC_UT_NO_SECTOR && ut->strips[i / SLC_UT_HYBRIDS] > 0) {
            sim->sector_source[ut->sector[i]] = i;
            status = add_place(&sim->ut[ut->channel[i] >> 18 & 3], ut->sector[i]);
        }
    }
    for (uint32_t mat = 0; mat < SLC_SCIFI_MATS && status == SLC_OK; mat++) {
        const uint32_t channel = (mat + 512) << 9;
        if (slc_scifi_mat_of(scifi, channel) == mat) {
            const uint32_t layer = 4 * ((channel >> 18 & 3) - 1) + (channel >> 16 & 3);
            status = layer < SLC_SCIFI_LAYERS ? add_place(&sim->scifi[layer], mat) : SLC_OK;
        }
    }
    for (uint32_t i = 0; i < muon->n_places && status == SLC_OK; i++) {
        status = add_place(&sim->muon[slc_muon_tile_station(muon->places[i].tile)], i);
    }
    return status == SLC_OK ? SLC_OK : slc_fail(error, status, "simulation of HLT1: no memory");
}

/* ---- the UT -------------------------------------------------------------------------------------- */

bool slc_sim_hlt1_ut(slc_sim_hlt1 *sim, uint32_t particle, const slc_hlt1_ray *ray, uint32_t layer)
{
    const slc_ut_geometry *g = sim->geometry->ut;
    const double off = ut_sigma_mm * random_normal(&sim->random);
    bool any = false;
    if (random_uniform(&sim->random) < (double)sim->config.ut_inefficiency) {
        return false;
    }
    for (uint32_t i = 0; i < sim->ut[layer].n; i++) {
        const uint32_t s = sim->ut[layer].place[i];
        const double dz = fabs((double)g->z0_mm[s]) - ray->z, x = ray->x + ray->tx * dz,
                     y = ray->y + ray->ty * dz;
        const double from = (double)g->y0_mm[s], to = from + (double)g->dy_mm[s];
        if (y < fmin(from, to) || y > fmax(from, to)) {
            continue;
        }
        const double at_axis = x - y * (double)slc_ut_dxdy[layer] + off;
        const double k = (at_axis - (double)g->x0_mm[s]) / (double)g->dx_strip_mm[s];
        const uint32_t strips = g->strips[sim->sector_source[s] / SLC_UT_HYBRIDS];
        if (k >= 0 && k < (double)strips - 0.25) {
            sim_mark_add(sim, &sim->ut_marks, s, k, particle);
            any = true;
        }
    }
    sim_point *point = any ? slc_sim_list_append(&sim->ut_points, 1, sizeof *point, &sim->failed) : NULL;
    if (point != NULL) {
        *point = (sim_point){(float)ray->x, (float)ray->y, (float)ray->z, (float)ray->tx, (float)ray->ty};
    }
    return any;
}

/* ---- the SciFi ------------------------------------------------------------------------------------ */

/* The channel of the mat at a distance u from its begin, with a fraction from the channel's lower edge;
 * negative in a gap. */
static double channel_at(const slc_scifi_geometry *g, uint32_t mat, double u)
{
    const double sipm_pitch = (double)g->sipm_pitch_mm[mat],
                 pitch = 2 * (double)g->half_channel_pitch_mm[mat];
    const double gap = (double)g->die_gap_mm[mat];
    const double sipm = floor(u / sipm_pitch), in_sipm = u - sipm * sipm_pitch;
    double channel = in_sipm / pitch;
    if (channel >= 64) {
        channel = (in_sipm - gap) / pitch;
        if (channel < 64) {
            return -1;
        }
    }
    return sipm < 0 || sipm > 3 || channel >= 128 ? -1 : 128 * sipm + channel;
}

bool slc_sim_hlt1_scifi(slc_sim_hlt1 *sim, uint32_t particle, const slc_hlt1_ray *ray, uint32_t layer)
{
    const slc_scifi_geometry *g = sim->geometry->scifi;
    const double off = scifi_sigma_mm * random_normal(&sim->random);
    bool any = false;
    if ((fabs(ray->x) < scifi_hole_mm && fabs(ray->y) < scifi_hole_mm) || fabs(ray->y) > scifi_height_mm ||
        random_uniform(&sim->random) < (double)sim->config.scifi_inefficiency) {
        return false;
    }
    for (uint32_t i = 0; i < sim->scifi[layer].n; i++) {
        const uint32_t mat = sim->scifi[layer].place[i];
        const bool upper = ((mat + 512) >> 5 & 2) != 0; /* quarters 2 and 3 */
        if (upper != (ray->y > 0)) {
            continue;
        }
        const double dxdy = (double)g->dxdy[mat];
        const double x0 = (double)g->mirror_x_mm[mat] - dxdy * (double)g->mirror_y_mm[mat];
        const double per_u = (double)g->ddx[mat] - dxdy * (double)g->ddy[mat];
        const double x = ray->x - dxdy * ray->y + off;
        const double u = (x - x0) / per_u - (double)g->u_begin_mm[mat];
        const double channel = u < 0 ? -1 : channel_at(g, mat, u);
        if (channel < 0) {
            continue;
        }
        sim_mark_add(sim, &sim->scifi_marks, mat, channel, particle);
        any = true;
        if (random_uniform(&sim->random) < scifi_again) {
            const double beside = channel_at(g, mat, u + scifi_again_mm * random_normal(&sim->random));
            if (beside >= 0) {
                sim_mark_add(sim, &sim->scifi_marks, mat, beside, particle);
            }
        }
    }
    sim_point *point = any ? slc_sim_list_append(&sim->scifi_points, 1, sizeof *point, &sim->failed) : NULL;
    if (point != NULL) {
        *point = (sim_point){(float)ray->x, (float)ray->y, (float)ray->z, (float)ray->tx, (float)ray->ty};
    }
    return any;
}

/* ---- muon stations -------------------------------------------------------------------------------- */

void slc_sim_hlt1_muon(slc_sim_hlt1 *sim, double x, double y, double z, double tx, double ty,
                       uint32_t station)
{
    const sim_places *places = &sim->muon[station];
    const double aside_x = random_uniform(&sim->random), aside_y = random_uniform(&sim->random);
    if (random_uniform(&sim->random) < (double)sim->config.muon_inefficiency) {
        return;
    }
    for (uint32_t i = 0; i < places->n; i++) {
        const slc_muon_place *p = &sim->geometry->muon->places[places->place[i]];
        const double dz = (double)p->z_mm - z, dx = (double)p->dx_mm, dy = (double)p->dy_mm;
        const double off_x = x + tx * dz - (double)p->x_mm, off_y = y + ty * dz - (double)p->y_mm;
        const double also_x = off_x + (aside_x < muon_again / 2 ? 2 * dx
                                       : aside_x < muon_again   ? -2 * dx
                                                                : 0);
        const double also_y = off_y + (aside_y < muon_again / 8   ? 2 * dy
                                       : aside_y < muon_again / 4 ? -2 * dy
                                                                  : 0);
        if ((fabs(off_x) <= dx && fabs(off_y) <= dy) || (fabs(also_x) <= dx && fabs(also_y) <= dy)) {
            sim_mark_add(sim, &sim->muon_marks, places->place[i], 5 + 9 * random_uniform(&sim->random),
                         SIM_NO_PARTICLE);
        }
    }
}
