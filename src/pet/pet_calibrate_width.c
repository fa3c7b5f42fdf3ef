/* SPDX-License-Identifier: Apache-2.0
 *
 * The resolution of times from pairs of a known source. A photon pair from place t of the line between two
 * crystals (0 at the first, 1 at the second, L apart) has a difference of L · (1 − 2t) / c. Each pair's
 * source is one or two stretches of its line, so that what is expected of its difference is a uniform
 * distribution over these, with the Gaussian that is looked for on top; a point has no stretch. So the
 * source's size does not widen what is found, and a phantom that calibrates offsets does for this, too.
 */
#include "pet/pet_calibrate_parts.h"
#include "pet/pet_layout.h"
#include "pet/pet_line.h"
#include "pet/pet_scanner.h"

#include <sluice/pet_calibrate.h>

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { MOST = 1 << 18, LEAST = 100, SAMPLE = 1 << 15 };
static const double light_mm_ps = 0.299792458, fwhm_of_sigma = 2.35482004503094938;

/* What differs from the middle of a stretch, and half its length, in ps; the second of a shell, else 0 long
 * and `parts` is 1. */
typedef struct observed {
    float off[2], half[2];
    uint32_t parts;
} observed;

typedef struct finder {
    const slc_pet_geometry *geometry;
    const slc_pet_cylinder *source;
    double edge_mm;
    bool thin; /* a point, or of a line that is as one */
    observed *pair;
    size_t n;
    double reach_ps; /* the largest difference */
    double *density; /* of each pair, with the width at hand */
    double randoms;
} finder;

/* ---- pairs ------------------------------------------------------------------------------------- */

/* Where the line from a to a + d comes nearest to the source's axis, or to a point. */
static bool nearest(const finder *f, const double a[3], const double d[3], double *t)
{
    const slc_pet_cylinder *s = f->source;
    const double to[3] = {s->x_mm - a[0], s->y_mm - a[1], s->z_mm - a[2]};
    const bool point = !(s->radius_mm > 0);
    const double square = d[0] * d[0] + d[1] * d[1] + (point ? d[2] * d[2] : 0);
    const double along = to[0] * d[0] + to[1] * d[1] + (point ? to[2] * d[2] : 0);
    if (!(square > 0)) {
        return false;
    }
    *t = along / square;
    const double x = to[0] - *t * d[0], y = to[1] - *t * d[1], z = to[2] - *t * d[2];
    const double away = sqrt(x * x + y * y + (point ? z * z : 0));
    return away<f->edge_mm && * t> 0 && *t < 1 &&
           (point || s->length_mm <= 0 || fabs(z) < s->length_mm / 2 - f->edge_mm);
}

/* The stretches of a line in a cylinder or a shell: how many, each from part[i][0] to part[i][1]. */
static uint32_t stretches(const finder *f, const double a[3], const double d[3], double part[2][2])
{
    const slc_pet_cylinder *s = f->source;
    const double half = s->length_mm > 0 ? s->length_mm / 2 : HUGE_VAL;
    const double low = s->z_mm - half, high = s->z_mm + half;
    const double across = sqrt(d[0] * d[0] + d[1] * d[1]);
    const double beside = fabs((a[0] - s->x_mm) * d[1] - (a[1] - s->y_mm) * d[0]);
    const double away = across > 0 ? beside / across : 0;
    double inner[2];
    if (f->thin) {
        const bool near = nearest(f, a, d, &part[0][0]);
        part[0][1] = part[0][0];
        return near;
    }
    if (away > s->radius_mm - f->edge_mm || fabs(away - s->inner_mm) < (s->inner_mm > 0 ? f->edge_mm : 0) ||
        !slc_pet_line_part(a, d, s->x_mm, s->y_mm, s->radius_mm, low, high, &part[0][0], &part[0][1])) {
        return 0;
    }
    if (!(s->inner_mm > 0) ||
        !slc_pet_line_part(a, d, s->x_mm, s->y_mm, s->inner_mm, low, high, &inner[0], &inner[1])) {
        return 1;
    }
    part[1][0] = inner[1];
    part[1][1] = part[0][1];
    part[0][1] = inner[0];
    return part[1][1] > part[1][0] ? 2 : part[0][1] > part[0][0];
}

