/* SPDX-License-Identifier: Apache-2.0
 * Clusters of LHCb's FPGAs: the fields of every version, damage, and the ten events whose truth is in such
 * ids. */
#include "base/columns.h"
#include "velo/velo_cluster.h"
#include "velo/velo_decode_event.h"
#include "velo/velo_geometry.h"
#include "velo/velo_retina.h"
#include <sluice/io.h>
#include <sluice/lhcb.h>
#include <sluice/velo_check.h>

#include "support/fault_counts.h"
#include "support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uint8_t event[1 << 20];
static size_t event_size;
static slc_velo_geometry geometry;
static slc_velo_hits hits, fused;
static slc_faults faults, fused_faults;
static slc_velo_cluster_scratch scratch;

static int set_up(void **state)
{
    (void)state;
    slc_velo_geometry_ideal(&geometry);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_columns_clear(&slc_velo_hits_schema, &fused);
    slc_velo_cluster_clear(&scratch);
    return 0;
}

static void begin(void)
{
    event_size = 0;
}

static void add_bank(uint8_t version, int16_t source, const uint32_t *payload, size_t size)
{
    const size_t written = slc_lhcb_bank_write(event + event_size, sizeof event - event_size,
                                               SLC_LHCB_BANK_VP_RETINA, version, source, payload, size);
    assert_true(written > 0);
    event_size += written;
}

/* The chain's stage, in vectors, finds what decoding one by one has found, bit by bit, on every target. */
static void expect_same_of_the_chain(const slc_batch *batch)
{
    const slc_schema *schema = &slc_velo_hits_schema;
    const size_t bound = slc_velo_event_bound(batch, SLC_VELO_BANKS_RETINA, NULL, NULL, NULL);
    assert_int_equal(slc_columns_reserve(schema, &fused, slc_velo_cluster_bound(bound), batch->n_events),
                     SLC_OK);
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (!slc_simd_runs((slc_simd_target)t)) {
            continue;
        }
        slc_faults_reset(&fused_faults);
        assert_int_equal(slc_velo_cluster_reserve_banks(&scratch, (slc_simd_target)t), SLC_OK);
        assert_int_equal(slc_velo_cluster_run_chosen(&geometry, batch, SLC_VELO_BANKS_RETINA, NULL, &scratch,
                                                     &fused, NULL, &fused_faults),
                         SLC_OK);
        assert_int_equal(fused.head.size, hits.head.size);
        for (size_t c = 0; c < schema->n_columns && hits.head.size > 0; c++) {
            assert_memory_equal(slc_column_data(&fused, &schema->columns[c]),
                                slc_column_data(&hits, &schema->columns[c]),
                                hits.head.size * slc_type_size(schema->columns[c].type));
        }
        assert_memory_equal(fused.head.event_offset, hits.head.event_offset,
                            (batch->n_events + (size_t)1) * sizeof(uint32_t));
        assert_true(fault_counts_equal(&fused_faults, &faults));
        assert_int_equal(fused_faults.n_kept, faults.n_kept);
    }
}

/* Exactly the bound: a stage that asks for more than it says is wrong. */
static void decode(const slc_batch *batch)
{
    slc_faults_reset(&faults);
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    const size_t bound = slc_velo_retina_bound(batch, NULL);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &hits, bound, batch->n_events), SLC_OK);
    assert_int_equal(slc_velo_retina_run(&geometry, batch, &hits, &faults), SLC_OK);
    assert_true(slc_columns_check(&slc_velo_hits_schema, &hits, NULL));
    assert_int_equal(hits.head.n_events, batch->n_events);
    expect_same_of_the_chain(batch);
}

static void decode_event(void)
{
    slc_batch batch = {.first_event = 41};
    assert_int_equal(slc_batch_append(&batch, event, event_size, 0), SLC_OK);
    decode(&batch);
    slc_batch_clear(&batch);
}

static void expect_hit(size_t i, uint32_t sensor, uint32_t column, float fx, uint32_t row, float fy)
{
    float x, y, z;
    slc_velo_geometry_position(&geometry, sensor, column, fx, row, fy, &x, &y, &z);
    assert_true(i < hits.head.size);
    assert_true(hits.x_mm[i] == x && hits.y_mm[i] == y && hits.z_mm[i] == z);
    const uint32_t rounding = (fx > 0 ? 1U << 27 : 0) | (fy > 0 ? 1U << 26 : 0);
    assert_int_equal(hits.channel[i],
                     2U << 28 | rounding | sensor << 18 | column / 256 << 16 | column % 256 << 8 | row);
    assert_int_equal(hits.n_pixels[i], 0);
    assert_int_equal(hits.module[i], sensor / 4);
}

