/* SPDX-License-Identifier: Apache-2.0
 * The VELO generator's events as data: the same event from the same seed whatever came before, well-formed
 * banks, hints and truth that agree with an independent reading, and a configuration that does what it says.
 */
#include "velo/velo_cluster.h"
#include "velo/velo_decode.h"
#include "velo/velo_geometry.h"
#include <sluice/lhcb.h>
#include <sluice/sim.h>
#include <sluice/velo_check.h>

#include "base/bytes.h"
#include "support/cmocka_all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = SLC_VELO_SENSORS * SLC_VELO_COLUMNS * SLC_VELO_ROWS };

/* Events with their truth, decoded and clustered by the library's own stages. */
typedef struct sample {
    slc_batch batch;
    slc_velo_truth truth;
    slc_velo_superpixels superpixels;
    slc_velo_hits hits;
    uint64_t pixels;
} sample;

static slc_sim_velo_config default_config(uint64_t seed)
{
    slc_sim_velo_config config;
    slc_sim_velo_config_default(&config);
    config.seed = seed;
    return config;
}

static void generate(const slc_sim_velo_config *config, uint64_t first, uint32_t n, sample *out)
{
    slc_sim_velo *sim;
    slc_error error = {0};
    *out = (sample){.pixels = 0};
    assert_int_equal(slc_sim_velo_open(config, NULL, &sim, &error), SLC_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(slc_sim_velo_event(sim, first + i, &out->batch, &out->truth, &error), SLC_OK);
    }
    slc_sim_velo_close(sim);
    assert_int_equal(out->batch.n_events, n);
}

static void reconstruct(sample *s)
{
    slc_velo_geometry geometry;
    slc_velo_cluster_scratch scratch = {0};
    slc_faults faults = {0};
    const uint32_t n = s->batch.n_events;
    const size_t bound = slc_velo_decode_bound(&s->batch, NULL);
    slc_velo_geometry_ideal(&geometry);
    assert_int_equal(slc_columns_reserve(&slc_velo_superpixels_schema, &s->superpixels, bound, n), SLC_OK);
    assert_int_equal(slc_velo_decode_run(&s->batch, &s->superpixels, &faults), SLC_OK);
    const size_t hits = slc_velo_cluster_bound(s->superpixels.head.size);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &s->hits, hits, n), SLC_OK);
    assert_int_equal(slc_velo_cluster_reserve(&scratch), SLC_OK);
    assert_int_equal(
        slc_velo_cluster_run(&geometry, &s->superpixels, 0, &scratch, &s->hits, &s->pixels, &faults), SLC_OK);
    slc_velo_cluster_clear(&scratch);
    assert_int_equal(slc_faults_total(&faults), 0);
}

static void forget(sample *s)
{
    slc_batch_clear(&s->batch);
    slc_velo_truth_clear(&s->truth);
    slc_columns_clear(&slc_velo_superpixels_schema, &s->superpixels);
    slc_columns_clear(&slc_velo_hits_schema, &s->hits);
}

static void *zeroed(size_t n, size_t size)
{
    void *rows = calloc(n, size);
    assert_non_null(rows);
    return rows;
}

/* ---- determinism ----------------------------------------------------------------------------- */

static void an_event_depends_on_seed_and_index_alone(void **state)
{
    (void)state;
    const slc_sim_velo_config config = default_config(7);
    slc_sim_velo *sim;
    slc_error error = {0};
    sample all;
    generate(&config, 0, 6, &all);
    assert_int_equal(slc_sim_velo_open(&config, NULL, &sim, &error), SLC_OK);
    for (uint32_t i = 6; i-- > 0;) { /* backwards, by another generator */
        slc_batch one = {0};
        assert_int_equal(slc_sim_velo_event(sim, i, &one, NULL, &error), SLC_OK);
        assert_int_equal(one.length[0], all.batch.length[i]);
        assert_memory_equal(one.bytes + one.offset[0], all.batch.bytes + all.batch.offset[i], one.length[0]);
        slc_batch_clear(&one);
    }
    slc_sim_velo_close(sim);
    forget(&all);
}

static void seeds_and_indices_make_different_events(void **state)
{
    (void)state;
    const slc_sim_velo_config a = default_config(1), b = default_config(2);
    sample first, second;
    generate(&a, 0, 2, &first);
    generate(&b, 0, 1, &second);
    const slc_batch *x = &first.batch, *y = &second.batch;
    assert_true(x->length[0] != x->length[1] ||
                memcmp(x->bytes + x->offset[0], x->bytes + x->offset[1], x->length[0]) != 0);
    assert_true(x->length[0] != y->length[0] ||
                memcmp(x->bytes + x->offset[0], y->bytes + y->offset[0], x->length[0]) != 0);
    forget(&first);
    forget(&second);
}

