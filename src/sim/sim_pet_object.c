/* SPDX-License-Identifier: Apache-2.0
 *
 * What happens in the object: which way an isotope decays, how far its positron goes, how far from one line
 * the two photons are, and where photons scatter on their way out.
 *
 * Decays, in 100: F-18, Ga-68 and I-124 as the Decay Data Evaluation Project and the Nuclear Data Sheets have
 * them, and M. Conti and L. Eriksson, EJNMMI Physics 3:8 (2016), whose table has the positrons' shares and
 * endpoints. Gammas follow at once, in any direction. Left out: lines below 4 in 100, the correlation of
 * directions in a cascade, the positron's life before it annihilates.
 */
#include "sim/sim_pet_photon.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_CHANNELS = 6, MOST_GAMMAS = 2, MOST_SCATTERS = 8 };

/* One way to decay; end_kev 0: electron capture, no positron. What is missing in 100 has neither positron nor
 * gamma. */
typedef struct channel {
    double percent, end_kev, gamma_kev[MOST_GAMMAS];
} channel;

struct sim_pet_isotope {
    const char *name;
    double daughter_z;
    channel channel[MOST_CHANNELS];
};

static const struct sim_pet_isotope isotopes[] = {
    {"F-18", 8, {{.percent = 96.86, .end_kev = 633.5}}},
    {"Ga-68",
     30,
     {{.percent = 87.68, .end_kev = 1899.1},
      {.percent = 1.20, .end_kev = 821.7, .gamma_kev = {1077.3}},
      {.percent = 2.03, .gamma_kev = {1077.3}}}},
    /* Half of the positrons have a gamma of 603 keV with them. */
    {"I-124",
     52,
     {{.percent = 10.7, .end_kev = 2137.6},
      {.percent = 11.7, .end_kev = 1534.9, .gamma_kev = {602.7}},
      {.percent = 0.3, .end_kev = 812, .gamma_kev = {602.7, 722.8}},
      {.percent = 10.06, .gamma_kev = {602.7, 722.8}},
      {.percent = 11.15, .gamma_kev = {602.7, 1691}},
      {.percent = 29.69, .gamma_kev = {602.7}}}},
};
enum { ISOTOPES = sizeof isotopes / sizeof *isotopes };

/* ---- positrons --------------------------------------------------------------------------------- */

/* e^x for 0 <= x < 700: the fraction of x / ln 2 by the series. */
static double exp_of(double x)
{
    const int64_t n = (int64_t)(x * 1.44269504088896341);
    const double r = x - (double)n * 0.69314718055994531;
    double sum = 1, term = 1;
    for (int i = 1; i < 20; i++) {
        term *= r / i;
        sum += term;
    }
    const uint64_t bits = (uint64_t)(n + 1023) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return sum * power;
}

/* An allowed spectrum of positrons, with the repulsion of a point charge without relativity. */
static void make_spectrum(double end_kev, double z, double *quantile)
{
    enum { BINS = 4096 };
    static const double fine_structure = 1 / 137.035999, pi = 3.14159265358979324;
    double density[BINS];
    for (size_t i = 0; i < BINS; i++) {
        const double t = end_kev * ((double)i + 0.5) / BINS / sim_pet_electron_kev;
        const double w = 1 + t, p = sqrt(w * w - 1), q = end_kev / sim_pet_electron_kev - t;
        const double x = 2 * pi * fine_structure * z * w / p;
        density[i] = x < 600 ? p * w * q * q * x / (exp_of(x) - 1) : 0;
    }
    slc_sim_pet_quantiles(density, BINS, 0, end_kev, quantile);
}

/* Where positrons of one energy come to rest in water: J. Palmer and G. L. Brownell, IEEE Trans. Med. Imaging
 * 11, 373 (1992), a normal distribution in each direction whose width is half the extrapolated range
 * b1 E² / (b2 + E), b1 = 4.569 A / Z^1.209 mm/MeV, b2 = 1 / (2.873 - 0.02309 Z) MeV, of water's mean
 * A = 14.32 and Z = 7.217 by weight. */
