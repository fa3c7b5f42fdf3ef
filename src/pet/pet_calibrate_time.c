/* SPDX-License-Identifier: Apache-2.0
 *
 * Time offsets by crystal. A pair of crystals a and b, b being later by dt, asks for offset a − offset b =
 * dt. The least squares of all pairs is a system of equations with the Laplace matrix of the graph whose
 * edges are the pairs. It is solved by conjugate gradients, which need no matrix: each step goes through the
 * pairs once. (Giving each crystal the mean of what its partners ask for, again and again, would not do:
 * opposite sides of a ring are a bipartite graph, on which that never rests.)
 */
#include "pet/pet_scanner.h"

#include <sluice/pet_calibrate.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct solver {
    const slc_pet_coincidences *pairs;
    size_t crystals;
    double cut_ps;   /* pairs farther from the fit than that are left out, of the offsets `kept_by` */
    double *kept_by; /* offsets of the solution before */
    double *x, *r, *z, *p, *q;
    uint32_t *degree; /* pairs of a crystal */
} solver;

static double residual(const solver *s, const double *x, size_t i)
{
    return (double)s->pairs->dt_ps[i] - (x[s->pairs->crystal1[i]] - x[s->pairs->crystal2[i]]);
}

/* Does the pair take part? */
static bool counts(const solver *s, size_t i)
{
    return s->pairs->delayed[i] == 0 && s->pairs->crystal1[i] != s->pairs->crystal2[i] &&
           fabs(residual(s, s->kept_by, i)) <= s->cut_ps;
}

/* What the pairs ask of x as it is, and how many there are of each crystal. */
static uint64_t right_side(solver *s)
{
    uint64_t used = 0;
    memset(s->r, 0, s->crystals * sizeof *s->r);
    memset(s->degree, 0, s->crystals * sizeof *s->degree);
    for (size_t i = 0; i < s->pairs->head.size; i++) {
        if (counts(s, i)) {
            const uint32_t a = s->pairs->crystal1[i], b = s->pairs->crystal2[i];
            const double off = residual(s, s->x, i);
            s->r[a] += off;
            s->r[b] -= off;
            s->degree[a]++;
            s->degree[b]++;
            used++;
        }
    }
    return used;
}

/* q = the matrix times p. */
static void multiply(solver *s)
{
    memset(s->q, 0, s->crystals * sizeof *s->q);
    for (size_t i = 0; i < s->pairs->head.size; i++) {
        if (counts(s, i)) {
            const uint32_t a = s->pairs->crystal1[i], b = s->pairs->crystal2[i];
            const double apart = s->p[a] - s->p[b];
            s->q[a] += apart;
            s->q[b] -= apart;
        }
    }
}

/* z = r over the matrix' diagonal; the product of r and z. */
static double precondition(solver *s)
{
    double sum = 0;
    for (size_t k = 0; k < s->crystals; k++) {
        s->z[k] = s->degree[k] > 0 ? s->r[k] / s->degree[k] : 0;
        sum += s->r[k] * s->z[k];
    }
    return sum;
}

/* From x as it is. Returns the steps it took. */
static uint32_t solve(solver *s, uint32_t rounds, uint64_t *used)
{
    *used = right_side(s);
    double rz = precondition(s);
    memcpy(s->p, s->z, s->crystals * sizeof *s->p);
    uint32_t round = 0, at_rest = 0;
    /* A single small step may come before larger ones; three in a row do not. */
    while (round < rounds && rz > 0 && at_rest < 3) {
        multiply(s);
        double pq = 0, most = 0;
        for (size_t k = 0; k < s->crystals; k++) {
            pq += s->p[k] * s->q[k];
        }
        if (!(pq > 0)) {
            break;
        }
        const double length = rz / pq;
        for (size_t k = 0; k < s->crystals; k++) {
            s->x[k] += length * s->p[k];
            s->r[k] -= length * s->q[k];
            most = fmax(most, fabs(length * s->p[k]));
        }
        const double next = precondition(s);
        for (size_t k = 0; k < s->crystals; k++) {
            s->p[k] = s->z[k] + next / rz * s->p[k];
        }
        rz = next;
        at_rest = most < 0.1 ? at_rest + 1 : 0;
        round++;
    }
    return round;
}

