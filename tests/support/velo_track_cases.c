/* SPDX-License-Identifier: Apache-2.0
 * Random events and configurations for the track search, and every target against the oracle. */
#include "support/velo_track_cases.h"
#include "base/columns.h"
#include "velo/velo_track.h"

#include "oracle/velo_track_oracle.h"
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/sanitized.h"
#include "velo/velo_geometry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- collections ---------------------------------------------------------------------------------- */

void track_run_reserve(track_run *run, size_t hits, uint32_t events)
{
    const size_t tracks = slc_velo_track_bound(hits) + 1;
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &run->hits, hits, events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_tracks_schema, &run->tracks, tracks, events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_track_hits_schema, &run->track_hits, hits, events),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_tracks_schema, &run->other_tracks, tracks, events),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_track_hits_schema, &run->other_track_hits, hits, events),
                     SLC_OK);
    assert_int_equal(slc_velo_track_reserve(&run->scratch, hits), SLC_OK);
}

void track_run_clear(track_run *run)
{
    slc_columns_clear(&slc_velo_hits_schema, &run->hits);
    slc_columns_clear(&slc_velo_tracks_schema, &run->tracks);
    slc_columns_clear(&slc_velo_track_hits_schema, &run->track_hits);
    slc_columns_clear(&slc_velo_tracks_schema, &run->other_tracks);
    slc_columns_clear(&slc_velo_track_hits_schema, &run->other_track_hits);
    slc_velo_track_clear(&run->scratch);
}

void track_run_begin(track_run *run)
{
    slc_columns_reset(&run->hits);
}

void track_run_add(track_run *run, uint32_t module, float x, float y, float z)
{
    slc_velo_hits *hits = &run->hits;
    const size_t i = hits->head.size++;
    assert_true(i < hits->head.capacity);
    hits->x_mm[i] = x;
    hits->y_mm[i] = y;
    hits->z_mm[i] = z;
    hits->module[i] = (uint8_t)module;
    hits->channel[i] = (uint32_t)i;
    hits->n_pixels[i] = 1;
}

void track_run_end_event(track_run *run)
{
    slc_columns_end_event(&run->hits);
}

/* ---- expectations ---------------------------------------------------------------------------------- */

static void expect_sound(const slc_velo_hits *hits, const slc_velo_tracks *tracks,
                         const slc_velo_track_hits *track_hits)
{
    assert_int_equal(tracks->head.n_events, hits->head.n_events);
    assert_int_equal(track_hits->head.n_events, hits->head.n_events);
    assert_true(slc_columns_check(&slc_velo_tracks_schema, tracks, NULL));
    assert_true(slc_columns_check(&slc_velo_track_hits_schema, track_hits, NULL));
}

void track_run_search(track_run *run, const slc_velo_track_config *config)
{
    slc_faults_reset(&run->faults);
    assert_int_equal(slc_velo_track_run(config, &run->hits, 0, &run->scratch, &run->tracks, &run->track_hits,
                                        &run->faults),
                     SLC_OK);
    expect_sound(&run->hits, &run->tracks, &run->track_hits);
}

static bool are_equal(const track_run *run)
{
    const slc_velo_tracks *a = &run->tracks, *b = &run->other_tracks;
    const slc_velo_track_hits *c = &run->track_hits, *d = &run->other_track_hits;
    const size_t n = a->head.size, n_hits = c->head.size;
    const size_t offsets = (a->head.n_events + (size_t)1) * sizeof(uint32_t);
    return n == b->head.size && n_hits == d->head.size &&
           memcmp(a->head.event_offset, b->head.event_offset, offsets) == 0 &&
           memcmp(c->head.event_offset, d->head.event_offset, offsets) == 0 &&
           memcmp(a->hit_begin, b->hit_begin, n * sizeof(uint32_t)) == 0 &&
           memcmp(a->n_hits, b->n_hits, n * sizeof(uint32_t)) == 0 &&
           memcmp(a->scatter_mm2, b->scatter_mm2, n * sizeof(float)) == 0 &&
           memcmp(c->hit, d->hit, n_hits * sizeof(uint32_t)) == 0;
}