/* ---- banks ----------------------------------------------------------------------------------- */

static void check_words(const slc_lhcb_bank *bank, uint8_t *patterns)
{
    const uint32_t n = slc_load_u32(bank->payload);
    uint32_t last = 0;
    assert_int_equal(bank->size, 4 + 4 * (size_t)n);
    memset(patterns, 0, (size_t)SLC_VELO_SUPERPIXEL_COLUMNS * SLC_VELO_SUPERPIXEL_ROWS);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t word = slc_load_u32(bank->payload + 4 + 4 * (size_t)i), address = word >> 8 & 0x7fff;
        assert_int_not_equal(word & 0xff, 0);
        assert_int_equal(word & 0x7f800000, 0);
        assert_true(address >> 6 < SLC_VELO_SUPERPIXEL_COLUMNS);
        assert_true(i == 0 || address > last);
        last = address;
        patterns[address] = (uint8_t)word;
    }
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t word = slc_load_u32(bank->payload + 4 + 4 * (size_t)i);
        const int column = (int)(word >> 14 & 511), row = (int)(word >> 8 & 63);
        int neighbours = 0;
        for (int c = column - 1; c <= column + 1; c++) {
            for (int r = row - 1; r <= row + 1; r++) {
                const bool there = c >= 0 && c < SLC_VELO_SUPERPIXEL_COLUMNS && r >= 0 &&
                                   r < SLC_VELO_SUPERPIXEL_ROWS;
                neighbours += there && (c != column || r != row) && patterns[c * 64 + r] != 0;
            }
        }
        assert_int_equal(word >> 31, neighbours == 0);
    }
}

static void banks_are_well_formed_and_hints_true(void **state)
{
    (void)state;
    const slc_sim_velo_config config = default_config(3);
    uint8_t *patterns = zeroed(SLC_VELO_SUPERPIXEL_COLUMNS * SLC_VELO_SUPERPIXEL_ROWS, 1);
    const uint64_t first = 0x300000005ULL; /* needs both words of the event number */
    sample s;
    generate(&config, first, 3, &s);
    for (uint32_t e = 0; e < 3; e++) {
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&s.batch, e);
        slc_lhcb_bank bank;
        int sensors = 0, odin = 0;
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
            if (bank.type == SLC_LHCB_BANK_VP) {
                assert_int_equal(bank.version, 2);
                assert_int_equal(bank.source, sensors++);
                check_words(&bank, patterns);
            } else if (bank.type == SLC_LHCB_BANK_ODIN) {
                odin++;
                assert_int_equal(bank.version, 6);
                assert_int_equal(bank.size, 40);
                assert_int_equal(slc_load_u32(bank.payload + 12), 3);
                assert_int_equal(slc_load_u32(bank.payload + 16), 5 + e);
            } else {
                assert_true(bank.type == SLC_LHCB_BANK_MC_TRACKS || bank.type == SLC_LHCB_BANK_MC_VERTICES);
            }
        }
        assert_int_equal(cursor.at, s.batch.length[e]);
        assert_int_equal(sensors, SLC_VELO_SENSORS);
        assert_int_equal(odin, 1);
    }
    forget(&s);
    free(patterns);
}

/* ---- truth ----------------------------------------------------------------------------------- */

/* Counts truth ids that are no cluster, and clusters that no particle claims. */
static void compare_ids(const sample *s, size_t *lost, size_t *unclaimed)
{
    uint8_t *seen = zeroed(SLC_VELO_CHANNEL_MASK + 1, 1); /* by channel: 1 cluster, 3 claimed cluster */
    *lost = *unclaimed = 0;
    for (uint32_t e = 0; e < s->batch.n_events; e++) {
        const uint32_t *hits = s->hits.head.event_offset, *ids = s->truth.ids.head.event_offset;
        for (uint32_t i = hits[e]; i < hits[e + 1]; i++) {
            assert_int_equal(s->hits.channel[i] >> 28, 2);
            seen[s->hits.channel[i] & SLC_VELO_CHANNEL_MASK] = 1;
        }
        for (uint32_t i = ids[e]; i < ids[e + 1]; i++) {
            uint8_t *at = &seen[s->truth.ids.id[i] & SLC_VELO_CHANNEL_MASK];
            *lost += *at == 0;
            *at |= (uint8_t)(*at << 1);
        }
        for (uint32_t i = hits[e]; i < hits[e + 1]; i++) {
            uint8_t *at = &seen[s->hits.channel[i] & SLC_VELO_CHANNEL_MASK];
            *unclaimed += *at == 1;
            *at = 0;
        }
    }
    free(seen);
}

