/* SPDX-License-Identifier: Apache-2.0
 *
 * The sum of s1 · s2 over all good pairs of crystals needs no pair: partners of a crystal are ranges of rings
 * and of places around the ring (pet_coincidence_good.h: a table of differences, of which the good ones
 * follow each other), and the singles in such a range are four numbers of a table of sums.
 */
#include "pet/pet_rates_sum.h"
#include "pet/pet_scanner.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_BY_PAIRS = 1 << 15 };

/* The rule's good differences as a range. */
static void find_range(slc_pet_rates_sum *r)
{
    r->least = 0;
    while (r->least < r->classes && r->rule.good[r->least] == 0) {
        r->least++;
    }
    r->most = r->classes - 1;
    while (r->most > 0 && r->rule.good[r->most] == 0) {
        r->most--;
    }
}

slc_status slc_pet_rates_sum_open(const slc_pet_geometry *geometry, const slc_pet_good *good,
                                  slc_pet_rates_sum *r, slc_error *error)
{
    *r = (slc_pet_rates_sum){.crystals = 0};
    slc_status status = slc_pet_geometry_check(geometry, error);
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t ring = slc_pet_crystals_per_ring(geometry);
    const bool by_rings = good->kind == SLC_PET_GOOD_SECTORS || good->kind == SLC_PET_GOOD_DISTANCE;
    if (by_rings && geometry->layout != NULL && !geometry->layout->rings) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED,
                        "good pairs by places around a ring: this scanner's crystals are in no rings");
    }
    if (by_rings && good->crystals_per_ring != ring) {
        return slc_fail(error, SLC_ERR_USAGE, "good.crystals_per_ring is %u, and the scanner's rings have %u",
                        good->crystals_per_ring, ring);
    }
    if (good->kind == SLC_PET_GOOD_GEOMETRY && slc_pet_crystals(geometry) > MOST_BY_PAIRS) {
        return slc_fail(
            error, SLC_ERR_UNSUPPORTED,
            "rates of good pairs by geometry: %u crystals, and the pairs of %d at most are looked "
            "at one by one",
            slc_pet_crystals(geometry), MOST_BY_PAIRS);
    }
    status = slc_pet_good_open(good, &r->rule, error);
    if (status != SLC_OK) {
        return status;
    }
    r->crystals = slc_pet_crystals(geometry);
    r->rings = slc_pet_rings(geometry);
    r->weight = calloc(r->crystals, sizeof *r->weight);
    if (r->weight == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for sums over %u crystals", r->crystals);
    }
    if (by_rings) {
        r->classes = r->rule.crystals_per_ring / r->rule.per_class;
        find_range(r);
        r->sums = calloc((size_t)(r->rings + 1) * (r->classes + 1), sizeof *r->sums);
        if (r->sums == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "no memory for sums over %u crystals", r->crystals);
        }
    }
    return SLC_OK;
}

void slc_pet_rates_sum_close(slc_pet_rates_sum *r)
{
    free(r->sums);
    free(r->weight);
    r->sums = r->weight = NULL;
    slc_pet_good_close(&r->rule);
}

/* ---- the sum ----------------------------------------------------------------------------------- */

/* The sums of weights over all rings below and all classes below, by [ring][class]. */
static void add_up(const slc_pet_rates_sum *r, const double *weight)
{
    const size_t stride = r->classes + 1;
    for (uint32_t ring = 0; ring < r->rings; ring++) {
        double sum = 0;
        for (uint32_t place = 0; place < r->classes; place++) {
            const double *first = weight + ring * r->rule.crystals_per_ring + place * r->rule.per_class;
            for (uint32_t i = 0; i < r->rule.per_class; i++) {
                sum += first[i];
            }
            r->sums[(ring + 1) * stride + place + 1] = r->sums[ring * stride + place + 1] + sum;
        }
    }
}

/* Weights of the classes from `low` to `high` − 1 in the same of rings. */
static double sum_of(const slc_pet_rates_sum *r, uint32_t ring_low, uint32_t ring_high, uint32_t low,
                     uint32_t high)
{
    const size_t stride = r->classes + 1;
    const double *below = r->sums + ring_low * stride, *above = r->sums + ring_high * stride;
    return above[high] - above[low] - (below[high] - below[low]);
}

