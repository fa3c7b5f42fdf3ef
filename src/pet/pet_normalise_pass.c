/* SPDX-License-Identifier: Apache-2.0
 *
 * Sums over all pairs of crystals of what is expected of them. Where the scanner is turned by one crystal and
 * is the same again, and so is the source, what is expected depends on two rings and the difference around
 * them: a table, and rows of products. Otherwise it is computed for each pair, anew in each pass, as a matrix
 * of all pairs would be too large.
 */
#include "pet/pet_normalise_work.h"

#include <stdlib.h>
#include <string.h>

enum {
    CHUNKS = SLC_PET_NORMALISE_CHUNKS,
    MOST_ENTRIES = 1 << 27 /* of the table */
};

/* ---- the table --------------------------------------------------------------------------------- */

/* Is each crystal where the first of its ring is, turned by as many steps? */
static bool turns(const slc_pet_normalise *n, uint32_t per_ring)
{
    static const double enough_mm = 1e-6, enough = 1e-9;
    for (uint32_t i = 0; i < n->crystals; i++) {
        const double angle = 6.283185307179586 * (i % per_ring) / per_ring;
        const double c = cos(angle), s = sin(angle);
        const pet_normalise_crystal *is = &n->crystal[i], *first = &n->crystal[i - i % per_ring];
        for (int k = 0; k < 2; k++) {
            const double *p = k == 0 ? is->place : is->direction,
                         *q = k == 0 ? first->place : first->direction;
            const double most = k == 0 ? enough_mm : enough;
            if (!(fabs(p[0] - (c * q[0] - s * q[1])) <= most && fabs(p[1] - (s * q[0] + c * q[1])) <= most &&
                  fabs(p[2] - q[2]) <= most)) {
                return false;
            }
        }
    }
    return true;
}

slc_status slc_pet_normalise_make_table(slc_pet_normalise *n)
{
    const uint32_t per_ring = slc_pet_crystals_per_ring(&n->config.geometry);
    const uint64_t rings = n->crystals / per_ring;
    const slc_pet_cylinder *source = &n->config.source;
    if (n->crystals % per_ring != 0 || rings * rings > MOST_ENTRIES / per_ring || source->x_mm != 0 ||
        source->y_mm != 0 || !turns(n, per_ring)) {
        return SLC_OK;
    }
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): sizes are checked and above 0 */
    n->table = malloc(rings * rings * per_ring * sizeof *n->table);
    n->with_factors = malloc(rings * rings * per_ring * sizeof *n->with_factors);
    if (n->table == NULL || n->with_factors == NULL) {
        return SLC_ERR_MEMORY;
    }
    n->per_ring = per_ring;
    n->rings = (uint32_t)rings;
    for (uint32_t row = 0; row < rings * rings; row++) {
        const pet_normalise_crystal *a = &n->crystal[row / rings * per_ring];
        for (uint32_t d = 0; d < per_ring; d++) {
            const pet_normalise_crystal *b = &n->crystal[row % rings * per_ring + d];
            n->table[(size_t)row * per_ring + d] = a != b ? (float)slc_pet_normalise_expected(n, a, b) : 0;
        }
    }
    return SLC_OK;
}

/* What is expected with the factors as they are now. */
static void apply_factors(slc_pet_normalise *n)
{
    for (size_t row = 0; row < (size_t)n->rings * n->rings; row++) {
        const pet_normalise_crystal *a = &n->crystal[row / n->rings * n->per_ring];
        for (uint32_t d = 0; d < n->per_ring; d++) {
            const size_t at = row * n->per_ring + d;
            const size_t bin = slc_pet_normalise_bin(n, a, &n->crystal[row % n->rings * n->per_ring + d]);
            n->with_factors[at] = n->table[at] * n->radial[bin / n->n_axial] * n->axial[bin % n->n_axial];
        }
    }
}