/* False: its line does not pass through the source. */
static bool observe(const finder *f, const double a[3], const double b[3], double dt_ps, observed *o)
{
    const double d[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    const double length_ps = sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2]) / light_mm_ps;
    double part[2][2] = {{0}};
    o->parts = stretches(f, a, d, part);
    for (uint32_t i = 0; i < o->parts; i++) {
        o->off[i] = (float)(dt_ps - length_ps * (1 - part[i][0] - part[i][1]));
        o->half[i] = (float)(length_ps * (part[i][1] - part[i][0]));
    }
    return o->parts > 0;
}

static slc_status take(finder *f, const slc_pet_coincidences *pairs, const int32_t *offset,
                       slc_pet_time_width *width, slc_error *error)
{
    const uint32_t crystals = slc_pet_crystals(f->geometry);
    for (size_t i = 0; i < pairs->head.size && f->n < MOST; i++) {
        const uint32_t a = pairs->crystal1[i], b = pairs->crystal2[i];
        if (a >= crystals || b >= crystals) {
            return slc_fail(error, SLC_ERR_FORMAT, "pair %zu: crystal %" PRIu32 ", and the scanner has %u", i,
                            a >= crystals ? a : b, crystals);
        }
        if (pairs->delayed[i] != 0 || a == b) {
            continue;
        }
        double from[3], to[3], direction[3];
        slc_pet_crystal_position(f->geometry, a, from, direction);
        slc_pet_crystal_position(f->geometry, b, to, direction);
        const double corrected = offset != NULL ? (double)offset[b] - (double)offset[a] : 0;
        const double dt = (double)pairs->dt_ps[i] + corrected;
        if (!observe(f, from, to, dt, &f->pair[f->n])) {
            width->outside++;
            continue;
        }
        f->reach_ps = fmax(f->reach_ps, fabs(dt));
        f->n++;
    }
    width->pairs = f->n;
    return SLC_OK;
}

/* ---- the place of the source ------------------------------------------------------------------- */

/* Every so many of the prompts that were looked at. */
static size_t sample(const finder *f, const slc_pet_coincidences *pairs, size_t prompts,
                     slc_pet_calibrate_line *lines, slc_pet_calibrate_line *ends)
{
    const size_t every = (prompts + SAMPLE - 1) / SAMPLE;
    size_t n = 0, met = 0;
    for (size_t i = 0; i < pairs->head.size && met < prompts; i++) {
        const uint32_t a = pairs->crystal1[i], b = pairs->crystal2[i];
        if (pairs->delayed[i] != 0 || a == b || met++ % every != 0) {
            continue;
        }
        double direction[3], length = 0;
        slc_pet_crystal_position(f->geometry, a, lines[n].from, direction);
        slc_pet_crystal_position(f->geometry, b, ends[n].from, direction);
        for (size_t k = 0; k < 3; k++) {
            ends[n].direction[k] = ends[n].from[k] - lines[n].from[k];
            length += ends[n].direction[k] * ends[n].direction[k];
        }
        for (size_t k = 0; k < 3; k++) {
            lines[n].direction[k] = ends[n].direction[k] / sqrt(length);
        }
        n += length > 0;
    }
    return n;
}

/* Those that pass through the source with its middle there. */
static size_t passing(const finder *f, const slc_pet_calibrate_line *lines,
                      const slc_pet_calibrate_line *ends, size_t n, const double middle[3])
{
    slc_pet_cylinder there = *f->source;
    finder moved = *f;
    size_t through = 0;
    there.x_mm = middle[0];
    there.y_mm = middle[1];
    there.z_mm = middle[2];
    moved.source = &there;
    for (size_t i = 0; i < n; i++) {
        double part[2][2] = {{0}};
        through += stretches(&moved, lines[i].from, ends[i].direction, part) > 0;
    }
    return through;
}

/* From the source's middle, by its size: what is seen of one that is larger need not meet in its middle. */
static bool is_far(const finder *f, const double at[3])
{
    const slc_pet_cylinder *s = f->source;
    const bool has_ends = !(s->radius_mm > 0) || s->length_mm > 0;
    return hypot(at[0] - s->x_mm, at[1] - s->y_mm) > fmax(2 * f->edge_mm, 0.25 * s->radius_mm) ||
           (has_ends && fabs(at[2] - s->z_mm) > fmax(2 * f->edge_mm, 0.25 * s->length_mm));
}

