/* SPDX-License-Identifier: Apache-2.0
 * The VELO's chain on a GPU, or in the emulator, against the chain on the processor: every column and every
 * fault, of sound and of damaged banks, of crowded layers and of equal distances. The processor's tracks are
 * held against the plain oracle elsewhere, and those of some events here. */
#include "base/columns.h"
#include "cuda/cuda_stream.h"
#include "support/assert_ok.h"
#include "support/cmocka_all.h"
#include "support/random.h"
#include "support/velo_banks.h"
#include "support/velo_same.h"
#include "support/velo_select_random.h"
#include "support/velo_track_cases.h"
#include "velo/velo_chain_part.h"
#include "velo/velo_geometry.h"
#include <sluice/cuda.h>
#include <sluice/lhcb.h>
#include <sluice/velo_chain.h>

#include <stdlib.h>
#include <string.h>

enum { MOST_HITS = 80000, MOST_EVENTS = 8 };

static track_run run;
static slc_velo_geometry geometry;
static slc_velo_result on_cpu, on_gpu;
static slc_velo_selection selection; /* of the chains at hand */
static uint64_t turns, accepted, refused;
static uint8_t bytes[2 * SUPPORT_VELO_EVENT];
static bool small;

static size_t count_of(size_t n)
{
    return small ? (n + 9) / 10 : n;
}

static int set_up(void **state)
{
    (void)state;
    small = getenv("SLUICE_TEST_SMALL") != NULL;
    track_run_reserve(&run, MOST_HITS, MOST_EVENTS);
    /* Moved and turned: no window is a number of its own. */
    slc_velo_geometry_ideal(&geometry);
    uint64_t random = 3;
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        for (uint32_t k = 0; k < 12; k++) {
            geometry.to_global[s][k] += slc_random_between(&random, -0.01f, 0.01f);
        }
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    track_run_clear(&run);
    slc_velo_result_clear(&on_cpu);
    slc_velo_result_clear(&on_gpu);
    return 0;
}

/* ---- comparing ----------------------------------------------------------------------------------------- */

static void expect_same_results(void)
{
    expect_same_velo(&on_cpu, &on_gpu);
}

static void expect_decisions(const slc_velo_config *config)
{
    assert_int_equal(on_cpu.decisions.head.n_events, on_cpu.hits.head.n_events);
    if (config->wanted == 0 || config->wanted == SLC_VELO_WANT_ALL) {
        expect_velo_decisions(&selection, &on_cpu);
    }
    for (uint32_t e = 0; e < on_cpu.decisions.head.size; e++) {
        accepted += on_cpu.decisions.lines[e] != 0;
        refused += on_cpu.decisions.lines[e] == 0;
    }
}

typedef struct two_chains {
    slc_velo_chain *cpu, *gpu;
    const slc_velo_config *config;
} two_chains;

static void open_both(slc_velo_config *config, two_chains *chains)
{
    slc_error error;
    random_selection(&turns, &selection); /* another one each time; the chain's beam line, or its own */
    selection.has_beam = turns % 2 == 0;
    selection.beam_x_mm = selection.has_beam ? 0.2f : config->fit.beam_x_mm;
    selection.beam_y_mm = selection.has_beam ? 0 : config->fit.beam_y_mm;
    config->selection = &selection;
    chains->config = config;
    config->exec.device = NULL;
    ASSERT_OK(slc_velo_chain_open(config, &geometry, &chains->cpu, &error));
    config->exec.device = "cuda";
    ASSERT_OK(slc_velo_chain_open(config, &geometry, &chains->gpu, &error));
}

static void close_both(two_chains *chains)
{
    slc_velo_chain_close(chains->cpu);
    slc_velo_chain_close(chains->gpu);
}

/* A warp for each event, or (every fourth time, as the emulator is slow) several; or both. */
static bool in_both_forms;
static unsigned turn;

static bool set_form(const two_chains *chains, unsigned teams)
{
    slc_velo_device *device = chains->gpu->device;
    device->few_events = teams != 0 ? UINT32_MAX / 1024 : 0;
    device->most_parts = 1 + turn / 2 % SLC_VELO_DEVICE_PARTS;
    device->fewest = 1;
    return in_both_forms || teams == (turn % 4 == 0);
}

