/* SPDX-License-Identifier: Apache-2.0
 *
 * VELO to UT: which tracks are looked at, and which of what the kernel finds stays; and the other way round,
 * whether the UT has what a momentum says.
 */
#include "hlt1/hlt1_upstream_work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float kick_z_mm = 1780.0f;    /* the middle of the field before the UT */
static const float plane_reach_mm = 10.0f; /* of the staggered staves of a layer, in z */
const float slc_hlt1_ut_z_mm[SLC_UT_LAYERS] = {2327.5f, 2372.5f, 2597.5f, 2642.5f};

/* ---- room --------------------------------------------------------------------------------------- */

struct slc_hlt1_upstream_search {
    const slc_hlt1_upstream_kernels *kernels;
    slc_hlt1_upstream_work work;
};

slc_hlt1_upstream_search *slc_hlt1_upstream_open(slc_simd_target target)
{
    slc_hlt1_upstream_search *search = calloc(1, sizeof *search);
    if (search != NULL) {
        search->kernels = slc_hlt1_upstream_kernels_of(
            slc_simd_kernel_choice(&slc_hlt1_upstream_kernel_rows[0], target));
    }
    return search;
}

void slc_hlt1_upstream_close(slc_hlt1_upstream_search *search)
{
    free(search);
}

/* ---- what is found ------------------------------------------------------------------------------ */

/* Writes down track t as the line behind the last one. */
static void take_line(const slc_hlt1_event *event, uint32_t t, slc_hlt1_upstream_lines *lines)
{
    const uint32_t n = lines->n;
    lines->velo_track[n] = t;
    lines->x[n] = event->x[t];
    lines->y[n] = event->y[t];
    lines->z[n] = event->z[t];
    lines->tx[n] = event->tx[t];
    lines->ty[n] = event->ty[t];
}

static float y_of(const slc_hlt1_upstream_lines *lines, uint32_t line)
{
    return lines->y[line] + lines->ty[line] * (SLC_HLT1_UT_Z_MM - lines->z[line]);
}

static bool is_kept(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                    const slc_hlt1_upstream_lines *lines, const slc_hlt1_upstream_found *found, uint32_t i)
{
    const uint32_t line = found->line[i];
    const float tx = lines->tx[line], ty = lines->ty[line], t2 = tx * tx + ty * ty;
    const float p = 1.0f / fmaxf(fabsf(found->q_over_p[i]), 1e-9f), pt = p * sqrtf(t2 / (1.0f + t2));
    const float charge = event->geometry->polarity * found->q_over_p[i] < 0 ? -1.0f : 1.0f;
    /* Those that go into the beam pipe or leave the magnet. */
    const float x = -charge * found->x[i], slope = -charge * found->tx[i];
    if (1.3f * p < config->least_p_mev || 1.3f * pt < config->least_pt_mev ||
        (x > -48.0f && x < 0 && fabsf(y_of(lines, line)) < 33.0f) || slope > 0.09f + 3e-4f * pt) {
        return false;
    }
    const float lp = logf(p), lpt = logf(pt), lchi2 = logf(fmaxf(found->chi2[i], 1e-10f));
    const float d = found->n_hits[i] == 3 ? 0.16288f - 0.10708f * lp + 0.13415f * lpt - 0.13776f * lchi2
                                          : 0.23501f - 0.09383f * lp + 0.11082f * lpt - 0.17047f * lchi2;
    return d > config->min_discriminant;
}

static void append(const slc_hlt1_upstream_lines *lines, const slc_hlt1_upstream_found *found, uint32_t i,
                   slc_hlt1_upstream *tracks, slc_hlt1_track_hits *hits)
{
    const uint32_t line = found->line[i];
    const size_t t = tracks->head.size++;
    tracks->velo_track[t] = lines->velo_track[line];
    tracks->hit_begin[t] = (uint32_t)(hits->head.size - hits->head.event_offset[hits->head.n_events]);
    tracks->n_hits[t] = found->n_hits[i];
    tracks->x_mm[t] = found->x[i];
    tracks->y_mm[t] = y_of(lines, line);
    tracks->z_mm[t] = SLC_HLT1_UT_Z_MM;
    tracks->tx[t] = found->tx[i];
    tracks->ty[t] = lines->ty[line];
    tracks->q_over_p[t] = found->q_over_p[i];
    tracks->chi2[t] = found->chi2[i];
    for (size_t k = 0; k < SLC_UT_LAYERS; k++) {
        if (found->hit[k][i] != SLC_HLT1_NONE) {
            hits->hit[hits->head.size++] = found->hit[k][i];
        }
    }
}

/* Appends what was found of a group of lines while there is room; returns how many of the lines that were. */
static uint32_t keep(const slc_hlt1_upstream_config *config, const slc_hlt1_event *event,
                     const slc_hlt1_upstream_work *work, uint32_t *n, slc_hlt1_upstream *tracks,
                     slc_hlt1_track_hits *hits)
{
    for (uint32_t i = 0; i < work->found.n; i++) {
        if (!is_kept(config, event, &work->lines, &work->found, i)) {
            continue;
        }
        if (*n == config->max_tracks) {
            slc_faults_add(event->faults, SLC_FAULT_HLT1_UPSTREAM, event->number, -1, 0);
            return work->found.line[i] + 1;
        }
        append(&work->lines, &work->found, i, tracks, hits);
        (*n)++;
    }
    return work->lines.n;
}

