/* SPDX-License-Identifier: Apache-2.0
 * Generated events of all detectors: their banks decode without a fault to hits that truth knows, they depend
 * on seed and number alone, and are in each table like LHCb's ten (../shared/formats: sections 10 to 12 of
 * lhcb-hlt1). */
#include "base/columns.h"
#include "muon/muon_decode.h"
#include "scifi/scifi_decode.h"
#include "ut/ut_decode.h"
#include <sluice/hlt1_check.h>
#include <sluice/io.h>
#include <sluice/io_hlt1.h>
#include <sluice/lhcb.h>
#include <sluice/sim_hlt1.h>

#include "support/support.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { EVENTS = 80, BANKS = 400, MAX_HITS = 60000 };

static slc_hlt1_geometry *geometry;
static slc_error error;

static int set_up(void **state)
{
    (void)state;
    if (slc_io_hlt1_geometry_open(support_data("lhcb_hlt1"), &geometry, &error) != SLC_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slc_io_hlt1_geometry_close(geometry);
    return 0;
}

static void generate(const slc_sim_hlt1_config *config, uint64_t first, uint32_t n, slc_batch *batch,
                     slc_velo_truth *truth, slc_velo_beyond *beyond)
{
    slc_sim_hlt1 *sim = NULL;
    assert_int_equal(slc_sim_hlt1_open(config, geometry, &sim, &error), SLC_OK);
    for (uint32_t i = 0; i < n; i++) {
        assert_int_equal(slc_sim_hlt1_event(sim, first + i, batch, truth, beyond, &error), SLC_OK);
    }
    slc_sim_hlt1_close(sim);
}

/* ---- hits of a batch ------------------------------------------------------------------------------ */

typedef struct decoded {
    slc_ut_hits ut;
    slc_scifi_hits scifi;
    slc_muon_hits muon;
    slc_faults faults;
    double tiles, crossings;
} decoded;

static void decode(const slc_batch *batch, decoded *to)
{
    slc_ut_decoder *ut = slc_ut_decoder_open(geometry->ut, SLC_SIMD_AUTO);
    slc_scifi_decoder *scifi = slc_scifi_decoder_open(geometry->scifi, SLC_SIMD_AUTO);
    slc_muon_decoder *muon = NULL;
    const size_t rows = (size_t)20000 * batch->n_events;
    assert_true(ut != NULL && scifi != NULL);
    assert_int_equal(slc_muon_decoder_open(geometry->muon, &muon, &error), SLC_OK);
    assert_int_equal(slc_ut_decoder_reserve(ut, MAX_HITS), SLC_OK);
    assert_int_equal(slc_scifi_decoder_reserve(scifi, MAX_HITS), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_ut_hits_schema, &to->ut, rows, batch->n_events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_scifi_hits_schema, &to->scifi, rows, batch->n_events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_muon_hits_schema, &to->muon, rows, batch->n_events), SLC_OK);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        static slc_lhcb_bank of_ut[BANKS], of_scifi[BANKS], of_muon[BANKS];
        size_t n_ut = 0, n_scifi = 0, n_muon = 0;
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(batch, e);
        slc_lhcb_bank bank;
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
            if (bank.type == SLC_LHCB_BANK_UT) {
                of_ut[n_ut++] = bank;
            } else if (bank.type == SLC_LHCB_BANK_SCIFI) {
                of_scifi[n_scifi++] = bank;
            } else if (bank.type == SLC_LHCB_BANK_MUON) {
                of_muon[n_muon++] = bank;
            }
        }
        assert_int_equal(n_ut, 180);
        assert_int_equal(n_scifi, 240);
        assert_int_equal(n_muon, 10);
        slc_ut_decode(ut, of_ut, n_ut, e, &to->ut, &to->faults);
        slc_scifi_decode(scifi, of_scifi, n_scifi, e, &to->scifi, &to->faults);
        slc_muon_decode(muon, of_muon, n_muon, e, &to->muon, &to->faults);
        to->tiles += (double)slc_muon_event_tiles(muon);
        to->crossings += (double)slc_muon_event_crossings(muon);
    }
    slc_ut_decoder_close(ut);
    slc_scifi_decoder_close(scifi);
    slc_muon_decoder_close(muon);
}

