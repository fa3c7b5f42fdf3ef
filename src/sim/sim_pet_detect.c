/* SPDX-License-Identifier: Apache-2.0
 *
 * What crystals see of a photon. Ideal ones: all its energy in the crystal in whose middle it passes. Real
 * ones: it interacts where its path in crystals lets expect that, by the photoelectric effect, which ends it,
 * or by Compton's, after which it goes on, so that a photon may leave energy in several crystals, at any
 * depth, or escape with a part of it. Of what is left in a block, or in each crystal, a frame is made.
 */
#include "sim/sim_pet_boxes.h"
#include "sim/sim_pet_photon.h"

#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>

/* Per mm at 511 keV, and the share of the photoelectric effect: C. L. Melcher, J. Nucl. Med. 41, 1051 (2000),
 * and J. L. Humm et al., Eur. J. Nucl. Med. Mol. Imaging 30, 1574 (2003). */
static const struct material {
    const char *name;
    double mu, photo;
} materials[] = {{"LSO", 0.087, 0.32}, {"BGO", 0.096, 0.40}, {"GSO", 0.070, 0.25}};
enum { MATERIALS = sizeof materials / sizeof *materials };

slc_status slc_sim_pet_take_boxes(slc_sim_pet *sim, slc_error *error)
{
    sim->physics = true;
    return slc_sim_pet_boxes_make(&sim->config.geometry, !(sim->crystal_mu > 0), &sim->boxes, error);
}

slc_status slc_sim_pet_crystal(slc_sim_pet *sim, slc_error *error)
{
    const char *name = sim->config.crystal;
    sim->config.crystal = NULL; /* not the caller's any longer */
    const bool ideal = name == NULL || strcmp(name, "ideal") == 0;
    bool known = ideal;
    for (size_t i = 0; i < MATERIALS && !known; i++) {
        if (strcmp(name, materials[i].name) == 0) {
            sim->crystal_mu = materials[i].mu;
            sim->crystal_photo = materials[i].photo;
            known = true;
        }
    }
    if (!known) {
        char *end = NULL, *last = NULL;
        sim->crystal_mu = strtod(name, &end);
        sim->crystal_photo = *end == ',' ? strtod(end + 1, &last) : -1;
        known = last != NULL && last != end + 1 && *last == '\0' && sim->crystal_mu > 0 &&
                sim->crystal_mu <= 10 && sim->crystal_photo >= 0 && sim->crystal_photo <= 1;
    }
    if (!known) {
        return slc_fail(
            error, SLC_ERR_USAGE,
            "crystal: \"%.40s\" is none; there are ideal, %s, %s, %s, and MU,SHARE of your own: per "
            "mm at 511 keV, and the photoelectric effect's part of it",
            name, materials[0].name, materials[1].name, materials[2].name);
    }
    if (!ideal && !(sim->config.geometry.depth_mm > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "crystal: the scanner's crystals have no depth");
    }
    if (ideal && sim->config.each_crystal) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "each_crystal: of ideal crystals each is read by itself anyway; name a crystal");
    }
    return SLC_OK;
}

/* ---- paths in crystals ------------------------------------------------------------------------- */

/* The parts of a ray that are in an ideal ring's crystals, between two cylinders: at most two of them. */
static int parts_in_ring(const slc_sim_pet *sim, const double from[3], const double to[3], double part[2][2])
{
    const slc_pet_geometry *g = &sim->config.geometry;
    const double inner = g->radius_mm, outer = g->radius_mm + g->depth_mm;
    const double a = to[0] * to[0] + to[1] * to[1], b = from[0] * to[0] + from[1] * to[1];
    const double r2 = from[0] * from[0] + from[1] * from[1], root = b * b - a * (r2 - outer * outer);
    if (a < 1e-9 || !(root > 0)) { /* along the axis; as for ideal crystals */
        return 0;
    }
    double low = (-b - sqrt(root)) / a, high = (-b + sqrt(root)) / a;
    if (fabs(to[2]) > 1e-12) {
        const double t = (-sim->half_length_mm - from[2]) / to[2];
        const double u = (sim->half_length_mm - from[2]) / to[2];
        low = fmax(low, fmin(t, u));
        high = fmin(high, fmax(t, u));
    } else if (fabs(from[2]) >= sim->half_length_mm) {
        return 0;
    }
    low = fmax(low, 0);
    const double hole = b * b - a * (r2 - inner * inner);
    const double begin = hole > 0 ? (-b - sqrt(hole)) / a : high,
                 end = hole > 0 ? (-b + sqrt(hole)) / a : high;
    const double all[2][2] = {{low, fmin(high, begin)}, {fmax(low, end), high}};
    int n = 0;
    for (int i = 0; i < 2; i++) {
        if (all[i][0] < all[i][1]) {
            part[n][0] = all[i][0];
            part[n++][1] = all[i][1];
        }
    }
    return n;
}

