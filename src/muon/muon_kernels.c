/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of isMuon's kernels, and their standard input: an event of as many hits and tracks of more than 3
 * GeV as LHCb's minimum-bias events have.
 */
#include "base/splitmix.h"
#include "muon/muon_identify_work.h"

#include "simd_targets.h"

#include <assert.h>

#define DECLARE(target, TARGET) extern const slc_muon_kernels slc_muon_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_muon_kernels_##target,
static const slc_muon_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};

const slc_muon_kernels *slc_muon_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

/* ---- muon.identify ----------------------------------------------------------------------------- */

enum { TRACKS = 26, HITS = 252, ROOM = HITS + SLC_MUON_SPARE };

typedef struct identify_scratch {
    slc_muon_foi foi;
    float hit[5][ROOM]; /* x, y, z, dx, dy */
    size_t begin[SLC_MUON_AREAS + 1];
    float track[5][TRACKS]; /* x, y, tx, ty, p */
    uint32_t best[TRACKS][SLC_MUON_STATIONS];
    slc_muon_windows windows[TRACKS];
} identify_scratch;

static void identify_prepare(void *memory, uint64_t seed)
{
    static const uint32_t of_station[SLC_MUON_STATIONS + 1] = {0, 176, 226, 240, HITS};
    static const float reach[SLC_MUON_REGIONS] = {600, 1200, 2400, 4800};
    identify_scratch *s = memory;
    uint64_t random = seed;
    for (uint32_t area = 0; area < SLC_MUON_AREAS; area++) {
        const uint32_t station = area / SLC_MUON_REGIONS, region = area % SLC_MUON_REGIONS;
        const uint32_t from = of_station[station], n = of_station[station + 1] - from;
        for (size_t axis = 0; axis < 2; axis++) {
            s->foi.of[0][axis][area] = slc_random_between(&random, 2, 5);
            s->foi.of[1][axis][area] = slc_random_between(&random, 10, 50);
            s->foi.of[2][axis][area] = slc_random_between(&random, 0.05f, 0.45f);
        }
        s->begin[area] = from + n * region / SLC_MUON_REGIONS;
        s->begin[area + 1] = from + n * (region + 1) / SLC_MUON_REGIONS;
        for (size_t i = s->begin[area]; i < s->begin[area + 1]; i++) {
            s->hit[0][i] = slc_random_between(&random, -reach[region], reach[region]);
            s->hit[1][i] = slc_random_between(&random, -reach[region], reach[region]);
            s->hit[2][i] = 15205 + 1200 * (float)station;
            s->hit[3][i] = 3.2f * (float)(1U << region);
            s->hit[4][i] = 15.6f * (float)(1U << region);
        }
    }
    for (size_t t = 0; t < TRACKS; t++) {
        for (size_t c = 0; c < 4; c++) {
            const float most = c < 2 ? 1500 : 0.15f;
            s->track[c][t] = slc_random_between(&random, -most, most);
        }
        s->track[4][t] = slc_random_between(&random, 3000, 20000);
    }
}

static void identify_run(void *memory, slc_simd_target target)
{
    identify_scratch *s = memory;
    const slc_muon_kernels *kernels = slc_muon_kernels_of(target);
    const slc_muon_hits hits = {
        .x_mm = s->hit[0], .y_mm = s->hit[1], .z_mm = s->hit[2], .dx_mm = s->hit[3], .dy_mm = s->hit[4]};
    for (size_t t = 0; t < TRACKS; t++) {
        const slc_muon_look look = {.hits = &hits,
                                    .begin = s->begin,
                                    .windows = &s->windows[t],
                                    .x = s->track[0][t],
                                    .y = s->track[1][t],
                                    .z = 9410,
                                    .tx = s->track[2][t],
                                    .ty = s->track[3][t]};
        const slc_muon_line lines[2] = {{look.x, look.tx, {1, 0, 1e-5f}}, {look.y, look.ty, {1, 0, 1e-5f}}};
        kernels->windows(&s->foi, s->track[4][t], &s->windows[t]);
        for (uint32_t station = 0; station < SLC_MUON_STATIONS; station++) {
            size_t best = HITS;
            (void)kernels->best(&look, station, lines, 9410, &best);
            s->best[t][station] = (uint32_t)best;
        }
    }
}

static uint64_t identify_digest(const void *memory)
{
    const identify_scratch *s = memory;
    uint64_t digest = slc_simd_digest(0, s->best, sizeof s->best);
    for (size_t t = 0; t < TRACKS; t++) {
        for (size_t axis = 0; axis < 2; axis++) {
            digest = slc_simd_digest(digest, s->windows[t].of[axis], SLC_MUON_AREAS * sizeof(float));
        }
    }
    return digest;
}

/* All hits are read for each track. */
static const slc_simd_case identify_case = {
    .elements = TRACKS,
    .bytes_per_element = HITS * 5 * sizeof(float),
    .scratch_bytes = sizeof(identify_scratch),
    .prepare = identify_prepare,
    .run = identify_run,
    .digest = identify_digest,
};

/* Measured per track: sluice bench --kernels --kernel muon.identify */
const slc_simd_kernel slc_muon_kernel_rows[2] = {
    {.name = "muon.identify",
     .preference = {{SLC_SIMD_AVX512ICL, 74.6},
                    {SLC_SIMD_AVX512, 74.7},
                    {SLC_SIMD_AVX512VL256, 114.1},
                    {SLC_SIMD_AVX2, 119.8},
                    {SLC_SIMD_AVX512VL128, 201.8},
                    {SLC_SIMD_SSE4, 216.7},
                    {SLC_SIMD_C, 446.4}},
     .bench = &identify_case},
    {.name = NULL},
};
