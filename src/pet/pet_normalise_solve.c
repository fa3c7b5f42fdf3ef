/* SPDX-License-Identifier: Apache-2.0
 *
 * The most likely efficiencies. With x = log efficiency, the logarithm of the likelihood of counts n[ab] that
 * are expected to be e[a] e[b] E[ab] has the slope fan[a] − e[a] Σ e[b] E[ab], and minus its second
 * derivative is the matrix with M[aa] = e[a] Σ e[b] E[ab] and M[ab] = e[a] e[b] E[ab]: never negative.
 * Newton's steps are found by conjugate gradients, as no matrix of all pairs is kept: E is computed anew in
 * each pass. (Dividing fan sums by what is expected, again and again, would be as right, but an efficiency
 * that varies once around the ring is then found by a fifth a step, and a common factor not at all: it
 * swings.)
 *
 * Geometric factors are the ratios of counts and expectations by bin, as a product of a radial and an axial
 * one (iterative proportional fitting), found in turn with the efficiencies.
 */
#include "pet/pet_normalise_work.h"

#include <stdlib.h>
#include <string.h>

enum {
    STEPS = 12, /* of Newton's */
    INNER = 40, /* of conjugate gradients for each */
    TURNS = 4,  /* of efficiencies and geometric factors */
    FITS = 30,  /* of radial and axial factors */
};

typedef struct solver {
    slc_pet_normalise *n;
    double *e;                 /* efficiencies, with the common factor; 0: not looked for */
    double *expected;          /* Σ e[b] E[ab] */
    double *x, *r, *z, *p, *q; /* of conjugate gradients */
    double *model;             /* by chunk and bin: e e E */
    uint32_t passes;
} solver;

static void pass(solver *s, const double *vector, double *sums)
{
    slc_pet_normalise_pass(s->n, vector, sums);
    s->passes++;
}

/* ---- efficiencies ------------------------------------------------------------------------------ */

/* q = M p. */
static void multiply(solver *s)
{
    const uint32_t n = s->n->crystals;
    for (uint32_t i = 0; i < n; i++) {
        s->z[i] = s->e[i] * s->p[i];
    }
    pass(s, s->z, s->q);
    for (uint32_t i = 0; i < n; i++) {
        s->q[i] = s->e[i] * (s->q[i] + s->expected[i] * s->p[i]);
    }
}

/* z = r over M's diagonal; the product of r and z. */
static double precondition(solver *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->n->crystals; i++) {
        const double diagonal = s->e[i] * s->expected[i];
        s->z[i] = diagonal > 0 ? s->r[i] / diagonal : 0;
        sum += s->r[i] * s->z[i];
    }
    return sum;
}

/* x = M⁻¹ r, until what is left is a hundredth of a count's error. */
static void newton_step(solver *s)
{
    const uint32_t n = s->n->crystals;
    memset(s->x, 0, n * sizeof *s->x);
    double rz = precondition(s);
    const double enough = rz * 1e-6;
    memcpy(s->p, s->z, n * sizeof *s->p);
    for (int i = 0; i < INNER && rz > enough; i++) {
        multiply(s);
        double pq = 0;
        for (uint32_t k = 0; k < n; k++) {
            pq += s->p[k] * s->q[k];
        }
        if (!(pq > 0)) {
            return;
        }
        const double length = rz / pq;
        for (uint32_t k = 0; k < n; k++) {
            s->x[k] += length * s->p[k];
            s->r[k] -= length * s->q[k];
        }
        const double next = precondition(s);
        for (uint32_t k = 0; k < n; k++) {
            s->p[k] = s->z[k] + next / rz * s->p[k];
        }
        rz = next;
    }
}

/* The slope to r; by how many errors of its counts a crystal is off at most. */
static double slope(solver *s)
{
    double most = 0;
    pass(s, s->e, s->expected);
    for (uint32_t i = 0; i < s->n->crystals; i++) {
        s->r[i] = s->e[i] > 0 ? (double)s->n->fan[i] - s->e[i] * s->expected[i] : 0;
        const double off = s->e[i] > 0 ? fabs(s->r[i]) / sqrt((double)s->n->fan[i]) : 0;
        most = off > most ? off : most;
    }
    return most;
}

