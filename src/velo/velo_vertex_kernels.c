/* SPDX-License-Identifier: Apache-2.0
 * The tables of the vertex finder's loops, and the standard input of its benchmark: an event of average size,
 * 270 tracks of seven vertices. The whole stage is timed, as none of its loops is anything without the
 * others. */
#include "base/splitmix.h"
#include "velo/velo_vertex_work.h"

#include "velo/velo_vertex.h"

#include "simd_targets.h"

#include <assert.h>
#include <math.h>

#define DECLARE(target, TARGET) extern const slc_velo_vertex_kernels slc_velo_vertex_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_velo_vertex_kernels_##target,
static const slc_velo_vertex_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

const slc_velo_vertex_kernels *slc_velo_vertex_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

enum {
    TRACKS = 270,
    VERTICES = 7,
    SPARE = 64,
    STATE_COLUMNS = 7,
    PRIMARY_COLUMNS = 11,
    BLOCK_BYTES = (TRACKS + SPARE) * 4 * (15 + SLC_VELO_MAX_PRIMARIES) + 32768
};
typedef struct vertex_scratch {
    _Alignas(64) uint8_t block[BLOCK_BYTES];
    float state[STATE_COLUMNS][TRACKS + SPARE]; /* x, y, z, tx, ty and the variances of x and y */
    float found[PRIMARY_COLUMNS][SLC_VELO_MAX_PRIMARIES];
    uint32_t offsets[2];
    size_t n_found;
} vertex_scratch;

/* Roughly normal: the sum of twelve uniform numbers. */
static float normal(uint64_t *random, float sigma)
{
    float sum = 0;
    for (int i = 0; i < 12; i++) {
        sum += slc_random_between(random, -0.5f, 0.5f);
    }
    return sigma * sum;
}

/* Tracks from vertices on the beam line, at their closest to it; their angles as in the VELO. */
static void vertex_prepare(void *memory, uint64_t seed)
{
    vertex_scratch *s = memory;
    uint64_t random = seed;
    float at[VERTICES];
    for (size_t k = 0; k < VERTICES; k++) {
        at[k] = normal(&random, 60.0f);
    }
    for (size_t t = 0; t < TRACKS; t++) {
        const float phi = slc_random_between(&random, -3.14159265f, 3.14159265f);
        const float slope = 0.02f +
                            0.3f * slc_random_between(&random, 0, 1) * slc_random_between(&random, 0, 1);
        const float sigma = 0.015f + 0.001f / slope;
        const float away = normal(&random, sigma), along = normal(&random, sigma) / slope;
        s->state[0][t] = -away * sinf(phi);
        s->state[1][t] = away * cosf(phi);
        s->state[2][t] = at[t % VERTICES] + along;
        s->state[3][t] = slope * cosf(phi);
        s->state[4][t] = slope * sinf(phi);
        s->state[5][t] = s->state[6][t] = sigma * sigma;
    }
}

static void vertex_run(void *memory, slc_simd_target target)
{
    vertex_scratch *s = memory;
    uint32_t offsets[2] = {0, TRACKS};
    slc_velo_vertex_config config;
    slc_velo_vertex_config_default(&config);
    config.target = target;
    const slc_velo_states states = {
        .head = {.event_offset = offsets, .size = TRACKS, .n_events = 1, .capacity = TRACKS},
        .x_mm = s->state[0],
        .y_mm = s->state[1],
        .z_mm = s->state[2],
        .tx = s->state[3],
        .ty = s->state[4],
        .cov_xx_mm2 = s->state[5],
        .cov_yy_mm2 = s->state[6],
    };
    slc_velo_primaries found = {
        .head = {.event_offset = s->offsets, .capacity = SLC_VELO_MAX_PRIMARIES, .event_capacity = 1},
        .x_mm = s->found[0],
        .y_mm = s->found[1],
        .z_mm = s->found[2],
        .cov_xx_mm2 = s->found[3],
        .cov_xy_mm2 = s->found[4],
        .cov_yy_mm2 = s->found[5],
        .cov_xz_mm2 = s->found[6],
        .cov_yz_mm2 = s->found[7],
        .cov_zz_mm2 = s->found[8],
        .chi2 = s->found[9],
        .n_tracks = s->found[10],
    };
    slc_velo_vertex_scratch scratch = {.block = s->block, .tracks = TRACKS};
    const slc_status status = slc_velo_vertex_run(&config, &states, &scratch, &found);
    s->n_found = status == SLC_OK ? found.head.size : 0;
}

static uint64_t vertex_digest(const void *memory)
{
    const vertex_scratch *s = memory;
    uint64_t digest = s->n_found;
    for (size_t c = 0; c < PRIMARY_COLUMNS; c++) {
        digest = slc_simd_digest(digest, s->found[c], s->n_found * sizeof s->found[c][0]);
    }
    return digest;
}

/* Seven floats are read a track. */
const slc_simd_case slc_velo_vertex_case = {
    .elements = TRACKS,
    .bytes_per_element = STATE_COLUMNS * sizeof(float),
    .scratch_bytes = sizeof(vertex_scratch),
    .prepare = vertex_prepare,
    .run = vertex_run,
    .digest = vertex_digest,
};