static uint32_t crystal_at(const slc_sim_pet *sim, const double at[3])
{
    const double ring = at[2] / sim->config.geometry.pitch_z_mm + 0.5 * sim->rings;
    const uint32_t row = ring < 0 ? 0 : ring >= sim->rings ? sim->rings - 1 : (uint32_t)ring;
    const uint32_t k = (uint32_t)(turn_of(at[0], at[1]) * sim->per_ring + 0.5);
    return (k < sim->per_ring ? k : 0) + row * sim->per_ring;
}

static bool reach_in_ring(const slc_sim_pet *sim, const sim_pet_photon *p, double left, uint32_t *crystal,
                          double *length)
{
    double part[2][2];
    const int n = parts_in_ring(sim, p->from, p->to, part);
    for (int i = 0; i < n; i++) {
        if (left < part[i][1] - part[i][0]) {
            *length = part[i][0] + left;
            const double at[3] = {p->from[0] + *length * p->to[0], p->from[1] + *length * p->to[1],
                                  p->from[2] + *length * p->to[2]};
            *crystal = crystal_at(sim, at);
            return true;
        }
        left -= part[i][1] - part[i][0];
    }
    return false;
}

/* Where two boxes overlap, as those of a ring do near its face, the path is the first one's. */
static bool reach_in_boxes(const slc_sim_pet *sim, const sim_pet_photon *p, double left, uint32_t *crystal,
                           double *length)
{
    double done = 0;
    for (sim_pet_crossing c = {.enter = -1}; slc_sim_pet_boxes_next(sim->boxes, p->from, p->to, &c);) {
        const double begin = c.enter > done ? c.enter : done;
        if (left < c.leave - begin) {
            *crystal = c.crystal;
            *length = begin + left;
            return true;
        }
        left -= c.leave > begin ? c.leave - begin : 0;
        done = c.leave > done ? c.leave : done;
    }
    return false;
}

/* ---- energy in crystals ------------------------------------------------------------------------ */

/* Where a photon left energy, one interaction after the other. */
typedef struct deposit {
    uint32_t crystal;
    double energy_kev, after_ps;
} deposit;

static int interact(const slc_sim_pet *sim, uint64_t *random, sim_pet_photon p, deposit *left)
{
    static const double least_kev = 50; /* goes no further than the crystal */
    for (int n = 0; n < SIM_PET_MOST_LIGHTS; n++) {
        /* The photoelectric effect falls about with the third power of the energy. */
        const double e = p.energy_kev / sim_pet_electron_kev;
        const double photo = sim->crystal_photo / (e * e * e);
        const double compton = (1 - sim->crystal_photo) * sim_pet_compton_share(p.energy_kev);
        const double path = random_exponential(random) / (sim->crystal_mu * (photo + compton));
        double length = 0;
        if (!(sim->boxes != NULL ? reach_in_boxes(sim, &p, path, &left[n].crystal, &length)
                                 : reach_in_ring(sim, &p, path, &left[n].crystal, &length))) {
            return n;
        }
        sim_pet_move(&p, length);
        left[n].after_ps = p.after_ps;
        left[n].energy_kev = p.energy_kev;
        const bool ends = random_open(random) * (photo + compton) < photo || p.energy_kev < least_kev ||
                          n + 1 == SIM_PET_MOST_LIGHTS;
        if (ends) {
            return n + 1;
        }
        sim_pet_scatter(&p, random);
        left[n].energy_kev -= p.energy_kev;
    }
    return SIM_PET_MOST_LIGHTS;
}