uint32_t track_run_difference(const slc_velo_track_config *config, const slc_velo_hits *hits,
                              const slc_velo_tracks *tracks, const slc_velo_track_hits *track_hits,
                              size_t *n_tracks)
{
    uint32_t different = UINT32_MAX;
    for (uint32_t e = 0; e < hits->head.n_events && different == UINT32_MAX; e++) {
        const uint32_t begin = tracks->head.event_offset[e], first = track_hits->head.event_offset[e];
        oracle_tracks expected = oracle_velo_track(config, hits, e);
        bool same = tracks->head.event_offset[e + 1] - begin == expected.n;
        for (size_t t = 0; t < expected.n && same; t++) {
            const uint32_t *found = track_hits->hit + first + tracks->hit_begin[begin + t];
            const uint32_t n = expected.n_hits[t];
            same = tracks->n_hits[begin + t] == n &&
                   memcmp(found, expected.hit + expected.begin[t], n * sizeof *found) == 0 &&
                   memcmp(tracks->scatter_mm2 + begin + t, expected.scatter_mm2 + t, sizeof(float)) == 0;
        }
        if (n_tracks != NULL) {
            *n_tracks += expected.n;
        }
        oracle_velo_track_clear(&expected);
        different = same ? different : e;
    }
    return different;
}

static void tell(const slc_velo_track_config *c)
{
    print_error("strategy %d, N %u: %g %g %g, second N %u: %g %g %g, missing %g, trim %g, pickup %g, merge "
                "%g %g, min hits %u\n",
                (int)c->strategy, c->candidates, (double)c->max_scatter_seeding_mm2,
                (double)c->max_scatter_extending_mm2, (double)c->max_scatter_3hits_mm2, c->second_candidates,
                (double)c->second_seeding_mm2, (double)c->second_extending_mm2, (double)c->second_3hits_mm2,
                (double)c->missing_layer_mm2, (double)c->trim_mm2, (double)c->pickup_mm2,
                (double)c->merge_slope, (double)c->merge_mm2, c->min_hits);
}

void track_run_expect_oracle(track_run *run, const slc_velo_track_config *config)
{
    slc_velo_track_config with = *config;
    with.target = SLC_SIMD_AUTO;
    track_run_search(run, &with);
    const uint32_t e = track_run_difference(&with, &run->hits, &run->tracks, &run->track_hits,
                                            &run->n_tracks);
    if (e != UINT32_MAX) {
        tell(config);
        fail_msg("event %u of %u hits: not the oracle's tracks", e,
                 run->hits.head.event_offset[e + 1] - run->hits.head.event_offset[e]);
    }
    int ran = 0;
    for (int target = SLC_SIMD_AUTO + 1; target < SLC_SIMD_TARGETS; target++) {
        with.target = (slc_simd_target)target;
        if (!slc_simd_runs(with.target)) {
            continue;
        }
        assert_int_equal(slc_velo_track_run(&with, &run->hits, 0, &run->scratch, &run->other_tracks,
                                            &run->other_track_hits, &run->faults),
                         SLC_OK);
        if (!are_equal(run)) {
            tell(config);
            fail_msg(
                "%s: other tracks than the oracle in event %u", slc_simd_name(with.target),
                track_run_difference(&with, &run->hits, &run->other_tracks, &run->other_track_hits, NULL));
        }
        ran++;
    }
    assert_true(ran >= 1); /* plain C at least */
    track_run_expect_disjoint(run);
}

void track_run_expect_disjoint(const track_run *run)
{
    const slc_velo_tracks *tracks = &run->tracks;
    bool *used = calloc(run->hits.head.size + 1, sizeof *used);
    for (uint32_t e = 0; e < tracks->head.n_events; e++) {
        const uint32_t first = run->hits.head.event_offset[e];
        for (uint32_t t = tracks->head.event_offset[e]; t < tracks->head.event_offset[e + 1]; t++) {
            const uint32_t *hit = run->track_hits.hit + run->track_hits.head.event_offset[e] +
                                  tracks->hit_begin[t];
            assert_true(tracks->n_hits[t] >= 3);
            for (uint32_t k = 0; k < tracks->n_hits[t]; k++) {
                assert_true(first + hit[k] < run->hits.head.event_offset[e + 1]);
                assert_false(used[first + hit[k]]);
                used[first + hit[k]] = true;
            }
        }
    }
    free(used);
}