static slc_status find_place(const finder *f, const slc_pet_coincidences *pairs, slc_pet_time_width *width,
                             slc_error *error)
{
    slc_pet_calibrate_line *lines = malloc(2 * (size_t)SAMPLE * sizeof *lines), *ends = lines + SAMPLE;
    const double said[3] = {f->source->x_mm, f->source->y_mm, f->source->z_mm};
    const size_t n = lines != NULL ? sample(f, pairs, width->pairs + width->outside, lines, ends) : 0;
    if (lines == NULL || !slc_pet_calibrate_meet(lines, n, f->edge_mm, width->meet_mm)) {
        free(lines);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the lines of %zu pairs", n);
    }
    const double here = (double)passing(f, lines, ends, n, said),
                 there = (double)passing(f, lines, ends, n, width->meet_mm);
    free(lines);
    width->through = n > 0 ? here / (double)n : 0;
    width->through_there = n > 0 ? there / (double)n : 0;
    const bool by_chance = there - here < 5 * sqrt(there);
    width->misplaced = width->through < 0.5 || (there > 1.1 * here && !by_chance) ||
                       is_far(f, width->meet_mm);
    return SLC_OK;
}

/* Too few through it, or too many where it is not. */
static slc_status judge_place(const finder *f, const slc_pet_time_width *width, slc_error *error)
{
    const double *at = width->meet_mm;
    const bool elsewhere = width->through < 0.5 && width->through_there > 1.5 * width->through;
    if (f->n < LEAST) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "%zu pairs pass through the source, and %d are needed to tell the resolution of times: is "
            "it where it is said to be? Lines seem to meet at (%.1f, %.1f, %.1f) mm",
            f->n, (int)LEAST, at[0], at[1], at[2]);
    }
    return elsewhere
               ? slc_fail(
                     error, SLC_ERR_FORMAT,
                     "the lines of %.0f %% of the pairs miss the source where it is said to be; they seem to "
                     "meet at (%.1f, %.1f, %.1f) mm, where it would have %.0f %% of them: no resolution of "
                     "times can be told",
                     100 * (1 - width->through), at[0], at[1], at[2], 100 * width->through_there)
               : SLC_OK;
}

/* ---- the width --------------------------------------------------------------------------------- */

/* What is expected of a pair with that width. */
static double density_of(const observed *o, double sigma)
{
    const double root = 0.70710678118654752 / sigma, one = 0.39894228040143268 / sigma;
    double sum = 0, length = 0;
    for (uint32_t i = 0; i < o->parts; i++) {
        const double off = (double)o->off[i], half = (double)o->half[i];
        if (half < 1e-3 * sigma && o->parts == 1) {
            return one * exp(-0.5 * off * off / (sigma * sigma));
        }
        sum += 0.5 * (erf((off + half) * root) - erf((off - half) * root));
        length += 2 * half;
    }
    return length > 0 ? sum / length : 0;
}

/* The logarithm of the likelihood with that width and the part of randoms that is most likely with it, which
 * is found by repeating what each pair says of itself. */
static double likelihood(finder *f, double sigma)
{
    const double level = 0.5 / f->reach_ps;
    double part = 0.01, value = 0;
    for (size_t i = 0; i < f->n; i++) {
        f->density[i] = density_of(&f->pair[i], sigma);
    }
    for (int round = 0; round < 40; round++) {
        double sum = 0;
        for (size_t i = 0; i < f->n; i++) {
            const double random = part * level;
            sum += random / (random + (1 - part) * f->density[i]);
        }
        const double next = fmin(fmax(sum / (double)f->n, 1e-9), 0.999);
        const bool settled = fabs(next - part) < 1e-7;
        part = next;
        if (settled) {
            break;
        }
    }
    for (size_t i = 0; i < f->n; i++) {
        value += log(part * level + (1 - part) * f->density[i]);
    }
    f->randoms = part;
    return value;
}

