/* SPDX-License-Identifier: Apache-2.0
 *
 * The beam line from tracks. Seen along z a track is a line in the plane and the beam a point: the distance
 * of the two is c - n·b, linear in the point b, with n the track's normal and c its distance from x = y = 0.
 * So no point of closest approach is needed, which would depend on where the beam is thought to be, and no
 * angle: this is the fit of d0 against phi.
 */
#include <sluice/velo_beam.h>

#include "base/block.h"

#include <math.h>
#include <stdlib.h>

/* Its normal and distance. */
typedef struct line {
    double nx, ny, c;
} line;

typedef struct room {
    line *lines;
    double *distances; /* scratch of the median */
} room;

static room room_of(const slc_velo_beam_sample *sample)
{
    char *at = sample->block;
    room r;
    r.lines = slc_block_take(&at, SLC_VELO_BEAM_TRACKS * sizeof *r.lines);
    r.distances = slc_block_take(&at, SLC_VELO_BEAM_TRACKS * sizeof *r.distances);
    return r;
}

slc_status slc_velo_beam_reserve(slc_velo_beam_sample *sample, slc_error *error)
{
    if (sample->block == NULL) {
        sample->block = malloc(slc_block_bound(SLC_VELO_BEAM_TRACKS * sizeof(line)) +
                               slc_block_bound(SLC_VELO_BEAM_TRACKS * sizeof(double)));
    }
    return sample->block != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "no memory to look for the beam");
}

void slc_velo_beam_clear(slc_velo_beam_sample *sample)
{
    free(sample->block);
    *sample = (slc_velo_beam_sample){.block = NULL};
}

void slc_velo_beam_reset(slc_velo_beam_sample *sample)
{
    *sample = (slc_velo_beam_sample){.block = sample->block};
}

static bool line_of(const slc_velo_states *states, size_t row, line *to)
{
    const double tx = (double)states->tx[row], ty = (double)states->ty[row];
    const double slope = sqrt(tx * tx + ty * ty);
    to->nx = ty / slope;
    to->ny = -tx / slope;
    to->c = to->nx * (double)states->x_mm[row] + to->ny * (double)states->y_mm[row];
    return isfinite(to->nx) && isfinite(to->ny) && isfinite(to->c);
}

slc_status slc_velo_beam_add(slc_velo_beam_sample *sample, const slc_velo_states *states, slc_error *error)
{
    if (sample->block == NULL) {
        return slc_fail(error, SLC_ERR_CAPACITY, "tracks for the beam line: the sample was not reserved");
    }
    line *const lines = room_of(sample).lines;
    for (uint32_t e = 0; e < states->head.n_events && !sample->full; e++) {
        const size_t before = sample->tracks;
        for (size_t row = states->head.event_offset[e];
             row < states->head.event_offset[e + 1] && sample->tracks < SLC_VELO_BEAM_TRACKS; row++) {
            sample->tracks += line_of(states, row, &lines[sample->tracks]);
        }
        sample->events++;
        sample->with_tracks += sample->tracks > before;
        sample->full = sample->tracks == SLC_VELO_BEAM_TRACKS || sample->events == SLC_VELO_BEAM_EVENTS;
    }
    return SLC_OK;
}

/* ---- estimate ---------------------------------------------------------------------------------- */

static double distance_of(const line *l, double x, double y)
{
    return fabs(l->c - l->nx * x - l->ny * y);
}

/* The k-th smallest of the values, which are put in another order: C. A. R. Hoare's FIND. */
static double smallest(double *values, size_t n, size_t k)
{
    ptrdiff_t low = 0, high = (ptrdiff_t)n - 1;
    const ptrdiff_t wanted = (ptrdiff_t)k;
    while (low < high) {
        const double middle = values[wanted];
        ptrdiff_t i = low, j = high;
        while (i <= j) {
            for (; values[i] < middle; i++) {
            }
            for (; values[j] > middle; j--) {
            }
            if (i <= j) {
                const double swapped = values[i];
                values[i++] = values[j];
                values[j--] = swapped;
            }
        }
        low = j < wanted ? i : low;
        high = wanted < i ? j : high;
    }
    return values[wanted];
}

/* Of normal distances this is their standard deviation. Never zero. */
static double spread_of(const room *r, size_t n, double x, double y)
{
    for (size_t i = 0; i < n; i++) {
        r->distances[i] = distance_of(&r->lines[i], x, y);
    }
    return fmax(1e-6, 1.4826 * smallest(r->distances, n, n / 2));
}

/* The point nearest to all lines, each with the weight that it has by its distance from (x, y): 1 - (d /
 * cut)² squared, or 1 for an infinite cut. False where they have no such point. */
static bool solve(const line *lines, size_t n, double cut, double *x, double *y)
{
    double xx = 0, xy = 0, yy = 0, xc = 0, yc = 0;
    for (size_t i = 0; i < n; i++) {
        const line *l = &lines[i];
        const double part = distance_of(l, *x, *y) / cut, left = 1 - part * part;
        const double w = left > 0 ? left * left : 0;
        xx += w * l->nx * l->nx;
        xy += w * l->nx * l->ny;
        yy += w * l->ny * l->ny;
        xc += w * l->nx * l->c;
        yc += w * l->ny * l->c;
    }
    const double determinant = xx * yy - xy * xy;
    if (!(determinant > 1e-6 * (xx + yy) * (xx + yy))) {
        return false;
    }
    *x = (yy * xc - xy * yc) / determinant;
    *y = (xx * yc - xy * xc) / determinant;
    return true;
}

slc_status slc_velo_beam_estimate(slc_velo_beam_sample *sample, slc_velo_beam *beam, slc_error *error)
{
    enum { ROUNDS = 100 };
    const size_t n = sample->tracks;
    *beam = (slc_velo_beam){.tracks = 0};
    if (n < SLC_VELO_BEAM_LEAST) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%zu tracks in %u events are too few to tell where the beam is: %d are needed", n,
                        (unsigned)sample->events, SLC_VELO_BEAM_LEAST);
    }
    const room r = room_of(sample);
    double x = 0, y = 0, moved = INFINITY;
    bool solved = solve(r.lines, n, INFINITY, &x, &y);
    for (int round = 0; round < ROUNDS && solved && moved > 1e-6; round++) {
        const double from_x = x, from_y = y;
        solved = solve(r.lines, n, 3 * spread_of(&r, n, x, y), &x, &y);
        moved = fabs(x - from_x) + fabs(y - from_y);
    }
    if (!solved || !isfinite(x) || !isfinite(y)) {
        return slc_fail(error, SLC_ERR_FORMAT, "the %zu tracks of %u events do not tell where the beam is", n,
                        (unsigned)sample->events);
    }
    beam->x_mm = x;
    beam->y_mm = y;
    beam->spread_mm = spread_of(&r, n, x, y);
    beam->sigma_mm = beam->spread_mm / sqrt((double)sample->with_tracks);
    beam->events = sample->with_tracks;
    beam->tracks = n;
    return SLC_OK;
}

double slc_velo_beam_distance(const slc_velo_beam *estimate, float x_mm, float y_mm)
{
    const double dx = estimate->x_mm - (double)x_mm, dy = estimate->y_mm - (double)y_mm;
    return sqrt(dx * dx + dy * dy);
}

bool slc_velo_beam_differs(const slc_velo_beam *estimate, float x_mm, float y_mm)
{
    const double away = slc_velo_beam_distance(estimate, x_mm, y_mm);
    return away > 0.1 && away > 3 * estimate->sigma_mm;
}
