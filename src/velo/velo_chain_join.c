/* SPDX-License-Identifier: Apache-2.0
 *
 * What a GPU found of most events, and the processor of some, put together: states and vertices, whose
 * columns on the device are those that differ.
 */
#include "velo/velo_chain_join.h"

#include "base/columns.h"
#include "velo/velo_fit.h"

#include <string.h>

#define COPY SLC_VELO_COPY
typedef slc_velo_stretch stretch;

slc_status slc_velo_next_stretch(const slc_velo_device *d, uint32_t n, const slc_velo_offsets *offset,
                                 void *collection, stretch *s)
{
    slc_columns *to = collection;
    if (s->end == n) {
        return SLC_END;
    }
    s->begin = s->end;
    s->own = d->own[s->begin] != 0;
    const slc_velo_part *part = slc_velo_part_of(d, s->begin);
    const uint32_t most = s->own ? n : part->first + part->n;
    while (s->end < most && (d->own[s->end] != 0) == s->own) {
        s->end++;
    }
    const uint32_t *of = offset->own, first = s->own ? 0 : part->first;
    if (!s->own) {
        memcpy(&of, (const char *)&part->out + offset->member, sizeof of);
    }
    s->out = &part->out;
    s->from = of[s->begin - first];
    s->rows = of[s->end - first] - s->from;
    s->to = to->size;
    if (s->rows > to->capacity - to->size) {
        return SLC_ERR_CAPACITY;
    }
    for (uint32_t e = s->begin; e < s->end; e++) {
        to->size = s->to + of[e + 1 - first] - s->from;
        slc_columns_end_event(collection);
    }
    return SLC_OK;
}

void slc_velo_no_rows(void *collection, uint32_t n_events)
{
    slc_columns_reset(collection);
    for (uint32_t e = 0; e < n_events; e++) {
        slc_columns_end_event(collection);
    }
}

bool slc_velo_is_wanted(const slc_velo_chain *chain, uint32_t what)
{
    return (chain->config.wanted & what) != 0;
}

static slc_status ended(slc_status status)
{
    return status == SLC_END ? SLC_OK : status;
}

/* ---- states and vertices ---------------------------------------------------------------------------------
 */

/* What the device leaves out: x and y have one covariance, and all states at the end one z. */
static void expand(slc_velo_states *to, const slc_velo_cuda_states *from, float end_z, const stretch *s)
{
    COPY(to->x_mm, from->x, s);
    COPY(to->y_mm, from->y, s);
    COPY(to->tx, from->tx, s);
    COPY(to->ty, from->ty, s);
    COPY(to->cov_xx_mm2, from->pp, s);
    COPY(to->cov_yy_mm2, from->pp, s);
    COPY(to->cov_xtx_mm, from->ps, s);
    COPY(to->cov_yty_mm, from->ps, s);
    COPY(to->cov_txtx, from->ss, s);
    COPY(to->cov_tyty, from->ss, s);
    COPY(to->chi2, s->out->chi2, s);
    COPY(to->backward, s->out->backward, s);
    if (from->z != NULL) {
        COPY(to->z_mm, from->z, s);
    }
    for (size_t i = 0; i < s->rows; i++) {
        to->z_mm[s->to + i] = from->z != NULL ? to->z_mm[s->to + i] : end_z;
        to->n_dof[s->to + i] = 2 * s->out->track_n[s->from + i] - 4;
    }
}

static void copy_states(slc_velo_states *to, const slc_velo_states *from, const stretch *s)
{
    for (size_t c = 0; c < slc_velo_states_schema.n_columns; c++) {
        const slc_column *column = &slc_velo_states_schema.columns[c];
        const size_t size = slc_type_size(column->type);
        char *at;
        const char *source;
        memcpy(&at, (const char *)to + column->member, sizeof at);
        memcpy(&source, (const char *)from + column->member, sizeof source);
        memcpy(at + s->to * size, source + s->from * size, s->rows * size);
    }
}

