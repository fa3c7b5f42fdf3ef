/* SPDX-License-Identifier: Apache-2.0
 *
 * Transport for the VELO generator: straight lines between the faces of the modules (the magnetic field in
 * the VELO is negligible), and at each of them what the material does: multiple scattering (V. Highland's
 * formula), ionisation loss, photon conversion, hadronic interaction, knock-on electrons. Decays happen on
 * the way.
 *
 * Each half of the detector sits in its RF box, whose corrugated foil follows the sensors at a small
 * distance. The foil is crossed once per half, just before the first sensor there.
 */
#include "sim/sim_velo_event.h"
#include "velo/velo_geometry.h"

#include <string.h>

/* Material in radiation lengths and in mm of silicon, at normal incidence: a module (sensor, readout chip,
 * cooling substrate, glue, hybrid), a further sensor with its chips in the same module, the foil. */
static const double module_x0 = 0.0105, module_si = 1.05, extra_x0 = 0.0050, extra_si = 0.45;
static const double foil_x0 = 0.0023, foil_si = 0.22;
/* Where stations stand far apart the foil folds into slots around them, whose walls are crossed as well. */
static const double slot_x0 = 0.014, slot_si = 1.3, slot_gap = 30;
/* The corrugations turn the foil towards the particles: no path in it is longer than its thickness over this
 * sine. */
static const double foil_least_sine = 0.16;
/* Distance between foil and sensors: across and along the beam. */
static const double foil_across = 1.6, foil_along = 5.0;
/* Nuclear interaction length of silicon; energy loss of a minimum-ionising particle in it. */
static const double interaction_si = 465, loss_per_si = 0.39;
/* Radius that no sensor reaches, and the hole for the beam. */
static const double outer_radius = 53, inner_radius = 5.0;
/* How deep that material is, from the front of the sensor; and half of a sensor's thickness. */
static const double module_depth = 1.1, extra_depth = 0.4, sensor_half = 0.1;
static const double electron_mass = 0.511;

/* A particle under way. */
typedef struct flyer {
    int32_t index, pid, charge;
    double mass, momentum, left; /* left: path to its decay */
    sim_vector at, direction;
    bool foil[2]; /* of this half has been crossed */
    bool alive;
} flyer;

static double energy_of(const flyer *f)
{
    return sqrt(f->momentum * f->momentum + f->mass * f->mass);
}

static bool is_hadron(const flyer *f)
{
    const int32_t code = f->pid < 0 ? -f->pid : f->pid;
    return code > 100 && code != 111;
}

static void invert(const float *g, sim_plane *plane)
{
    /* The frame's axes need not be exactly orthogonal: solve with the normal as third axis. */
    const sim_vector u = {(double)g[0], (double)g[3], (double)g[6]},
                     v = {(double)g[1], (double)g[4], (double)g[7]};
    sim_vector n = vector_cross(u, v);
    const double area = vector_length(n);
    n = vector_scale(n, 1 / area);
    const sim_vector a = vector_scale(vector_cross(v, n), 1 / area),
                     b = vector_scale(vector_cross(n, u), 1 / area);
    *plane = (sim_plane){.corner = {(double)g[9], (double)g[10], (double)g[11]},
                         .normal = n,
                         .inverse = {{a.x, a.y, a.z}, {b.x, b.y, b.z}}};
}

/* Marks modules of which a neighbour in the same half is far away. */
static void find_slots(slc_sim_velo *sim)
{
    for (int m = 0; m < SLC_VELO_MODULES; m++) {
        const double z = (double)sim->geometry.module_z_mm[m];
        sim->apart[m] = (m >= 2 && z - (double)sim->geometry.module_z_mm[m - 2] > slot_gap) ||
                        (m + 2 < SLC_VELO_MODULES && (double)sim->geometry.module_z_mm[m + 2] - z > slot_gap);
    }
}