/* 1.4826 times the median of |residual| of all prompt pairs: a Gaussian's width, little moved by tails. */
static double width_of(const solver *s, const double *x)
{
    enum { BINS = 8192 };
    static const double part = 1.0 / BINS;
    double largest = 0;
    for (size_t i = 0; i < s->pairs->head.size; i++) {
        largest = s->pairs->delayed[i] == 0 ? fmax(largest, fabs(residual(s, x, i))) : largest;
    }
    uint64_t bin[BINS + 1] = {0}, all = 0, below = 0;
    for (size_t i = 0; i < s->pairs->head.size && largest > 0; i++) {
        if (s->pairs->delayed[i] == 0) {
            bin[(size_t)(fabs(residual(s, x, i)) / largest * BINS)]++;
            all++;
        }
    }
    for (size_t k = 0; k < BINS; k++) {
        if (bin[k] > 0 && (below + bin[k]) * 2 >= all) {
            return 1.4826 * largest * part *
                   ((double)k + (0.5 * (double)all - (double)below) / (double)bin[k]);
        }
        below += bin[k];
    }
    return 1.4826 * largest;
}

/* The mean of crystals with pairs becomes 0. */
static void centre(solver *s, uint32_t *unsure)
{
    double sum = 0;
    size_t n = 0;
    for (size_t k = 0; k < s->crystals; k++) {
        sum += s->degree[k] > 0 ? s->x[k] : 0;
        n += s->degree[k] > 0;
    }
    *unsure = (uint32_t)(s->crystals - n);
    for (size_t k = 0; k < s->crystals; k++) {
        s->x[k] = s->degree[k] > 0 ? s->x[k] - sum / (double)n : 0;
    }
}

static slc_status check(const slc_pet_coincidences *pairs, size_t crystals, uint64_t *prompts,
                        slc_error *error)
{
    *prompts = 0;
    for (size_t i = 0; i < pairs->head.size; i++) {
        const uint32_t a = pairs->crystal1[i], b = pairs->crystal2[i];
        if (a >= crystals || b >= crystals) {
            return slc_fail(error, SLC_ERR_FORMAT, "pair %zu: crystal %" PRIu32 ", and the scanner has %zu",
                            i, a >= crystals ? a : b, crystals);
        }
        *prompts += pairs->delayed[i] == 0 && a != b;
    }
    return *prompts > 0
               ? SLC_OK
               : slc_fail(error, SLC_ERR_FORMAT, "there is no prompt pair to find time offsets from");
}

static void clear(solver *s)
{
    free(s->kept_by);
    free(s->x);
    free(s->r);
    free(s->z);
    free(s->p);
    free(s->q);
    free(s->degree);
}

static slc_status make_room(solver *s, slc_error *error)
{
    const size_t n = s->crystals;
    s->kept_by = calloc(n, sizeof *s->kept_by);
    s->x = calloc(n, sizeof *s->x);
    s->r = calloc(n, sizeof *s->r);
    s->z = calloc(n, sizeof *s->z);
    s->p = calloc(n, sizeof *s->p);
    s->q = calloc(n, sizeof *s->q);
    s->degree = calloc(n, sizeof *s->degree);
    if (s->kept_by == NULL || s->x == NULL || s->r == NULL || s->z == NULL || s->p == NULL || s->q == NULL ||
        s->degree == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for time offsets of %zu crystals", n);
    }
    return SLC_OK;
}

slc_status slc_pet_calibrate_time(const slc_pet_geometry *geometry, const slc_pet_coincidences *pairs,
                                  uint32_t rounds, int32_t *time_offset_ps, slc_pet_time_fit *fit,
                                  slc_error *error)
{
    slc_status status = slc_pet_geometry_check(geometry, error);
    if (status != SLC_OK) {
        return status;
    }
    solver s = {.pairs = pairs, .crystals = slc_pet_crystals(geometry), .cut_ps = INFINITY};
    slc_pet_time_fit found = {.used = 0};
    uint64_t prompts = 0;
    status = check(pairs, s.crystals, &prompts, error);
    status = status == SLC_OK ? make_room(&s, error) : status;
    if (status == SLC_OK) {
        found.before_ps = width_of(&s, s.x);
        found.rounds = solve(&s, rounds, &found.used);
        /* Random pairs pull offsets towards the middle of the window; those that are off are left out. */
        for (int again = 0; again < 3; again++) {
            memcpy(s.kept_by, s.x, s.crystals * sizeof *s.x);
            s.cut_ps = fmax(4 * width_of(&s, s.x), 1);
            found.rounds += solve(&s, rounds, &found.used);
        }
        found.after_ps = width_of(&s, s.x);
        found.left_out = prompts - found.used;
        centre(&s, &found.unsure);
        for (size_t k = 0; k < s.crystals; k++) {
            time_offset_ps[k] = (int32_t)lrint(fmin(fmax(s.x[k], INT32_MIN), INT32_MAX));
        }
        if (fit != NULL) {
            *fit = found;
        }
    }
    clear(&s);
    return status;
}
