/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the search in the UT, and its standard input: an event of as many tracks of the VELO and hits
 * as LHCb's minimum-bias events have.
 */
#include "base/splitmix.h"
#include "hlt1/hlt1_upstream_work.h"

#include "simd_targets.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#define DECLARE(target, TARGET) extern const slc_hlt1_upstream_kernels slc_hlt1_upstream_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define UPSTREAM(target, TARGET) [SLC_SIMD_##TARGET] = &slc_hlt1_upstream_kernels_##target,
static const slc_hlt1_upstream_kernels *const upstreams[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(UPSTREAM)};

const slc_hlt1_upstream_kernels *slc_hlt1_upstream_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && upstreams[target] != NULL);
    return upstreams[target];
}

/* ---- hlt1.upstream ------------------------------------------------------------------------------ */

enum { TRACKS = 136, OTHERS = 190, LAYER = TRACKS + OTHERS, HITS = SLC_UT_LAYERS * LAYER };

typedef struct upstream_scratch {
    slc_hlt1_geometry geometry;
    slc_hlt1_deflection deflection;
    slc_hlt1_upstream_config config;
    slc_hlt1_event event;
    slc_hlt1_upstream_work work;
    struct {
        float x, z, y;
    } made[LAYER];
    float x[HITS + SLC_HLT1_UPSTREAM_SPARE], z[HITS + SLC_HLT1_UPSTREAM_SPARE];
    float y_begin[HITS + SLC_HLT1_UPSTREAM_SPARE], y_end[HITS + SLC_HLT1_UPSTREAM_SPARE];
    float weight[HITS + SLC_HLT1_UPSTREAM_SPARE];
} upstream_scratch;

static int by_x(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Hits of the lines, bent before the UT, and others. */
static void make_layer(upstream_scratch *s, uint32_t k, const float *bend, uint64_t *random)
{
    const slc_hlt1_upstream_lines *l = &s->work.lines;
    for (uint32_t i = 0; i < LAYER; i++) {
        const float z = slc_hlt1_ut_z_mm[k] + (float)slc_random_below(random, 4) * 4.8f - 7.2f;
        float x = slc_random_between(random, -700, 700) * slc_random_between(random, 0, 1);
        float y = slc_random_between(random, -600, 600);
        if (i < TRACKS && slc_random_below(random, 20) > 0) {
            y = l->y[i] + l->ty[i] * (z - l->z[i]);
            x = l->x[i] + l->tx[i] * (z - l->z[i]) + bend[i] * (z - 1780.0f) - slc_ut_dxdy[k] * y +
                slc_random_between(random, -0.1f, 0.1f);
        }
        s->made[i].x = x;
        s->made[i].z = z;
        s->made[i].y = y - slc_random_between(random, 0, 97);
    }
    qsort(s->made, LAYER, sizeof *s->made, by_x);
    for (uint32_t i = 0; i < LAYER; i++) {
        const uint32_t row = k * LAYER + i;
        s->x[row] = s->made[i].x;
        s->z[row] = s->made[i].z;
        s->y_begin[row] = s->made[i].y;
        s->y_end[row] = s->made[i].y + 97.0f;
        s->weight[row] = 12.0f / (0.19f * 0.19f);
    }
    s->event.ut_begin[k + 1] = (k + 1) * LAYER;
}

static void upstream_prepare(void *memory, uint64_t seed)
{
    upstream_scratch *s = memory;
    slc_hlt1_upstream_lines *l = &s->work.lines;
    uint64_t random = seed;
    float bend[TRACKS];
    for (size_t i = 0; i < SLC_HLT1_WINDOWS; i++) {
        s->deflection.window[i] = 1.0f + 0.2f * (float)(i % 4);
    }
    for (size_t i = 0; i < SLC_HLT1_DEFLECTIONS; i++) {
        s->deflection.bdl[i] = 0.1f + 1e-5f * (float)(i % 31);
    }
    for (uint32_t t = 0; t < TRACKS; t++) {
        l->velo_track[t] = t;
        l->tx[t] = slc_random_between(&random, -0.25f, 0.25f);
        l->ty[t] = slc_random_between(&random, -0.2f, 0.2f);
        l->z[t] = slc_random_between(&random, 300, 760);
        l->x[t] = l->tx[t] * l->z[t];
        l->y[t] = l->ty[t] * l->z[t];
        bend[t] = slc_random_between(&random, -1.5e-2f, 1.5e-2f);
    }
    l->n = TRACKS;
    s->geometry = (slc_hlt1_geometry){.deflection = &s->deflection, .polarity = -1};
    s->event = (slc_hlt1_event){.geometry = &s->geometry,
                                .ut_x = s->x,
                                .ut_z = s->z,
                                .ut_y_begin = s->y_begin,
                                .ut_y_end = s->y_end,
                                .ut_weight = s->weight};
    s->config = (slc_hlt1_upstream_config){
        .window_pt_mev = 275, .window_p_mev = 1250, .max_slope_difference = 0.018f, .max_distance_mm = 0.8f};
    for (uint32_t k = 0; k < SLC_UT_LAYERS; k++) {
        make_layer(s, k, bend, &random);
    }
}

static void upstream_run(void *memory, slc_simd_target target)
{
    upstream_scratch *s = memory;
    const slc_hlt1_upstream_kernels *kernels = slc_hlt1_upstream_kernels_of(target);
    memcpy(s->work.dxdy, slc_ut_dxdy, sizeof s->work.dxdy);
    memcpy(s->work.plane_z, slc_hlt1_ut_z_mm, sizeof s->work.plane_z);
    kernels->index(&s->event, &s->work);
    kernels->search(&s->config, &s->event, &s->work);
}

static uint64_t upstream_digest(const void *memory)
{
    const slc_hlt1_upstream_found *found = &((const upstream_scratch *)memory)->work.found;
    const size_t size = found->n * sizeof(float);
    uint64_t digest = slc_simd_digest(0, &found->n, sizeof found->n);
    digest = slc_simd_digest(digest, found->line, size);
    digest = slc_simd_digest(digest, found->n_hits, size);
    for (size_t k = 0; k < SLC_UT_LAYERS; k++) {
        digest = slc_simd_digest(digest, found->hit[k], size);
    }
    digest = slc_simd_digest(digest, found->x, size);
    digest = slc_simd_digest(digest, found->tx, size);
    digest = slc_simd_digest(digest, found->q_over_p, size);
    return slc_simd_digest(digest, found->chi2, size);
}

/* Read of a track: its line, and of the hits of an event, of which there are ten a track, five numbers. */
static const slc_simd_case upstream_case = {
    .elements = TRACKS,
    .bytes_per_element = 5 * sizeof(float) + (double)HITS / TRACKS * 5 * sizeof(float),
    .scratch_bytes = sizeof(upstream_scratch),
    .prepare = upstream_prepare,
    .run = upstream_run,
    .digest = upstream_digest,
};

/* Measured per track: sluice bench --kernels --kernel hlt1.upstream */
const slc_simd_kernel slc_hlt1_upstream_kernel_rows[2] = {
    {.name = "hlt1.upstream",
     .preference = {{SLC_SIMD_AVX512ICL, 72.6},
                    {SLC_SIMD_AVX512, 72.6},
                    {SLC_SIMD_AVX2, 88.0},
                    {SLC_SIMD_AVX512VL256, 88.5},
                    {SLC_SIMD_AVX512VL128, 113.6},
                    {SLC_SIMD_SSE4, 115.0},
                    {SLC_SIMD_C, 184.4}},
     .bench = &upstream_case},
    {.name = NULL},
};
