/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of the search in the SciFi, and its standard input: an event of as many hits and upstream tracks
 * as LHCb's minimum-bias events have, of particles that are straight behind the magnet.
 */
#include "base/splitmix.h"
#include "hlt1/hlt1_forward_work.h"

#include "simd_targets.h"

#include <assert.h>
#include <stdlib.h>

#define DECLARE(target, TARGET)                                                                              \
    extern const slc_hlt1_expect_kernels slc_hlt1_expect_kernels_##target;                                   \
    extern const slc_hlt1_forward_kernels slc_hlt1_forward_kernels_##target;                                 \
    extern const slc_hlt1_follow_kernels slc_hlt1_follow_kernels_##target;                                   \
    extern const slc_hlt1_refit_kernels slc_hlt1_refit_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define EXPECT(target, TARGET) [SLC_SIMD_##TARGET] = &slc_hlt1_expect_kernels_##target,
static const slc_hlt1_expect_kernels *const expects[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(EXPECT)};
#define FORWARD(target, TARGET) [SLC_SIMD_##TARGET] = &slc_hlt1_forward_kernels_##target,
static const slc_hlt1_forward_kernels *const forwards[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(FORWARD)};
#define FOLLOW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_hlt1_follow_kernels_##target,
static const slc_hlt1_follow_kernels *const follows[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(FOLLOW)};

#define REFIT(target, TARGET) [SLC_SIMD_##TARGET] = &slc_hlt1_refit_kernels_##target,
static const slc_hlt1_refit_kernels *const refits[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(REFIT)};

static void take_halves(const slc_hlt1_forward_in *in, slc_hlt1_forward_half halves[2])
{
    for (uint32_t half = 0; half < 2; half++) {
        halves[half].most_hits = 0;
        for (uint32_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
            const uint32_t zone = 2 * k + half, n = in->begin[zone + 1] - in->begin[zone];
            halves[half].x[k] = in->zones->x + in->zones->row[zone];
            halves[half].n[k] = n;
            halves[half].most_hits = n > halves[half].most_hits ? n : halves[half].most_hits;
        }
    }
}

void slc_hlt1_forward_search_all(slc_simd_target target, const slc_hlt1_forward_in *in,
                                 const slc_hlt1_forward_start *starts, size_t n, slc_hlt1_forward_work *work,
                                 slc_hlt1_forward_track *found)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && forwards[target] != NULL);
    take_halves(in, work->halves);
    for (size_t i = 0; i < n; i++) {
        found[i].n = 0;
        found[i].quality = in->max_quality;
    }
    for (size_t first = 0; first < n;) {
        const size_t some = expects[target]->prepare(in, &starts[first], n - first, work);
        for (uint32_t set = 0; set < 2; set++) {
            if (set == 0 || !in->free) {
                forwards[target]->seek(in, &starts[first], some, work, set, in->free ? 2 : set + 1,
                                       &found[first]);
            }
            follows[target]->best(in, work, set, &found[first]);
        }
        first += some;
    }
}

void slc_hlt1_forward_refit_all(slc_simd_target target, const slc_hlt1_forward_tables *tables, const float *x,
                                const slc_hlt1_forward_start *starts, slc_hlt1_forward_track *tracks,
                                size_t n)
{
    slc_hlt1_forward_track *some[SLC_HLT1_FORWARD_REFITS];
    const slc_hlt1_line *velo[SLC_HLT1_FORWARD_REFITS];
    size_t n_some = 0;
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && refits[target] != NULL);
    for (size_t i = 0; i < n; i++) {
        if (tracks[i].n > 0) {
            velo[n_some] = &starts[i].velo;
            some[n_some++] = &tracks[i];
        }
        if (n_some == SLC_HLT1_FORWARD_REFITS || (i + 1 == n && n_some > 0)) {
            refits[target]->refit(tables, x, some, velo, n_some);
            n_some = 0;
        }
    }
}

/* ---- hlt1.forward ------------------------------------------------------------------------------ */

enum { STARTS = 57, OTHERS = 120, ZONE = STARTS + OTHERS, HITS = SLC_SCIFI_ZONES * ZONE };

typedef struct forward_scratch {
    _Alignas(SLC_COLUMN_ALIGN) float places[HITS + SLC_SCIFI_ZONES * (SLC_HLT1_PIVOTS + 2 * SLC_HLT1_BLOCK) +
                                            SLC_HLT1_FORWARD_SPARE];
    slc_hlt1_forward_in in;
    slc_hlt1_forward_zones zones;
    slc_hlt1_forward_tables tables;
    slc_hlt1_forward_work work;
    uint32_t begin[SLC_SCIFI_ZONES + 1];
    slc_hlt1_forward_params params;
    slc_hlt1_forward_start starts[STARTS];
    slc_hlt1_forward_track found[STARTS];
    float x[HITS];
} forward_scratch;