static void decoded_clear(decoded *d)
{
    slc_columns_clear(&slc_ut_hits_schema, &d->ut);
    slc_columns_clear(&slc_scifi_hits_schema, &d->scifi);
    slc_columns_clear(&slc_muon_hits_schema, &d->muon);
}

/* ---- tables ---------------------------------------------------------------------------------------- */

enum {
    UT_HITS,
    UT_LAYER_0,
    UT_LAYER_1,
    UT_LAYER_2,
    UT_LAYER_3,
    UT_UNLINKED,
    SCIFI_HITS,
    SCIFI_SMALL,
    SCIFI_UNLINKED,
    MUON_TILES,
    MUON_CROSSINGS,
    MUON_HITS,
    MUON_M2,
    MUON_M3,
    MUON_M4,
    MUON_M5,
    LONG,
    LONG_P5,
    LONG_P3_PT05,
    LONG_P5_PT1,
    UT_3_LAYERS,
    SCIFI_9,
    UT_OF_VELO,
    SCIFI_OF_VELO,
    UT_OF_OTHERS,
    SCIFI_OF_OTHERS,
    QUANTITIES
};
/* How far the generator may be from the ten events, which scatter themselves. */
static const struct {
    const char *name;
    double tolerance;
} quantity[QUANTITIES] = {{"UT hits", 0.30},
                          {"… layer 0, share", 0.1},
                          {"… 1", 0.12},
                          {"… 2", 0.1},
                          {"… 3", 0.1},
                          {"… of nobody, share", 0.5},
                          {"SciFi clusters", 0.30},
                          {"… small, share", 0.05},
                          {"… of nobody, share", 0.4},
                          {"muon tiles", 0.4},
                          {"crossings", 0.4},
                          {"muon hits", 0.4},
                          {"… M2", 0.4},
                          {"… M3", 0.5},
                          {"… M4", 0.6},
                          {"… M5", 0.7},
                          {"long particles", 0.3},
                          {"… p > 5", 0.3},
                          {"… p > 3, pT > 0.5", 0.35},
                          {"… p > 5, pT > 1", 0.45},
                          {"… 3 layers of UT, share", 0.04},
                          {"… 9 hits in SciFi, share", 0.02},
                          {"UT ids of VELO tracks", 0.3},
                          {"SciFi ids of VELO tracks", 0.3},
                          {"UT ids of others", 0.4},
                          {"SciFi ids of others", 0.35}};

static int by_number(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static size_t distinct(uint32_t *ids, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        ids[i] &= 0x0fffffff;
    }
    qsort(ids, n, sizeof *ids, by_number);
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || ids[kept - 1] != ids[i]) {
            ids[kept++] = ids[i];
        }
    }
    return kept;
}

/* How many ids there are in an event, each once; all must be hits. */
static size_t linked(const slc_velo_particle_ids *ids, uint32_t event, const uint32_t *channel, size_t n_hits)
{
    const size_t begin = ids->head.event_offset[event], n = ids->head.event_offset[event + 1] - begin;
    uint32_t *mine = malloc((n + 1) * sizeof *mine), *theirs = malloc((n_hits + 1) * sizeof *theirs);
    assert_true(mine != NULL && theirs != NULL);
    memcpy(mine, ids->id + begin, n * sizeof *mine);
    memcpy(theirs, channel, n_hits * sizeof *theirs);
    const size_t n_mine = distinct(mine, n), n_theirs = distinct(theirs, n_hits);
    assert_int_equal(n_theirs, n_hits); /* no hit twice */
    for (size_t i = 0, k = 0; i < n_mine; i++) {
        while (k < n_theirs && theirs[k] < mine[i]) {
            k++;
        }
        assert_true(k < n_theirs && theirs[k] == mine[i]);
    }
    free(mine);
    free(theirs);
    return n_mine;
}

