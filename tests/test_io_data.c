/* SPDX-License-Identifier: Apache-2.0
 * The reference files: MDF plain and compressed, truth, JSON events out of their archives, and round trips.
 */
#include "base/bytes.h"
#include "base/columns.h"
#include "io/io_source.h"
#include "support/cmocka_all.h"
#include "support/support.h"
#include "velo/velo_truth.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS = 10 };
static const char plain_name[] = "lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI.mdf";
static const char retina_name[] = "lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf";
static const char packed_name[] = "lhcb/upgrade_mc_minbias_scifi_v5.mdf";
static const char mep_name[] = "lhcb/upgrade_mc_minbias_scifi_v5_pf10_retinacluster.mep";

static slc_batch read_all(const char *path, slc_io_totals *totals)
{
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    slc_faults faults = {0};
    slc_error error = {0};
    assert_int_equal(slc_io_open(path, NULL, &source, &error), SLC_OK);
    assert_int_equal(slc_io_read_batch(source, 100, SIZE_MAX, &batch, &faults, &error), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_null(slc_io_damage(source));
    slc_io_totals_of(source, totals);
    slc_io_close(source);
    return batch;
}

static void records_are_read(void **state)
{
    (void)state;
    static const char *const names[] = {plain_name, retina_name, packed_name};
    for (size_t i = 0; i < 3; i++) {
        slc_io_totals totals;
        support_bytes file = support_read(support_data(names[i]));
        slc_batch batch = read_all(support_data(names[i]), &totals);
        assert_int_equal(batch.n_events, EVENTS);
        assert_int_equal(totals.events, EVENTS);
        assert_int_equal(totals.lost_events, 0);
        assert_int_equal(totals.checksums, EVENTS);
        assert_int_equal(totals.compressed, i == 2 ? EVENTS : 0);
        assert_int_equal(totals.bytes, file.size);
        support_clear(&file);
        slc_batch_clear(&batch);
    }
}

/* All VP banks of an event as one number that does not depend on the order of their words. */
static int by_value(const void *a, const void *b)
{
    return memcmp(a, b, 4);
}

static uint64_t vp_hash(const slc_batch *batch, uint32_t e, uint64_t *n_banks)
{
    uint64_t sum = 0;
    slc_lhcb_bank_cursor cursor = {.bytes = batch->bytes + batch->offset[e], .size = batch->length[e]};
    slc_lhcb_bank bank;
    while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
        if (bank.type == SLC_LHCB_BANK_VP) {
            uint8_t *words = malloc(bank.size);
            assert_non_null(words);
            memcpy(words, bank.payload, bank.size);
            qsort(words + 4, bank.size / 4 - 1, 4, by_value);
            sum = sum * 31 + support_hash(words, bank.size) + (uint64_t)bank.source;
            ++*n_banks;
            free(words);
        }
    }
    return sum;
}

static void all_files_have_the_same_super_pixels(void **state)
{
    (void)state;
    slc_io_totals totals;
    slc_batch plain = read_all(support_data(plain_name), &totals);
    slc_batch retina = read_all(support_data(retina_name), &totals);
    slc_batch packed = read_all(support_data(packed_name), &totals);
    uint64_t n[3] = {0};
    for (uint32_t e = 0; e < EVENTS; e++) {
        const uint64_t expected = vp_hash(&plain, e, &n[0]);
        assert_int_equal(vp_hash(&retina, e, &n[1]), expected);
        assert_int_equal(vp_hash(&packed, e, &n[2]), expected);
    }
    assert_int_equal(n[0], EVENTS * SLC_VELO_SENSORS);
    assert_int_equal(n[2], n[0]);
    slc_batch_clear(&plain);
    slc_batch_clear(&retina);
    slc_batch_clear(&packed);
}

static void write_and_read_back(const slc_batch *batch, bool compress)
{
    char path[96];
    (void)snprintf(path, sizeof path, "%s", support_temporary("", 0));
    const slc_io_mdf_config config = {.compress = compress, .run_number = 6718861};
    slc_io_writer *writer = NULL;
    slc_io_totals totals;
    assert_int_equal(slc_io_mdf_create(path, &config, &writer, NULL), SLC_OK);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        assert_int_equal(slc_io_mdf_write(writer, batch->bytes + batch->offset[e], batch->length[e], NULL),
                         SLC_OK);
    }
    assert_int_equal(slc_io_finish(writer, NULL), SLC_OK);
    slc_batch again = read_all(path, &totals);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(again.n_events, batch->n_events);
    assert_int_equal(totals.compressed, compress ? EVENTS : 0);
    assert_int_equal(totals.checksums, EVENTS);
    for (uint32_t e = 0; e < batch->n_events; e++) {
        assert_int_equal(again.length[e], batch->length[e]);
        assert_memory_equal(again.bytes + again.offset[e], batch->bytes + batch->offset[e], batch->length[e]);
    }
    slc_batch_clear(&again);
}

