/* SPDX-License-Identifier: Apache-2.0
 *
 * Particles from the end of the VELO on: through UT and magnet to the SciFi by LHCb's parametrised transport,
 * with the multiple scattering of its tables, muons further on through calorimeters and iron by the
 * scatterers of muon_identify.h. Pions, kaons and what else lives long decay on their way. Where a decay is
 * inside the magnet, its products start before or behind it, whichever is nearer.
 */
#include "muon/muon_identify.h"
#include "sim/sim_hlt1_event.h"

/* Too slow for the UT; for the tables, below which particles are turned out of the acceptance. */
static const double ut_least_mev = 150, t_least_mev = 1100;
/* Behind it the formulas from the VELO do not hold; the way to the UT is nearly without field there. */
static const double velo_end_mm = 1000;
static const double magnet_mm = 5212;
/* Thickness of the scatterers, mm: where in it a particle is turned. */
static const double thickness_mm[SLC_MUON_SCATTERERS] = {600, 1650, 800, 800, 800};
static const double station_mm[SLC_MUON_STATIONS] = {15205, 16400, 17700, 18850};
static const double calorimeter_mm = 12300;
/* Hadrons whose showers come through to M2, by their momentum in GeV, and to each station behind. */
static const double punch_through = 0.0035, punch_next = 0.35;

/* ---- helpers ------------------------------------------------------------------------------------- */

static void scatter(slc_sim_hlt1 *sim, slc_hlt1_ray *ray, const slc_hlt1_step *step)
{
    double normal[4];
    if (sim->config.scattering) {
        for (int i = 0; i < 4; i++) {
            normal[i] = random_normal(&sim->random);
        }
        slc_hlt1_scatter(ray, step, normal);
    }
}

static void straight(slc_hlt1_ray *ray, double z)
{
    ray->x += ray->tx * (z - ray->z);
    ray->y += ray->ty * (z - ray->z);
    ray->z = z;
}

static sim_vector momentum_along(const slc_hlt1_ray *ray)
{
    const double p = 1 / fabs(ray->q_over_p), n = sqrt(1 + ray->tx * ray->tx + ray->ty * ray->ty);
    return (sim_vector){p * ray->tx / n, p * ray->ty / n, p / n};
}

/* The particle decays where the ray is; what it becomes flies on later, as the list grows. */
static void decay(slc_sim_hlt1 *sim, uint32_t particle, const slc_hlt1_ray *ray)
{
    const size_t before = sim->velo->particles.size;
    if (particle < sim->n_from_velo && sim_particle_of(sim, particle)->end_left < SIM_DECAYS_BEFORE) {
        return; /* that was done on its way through the VELO */
    }
    slc_sim_decay(sim->velo, (int32_t)particle, (sim_vector){ray->x, ray->y, ray->z}, momentum_along(ray));
    for (size_t i = before; i < sim->velo->particles.size; i++) {
        sim_particle *p = sim_particle_of(sim, i);
        p->end = p->origin;
        p->end_momentum = p->momentum;
        p->end_left = p->flight;
        p->end_alive = true;
    }
}

/* ---- behind the SciFi ----------------------------------------------------------------------------- */

static void fly_muon(slc_sim_hlt1 *sim, const slc_hlt1_ray *from)
{
    slc_hlt1_ray ray = *from;
    double p = 1 / fabs(ray.q_over_p);
    for (uint32_t k = 0; k < SLC_MUON_SCATTERERS; k++) {
        const slc_muon_scatterer *s = &slc_muon_scatterers[k];
        /* Losses rise slowly with the momentum, and vary. */
        const double loss = (double)s->loss_mev * (0.92 + 0.08 * log(fmax(p, 300) / 1000)) *
                            fmax(0.5, 1 + 0.06 * random_normal(&sim->random));
        const double middle = p - loss / 2, x0 = (double)s->radiation_lengths;
        if ((double)s->z_mm < ray.z) {
            continue;
        }
        if (p - loss < 150) {
            return;
        }
        straight(&ray, (double)s->z_mm);
        if (sim->config.scattering) {
            const double sigma = 13.6 / middle * sqrt(x0) * (1 + 0.038 * log(x0));
            const double side = sigma * thickness_mm[k] / sqrt(12);
            ray.tx += (1 + ray.tx * ray.tx) * sigma * random_normal(&sim->random);
            ray.ty += (1 + ray.ty * ray.ty) * sigma * random_normal(&sim->random);
            ray.x += side * random_normal(&sim->random);
            ray.y += side * random_normal(&sim->random);
        }
        p -= loss;
        if (k >= 1) {
            const double z = station_mm[k - 1], dz = z - ray.z;
            slc_sim_hlt1_muon(sim, ray.x + ray.tx * dz, ray.y + ray.ty * dz, z, ray.tx, ray.ty, k - 1);
        }
    }
}

