/* SPDX-License-Identifier: Apache-2.0
 *
 * Where the lines of pairs meet: the place whose squared distances to them are least, found again of those
 * that are nearer than twice the median, until that stays. The first is of all lines, so that a source of any
 * size is found, and randoms, which pass anywhere, are left out step by step.
 */
#include "pet/pet_calibrate_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 12 };

static double distance(const slc_pet_calibrate_line *l, const double at[3])
{
    double along = 0, square = 0;
    for (size_t k = 0; k < 3; k++) {
        const double to = at[k] - l->from[k];
        along += to * l->direction[k];
        square += to * to;
    }
    return sqrt(fmax(square - along * along, 0));
}

/* The nearest place to all lines within `reach` of the one that was found before. */
static void nearest(const slc_pet_calibrate_line *lines, size_t n, double reach, double at[3])
{
    double a[9] = {0}, b[3] = {0};
    for (size_t i = 0; i < n; i++) {
        const slc_pet_calibrate_line *l = &lines[i];
        if (distance(l, at) > reach) {
            continue;
        }
        for (size_t k = 0; k < 3; k++) {
            for (size_t m = 0; m < 3; m++) {
                const double part = (k == m ? 1 : 0) - l->direction[k] * l->direction[m];
                a[3 * k + m] += part;
                b[k] += part * l->from[m];
            }
        }
    }
    if (slc_pet_solve(a, b, 3)) {
        memcpy(at, b, sizeof b);
    }
}

static int compare(const void *a, const void *b)
{
    const double one = *(const double *)a, two = *(const double *)b;
    return (one > two) - (one < two);
}

bool slc_pet_calibrate_meet(const slc_pet_calibrate_line *lines, size_t n, double least_mm, double at[3])
{
    double *away = malloc((n + 1) * sizeof *away);
    memset(at, 0, 3 * sizeof *at);
    if (away == NULL) {
        return false;
    }
    nearest(lines, n, HUGE_VAL, at);
    for (int round = 0; round < ROUNDS && n > 0; round++) {
        for (size_t i = 0; i < n; i++) {
            away[i] = distance(&lines[i], at);
        }
        qsort(away, n, sizeof *away, compare);
        nearest(lines, n, fmax(2 * away[n / 2], least_mm), at);
    }
    free(away);
    return true;
}