void slc_sim_transport_init(slc_sim_velo *sim)
{
    sim->n_faces = 0;
    find_slots(sim);
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        invert(sim->geometry.to_global[s], &sim->planes[s]);
    }
    /* Sensors of a module whose planes coincide within a tenth of a millimetre make a face. */
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        const double z = sim->planes[s].corner.z;
        uint32_t face = 0;
        while (face < sim->n_faces &&
               (sim->face_sensor[face][0] / 4 != s / 4 || fabs(sim->face_z[face] - z) > 0.1)) {
            face++;
        }
        if (face == sim->n_faces) {
            for (face = sim->n_faces; face > 0 && sim->face_z[face - 1] > z; face--) {
                sim->face_z[face] = sim->face_z[face - 1];
                sim->face_sensors[face] = sim->face_sensors[face - 1];
                memcpy(sim->face_sensor[face], sim->face_sensor[face - 1], sizeof sim->face_sensor[face]);
            }
            sim->face_z[face] = z;
            sim->face_sensors[face] = 0;
            sim->n_faces++;
        }
        sim->face_sensor[face][sim->face_sensors[face]++] = (uint8_t)s;
    }
}

/* ---- what material does ---------------------------------------------------------------------- */

static void scatter(slc_sim_velo *sim, flyer *f, double x0)
{
    if (!sim->config.scattering) {
        return;
    }
    const double beta_p = f->momentum * f->momentum / energy_of(f);
    const double sigma = 13.6 / beta_p * sqrt(x0) * (1 + 0.038 * log(x0));
    /* Two projected angles; their root of squares is the angle in space. */
    const double a = sigma * random_normal(&sim->random), b = sigma * random_normal(&sim->random);
    const double angle = fmin(sqrt(a * a + b * b), 3.0);
    f->direction = vector_turn(f->direction, sin(angle), cos(angle), atan2(b, a));
}

static void lose_energy(flyer *f, double si)
{
    const double energy = energy_of(f), beta = f->momentum / energy;
    const double kinetic = energy - f->mass - loss_per_si * si * pow(beta, -5.0 / 3);
    if (kinetic < 0.1) {
        f->alive = false;
        return;
    }
    f->momentum = sqrt(kinetic * (kinetic + 2 * f->mass));
}

/* Electrons hit hard enough to leave the material (more than `least` MeV): a spectrum that falls with the
 * square of their energy. */
static void knock_on(slc_sim_velo *sim, const flyer *f, double si)
{
    const double least = 1.5, density = 0.0178; /* MeV per mm of silicon */
    const double energy = energy_of(f), gamma = energy / f->mass, beta = f->momentum / energy;
    /* An electron cannot be told from the one that it hits: the slower one counts. */
    const bool electron = f->pid == 11 || f->pid == -11;
    const double most = electron ? (energy - f->mass) / 2 : 2 * electron_mass * (gamma * gamma - 1);
    if (most <= least ||
        random_uniform(&sim->random) > density * si / (beta * beta) * (1 / least - 1 / most)) {
        return;
    }
    const double u = random_uniform(&sim->random);
    const double kinetic = 1 / ((1 - u) / least + u / most);
    const double p = sqrt(kinetic * (kinetic + 2 * electron_mass));
    const double cosine = fmin(1.0, sqrt(kinetic / (kinetic + 2 * electron_mass)) / fmin(1.0, beta));
    const sim_vector direction = vector_turn(f->direction, sqrt(1 - cosine * cosine), cosine,
                                             random_between(&sim->random, 0, 2 * SIM_PI));
    slc_sim_add(sim, 11, f->at, vector_scale(direction, p), f->index);
}

/* Bremsstrahlung: photons above `least` MeV along the electron's direction, dN/dk = x0 / k (4/3 (1 − y) + y²)
 * with y = k / E. */
static void radiate(slc_sim_velo *sim, flyer *f, double x0)
{
    const double least = 2, energy = energy_of(f);
    if (energy <= 2 * least) {
        return;
    }
    const double range = log(energy / least);
    for (uint32_t n = random_poisson(&sim->random, 4.0 / 3 * x0 * range); n > 0; n--) {
        const double k = least * exp(range * random_uniform(&sim->random)), y = k / energy;
        const double left = energy_of(f) - k;
        if (random_uniform(&sim->random) > 1 - y + 0.75 * y * y || left < 2 * f->mass) {
            continue;
        }
        slc_sim_add(sim, 22, f->at, vector_scale(f->direction, k), f->index);
        f->momentum = sqrt(left * left - f->mass * f->mass);
    }
}

