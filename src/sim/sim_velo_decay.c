/* SPDX-License-Identifier: Apache-2.0
 *
 * Particles of the VELO generator: their table, and their decays in flight. Decays fill phase space: a chain
 * of two-body decays through intermediate systems of random mass, which conserves four-momentum exactly (the
 * GENBOD construction of F. James, CERN 68-15, taken without its weights, so spectra of many-body decays are
 * approximate). Of the many modes of heavy hadrons a few stand for all: what counts here is how many charged
 * particles come from a displaced vertex, at which angles and with which momenta.
 */
#include "sim/sim_velo_event.h"

#include <stdlib.h>

typedef struct species {
    int32_t pid, charge;
    double mass, ctau; /* INFINITY: stable on the scale of the detector; 0: decays where it is made */
    uint32_t means;    /* flags of everything that descends from it */
} species;

static const species table[] = {
    {11, -1, 0.511, INFINITY, 0},
    {13, -1, 105.658, 658654, 0},
    {14, 0, 0, INFINITY, 0},
    {22, 0, 0, INFINITY, 0},
    {111, 0, 134.977, 0, 0},
    {211, 1, 139.570, 7804.5, 0},
    {310, 0, 497.611, 26.844, SLC_VELO_FROM_STRANGE},
    {321, 1, 493.677, 3711, 0},
    {411, 1, 1869.66, 0.3098, SLC_VELO_FROM_CHARM},
    {421, 0, 1864.84, 0.1229, SLC_VELO_FROM_CHARM},
    {431, 1, 1968.35, 0.1511, SLC_VELO_FROM_CHARM},
    {443, 0, 3096.90, 0, 0},
    {511, 0, 5279.66, 0.4554, SLC_VELO_FROM_BEAUTY},
    {521, 1, 5279.34, 0.4911, SLC_VELO_FROM_BEAUTY},
    {531, 0, 5366.92, 0.4557, SLC_VELO_FROM_BEAUTY},
    {2112, 0, 939.565, INFINITY, 0},
    {2212, 1, 938.272, INFINITY, 0},
    {3112, -1, 1197.449, 44.34, SLC_VELO_FROM_STRANGE},
    {3122, 0, 1115.683, 78.90, SLC_VELO_FROM_STRANGE},
    {3222, 1, 1189.37, 24.04, SLC_VELO_FROM_STRANGE},
    {3312, -1, 1321.71, 49.1, SLC_VELO_FROM_STRANGE},
    {3334, -1, 1672.45, 24.61, SLC_VELO_FROM_STRANGE},
    {4122, 1, 2286.46, 0.0604, SLC_VELO_FROM_CHARM},
    {5122, 0, 5619.60, 0.4410, SLC_VELO_FROM_BEAUTY},
};

/* Modes of a mother, one after the other; shares need not add up to one. A 0 ends the products. */
typedef struct decay_mode {
    int32_t mother;
    double share;
    int32_t child[SIM_MAX_CHILDREN];
} decay_mode;

static const decay_mode modes[] = {
    {13, 1.0, {11, 14, -14}},
    {111, 1.0, {22, 22}},
    {211, 1.0, {-13, 14}},
    {310, 0.69, {211, -211}},
    {310, 0.31, {111, 111}},
    {321, 0.64, {-13, 14}},
    {321, 0.21, {211, 111}},
    {321, 0.06, {211, 211, -211}},
    {321, 0.05, {-11, 14, 111}},
    {411, 0.40, {-321, 211, 211}},
    {411, 0.20, {310, 211, 111}},
    {411, 0.15, {310, 211, 211, -211}},
    {411, 0.15, {-321, 211, -13, 14}},
    {411, 0.10, {310, -11, 14}},
    {421, 0.12, {-321, 211}},
    {421, 0.36, {-321, 211, 111}},
    {421, 0.22, {-321, 211, 211, -211}},
    {421, 0.15, {310, 211, -211}},
    {421, 0.08, {-321, -13, 14}},
    {421, 0.07, {-321, -11, 14}},
    {431, 0.45, {321, -321, 211}},
    {431, 0.35, {321, -321, 211, 111}},
    {431, 0.20, {211, 211, -211, 111}},
    {511, 0.15, {-411, 211}},
    {511, 0.25, {-411, 211, 211, -211}},
    {511, 0.15, {-421, 211, -211, 111}},
    {511, 0.15, {-411, 431}},
    {511, 0.15, {-411, -13, 14}},
    {511, 0.15, {-421, -211, -11, 14}},
    {521, 0.15, {-421, 211, 111}},
    {521, 0.25, {-421, 211, 211, -211, 111}},
    {521, 0.15, {-411, 211, 211}},
    {521, 0.15, {-421, 431}},
    {521, 0.15, {-421, -13, 14}},
    {521, 0.15, {-421, -11, 14}},
    {531, 0.30, {-431, 211, 111}},
    {531, 0.35, {-431, 211, 211, -211}},
    {531, 0.20, {-431, -13, 14}},
    {531, 0.15, {321, -321, 321, -321}},
    {3112, 1.0, {2112, -211}},
    {3122, 0.64, {2212, -211}},
    {3122, 0.36, {2112, 111}},
    {3222, 0.52, {2212, 111}},
    {3222, 0.48, {2112, 211}},
    {3312, 1.0, {3122, -211}},
    {3334, 0.68, {3122, -321}},
    {3334, 0.32, {3312, 111}},
    {4122, 0.55, {2212, -321, 211}},
    {4122, 0.25, {3122, 211, 111}},
    {4122, 0.20, {2212, 310}},
    {5122, 0.30, {4122, -211}},
    {5122, 0.40, {4122, -211, 211, -211}},
    {5122, 0.30, {4122, 13, -14}},
};