/* The most likely width: by the golden section of its logarithm, between the best of coarse steps. */
static double search(finder *f)
{
    const double golden = 0.61803398874989485, step = log(1.5);
    double best = -HUGE_VAL, at = 0;
    for (double s = 0; exp(s) < 2 * f->reach_ps; s += step) {
        const double value = likelihood(f, exp(s));
        at = value > best ? s : at;
        best = fmax(value, best);
    }
    double low = at - step, high = at + step;
    double one = high - golden * (high - low), two = low + golden * (high - low);
    double of_one = likelihood(f, exp(one)), of_two = likelihood(f, exp(two));
    while (high - low > 1e-4) {
        if (of_one > of_two) {
            high = two;
            two = one;
            of_two = of_one;
            one = high - golden * (high - low);
            of_one = likelihood(f, exp(one));
        } else {
            low = one;
            one = two;
            of_one = of_two;
            two = low + golden * (high - low);
            of_two = likelihood(f, exp(two));
        }
    }
    return exp(0.5 * (low + high));
}

static slc_status find(finder *f, slc_pet_time_width *width, slc_error *error)
{
    f->reach_ps = fmax(f->reach_ps, 1);
    const double sigma = search(f);
    /* By how much the likelihood falls a few per cent away. */
    const double apart = 0.02 * sigma;
    const double middle = likelihood(f, sigma), randoms = f->randoms;
    const double bend = 2 * middle - likelihood(f, sigma - apart) - likelihood(f, sigma + apart);
    width->fwhm_ps = fwhm_of_sigma * sigma;
    width->error_ps = bend > 0 ? fwhm_of_sigma * apart / sqrt(bend) : width->fwhm_ps;
    width->randoms = randoms;
    if (3 * sigma > f->reach_ps || width->error_ps > 0.1 * width->fwhm_ps || randoms > 0.9) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "differences of times reach to %.0f ps and show no peak above randoms: their width "
                        "cannot be told. Is the source where it is said to be, and the window long enough?",
                        f->reach_ps);
    }
    return SLC_OK;
}

/* ---- all --------------------------------------------------------------------------------------- */

/* `thin` and the edges, and whether it can be. */
static slc_status check(finder *f, slc_error *error)
{
    const slc_pet_cylinder *s = f->source;
    const slc_pet_cylinder within = {.x_mm = s->x_mm, .y_mm = s->y_mm, .z_mm = s->z_mm, .radius_mm = 1};
    slc_status status = slc_pet_geometry_check(f->geometry, error);
    status = status == SLC_OK ? slc_pet_cylinder_check(s->radius_mm > 0 ? s : &within, "source", error)
                              : status;
    if (status != SLC_OK) {
        return status;
    }
    double wide, along;
    slc_pet_spacing(f->geometry, &wide, &along);
    f->edge_mm = wide > 0 ? wide : along > 0 ? along : 1;
    f->thin = s->radius_mm <= f->edge_mm;
    const double reach = hypot(s->x_mm, s->y_mm) + s->radius_mm;
    if (!(reach < f->geometry->radius_mm)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "source: reaches %g mm from the axis, and the scanner's radius is %g mm", reach,
                        f->geometry->radius_mm);
    }
    return SLC_OK;
}

slc_status slc_pet_calibrate_time_fwhm(const slc_pet_geometry *geometry, const slc_pet_coincidences *pairs,
                                       const int32_t *time_offset_ps, const slc_pet_time_fit *fit,
                                       const slc_pet_cylinder *source, slc_pet_time_width *width,
                                       slc_error *error)
{
    finder f = {.geometry = geometry, .source = source};
    *width = (slc_pet_time_width){.pairs = 0};
    slc_status status = check(&f, error);
    if (status != SLC_OK) {
        return status;
    }
    f.pair = malloc(MOST * sizeof *f.pair);
    f.density = malloc(MOST * sizeof *f.density);
    if (f.pair == NULL || f.density == NULL) {
        free(f.pair);
        free(f.density);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the times of %d pairs", (int)MOST);
    }
    status = take(&f, pairs, time_offset_ps, width, error);
    status = status == SLC_OK ? find_place(&f, pairs, width, error) : status;
    status = status == SLC_OK ? judge_place(&f, width, error) : status;
    status = status == SLC_OK ? find(&f, width, error) : status;
    const uint32_t offsets = slc_pet_crystals(geometry) - (fit != NULL ? fit->unsure : 0);
    if (status == SLC_OK && fit != NULL && fit->used > offsets) {
        const double free_pairs = (double)(fit->used - offsets) / (double)fit->used;
        width->fwhm_ps /= sqrt(free_pairs);
        width->error_ps /= sqrt(free_pairs);
    }
    free(f.pair);
    free(f.density);
    return status;
}