static slc_status join_states(const slc_velo_chain *chain, uint32_t n, bool is_beam, slc_velo_states *to)
{
    const slc_velo_device *d = chain->device;
    const slc_velo_states *own = is_beam ? &d->beam : &d->end;
    const slc_velo_offsets offset = {offsetof(slc_velo_cuda_out, track_offset), own->head.event_offset};
    if (to->head.event_capacity < n) {
        return SLC_ERR_CAPACITY;
    }
    if (!slc_velo_is_wanted(chain, is_beam ? SLC_VELO_WANT_BEAM : SLC_VELO_WANT_END)) {
        slc_velo_no_rows(to, n);
        return SLC_OK;
    }
    stretch s = {.end = 0};
    slc_status status;
    slc_columns_reset(to);
    while ((status = slc_velo_next_stretch(d, n, &offset, to, &s)) == SLC_OK) {
        if (s.own) {
            copy_states(to, own, &s);
        } else {
            expand(to, is_beam ? &s.out->beam : &s.out->end, chain->config.fit.end_z_mm, &s);
        }
    }
    return ended(status);
}

slc_status slc_velo_device_fit(slc_velo_chain *chain, slc_velo_result *result)
{
    slc_velo_device *d = chain->device;
    const uint32_t n = result->hits.head.n_events;
    slc_status status = d->any_own ? slc_velo_fit_run(&chain->config.fit, &d->hits, &d->tracks,
                                                      &d->track_hits, &d->beam, &d->end)
                                   : SLC_OK;
    status = status == SLC_OK ? join_states(chain, n, true, &result->beam) : status;
    return status == SLC_OK ? join_states(chain, n, false, &result->end) : status;
}

static void copy_primaries(slc_velo_primaries *to, const slc_velo_primaries *own, const float *rows,
                           const stretch *s)
{
    float *const column[] = {to->x_mm,       to->y_mm,       to->z_mm,       to->cov_xx_mm2,
                             to->cov_xy_mm2, to->cov_yy_mm2, to->cov_xz_mm2, to->cov_yz_mm2,
                             to->cov_zz_mm2, to->chi2,       to->n_tracks};
    const float *const from[] = {own->x_mm,       own->y_mm,       own->z_mm,       own->cov_xx_mm2,
                                 own->cov_xy_mm2, own->cov_yy_mm2, own->cov_xz_mm2, own->cov_yz_mm2,
                                 own->cov_zz_mm2, own->chi2,       own->n_tracks};
    for (size_t c = 0; c < SLC_VELO_CUDA_PRIMARY; c++) {
        for (size_t i = 0; i < s->rows; i++) {
            column[c][s->to + i] = s->own ? from[c][s->from + i]
                                          : rows[(s->from + i) * SLC_VELO_CUDA_PRIMARY + c];
        }
    }
}

slc_status slc_velo_device_vertices(slc_velo_chain *chain, slc_velo_result *result)
{
    slc_velo_device *d = chain->device;
    const uint32_t n = result->hits.head.n_events;
    slc_velo_primaries *to = &result->primaries;
    const bool wanted = slc_velo_is_wanted(chain, SLC_VELO_WANT_PRIMARIES);
    if (to->head.event_capacity < n) {
        return SLC_ERR_CAPACITY;
    }
    slc_status status = d->any_own && (wanted || chain->deciding != NULL)
                            ? slc_velo_vertex_run(&chain->config.vertex, &d->beam, &chain->vertex,
                                                  &d->primaries)
                            : SLC_OK;
    if (!wanted) {
        slc_velo_no_rows(to, n);
        return status;
    }
    const slc_velo_offsets offset = {offsetof(slc_velo_cuda_out, primary_offset),
                                     d->primaries.head.event_offset};
    stretch s = {.end = 0};
    slc_columns_reset(to);
    while (status == SLC_OK && (status = slc_velo_next_stretch(d, n, &offset, to, &s)) == SLC_OK) {
        copy_primaries(to, &d->primaries, s.out->primaries, &s);
    }
    return ended(status);
}