/* What a hadron's shower leaves behind the calorimeters, if anything. */
static void punch(slc_sim_hlt1 *sim, const slc_hlt1_ray *ray)
{
    const double p_gev = 1e-3 / fabs(ray->q_over_p);
    double chance = fmin(0.5, punch_through * p_gev);
    for (uint32_t s = 0; s < SLC_MUON_STATIONS && random_uniform(&sim->random) < chance; s++) {
        const double dz = station_mm[s] - ray->z, width = 60;
        const double x = ray->x + ray->tx * dz + width * random_normal(&sim->random);
        const double y = ray->y + ray->ty * dz + width * random_normal(&sim->random);
        slc_sim_hlt1_muon(sim, x, y, station_mm[s], ray->tx, ray->ty, s);
        chance = punch_next;
    }
}

static void fly_out(slc_sim_hlt1 *sim, uint32_t particle, slc_hlt1_ray *ray, double z_decay)
{
    const int32_t pid = sim_particle_of(sim, particle)->pid, code = pid < 0 ? -pid : pid;
    if (code == 13) {
        fly_muon(sim, ray);
    } else if (z_decay < calorimeter_mm && z_decay > ray->z) {
        straight(ray, z_decay);
        decay(sim, particle, ray);
    } else if (code != 11 && code != 22) {
        punch(sim, ray);
    }
}

/* ---- SciFi ---------------------------------------------------------------------------------------- */

/* Bits of the layers with a hit: x in each station and a stereo layer in each. */
static bool is_in_scifi(uint32_t layers)
{
    bool all = true;
    for (uint32_t station = 0; station < SLC_SCIFI_STATIONS; station++) {
        const uint32_t bits = layers >> 4 * station & 15;
        all = all && (bits & 9) != 0 && (bits & 6) != 0;
    }
    return all;
}

/* From about z_end on. False where the particle decayed or was lost. */
static bool fly_scifi(slc_sim_hlt1 *sim, uint32_t particle, slc_hlt1_ray *ray, double z_decay)
{
    const slc_hlt1_transport *t = sim->geometry->transport;
    uint32_t layers = 0;
    bool first = true;
    for (uint32_t layer = 0; layer < SLC_SCIFI_LAYERS; layer++) {
        const double z = slc_hlt1_meets_plane(ray, t->t_z_mm[layer], 1 / t->t_dydz);
        slc_hlt1_step step;
        if (z < ray->z - 60) {
            continue; /* it began behind this layer */
        }
        if (z_decay < z) {
            straight(ray, fmax(z_decay, ray->z));
            decay(sim, particle, ray);
            return false;
        }
        if (first) {
            straight(ray, z);
            first = false;
        } else if (slc_hlt1_in_t(t, ray, layer, z, &step)) {
            scatter(sim, ray, &step);
        } else {
            return false;
        }
        if (fabs(ray->x) > 4000 || fabs(ray->y) > 3500) {
            break;
        }
        layers |= slc_sim_hlt1_scifi(sim, particle, ray, layer) ? 1U << layer : 0;
    }
    if (is_in_scifi(layers)) {
        sim_particle_of(sim, particle)->flags |= SLC_VELO_HAS_SCIFI;
    }
    return fabs(ray->x) < 4000 && fabs(ray->y) < 3500;
}

/* ---- the UT and the magnet ------------------------------------------------------------------------ */