static void expect_same_of_batch(const two_chains *chains, const slc_batch *batch)
{
    slc_error error;
    ASSERT_OK(slc_velo_chain_reserve(chains->cpu, batch, &on_cpu, &error));
    ASSERT_OK(slc_velo_chain_run(chains->cpu, batch, &on_cpu, &error));
    for (unsigned teams = 0; teams < 2; teams++) {
        if (set_form(chains, teams)) {
            ASSERT_OK(slc_velo_chain_reserve(chains->gpu, batch, &on_gpu, &error));
            ASSERT_OK(slc_velo_chain_run(chains->gpu, batch, &on_gpu, &error));
            expect_same_results();
        }
    }
    expect_decisions(chains->config);
    turn++;
}

static void take_hits(slc_velo_result *result)
{
    const size_t n = run.hits.head.size;
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &result->hits, n + 1, MOST_EVENTS), SLC_OK);
    slc_columns_reset(&result->hits);
    for (uint32_t e = 0; e < run.hits.head.n_events; e++) {
        for (size_t i = run.hits.head.event_offset[e]; i < run.hits.head.event_offset[e + 1]; i++) {
            const size_t to = result->hits.head.size++;
            result->hits.x_mm[to] = run.hits.x_mm[i];
            result->hits.y_mm[to] = run.hits.y_mm[i];
            result->hits.z_mm[to] = run.hits.z_mm[i];
            result->hits.module[to] = run.hits.module[i];
            result->hits.channel[to] = (uint32_t)i;
            result->hits.n_pixels[to] = 0;
        }
        slc_columns_end_event(&result->hits);
    }
    result->first_event = 5;
}

/* The events of `run`, as hits. */
static void expect_same_of_hits(const two_chains *chains)
{
    slc_error error;
    take_hits(&on_cpu);
    ASSERT_OK(slc_velo_chain_reserve_hits(chains->cpu, &on_cpu, &error));
    ASSERT_OK(slc_velo_chain_run_hits(chains->cpu, &on_cpu, &error));
    for (unsigned teams = 0; teams < 2; teams++) {
        if (set_form(chains, teams)) {
            take_hits(&on_gpu);
            ASSERT_OK(slc_velo_chain_reserve_hits(chains->gpu, &on_gpu, &error));
            ASSERT_OK(slc_velo_chain_run_hits(chains->gpu, &on_gpu, &error));
            expect_same_results();
        }
    }
    expect_decisions(chains->config);
    turn++;
}

/* ---- hits to tracks ------------------------------------------------------------------------------------ */

static slc_velo_config config_of(bool fast)
{
    slc_velo_config config;
    slc_velo_config_default(&config);
    if (fast) {
        slc_velo_track_config_fast(&config.track);
    }
    return config;
}

/* What a device takes of a random configuration. */
static slc_velo_config random_config(uint64_t *seed)
{
    slc_velo_config config = config_of(false);
    config.track = track_run_random_config(seed);
    config.track.strategy = SLC_VELO_TRACK_STANDARD;
    config.track.min_hits = 3;
    config.track.target = SLC_SIMD_AUTO;
    config.track.beam_x_mm = config.track.beam_y_mm = 0;
    if (random_below(seed, 3) == 0) {
        config.fit.beam_x_mm = 0.5f;
        config.fit.beam_y_mm = -0.3f;
    }
    return config;
}

static void add_random_event(uint64_t *seed)
{
    const uint32_t most = random_below(seed, 2) ? (small ? 81 : 301) : 40;
    const uint32_t features = random_below(seed, 2) ? TRACK_RUN_NOISE : random_below(seed, 64);
    track_run_random_event(&run, seed, random_below(seed, most), random_below(seed, 8), features);
}

static void random_events(void **state)
{
    (void)state;
    uint64_t seed = 161;
    size_t tracks = 0, left = 0;
    const size_t rounds = count_of(60);
    for (size_t round = 0; round < rounds; round++) {
        slc_velo_config config = round % 3 == 0 ? config_of(round % 2 == 0) : random_config(&seed);
        two_chains chains;
        open_both(&config, &chains);
        track_run_begin(&run);
        for (int e = 0; e < 4; e++) {
            add_random_event(&seed);
        }
        expect_same_of_hits(&chains);
        tracks += on_gpu.tracks.head.size;
        left += on_gpu.n_left_events;
        if (round % 10 == 0 && config.fit.beam_x_mm == 0) {
            assert_int_equal(
                track_run_difference(&config.track, &run.hits, &on_gpu.tracks, &on_gpu.track_hits, NULL),
                UINT32_MAX);
        }
        close_both(&chains);
    }
    assert_true(tracks > 50 * rounds);
    assert_true(3 * left < 4 * rounds); /* extremes become no numbers; others are the device's */
}

