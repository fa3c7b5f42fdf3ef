/* SPDX-License-Identifier: Apache-2.0
 *
 * The photopeak of a spectrum: a Gaussian on a straight background, by maximum likelihood for counts that
 * follow Poisson's law (the deviance of S. Baker and R. Cousins, Nucl. Instrum. Methods 221 (1984) 437), so
 * that bins with few counts pull as they should. Steps are those of Gauss and Newton with the damping of
 * Levenberg and Marquardt.
 */
#include "pet/pet_calibrate_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEIGHT = 0, MEAN, SIGMA, LOW, HIGH, PARAMETERS };

/* Widths of a Gaussian in its full width at half maximum. */
static const double FWHM = 2.35482004503094938;

/* A window of bins, in which the fit is done, numbered from 0. */
typedef struct window {
    const uint32_t *counts;
    uint32_t first, n;
    double sigma; /* what its width should be, give or take a seventh; 0: anything */
} window;

/* ---- where to begin ---------------------------------------------------------------------------- */

/* The bin behind all but a two hundredth of the counts, and how many there are. */
static uint32_t reach_of(const uint32_t *spectrum, uint32_t bins, uint64_t *total)
{
    uint64_t sum = 0, above = 0;
    for (uint32_t i = 0; i < bins; i++) {
        sum += spectrum[i];
    }
    *total = sum;
    uint32_t reach = bins;
    while (reach > 0 && (above + spectrum[reach - 1]) * 200 <= sum) {
        above += spectrum[--reach];
    }
    return reach;
}

/* Counts about bin i, those near it counting most. */
static double smoothed(const uint32_t *spectrum, uint32_t bins, uint32_t i, uint32_t half)
{
    double sum = 0, weights = 0;
    for (uint32_t k = i > half ? i - half : 0; k < bins && k <= i + half; k++) {
        const double weight = half + 1.0 - (k > i ? k - i : i - k);
        sum += weight * spectrum[k];
        weights += weight;
    }
    return sum / weights;
}

/* Bins from so far below a peak to so far above it: scattered photons are below. */
static void open_window(window *w, uint32_t bins, double mean, double sigma)
{
    const double first = floor(mean - 2.2 * sigma - 1), last = ceil(mean + 3.5 * sigma + 1);
    w->first = first > 0 ? (uint32_t)first : 0;
    w->n = (last < bins ? (uint32_t)fmax(last, 0) + 1 : bins) - w->first;
}

/* Peak and width, in bins, from the spectrum smoothed by about a peak's width, so that few counts do not look
 * like several peaks. The width is that of the upper side; what smoothing adds to it is taken off again. */
static bool begin(const uint32_t *spectrum, uint32_t bins, uint32_t least_counts, double *p)
{
    uint64_t total;
    const uint32_t reach = reach_of(spectrum, bins, &total), half = reach / 16 + 1;
    if (total < least_counts || reach < 8) {
        return false;
    }
    uint32_t top = reach / 3;
    double height = 0;
    for (uint32_t i = reach / 3; i < reach; i++) {
        const double here = smoothed(spectrum, bins, i, half);
        if (here > height) {
            height = here;
            top = i;
        }
    }
    uint32_t edge = top;
    while (edge + 1 < bins && smoothed(spectrum, bins, edge, half) > 0.5 * height) {
        edge++;
    }
    const double wide = (edge - top) / 1.177, added = (half + 1.0) * (half + 1.0) / 6;
    p[HEIGHT] = height;
    p[MEAN] = top;
    p[SIGMA] = fmin(sqrt(fmax(wide * wide - added, 0.25)), 0.2 * top + 1);
    p[LOW] = 0.2 * height;
    p[HIGH] = 0.02 * height;
    return height > 0;
}

/* ---- the fit ----------------------------------------------------------------------------------- */

/* The model in bin i of the window, and its derivatives. */
static double model(const window *w, const double *p, uint32_t i, double *slope)
{
    const double pull = (i - p[MEAN]) / p[SIGMA], bell = exp(-0.5 * pull * pull), t = i / (w->n - 1.0);
    slope[HEIGHT] = bell;
    slope[MEAN] = p[HEIGHT] * bell * pull / p[SIGMA];
    slope[SIGMA] = p[HEIGHT] * bell * pull * pull / p[SIGMA];
    slope[LOW] = 1 - t;
    slope[HIGH] = t;
    return fmax(p[HEIGHT] * bell + p[LOW] * (1 - t) + p[HIGH] * t, 1e-6);
}

/* Half the deviance; with `a` also its second derivatives, as expected, and its first ones in `b`, with the
 * sign of the step. */
static double deviance(const window *w, const double *p, double *a, double *b)
{
    double sum = 0, slope[PARAMETERS];
    for (uint32_t i = 0; i < w->n; i++) {
        const double n = w->counts[w->first + i], m = model(w, p, i, slope);
        sum += m - n + (n > 0 ? n * log(n / m) : 0);
        for (int k = 0; a != NULL && k < PARAMETERS; k++) {
            b[k] += slope[k] * (n / m - 1);
            for (int l = 0; l < PARAMETERS; l++) {
                a[k * PARAMETERS + l] += slope[k] * slope[l] / m;
            }
        }
    }
    if (w->sigma > 0) {
        const double give = w->sigma / 7, off = (p[SIGMA] - w->sigma) / give;
        sum += 0.5 * off * off;
        if (a != NULL) {
            b[SIGMA] -= off / give;
            a[SIGMA * PARAMETERS + SIGMA] += 1 / (give * give);
        }
    }
    return sum;
}

