/* SPDX-License-Identifier: Apache-2.0
 *
 * Four of five hits in the SciFi, and half of those in the UT, are of particles that never were in the VELO:
 * they come of the beam pipe, of the magnet, of the detectors themselves. They are drawn here as they are
 * found in LHCb's simulation, by where they begin, how many hits they have and how they are directed, not
 * made by interactions; their number goes with that of the particles that pass the detectors. Each is a
 * particle of the truth. The muon stations see, beside muons and what comes through the calorimeters,
 * clusters of hits that thin out from the beam pipe and from station to station; nobody knows their
 * particles.
 */
#include "sim/sim_hlt1_event.h"

/* Per layer of the UT that a particle of the collisions is in: in its stations, electrons of few hits. */
static const double ut_electrons = 0.17;
/* Of those that go on, per such layer; in the magnet; and in the SciFi, per layer of it. */
static const double from_ut = 0.038, from_magnet = 0.19, in_scifi = 0.32;
static const double fluctuation = 40; /* shape of what an event has more or less */
/* Clusters of hits in a muon station, per layer of the SciFi that a particle is in. */
static const double muon_clusters[SLC_MUON_STATIONS] = {0.0150, 0.0076, 0.0068, 0.0056};
/* How likely another follows in the same cluster. */
static const double muon_more[SLC_MUON_STATIONS] = {0.80, 0.64, 0.5, 0.42};
static const double muon_inner_mm = 310, muon_scale_mm = 390, muon_spread_mm = 33;

static double normal(slc_sim_hlt1 *sim, double sigma)
{
    return sigma * random_normal(&sim->random);
}

static uint32_t number(slc_sim_hlt1 *sim, double mean)
{
    return random_poisson(&sim->random, mean * (double)sim->config.secondaries *
                                            random_gamma(&sim->random, fluctuation) / fluctuation);
}

/* A particle of the truth whose ray this is. SIM_NO_PARTICLE where the list is full. */
static uint32_t begin(slc_sim_hlt1 *sim, const slc_hlt1_ray *ray, double electrons)
{
    const double kind = random_uniform(&sim->random), p = 1 / fabs(ray->q_over_p);
    const int32_t code = kind < electrons ? -11 : kind < electrons + 0.7 * (1 - electrons) ? 211 : 2212;
    const double n = sqrt(1 + ray->tx * ray->tx + ray->ty * ray->ty);
    const int32_t index = slc_sim_add(sim->velo, ray->q_over_p > 0 || code == 2212 ? code : -code,
                                      (sim_vector){ray->x, ray->y, ray->z},
                                      (sim_vector){p * ray->tx / n, p * ray->ty / n, p / n}, -1);
    return index >= 0 ? (uint32_t)index : SIM_NO_PARTICLE;
}

/* One of the places where particles of the collisions were; false where there are none. */
static bool draw_point(slc_sim_hlt1 *sim, const sim_list *points, size_t n, sim_point *point)
{
    if (n > 0) {
        *point = ((const sim_point *)points->rows)[(size_t)(random_uniform(&sim->random) * (double)n)];
    }
    return n > 0;
}

static double charge(slc_sim_hlt1 *sim)
{
    return random_uniform(&sim->random) < 0.5 ? -1 : 1;
}

/* A particle of that momentum that begins about there. Each number is drawn in a statement of its own: the
 * order in an expression is the compiler's. */
static slc_hlt1_ray begins_near(slc_sim_hlt1 *sim, const sim_point *at, double spread_mm, double spread,
                                double p_mev)
{
    slc_hlt1_ray ray = {.z = (double)at->z};
    ray.x = (double)at->x + normal(sim, spread_mm);
    ray.y = (double)at->y + normal(sim, spread_mm);
    ray.tx = (double)at->tx + normal(sim, spread);
    ray.ty = (double)at->ty + normal(sim, spread);
    ray.q_over_p = charge(sim) / p_mev;
    return ray;
}

/* How many layers one has hits in: few, or all. */
static uint32_t draw_layers(slc_sim_hlt1 *sim, const uint16_t *weights, uint32_t n)
{
    uint32_t total = 0, i = 0;
    for (uint32_t k = 0; k < n; k++) {
        total += weights[k];
    }
    for (double left = random_uniform(&sim->random) * total; i + 1 < n && left >= weights[i]; i++) {
        left -= weights[i];
    }
    return i + 1;
}

