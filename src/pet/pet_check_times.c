/* SPDX-License-Identifier: Apache-2.0
 *
 * Offsets of modules' clocks. Light needs longer to one end of a line than to the other; what a pair's time
 * difference is off from that is the difference of two modules' offsets. A module's is the median of what its
 * pairs ask for with their other ends' as they are, module after module, until nothing moves: random pairs,
 * and partners that are late themselves, then hardly count.
 */
#include "pet/pet_check_parts.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 60 };
static const double light_mm_ps = 0.299792458;

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, size_t n)
{
    qsort(value, n, sizeof *value, by_value);
    return n > 0 ? (n % 2 != 0 ? value[n / 2] : 0.5 * (value[n / 2 - 1] + value[n / 2])) : 0;
}

static double distance(const double a[3], const double b[3])
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return sqrt(x * x + y * y + z * z);
}

/* What the pairs of a module ask its offset to be; how many there are. */
static size_t wanted(const slc_pet_places *p, const float *left_ps, const double *offset_ps, uint32_t module,
                     double *room)
{
    size_t n = 0;
    for (uint32_t i = p->from_module[module]; i < p->from_module[module + 1]; i++) {
        const slc_pet_sample *s = &p->sample[p->of_module[i]];
        const int mine = s->module[0] == module ? 0 : 1;
        const double left = (double)left_ps[p->of_module[i]];
        const double other = offset_ps[s->module[1 - mine]];
        if (!isnan(other)) {
            room[n++] = other + (mine == 1 ? left : -left);
        }
    }
    return n;
}

/* The median of all is 0. */
static void centre(const slc_pet_places *p, double *offset_ps, double *room)
{
    size_t n = 0;
    for (uint32_t m = 0; m < p->modules; m++) {
        if (!isnan(offset_ps[m])) {
            room[n++] = offset_ps[m];
        }
    }
    const double middle = median(room, n);
    for (uint32_t m = 0; m < p->modules; m++) {
        offset_ps[m] -= middle;
    }
}

static void find_offsets(const slc_pet_places *p, const float *left, double *room, double *offset_ps,
                         double *error_ps)
{
    for (uint32_t m = 0; m < p->modules; m++) {
        const uint32_t n = p->from_module[m + 1] - p->from_module[m];
        offset_ps[m] = n < SLC_PET_CHECK_LEAST ? NAN : 0;
        error_ps[m] = NAN;
    }
    double moved = 1;
    for (int round = 0; round < ROUNDS && moved > 0.5; round++) {
        moved = 0;
        for (uint32_t m = 0; m < p->modules; m++) {
            const size_t n = isnan(offset_ps[m]) ? 0 : wanted(p, left, offset_ps, m, room);
            if (n > 0) {
                const double now = median(room, n);
                moved = fmax(moved, fabs(now - offset_ps[m]));
                offset_ps[m] = now;
            }
        }
    }
    for (uint32_t m = 0; m < p->modules; m++) {
        const size_t n = isnan(offset_ps[m]) ? 0 : wanted(p, left, offset_ps, m, room);
        for (size_t i = 0; i < n; i++) {
            room[i] = fabs(room[i] - offset_ps[m]);
        }
        /* 1.4826 medians of what is off are a Gaussian's width, 1.2533 the error of a median. */
        error_ps[m] = n > 0 ? 1.2533 * 1.4826 * median(room, n) / sqrt((double)n) : NAN;
    }
    centre(p, offset_ps, room);
}

bool slc_pet_module_times(const slc_pet_places *p, double *offset_ps, double *error_ps)
{
    float *left = malloc((p->n + 1) * sizeof *left);
    double *room = malloc((p->n + p->modules + 1) * sizeof *room);
    const bool good = left != NULL && room != NULL;
    if (good) {
        for (size_t i = 0; i < p->n; i++) {
            const double *a = slc_pet_places_end(p, &p->sample[i], 0);
            const double *b = slc_pet_places_end(p, &p->sample[i], 1);
            const double flight = (distance(b, p->source_mm) - distance(a, p->source_mm)) / light_mm_ps;
            left[i] = (float)((double)p->sample[i].dt_ps - flight);
        }
        find_offsets(p, left, room, offset_ps, error_ps);
    }
    free(left);
    free(room);
    return good;
}