/* Heights are not below 0, the peak stays inside of the window. */
static void hold(const window *w, double *p)
{
    p[HEIGHT] = fmax(p[HEIGHT], 0);
    p[LOW] = fmax(p[LOW], 0);
    p[HIGH] = fmax(p[HIGH], 0);
    p[MEAN] = fmin(fmax(p[MEAN], 0), w->n - 1.0);
    p[SIGMA] = fmin(fmax(p[SIGMA], 0.3), w->n);
}

/* One step that makes the fit better, with as much damping as that needs. False where none does. */
static bool improve(const window *w, double *p, double *value, double *damping)
{
    double a[PARAMETERS * PARAMETERS] = {0}, b[PARAMETERS] = {0};
    (void)deviance(w, p, a, b);
    for (; *damping < 1e8; *damping *= 8) {
        double damped[PARAMETERS * PARAMETERS], step[PARAMETERS], next[PARAMETERS];
        memcpy(damped, a, sizeof a);
        memcpy(step, b, sizeof b);
        for (int k = 0; k < PARAMETERS; k++) {
            damped[k * PARAMETERS + k] += *damping * a[k * PARAMETERS + k] + 1e-12;
        }
        if (!slc_pet_solve(damped, step, PARAMETERS)) {
            continue;
        }
        for (int k = 0; k < PARAMETERS; k++) {
            next[k] = p[k] + step[k];
        }
        hold(w, next);
        const double at = deviance(w, next, NULL, NULL);
        if (at <= *value) {
            const bool rests = *value - at < 1e-9 * (1 + *value);
            memcpy(p, next, sizeof next);
            *value = at;
            *damping *= 0.2;
            return !rests;
        }
    }
    return false;
}

/* One standard deviation of the mean. */
static double error_of_mean(const window *w, const double *p)
{
    double a[PARAMETERS * PARAMETERS] = {0}, b[PARAMETERS] = {0}, unit[PARAMETERS] = {0};
    (void)deviance(w, p, a, b);
    unit[MEAN] = 1;
    for (int k = 0; k < PARAMETERS; k++) {
        a[k * PARAMETERS + k] *= 1 + 1e-9;
        a[k * PARAMETERS + k] += 1e-12;
    }
    return slc_pet_solve(a, unit, PARAMETERS) ? sqrt(unit[MEAN]) : INFINITY;
}

/* Is it what a photopeak looks like? Well above the background's fluctuation, inside of its window, its mean
 * known to a part of its width. */
static bool is_peak(const window *w, const double *p, double error)
{
    const double inside = fmin(p[MEAN] / p[SIGMA], (w->n - 1 - p[MEAN]) / p[SIGMA]);
    const double background = p[LOW] + (p[HIGH] - p[LOW]) * p[MEAN] / (w->n - 1.0);
    const double area = p[HEIGHT] * p[SIGMA] * 2.5066;
    return inside > 0.8 && error < 0.25 * p[SIGMA] && area > 5 * sqrt(area + background * 4 * p[SIGMA]) &&
           p[SIGMA] < 0.25 * (w->first + p[MEAN] + 1);
}

/* Fits in a window about the peak, and again where the window was not about what was found. The mean is from
 * the spectrum's first bin before and after. False where the window is too small. */
static bool fit(window *w, uint32_t bins, double *p)
{
    for (int again = 0; again < 4; again++) {
        const uint32_t first = w->first, n = w->n;
        open_window(w, bins, p[MEAN], p[SIGMA]);
        if (w->n <= PARAMETERS || w->n > bins) {
            return false;
        }
        if (again > 0 && w->first == first && w->n == n) {
            break;
        }
        double damping = 1e-3;
        p[MEAN] -= w->first;
        hold(w, p);
        double value = deviance(w, p, NULL, NULL);
        for (int round = 0; round < 60 && improve(w, p, &value, &damping); round++) {
            damping = fmax(damping, 1e-9);
        }
        p[MEAN] += w->first;
    }
    p[MEAN] -= w->first;
    return true;
}

bool slc_pet_peak_fit(const uint32_t *spectrum, uint32_t bins, uint32_t bin, uint32_t least_counts,
                      double resolution, slc_pet_peak *peak)
{
    window w = {.counts = spectrum};
    double p[PARAMETERS];
    memset(peak, 0, sizeof *peak);
    if (!begin(spectrum, bins, least_counts, p)) {
        return false;
    }
    w.sigma = resolution * (p[MEAN] + 0.5) / FWHM;
    p[SIGMA] = w.sigma > 0 ? w.sigma : p[SIGMA];
    if (!fit(&w, bins, p)) {
        return false;
    }
    const double error = error_of_mean(&w, p);
    if (!is_peak(&w, p, error)) {
        return false;
    }
    /* The middle of a bin of whole energies: of one unit it is that energy. */
    const double middle = 0.5 * (bin - 1.0);
    *peak = (slc_pet_peak){.found = true,
                           .mean = (w.first + p[MEAN]) * bin + middle,
                           .sigma = p[SIGMA] * bin,
                           .height = p[HEIGHT],
                           .mean_error = error * bin,
                           .low = (double)w.first * bin + middle,
                           .high = (w.first + w.n - 1.0) * bin + middle,
                           .background_low = p[LOW],
                           .background_high = p[HIGH]};
    return true;
}
