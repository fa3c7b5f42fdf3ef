/* SPDX-License-Identifier: Apache-2.0
 *
 * Proton-proton collisions for the VELO generator: where they happen, how many particles come out, and their
 * spectra. A collision is a rapidity plateau of particles whose density varies from collision to collision by
 * a gamma distribution (so that multiplicities are negative-binomial) and whose transverse momenta follow the
 * Lévy-Tsallis form that the LHC experiments fit to theirs. Figures were chosen so that generated events
 * resemble LHCb's own simulation: docs/howto/simulate-velo.md shows how well.
 */
#include "sim/sim_velo_event.h"

/* The luminous region, mm. */
static const double spot_xy = 0.0265, spot_z = 60.0;
/* Elastic and diffractive collisions, per visible one; and the part of all others that shows four tracks or
 * more, which is what makes a collision visible. */
static const double invisible_share = 0.28, seen_share = 0.985;
/* Primary pions, kaons and protons of a visible collision: mean, and shape of the fluctuation of the mean. */
static const double mean_charged = 76.0, density_shape = 1.1;
static const int least_charged = 9;
/* Gas at rest in the cell of SMOG2: a beam of 6.8 TeV sees it at 113 GeV, and what comes out moves with their
 * centre of mass. Fewer particles, of a narrower distribution. */
static const double cell_from = -541, cell_to = -341, gas_charged = 22, gas_rapidity = 4.79,
                    gas_rapidity_sigma = 2.1;
/* Width of the rapidity distribution. */
static const double rapidity_sigma = 4.1;

/* Lévy-Tsallis: dN/dpT ~ pT (1 + (mT − m) / (n T))^−n. */
typedef struct spectrum {
    double temperature, power;
} spectrum;
static const spectrum pion_spectrum = {128, 6.7}, kaon_spectrum = {180, 7.2}, proton_spectrum = {195, 8.2},
                      charm_spectrum = {700, 7.0}, beauty_spectrum = {1500, 7.0};

static double draw_pt(sim_random *random, spectrum shape, double mass)
{
    /* With x = (mT − m) / (n T) the density is (x n T + m) (1 + x)^−n: propose (1 + x)^(1 − n), then accept.
     */
    const double scale = shape.power * shape.temperature;
    for (;;) {
        const double grown = pow(random_uniform(random), -1 / (shape.power - 2)), x = grown - 1;
        const double bound = scale > mass ? scale : mass;
        if (random_uniform(random) * bound * grown < x * scale + mass) {
            const double transverse_mass = mass + x * scale;
            return sqrt(transverse_mass * transverse_mass - mass * mass);
        }
    }
}

/* A particle of the collision, at a rapidity about `middle`. */
static int32_t primary(slc_sim_velo *sim, int32_t collision, int32_t pid, spectrum shape, double middle,
                       double width)
{
    const double beam = 7e6; /* MeV: nothing is faster than the protons that collide */
    double mass, ctau;
    int32_t charge;
    if (!slc_sim_species(pid, &mass, &charge, &ctau)) {
        return -1;
    }
    sim_vector momentum;
    do {
        const double pt = draw_pt(&sim->random, shape, mass);
        const double phi = random_between(&sim->random, 0, 2 * SIM_PI);
        const double rapidity = middle + width * random_normal(&sim->random);
        momentum = (sim_vector){pt * cos(phi), pt * sin(phi), sqrt(mass * mass + pt * pt) * sinh(rapidity)};
    } while (vector_dot(momentum, momentum) > beam * beam);
    const sim_vector at = ((const sim_collision *)sim->collisions.rows)[collision].at;
    const int32_t index = slc_sim_add(sim, pid, at, momentum, -1);
    if (index >= 0) {
        ((sim_particle *)sim->particles.rows)[index].collision = collision;
    }
    return index;
}

static int32_t either_sign(sim_random *random, int32_t pid)
{
    return random_uniform(random) < 0.5 ? pid : -pid;
}

/* Pions, kaons, protons, and the photons of neutral pions. */
static void light(slc_sim_velo *sim, int32_t collision, uint32_t n, double middle, double width)
{
    sim_random *random = &sim->random;
    for (uint32_t i = 0; i < n; i++) {
        const double kind = random_uniform(random);
        if (kind < 0.82) {
            primary(sim, collision, either_sign(random, 211), pion_spectrum, middle, width);
        } else if (kind < 0.925) {
            primary(sim, collision, either_sign(random, 321), kaon_spectrum, middle, width);
        } else {
            primary(sim, collision, either_sign(random, 2212), proton_spectrum, middle, width);
        }
        if (random_uniform(random) < 0.53) {
            primary(sim, collision, 111, pion_spectrum, middle, width);
        }
    }
}