static void measure_truth(const slc_batch *batch, double q[QUANTITIES])
{
    slc_velo_truth truth = {0};
    slc_velo_beyond beyond = {0};
    slc_faults faults = {0};
    assert_int_equal(slc_hlt1_truth_read(batch, &truth, &beyond, &faults, &error), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    decoded d = {0};
    decode(batch, &d);
    assert_int_equal(slc_faults_total(&d.faults), 0);
    double ut = 0, scifi = 0;
    for (uint32_t e = 0; e < batch->n_events; e++) {
        const size_t u = d.ut.head.event_offset[e], s = d.scifi.head.event_offset[e];
        ut += (double)linked(&beyond.ut, e, d.ut.channel + u, d.ut.head.event_offset[e + 1] - u);
        scifi += (double)linked(&beyond.scifi, e, d.scifi.channel + s, d.scifi.head.event_offset[e + 1] - s);
    }
    const double n = batch->n_events, n_ut = (double)d.ut.head.size, n_scifi = (double)d.scifi.head.size;
    q[UT_HITS] = n_ut / n;
    q[SCIFI_HITS] = n_scifi / n;
    q[UT_UNLINKED] = 1 - ut / n_ut;
    q[SCIFI_UNLINKED] = 1 - scifi / n_scifi;
    for (size_t i = 0; i < d.ut.head.size; i++) {
        q[UT_LAYER_0 + d.ut.layer[i]] += 1 / n_ut;
    }
    for (size_t i = 0; i < d.scifi.head.size; i++) {
        q[SCIFI_SMALL] += (d.scifi.size[i] != 0) / n_scifi;
    }
    q[MUON_TILES] = d.tiles / n;
    q[MUON_CROSSINGS] = d.crossings / n;
    q[MUON_HITS] = (double)d.muon.head.size / n;
    for (size_t i = 0; i < d.muon.head.size; i++) {
        q[MUON_M2 + d.muon.station[i]] += 1 / n;
    }
    const slc_velo_particles *p = &truth.particles;
    for (size_t i = 0; i < p->head.size; i++) {
        const bool velo = (p->flags[i] & SLC_VELO_HAS_VELO) != 0, eta = p->eta[i] > 2 && p->eta[i] < 5;
        q[velo ? UT_OF_VELO : UT_OF_OTHERS] += beyond.lists.n_ut[i] / n;
        q[velo ? SCIFI_OF_VELO : SCIFI_OF_OTHERS] += beyond.lists.n_scifi[i] / n;
        if ((p->flags[i] & SLC_VELO_IS_LONG) != 0 && abs(p->pid[i]) != 11 && eta) {
            q[LONG] += 1 / n;
            q[LONG_P5] += (p->p_mev[i] > 5000) / n;
            q[LONG_P3_PT05] += (p->p_mev[i] > 3000 && p->pt_mev[i] > 500) / n;
            q[LONG_P5_PT1] += (p->p_mev[i] > 5000 && p->pt_mev[i] > 1000) / n;
            q[UT_3_LAYERS] += (beyond.lists.n_ut[i] >= 3) / n;
            q[SCIFI_9] += (beyond.lists.n_scifi[i] >= 9) / n;
        }
    }
    q[UT_3_LAYERS] /= q[LONG];
    q[SCIFI_9] /= q[LONG];
    decoded_clear(&d);
    slc_velo_truth_clear(&truth);
    slc_velo_beyond_clear(&beyond);
}

static void is_like_the_ten_events(void **state)
{
    (void)state;
    slc_batch ten = {0}, made = {0};
    slc_faults faults = {0};
    slc_io_source *source = NULL;
    double q[2][QUANTITIES] = {{0}};
    assert_int_equal(slc_io_open(support_data("lhcb_hlt1/MiniBrunel_2018_MinBias_FTv4_DIGI_truth.mdf"), NULL,
                                 &source, &error),
                     SLC_OK);
    assert_int_equal(slc_io_read_batch(source, 100, (size_t)1 << 30, &ten, &faults, &error), SLC_OK);
    slc_io_close(source);
    slc_sim_hlt1_config config;
    slc_sim_hlt1_config_default(&config);
    generate(&config, 0, EVENTS, &made, NULL, NULL);
    measure_truth(&ten, q[0]);
    measure_truth(&made, q[1]);
    bool all = true;
    print_message("%-28s %10s %10s\n", "", "LHCb", "generated");
    for (size_t i = 0; i < QUANTITIES; i++) {
        const bool near = fabs(q[1][i] - q[0][i]) <= quantity[i].tolerance * q[0][i];
        print_message("%-28s %10.3f %10.3f%s\n", quantity[i].name, q[0][i], q[1][i], near ? "" : "  too far");
        all = all && near;
    }
    assert_true(all);
    slc_batch_clear(&ten);
    slc_batch_clear(&made);
}

/* ---- reproducibility -------------------------------------------------------------------------------- */

static void depends_on_seed_and_number(void **state)
{
    (void)state;
    slc_batch all = {0}, one = {0}, other = {0};
    slc_velo_truth truth = {0}, reread = {0};
    slc_velo_beyond beyond = {0}, reread_beyond = {0};
    slc_faults faults = {0};
    slc_sim_hlt1_config config;
    slc_sim_hlt1_config_default(&config);
    config.visible_vertices = 2;
    config.jpsi_fraction = 0.5f;
    generate(&config, 0, 4, &all, &truth, &beyond);
    generate(&config, 3, 1, &one, NULL, NULL);
    assert_int_equal(one.length[0], all.length[3]);
    assert_memory_equal(one.bytes, all.bytes + all.offset[3], one.length[0]);
    config.seed = 2;
    generate(&config, 3, 1, &other, NULL, NULL);
    assert_true(other.length[0] != one.length[0] || memcmp(other.bytes, one.bytes, one.length[0]) != 0);
    assert_int_equal(slc_hlt1_truth_read(&all, &reread, &reread_beyond, &faults, &error), SLC_OK);
    for (uint32_t e = 0; e < 4; e++) { /* columns are what the banks say */
        assert_true(slc_columns_checksum(&slc_velo_particle_ids_schema, &beyond.ut, e, 0) ==
                    slc_columns_checksum(&slc_velo_particle_ids_schema, &reread_beyond.ut, e, 0));
        assert_true(slc_columns_checksum(&slc_velo_particle_ids_schema, &beyond.scifi, e, 0) ==
                    slc_columns_checksum(&slc_velo_particle_ids_schema, &reread_beyond.scifi, e, 0));
        assert_true(slc_columns_checksum(&slc_velo_particle_lists_schema, &beyond.lists, e, 0) ==
                    slc_columns_checksum(&slc_velo_particle_lists_schema, &reread_beyond.lists, e, 0));
    }
    size_t muons = 0;
    for (size_t i = 0; i < truth.particles.head.size; i++) {
        muons += abs(truth.particles.pid[i]) == 13 && truth.particles.mother_pid[i] == 443;
    }
    assert_true(muons > 0);
    slc_velo_truth_clear(&truth);
    slc_velo_truth_clear(&reread);
    slc_velo_beyond_clear(&beyond);
    slc_velo_beyond_clear(&reread_beyond);
    slc_batch_clear(&all);
    slc_batch_clear(&one);
    slc_batch_clear(&other);
}

static void refuses(void **state)
{
    (void)state;
    slc_sim_hlt1_config config;
    slc_sim_hlt1 *sim = NULL;
    slc_sim_hlt1_config_default(&config);
    config.jpsi_fraction = 1.5f;
    assert_int_equal(slc_sim_hlt1_open(&config, geometry, &sim, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "jpsi_fraction is 1.5"));
    slc_sim_hlt1_config_default(&config);
    slc_hlt1_geometry less = *geometry;
    less.transport = NULL;
    assert_int_equal(slc_sim_hlt1_open(&config, &less, &sim, &error), SLC_ERR_USAGE);
    assert_non_null(strstr(error.text, "no transport"));
    less = *geometry;
    less.muon = NULL;
    assert_int_equal(slc_sim_hlt1_open(&config, &less, &sim, &error), SLC_ERR_USAGE);
    assert_null(sim);
}

int main(void)
{
    const int skip = support_skip_without("lhcb_hlt1/muon_tables.bin");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_like_the_ten_events),
        cmocka_unit_test(depends_on_seed_and_number),
        cmocka_unit_test(refuses),
    };
    return skip != 0 ? skip : cmocka_run_group_tests(tests, set_up, tear_down);
}