/* Weights of all partners of a class in a ring. */
static double partners_of(const slc_pet_rates_sum *r, uint32_t ring, uint32_t place)
{
    const uint32_t rings = r->rule.most_rings < r->rings ? r->rule.most_rings : r->rings;
    const uint32_t low = ring > rings ? ring - rings : 0;
    const uint32_t high = r->rings - ring > rings ? ring + rings + 1 : r->rings;
    double sum = 0;
    if (place + r->least < r->classes) { /* those above, up to `most` away, */
        const uint32_t end = r->classes - place > r->most ? place + r->most + 1 : r->classes;
        sum += sum_of(r, low, high, place + r->least, end);
    }
    const uint32_t nearest = r->least > 0 ? r->least : 1; /* and those below; its own class is above */
    if (place >= nearest) {
        sum += sum_of(r, low, high, place > r->most ? place - r->most : 0, place - nearest + 1);
    }
    return sum;
}

/* By geometry, pair by pair: of each crystal the weights of its partners. */
static double partners_by_pairs(const slc_pet_rates_sum *r, const double *weight, uint32_t i)
{
    double partners = 0;
    for (uint32_t k = 0; k < r->crystals; k++) {
        partners += weight[k] != 0 && slc_pet_is_good(&r->rule, i, k) ? weight[k] : 0;
    }
    return partners;
}

double slc_pet_rates_weigh(const slc_pet_rates_sum *r, const double *weight)
{
    double all = 0, squares = 0, sum = 0;
    if (r->rule.different_crystal) {
        for (uint32_t i = 0; i < r->crystals; i++) {
            all += weight[i];
            squares += weight[i] * weight[i];
        }
        return all * all - squares;
    }
    if (r->rule.geometry) {
        for (uint32_t i = 0; i < r->crystals; i++) {
            sum += weight[i] != 0 ? weight[i] * partners_by_pairs(r, weight, i) : 0;
        }
        return sum;
    }
    if (r->least > r->most) {
        return 0;
    }
    add_up(r, weight);
    for (uint32_t ring = 0; ring < r->rings; ring++) {
        for (uint32_t place = 0; place < r->classes; place++) {
            sum += sum_of(r, ring, ring + 1, place, place + 1) * partners_of(r, ring, place);
        }
    }
    return sum;
}

double slc_pet_rates_products(const slc_pet_rates_sum *r, const uint32_t *count)
{
    double all = 0;
    for (uint32_t i = 0; i < r->crystals; i++) {
        r->weight[i] = count[i];
        all += count[i];
    }
    const bool own = !r->rule.different_crystal && !r->rule.geometry && r->least == 0;
    return slc_pet_rates_weigh(r, r->weight) - (own ? all : 0); /* a single is no partner of itself */
}

void slc_pet_rates_partners(const slc_pet_rates_sum *r, const double *weight, double *partners)
{
    double all = 0;
    if (r->rule.different_crystal) {
        for (uint32_t i = 0; i < r->crystals; i++) {
            all += weight[i];
        }
        for (uint32_t i = 0; i < r->crystals; i++) {
            partners[i] = all - weight[i];
        }
        return;
    }
    if (r->rule.geometry) {
        for (uint32_t i = 0; i < r->crystals; i++) {
            partners[i] = partners_by_pairs(r, weight, i);
        }
        return;
    }
    if (r->least <= r->most) {
        add_up(r, weight);
    }
    for (uint32_t i = 0; i < r->crystals; i++) {
        const uint32_t ring = i / r->rule.crystals_per_ring;
        const uint32_t place = i % r->rule.crystals_per_ring / r->rule.per_class;
        partners[i] = r->least <= r->most ? partners_of(r, ring, place) : 0;
    }
}

/* ---- dead time --------------------------------------------------------------------------------- */

double slc_pet_true_rate(double measured_hz, double dead_time_s, bool paralysable)
{
    const double m = measured_hz * dead_time_s; /* in units of 1 / τ */
    if (!(measured_hz >= 0) || !(dead_time_s >= 0) || m > (paralysable ? exp(-1) * (1 + 4e-16) : 1)) {
        return NAN;
    }
    if (!paralysable || m == 0) {
        return m < 1 ? measured_hz / (1 - m) : NAN;
    }
    /* x = m · exp(x), x <= 1: from below, x = log(x / m) has a root where Newton's steps never pass it. */
    double x = m;
    for (int i = 0; i < 200; i++) {
        const double value = m * exp(x), step = (value - x) / (1 - value);
        if (!(value < 1) || !(step > 1e-16 * x)) {
            break;
        }
        x += step;
    }
    return x / dead_time_s;
}
