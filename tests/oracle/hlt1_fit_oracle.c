/* SPDX-License-Identifier: Apache-2.0
 * Slow and obvious: every place of the way with its full 5 × 5 matrices. */
#include "oracle/hlt1_fit_oracle.h"

#include <math.h>
#include <string.h>

enum { PLACES = HLT1_ORACLE_VELO_HITS + SLC_HLT1_UT_LAYERS + SLC_HLT1_T_LAYERS };

/* A place where something is measured, the step that leads to it, and up to two measured numbers: what is
 * left of the trajectory, and its derivatives. */
typedef struct place {
    slc_hlt1_step step;
    size_t n;
    double residual[2], row[2][5];
} place;

/* What is known of a state: cost(d) = d' info d - 2 d' vector + constant. */
typedef struct known {
    double info[5][5], vector[5], constant;
} known;

static void measure(place *p, double residual, double variance, double by_y, int axis)
{
    if (variance > 0) {
        const double w = 1 / sqrt(variance);
        memset(p->row[p->n], 0, sizeof p->row[p->n]);
        p->residual[p->n] = residual * w;
        p->row[p->n][axis] = w;
        p->row[p->n][1] += axis == 0 ? by_y * w : 0;
        p->n++;
    }
}

static void louder(slc_hlt1_step *step, double factor)
{
    for (size_t i = 0; i < 6; i++) {
        step->noise[i / 3][i % 3] *= factor * factor;
    }
}

/* Flies from the most upstream hit to the last layer; returns the number of places, 0 where it fails. */
static size_t fly(const slc_hlt1_transport *t, const hlt1_oracle_noise *noise, const hlt1_oracle_track *track,
                  slc_hlt1_ray ray, place *places)
{
    size_t n = 0;
    for (size_t i = track->n_velo; i-- > 0; n++) {
        place *p = &places[n];
        *p = (place){.n = 0};
        if (n > 0) {
            (void)slc_hlt1_in_velo(t, &ray, track->velo[i].z, &p->step);
            louder(&p->step, noise->velo);
        }
        measure(p, track->velo[i].x - ray.x, track->velo[i].variance, 0, 0);
        measure(p, track->velo[i].y - ray.y, track->velo[i].variance, 0, 1);
    }
    for (unsigned layer = 0; layer < SLC_HLT1_UT_LAYERS; layer++, n++) {
        place *p = &places[n];
        *p = (place){.n = 0};
        const bool hit = track->ut[layer].variance > 0;
        const double z = hit ? track->ut[layer].z : t->ut_z_mm[layer];
        if (!(layer == 0 ? slc_hlt1_velo_to_ut(t, &ray, z, &p->step)
                         : slc_hlt1_in_ut(t, &ray, layer, z, &p->step))) {
            return 0;
        }
        louder(&p->step, layer == 0 ? noise->velo_ut : noise->ut);
        measure(p, track->ut[layer].x + track->ut[layer].dxdy * ray.y - ray.x, track->ut[layer].variance,
                -track->ut[layer].dxdy, 0);
    }
    for (unsigned layer = 0; layer < SLC_HLT1_T_LAYERS; layer++, n++) {
        place *p = &places[n];
        slc_hlt1_step more;
        *p = (place){.n = 0};
        const bool hit = track->t[layer].variance > 0;
        if (layer == 0) {
            (void)slc_hlt1_about_ut(t, &ray, t->z_begin_mm, &p->step);
            if (!slc_hlt1_ut_to_t(t, &ray, &more)) {
                return 0;
            }
            louder(&more, noise->ut_t);
            slc_hlt1_steps_join(&p->step, &more);
        }
        const double z = slc_hlt1_meets_plane(&ray, hit ? track->t[layer].z : t->t_z_mm[layer],
                                              hit ? track->t[layer].dzdy : 1 / t->t_dydz);
        if (layer == 0) {
            (void)slc_hlt1_about_t(t, &ray, z, &more);
            slc_hlt1_steps_join(&p->step, &more);
        } else {
            (void)slc_hlt1_in_t(t, &ray, layer, z, &p->step);
            louder(&p->step, noise->t);
        }
        measure(p, track->t[layer].x + track->t[layer].dxdy * ray.y - ray.x, track->t[layer].variance,
                -track->t[layer].dxdy, 0);
    }
    return n;
}

static void add_row(known *k, const double row[5], double residual)
{
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            k->info[i][j] += row[i] * row[j];
        }
        k->vector[i] += row[i] * residual;
    }
    k->constant += residual * residual;
}