/* Four sums, so that an addition does not wait for the one before. */
static double product(const float *x, const double *y, uint32_t n)
{
    double sum[4] = {0};
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        for (uint32_t k = 0; k < 4; k++) {
            sum[k] += (double)x[i + k] * y[i + k];
        }
    }
    for (; i < n; i++) {
        sum[0] += (double)x[i] * y[i];
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static double sum_by_table(const slc_pet_normalise *n, const double *vector, uint32_t a)
{
    const uint32_t per_ring = n->per_ring, k = a % per_ring;
    double sum = 0;
    for (uint32_t ring = 0; ring < n->rings; ring++) {
        const float *row = n->with_factors + ((size_t)(a / per_ring) * n->rings + ring) * per_ring;
        const double *of = vector + (size_t)ring * per_ring;
        sum += product(row, of + k, per_ring - k) + product(row + (per_ring - k), of, k);
    }
    return sum;
}

/* ---- each pair --------------------------------------------------------------------------------- */

static double sum_by_pairs(const slc_pet_normalise *n, const double *vector, uint32_t a)
{
    double sum = 0;
    for (uint32_t b = 0; b < n->crystals; b++) {
        if (vector[b] == 0 || a == b) {
            continue;
        }
        double e = slc_pet_normalise_of(n, a, b);
        if (e > 0) {
            if (n->config.geometric) {
                const size_t bin = slc_pet_normalise_bin(n, &n->crystal[a], &n->crystal[b]);
                e *= (double)n->radial[bin / n->n_axial] * (double)n->axial[bin % n->n_axial];
            }
            sum += vector[b] * e;
        }
    }
    return sum;
}

typedef struct pass {
    const slc_pet_normalise *n;
    const double *vector;
    double *sums;
} pass;

static void pass_chunk(void *context, uint32_t chunk)
{
    const pass *p = context;
    const uint32_t from = (uint32_t)((uint64_t)p->n->crystals * chunk / CHUNKS);
    const uint32_t until = (uint32_t)((uint64_t)p->n->crystals * (chunk + 1) / CHUNKS);
    for (uint32_t a = from; a < until; a++) {
        p->sums[a] = p->n->table != NULL ? sum_by_table(p->n, p->vector, a)
                                         : sum_by_pairs(p->n, p->vector, a);
    }
}

void slc_pet_normalise_factors_changed(slc_pet_normalise *n)
{
    if (n->table != NULL) {
        apply_factors(n);
    }
}

void slc_pet_normalise_pass(slc_pet_normalise *n, const double *vector, double *sums)
{
    pass p = {.n = n, .vector = vector, .sums = sums};
    slc_team_run(n->team, CHUNKS, pass_chunk, &p);
}

/* ---- by bins ----------------------------------------------------------------------------------- */

typedef struct by_bins {
    const slc_pet_normalise *n;
    const double *e;
    double *model; /* of each chunk */
} by_bins;

static void bins_chunk(void *context, uint32_t chunk)
{
    const by_bins *p = context;
    const slc_pet_normalise *n = p->n;
    double *model = p->model + chunk * (size_t)n->n_radial * n->n_axial;
    const uint32_t from = (uint32_t)((uint64_t)n->crystals * chunk / CHUNKS);
    const uint32_t until = (uint32_t)((uint64_t)n->crystals * (chunk + 1) / CHUNKS);
    for (uint32_t a = from; a < until; a++) {
        for (uint32_t b = a + 1; p->e[a] > 0 && b < n->crystals; b++) {
            const double e = p->e[b] > 0 ? slc_pet_normalise_of(n, a, b) : 0;
            if (e > 0) {
                model[slc_pet_normalise_bin(n, &n->crystal[a], &n->crystal[b])] += p->e[a] * p->e[b] * e;
            }
        }
    }
}

void slc_pet_normalise_by_bins(slc_pet_normalise *n, const double *e, double *model)
{
    const size_t bins = (size_t)n->n_radial * n->n_axial;
    by_bins p = {.n = n, .e = e, .model = model};
    memset(model, 0, CHUNKS * bins * sizeof *model);
    slc_team_run(n->team, CHUNKS, bins_chunk, &p);
    for (size_t chunk = 1; chunk < CHUNKS; chunk++) {
        for (size_t i = 0; i < bins; i++) {
            model[i] += model[chunk * bins + i];
        }
    }
}
