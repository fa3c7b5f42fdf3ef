/* SPDX-License-Identifier: Apache-2.0
 * The tables of the kernels, their measured preferences and their standard inputs. */
#include "velo/velo_kernels.h"

#include "base/splitmix.h"
#include "velo/velo_cluster_work.h"
#include "velo/velo_fit_work.h"
#include "velo/velo_track_work.h"
#include "velo/velo_vertex_work.h"

#include "simd_targets.h"

#include <assert.h>

#define DECLARE(target, TARGET) extern const slc_velo_kernels slc_velo_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_velo_kernels_##target,
static const slc_velo_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

const slc_velo_kernels *slc_velo_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

/* ---- velo.ip_filter ---------------------------------------------------------------------------- */

/* Vertices along the beam line, and tracks that begin near one of them: two thirds within the cut, one third
 * apart. */
static void ip_prepare(void *memory, uint64_t seed)
{
    slc_velo_ip_scratch *s = memory;
    uint64_t random = seed;
    for (size_t k = 0; k < SLC_VELO_IP_POINTS; k++) {
        s->point[0][k] = slc_random_between(&random, -0.1f, 0.1f);
        s->point[1][k] = slc_random_between(&random, -0.1f, 0.1f);
        s->point[2][k] = slc_random_between(&random, -120.0f, 120.0f);
    }
    for (size_t t = 0; t < SLC_VELO_IP_TRACKS; t++) {
        const float away = t % 3 == 0 ? 2.0f : 0.02f;
        for (size_t c = 0; c < 3; c++) {
            s->state[c][t] = s->point[c][t % SLC_VELO_IP_POINTS] + slc_random_between(&random, -away, away);
        }
        s->state[3][t] = slc_random_between(&random, -0.3f, 0.3f);
        s->state[4][t] = slc_random_between(&random, -0.3f, 0.3f);
    }
}

static void ip_run(void *memory, slc_simd_target target)
{
    slc_velo_ip_scratch *s = memory;
    const slc_velo_ip_in in = {
        .x = s->state[0],
        .y = s->state[1],
        .z = s->state[2],
        .tx = s->state[3],
        .ty = s->state[4],
        .point_x = s->point[0],
        .point_y = s->point[1],
        .point_z = s->point[2],
        .n_tracks = SLC_VELO_IP_TRACKS,
        .n_points = SLC_VELO_IP_POINTS,
    };
    s->n_kept = slc_velo_kernels_of(target)->ip_filter(&in, 0.1f, s->track, s->ip);
}

static uint64_t ip_digest(const void *memory)
{
    const slc_velo_ip_scratch *s = memory;
    return slc_simd_digest(slc_simd_digest(s->n_kept, s->track, s->n_kept * sizeof s->track[0]), s->ip,
                           s->n_kept * sizeof s->ip[0]);
}

/* Five floats are read a track; index and distance are written of those that pass, about a third. */
static const slc_simd_case ip_case = {
    .elements = SLC_VELO_IP_TRACKS,
    .bytes_per_element = 5 * sizeof(float) + 8.0 / 3,
    .scratch_bytes = sizeof(slc_velo_ip_scratch),
    .prepare = ip_prepare,
    .run = ip_run,
    .digest = ip_digest,
};

/* ---- all of them ------------------------------------------------------------------------------- */

const slc_simd_kernel slc_velo_kernel_rows[SLC_VELO_KERNEL_COUNT + 1] = {
    /* Measured on an EPYC of the fifth generation, gcc 12: sluice bench --kernels --kernel velo.ip_filter */
    [SLC_VELO_KERNEL_IP_FILTER] = {.name = "velo.ip_filter",
                                   .preference = {{SLC_SIMD_AVX512, 0.67},
                                                  {SLC_SIMD_AVX512VL256, 1.35},
                                                  {SLC_SIMD_AVX2, 1.43},
                                                  {SLC_SIMD_AVX512VL128, 2.67},
                                                  {SLC_SIMD_SSE4, 3.35},
                                                  {SLC_SIMD_C, 9.94}},
                                   .bench = &ip_case},
    /* Measured likewise, per super-pixel: sluice bench --kernels --kernel velo.cluster */
    [SLC_VELO_KERNEL_CLUSTER] = {.name = "velo.cluster",
                                 .preference = {{SLC_SIMD_AVX512ICL, 2.23},
                                                {SLC_SIMD_AVX512, 2.38},
                                                {SLC_SIMD_AVX512VL256, 3.31},
                                                {SLC_SIMD_AVX2, 3.65},
                                                {SLC_SIMD_AVX512VL128, 5.37},
                                                {SLC_SIMD_SSE4, 5.96},
                                                {SLC_SIMD_C, 11.39}},
                                 .bench = &slc_velo_cluster_case},
    /* Measured likewise, per track: sluice bench --kernels --kernel velo.fit */
    [SLC_VELO_KERNEL_FIT] = {.name = "velo.fit",
                             .preference = {{SLC_SIMD_AVX512ICL, 23.8},
                                            {SLC_SIMD_AVX512, 23.9},
                                            {SLC_SIMD_AVX512VL256, 29.1},
                                            {SLC_SIMD_AVX2, 32.2},
                                            {SLC_SIMD_AVX512VL128, 42.3},
                                            {SLC_SIMD_SSE4, 48.9},
                                            {SLC_SIMD_C, 129.6}},
                             .bench = &slc_velo_fit_case},
    /* Measured likewise, per track: sluice bench --kernels --kernel velo.vertex */
    [SLC_VELO_KERNEL_VERTEX] = {.name = "velo.vertex",
                                .preference = {{SLC_SIMD_AVX512, 25.1},
                                               {SLC_SIMD_AVX512ICL, 25.4},
                                               {SLC_SIMD_AVX2, 31.6},
                                               {SLC_SIMD_AVX512VL256, 31.9},
                                               {SLC_SIMD_AVX512VL128, 47.5},
                                               {SLC_SIMD_SSE4, 48.4},
                                               {SLC_SIMD_C, 131.6}},
                                .bench = &slc_velo_vertex_case},
    /* Measured likewise, per hit: sluice bench --kernels --kernel velo.track */
    [SLC_VELO_KERNEL_TRACK] = {.name = "velo.track",
                               .preference = {{SLC_SIMD_AVX512ICL, 32.2},
                                              {SLC_SIMD_AVX512, 32.5},
                                              {SLC_SIMD_AVX512VL256, 41.7},
                                              {SLC_SIMD_AVX2, 44.4},
                                              {SLC_SIMD_AVX512VL128, 63.0},
                                              {SLC_SIMD_SSE4, 71.0},
                                              {SLC_SIMD_C, 119.5}},
                               .bench = &slc_velo_track_case},
};