/* Forgets along `direction`, by a normal number: the best of all is taken. */
static void forget(known *k, const double direction[5])
{
    double turned[5], scale = 1, along = 0;
    for (size_t i = 0; i < 5; i++) {
        turned[i] = 0;
        for (size_t j = 0; j < 5; j++) {
            turned[i] += k->info[i][j] * direction[j];
        }
        along += k->vector[i] * direction[i];
    }
    for (size_t i = 0; i < 5; i++) {
        scale += direction[i] * turned[i];
    }
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            k->info[i][j] -= turned[i] * turned[j] / scale;
        }
        k->vector[i] -= turned[i] * along / scale;
    }
    k->constant -= along * along / scale;
}

static void step_back(known *k, const slc_hlt1_step *step)
{
    known back = {.constant = 0};
    for (size_t v = 0; v < 2; v++) {
        const double *n = step->noise[v];
        if (n[2] > 0) {
            const double along = n[1] / sqrt(n[2]);
            double direction[5] = {0};
            direction[v] = along;
            direction[2 + v] = sqrt(n[2]);
            forget(k, direction);
            direction[v] = sqrt(fmax(n[0] - along * along, 0.0));
            direction[2 + v] = 0;
            forget(k, direction);
        }
    }
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            for (size_t a = 0; a < 5; a++) {
                for (size_t b = 0; b < 5; b++) {
                    back.info[i][j] += step->jacobian[a][i] * k->info[a][b] * step->jacobian[b][j];
                }
            }
        }
        for (size_t a = 0; a < 5; a++) {
            back.vector[i] += step->jacobian[a][i] * k->vector[a];
        }
    }
    back.constant = k->constant;
    *k = back;
}

/* The inverse of a positive definite matrix, by Gauss and Jordan. */
static bool invert(double m[5][5], double inverse[5][5])
{
    double scale[5];
    for (size_t i = 0; i < 5; i++) {
        if (!(m[i][i] > 0)) {
            return false;
        }
        scale[i] = 1 / sqrt(m[i][i]);
    }
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            m[i][j] *= scale[i] * scale[j];
            inverse[i][j] = i == j;
        }
    }
    for (size_t i = 0; i < 5; i++) {
        const double pivot = m[i][i];
        if (!(pivot > 0)) {
            return false;
        }
        for (size_t j = 0; j < 5; j++) {
            m[i][j] /= pivot;
            inverse[i][j] /= pivot;
        }
        for (size_t k = 0; k < 5; k++) {
            const double factor = k == i ? 0 : m[k][i];
            for (size_t j = 0; j < 5; j++) {
                m[k][j] -= factor * m[i][j];
                inverse[k][j] -= factor * inverse[i][j];
            }
        }
    }
    for (size_t i = 0; i < 5; i++) {
        for (size_t j = 0; j < 5; j++) {
            inverse[i][j] *= scale[i] * scale[j];
        }
    }
    return true;
}

bool hlt1_oracle_run(const slc_hlt1_transport *t, const hlt1_oracle_noise *noise,
                     const hlt1_oracle_track *track, unsigned passes, hlt1_oracle_fit *fit)
{
    static place places[PLACES];
    slc_hlt1_ray ray = track->start;
    (void)slc_hlt1_in_velo(t, &ray, track->velo[track->n_velo - 1].z, NULL);
    for (unsigned pass = 0; pass < passes; pass++) {
        known k = {.constant = 0};
        const size_t n = fly(t, noise, track, ray, places);
        int measured = 0;
        for (size_t p = n; p-- > 0;) {
            for (size_t m = 0; m < places[p].n; m++) {
                add_row(&k, places[p].row[m], places[p].residual[m]);
                measured++;
            }
            if (p > 0) {
                step_back(&k, &places[p].step);
            }
        }
        if (n == 0 || !invert(k.info, fit->covariance)) {
            return false;
        }
        double change[5] = {0};
        fit->chi2 = k.constant;
        for (size_t i = 0; i < 5; i++) {
            for (size_t j = 0; j < 5; j++) {
                change[i] += fit->covariance[i][j] * k.vector[j];
            }
            fit->chi2 -= change[i] * k.vector[i];
        }
        ray.x += change[0];
        ray.y += change[1];
        ray.tx += change[2];
        ray.ty += change[3];
        ray.q_over_p += change[4];
        fit->n_dof = measured - 5;
    }
    fit->ray = ray;
    return true;
}