/* Straight lines, of which so many reach one layer: noise there fills it up. */
static void layers_of(uint32_t n, uint64_t *seed)
{
    const uint32_t layer = 3 + random_below(seed, 20);
    for (uint32_t m = 0; m < SLC_VELO_MODULES; m++) {
        const float z = slc_velo_design_module_z_mm[m];
        const uint32_t here = m / 2 == layer ? (m % 2 == 0 ? n / 2 : n - n / 2) : 12 + m % 5;
        for (uint32_t i = 0; i < here; i++) {
            const float tx = 0.012f * (float)(i % 23 + 1), ty = 0.004f * (float)(i / 23) - 0.05f;
            const float side = m % 2 == 0 ? -1.0f : 1.0f, error = slc_random_between(seed, -0.01f, 0.01f);
            /* Whole steps: equal distances and equal directions. */
            track_run_add(&run, m, side * (5 + tx * (z + 400) + (i % 3 == 0 ? error : 0)),
                          ty * (z + 400) + (i % 5 == 0 ? error : 0), z);
        }
    }
    track_run_end_event(&run);
}

static void crowded_layers(void **state)
{
    (void)state;
    in_both_forms = true;
    static const uint32_t sizes[] = {191, 192, 193, 255, 256, 257, 384, 385};
    uint64_t seed = 162;
    for (int fast = 0; fast < 2; fast++) {
        slc_velo_config config = config_of(fast != 0);
        two_chains chains;
        open_both(&config, &chains);
        track_run_begin(&run);
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            layers_of(sizes[i], &seed);
        }
        expect_same_of_hits(&chains);
        assert_int_equal(on_gpu.n_left_events, 1); /* the last */
        assert_true(on_gpu.tracks.head.size > 100);
        close_both(&chains);
    }
    in_both_forms = false;
}

/* Limits of the search are those of the processor, with their faults. */
static void limits(void **state)
{
    (void)state;
    in_both_forms = true;
    uint64_t seed = 163;
    slc_velo_config config = config_of(false);
    two_chains chains;
    config.track.max_layer_hits = 150;
    config.track.max_event_hits = 900;
    open_both(&config, &chains);
    track_run_begin(&run);
    layers_of(140, &seed);
    layers_of(160, &seed);
    track_run_random_event(&run, &seed, 200, 1, TRACK_RUN_NOISE);
    track_run_end_event(&run);
    expect_same_of_hits(&chains);
    assert_int_equal(slc_faults_of(&on_gpu.faults, SLC_FAULT_EVENT_CROWDED), 1);
    assert_int_equal(on_gpu.n_cut_events, 1);
    close_both(&chains);
    in_both_forms = false;
}

/* ---- vertices --------------------------------------------------------------------------------------------
 */

static slc_velo_config vertex_config(uint64_t *seed, size_t round)
{
    slc_velo_config config = config_of(false);
    if (round % 3 == 1) {
        config.vertex.bin_mm = slc_random_between(seed, 0.22f, 2);
        config.vertex.iterations = 1 + random_below(seed, 9);
        config.vertex.min_tracks = (float)(1 + random_below(seed, 6));
        config.vertex.max_fit_chi2 = slc_random_between(seed, 4, 30);
        config.vertex.min_separation2 = slc_random_between(seed, 0, 100);
        config.vertex.max_beam_distance2_mm2 = slc_random_between(seed, 0.005f, 0.3f);
    } else if (round % 3 == 2) { /* nearly all that has a bin of its own is a peak */
        config.vertex.min_peak_tracks = 0.3f;
        config.vertex.min_tracks = 1;
        config.vertex.max_dip_per_mm = 0.1f;
        config.fit.scatter_prior = random_below(seed, 2) ? 0 : config.fit.scatter_prior;
    }
    return config;
}