void slc_hlt1_upstream_run(slc_hlt1_upstream_search *search, const slc_hlt1_upstream_config *config,
                           const slc_hlt1_event *event, slc_hlt1_upstream *tracks, slc_hlt1_track_hits *hits)
{
    slc_hlt1_upstream_work *work = &search->work;
    uint32_t n = 0, looked = 0, t = 0;
    bool crowded = false, more = true;
    memcpy(work->dxdy, slc_ut_dxdy, sizeof work->dxdy);
    memcpy(work->plane_z, slc_hlt1_ut_z_mm, sizeof work->plane_z);
    search->kernels->index(event, work);
    while (t < event->n_velo && more) {
        t = search->kernels->lines(event, t, work);
        search->kernels->search(config, event, work);
        looked = keep(config, event, work, &n, tracks, hits);
        more = looked == work->lines.n;
        for (uint32_t i = 0; i < looked; i++) {
            crowded = crowded || work->full[i];
        }
    }
    if (crowded) {
        slc_faults_add(event->faults, SLC_FAULT_HLT1_CROWDED, event->number, -1, 0);
    }
    slc_columns_end_event(tracks);
    slc_columns_end_event(hits);
}

/* ---- the other way round ------------------------------------------------------------------------ */

/* Field integral along the track, linear between the nodes of the table. */
static float deflection_of(const slc_hlt1_deflection *table, const slc_hlt1_line *l)
{
    const float origin = fabsf(l->ty) > 1e-3f ? l->z - l->y / l->ty : l->z - l->x / l->tx;
    const float at[3] = {(l->ty + 0.3f) / 0.02f, (origin + 250.0f) / 50.0f, l->z / 80.0f};
    static const int nodes[3] = {31, 11, 11}, step[3] = {1, 31, 341};
    int base = 0;
    float fraction[3];
    bool last[3];
    for (int k = 0; k < 3; k++) {
        const float low = !(at[k] > 0) ? 0 : at[k] > (float)(nodes[k] - 1) ? (float)(nodes[k] - 1) : at[k];
        const int i = (int)low;
        fraction[k] = low - (float)i;
        last[k] = i == nodes[k] - 1;
        base += i * step[k];
    }
    float value = table->bdl[base];
    for (int k = 0; k < 3; k++) {
        value += last[k] ? 0 : fraction[k] * (table->bdl[base + step[k]] - table->bdl[base]);
    }
    return value;
}

/* Is there a hit of the layer so near to the VELO's line bent by `slope` at the middle of the field? */
static bool has_hit(const slc_hlt1_event *event, const slc_hlt1_line *l, uint32_t layer, float slope,
                    float most)
{
    const float dxdy = slc_ut_dxdy[layer], dz = slc_hlt1_ut_z_mm[layer] - l->z;
    const float bent = slope * (slc_hlt1_ut_z_mm[layer] - kick_z_mm);
    const float centre = l->x + l->tx * dz + bent - dxdy * (l->y + l->ty * dz);
    const float reach = most + plane_reach_mm * fabsf(l->tx + slope - dxdy * l->ty);
    const uint32_t begin = event->ut_begin[layer], n = event->ut_begin[layer + 1] - begin;
    const float *x = event->ut_x + begin;
    for (uint32_t i = slc_hlt1_lower(x, n, centre - reach); i < n && x[i] <= centre + reach; i++) {
        const uint32_t row = begin + i;
        const float at = event->ut_z[row] - l->z, y = l->y + l->ty * at;
        const float r = x[i] + dxdy * y - (l->x + l->tx * at + slope * (event->ut_z[row] - kick_z_mm));
        const float low = fminf(event->ut_y_begin[row], event->ut_y_end[row]) - 1.0f,
                    high = fmaxf(event->ut_y_begin[row], event->ut_y_end[row]) + 1.0f;
        if (fabsf(r) <= most && y >= low && y <= high) {
            return true;
        }
    }
    return false;
}

uint32_t slc_hlt1_upstream_layers(const slc_hlt1_event *event, uint32_t t, float q_over_p, float most_mm)
{
    const slc_hlt1_line l = {event->x[t], event->y[t], event->z[t], event->tx[t], event->ty[t]};
    uint32_t n = 0;
    if (fabsf(l.ty) > 0.3f) {
        return 0; /* beyond the table of the field, and the UT */
    }
    const float bend = q_over_p * deflection_of(event->geometry->deflection, &l) / 3.3356e-3f;
    const float slope = bend / sqrtf(1.0f + l.tx * l.tx + l.ty * l.ty);
    for (uint32_t k = 0; k < SLC_UT_LAYERS; k++) {
        n += has_hit(event, &l, k, slope, most_mm);
    }
    return n;
}

void slc_hlt1_upstream_ranges(slc_hlt1_upstream_search *search, const slc_hlt1_event *event,
                              const uint32_t *tracks, size_t n, const slc_hlt1_upstream_ask *ask,
                              float (*range)[2])
{
    slc_hlt1_upstream_work *work = &search->work;
    for (size_t begin = 0; begin < n; begin += SLC_HLT1_UPSTREAM_TRACKS) {
        work->lines.n = 0;
        for (size_t i = begin; i < n && work->lines.n < SLC_HLT1_UPSTREAM_TRACKS; i++) {
            take_line(event, tracks[i], &work->lines);
            work->lines.n++;
        }
        search->kernels->ranges(ask, event, work);
        for (size_t i = 0; i < work->lines.n; i++) {
            range[begin + i][0] = work->range[0][i];
            range[begin + i][1] = work->range[1][i];
        }
    }
}