double slc_sim_pet_range_sigma(double energy_kev)
{
    static const double b1 = 5.9981, b2 = 0.36950;
    const double e = energy_kev * 1e-3;
    return 0.5 * b1 * e * e / (b2 + e);
}

slc_status slc_sim_pet_isotope(slc_sim_pet *sim, slc_error *error)
{
    const char *name = sim->config.isotope;
    sim->config.isotope = NULL; /* not the caller's any longer */
    if (name == NULL || strcmp(name, "ideal") == 0) {
        return SLC_OK;
    }
    for (size_t i = 0; i < ISOTOPES && sim->isotope == NULL; i++) {
        sim->isotope = strcmp(name, isotopes[i].name) == 0 ? &isotopes[i] : NULL;
    }
    if (sim->isotope == NULL) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "isotope: none is named \"%.40s\"; there are ideal, %s, %s and %s", name,
                        isotopes[0].name, isotopes[1].name, isotopes[2].name);
    }
    sim->positron = malloc(MOST_CHANNELS * sizeof *sim->positron);
    if (sim->positron == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the spectra of %s", name);
    }
    for (size_t i = 0; i < MOST_CHANNELS; i++) {
        const double end_kev = sim->isotope->channel[i].end_kev;
        if (end_kev > 0) {
            make_spectrum(end_kev, sim->isotope->daughter_z, sim->positron[i]);
        }
    }
    return SLC_OK;
}

/* From where the nucleus is to where the positron annihilates; none goes further than the crystals' faces. */
static void go_far(const slc_sim_pet *sim, uint64_t *random, size_t i, double at[3])
{
    const double sigma = slc_sim_pet_range_sigma(sim_pet_draw(sim->positron[i], random));
    double g[4];
    random_normals(random, &g[0], &g[1]);
    random_normals(random, &g[2], &g[3]);
    for (int k = 0; k < 3; k++) {
        at[k] += sigma * g[k];
    }
    const double r = sqrt(at[0] * at[0] + at[1] * at[1]), most = 0.999 * sim->config.geometry.radius_mm;
    if (r > most) {
        at[0] *= most / r;
        at[1] *= most / r;
    }
}

/* ---- phantoms ---------------------------------------------------------------------------------- */

/* Where a ray is inside a cylinder: from `in` to `out`, in mm along it; false: nowhere ahead. */
static bool cross(const slc_sim_pet_phantom *c, const double from[3], const double to[3], double *in,
                  double *out)
{
    const double x = from[0] - c->x_mm, y = from[1] - c->y_mm, z = from[2] - c->z_mm;
    const double a = to[0] * to[0] + to[1] * to[1], b = x * to[0] + y * to[1];
    const double left = x * x + y * y - c->radius_mm * c->radius_mm, root = b * b - a * left;
    const double half = 0.5 * c->length_mm;
    *in = -HUGE_VAL;
    *out = HUGE_VAL;
    if (a > 1e-18) {
        if (!(root > 0)) {
            return false;
        }
        const double s = sqrt(root);
        *in = (-b - s) / a;
        *out = (-b + s) / a;
    } else if (left >= 0) {
        return false;
    }
    if (fabs(to[2]) > 1e-9) {
        const double t = (-half - z) / to[2], u = (half - z) / to[2];
        *in = fmax(*in, fmin(t, u));
        *out = fmin(*out, fmax(t, u));
    } else if (fabs(z) >= half) {
        return false;
    }
    return *out > fmax(*in, 0);
}

/* How far a photon goes until `depth` interactions at 511 keV would have been expected; negative: it comes
 * out before. Where cylinders overlap, the last of them counts. */
