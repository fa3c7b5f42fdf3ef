/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside pet_normalise: what is counted, and what is expected of a pair of crystals.
 * pet_normalise.c         configuration, pairs to fan sums
 * pet_normalise_pass.c    sums over all pairs
 * pet_normalise_solve.c   fan sums to efficiencies and geometric factors
 */
#ifndef SLUICE_PET_NORMALISE_WORK_H
#define SLUICE_PET_NORMALISE_WORK_H

#include "base/team.h"
#include "pet/pet_line.h"
#include "pet/pet_scanner.h"

/* Shares of the crystals; sums of each are added in their order, whatever the threads are. */
enum { SLC_PET_NORMALISE_CHUNKS = 64 };

typedef struct pet_normalise_crystal {
    double place[3], direction[3];
} pet_normalise_crystal;

struct slc_pet_normalise {
    slc_pet_normalise_config config;
    slc_team *team;
    uint32_t crystals;
    pet_normalise_crystal *crystal;
    double edge_mm, most_z_mm;
    int64_t *fan;    /* counts of pairs with a crystal */
    uint64_t *pairs; /* the same, delayeds added: their variance */
    uint64_t prompts, delayeds, outside;
    /* Counts by [bin of the distance from the axis · n_axial + bin of the distance along it]. */
    uint32_t n_radial, n_axial;
    double radial_mm, axial_mm;
    int64_t *counted;
    float *radial, *axial; /* factors; 1 before they are found */
    float *block, *place;
    uint32_t n_blocks, n_places;
    /* What is expected of crystal k1 of ring r1 and k2 of r2, [r1][r2][k2 − k1 modulo per_ring], without and
     * with the factors; NULL where that is not all that it depends on. */
    float *table, *with_factors;
    uint32_t per_ring, rings;
};

/* Where a pair is among the geometric factors. */
static inline size_t slc_pet_normalise_bin(const slc_pet_normalise *n, const pet_normalise_crystal *a,
                                           const pet_normalise_crystal *b)
{
    const slc_pet_geometric bins = {
        .n_radial = n->n_radial, .n_axial = n->n_axial, .radial_mm = n->radial_mm, .axial_mm = n->axial_mm};
    return slc_pet_line_bin(&bins, a->place, b->place);
}

/* What is expected of a pair whose crystals are as good as any, but for the geometric factors: 0 if it does
 * not take part. */
static inline double slc_pet_normalise_expected(const slc_pet_normalise *n, const pet_normalise_crystal *a,
                                                const pet_normalise_crystal *b)
{
    const double d[3] = {b->place[0] - a->place[0], b->place[1] - a->place[1], b->place[2] - a->place[2]};
    const slc_pet_cylinder *source = &n->config.source;
    const double across = d[0] * d[0] + d[1] * d[1];
    const double ax = a->place[0] - source->x_mm, ay = a->place[1] - source->y_mm;
    const double beside = ax * d[1] - ay * d[0]; /* distance from the source's axis, times √across */
    const double most = source->radius_mm - n->edge_mm;
    if (!(beside * beside < most * most * across) || fabs(d[2]) > n->most_z_mm) {
        return 0;
    }
    if (source->inner_mm > 0 && fabs(fabs(beside) / sqrt(across) - source->inner_mm) < n->edge_mm) {
        return 0;
    }
    const double length2 = across + d[2] * d[2];
    const double cosines = (a->direction[0] * d[0] + a->direction[1] * d[1] + a->direction[2] * d[2]) *
                           -(b->direction[0] * d[0] + b->direction[1] * d[1] + b->direction[2] * d[2]);
    const double share = slc_pet_line_cylinder(source, a->place, d);
    if (!(share > 0 && cosines > 0)) {
        return 0;
    }
    const double inside = share * sqrt(length2);
    const double through = source->mu_per_cm > 0 ? exp(-source->mu_per_cm * inside / 10) : 1;
    return cosines / (length2 * length2) * inside * through;
}

/* The same of two numbers, (a, b) as (b, a). */
static inline double slc_pet_normalise_of(const slc_pet_normalise *n, uint32_t a, uint32_t b)
{
    const uint32_t first = a < b ? a : b, second = a < b ? b : a;
    if (n->table != NULL) {
        const uint32_t one = first % n->per_ring, two = second % n->per_ring;
        const uint32_t apart = two >= one ? two - one : two + n->per_ring - one;
        const size_t row = (size_t)(first / n->per_ring) * n->rings + second / n->per_ring;
        return (double)n->table[row * n->per_ring + apart];
    }
    return slc_pet_normalise_expected(n, &n->crystal[first], &n->crystal[second]);
}

/* Makes n->table, where one will do. SLC_ERR_MEMORY alone. */
slc_status slc_pet_normalise_make_table(slc_pet_normalise *n);
/* Due before a pass, when n->radial and n->axial are new. */
void slc_pet_normalise_factors_changed(slc_pet_normalise *n);
/* sums[a] = Σ vector[b] E[ab], with the factors. */
void slc_pet_normalise_pass(slc_pet_normalise *n, const double *vector, double *sums);
/* What is expected by bin, without the factors; `model` has room for that of every chunk. */
void slc_pet_normalise_by_bins(slc_pet_normalise *n, const double *e, double *model);

#endif