void track_run_expect_falling_z(const track_run *run)
{
    const slc_velo_tracks *tracks = &run->tracks;
    for (uint32_t e = 0; e < tracks->head.n_events; e++) {
        const float *z = run->hits.z_mm + run->hits.head.event_offset[e];
        for (uint32_t t = tracks->head.event_offset[e]; t < tracks->head.event_offset[e + 1]; t++) {
            const uint32_t *hit = run->track_hits.hit + run->track_hits.head.event_offset[e] +
                                  tracks->hit_begin[t];
            for (uint32_t k = 1; k < tracks->n_hits[t]; k++) {
                assert_true(z[hit[k]] < z[hit[k - 1]]);
            }
        }
    }
}

/* ---- random events ---------------------------------------------------------------------------------- */

enum { MOST_PARTICLES = 4000 };

typedef struct particle {
    float x0, y0, z0, tx, ty;
} particle;

static particle random_particle(uint64_t *seed)
{
    const double phi = 6.2831853 * random_unit(seed), slope = 0.02 + 0.25 * random_unit(seed);
    return (particle){.x0 = (float)(0.4 * random_normal(seed)),
                      .y0 = (float)(0.4 * random_normal(seed)),
                      .z0 = (float)(60 * random_normal(seed)),
                      .tx = (float)(slope * cos(phi)),
                      .ty = (float)(slope * sin(phi))};
}

static float rounded(float value, uint32_t features)
{
    return features & TRACK_RUN_GRID ? (float)rint((double)value * 10) / 10 : value;
}

static float extreme(uint64_t *seed)
{
    static const float values[] = {0,   -0.0f, 1e-40f, -1e-30f, 1e-7f, 10,
                                   -10, 1e10f, -1e19f, 3e19f,   1e30f, -1e38f};
    return values[random_below(seed, sizeof values / sizeof *values)];
}

/* Hits that no particle made. */
static void add_odd_hits(track_run *run, uint64_t *seed, uint32_t module, float z, uint32_t n_noise,
                         uint32_t features, size_t first)
{
    for (uint32_t i = 0; features & TRACK_RUN_NOISE && i < n_noise; i++) {
        const double x = 42 * random_unit(seed) - 2, y = 80 * random_unit(seed) - 40;
        track_run_add(run, module, rounded((float)(module % 2 ? x : -x), features),
                      rounded((float)y, features), z);
    }
    const size_t n = run->hits.head.size - first;
    for (uint32_t i = random_below(seed, 6); features & TRACK_RUN_DUPLICATES && n > 0 && i > 0; i--) {
        const size_t of = first + random_below(seed, (uint32_t)n);
        track_run_add(run, module, run->hits.x_mm[of], run->hits.y_mm[of], run->hits.z_mm[of]);
    }
    if (features & TRACK_RUN_AXIS && random_below(seed, 2) == 0) {
        const float at[] = {0, -0.0f, 5, -5};
        track_run_add(run, module, 0, 0, z);
        track_run_add(run, module, at[random_below(seed, 4)], at[random_below(seed, 4)], z);
    }
    if (features & TRACK_RUN_EXTREMES && random_below(seed, 3) == 0) {
        track_run_add(run, module, extreme(seed), extreme(seed), random_below(seed, 2) ? extreme(seed) : z);
    }
}

