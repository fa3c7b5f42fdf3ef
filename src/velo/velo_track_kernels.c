/* SPDX-License-Identifier: Apache-2.0
 * The tables of the track search. */
#include "base/splitmix.h"
#include "velo/velo_geometry.h"
#include "velo/velo_kernels.h"
#include "velo/velo_track_run.h"

#include "simd_targets.h"

#include <assert.h>

#define DECLARE(target, TARGET)                                                                              \
    extern const slc_velo_track_kernels slc_velo_track_kernels_##target;                                     \
    extern const slc_velo_track_tools slc_velo_track_tools_kernels_##target;
SIMD_FOR_EACH(DECLARE)
#define ROW(target, TARGET) [SLC_SIMD_##TARGET] = &slc_velo_track_kernels_##target,
static const slc_velo_track_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(ROW)};
#define TOOLS(target, TARGET) [SLC_SIMD_##TARGET] = &slc_velo_track_tools_kernels_##target,
static const slc_velo_track_tools *const tools[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TOOLS)};

slc_simd_target slc_velo_track_target(slc_simd_target choice)
{
    return slc_simd_kernel_choice(&slc_velo_kernel_rows[SLC_VELO_KERNEL_TRACK], choice);
}

const slc_velo_track_kernels *slc_velo_track_kernels_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tables[target] != NULL);
    return tables[target];
}

const slc_velo_track_tools *slc_velo_track_tools_of(slc_simd_target target)
{
    assert(target >= SLC_SIMD_C && target < SLC_SIMD_TARGETS && tools[target] != NULL);
    return tools[target];
}

/* ---- velo.track: the tracks of one event ------------------------------------------------------------- */

enum { PARTICLES = 240, HITS = PARTICLES * SLC_VELO_LAYERS, COLUMN = HITS + SLC_TRACK_SPARE };

/* The scratch of the search is a block of its own size behind this. */
typedef struct track_scratch {
    float x[COLUMN], y[COLUMN], z[COLUMN];
    uint8_t module[COLUMN];
    uint32_t hit_offset[2];
    uint32_t track_offset[2], track_hit_offset[2];
    uint32_t begin[COLUMN], n_hits[COLUMN], hit[COLUMN];
    float scatter[COLUMN];
    size_t n_tracks, n_track_hits;
    slc_velo_track_scratch memory;
    char block[3 << 20];
} track_scratch;

/* Straight particles from the beam line, as steep as in the detector, each in the half that it flies into and
 * seen from 5 to 35 mm away from the beam line. */
static void track_prepare(void *memory, uint64_t seed)
{
    track_scratch *s = memory;
    uint64_t random = seed;
    float tx[PARTICLES], ty[PARTICLES], z0[PARTICLES];
    uint32_t n = 0;
    for (size_t p = 0; p < PARTICLES; p++) {
        tx[p] = slc_random_between(&random, -0.25f, 0.25f);
        ty[p] = slc_random_between(&random, -0.25f, 0.25f);
        z0[p] = slc_random_between(&random, -100.0f, 100.0f);
    }
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        for (size_t p = 0; p < PARTICLES; p++) {
            const float z = slc_velo_design_module_z_mm[m], x = tx[p] * (z - z0[p]), y = ty[p] * (z - z0[p]);
            const float r2 = x * x + y * y;
            if (r2 > 25 && r2 < 1225 && (x > 0) == (m % 2 == 1) && n < HITS) {
                s->x[n] = x + slc_random_between(&random, -0.02f, 0.02f);
                s->y[n] = y + slc_random_between(&random, -0.02f, 0.02f);
                s->z[n] = z;
                s->module[n++] = (uint8_t)m;
            }
        }
    }
    s->hit_offset[0] = 0;
    s->hit_offset[1] = n;
    s->memory = slc_velo_track_scratch_in(s->block, sizeof s->block, n);
}

static void track_run(void *memory, slc_simd_target target)
{
    track_scratch *s = memory;
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    config.target = target;
    const slc_velo_hits hits = {
        .head = {.event_offset = s->hit_offset, .size = s->hit_offset[1], .n_events = 1, .capacity = HITS},
        .x_mm = s->x,
        .y_mm = s->y,
        .z_mm = s->z,
        .module = s->module,
    };
    slc_velo_tracks tracks = {
        .head = {.block = s, .event_offset = s->track_offset, .capacity = HITS, .event_capacity = 1},
        .hit_begin = s->begin,
        .n_hits = s->n_hits,
        .scatter_mm2 = s->scatter,
    };
    slc_velo_track_hits track_hits = {
        .head = {.block = s, .event_offset = s->track_hit_offset, .capacity = HITS, .event_capacity = 1},
        .hit = s->hit,
    };
    slc_faults faults = {.n_kept = 0};
    const slc_status status = slc_velo_track_run(&config, &hits, 0, &s->memory, &tracks, &track_hits,
                                                 &faults);
    s->n_tracks = status == SLC_OK ? tracks.head.size : 0;
    s->n_track_hits = status == SLC_OK ? track_hits.head.size : 0;
}

static uint64_t track_digest(const void *memory)
{
    const track_scratch *s = memory;
    uint64_t digest = slc_simd_digest(s->n_tracks, s->n_hits, s->n_tracks * sizeof s->n_hits[0]);
    digest = slc_simd_digest(digest, s->scatter, s->n_tracks * sizeof s->scatter[0]);
    return slc_simd_digest(digest, s->hit, s->n_track_hits * sizeof s->hit[0]);
}

/* About half of the places hold a hit; three floats and a byte are read of one, an index is written. */
const slc_simd_case slc_velo_track_case = {
    .elements = PARTICLES * 9,
    .bytes_per_element = 17,
    .scratch_bytes = sizeof(track_scratch),
    .prepare = track_prepare,
    .run = track_run,
    .digest = track_digest,
};