/* A collision with a nucleus: hadrons forward, which share the energy, and protons that the nucleus loses. */
static void interact(slc_sim_velo *sim, flyer *f)
{
    sim_random *random = &sim->random;
    const double energy = energy_of(f) - (f->mass > 500 ? f->mass : 0);
    const uint32_t n = random_poisson(random, 2.4 + 1.7 * log(1 + energy / 1000));
    double left = energy;
    for (uint32_t i = 0; i < n; i++) {
        const double share = left * (1 - pow(random_uniform(random), 0.7));
        const double pt = 280 * sqrt(random_exponential(random));
        const double kind = random_uniform(random);
        const int32_t code = kind < 0.62 ? 211 : kind < 0.92 ? 111 : kind < 0.96 ? 321 : 310;
        left -= share;
        if (share < 100) {
            continue;
        }
        const double angle = fmin(pt / share, 2.0);
        const sim_vector direction = vector_turn(f->direction, sin(angle), cos(angle),
                                                 random_between(random, 0, 2 * SIM_PI));
        const int32_t pid = code < 300 && code != 111 && random_uniform(random) < 0.5 ? -code : code;
        slc_sim_add(sim, pid, f->at, vector_scale(direction, share), f->index);
    }
    const uint32_t n_slow = random_poisson(random, 3.0);
    for (uint32_t i = 0; i < n_slow; i++) {
        const double mean = random_uniform(random) < 0.25 ? 1100 : 320;
        const double p = 150 + mean * random_exponential(random);
        const double cosine = 1 - 2 * pow(random_uniform(random), 1.6);
        const sim_vector direction = vector_turn(f->direction, sqrt(1 - cosine * cosine), cosine,
                                                 random_between(random, 0, 2 * SIM_PI));
        slc_sim_add(sim, 2212, f->at, vector_scale(direction, p), f->index);
    }
    f->alive = false;
}

static sim_vector momentum_of(const flyer *f)
{
    return vector_scale(f->direction, f->momentum);
}

/* What can happen to a particle in so much material. */
static void act(slc_sim_velo *sim, flyer *f, double x0, double si)
{
    if (f->pid == 22) {
        if (random_uniform(&sim->random) < 1 - exp(-7.0 / 9 * x0)) {
            slc_sim_convert(sim, f->index, f->at, momentum_of(f));
            f->alive = false;
        }
        return;
    }
    /* Slow secondaries may not make further ones: their energy is below what the spectra above stand for. */
    if (is_hadron(f) && energy_of(f) - f->mass > 200 && random_uniform(&sim->random) < si / interaction_si) {
        interact(sim, f);
        return;
    }
    if (f->charge != 0) {
        if (f->pid == 11 || f->pid == -11) {
            radiate(sim, f, x0);
        }
        knock_on(sim, f, si);
        lose_energy(f, si);
        if (f->alive) {
            scatter(sim, f, x0);
        }
    }
}

/* Passes through material; the particle may end here. What it makes starts at a random depth of up to `depth`
 * mm: the sensor's front is the beginning of a module, so that some of it crosses the same sensor. */
static void pass(slc_sim_velo *sim, flyer *f, double x0, double si, double depth)
{
    const sim_vector here = f->at;
    if (depth > 0) {
        f->at = vector_along(here, f->direction,
                             random_between(&sim->random, -sensor_half, depth - sensor_half));
    }
    act(sim, f, x0, si);
    f->at = here;
}
/* ---- the way --------------------------------------------------------------------------------- */

/* Path to a sensor's plane, negative if it lies behind. */
static double path_to(const sim_plane *plane, const flyer *f)
{
    const double slope = vector_dot(plane->normal, f->direction);
    const sim_vector gap = {plane->corner.x - f->at.x, plane->corner.y - f->at.y, plane->corner.z - f->at.z};
    return fabs(slope) < 1e-4 ? -1 : vector_dot(plane->normal, gap) / slope;
}