void track_run_random_event(track_run *run, uint64_t *seed, uint32_t particles, uint32_t n_noise,
                            uint32_t features)
{
    static particle all[MOST_PARTICLES];
    assert_true(particles <= MOST_PARTICLES);
    for (uint32_t i = 0; i < particles; i++) {
        all[i] = random_particle(seed);
    }
    for (uint32_t module = 0; module < SLC_VELO_MODULES; module++) {
        /* Flat: sometimes both modules of a layer, sometimes two layers are in one plane. */
        const uint32_t level = features & TRACK_RUN_FLAT
                                   ? module / 4 * 4 + module % 4 / 2 * (module / 4 % 2) * 2
                                   : module;
        const size_t first = run->hits.head.size;
        for (uint32_t i = 0; i < particles; i++) {
            const particle *p = all + i;
            /* The four sensors of a module are a little apart. */
            const float z = slc_velo_design_module_z_mm[level] +
                            (features & TRACK_RUN_FLAT ? 0 : (float)(i % 2) * 1.5f);
            const float x = p->x0 + p->tx * (z - p->z0) + (float)(0.02 * random_normal(seed));
            const float y = p->y0 + p->ty * (z - p->z0) + (float)(0.02 * random_normal(seed));
            const bool forward = (i & 4U) == 0 ? z > p->z0 : z < p->z0;
            /* The halves overlap by a little. */
            if (forward && (module % 2 ? x : -x) > -1 && x * x + y * y > 25 && x * x + y * y < 1600 &&
                random_below(seed, 100) < 95) {
                track_run_add(run, module, rounded(x, features), rounded(y, features), z);
            }
        }
        add_odd_hits(run, seed, module, slc_velo_design_module_z_mm[level], n_noise, features, first);
    }
    track_run_end_event(run);
}

slc_velo_track_config track_run_random_config(uint64_t *seed)
{
    slc_velo_track_config config;
    slc_velo_track_config_default(&config);
    config.candidates = 1 + random_below(seed, 10);
    config.second_candidates = random_below(seed, 3) == 0 ? 0 : 1 + random_below(seed, 10);
    config.strategy = (slc_velo_track_strategy)random_below(seed, 3);
    config.missing_layer_mm2 = random_below(seed, 2) ? config.missing_layer_mm2 : 0;
    config.trim_mm2 = random_below(seed, 2) ? config.trim_mm2 : 0;
    config.pickup_mm2 = random_below(seed, 2) ? config.pickup_mm2 : 0;
    config.merge_mm2 = random_below(seed, 2) ? config.merge_mm2 : 0;
    config.min_hits = random_below(seed, 2) ? config.min_hits : 4 + random_below(seed, 2);
    if (random_below(seed, 4) == 0) { /* wide open: many want the same hit */
        config.max_scatter_seeding_mm2 = 2;
        config.max_scatter_extending_mm2 = 5;
        config.max_scatter_3hits_mm2 = 1;
        config.second_seeding_mm2 = 20;
        config.second_extending_mm2 = 10;
        config.second_3hits_mm2 = 5;
        config.pickup_mm2 *= 40;
        config.merge_slope = 0.1f;
        config.merge_mm2 *= 1000;
    }
    return config;
}

size_t track_run_count(size_t n)
{
    const size_t part = test_percent();
    return n * part / 100 > 0 ? n * part / 100 : 1;
}

void track_run_vertices(track_run *run, uint64_t *seed, uint32_t vertices, uint32_t tracks)
{
    static float x[SLC_VELO_MODULES][256], y[SLC_VELO_MODULES][256];
    uint32_t n[SLC_VELO_MODULES] = {0};
    float z0 = 0;
    for (uint32_t v = 0; v < vertices; v++) {
        z0 = random_below(seed, 4) == 0 ? z0 + slc_random_between(seed, 0.2f, 3)
                                        : slc_random_between(seed, -250, 250);
        const float x0 = slc_random_between(seed, -0.1f, 0.1f), y0 = slc_random_between(seed, -0.1f, 0.1f);
        for (uint32_t t = 0; t < tracks; t++) {
            const float tx = slc_random_between(seed, -0.25f, 0.25f),
                        ty = slc_random_between(seed, -0.25f, 0.25f);
            const bool backward = random_below(seed, 4) == 0;
            for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
                const float z = slc_velo_design_module_z_mm[m], dz = z - z0;
                const float xm = x0 + tx * dz, ym = y0 + ty * dz, r2 = xm * xm + ym * ym;
                if ((dz < 0) == backward && (xm > 0) == (m % 2 != 0) && r2 > 26 && r2 < 1600 && n[m] < 180) {
                    x[m][n[m]] = xm + slc_random_between(seed, -0.015f, 0.015f);
                    y[m][n[m]++] = ym + slc_random_between(seed, -0.015f, 0.015f);
                }
            }
        }
    }
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        for (uint32_t i = 0; i < n[m]; i++) {
            track_run_add(run, m, x[m][i], y[m][i], slc_velo_design_module_z_mm[m]);
        }
    }
    track_run_end_event(run);
}