static void vertices(void **state)
{
    (void)state;
    uint64_t seed = 166;
    size_t primaries = 0, most = 0;
    for (size_t round = 0; round < count_of(30); round++) {
        const slc_velo_config config = vertex_config(&seed, round);
        slc_velo_config own = config;
        two_chains chains;
        open_both(&own, &chains);
        track_run_begin(&run);
        const uint32_t tracks = 4 + random_below(&seed, 40);
        track_run_vertices(&run, &seed, 1 + random_below(&seed, 8), tracks);
        track_run_vertices(&run, &seed, small ? 20 : 90, 5);
        track_run_end_event(&run); /* nothing */
        track_run_vertices(&run, &seed, 2, 5);
        expect_same_of_hits(&chains);
        primaries += on_gpu.primaries.head.size;
        for (uint32_t e = 0; e < 4; e++) {
            const uint32_t *offset = on_gpu.primaries.head.event_offset;
            most = offset[e + 1] - offset[e] > most ? offset[e + 1] - offset[e] : most;
        }
        close_both(&chains);
    }
    assert_true(primaries > 10 * count_of(30));
    assert_true(small || most == SLC_VELO_MAX_PRIMARIES);
}

/* What is wanted comes back, whatever is not. */
static void wanted_collections(void **state)
{
    (void)state;
    uint64_t seed = 167;
    for (uint32_t wanted = 1; wanted < 2 * SLC_VELO_WANT_DECISIONS; wanted += small ? 5 : 1) {
        slc_velo_config config = config_of(false);
        two_chains chains;
        config.wanted = wanted;
        open_both(&config, &chains);
        track_run_begin(&run);
        track_run_vertices(&run, &seed, 3, 10);
        layers_of(385, &seed); /* the processor's */
        track_run_vertices(&run, &seed, 2, 12);
        expect_same_of_hits(&chains);
        assert_int_equal(on_gpu.n_left_events, 1);
        assert_true(on_gpu.n_tracks > 0 && on_gpu.hits.head.size > 0); /* the caller's */
        assert_int_equal(on_gpu.tracks.head.size > 0, (wanted & SLC_VELO_WANT_TRACKS) != 0);
        assert_int_equal(on_gpu.beam.head.size > 0, (wanted & SLC_VELO_WANT_BEAM) != 0);
        assert_int_equal(on_gpu.end.head.size > 0, (wanted & SLC_VELO_WANT_END) != 0);
        assert_int_equal(on_gpu.primaries.head.size > 0, (wanted & SLC_VELO_WANT_PRIMARIES) != 0);
        close_both(&chains);
    }
}

/* ---- banks --------------------------------------------------------------------------------------------- */

/* Some events, of which every third has something wrong; `alike`: of one version. */
static void random_batch(uint64_t *seed, bool damaged, bool alike, slc_batch *batch)
{
    uint64_t sensors = 0;
    const uint8_t version = (uint8_t)(2 + random_below(seed, 2));
    slc_batch_reset(batch);
    batch->first_event = 7;
    for (uint32_t e = 0; e < 6; e++) {
        const unsigned damage = damaged && e % 3 == 1 ? random_below(seed, SUPPORT_VELO_DAMAGE) : 0;
        const size_t size = support_velo_event(seed, alike ? version : (uint8_t)(2 + random_below(seed, 3)),
                                               random_below(seed, small || e % 2 == 0 ? 30 : 208), damage,
                                               bytes, &sensors);
        assert_int_equal(slc_batch_append(batch, bytes, size, 0), SLC_OK);
    }
}

/* An event with n words in one sensor, from the last address to the first; `parts`: 1 or 2 in each word, or 0
 * for any pattern. */
static void append_crowded(slc_batch *batch, uint64_t *seed, uint32_t n, uint32_t parts)
{
    static uint32_t payload[1 + 400];
    payload[0] = n;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t place = n - 1 - i, column = place / 2, row = place % 2;
        const uint32_t pattern = parts == 0 ? 1 + random_below(seed, 255) : parts == 1 ? 0xf : 0x9;
        payload[1 + i] = column << 14 | row << 8 | pattern;
    }
    const size_t size = slc_lhcb_bank_write(bytes, sizeof bytes, SLC_LHCB_BANK_VP, 2, 41, payload,
                                            (1 + (size_t)n) * sizeof *payload);
    assert_true(size > 0);
    assert_int_equal(slc_batch_append(batch, bytes, size, 0), SLC_OK);
}