/* Every fraction, at the edges of the sensor and of its chips, in all versions. */
static void every_field(void **state)
{
    (void)state;
    const uint32_t columns[] = {0, 1, 255, 256, 511, 512, 767}, rows[] = {0, 1, 128, 255};
    for (uint32_t version = 2; version <= 4; version++) {
        const uint32_t bits = version == 2 ? 3 : 2, parts = 1U << bits;
        for (size_t k = 0; k < 28 * (size_t)parts * parts; k++) {
            const uint32_t column = columns[k % 7], row = rows[k / 7 % 4];
            const uint32_t fx = (uint32_t)(k / 28) % parts, fy = (uint32_t)(k / 28) / parts;
            const uint32_t fields = fy | row << bits | fx << (bits + 8) | column << (2 * bits + 8);
            const uint32_t flags = version == 2 ? 0xff000000U : 0xff800000U;
            const uint32_t counted[] = {2, fields, fields | flags},
                           paired[] = {fields | flags, fields | 1U << 22};
            begin();
            if (version == 4) {
                add_bank(4, 0x1e00 | 50, paired, sizeof paired);
            } else {
                add_bank((uint8_t)version, 100, counted, sizeof counted);
            }
            decode_event();
            assert_int_equal(slc_faults_total(&faults), 0);
            assert_int_equal(hits.head.size, 2);
            expect_hit(0, 100, column, (float)fx / (float)parts, row, (float)fy / (float)parts);
            expect_hit(1, version == 4 ? 101 : 100, column, (float)fx / (float)parts, row,
                       (float)fy / (float)parts);
        }
    }
}

static void order_of_the_bank_makes_no_difference(void **state)
{
    (void)state;
    const uint32_t high[] = {2, 500U << 12, 3U << 12}, low[] = {1, 7U << 12 | 9U << 2};
    begin();
    add_bank(3, 207, high, sizeof high);
    add_bank(3, 0, low, sizeof low);
    decode_event();
    assert_int_equal(hits.head.size, 3);
    expect_hit(0, 0, 7, 0, 9, 0);
    expect_hit(1, 207, 3, 0, 0, 0);
    expect_hit(2, 207, 500, 0, 0, 0);
}

static void expect_one_fault(slc_fault_code code, int32_t module, uint64_t offset, size_t n_hits)
{
    decode_event();
    assert_int_equal(slc_faults_total(&faults), 1);
    assert_int_equal(faults.kept[0].code, code);
    assert_int_equal(faults.kept[0].event, 41);
    assert_int_equal(faults.kept[0].module, module);
    assert_int_equal(faults.kept[0].offset, offset);
    assert_int_equal(hits.head.size, n_hits);
}

static void damage_costs_the_smallest_unit(void **state)
{
    (void)state;
    const uint32_t sound[] = {1, 5U << 12}, outside[] = {3, 5U << 12, 768U << 12, 767U << 12};
    const struct {
        uint8_t version;
        int16_t source;
        size_t size;
        slc_fault_code code;
    } cases[] = {{3, 208, 8, SLC_FAULT_BANK_SOURCE}, {2, -1, 8, SLC_FAULT_BANK_SOURCE},
                 {4, 104, 8, SLC_FAULT_BANK_SOURCE}, {3, 9, 7, SLC_FAULT_BANK_LENGTH},
                 {3, 9, 4, SLC_FAULT_BANK_LENGTH},   {3, 9, 0, SLC_FAULT_BANK_LENGTH},
                 {4, 9, 6, SLC_FAULT_BANK_LENGTH},   {1, 9, 8, SLC_FAULT_BANK_VERSION},
                 {5, 9, 8, SLC_FAULT_BANK_VERSION},  {3, 50, 8, SLC_FAULT_BANK_DUPLICATE}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        add_bank(3, 50, sound, sizeof sound);
        add_bank(cases[i].version, cases[i].source, sound, cases[i].size);
        add_bank(3, 60, sound, sizeof sound);
        expect_one_fault(cases[i].code, cases[i].source, 16, 2);
    }
    begin();
    add_bank(3, 50, outside, sizeof outside);
    expect_one_fault(SLC_FAULT_SUPERPIXEL_ADDRESS, 50, 8 + 8, 2);
    begin();
    event_size = slc_lhcb_bank_write(event, sizeof event, SLC_LHCB_BANK_VP, 2, 50, sound, sizeof sound);
    expect_one_fault(SLC_FAULT_EVENT_NO_VP, -1, 0, 0);
}

/* Random bytes of a bank, in every other round inside the sensor, and bits of it turned over: nothing is
 * written past the bound, and what is kept lies inside the detector. */