static void every_cluster_has_a_particle_without_noise(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config(11);
    config.noise_pixels = 0;
    sample s;
    size_t lost, unclaimed;
    generate(&config, 0, 25, &s);
    reconstruct(&s);
    compare_ids(&s, &lost, &unclaimed);
    assert_true(s.truth.ids.head.size > 20000);
    assert_int_equal(lost, 0);
    assert_int_equal(unclaimed, 0);
    forget(&s);
}

static void noise_makes_clusters_of_nobody(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config(11);
    config.noise_pixels = 400;
    sample s;
    size_t lost, unclaimed;
    generate(&config, 0, 25, &s);
    reconstruct(&s);
    compare_ids(&s, &lost, &unclaimed);
    assert_int_equal(lost, 0);
    /* 10 000 noise pixels, spread 100 by Poisson; few of them touch a hit or each other. */
    assert_in_range(unclaimed, 9300, 10500);
    forget(&s);
}

static void truth_in_banks_is_truth_in_columns(void **state)
{
    (void)state;
    const slc_sim_velo_config config = default_config(5);
    sample s;
    slc_velo_truth read = {0};
    slc_faults faults = {0};
    slc_error error = {0};
    generate(&config, 0, 4, &s);
    assert_int_equal(slc_velo_truth_read(&s.batch, &read, &faults, &error), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(read.particles.head.size, s.truth.particles.head.size);
    assert_true(read.particles.head.size > 500);
    for (uint32_t e = 0; e < 4; e++) {
        uint64_t a = SLC_CHECKSUM_START, b = SLC_CHECKSUM_START;
        a = slc_columns_checksum(&slc_velo_particles_schema, &read.particles, e, a);
        a = slc_columns_checksum(&slc_velo_particle_ids_schema, &read.ids, e, a);
        a = slc_columns_checksum(&slc_velo_vertices_schema, &read.vertices, e, a);
        b = slc_columns_checksum(&slc_velo_particles_schema, &s.truth.particles, e, b);
        b = slc_columns_checksum(&slc_velo_particle_ids_schema, &s.truth.ids, e, b);
        b = slc_columns_checksum(&slc_velo_vertices_schema, &s.truth.vertices, e, b);
        assert_true(a == b);
    }
    slc_velo_truth_clear(&read);
    forget(&s);
}

static uint32_t count_modules(const sample *s, uint32_t event, size_t particle)
{
    const slc_velo_particles *p = &s->truth.particles;
    const uint32_t *ids = s->truth.ids.id + s->truth.ids.head.event_offset[event] + p->id_begin[particle];
    uint64_t modules = 0;
    for (uint32_t i = 0; i < p->n_ids[particle]; i++) {
        modules |= 1ULL << ((ids[i] >> 18 & 0xff) / 4);
        assert_true(i == 0 || ids[i] > ids[i - 1]);
    }
    uint32_t n = 0;
    for (; modules != 0; modules &= modules - 1) {
        n++;
    }
    return n;
}

static void flags_follow_from_hits(void **state)
{
    (void)state;
    const slc_sim_velo_config config = default_config(6);
    const slc_velo_particles *p;
    sample s;
    generate(&config, 0, 15, &s);
    p = &s.truth.particles;
    for (uint32_t e = 0; e < 15; e++) {
        const uint32_t *vertex = s.truth.vertices.head.event_offset;
        int tracks[512] = {0};
        assert_true(vertex[e + 1] - vertex[e] < 512);
        for (size_t i = p->head.event_offset[e]; i < p->head.event_offset[e + 1]; i++) {
            const uint32_t modules = count_modules(&s, e, i), flags = p->flags[i];
            assert_true(modules > 0 && p->n_ids[i] >= modules);
            assert_int_equal((flags & SLC_VELO_HAS_VELO) != 0, modules >= 3);
            assert_int_equal((flags & SLC_VELO_IS_LONG) != 0, modules >= 3 && (flags & SLC_VELO_HAS_SCIFI));
            assert_int_equal((flags & SLC_VELO_IS_DOWN) != 0,
                             (flags & SLC_VELO_HAS_UT) && (flags & SLC_VELO_HAS_SCIFI));
            assert_int_equal(flags & SLC_VELO_FROM_SIGNAL, 0);
            assert_true(fabsf(p->charge[i]) == 1);
            assert_true(fabs((double)p->pt_mev[i] * cosh((double)p->eta[i]) / (double)p->p_mev[i] - 1) <
                        1e-4);
            for (uint32_t v = vertex[e]; v < vertex[e + 1]; v++) {
                tracks[v - vertex[e]] += p->mother_key[i] == -1 && modules >= 3 && p->p_mev[i] > 100 &&
                                         p->origin_z_mm[i] == (float)s.truth.vertices.z_mm[v];
            }
        }
        for (uint32_t v = vertex[e]; v < vertex[e + 1]; v++) {
            assert_int_equal(tracks[v - vertex[e]], s.truth.vertices.n_tracks[v]);
        }
    }
    forget(&s);
}

/* ---- what the configuration says ------------------------------------------------------------- */

/* Collisions with gas lie all over the cell, on the beam, and what comes out of them flies forward. */
static void gas_is_in_its_cell(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config(12);
    config.visible_vertices = 0;
    config.gas_collisions = 4;
    sample s;
    generate(&config, 0, 40, &s);
    const slc_velo_vertices *vertices = &s.truth.vertices;
    const slc_velo_particles *p = &s.truth.particles;
    uint32_t upstream = 0, forward = 0;
    assert_true(vertices->head.size > 100 && vertices->head.size < 220);
    for (size_t v = 0; v < vertices->head.size; v++) {
        assert_true(vertices->z_mm[v] > -541 && vertices->z_mm[v] < -341 && fabs(vertices->x_mm[v]) < 0.2);
        upstream += vertices->z_mm[v] < -441;
    }
    assert_true(10 * upstream > 3 * vertices->head.size && 10 * upstream < 7 * vertices->head.size);
    for (size_t i = 0; i < p->head.size; i++) {
        forward += p->eta[i] > 0;
    }
    assert_true(p->head.size > 300 && 100 * forward > 90 * p->head.size);
    forget(&s);
}

static void inefficiency_removes_hits(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config(8);
    config.noise_pixels = 0;
    size_t hits[3];
    const float inefficiency[3] = {0, 0.5f, 1};
    for (int i = 0; i < 3; i++) {
        sample s;
        config.inefficiency = inefficiency[i];
        generate(&config, 0, 15, &s);
        reconstruct(&s);
        hits[i] = s.hits.head.size;
        forget(&s);
    }
    assert_true(hits[0] > 10000);
    /* The particles are the same; half of some 30 000 crossings, a little more where two share a cluster. */
    assert_true((double)hits[1] > 0.48 * (double)hits[0] && (double)hits[1] < 0.54 * (double)hits[0]);
    assert_int_equal(hits[2], 0);
}

static void mark_pixels(const sample *s, uint32_t event, uint8_t *map, uint8_t mark)
{
    const uint32_t *offset = s->superpixels.head.event_offset;
    for (uint32_t i = offset[event]; i < offset[event + 1]; i++) {
        const uint32_t word = s->superpixels.word[i];
        for (uint32_t bit = 0; bit < 8; bit++) {
            const uint32_t column = 2 * (word >> 14 & 511) + bit / 4, row = 4 * (word >> 8 & 63) + bit % 4;
            if (word >> bit & 1) {
                map[((size_t)s->superpixels.sensor[i] * SLC_VELO_COLUMNS + column) * SLC_VELO_ROWS + row] |=
                    mark;
            }
        }
    }
}

static void dead_pixels_are_always_the_same(void **state)
{
    (void)state;
    enum { EVENTS = 12, FIRED = 1, SURVIVED = 2, WAS_ALIVE = 4, WAS_DEAD = 8 };
    slc_sim_velo_config config = default_config(9);
    sample healthy, damaged;
    uint8_t *map = zeroed(PIXELS, 1);
    size_t alive = 0, dead = 0, again = 0;
    config.noise_pixels = 20000;
    config.dead_fraction = 0;
    generate(&config, 0, EVENTS, &healthy);
    config.dead_fraction = 0.3f;
    generate(&config, 0, EVENTS, &damaged);
    reconstruct(&healthy);
    reconstruct(&damaged);
    for (uint32_t e = 0; e < EVENTS; e++) {
        mark_pixels(&healthy, e, map, FIRED);
        mark_pixels(&damaged, e, map, SURVIVED);
        for (size_t i = 0; i < PIXELS; i++) {
            if (map[i] & FIRED) {
                const bool survived = map[i] & SURVIVED;
                again += (map[i] & (WAS_ALIVE | WAS_DEAD)) != 0;
                assert_false(map[i] & (survived ? WAS_DEAD : WAS_ALIVE));
                map[i] = (uint8_t)((map[i] & (WAS_ALIVE | WAS_DEAD)) | (survived ? WAS_ALIVE : WAS_DEAD));
                alive += survived;
                dead += !survived;
            } else {
                assert_false(map[i] & SURVIVED);
            }
        }
    }
    assert_true(again > 100); /* pixels were seen more than once, so "always" was tested */
    const double share = (double)dead / (double)(alive + dead);
    assert_true(share > 0.29 && share < 0.31);
    free(map);
    forget(&healthy);
    forget(&damaged);
}

static void all_dead_is_dark(void **state)
{
    (void)state;
    slc_sim_velo_config config = default_config(9);
    sample s;
    config.dead_fraction = 1;
    config.noise_pixels = 1000;
    generate(&config, 0, 2, &s);
    reconstruct(&s);
    assert_int_equal(s.superpixels.head.size, 0);
    assert_int_equal(s.truth.particles.head.size, 0);
    forget(&s);
}

static void refuse(const slc_sim_velo_config *config, const slc_velo_geometry *geometry, const char *word)
{
    slc_sim_velo *sim = (slc_sim_velo *)(uintptr_t)1;
    slc_error error = {0};
    assert_int_equal(slc_sim_velo_open(config, geometry, &sim, &error), SLC_ERR_USAGE);
    assert_null(sim);
    assert_int_equal(error.status, SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, word));
}

