/* SPDX-License-Identifier: Apache-2.0
 *
 * Hot and dead pixels: counts against those of their neighbours. What is expected falls with the distance
 * from the beam and differs from sensor to sensor; over half a millimetre it hardly changes, and where it
 * does (next to the beam) by less than the factor that makes a pixel hot.
 */
#include "velo/velo_monitor_pixels.h"
#include "base/improbable.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { COLUMNS = SLC_VELO_COLUMNS, ROWS = SLC_VELO_ROWS, ROUNDS = 8 };

/* Sums over all pixels below and to the left, of counts and of widths. */
typedef struct sums {
    double count[COLUMNS + 1][ROWS + 1];
    double width[COLUMNS + 1][ROWS + 1];
    uint8_t hot[COLUMNS][ROWS];
} sums;

/* Next to the gaps between chips pixels are 2.5 times as wide. */
static double width_of(uint32_t column)
{
    return column == 255 || column == 256 || column == 511 || column == 512 ? 2.5 : 1;
}

static void sum_up(sums *s, const uint32_t *pixel)
{
    for (uint32_t c = 0; c < COLUMNS; c++) {
        double count = 0, width = 0;
        for (uint32_t r = 0; r < ROWS; r++) {
            if (s->hot[c][r] == 0) {
                const size_t at = SLC_VELO_MONITOR_PIXEL(0, c, r);
                count += pixel[at];
                width += width_of(c);
            }
            s->count[c + 1][r + 1] = s->count[c][r + 1] + count;
            s->width[c + 1][r + 1] = s->width[c][r + 1] + width;
        }
    }
}

static double expect(const sums *s, const uint32_t *pixel, uint32_t c, uint32_t r)
{
    enum { AROUND = SLC_VELO_MONITOR_AROUND };
    const uint32_t left = c > AROUND ? c - AROUND : 0,
                   right = c + AROUND < COLUMNS ? c + AROUND + 1 : COLUMNS;
    const uint32_t low = r > AROUND ? r - AROUND : 0, high = r + AROUND < ROWS ? r + AROUND + 1 : ROWS;
    double count = s->count[right][high] - s->count[left][high] - s->count[right][low] + s->count[left][low];
    double width = s->width[right][high] - s->width[left][high] - s->width[right][low] + s->width[left][low];
    if (s->hot[c][r] == 0) {
        const size_t at = SLC_VELO_MONITOR_PIXEL(0, c, r);
        count -= pixel[at];
        width -= width_of(c);
    }
    return width > 0 ? count / width * width_of(c) : 0;
}

/* Where no neighbour has any: as if all of them together had one. */
static bool improbable(double n, double expected)
{
    return slc_is_improbable(n, expected > 0 ? expected : 1.0 / 288, SLC_VELO_HOT_CHANCE);
}

static bool is_hot(uint32_t count, double expected)
{
    return count >= 2 && count > SLC_VELO_HOT_FACTOR * expected && improbable(count, expected);
}

/* Marks hot pixels until there are no more, each time without those that are known. */
static void find_hot(sums *s, const uint32_t *pixel)
{
    memset(s->hot, 0, sizeof s->hot);
    bool more = true;
    for (int round = 0; round < ROUNDS && more; round++) {
        more = false;
        sum_up(s, pixel);
        for (uint32_t c = 0; c < COLUMNS; c++) {
            for (uint32_t r = 0; r < ROWS; r++) {
                const uint32_t n = pixel[SLC_VELO_MONITOR_PIXEL(0, c, r)];
                if (n >= 2 && s->hot[c][r] == 0 && is_hot(n, expect(s, pixel, c, r))) {
                    s->hot[c][r] = 2; /* from the next round on */
                    more = true;
                }
            }
        }
        for (size_t i = 0; i < sizeof s->hot; i++) {
            (&s->hot[0][0])[i] = (&s->hot[0][0])[i] != 0;
        }
    }
}

/* One more of a list, whose room is a power of two. */
static bool list(slc_velo_odd_pixel **pixels, uint64_t *n, slc_velo_odd_pixel pixel)
{
    if ((*n & (*n - 1)) == 0) {
        slc_velo_odd_pixel *larger = realloc(*pixels, (*n > 0 ? 2 * *n : 1) * sizeof *larger);
        if (larger == NULL) {
            return false;
        }
        *pixels = larger;
    }
    (*pixels)[(*n)++] = pixel;
    return true;
}

static bool judge_sensor(slc_velo_monitor *m, sums *s, uint32_t sensor)
{
    const uint32_t *pixel = m->pixel + SLC_VELO_MONITOR_PIXEL(sensor, 0, 0);
    bool good = true;
    find_hot(s, pixel);
    for (uint32_t c = 0; c < COLUMNS && good; c++) {
        for (uint32_t r = 0; r < ROWS && good; r++) {
            const uint32_t n = pixel[SLC_VELO_MONITOR_PIXEL(0, c, r)];
            const double expected = expect(s, pixel, c, r);
            const slc_velo_odd_pixel odd = {(uint16_t)sensor, (uint16_t)c, (uint16_t)r, n, (float)expected};
            m->judged += expected >= SLC_VELO_DEAD_EXPECTED;
            if (s->hot[c][r] != 0) {
                good = list(&m->hot, &m->n_hot, odd);
            } else if (n == 0 && expected >= SLC_VELO_DEAD_EXPECTED) {
                good = list(&m->dead, &m->n_dead, odd);
            }
        }
    }
    return good;
}

slc_status slc_velo_monitor_judge(slc_velo_monitor *m, slc_error *error)
{
    m->n_hot = m->n_dead = m->judged = 0;
    for (uint32_t i = 0; i < m->n_minutes; i++) {
        m->minutes[i].region = slc_velo_minute_region(&m->minutes[i]);
    }
    if (m->pixel == NULL) {
        return SLC_OK;
    }
    sums *s = calloc(1, sizeof *s);
    bool good = s != NULL;
    for (uint32_t sensor = 0; sensor < SLC_VELO_SENSORS && good; sensor++) {
        good = judge_sensor(m, s, sensor);
    }
    free(s);
    return good ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory to look for hot pixels");
}