/* The UT's layers that are ahead. False where the particle decayed or was lost. */
static bool fly_ut(slc_sim_hlt1 *sim, uint32_t particle, slc_hlt1_ray *ray, double z_decay)
{
    const slc_hlt1_transport *t = sim->geometry->transport;
    uint32_t layers = 0;
    bool first = true;
    for (uint32_t layer = 0; layer < SLC_UT_LAYERS; layer++) {
        const double z = t->ut_z_mm[layer];
        slc_hlt1_step step;
        if (z < ray->z) {
            continue;
        }
        if (z_decay < z) {
            straight(ray, fmax(z_decay, ray->z));
            decay(sim, particle, ray);
            return false;
        }
        if (first && (ray->z > velo_end_mm || layer > 0)) {
            straight(ray, z);
        } else if (first ? slc_hlt1_velo_to_ut(t, ray, z, &step) : slc_hlt1_in_ut(t, ray, layer, z, &step)) {
            scatter(sim, ray, &step);
        } else {
            return false;
        }
        first = false;
        layers |= slc_sim_hlt1_ut(sim, particle, ray, layer) ? 1U << layer : 0;
    }
    if ((layers & 3) != 0 && (layers & 12) != 0) {
        sim_particle_of(sim, particle)->flags |= SLC_VELO_HAS_UT;
    }
    return true;
}

static void fly_on(slc_sim_hlt1 *sim, uint32_t particle, slc_hlt1_ray *ray, double z_decay)
{
    const slc_hlt1_transport *t = sim->geometry->transport;
    slc_hlt1_step step;
    if (ray->z <= t->z_begin_mm + 1) {
        if (1 / fabs(ray->q_over_p) < t_least_mev || fabs(ray->x) > 900 || fabs(ray->y) > 750) {
            return;
        }
        if (!slc_hlt1_about_ut(t, ray, t->z_begin_mm, NULL)) {
            return;
        }
        if (z_decay < magnet_mm) {
            decay(sim, particle, ray);
            return;
        }
        if (!slc_hlt1_ut_to_t(t, ray, &step)) {
            return;
        }
        scatter(sim, ray, &step);
        if (z_decay < t->z_end_mm) {
            decay(sim, particle, ray);
            return;
        }
    }
    if (fly_scifi(sim, particle, ray, z_decay)) {
        fly_out(sim, particle, ray, z_decay);
    }
}

void slc_sim_hlt1_fly_on(slc_sim_hlt1 *sim, uint32_t particle, slc_hlt1_ray *ray)
{
    fly_on(sim, particle, ray, INFINITY);
}

/* ---- all of them ---------------------------------------------------------------------------------- */

static void fly_one(slc_sim_hlt1 *sim, uint32_t index)
{
    const uint32_t downstream = SLC_VELO_HAS_UT | SLC_VELO_HAS_SCIFI | SLC_VELO_IS_DOWN | SLC_VELO_IS_LONG;
    sim_particle *row = sim_particle_of(sim, index);
    row->flags &= ~downstream;
    const sim_particle p = *row;
    const double momentum = vector_length(p.end_momentum), pz = p.end_momentum.z;
    if (!p.end_alive || p.charge == 0 || momentum < ut_least_mev || pz <= 0.2 * momentum ||
        p.end.z > calorimeter_mm || p.end.z < -1000) {
        return;
    }
    const double z_decay = p.end.z + p.end_left * pz / momentum;
    slc_hlt1_ray ray = {.x = p.end.x,
                        .y = p.end.y,
                        .z = p.end.z,
                        .tx = p.end_momentum.x / pz,
                        .ty = p.end_momentum.y / pz,
                        .q_over_p = p.charge / momentum};
    if (z_decay < ray.z + 1) { /* it has decayed in the VELO */
        return;
    }
    if (fly_ut(sim, index, &ray, z_decay)) {
        fly_on(sim, index, &ray, z_decay);
    }
}

void slc_sim_hlt1_fly(slc_sim_hlt1 *sim)
{
    sim->n_from_velo = sim->velo->particles.size;
    /* The list grows while it is worked through. */
    for (size_t i = 0; i < sim->velo->particles.size && !sim->failed && !sim->velo->failed; i++) {
        fly_one(sim, (uint32_t)i);
    }
}
