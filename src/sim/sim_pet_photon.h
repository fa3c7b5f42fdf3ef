/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside sim_pet: photons on their way, and what turns them. As in sim_pet_random.h no function of the C
 * library's mathematics but sqrt is used.
 */
#ifndef SLUICE_SIM_PET_PHOTON_H
#define SLUICE_SIM_PET_PHOTON_H

#include "sim/sim_pet_event.h"
#include "sim/sim_pet_random.h"

static const double sim_pet_light_mm_ps = 0.299792458, sim_pet_electron_kev = 510.99895;

struct sim_pet_photon {
    double from[3], to[3]; /* `to`: a unit vector */
    double energy_kev;
    double after_ps; /* it is at `from` so long after the step's begin */
    uint64_t event;
    float began_mm[3];         /* NaN where that is not known */
    uint8_t scattered, photon; /* as in the truth */
};

static inline double sim_pet_draw(const double *quantile, uint64_t *random)
{
    const double at = random_open(random) * SIM_PET_QUANTILES;
    const size_t i = (size_t)at;
    return quantile[i] + (at - (double)i) * (quantile[i + 1] - quantile[i]);
}

/* Two unit vectors across a unit vector: T. Duff et al., "Building an orthonormal basis, revisited" (2017).
 */
static inline void sim_pet_across(const double to[3], double e[3], double f[3])
{
    const double sign = to[2] < 0 ? -1 : 1, a = -1 / (sign + to[2]), b = to[0] * to[1] * a;
    e[0] = 1 + sign * to[0] * to[0] * a;
    e[1] = sign * b;
    e[2] = -sign * to[0];
    f[0] = b;
    f[1] = sign + to[1] * to[1] * a;
    f[2] = -to[1];
}

/* Turns `to` by an angle with that cosine, about itself by any. */
static inline void sim_pet_turn(double to[3], double cosine, uint64_t *random)
{
    double u, v, e[3], f[3];
    const double s = random_disc(random, &u, &v), sine = sqrt(1 - cosine * cosine) / s;
    const double c = (u * u - v * v) * sine, d = 2 * u * v * sine;
    sim_pet_across(to, e, f);
    for (int i = 0; i < 3; i++) {
        to[i] = cosine * to[i] + c * e[i] + d * f[i];
    }
}

/* A unit vector of any direction whose part along the axis is at most `steepest`. */
static inline void sim_pet_direction(uint64_t *random, double steepest, double to[3])
{
    double x, y;
    const double s = random_disc(random, &x, &y);
    to[2] = steepest * (2 * random_open(random) - 1);
    const double across = sqrt(1 - to[2] * to[2]) / s;
    to[0] = across * (x * x - y * y);
    to[1] = across * (2 * x * y);
}

/* The share of its energy with which a photon goes on after Compton's scattering off a free electron, drawn
 * from the formula of O. Klein and Y. Nishina (1929) by the method of H. Kahn ("Applications of Monte Carlo",
 * 1954); the cosine of the angle that belongs to it. */
static inline double sim_pet_compton(double energy_kev, uint64_t *random, double *cosine)
{
    const double a = energy_kev / sim_pet_electron_kev, most = 1 + 2 * a;
    for (;;) {
        const double which = random_open(random), u = random_open(random), v = random_open(random);
        double x; /* energy before over energy after */
        bool take;
        if (which * (9 + 2 * a) < most) {
            x = 1 + 2 * a * u;
            take = v < 4 * (1 / x - 1 / (x * x));
        } else {
            x = most / (1 + 2 * a * u);
            const double c = 1 - (x - 1) / a;
            take = v < 0.5 * (c * c + 1 / x);
        }
        if (take) {
            const double c = 1 - (x - 1) / a;
            *cosine = c < -1 ? -1 : c > 1 ? 1 : c;
            return 1 / x;
        }
    }
}

static inline void sim_pet_scatter(sim_pet_photon *p, uint64_t *random)
{
    double cosine;
    p->energy_kev *= sim_pet_compton(p->energy_kev, random, &cosine);
    sim_pet_turn(p->to, cosine, random);
}

/* Klein's and Nishina's cross section over that at 511 keV. */
static inline double sim_pet_compton_share(double energy_kev)
{
    const double a = energy_kev / sim_pet_electron_kev, b = 1 + 2 * a, l = log_of(b);
    const double section = (1 + a) / (a * a) * (2 * (1 + a) / b - l / a) + l / (2 * a) -
                           (1 + 3 * a) / (b * b);
    const double l3 = 1.09861228866810969, at_511 = 2 * (4.0 / 3 - l3) + l3 / 2 - 4.0 / 9;
    return section / at_511;
}

static inline void sim_pet_move(sim_pet_photon *p, double length_mm)
{
    for (int i = 0; i < 3; i++) {
        p->from[i] += length_mm * p->to[i];
    }
    p->after_ps += length_mm / sim_pet_light_mm_ps;
}

#endif
