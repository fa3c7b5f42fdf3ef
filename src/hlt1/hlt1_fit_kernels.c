/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the fit's kernels, and their standard input: an event of 36 long tracks, as many as a
 * minimum-bias event has, straight through a transport whose numbers are made up: as many operations as with
 * LHCb's.
 */
#include "base/splitmix.h"
#include "hlt1/hlt1_fit_work.h"
#include "hlt1/hlt1_transport.h"

#include "simd_targets.h"

#include <assert.h>

#define DECLARE(target, TARGET)                                                                              \
    extern const slc_hlt1_fit_kernels slc_hlt1_fit_kernels_##target;                                         \
    extern const slc_hlt1_fly_kernels slc_hlt1_fly_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define FIT(target, TARGET) [SLC_SIMD_##TARGET] = &slc_hlt1_fit_kernels_##target,
static const slc_hlt1_fit_kernels *const fits[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(FIT)};
#define FLY(target, TARGET) [SLC_SIMD_##TARGET] = &slc_hlt1_fly_kernels_##target,
static const slc_hlt1_fly_kernels *const flies[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(FLY)};

const slc_hlt1_fit_kernels *slc_hlt1_fit_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && fits[target] != NULL);
    return fits[target];
}

const slc_hlt1_fly_kernels *slc_hlt1_fly_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && flies[target] != NULL);
    return flies[target];
}

/* ---- hlt1.fit ---------------------------------------------------------------------------------- */

enum {
    TRACKS = 36,
    SPARE = SLC_HLT1_FIT_LANES,
    VELO_HITS = 12,
    CELLS = SLC_HLT1_CELLS_X * SLC_HLT1_CELLS_Y * SLC_HLT1_CELL + SPARE,
    FLOATS = 22
};

typedef struct fit_scratch {
    float velo[3][TRACKS * VELO_HITS], beam[5][TRACKS], ut[2][TRACKS * SLC_UT_LAYERS];
    float scifi[2][TRACKS * SLC_SCIFI_LAYERS], q_over_p[TRACKS], dxdy[SLC_SCIFI_MATS], dzdy[SLC_SCIFI_MATS];
    uint32_t pixels[TRACKS * VELO_HITS], index[TRACKS * VELO_HITS], begin[3][TRACKS], n[3][TRACKS];
    uint32_t channel[TRACKS * SLC_SCIFI_LAYERS];
    uint8_t layer[TRACKS * SLC_UT_LAYERS];
    slc_hlt1_fit_tables tables;
    float cells[CELLS];
    slc_hlt1_fit_work work;
    float column[FLOATS][TRACKS + SPARE];
    uint32_t n_dof[TRACKS + SPARE];
} fit_scratch;

static void make_tables(fit_scratch *s)
{
    slc_hlt1_fit_tables *t = &s->tables;
    t->v[0][2] = t->v[1][2] = 1.5f;
    t->v[0][6] = t->v[1][6] = t->v[0][7] = t->v[1][7] = 0.7f;
    t->v_ut[3] = t->v_ut[15] = 5.4f;
    t->v_ut[6] = t->v_ut[20] = 4;
    t->v_ut[4] = t->v_ut[21] = 0.9f;
    t->v_ut[16] = 1.6f;
    for (size_t i = 0; i < 3 + 22; i++) {
        float *p = i < 3 ? t->ut[i] : t->t[i - 3];
        p[0] = p[3] = 0.5f;
        p[2] = p[4] = p[14] = p[17] = 0.9f;
        p[12] = p[15] = 1.2f;
    }
    t->ut_t[12] = t->ut_t[15] = 2.8f;
    t->ut_t[13] = t->ut_t[16] = 99;
    t->ut_t[14] = t->ut_t[17] = 0.87f;
    t->t_dzdy = 0.0036f;
    t->z_begin = 2642.5f;
    t->z_end = 7826;
    t->p_min = 1500;
    t->per_x = t->per_y = 0.04f;
    t->step = 0.005f;
    t->sign = 1;
    t->cells = s->cells;
    for (size_t c = 0; c + SPARE < CELLS; c += SLC_HLT1_CELL) {
        s->cells[c] = 2400; /* mm at 1.5 GeV, and 1e-3 */
        s->cells[c + 9] = 900;
    }
    for (size_t layer = 0; layer < SLC_UT_LAYERS; layer++) {
        t->ut_z[layer] = 2330 + 100 * (float)layer;
        t->ut_dxdy[layer] = slc_ut_dxdy[layer];
    }
    for (size_t layer = 0; layer < SLC_SCIFI_LAYERS; layer++) {
        t->t_z[layer] = 7826 + 140 * (float)layer;
    }
}