static void round_trips(void **state)
{
    (void)state;
    slc_io_totals totals;
    slc_batch batch = read_all(support_data(plain_name), &totals);
    write_and_read_back(&batch, false);
    write_and_read_back(&batch, true);
    slc_batch_clear(&batch);
}

static void check_truth(const slc_velo_truth *truth, size_t particles, size_t has_velo, size_t ids)
{
    size_t n_velo = 0, n_visible = 0;
    for (size_t p = 0; p < truth->particles.head.size; p++) {
        n_velo += (truth->particles.flags[p] & SLC_VELO_HAS_VELO) != 0;
        assert_true(isfinite(truth->particles.origin_z_mm[p]));
    }
    for (size_t v = 0; v < truth->vertices.head.size; v++) {
        n_visible += truth->vertices.n_tracks[v] >= 4;
    }
    assert_int_equal(truth->particles.head.size, particles);
    assert_int_equal(n_velo, has_velo);
    assert_int_equal(truth->ids.head.size, ids);
    assert_int_equal(truth->vertices.head.size, 76);
    assert_int_equal(n_visible, 59);
    /* The ids are of the VELO: detector bits 8 in the older file, 2 in the newer. */
    for (size_t i = 0; i < truth->ids.head.size; i++) {
        assert_true(truth->ids.id[i] >> 28 == 8 || truth->ids.id[i] >> 28 == 2);
        assert_true((truth->ids.id[i] >> 18 & 0xff) < SLC_VELO_SENSORS);
    }
}

static void truth_has_the_known_numbers(void **state)
{
    (void)state;
    slc_io_totals totals;
    slc_velo_truth truth = {0};
    slc_faults faults = {0};
    slc_batch plain = read_all(support_data(plain_name), &totals);
    assert_int_equal(slc_velo_truth_read(&plain, &truth, &faults, NULL), SLC_OK);
    check_truth(&truth, 10446, 2877, 20474);
    slc_batch retina = read_all(support_data(retina_name), &totals);
    assert_int_equal(slc_velo_truth_read(&retina, &truth, &faults, NULL), SLC_OK);
    check_truth(&truth, 10437, 2877, 21025);
    slc_batch packed = read_all(support_data(packed_name), &totals);
    assert_int_equal(slc_velo_truth_read(&packed, &truth, &faults, NULL), SLC_OK);
    assert_int_equal(truth.particles.head.n_events, EVENTS);
    assert_int_equal(slc_faults_total(&faults), 0);
    slc_velo_truth_clear(&truth);
    slc_batch_clear(&plain);
    slc_batch_clear(&retina);
    slc_batch_clear(&packed);
}

static void truth_round_trip(void **state)
{
    (void)state;
    slc_io_totals totals;
    slc_velo_truth truth = {0}, again = {0};
    slc_faults faults = {0};
    slc_batch batch = read_all(support_data(retina_name), &totals), rewritten = {0};
    assert_int_equal(slc_velo_truth_read(&batch, &truth, &faults, NULL), SLC_OK);
    for (uint32_t e = 0; e < EVENTS; e++) {
        const size_t bound = slc_velo_truth_bound(&truth, NULL, e);
        uint8_t *banks = malloc(bound);
        assert_non_null(banks);
        const size_t n = slc_velo_truth_write(&truth, NULL, e, banks, bound);
        assert_int_equal(n, bound);
        assert_int_equal(slc_batch_append(&rewritten, banks, n, 0), SLC_OK);
        free(banks);
    }
    assert_int_equal(slc_velo_truth_read(&rewritten, &again, &faults, NULL), SLC_OK);
    assert_int_equal(slc_faults_total(&faults), 0);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_int_equal(
            slc_columns_checksum(&slc_velo_particles_schema, &truth.particles, e, SLC_CHECKSUM_START),
            slc_columns_checksum(&slc_velo_particles_schema, &again.particles, e, SLC_CHECKSUM_START));
        assert_int_equal(
            slc_columns_checksum(&slc_velo_particle_ids_schema, &truth.ids, e, SLC_CHECKSUM_START),
            slc_columns_checksum(&slc_velo_particle_ids_schema, &again.ids, e, SLC_CHECKSUM_START));
        assert_int_equal(
            slc_columns_checksum(&slc_velo_vertices_schema, &truth.vertices, e, SLC_CHECKSUM_START),
            slc_columns_checksum(&slc_velo_vertices_schema, &again.vertices, e, SLC_CHECKSUM_START));
    }
    slc_batch_clear(&batch);
    slc_batch_clear(&rewritten);
    slc_velo_truth_clear(&truth);
    slc_velo_truth_clear(&again);
}