/* From e as it is. What is left is far below what chance makes of the counts. */
static bool find_efficiencies(solver *s)
{
    static const double enough = 0.1;
    double off = slope(s);
    for (int step = 0; step < STEPS && off > enough; step++) {
        newton_step(s);
        for (uint32_t i = 0; i < s->n->crystals; i++) {
            /* No step is longer than a factor e: far from the end the second derivatives are not those of
             * the end. */
            s->e[i] *= exp(fmin(fmax(s->x[i], -1), 1));
        }
        off = slope(s);
    }
    return off <= enough;
}

/* Which crystals are looked for, and a common factor to begin with. */
static void begin(solver *s, slc_pet_normalise_found *found)
{
    const slc_pet_normalise *n = s->n;
    double counts = 0, model = 0;
    for (uint32_t i = 0; i < n->crystals; i++) {
        s->e[i] = 1;
    }
    pass(s, s->e, s->expected);
    for (uint32_t i = 0; i < n->crystals; i++) {
        const bool seen = s->expected[i] > 0;
        found->unseen += !seen;
        found->dead += seen && n->fan[i] <= 0;
        s->e[i] = seen && n->fan[i] > 0;
        counts += s->e[i] > 0 ? (double)n->fan[i] : 0;
        model += s->e[i] > 0 ? s->expected[i] : 0;
    }
    for (uint32_t i = 0; i < n->crystals && model > 0; i++) {
        s->e[i] *= sqrt(counts / model);
    }
}

/* ---- geometric factors ------------------------------------------------------------------------- */

/* Factors of one direction to those that make its sums those of the counts: `stride` between its bins, `step`
 * between those of the other one. The product over bins of the mean is 1. */
static void fit(const solver *s, float *factor, uint32_t bins, size_t stride, const float *other,
                uint32_t others, size_t step)
{
    double all = 0, weighted = 0;
    for (uint32_t i = 0; i < bins; i++) {
        double counts = 0, model = 0;
        for (uint32_t k = 0; k < others; k++) {
            counts += (double)s->n->counted[i * stride + k * step];
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): no status is SLC_OK after slc_fail */
            model += (double)other[k] * s->model[i * stride + k * step];
        }
        if (counts > 0 && model > 0) {
            factor[i] = (float)(counts / model);
            all += counts;
            weighted += counts * (double)factor[i];
        } else {
            factor[i] = 0;
        }
    }
    for (uint32_t i = 0; i < bins && weighted > 0; i++) {
        factor[i] = factor[i] > 0 ? (float)((double)factor[i] * all / weighted) : 1;
    }
}

/* s->model has what is expected without factors. */
static void fit_both(solver *s)
{
    slc_pet_normalise *n = s->n;
    for (int i = 0; i < FITS; i++) {
        fit(s, n->radial, n->n_radial, n->n_axial, n->axial, n->n_axial, 1);
        fit(s, n->axial, n->n_axial, 1, n->radial, n->n_radial, n->n_axial);
    }
}

static void find_geometric(solver *s)
{
    slc_pet_normalise_by_bins(s->n, s->e, s->model);
    s->passes++;
    fit_both(s);
    slc_pet_normalise_factors_changed(s->n);
}

/* ---- all --------------------------------------------------------------------------------------- */