/* Modules around the limits of parts; the device leaves one event to the processor. */
static void crowded_modules(void **state)
{
    (void)state;
    in_both_forms = true;
    uint64_t seed = 167;
    slc_batch batch = {0};
    slc_velo_config config = config_of(true);
    two_chains chains;
    open_both(&config, &chains);
    slc_batch_reset(&batch);
    batch.first_event = 3;
    append_crowded(&batch, &seed, 384, 1);
    append_crowded(&batch, &seed, 385, 1);
    append_crowded(&batch, &seed, 192, 2);
    append_crowded(&batch, &seed, 193, 2);
    append_crowded(&batch, &seed, 252, 2);
    append_crowded(&batch, &seed, 253, 2); /* 506 */
    append_crowded(&batch, &seed, 200, 0);
    append_crowded(&batch, &seed, 240, 0);
    expect_same_of_batch(&chains, &batch);
    assert_int_equal(on_gpu.n_left_events, 1);
    close_both(&chains);
    slc_batch_clear(&batch);
    in_both_forms = false;
}

static void random_banks(void **state)
{
    (void)state;
    uint64_t seed = 164, left = 0, events = 0, in_blocks = 0;
    slc_batch batch = {0}, packet = {0};
    slc_velo_config config = config_of(true);
    two_chains chains;
    open_both(&config, &chains);
    const size_t rounds = count_of(40);
    for (size_t round = 0; round < rounds; round++) {
        random_batch(&seed, round % 2 != 0, round % 8 < 6, &batch);
        support_velo_packet(&batch, (int)(round / 4 % 6) - 1, &packet);
        const bool locked = round % 3 == 0; /* what is of blocks then goes over from where it is */
        slc_error error;
        if (locked) {
            ASSERT_OK(slc_cuda_pin(packet.bytes, packet.capacity, &error));
        }
        expect_same_of_batch(&chains, round % 4 < 2 ? &packet : &batch);
        in_blocks += chains.gpu->device->n_in_blocks;
        if (locked) {
            slc_cuda_unpin(packet.bytes);
        }
        const uint64_t left_here = on_gpu.n_left_events;
        if (round == 0) { /* of wrong words most would be left to the processor, and results the same */
            expect_same_of_batch(&chains, &batch);
            assert_int_equal(on_gpu.n_left_events, left_here);
        }
        left += left_here;
        events += batch.n_events;
    }
    slc_batch_clear(&packet);
    assert_true(left > 0 && left < events / 2);
    assert_true(small || in_blocks > 40);
    close_both(&chains);
    slc_batch_clear(&batch);
}

/* The same where hits do not come back; and kernels once more leave what they found. */
static void wanted_of_banks(void **state)
{
    (void)state;
    uint64_t seed = 168;
    slc_batch batch = {0};
    slc_error error;
    for (uint32_t wanted = 2; wanted < 2 * SLC_VELO_WANT_DECISIONS; wanted += small ? 7 : 2) {
        slc_velo_config config = config_of(wanted % 4 == 0);
        two_chains chains;
        double seconds[SLC_VELO_CUDA_PARTS];
        config.wanted = wanted;
        config.track.max_event_hits = 2000;
        open_both(&config, &chains);
        random_batch(&seed, true, false, &batch);
        expect_same_of_batch(&chains, &batch);
        assert_int_equal(on_gpu.hits.head.size > 0, (wanted & SLC_VELO_WANT_HITS) != 0);
        assert_true(on_gpu.n_hits > 0);
        const slc_velo_device *device = chains.gpu->device;
        ASSERT_OK(device->calls->again(device->part[0].engine, seconds, &error));
        for (size_t i = 0; i < SLC_VELO_CUDA_PARTS; i++) {
            assert_true(seconds[i] >= 0);
        }
        expect_same_of_batch(&chains, &batch);
        close_both(&chains);
    }
    slc_batch_clear(&batch);
}