static void strange(slc_sim_velo *sim, int32_t collision, uint32_t n)
{
    sim_random *random = &sim->random;
    for (uint32_t i = 0; i < n; i++) {
        const double kind = random_uniform(random);
        if (kind < 0.60) {
            primary(sim, collision, 310, kaon_spectrum, 0, rapidity_sigma);
        } else {
            const int32_t pid = kind < 0.85    ? 3122
                                : kind < 0.90  ? 3112
                                : kind < 0.95  ? 3222
                                : kind < 0.995 ? 3312
                                               : 3334;
            primary(sim, collision, either_sign(random, pid), proton_spectrum, 0, rapidity_sigma);
        }
    }
}

/* A heavy quark and its antiquark: two hadrons, near each other in rapidity. */
static void heavy_pair(slc_sim_velo *sim, int32_t collision, const int32_t species[4], const double share[4],
                       spectrum shape)
{
    sim_random *random = &sim->random;
    const double middle = 2.2 * random_normal(random);
    for (int side = 0; side < 2; side++) {
        double left = random_uniform(random);
        int kind = 0;
        while (kind < 3 && left >= share[kind]) {
            left -= share[kind++];
        }
        primary(sim, collision, side == 0 ? species[kind] : -species[kind], shape, middle, 0.9);
    }
}

static int32_t collision_at_random(slc_sim_velo *sim)
{
    sim_random *random = &sim->random;
    const int32_t index = (int32_t)sim->collisions.size;
    sim_collision *collision = slc_sim_list_append(&sim->collisions, 1, sizeof *collision, &sim->failed);
    if (collision == NULL) {
        return -1;
    }
    collision->at.x = (double)sim->config.beam_x_mm + spot_xy * random_normal(random);
    collision->at.y = (double)sim->config.beam_y_mm + spot_xy * random_normal(random);
    collision->at.z = spot_z * random_normal(random);
    return index;
}

static void visible_collision(slc_sim_velo *sim)
{
    static const int32_t charm[4] = {421, 411, 431, 4122}, beauty[4] = {521, 511, 531, 5122};
    static const double charm_share[4] = {0.60, 0.25, 0.08, 0.07}, beauty_share[4] = {0.40, 0.40, 0.10, 0.10};
    sim_random *random = &sim->random;
    const int32_t collision = collision_at_random(sim);
    if (collision < 0) {
        return;
    }
    double density;
    uint32_t n;
    do {
        density = random_gamma(random, density_shape) / density_shape;
        n = random_poisson(random, density * mean_charged);
    } while (n < (uint32_t)least_charged);
    light(sim, collision, n, 0, rapidity_sigma);
    strange(sim, collision, random_poisson(random, (double)sim->config.s_fraction * density));
    if (random_uniform(random) < (double)sim->config.d_fraction) {
        heavy_pair(sim, collision, charm, charm_share, charm_spectrum);
    }
    if (random_uniform(random) < (double)sim->config.b_fraction) {
        heavy_pair(sim, collision, beauty, beauty_share, beauty_spectrum);
    }
    if (sim->jpsi_fraction > 0 &&
        random_uniform(random) < sim->jpsi_fraction) { /* no number is drawn without */
        primary(sim, collision, 443, charm_spectrum, 0, 2.6);
    }
}

/* Protons that stay in the beam pipe, and sometimes a few pions near one of them. */
static void invisible_collision(slc_sim_velo *sim)
{
    sim_random *random = &sim->random;
    const int32_t collision = collision_at_random(sim);
    if (collision < 0) {
        return;
    }
    const double side = random_uniform(random) < 0.5 ? -1 : 1;
    const uint32_t n = random_uniform(random) < 0.5 ? 0 : random_poisson(random, 2.5);
    for (uint32_t i = 0; i < n; i++) {
        primary(sim, collision, either_sign(random, 211), pion_spectrum, 6.2 * side, 1.2);
    }
}

static void gas_collision(slc_sim_velo *sim)
{
    sim_random *random = &sim->random;
    const int32_t collision = collision_at_random(sim);
    if (collision < 0) {
        return;
    }
    ((sim_collision *)sim->collisions.rows)[collision].at.z = random_between(random, cell_from, cell_to);
    const double density = random_gamma(random, density_shape) / density_shape;
    light(sim, collision, random_poisson(random, density * gas_charged), gas_rapidity, gas_rapidity_sigma);
}

void slc_sim_collide(slc_sim_velo *sim)
{
    const double visible = (double)sim->config.visible_vertices;
    const uint32_t n_visible = random_poisson(&sim->random, visible / seen_share);
    const uint32_t n_invisible = random_poisson(&sim->random, visible * invisible_share);
    for (uint32_t i = 0; i < n_visible; i++) {
        visible_collision(sim);
    }
    for (uint32_t i = 0; i < n_invisible; i++) {
        invisible_collision(sim);
    }
    if (sim->config.gas_collisions > 0) { /* no number is drawn without */
        const uint32_t n_gas = random_poisson(&sim->random, (double)sim->config.gas_collisions);
        for (uint32_t i = 0; i < n_gas; i++) {
            gas_collision(sim);
        }
    }
}