static void survives_anything(void **state)
{
    (void)state;
    static uint32_t payload[300];
    uint64_t random = 5;
    for (int round = 0; round < 3000; round++) {
        begin();
        for (uint32_t k = 0; k < 8; k++) {
            const uint32_t n = random_below(&random, round % 4 == 1 ? 40 : 299);
            for (uint32_t i = 0; i < n; i++) {
                payload[1 + i] = (uint32_t)random_u64(&random) & (round % 2 == 0 ? UINT32_MAX : ~(3U << 20));
            }
            payload[0] = n;
            add_bank((uint8_t)(2 + random_below(&random, 3)), (int16_t)random_below(&random, 110), payload,
                     4 + 4 * (size_t)n);
        }
        for (uint32_t k = random_below(&random, 8); k > 0; k--) {
            event[random_below(&random, (uint32_t)event_size)] ^= (uint8_t)(1U << random_below(&random, 8));
        }
        decode_event();
        for (size_t i = 0; i < hits.head.size; i++) {
            assert_true(hits.module[i] < SLC_VELO_MODULES);
            assert_true((hits.channel[i] >> 16 & 3) < 3);
            assert_true(i == 0 || hits.module[i - 1] <= hits.module[i]);
        }
    }
}

static void says_when_there_is_no_room(void **state)
{
    (void)state;
    const uint32_t payload[] = {2, 5U << 12, 6U << 12};
    slc_velo_hits small = {0};
    slc_batch batch = {0};
    begin();
    add_bank(3, 1, payload, sizeof payload);
    assert_int_equal(slc_batch_append(&batch, event, event_size, 0), SLC_OK);
    assert_int_equal(slc_velo_retina_run(&geometry, &batch, &small, &faults), SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &small, 1, 1), SLC_OK);
    assert_int_equal(slc_velo_retina_run(&geometry, &batch, &small, &faults), SLC_ERR_CAPACITY);
    slc_columns_clear(&slc_velo_hits_schema, &small);
    slc_batch_clear(&batch);
}

static const char *data_path(void)
{
    static char path[4096];
    const char *folder = getenv("SLUICE_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/lhcb/MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf",
                   folder != NULL ? folder : "../shared/data");
    return path;
}

static int compare(const void *a, const void *b)
{
    uint32_t left, right;
    memcpy(&left, a, sizeof left);
    memcpy(&right, b, sizeof right);
    return (left > right) - (left < right);
}

/* The channel ids of the truth, without repetition, are those of the clusters. */
static void ids_of_the_truth(void **state)
{
    (void)state;
    slc_io_source *source;
    slc_error error = {0};
    slc_batch batch = {0};
    slc_velo_truth truth = {.particles = {.key = NULL}};
    assert_int_equal(slc_io_open(data_path(), NULL, &source, &error), SLC_OK);
    assert_int_equal(slc_io_read_batch(source, 100, (size_t)1 << 30, &batch, &faults, &error), SLC_OK);
    decode(&batch);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_int_equal(hits.head.size, 20652);
    assert_int_equal(slc_velo_truth_read(&batch, &truth, &faults, &error), SLC_OK);
    static uint32_t wanted[65536], found[65536];
    for (uint32_t e = 0; e < batch.n_events; e++) {
        const size_t first = hits.head.event_offset[e], n = hits.head.event_offset[e + 1] - first;
        const size_t begin_id = truth.ids.head.event_offset[e];
        const size_t n_ids = truth.ids.head.event_offset[e + 1] - begin_id;
        assert_true(n < 65536 && n_ids < 65536 && n > 0);
        for (size_t i = 0; i < n_ids; i++) {
            wanted[i] = truth.ids.id[begin_id + i] & 0x0fffffffU;
        }
        for (size_t i = 0; i < n; i++) {
            found[i] = hits.channel[first + i] & 0x0fffffffU;
        }
        qsort(wanted, n_ids, sizeof *wanted, compare);
        qsort(found, n, sizeof *found, compare);
        size_t distinct = 0;
        for (size_t i = 0; i < n_ids; i++) {
            if (distinct == 0 || wanted[i] != wanted[distinct - 1]) {
                wanted[distinct++] = wanted[i];
            }
        }
        assert_int_equal(distinct, n);
        assert_memory_equal(found, wanted, n * sizeof *found);
    }
    slc_velo_truth_clear(&truth);
    slc_io_close(source);
    slc_batch_clear(&batch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_field),
        cmocka_unit_test(order_of_the_bank_makes_no_difference),
        cmocka_unit_test(damage_costs_the_smallest_unit),
        cmocka_unit_test(survives_anything),
        cmocka_unit_test(says_when_there_is_no_room),
    };
    const struct CMUnitTest on_data[] = {cmocka_unit_test(ids_of_the_truth)};
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    if (failed == 0 && access(data_path(), R_OK) != 0) {
        (void)printf("SKIP: no %s\n", data_path());
        return 77;
    }
    return failed != 0 ? failed : cmocka_run_group_tests(on_data, set_up, tear_down);
}