double slc_sim_pet_reach(const slc_sim_pet_config *config, const double from[3], const double to[3],
                         double depth)
{
    double in[SLC_SIM_PET_PHANTOMS], out[SLC_SIM_PET_PHANTOMS], mu[SLC_SIM_PET_PHANTOMS];
    uint32_t n = 0;
    for (uint32_t i = 0; i < config->n_phantoms; i++) {
        if (cross(&config->phantom[i], from, to, &in[n], &out[n])) {
            mu[n++] = config->phantom[i].mu_per_mm;
        }
    }
    for (double at = 0;;) {
        double next = HUGE_VAL, here = 0;
        for (uint32_t i = 0; i < n; i++) {
            if (in[i] <= at && at < out[i]) {
                here = mu[i];
            }
            next = in[i] > at && in[i] < next ? in[i] : next;
            next = out[i] > at && out[i] < next ? out[i] : next;
        }
        if (next == HUGE_VAL) {
            return -1;
        }
        if (depth < here * (next - at)) {
            return at + depth / here;
        }
        depth -= here * (next - at);
        at = next;
    }
}

/* On its way out of the object; false: it does not come out with an energy that matters. */
static bool leave_object(const slc_sim_pet *sim, uint64_t *random, sim_pet_photon *p)
{
    static const double least_kev = 20;
    if (sim->config.n_phantoms == 0) {
        if (random_open(random) < sim->config.scatter_fraction) {
            sim_pet_scatter(p, random);
            p->scattered = 1;
        }
        return true;
    }
    for (int i = 0; i < MOST_SCATTERS; i++) {
        const double depth = random_exponential(random) / sim_pet_compton_share(p->energy_kev);
        const double length = slc_sim_pet_reach(&sim->config, p->from, p->to, depth);
        if (length < 0) {
            return true;
        }
        sim_pet_move(p, length);
        sim_pet_scatter(p, random);
        p->scattered++;
        if (p->energy_kev < least_kev) {
            return false;
        }
    }
    return false;
}

/* ---- a decay ----------------------------------------------------------------------------------- */

static void follow(slc_sim_pet *sim, uint64_t *random, sim_pet_photon p)
{
    for (int i = 0; i < 3; i++) {
        p.began_mm[i] = (float)p.from[i];
    }
    if (leave_object(sim, random, &p)) {
        slc_sim_pet_detect(sim, random, &p);
    }
}

/* Both photons of an annihilation. Each of the two angles by which they are off one line is normal. */
static void annihilate(slc_sim_pet *sim, uint64_t *random, sim_pet_photon p)
{
    p.energy_kev = sim_pet_electron_kev;
    p.photon = SLC_SIM_PET_FIRST;
    sim_pet_direction(random, 1, p.to);
    sim_pet_photon q = p;
    q.photon = SLC_SIM_PET_SECOND;
    double off[2] = {0, 0}, e[3], f[3];
    if (sim->noncollinearity > 0) {
        random_normals(random, &off[0], &off[1]);
    }
    sim_pet_across(p.to, e, f);
    double square = 0;
    for (int i = 0; i < 3; i++) {
        q.to[i] = -p.to[i] + sim->noncollinearity * (off[0] * e[i] + off[1] * f[i]);
        square += q.to[i] * q.to[i];
    }
    for (int i = 0; i < 3; i++) {
        q.to[i] /= sqrt(square);
    }
    follow(sim, random, p);
    follow(sim, random, q);
}

void slc_sim_pet_decay(slc_sim_pet *sim, uint64_t *random, double after_ps, uint64_t event)
{
    sim_pet_photon p = {.after_ps = after_ps, .event = event};
    slc_sim_pet_choose_place(sim, random, p.from);
    if (sim->isotope == NULL) {
        annihilate(sim, random, p);
        return;
    }
    double at = 100 * random_open(random);
    size_t i = 0;
    while (i < MOST_CHANNELS && at >= sim->isotope->channel[i].percent) {
        at -= sim->isotope->channel[i++].percent;
    }
    if (i == MOST_CHANNELS) {
        return;
    }
    const channel *c = &sim->isotope->channel[i];
    for (size_t k = 0; k < MOST_GAMMAS && c->gamma_kev[k] > 0; k++) {
        sim_pet_photon gamma = p;
        gamma.energy_kev = c->gamma_kev[k];
        gamma.photon = SLC_SIM_PET_PROMPT;
        sim_pet_direction(random, 1, gamma.to);
        follow(sim, random, gamma);
    }
    if (c->end_kev > 0) {
        go_far(sim, random, i, p.from);
        annihilate(sim, random, p);
    }
}