static void make_track(fit_scratch *s, size_t t, uint64_t *random)
{
    const float tx = slc_random_between(random, -0.2f, 0.2f), ty = slc_random_between(random, -0.2f, 0.2f);
    const float q = slc_random_between(random, -3e-4f, 3e-4f);
    const float z0 = slc_random_between(random, -60.0f, 60.0f);
    const float beam[5] = {0, 0, z0, tx, ty};
    for (size_t i = 0; i < 5; i++) {
        s->beam[i][t] = beam[i];
    }
    s->q_over_p[t] = q * slc_random_between(random, 0.99f, 1.01f);
    s->begin[0][t] = (uint32_t)(t * VELO_HITS);
    s->n[0][t] = 4 + slc_random_below(random, VELO_HITS - 4);
    for (size_t h = 0; h < VELO_HITS; h++) {
        const size_t at = t * VELO_HITS + h;
        const float z = 700 - 50 * (float)h;
        s->velo[0][at] = tx * (z - z0) + slc_random_between(random, -0.02f, 0.02f);
        s->velo[1][at] = ty * (z - z0) + slc_random_between(random, -0.02f, 0.02f);
        s->velo[2][at] = z;
        s->pixels[at] = 1 + slc_random_below(random, 3);
    }
    s->begin[1][t] = (uint32_t)(t * SLC_UT_LAYERS);
    s->n[1][t] = 3 + slc_random_below(random, 2);
    for (size_t layer = 0; layer < SLC_UT_LAYERS; layer++) {
        const size_t at = t * SLC_UT_LAYERS + layer;
        const float z = s->tables.ut_z[layer];
        s->ut[0][at] = (tx - slc_ut_dxdy[layer] * ty) * (z - z0) + slc_random_between(random, -0.08f, 0.08f);
        s->ut[1][at] = z;
        s->layer[at] = (uint8_t)layer;
    }
    s->begin[2][t] = (uint32_t)(t * SLC_SCIFI_LAYERS);
    s->n[2][t] = 10 + slc_random_below(random, 3);
    for (size_t layer = 0; layer < SLC_SCIFI_LAYERS; layer++) {
        const size_t at = t * SLC_SCIFI_LAYERS + layer;
        const float z = s->tables.t_z[layer], kick = 1500 * q;
        s->scifi[0][at] = tx * (z - z0) + kick * (2400 + 0.9f * (z - 7826)) +
                          slc_random_between(random, -0.2f, 0.2f);
        s->scifi[1][at] = z;
        s->channel[at] = (512U + 128U * (uint32_t)layer) << 9;
    }
}

static void fit_prepare(void *memory, uint64_t seed)
{
    fit_scratch *s = memory;
    uint64_t random = seed;
    make_tables(s);
    for (uint32_t i = 0; i < TRACKS * VELO_HITS; i++) {
        s->index[i] = i;
    }
    for (size_t t = 0; t < TRACKS; t++) {
        make_track(s, t, &random);
    }
}

static void fit_run(void *memory, slc_simd_target target)
{
    fit_scratch *s = memory;
    slc_hlt1_fit_config config;
    slc_hlt1_fit_config_default(&config);
    const slc_hlt1_fit_in in = {.velo_x = s->velo[0],
                                .velo_y = s->velo[1],
                                .velo_z = s->velo[2],
                                .velo_pixels = s->pixels,
                                .velo_hit = s->index,
                                .velo_begin = s->begin[0],
                                .velo_n = s->n[0],
                                .beam_x = s->beam[0],
                                .beam_y = s->beam[1],
                                .beam_z = s->beam[2],
                                .beam_tx = s->beam[3],
                                .beam_ty = s->beam[4],
                                .ut_x = s->ut[0],
                                .ut_z = s->ut[1],
                                .ut_layer = s->layer,
                                .ut_hit = s->index,
                                .upstream_begin = s->begin[1],
                                .upstream_n = s->n[1],
                                .scifi_x = s->scifi[0],
                                .scifi_z = s->scifi[1],
                                .scifi_channel = s->channel,
                                .scifi_hit = s->index,
                                .long_begin = s->begin[2],
                                .long_n = s->n[2],
                                .velo_track = s->index,
                                .upstream_track = s->index,
                                .q_over_p = s->q_over_p,
                                .mat_dxdy = s->dxdy,
                                .mat_dzdy = s->dzdy,
                                .n_tracks = TRACKS};
    slc_hlt1_fit_out out = {.x = s->column[0],
                            .y = s->column[1],
                            .z = s->column[2],
                            .tx = s->column[3],
                            .ty = s->column[4],
                            .q_over_p = s->column[5],
                            .chi2 = s->column[6],
                            .n_dof = s->n_dof};
    for (size_t i = 0; i < 15; i++) {
        out.covariance[i] = s->column[7 + i];
    }
    slc_hlt1_fit_kernels_of(target)->fit(&config, &s->tables, slc_hlt1_fly_kernels_of(target), &in, 1,
                                         &s->work, &out);
}

static uint64_t fit_digest(const void *memory)
{
    const fit_scratch *s = memory;
    uint64_t digest = slc_simd_digest(0, s->n_dof, TRACKS * sizeof(uint32_t));
    for (size_t c = 0; c < FLOATS; c++) {
        digest = slc_simd_digest(digest, s->column[c], TRACKS * sizeof(float));
    }
    return digest;
}

/* Read of a track: about nine hits in the VELO, four and eleven beyond, and coefficients of six cells;
 * written: a row. */
static const slc_simd_case fit_case = {
    .elements = TRACKS,
    .bytes_per_element = 24 * 16.0 + 6 * SLC_HLT1_CELL * sizeof(float) + (FLOATS + 1) * sizeof(float),
    .scratch_bytes = sizeof(fit_scratch),
    .prepare = fit_prepare,
    .run = fit_run,
    .digest = fit_digest,
};

/* Measured per track: sluice bench --kernels --kernel hlt1.fit */
const slc_simd_kernel slc_hlt1_fit_kernel_rows[2] = {
    {.name = "hlt1.fit",
     .preference = {{SLC_SIMD_AVX512, 378},
                    {SLC_SIMD_AVX512ICL, 387},
                    {SLC_SIMD_AVX2, 402},
                    {SLC_SIMD_AVX512VL256, 410},
                    {SLC_SIMD_AVX512VL128, 582},
                    {SLC_SIMD_SSE4, 612},
                    {SLC_SIMD_C, 2397}},
     .bench = &fit_case},
    {.name = NULL},
};