static bool inside(const slc_sim_velo *sim, const sim_plane *plane, sim_vector at, double *u, double *v)
{
    const sim_vector d = {at.x - plane->corner.x, at.y - plane->corner.y, at.z - plane->corner.z};
    const double(*m)[3] = plane->inverse;
    *u = m[0][0] * d.x + m[0][1] * d.y + m[0][2] * d.z;
    *v = m[1][0] * d.x + m[1][1] * d.y + m[1][2] * d.z;
    return *u > sim->column_edge[0] && *u < sim->column_edge[SLC_VELO_COLUMNS] && *v > 0 &&
           *v < SLC_VELO_ROWS * (double)SLC_VELO_PITCH_MM;
}

/* The foil before the sensor at distance `path`: at its distance from the sensor along the particle's way. */
static void cross_foil(slc_sim_velo *sim, flyer *f, double path)
{
    const sim_vector d = f->direction;
    const double sine = sqrt(d.x * d.x + d.y * d.y), cosine = fabs(d.z);
    const double back = fmin(path, fmin(foil_across / fmax(sine, 1e-6), foil_along / fmax(cosine, 1e-6)));
    const double length = 1 / fmax(sine, foil_least_sine);
    f->at = vector_along(f->at, d, path - back);
    f->left -= path - back;
    pass(sim, f, foil_x0 * length, foil_si * length, 0);
}

/* A signal in the sensor, unless it fails. */
static void record(slc_sim_velo *sim, const flyer *f, uint32_t sensor, double u, double v)
{
    const sim_plane *plane = &sim->planes[sensor];
    if (f->charge == 0 || random_uniform(&sim->random) < (double)sim->config.inefficiency) {
        return;
    }
    sim_crossing *crossing = slc_sim_list_append(&sim->crossings, 1, sizeof *crossing, &sim->failed);
    if (crossing == NULL) {
        return;
    }
    const double beta = f->momentum / energy_of(f), dw = vector_dot(plane->normal, f->direction);
    const sim_vector d = f->direction;
    const double(*m)[3] = plane->inverse;
    *crossing = (sim_crossing){.u = u,
                               .v = v,
                               .du_dw = (m[0][0] * d.x + m[0][1] * d.y + m[0][2] * d.z) / dw,
                               .dv_dw = (m[1][0] * d.x + m[1][1] * d.y + m[1][2] * d.z) / dw,
                               .ionisation = fmin(pow(beta, -5.0 / 3), 20.0),
                               .particle = (uint32_t)f->index,
                               .sensor = sensor};
}

/* The particle at one sensor, if it gets there. True if it crossed the sensor. */
static bool meet(slc_sim_velo *sim, flyer *f, uint32_t sensor, bool again)
{
    const sim_plane *plane = &sim->planes[sensor];
    const uint32_t half = sensor / 4 % 2;
    double u, v, path = path_to(plane, f);
    if (path <= 1e-7 || path > f->left ||
        !inside(sim, plane, vector_along(f->at, f->direction, path), &u, &v)) {
        return false;
    }
    if (!f->foil[half]) {
        f->foil[half] = true;
        cross_foil(sim, f, path);
        path = path_to(plane, f);
        if (!f->alive || path <= 1e-7 || path > f->left ||
            !inside(sim, plane, vector_along(f->at, f->direction, path), &u, &v)) {
            return false;
        }
    }
    f->at = vector_along(f->at, f->direction, path);
    f->left -= path;
    record(sim, f, sensor, u, v);
    const double length = fmin(1 / fabs(vector_dot(plane->normal, f->direction)), 10.0);
    if (again) {
        pass(sim, f, extra_x0 * length, extra_si * length, extra_depth * length);
    } else {
        const double slot = sim->apart[sensor / 4] ? length : 0;
        pass(sim, f, module_x0 * length + slot_x0 * slot, module_si * length + slot_si * slot,
             module_depth * length);
    }
    return true;
}

