/* SPDX-License-Identifier: Apache-2.0
 * Rates by their definition. */
#include "oracle/pet_rates_oracle.h"

#include <math.h>
#include <stdlib.h>

/* Where both crystals are, asked one by one. Module: of the ring, its place in it; of a table, its row's. */
static bool good_by_geometry(const slc_pet_good *good, uint32_t a, uint32_t b)
{
    const slc_pet_geometry *g = good->scanner;
    double p[3], q[3], direction[3];
    slc_pet_crystal_position(g, a, p, direction);
    slc_pet_crystal_position(g, b, q, direction);
    if (a == b) {
        return false;
    }
    double turn = fabs(atan2(p[1], p[0]) - atan2(q[1], q[0])) * 180 / acos(-1);
    turn = turn > 180 ? 360 - turn : turn;
    const double length = hypot(q[0] - p[0], q[1] - p[1]);
    const double from_axis = length > 0 ? fabs(p[0] * q[1] - p[1] * q[0]) / length : hypot(p[0], p[1]);
    uint32_t module[2];
    for (int i = 0; i < 2; i++) {
        const uint32_t crystal = i == 0 ? a : b, ring = slc_pet_crystals_per_ring(g);
        const uint32_t around = crystal % ring / (g->blocks_y * g->crystals_y),
                       along = crystal / ring / (g->blocks_z * g->crystals_z);
        module[i] = g->layout != NULL ? g->layout->row[crystal].module
                                      : around + along * g->channels * g->modules;
    }
    const int n = (int)slc_pet_module_count(g), apart = abs((int)module[0] - (int)module[1]);
    return (good->min_degrees <= 0 || turn >= good->min_degrees) &&
           (good->fov_mm <= 0 || from_axis <= good->fov_mm) &&
           (good->max_axial_mm <= 0 || fabs(p[2] - q[2]) <= good->max_axial_mm) &&
           (apart < n - apart ? apart : n - apart) >= (int)good->min_modules;
}

bool oracle_pet_good(const slc_pet_good *good, uint32_t ring, uint32_t a, uint32_t b)
{
    const double pi = acos(-1);
    if (good->kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL) {
        return a != b;
    }
    if (good->kind == SLC_PET_GOOD_SECTORS) {
        const int per = (int)(ring / good->sectors);
        const int d = abs((int)(a % ring) / per - (int)(b % ring) / per);
        return (d < (int)good->sectors - d ? d : (int)good->sectors - d) >= (int)good->min_sectors;
    }
    if (good->kind == SLC_PET_GOOD_GEOMETRY) {
        return good_by_geometry(good, a, b);
    }
    const double across = 2 * good->radius_mm *
                          fabs(sin(pi * ((double)(a % ring) - (double)(b % ring)) / ring));
    const double along = good->pitch_z_mm * abs((int)(a / ring) - (int)(b / ring));
    return across >= good->min_mm && along <= good->max_axial_mm;
}

static int64_t bin_number(const slc_pet_rates_config *config, int64_t time_ps)
{
    const int64_t bin_ps = llround(config->bin_s * 1e12);
    return time_ps >= 0 ? time_ps / bin_ps : -((-time_ps + bin_ps - 1) / bin_ps);
}

/* Ordered pairs of singles of one bin whose crystals are good. */
static double pairs_of(const slc_pet_rates_config *config, const double *count, const uint32_t *pair)
{
    const uint32_t ring = slc_pet_crystals_per_ring(&config->geometry),
                   n = slc_pet_crystals(&config->geometry);
    double sum = 0, all = 0, same = 0;
    if (config->good.kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL && pair == NULL) { /* scanners are large */
        for (uint32_t a = 0; a < n; a++) {
            all += count[a];
            same += count[a] * count[a];
        }
        return all * all - same;
    }
    for (uint32_t a = 0; a < n; a++) {
        for (uint32_t b = 0; b < n; b++) {
            const bool wanted = pair == NULL || (a == pair[0] && b == pair[1]) ||
                                (a == pair[1] && b == pair[0]);
            if (wanted && oracle_pet_good(&config->good, ring, a, b)) {
                sum += count[a] * (a == b ? count[b] - 1 : count[b]);
            }
        }
    }
    return sum;
}

/* Where the first single and the last are, and the mean gap between moments. */
typedef struct reach {
    int64_t first, last;
    double gap_s; /* 0: there is one moment */
} reach;

static reach reach_of(const slc_pet_rates_config *config, const slc_pet_singles *s)
{
    reach r = {.first = s->time_ps[0], .last = s->time_ps[0]};
    double moments = 1;
    for (size_t i = 1; i < s->head.size; i++) {
        r.first = s->time_ps[i] < r.first ? s->time_ps[i] : r.first;
        r.last = s->time_ps[i] > r.last ? s->time_ps[i] : r.last;
        moments += fabs((double)s->time_ps[i] - (double)s->time_ps[i - 1]) > config->window_ns * 1000;
    }
    r.gap_s = moments > 1 ? (double)(r.last - r.first) * 1e-12 / (moments - 1) : 0;
    return r;
}

oracle_pet_bin *oracle_pet_rates(const slc_pet_rates_config *config, const slc_pet_singles *s,
                                 const uint32_t *pair, size_t *n, double *seconds)
{
    *n = 0;
    *seconds = 0;
    const uint32_t crystals = slc_pet_crystals(&config->geometry);
    double *count = calloc(crystals, sizeof *count);
    if (s->head.size == 0 || count == NULL) {
        free(count);
        return NULL;
    }
    const reach r = reach_of(config, s);
    const int64_t first = bin_number(config, r.first), last = bin_number(config, r.last);
    oracle_pet_bin *bins = calloc((size_t)(last - first) + 1, sizeof *bins);
    if (bins == NULL) {
        free(count);
        return NULL;
    }
    *seconds = (double)(r.last - r.first) * 1e-12;
    for (int64_t b = first; b <= last; b++) {
        oracle_pet_bin *bin = &bins[(*n)++];
        for (uint32_t c = 0; c < crystals; c++) {
            count[c] = 0;
        }
        for (size_t i = 0; i < s->head.size; i++) {
            if (bin_number(config, s->time_ps[i]) == b) {
                bin->singles++;
                count[s->crystal[i]]++;
            }
        }
        double from = (double)b * config->bin_s, to = from + config->bin_s;
        bin->begin_s = from;
        if (r.gap_s > 0) {
            from = fmax(from, (double)r.first * 1e-12 - r.gap_s);
            to = fmin(to, (double)r.last * 1e-12 + r.gap_s);
        }
        bin->length_s = fmax(to - from, 0);
        const double pairs = pairs_of(config, count, pair);
        bin->randoms = pairs > 0 ? config->window_ns * 1e-9 * pairs / bin->length_s : 0;
    }
    free(count);
    return bins;
}

double oracle_pet_randoms(const slc_pet_rates_config *config, const slc_pet_singles *singles,
                          const uint32_t *pair)
{
    size_t n = 0;
    double seconds = 0, sum = 0;
    oracle_pet_bin *bins = oracle_pet_rates(config, singles, pair, &n, &seconds);
    for (size_t i = 0; i < n; i++) {
        sum += bins[i].randoms;
    }
    free(bins);
    return sum;
}