/* ---- the UT ---------------------------------------------------------------------------------------- */

/* Of one to four layers, and more often than not in all of them; some turn round and come back. */
static void electron_in_ut(slc_sim_hlt1 *sim, size_t n_points)
{
    static const uint16_t layers[4] = {204, 270, 186, 990};
    const slc_hlt1_transport *t = sim->geometry->transport;
    sim_point from;
    if (!draw_point(sim, &sim->ut_points, n_points, &from)) {
        return;
    }
    const uint32_t n = draw_layers(sim, layers, 4);
    const uint32_t first = (uint32_t)(sqrt(random_uniform(&sim->random)) * (5 - n));
    const double z = t->ut_z_mm[first] - 15 - (first == 0 ? 900 * random_uniform(&sim->random) : 0);
    const double p = 12 * exp(1.6 * random_normal(&sim->random)) * (n == 4 ? 12 : 1);
    const sim_point at = {(float)((double)from.x * z / (double)from.z),
                          (float)((double)from.y * z / (double)from.z), (float)z, from.tx, from.ty};
    slc_hlt1_ray ray = begins_near(sim, &at, 25, 0.08, p);
    const uint32_t particle = begin(sim, &ray, 0.75);
    const bool turns = random_uniform(&sim->random) < 0.18;
    for (int pass = 0; pass <= (turns ? 1 : 0) && particle != SIM_NO_PARTICLE; pass++) {
        for (uint32_t layer = first; layer < first + n; layer++) {
            ray.x += ray.tx * (t->ut_z_mm[layer] - ray.z);
            ray.y += ray.ty * (t->ut_z_mm[layer] - ray.z);
            ray.z = t->ut_z_mm[layer];
            (void)slc_sim_hlt1_ut(sim, particle, &ray, layer);
        }
        ray.x += normal(sim, 30);
        ray.y += normal(sim, 60);
    }
    if (n == 4 && particle != SIM_NO_PARTICLE) {
        sim_particle_of(sim, particle)->flags |= SLC_VELO_HAS_UT;
    }
}

/* ---- on to the SciFi -------------------------------------------------------------------------------- */

static void from_ut_on(slc_sim_hlt1 *sim, size_t n_points)
{
    const slc_hlt1_transport *t = sim->geometry->transport;
    sim_point from;
    if (!draw_point(sim, &sim->ut_points, n_points, &from)) {
        return;
    }
    const double x = 0.8 * (double)from.x + normal(sim, 30), y = 0.8 * (double)from.y + normal(sim, 30);
    const sim_point at = {(float)x, (float)y, (float)t->z_begin_mm, (float)(x / t->z_begin_mm),
                          (float)(y / t->z_begin_mm)};
    slc_hlt1_ray ray = begins_near(sim, &at, 0, 0.02, 3900 * exp(0.8 * random_normal(&sim->random)));
    const uint32_t particle = begin(sim, &ray, 0.33);
    if (particle != SIM_NO_PARTICLE) {
        slc_sim_hlt1_fly_on(sim, particle, &ray);
    }
}

/* From the beam pipe in the magnet, half of them where its wall is thick, before the SciFi. */
static void from_magnet_on(slc_sim_hlt1 *sim)
{
    const slc_hlt1_transport *t = sim->geometry->transport;
    const double z = random_uniform(&sim->random) < 0.5 ? 6850 + 400 * random_uniform(&sim->random)
                                                        : random_between(&sim->random, 2700, t->z_end_mm);
    const double phi = random_between(&sim->random, 0, 2 * SIM_PI);
    const double r = z * (random_uniform(&sim->random) < 0.85 ? 0.0125 : 0.05 * random_uniform(&sim->random));
    const double angle = 0.055 * exp(1.1 * random_normal(&sim->random));
    const double out = phi + normal(sim, 0.7), p = 1300 * exp(1.35 * random_normal(&sim->random));
    const double q = charge(sim), kick = 1200 / p * (t->z_end_mm - z) / (t->z_end_mm - t->z_begin_mm);
    slc_hlt1_ray ray = {.x = r * cos(phi),
                        .y = r * sin(phi),
                        .z = z,
                        .tx = angle * cos(out),
                        .ty = angle * sin(out),
                        .q_over_p = q / p};
    if (angle > 1.2) {
        return;
    }
    const uint32_t particle = begin(sim, &ray, 0.52);
    if (particle == SIM_NO_PARTICLE) {
        return;
    }
    const double middle = (z + t->z_end_mm) / 2; /* half way it is turned */
    ray.x += ray.tx * (middle - z);
    ray.tx += q * kick;
    ray.x += ray.tx * (t->z_end_mm - middle);
    ray.y += ray.ty * (t->z_end_mm - z);
    ray.z = t->z_end_mm + 2; /* behind the table */
    if (fabs(ray.tx) < 1.2) {
        slc_sim_hlt1_fly_on(sim, particle, &ray);
    }
}