/* All modules ahead, in the order in which the particle comes to them; large scatters may turn it round. */
static void fly(slc_sim_velo *sim, flyer *f)
{
    uint32_t last_module = SLC_VELO_MODULES;
    const int step = f->direction.z > 0 ? 1 : -1;
    int face = step > 0 ? 0 : (int)sim->n_faces - 1;
    for (; face >= 0 && face < (int)sim->n_faces && f->alive; face += step) {
        const double path = (sim->face_z[face] - f->at.z) / f->direction.z;
        if (path < -1 || f->direction.z * step <= 0) {
            continue;
        }
        if (path > f->left + 1) {
            break;
        }
        const sim_vector at = vector_along(f->at, f->direction, path);
        const double radius = sqrt(at.x * at.x + at.y * at.y);
        if (radius < inner_radius) {
            continue;
        }
        if (radius > outer_radius && at.x * f->direction.x + at.y * f->direction.y > 0) {
            break;
        }
        for (int i = 0; i < sim->face_sensors[face] && f->alive; i++) {
            const uint32_t sensor = sim->face_sensor[face][i];
            if (meet(sim, f, sensor, sensor / 4 == last_module)) {
                last_module = sensor / 4;
            }
        }
    }
}

/* ---- other detectors ------------------------------------------------------------------------- */

/* Whether UT and SciFi would see the particle: acceptance in η and momentum as in LHCb's simulation; no
 * transport. */
static uint32_t downstream_flags(slc_sim_velo *sim, const sim_particle *particle, const flyer *end)
{
    const double p = vector_length(particle->momentum), pz = particle->momentum.z;
    const double u_ut = random_uniform(&sim->random), u_scifi = random_uniform(&sim->random);
    const double decay_z = end->at.z + end->direction.z * end->left;
    if (!end->alive || pz <= 0 || particle->charge == 0 || decay_z < 2700) {
        return 0;
    }
    const double eta = atanh(fmin(pz / p, 1 - 1e-15));
    const double ut = eta < 1.5 || eta > 5 ? 0.03 : eta < 1.75 ? 0.15 : eta < 2 ? 0.52 : 0.88;
    const double scifi = eta < 1.5 || eta > 5.4 ? 0.02
                         : eta < 1.75           ? 0.15
                         : eta < 2              ? 0.30
                         : eta > 5              ? 0.30
                                                : 0.82;
    const double slow = eta < 3 ? 2200 : 1900; /* MeV: half of them are swept out by the magnet */
    uint32_t flags = 0;
    if (u_ut < ut * (p > 200 ? 1.0 : p / 200)) {
        flags |= SLC_VELO_HAS_UT;
    }
    if (decay_z > 7900 && u_scifi < scifi / (1 + exp((slow - p) / 330))) {
        flags |= SLC_VELO_HAS_SCIFI;
    }
    return flags;
}

static void transport_one(slc_sim_velo *sim, int32_t index)
{
    const sim_particle particle = ((const sim_particle *)sim->particles.rows)[index];
    const double p = vector_length(particle.momentum);
    if (!(p > 0) || particle.pid == 14 || particle.pid == -14) {
        return;
    }
    const double origin_radius = sqrt(particle.origin.x * particle.origin.x +
                                      particle.origin.y * particle.origin.y);
    const bool beyond_foil = origin_radius > inner_radius - foil_across;
    flyer f = {.index = index,
               .pid = particle.pid,
               .charge = particle.charge,
               .mass = particle.mass,
               .momentum = p,
               .left = particle.flight,
               .at = particle.origin,
               .direction = vector_scale(particle.momentum, 1 / p),
               .foil = {beyond_foil, beyond_foil},
               .alive = true};
    if ((particle.charge != 0 || particle.pid == 22 || is_hadron(&f)) && f.direction.z != 0) {
        fly(sim, &f);
    }
    const uint32_t flags = downstream_flags(sim, &particle, &f);
    sim_particle *row = (sim_particle *)sim->particles.rows + index;
    row->flags |= flags;
    row->end = f.at;
    row->end_momentum = momentum_of(&f);
    row->end_left = f.left;
    row->end_alive = f.alive;
    /* A decay beyond the VELO (and its hall) leaves no trace here. */
    if (f.alive && f.left < (sim->beyond ? SIM_DECAYS_BEFORE : 1000)) {
        slc_sim_decay(sim, index, vector_along(f.at, f.direction, f.left), momentum_of(&f));
    }
}

void slc_sim_transport(slc_sim_velo *sim)
{
    /* The list grows while it is worked through. */
    for (size_t i = 0; i < sim->particles.size && !sim->failed; i++) {
        transport_one(sim, (int32_t)i);
    }
}