/* Of beauty, what triggers look for: in events with the detectors beyond the VELO alone. */
static const decay_mode beyond_modes[] = {
    {443, 1.0, {13, -13}},    {511, 0.05, {321, -211}},      {511, 0.05, {211, -211}},
    {511, 0.05, {443, 310}},  {521, 0.10, {443, 321}},       {521, 0.05, {321, 211, -211}},
    {531, 0.05, {321, -321}}, {531, 0.05, {443, 321, -321}}, {5122, 0.05, {2212, -211}},
};

static const species *find(int32_t pid)
{
    const int32_t code = abs(pid);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        if (table[i].pid == code) {
            return &table[i];
        }
    }
    return NULL;
}

bool slc_sim_species(int32_t pid, double *mass, int32_t *charge, double *ctau)
{
    const species *kind = find(pid);
    if (kind == NULL) {
        return false;
    }
    *mass = kind->mass;
    *charge = pid < 0 ? -kind->charge : kind->charge;
    *ctau = kind->ctau;
    return true;
}

int32_t slc_sim_add(slc_sim_velo *sim, int32_t pid, sim_vector origin, sim_vector momentum, int32_t mother)
{
    const uint32_t descent = SLC_VELO_FROM_BEAUTY | SLC_VELO_FROM_CHARM | SLC_VELO_FROM_STRANGE;
    const species *kind = find(pid);
    if (kind == NULL || sim->particles.size >= SIM_MAX_PARTICLES) {
        return -1;
    }
    const int32_t index = (int32_t)sim->particles.size;
    sim_particle *added = slc_sim_list_append(&sim->particles, 1, sizeof *added, &sim->failed);
    if (added == NULL) {
        return -1;
    }
    *added = (sim_particle){.pid = pid,
                            .origin = origin,
                            .momentum = momentum,
                            .mass = kind->mass,
                            .flight = INFINITY,
                            .charge = pid < 0 ? -kind->charge : kind->charge,
                            .mother = mother,
                            .collision = -1};
    if (isfinite(kind->ctau)) {
        added->flight = random_exponential(&sim->random) * kind->ctau * vector_length(momentum) / kind->mass;
    }
    if (mother >= 0) {
        const sim_particle *from = (const sim_particle *)sim->particles.rows + mother;
        added->flags = (from->flags & descent) | find(from->pid)->means;
    }
    return index;
}

/* An isotropic direction. */
static sim_vector isotropic(sim_random *random)
{
    const double cosine = random_between(random, -1, 1), phi = random_between(random, 0, 2 * SIM_PI);
    const double sine = sqrt(1 - cosine * cosine);
    return (sim_vector){sine * cos(phi), sine * sin(phi), cosine};
}

/* Seen from the frame in which the system of mass `mass` moves with `frame`. */
static sim_vector boost(sim_vector momentum, double energy, sim_vector frame, double mass)
{
    const double frame_energy = sqrt(vector_dot(frame, frame) + mass * mass);
    const double along = vector_dot(momentum, frame);
    const double factor = (energy + along / (frame_energy + mass)) / mass;
    return vector_along(momentum, frame, factor);
}

/* Momentum of two bodies in the rest frame of a system of mass `mass`; 0 below the threshold. */
static double two_body(double mass, double a, double b)
{
    const double product = (mass * mass - (a + b) * (a + b)) * (mass * mass - (a - b) * (a - b));
    return product > 0 ? sqrt(product) / (2 * mass) : 0;
}

/* Momenta of n bodies in the frame in which their system moves with `frame`. */
static void phase_space(sim_random *random, double mass, sim_vector frame, const double *masses, int n,
                        sim_vector *momenta)
{
    double cut[SIM_MAX_CHILDREN] = {0}, heavy = 0;
    for (int i = 0; i < n; i++) {
        heavy += masses[i];
    }
    for (int i = 0; i < n - 2; i++) { /* sorted fractions of the kinetic energy, falling */
        double u = random_uniform(random);
        for (int j = 0; j < i; j++) {
            if (cut[j] < u) {
                const double other = cut[j];
                cut[j] = u;
                u = other;
            }
        }
        cut[i] = u;
    }
    const double kinetic = mass - heavy;
    double system = mass, rest = heavy;
    for (int i = 0; i < n - 1; i++) {
        rest -= masses[i];
        const double remaining = i == n - 2 ? masses[n - 1] : rest + kinetic * cut[i];
        const double p = two_body(system, masses[i], remaining);
        const sim_vector direction = vector_scale(isotropic(random), p);
        momenta[i] = boost(direction, sqrt(p * p + masses[i] * masses[i]), frame, system);
        frame = boost(vector_scale(direction, -1), sqrt(p * p + remaining * remaining), frame, system);
        system = remaining;
    }
    momenta[n - 1] = frame;
}