static int by_x(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void make_params(forward_scratch *s)
{
    static const float z[SLC_SCIFI_LAYERS] = {7826, 7896, 7966, 8036, 8508, 8578,
                                              8648, 8718, 9193, 9263, 9333, 9403},
                       dxdy[4] = {0, 0.087489f, -0.087489f, 0};
    s->params.magnet_z_mm[0] = 5212;
    s->params.sagitta[0] = s->params.sagitta[1] = 1;
    s->params.cubic[0] = 2.7e-4f;
    s->tables = (slc_hlt1_forward_tables){.params = &s->params, .polarity = -1};
    s->tables.kick[0][0] = s->tables.kick[0][1] = s->tables.kick[0][2] = 1300;
    for (size_t k = 0; k < SLC_SCIFI_LAYERS; k++) {
        s->tables.zone_z[k] = s->params.zone_z_mm[k] = z[k];
        s->tables.dxdy[k] = dxdy[k % 4];
    }
}

/* A particle and its hits in the upper half, number t of each zone's; in the lower half there are others. */
static void make_start(forward_scratch *s, size_t t, uint64_t *random)
{
    slc_hlt1_forward_start *to = &s->starts[t];
    const float tx = slc_random_between(random, -0.2f, 0.2f), ty = slc_random_between(random, 0.02f, 0.2f);
    const float q = slc_random_between(random, -3e-4f, 3e-4f), mz = s->params.magnet_z_mm[0];
    const float slope = tx + 1300 * q, measured = q * slc_random_between(random, 0.9f, 1.1f);
    *to = (slc_hlt1_forward_start){.velo = {770 * tx, 770 * ty, 770, tx, ty},
                                   .tx = tx,
                                   .q_over_p = measured,
                                   .magnet_x = mz * tx,
                                   .x = mz * tx};
    for (size_t zone = 0; zone < SLC_SCIFI_ZONES; zone++) {
        const size_t k = zone / 2;
        const float y = ty * s->params.zone_z_mm[k] / (1 - ty * SLC_SCIFI_DZDY);
        const float z = s->params.zone_z_mm[k] + y * SLC_SCIFI_DZDY;
        const float x = mz * tx + slope * (z - mz) - s->tables.dxdy[k] * y;
        s->x[zone * ZONE + t] = zone % 2 != 0 && slc_random_below(random, 20) > 0
                                    ? x + slc_random_between(random, -0.2f, 0.2f)
                                    : slc_random_between(random, -3000, 3000);
    }
}

static void forward_prepare(void *memory, uint64_t seed)
{
    forward_scratch *s = memory;
    uint64_t random = seed;
    make_params(s);
    for (size_t t = 0; t < STARTS; t++) {
        make_start(s, t, &random);
    }
    for (uint32_t zone = 0; zone < SLC_SCIFI_ZONES; zone++) {
        float *x = &s->x[(size_t)zone * ZONE];
        for (size_t i = STARTS; i < ZONE; i++) {
            x[i] = slc_random_between(&random, -2000, 2000) * slc_random_between(&random, 0, 1.5f);
        }
        qsort(x, ZONE, sizeof *x, by_x);
        s->begin[zone + 1] = (zone + 1) * ZONE;
    }
    s->in = (slc_hlt1_forward_in){.tables = &s->tables,
                                  .zones = &s->zones,
                                  .begin = s->begin,
                                  .max_hits = 40,
                                  .max_triplets = 7,
                                  .min_hits = 9,
                                  .max_quality = 0.35f,
                                  .enough = 0.1f};
    s->zones.x = s->places;
    slc_hlt1_forward_zones_fill(s->x, s->begin, &s->zones);
}

static void forward_run(void *memory, slc_simd_target target)
{
    forward_scratch *s = memory;
    slc_hlt1_forward_search_all(target, &s->in, s->starts, STARTS, &s->work, s->found);
}

static uint64_t forward_digest(const void *memory)
{
    const forward_scratch *s = memory;
    uint64_t digest = 0;
    for (size_t t = 0; t < STARTS; t++) {
        const slc_hlt1_forward_track *f = &s->found[t];
        digest = slc_simd_digest(digest, &f->n, sizeof f->n);
        digest = slc_simd_digest(digest, &f->quality, sizeof f->quality);
        if (f->n > 0) {
            digest = slc_simd_digest(digest, f->hit, sizeof f->hit);
            digest = slc_simd_digest(digest, &f->a, 6 * sizeof f->a);
        }
    }
    return digest;
}

/* Read of a start: windows in its layers, about 400 hits; written: a track. */
static const slc_simd_case forward_case = {
    .elements = STARTS,
    .bytes_per_element = 400 * sizeof(float) + sizeof(slc_hlt1_forward_start) +
                         sizeof(slc_hlt1_forward_track),
    .scratch_bytes = sizeof(forward_scratch),
    .prepare = forward_prepare,
    .run = forward_run,
    .digest = forward_digest,
};

/* Measured per start: sluice bench --kernels --kernel hlt1.forward */
const slc_simd_kernel slc_hlt1_forward_kernel_rows[2] = {
    {.name = "hlt1.forward",
     .preference = {{SLC_SIMD_AVX512ICL, 365},
                    {SLC_SIMD_AVX512, 371},
                    {SLC_SIMD_AVX512VL256, 628},
                    {SLC_SIMD_AVX2, 686},
                    {SLC_SIMD_AVX512VL128, 1048},
                    {SLC_SIMD_SSE4, 1323},
                    {SLC_SIMD_C, 2669}},
     .bench = &forward_case},
    {.name = NULL},
};