static double efficiency_of(const slc_sim_pet *sim, uint32_t crystal)
{
    return sim->config.efficiency * (sim->share != NULL ? (double)sim->share[crystal] : 1);
}

/* Is it read out together with the other? */
static bool is_same(const slc_sim_pet *sim, uint32_t crystal, uint32_t other)
{
    const sim_pet_place a = sim->place[crystal], b = sim->place[other];
    return sim->config.each_crystal ? crystal == other : a.module == b.module && a.unit == b.unit;
}

/* The light of a block is where its energy is in the mean; the crystal is the nearest. */
static void share_light(const slc_sim_pet *sim, sim_pet_light *light, double x, double y)
{
    const slc_pet_geometry *g = &sim->config.geometry;
    const uint32_t column = (uint32_t)(x + 0.5), row = (uint32_t)(y + 0.5);
    const sim_pet_place place = sim->place[light->crystal];
    light->crystal = slc_pet_crystal(g, place.module, place.unit, row * g->crystals_z + column);
    const double right = (x - column) * 256, up = (y - row) * 256;
    light->shift_x = (int8_t)(right > 127 ? 127 : right);
    light->shift_y = (int8_t)(up > 127 ? 127 : up);
}

/* Frames of one photon: of each block, or crystal, one, with all energy in it and the time of the first. */
static void read_out(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p, const deposit *left, int n)
{
    bool taken[SIM_PET_MOST_LIGHTS] = {false}, shared = false;
    for (int i = 1; i < n; i++) {
        shared = shared || left[i].crystal != left[0].crystal;
    }
    for (int i = 0; i < n; i++) {
        if (taken[i]) {
            continue;
        }
        sim_pet_light light = {.crystal = left[i].crystal,
                               .met = left[i].crystal,
                               .after_ps = left[i].after_ps,
                               .shared = shared};
        double x = 0, y = 0;
        for (int k = i; k < n; k++) {
            if (!taken[k] && is_same(sim, left[i].crystal, left[k].crystal)) {
                const sim_pet_place place = sim->place[left[k].crystal];
                taken[k] = true;
                light.energy_kev += left[k].energy_kev;
                x += left[k].energy_kev * place.x;
                y += left[k].energy_kev * place.y;
            }
        }
        if (light.energy_kev > 0 && random_open(random) < efficiency_of(sim, light.crystal)) {
            share_light(sim, &light, x / light.energy_kev, y / light.energy_kev);
            slc_sim_pet_see(sim, random, p, &light);
        }
    }
}

/* ---- ideal crystals ---------------------------------------------------------------------------- */

/* Plates half way through the crystals; what one does not see goes on to the next, where there are layers. */
static void pass_plates(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p)
{
    for (sim_pet_crossing c = {.enter = -1}; slc_sim_pet_boxes_next(sim->boxes, p->from, p->to, &c);) {
        if (random_open(random) < efficiency_of(sim, c.crystal)) {
            const sim_pet_light light = {.crystal = c.crystal,
                                         .met = c.crystal,
                                         .energy_kev = p->energy_kev,
                                         .after_ps = p->after_ps + c.enter / sim_pet_light_mm_ps};
            slc_sim_pet_see(sim, random, p, &light);
            return;
        }
    }
}

void slc_sim_pet_detect(slc_sim_pet *sim, uint64_t *random, const sim_pet_photon *p)
{
    if (sim->crystal_mu > 0) {
        deposit left[SIM_PET_MOST_LIGHTS];
        read_out(sim, random, p, left, interact(sim, random, *p, left));
    } else if (sim->boxes != NULL) {
        pass_plates(sim, random, p);
    } else {
        slc_sim_pet_see_photon(sim, random, p);
    }
}