static void bad_configurations_are_refused(void **state)
{
    (void)state;
    static const struct {
        size_t member;
        const char *name;
        float bad[3];
    } rows[] = {{offsetof(slc_sim_velo_config, visible_vertices), "visible_vertices", {-1, 201, NAN}},
                {offsetof(slc_sim_velo_config, noise_pixels), "noise_pixels", {-0.5f, INFINITY, NAN}},
                {offsetof(slc_sim_velo_config, dead_fraction), "dead_fraction", {-0.1f, 1.1f, NAN}},
                {offsetof(slc_sim_velo_config, inefficiency), "inefficiency", {-0.1f, 2, NAN}},
                {offsetof(slc_sim_velo_config, b_fraction), "b_fraction", {-0.1f, 1.5f, NAN}},
                {offsetof(slc_sim_velo_config, d_fraction), "d_fraction", {-0.1f, 1.5f, NAN}},
                {offsetof(slc_sim_velo_config, s_fraction), "s_fraction", {-0.1f, 1e6f, NAN}},
                {offsetof(slc_sim_velo_config, gas_collisions), "gas_collisions", {-0.1f, 201, NAN}}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (int k = 0; k < 3; k++) {
            slc_sim_velo_config config = default_config(1);
            memcpy((char *)&config + rows[i].member, &rows[i].bad[k], sizeof(float));
            refuse(&config, NULL, rows[i].name);
        }
    }
    const slc_sim_velo_config config = default_config(1);
    slc_velo_geometry geometry;
    slc_velo_geometry_ideal(&geometry);
    geometry.local_x_mm[100] += 0.2f;
    refuse(&config, &geometry, "columns");
    slc_sim_velo_close(NULL); /* allowed */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_depends_on_seed_and_index_alone),
        cmocka_unit_test(seeds_and_indices_make_different_events),
        cmocka_unit_test(banks_are_well_formed_and_hints_true),
        cmocka_unit_test(every_cluster_has_a_particle_without_noise),
        cmocka_unit_test(noise_makes_clusters_of_nobody),
        cmocka_unit_test(truth_in_banks_is_truth_in_columns),
        cmocka_unit_test(flags_follow_from_hits),
        cmocka_unit_test(gas_is_in_its_cell),
        cmocka_unit_test(inefficiency_removes_hits),
        cmocka_unit_test(dead_pixels_are_always_the_same),
        cmocka_unit_test(all_dead_is_dark),
        cmocka_unit_test(bad_configurations_are_refused),
    };
    return cmocka_run_group_tests_name("sim_velo", tests, NULL, NULL);
}