/* A pair at a virtual photon's mass, and the photon that goes with it (P. Dalitz's decay of the neutral
 * pion). */
static void dalitz(slc_sim_velo *sim, int32_t index, sim_vector at, sim_vector momentum, double mass)
{
    const double electron = 0.511;
    const double virtual_mass = 2.001 * electron *
                                exp(random_uniform(&sim->random) * log(0.9 * mass / (2 * electron)));
    sim_vector first[2], second[2];
    phase_space(&sim->random, mass, momentum, (double[]){0, virtual_mass}, 2, first);
    phase_space(&sim->random, virtual_mass, first[1], (double[]){electron, electron}, 2, second);
    slc_sim_add(sim, 22, at, first[0], index);
    slc_sim_add(sim, 11, at, second[0], index);
    slc_sim_add(sim, -11, at, second[1], index);
}

/* The mode at which `left` shares are used up; sums the mother's shares into *total where it is not NULL. */
static const decay_mode *walk(const decay_mode *list, size_t n, int32_t code, double *left, double *total)
{
    const decay_mode *last = NULL;
    for (size_t i = 0; i < n; i++) {
        if (list[i].mother != code) {
            continue;
        }
        if (total != NULL) {
            *total += list[i].share;
        } else if (*left >= 0) {
            last = &list[i];
            *left -= list[i].share;
        }
    }
    return last;
}

static const decay_mode *choose(sim_random *random, int32_t pid, bool beyond)
{
    enum { MODES = sizeof modes / sizeof modes[0], MORE = sizeof beyond_modes / sizeof beyond_modes[0] };
    const int32_t code = abs(pid);
    double total = 0;
    (void)walk(modes, MODES, code, NULL, &total);
    if (beyond) {
        (void)walk(beyond_modes, MORE, code, NULL, &total);
    }
    double left = random_uniform(random) * total;
    const decay_mode *mode = walk(modes, MODES, code, &left, NULL);
    if (beyond && (mode == NULL || left >= 0)) {
        const decay_mode *more = walk(beyond_modes, MORE, code, &left, NULL);
        mode = more != NULL ? more : mode;
    }
    return mode;
}

void slc_sim_decay(slc_sim_velo *sim, int32_t index, sim_vector at, sim_vector momentum)
{
    const sim_particle mother = ((const sim_particle *)sim->particles.rows)[index];
    if (mother.pid == 111 && random_uniform(&sim->random) < 0.0117) {
        dalitz(sim, index, at, momentum, mother.mass);
        return;
    }
    const decay_mode *mode = choose(&sim->random, mother.pid, sim->beyond);
    if (mode == NULL) {
        return;
    }
    double masses[SIM_MAX_CHILDREN];
    sim_vector momenta[SIM_MAX_CHILDREN];
    int n = 0;
    while (n < SIM_MAX_CHILDREN && mode->child[n] != 0) {
        masses[n] = find(mode->child[n])->mass;
        n++;
    }
    phase_space(&sim->random, mother.mass, momentum, masses, n, momenta);
    for (int i = 0; i < n; i++) {
        const int32_t pid = mode->child[i];
        const bool own_antiparticle = pid == 22 || pid == 111 || pid == 310;
        slc_sim_add(sim, mother.pid < 0 && !own_antiparticle ? -pid : pid, at, momenta[i], index);
    }
}

void slc_sim_convert(slc_sim_velo *sim, int32_t index, sim_vector at, sim_vector momentum)
{
    const double energy = vector_length(momentum), electron = 0.511;
    if (energy < 4 * electron) {
        return;
    }
    const sim_vector axis = vector_scale(momentum, 1 / energy);
    const double phi = random_between(&sim->random, 0, 2 * SIM_PI);
    const double share = random_uniform(&sim->random);
    const double kinetic = energy - 2 * electron;
    for (int i = 0; i < 2; i++) {
        const double e = electron + kinetic * (i == 0 ? share : 1 - share);
        const double p = sqrt(e * e - electron * electron);
        /* In units of mass over energy the angle has the spectrum u (e^(−0.625 u) / 4 + 27/4 e^(−1.875 u)), a
         * usual approximation of Y.-S. Tsai's (1974). */
        const double sum = random_exponential(&sim->random) + random_exponential(&sim->random);
        const double angle = fmin(1.0,
                                  electron / e * sum / (random_uniform(&sim->random) < 0.25 ? 0.625 : 1.875));
        const sim_vector direction = vector_turn(axis, sin(angle), cos(angle), phi + i * SIM_PI);
        slc_sim_add(sim, i == 0 ? 11 : -11, at, vector_scale(direction, p), index);
    }
}
