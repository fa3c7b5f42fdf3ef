/* SPDX-License-Identifier: Apache-2.0
 *
 * The tables of the fit's kernel, and its standard input: an event of 300 tracks whose lengths are mixed like
 * those of real events, a third of them backward. A track of eight hits is the usual one.
 */
#include "base/splitmix.h"
#include "velo/velo_fit_work.h"

#include "simd_targets.h"

#include <assert.h>

#define DECLARE(target, TARGET) extern const slc_velo_fit_kernels slc_velo_fit_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_velo_fit_kernels_##target,
static const slc_velo_fit_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

const slc_velo_fit_kernels *slc_velo_fit_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

/* ---- velo.fit ---------------------------------------------------------------------------------- */

enum { TRACKS = 300, HITS = 2560, APART = 77, SPARE = 64, FLOATS = 12 };

typedef struct fit_scratch {
    float hit[3][HITS + SPARE];
    uint32_t n_pixels[HITS + SPARE], track_hit[HITS + SPARE], hit_begin[TRACKS + SPARE],
        n_hits[TRACKS + SPARE];
    slc_velo_fit_work work;
    float column[2][FLOATS][TRACKS + SPARE];
    uint32_t n_dof[2][TRACKS + SPARE];
    uint8_t backward[2][TRACKS + SPARE];
} fit_scratch;

/* Lengths of tracks, eight hits on average. */
static const uint8_t lengths[16] = {3, 4, 4, 5, 6, 6, 7, 7, 8, 8, 9, 10, 10, 12, 13, 16};

/* A track's hits are apart in memory, as they are where hits are sorted by module. */
static void fit_prepare(void *memory, uint64_t seed)
{
    fit_scratch *s = memory;
    uint64_t random = seed;
    size_t at = 0;
    for (size_t t = 0; t < TRACKS; t++) {
        const float tx = slc_random_between(&random, -0.2f, 0.2f);
        const float ty = slc_random_between(&random, -0.2f, 0.2f);
        const float z0 = slc_random_between(&random, -60.0f, 60.0f);
        const float way = t % 3 == 0 ? -25.0f : 25.0f;
        const uint32_t n = lengths[slc_random_below(&random, 16)];
        s->hit_begin[t] = (uint32_t)at;
        s->n_hits[t] = at + n + 2 * (TRACKS - t) <= HITS ? n : 2;
        for (uint32_t k = 0; k < s->n_hits[t]; k++) {
            const uint32_t h = (uint32_t)(at * APART % HITS);
            const float dz = way * (float)(way > 0 ? s->n_hits[t] - k : k + 1);
            s->hit[0][h] = tx * dz + slc_random_between(&random, -0.02f, 0.02f);
            s->hit[1][h] = ty * dz + slc_random_between(&random, -0.02f, 0.02f);
            s->hit[2][h] = z0 + dz;
            s->n_pixels[h] = 1 + slc_random_below(&random, 4) % 3;
            s->track_hit[at++] = h;
        }
    }
}

static slc_velo_fit_out columns_of(fit_scratch *s, size_t state)
{
    float(*column)[TRACKS + SPARE] = s->column[state];
    return (slc_velo_fit_out){.x = column[0],
                              .y = column[1],
                              .z = column[2],
                              .tx = column[3],
                              .ty = column[4],
                              .xx = column[5],
                              .xtx = column[6],
                              .txtx = column[7],
                              .yy = column[8],
                              .yty = column[9],
                              .tyty = column[10],
                              .chi2 = column[11],
                              .n_dof = s->n_dof[state],
                              .backward = s->backward[state]};
}

static void fit_run(void *memory, slc_simd_target target)
{
    fit_scratch *s = memory;
    slc_velo_fit_config config;
    slc_velo_fit_config_default(&config);
    s->work.variance[0] = config.hit_sigma_mm * config.hit_sigma_mm;
    for (size_t i = 0; i < SLC_VELO_FIT_SIZES; i++) {
        s->work.variance[i + 1] = config.size_sigma_mm[i] * config.size_sigma_mm[i];
    }
    const slc_velo_fit_in in = {.x = s->hit[0],
                                .y = s->hit[1],
                                .z = s->hit[2],
                                .n_pixels = s->n_pixels,
                                .hit = s->track_hit,
                                .hit_begin = s->hit_begin,
                                .n_hits = s->n_hits,
                                .n_tracks = TRACKS};
    const slc_velo_fit_out beam = columns_of(s, 0), end = columns_of(s, 1);
    slc_velo_fit_kernels_of(target)->fit(&config, &in, &s->work, &beam, &end);
}

static uint64_t fit_digest(const void *memory)
{
    const fit_scratch *s = memory;
    uint64_t digest = 0;
    for (size_t state = 0; state < 2; state++) {
        for (size_t c = 0; c < FLOATS; c++) {
            digest = slc_simd_digest(digest, s->column[state][c], TRACKS * sizeof(float));
        }
        digest = slc_simd_digest(digest, s->n_dof[state], TRACKS * sizeof(uint32_t));
        digest = slc_simd_digest(digest, s->backward[state], TRACKS);
    }
    return digest;
}

/* Read of a track: place and number of its hits, and of each an index and three floats; written: two states.
 */
const slc_simd_case slc_velo_fit_case = {
    .elements = TRACKS,
    .bytes_per_element = 8 + 8 * 16.0 + 2 * (FLOATS * sizeof(float) + 5),
    .scratch_bytes = sizeof(fit_scratch),
    .prepare = fit_prepare,
    .run = fit_run,
    .digest = fit_digest,
};