/* Clusters of FPGAs, sorted or not. */
static size_t retina_event(uint64_t *seed, uint8_t version, bool sorted)
{
    uint32_t payload[64];
    size_t size = 0;
    for (uint32_t source = 0; source < (version == 4 ? 104U : 208U); source += 1 + random_below(seed, 3)) {
        const uint32_t n = 1 + random_below(seed, 30), counted = version != 4, bits = version == 2 ? 3 : 2;
        uint32_t at = 0;
        payload[0] = n;
        for (uint32_t i = 0; i < n; i++) {
            at = sorted ? at + random_below(seed, 768U << (bits + 8 + bits) / 40)
                        : (uint32_t)random_u64(seed);
            at %= (sorted ? 768U : 769U) << (2 * bits + 8); /* few are beyond the sensor */
            payload[1 + i] = at | (version == 4 && i % 2 != 0 ? 0x00400000U : 0);
        }
        size += slc_lhcb_bank_write(bytes + size, sizeof bytes - size, SLC_LHCB_BANK_VP_RETINA, version,
                                    (int16_t)source, payload + (1 - counted), 4 * (size_t)(n + counted));
    }
    return size;
}

static void clusters_of_fpgas(void **state)
{
    (void)state;
    uint64_t seed = 165, left = 0;
    slc_batch batch = {0}, packet = {0};
    slc_velo_config config = config_of(true);
    two_chains chains;
    open_both(&config, &chains);
    for (size_t round = 0; round < count_of(10); round++) {
        slc_batch_reset(&batch);
        for (uint8_t version = 2; version <= 4; version++) {
            for (int sorted = 0; sorted < 2; sorted++) {
                const size_t size = retina_event(&seed, version, sorted != 0);
                assert_int_equal(slc_batch_append(&batch, bytes, size, 0), SLC_OK);
            }
        }
        support_velo_packet(&batch, 2, &packet);
        expect_same_of_batch(&chains, round % 2 == 0 ? &packet : &batch);
        assert_int_equal(on_gpu.n_retina_events, 6);
        left += on_gpu.n_left_events;
    }
    assert_true(left > 0 && left < 6 * count_of(10));
    close_both(&chains);
    slc_batch_clear(&packet);
    slc_batch_clear(&batch);
}

/* ---- refusals ------------------------------------------------------------------------------------------ */

static void refuses_what_it_does_not_take(void **state)
{
    (void)state;
    slc_error error;
    slc_velo_chain *chain = NULL;
    for (int i = 0; i < 8; i++) {
        slc_velo_config config = config_of(false);
        config.exec.device = i == 3 ? "cuda:99" : "cuda";
        config.wanted = i == 4 ? 64 : i == 5 ? SLC_VELO_WANT_BEAM : i == 6 ? SLC_VELO_WANT_DECISIONS : 0;
        selection.n_lines = SLC_VELO_MAX_LINES + 1;
        config.selection = i == 7 ? &selection : NULL;
        config.impacts = i == 5;
        config.track.strategy = i == 0 ? SLC_VELO_TRACK_FULL : config.track.strategy;
        config.track.algorithm = i == 1 ? SLC_VELO_TRACK_TRIPLET : config.track.algorithm;
        config.track.min_hits = i == 2 ? 4 : config.track.min_hits;
        const slc_status expected = i == 3 ? SLC_ERR_UNSUPPORTED : SLC_ERR_USAGE;
        assert_int_equal(slc_velo_chain_open(&config, NULL, &chain, &error), expected);
        assert_null(chain);
        assert_true(error.text[0] != '\0');
    }
}

int main(void)
{
    slc_error error;
    if (slc_cuda_devices(&error) == 0) {
        print_message("skipped: %s\n", error.text);
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_events),
        cmocka_unit_test(crowded_layers),
        cmocka_unit_test(limits),
        cmocka_unit_test(vertices),
        cmocka_unit_test(wanted_collections),
        cmocka_unit_test(random_banks),
        cmocka_unit_test(crowded_modules),
        cmocka_unit_test(wanted_of_banks),
        cmocka_unit_test(clusters_of_fpgas),
        cmocka_unit_test(refuses_what_it_does_not_take),
    };
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    print_message("of all events %llu accepted, %llu not\n", (unsigned long long)accepted,
                  (unsigned long long)refused);
    return failed != 0 || accepted == 0 || refused == 0;
}