/* Made in one of its layers: mostly electrons, which see few layers more. */
static void within_scifi(slc_sim_hlt1 *sim, size_t n_points)
{
    static const uint16_t layers[12] = {773, 518, 297, 304, 182, 119, 136, 111, 90, 81, 59, 250};
    const slc_hlt1_transport *t = sim->geometry->transport;
    sim_point from;
    if (!draw_point(sim, &sim->scifi_points, n_points, &from)) {
        return;
    }
    const uint32_t n = draw_layers(sim, layers, 12);
    uint32_t first = 0;
    while (first + 1 < SLC_SCIFI_LAYERS && (double)from.z > t->t_z_mm[first] + 30) {
        first++;
    }
    first = first + n > SLC_SCIFI_LAYERS ? SLC_SCIFI_LAYERS - n : first;
    const double spread = n <= 4 ? 0.5 : 0.15;
    from.z = (float)(t->t_z_mm[first] - 1);
    slc_hlt1_ray ray = begins_near(sim, &from, 300, spread,
                                   (n <= 4 ? 6 : 400) * exp(1.5 * random_normal(&sim->random)));
    const uint32_t particle = begin(sim, &ray, 0.79);
    for (uint32_t layer = first; layer < first + n && particle != SIM_NO_PARTICLE; layer++) {
        const double z = slc_hlt1_meets_plane(&ray, t->t_z_mm[layer], 1 / t->t_dydz);
        ray.x += ray.tx * (z - ray.z);
        ray.y += ray.ty * (z - ray.z);
        ray.z = z;
        (void)slc_sim_hlt1_scifi(sim, particle, &ray, layer);
    }
    if (n == 12 && particle != SIM_NO_PARTICLE) {
        sim_particle_of(sim, particle)->flags |= SLC_VELO_HAS_SCIFI;
    }
}

/* ---- muon stations ---------------------------------------------------------------------------------- */

/* Particles of a shower or of the cavern: a few near each other. */
static void muon_cluster(slc_sim_hlt1 *sim, uint32_t station)
{
    static const double z[SLC_MUON_STATIONS] = {15205, 16400, 17700, 18850};
    const double phi = random_between(&sim->random, 0, 2 * SIM_PI);
    const double r = (muon_inner_mm + muon_scale_mm * random_exponential(&sim->random)) * z[station] / z[0];
    const double x = r * cos(phi), y = r * sin(phi);
    do {
        const double at_x = x + normal(sim, muon_spread_mm), at_y = y + normal(sim, muon_spread_mm);
        slc_sim_hlt1_muon(sim, at_x, at_y, z[station], x / z[station], y / z[station], station);
    } while (random_uniform(&sim->random) < muon_more[station]);
}

void slc_sim_hlt1_secondaries(slc_sim_hlt1 *sim)
{
    const size_t ut = sim->ut_points.size, scifi = sim->scifi_points.size;
    const double in_ut = (double)ut, in_t = (double)scifi;
    for (uint32_t n = number(sim, ut_electrons * in_ut); n > 0; n--) {
        electron_in_ut(sim, ut);
    }
    for (uint32_t n = number(sim, from_ut * in_ut); n > 0; n--) {
        from_ut_on(sim, ut);
    }
    for (uint32_t n = number(sim, from_magnet * in_ut); n > 0; n--) {
        from_magnet_on(sim);
    }
    const size_t there = sim->scifi_points.size; /* of those that have just come, too */
    for (uint32_t n = number(sim, in_scifi * in_t); n > 0; n--) {
        within_scifi(sim, there);
    }
    for (uint32_t s = 0; s < SLC_MUON_STATIONS; s++) {
        for (uint32_t n = number(sim, muon_clusters[s] * in_t); n > 0; n--) {
            muon_cluster(sim, s);
        }
    }
}