/* Means of crystals that are not dead: of each block, and of each place over its block's. */
static void find_blocks(const slc_pet_normalise *n, const float *efficiency)
{
    const slc_pet_geometry *g = &n->config.geometry;
    const uint32_t units = g->blocks_y * g->blocks_z;
    for (int places = 0; places < 2; places++) {
        float *mean = places != 0 ? n->place : n->block;
        const uint32_t groups = places != 0 ? n->n_places : n->n_blocks;
        for (uint32_t k = 0; k < groups; k++) {
            mean[k] = 0;
        }
        for (uint32_t k = 0; k < groups; k++) {
            double sum = 0;
            uint32_t live = 0;
            for (uint32_t m = 0; m < (places != 0 ? n->n_blocks : n->n_places); m++) {
                const uint32_t block = places != 0 ? m : k, local = places != 0 ? k : m;
                const uint32_t c = slc_pet_crystal(g, block / units, block % units, local);
                const double of = places != 0 ? (double)n->block[block] : 1;
                if (efficiency[c] > 0 && of > 0) {
                    sum += (double)efficiency[c] / of;
                    live++;
                }
            }
            mean[k] = live > 0 ? (float)(sum / live) : 0;
        }
    }
}

static void give(const solver *s, float *efficiency, slc_pet_normalise_found *found)
{
    const slc_pet_normalise *n = s->n;
    double sum = 0, squares = 0, chance = 0;
    uint32_t live = 0;
    for (uint32_t i = 0; i < n->crystals; i++) {
        sum += s->e[i];
        live += s->e[i] > 0;
    }
    for (uint32_t i = 0; i < n->crystals; i++) {
        const double e = live > 0 ? s->e[i] * live / sum : 0;
        efficiency[i] = (float)e;
        squares += e > 0 ? (e - 1) * (e - 1) : 0;
        const double counts = (double)n->fan[i];
        chance += e > 0 ? e * e * (double)n->pairs[i] / (counts * counts) : 0;
    }
    found->spread = live > 0 ? sqrt(squares / live) : 0;
    found->error = live > 0 ? sqrt(chance / live) : 0;
    find_blocks(n, efficiency);
    found->block = n->block;
    found->place = n->place;
    found->n_blocks = n->n_blocks;
    found->n_places = n->n_places;
    found->passes = s->passes;
}

static bool make_room(solver *s)
{
    const size_t n = s->n->crystals, bins = (size_t)s->n->n_radial * s->n->n_axial;
    double *room = calloc(7 * n, sizeof *room);
    s->e = room;
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): sizes are checked and above 0 */
    s->model = s->n->config.geometric ? malloc(SLC_PET_NORMALISE_CHUNKS * bins * sizeof *s->model) : NULL;
    if (room == NULL || (s->n->config.geometric && s->model == NULL)) {
        free(room);
        free(s->model);
        return false;
    }
    s->expected = room + n;
    s->x = room + 2 * n;
    s->r = room + 3 * n;
    s->z = room + 4 * n;
    s->p = room + 5 * n;
    s->q = room + 6 * n;
    return true;
}

slc_status slc_pet_normalise_solve(slc_pet_normalise *n, float *efficiency, slc_pet_normalise_found *found,
                                   slc_error *error)
{
    *found = (slc_pet_normalise_found){.prompts = n->prompts, .delayeds = n->delayeds, .outside = n->outside};
    if (n->prompts <= n->delayeds) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "no pair passes through the source: %llu prompts and %llu delayeds do, %llu do not",
                        (unsigned long long)n->prompts, (unsigned long long)n->delayeds,
                        (unsigned long long)n->outside);
    }
    for (uint32_t i = 0; i < n->n_radial; i++) {
        n->radial[i] = 1;
    }
    for (uint32_t i = 0; i < n->n_axial; i++) {
        n->axial[i] = 1;
    }
    solver s = {.n = n};
    if (!make_room(&s)) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory to normalise %u crystals", n->crystals);
    }
    slc_pet_normalise_factors_changed(n);
    begin(&s, found);
    found->converged = find_efficiencies(&s);
    for (int turn = 0; n->config.geometric && turn < TURNS; turn++) {
        find_geometric(&s);
        found->converged = find_efficiencies(&s);
    }
    give(&s, efficiency, found);
    if (n->config.geometric) {
        found->radial = n->radial;
        found->axial = n->axial;
        found->n_radial = n->n_radial;
        found->n_axial = n->n_axial;
        found->radial_mm = n->radial_mm;
        found->axial_mm = n->axial_mm;
    }
    free(s.e);
    free(s.model);
    return SLC_OK;
}