/* The packet has the same ten events as the file beside it: their banks of the VELO, and who they are. */
static void mep_is_read(void **state)
{
    (void)state;
    slc_io_source *source = NULL;
    slc_batch batch = {0};
    assert_int_equal(slc_io_open(support_data(mep_name), NULL, &source, NULL), SLC_OK);
    assert_string_equal(slc_io_format(source), "mep");
    assert_int_equal(slc_io_read_batch(source, 64, SIZE_MAX, &batch, NULL, NULL), SLC_OK);
    assert_int_equal(batch.n_events, 10);
    assert_true(batch.scattered);
    for (uint32_t e = 0; e < batch.n_events; e++) {
        slc_lhcb_bank_cursor cursor = SLC_LHCB_BANKS_OF(&batch, e);
        slc_lhcb_bank bank;
        uint32_t pixels = 0, clusters = 0;
        while (slc_lhcb_bank_next(&cursor, &bank, NULL) == SLC_OK) {
            pixels += bank.type == SLC_LHCB_BANK_VP && bank.version == 2;
            clusters += bank.type == SLC_LHCB_BANK_VP_RETINA && bank.version == 2;
            if (bank.type == SLC_LHCB_BANK_ODIN) {
                assert_int_equal(slc_load_u32(bank.payload + 16), 6001 + e);
            }
        }
        assert_int_equal(pixels, 208);
        assert_int_equal(clusters, 208);
    }
    assert_null(slc_io_damage(source));
    slc_batch_clear(&batch);
    slc_io_close(source);
}

static void geometry_is_read(void **state)
{
    (void)state;
    slc_velo_geometry geometry;
    slc_error error = {0};
    assert_int_equal(slc_io_read_velo_geometry(support_data("lhcb/velo_geometry.bin"), &geometry, &error),
                     SLC_OK);
    assert_float_equal(geometry.module_z_mm[0], -287.5, 1e-4);
    assert_float_equal(geometry.module_z_mm[51], 750.0, 1e-4);
    assert_int_equal(slc_io_read_velo_geometry(support_data(plain_name), &geometry, &error), SLC_ERR_FORMAT);
}

/* All events of an archive, one after another as tar writes them. */
static support_bytes unpacked(const char *archive)
{
    char command[4200], part[65536];
    support_bytes all = {0};
    (void)snprintf(command, sizeof command, "tar -xJOf '%s'", support_data(archive));
    FILE *tar = popen(command, "r");
    assert_non_null(tar);
    for (size_t n; (n = fread(part, 1, sizeof part, tar)) > 0;) {
        support_append(&all, part, n);
    }
    assert_int_equal(pclose(tar), 0);
    return all;
}

static void json_archive(const char *archive, uint64_t events, bool has_flags)
{
    support_bytes stream = unpacked(archive);
    slc_io_source *source = NULL;
    slc_velo_hits hits = {0};
    slc_velo_truth truth = {0};
    slc_faults faults = {0};
    slc_error error = {0};
    const char *why = "";
    assert_int_equal(slc_io_open_memory(stream.at, stream.size, archive, NULL, &source, &error), SLC_OK);
    assert_int_equal(slc_io_read_velo_hits(source, 1000, &hits, &truth, NULL, &faults, &error), SLC_OK);
    assert_null(slc_io_damage(source));
    assert_int_equal(hits.head.n_events, events);
    assert_int_equal(truth.particles.head.n_events, events);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_true(slc_columns_check(&slc_velo_hits_schema, &hits, &why));
    assert_true(slc_columns_check(&slc_velo_particles_schema, &truth.particles, &why));
    assert_true(slc_columns_check(&slc_velo_particle_ids_schema, &truth.ids, &why));
    assert_true(hits.head.size > 100 * events && truth.particles.head.size > 10 * events);
    size_t n_velo = 0;
    for (size_t p = 0; p < truth.particles.head.size; p++) {
        n_velo += (truth.particles.flags[p] & SLC_VELO_HAS_VELO) != 0;
        assert_true(isnan(truth.particles.p_mev[p]) == !has_flags);
    }
    assert_true(has_flags ? n_velo > 5 * events : n_velo == 0);
    for (size_t i = 1; i < hits.head.event_offset[1]; i++) {
        assert_true(hits.module[i - 1] <= hits.module[i]);
    }
    slc_io_close(source);
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_velo_truth_clear(&truth);
    support_clear(&stream);
}

static void json_archives(void **state)
{
    (void)state;
    json_archive("velo_json/upgrade1.tar.xz", 10, true);
    json_archive("velo_json/upgrade2.tar.xz", 10, false);
    json_archive("velo_json/bsphiphi.tar.xz", 150, true);
}

int main(void)
{
    if (support_skip_without(plain_name) != 0 || support_skip_without("velo_json/upgrade2.tar.xz") != 0) {
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records_are_read), cmocka_unit_test(all_files_have_the_same_super_pixels),
        cmocka_unit_test(round_trips),      cmocka_unit_test(truth_has_the_known_numbers),
        cmocka_unit_test(truth_round_trip), cmocka_unit_test(mep_is_read),
        cmocka_unit_test(geometry_is_read), cmocka_unit_test(json_archives),
    };
    return cmocka_run_group_tests_name("io_data", tests, NULL, NULL);
}
