/* SPDX-License-Identifier: Apache-2.0
 * Banks to hits in one stage: the same hits, bit by bit and in the same order, and the same faults as
 * decoding and clustering one after the other, on every target, for sound and for damaged events; and, on
 * LHCb's ten events, the reference's numbers. */
#include "base/columns.h"
#include "velo/velo_cluster.h"
#include "velo/velo_decode.h"
#include "velo/velo_geometry.h"
#include <sluice/io.h>
#include <sluice/lhcb.h>
#include <sluice/velo_chain.h>

#include "oracle/velo_cluster_oracle.h"
#include "support/fault_counts.h"
#include "support/guard_page.h"
#include "support/random.h"
#include "support/velo_banks.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BATCH = 3 };

static slc_velo_geometry geometry;
static slc_velo_superpixels superpixels;
static slc_velo_hits expected, found;
static slc_velo_cluster_scratch scratch;
static uint8_t events[BATCH * SUPPORT_VELO_EVENT + 64];
static guard_page guard;

/* The share of a full run: SLUICE_TEST_PERCENT, and less where a sanitizer slows everything down. */
static uint64_t test_count(uint64_t n)
{
    const char *percent = getenv("SLUICE_TEST_PERCENT");
    uint64_t part = percent == NULL ? 100 : strtoul(percent, NULL, 10);
#if defined(__SANITIZE_ADDRESS__)
    part = percent == NULL ? 3 : part;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
    part = percent == NULL ? 3 : part;
#endif
#endif
    return n * part / 100 > 0 ? n * part / 100 : 1;
}

static int set_up(void **state)
{
    (void)state;
    slc_velo_geometry_ideal(&geometry);
    /* Rotated, so that a product of a wrong element is seen. */
    uint64_t random = 3;
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        for (uint32_t k = 0; k < 12; k++) {
            geometry.to_global[s][k] += slc_random_between(&random, -0.01f, 0.01f);
        }
    }
    guard = guard_page_open(sizeof events);
    return guard.mapping == NULL || slc_velo_cluster_reserve(&scratch) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_superpixels_schema, &superpixels);
    slc_columns_clear(&slc_velo_hits_schema, &expected);
    slc_columns_clear(&slc_velo_hits_schema, &found);
    slc_velo_cluster_clear(&scratch);
    guard_page_close(&guard);
    return 0;
}

static void expect_same_hits(void)
{
    assert_int_equal(found.head.size, expected.head.size);
    assert_int_equal(found.head.n_events, expected.head.n_events);
    const size_t n = expected.head.size;
    assert_memory_equal(found.head.event_offset, expected.head.event_offset,
                        (expected.head.n_events + (size_t)1) * sizeof(uint32_t));
    const slc_schema *schema = &slc_velo_hits_schema;
    for (size_t c = 0; c < schema->n_columns && n > 0; c++) {
        const void *a, *b;
        memcpy(&a, (const char *)&found + schema->columns[c].member, sizeof a);
        memcpy(&b, (const char *)&expected + schema->columns[c].member, sizeof b);
        if (memcmp(a, b, n * slc_type_size(schema->columns[c].type)) != 0) {
            fail_msg("column %s differs", schema->columns[c].name);
        }
    }
}

static void expect_same_faults(const slc_faults *a, const slc_faults *b)
{
    assert_true(fault_counts_equal(a, b));
    assert_int_equal(a->n_kept, b->n_kept);
    for (uint32_t i = 0; i < a->n_kept; i++) {
        assert_int_equal(a->kept[i].code, b->kept[i].code);
        assert_int_equal(a->kept[i].event, b->kept[i].event);
        assert_int_equal(a->kept[i].offset, b->kept[i].offset);
        assert_int_equal(a->kept[i].module, b->kept[i].module);
    }
}

/* Room for the hits of so many super-pixels and no more, where `exact`. */
static void make_room(const slc_batch *batch, bool exact)
{
    const size_t bound = slc_velo_decode_bound(batch, NULL), hits = slc_velo_cluster_bound(bound);
    if (exact) {
        slc_columns_clear(&slc_velo_superpixels_schema, &superpixels);
        slc_columns_clear(&slc_velo_hits_schema, &found);
    }
    assert_int_equal(slc_columns_reserve(&slc_velo_superpixels_schema, &superpixels, bound, batch->n_events),
                     SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &expected, hits, batch->n_events), SLC_OK);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &found, hits, batch->n_events), SLC_OK);
}

/* Both ways, on every target. */
static void expect_two_stages(const slc_batch *batch, bool exact)
{
    static slc_faults wanted_faults, found_faults;
    uint64_t pixels = 0, isolated = 0;
    make_room(batch, exact);
    slc_faults_reset(&wanted_faults);
    assert_int_equal(slc_velo_decode_run(batch, &superpixels, &wanted_faults), SLC_OK);
    assert_int_equal(slc_velo_cluster_run(&geometry, &superpixels, batch->first_event, &scratch, &expected,
                                          &pixels, &wanted_faults),
                     SLC_OK);
    for (size_t i = 0; i < superpixels.head.size; i++) {
        isolated += superpixels.word[i] >> 31;
    }
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (!slc_simd_runs((slc_simd_target)t)) {
            continue;
        }
        slc_velo_cluster_counts counts = {0};
        slc_faults_reset(&found_faults);
        assert_int_equal(slc_velo_cluster_reserve_banks(&scratch, (slc_simd_target)t), SLC_OK);
        assert_int_equal(
            slc_velo_cluster_run_banks(&geometry, batch, &scratch, &found, &counts, &found_faults), SLC_OK);
        expect_same_hits();
        expect_same_faults(&found_faults, &wanted_faults);
        assert_int_equal(counts.superpixels, superpixels.head.size);
        assert_int_equal(counts.isolated, isolated);
        assert_int_equal(counts.pixels, pixels);
    }
}

/* A cluster's numbers, made comparable. */
static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint32_t));
}

/* The hits that are there against flood fill of the super-pixels, sensor by sensor. */
static void expect_flood_fill(void)
{
    static oracle_cluster clusters[768 * 256];
    static uint32_t wanted[768 * 256][2], seen[768 * 256][2];
    size_t hit = 0;
    for (uint32_t e = 0; e < superpixels.head.n_events; e++) {
        const size_t end = superpixels.head.event_offset[e + 1];
        for (size_t i = superpixels.head.event_offset[e], next; i < end; i = next) {
            for (next = i + 1; next < end && superpixels.sensor[next] == superpixels.sensor[i];) {
                next++;
            }
            const size_t n = oracle_velo_cluster(superpixels.word + i, next - i, clusters);
            assert_true(hit + n <= found.head.size);
            for (size_t k = 0; k < n; k++) {
                const uint32_t column = clusters[k].sum_column / clusters[k].n;
                const uint32_t row = clusters[k].sum_row / clusters[k].n;
                wanted[k][0] = 2U << 28 | (uint32_t)superpixels.sensor[i] << 18 | column << 8 | row;
                wanted[k][1] = clusters[k].n;
                seen[k][0] = found.channel[hit + k];
                seen[k][1] = found.n_pixels[hit + k];
            }
            qsort(wanted, n, sizeof *wanted, compare);
            qsort(seen, n, sizeof *seen, compare);
            assert_memory_equal(seen, wanted, n * sizeof *seen);
            hit += n;
        }
    }
    assert_int_equal(hit, found.head.size);
}

/* A batch of random events whose bytes end at memory that may not be touched. `shift` bytes off any
 * alignment. */
static slc_batch random_batch(uint64_t *random, unsigned damage, uint32_t shift, uint64_t *n_sensors)
{
    static size_t offset[BATCH], length[BATCH];
    slc_batch batch = {.n_events = BATCH, .offset = offset, .length = length};
    for (uint32_t e = 0; e < BATCH; e++) {
        const uint8_t version = (uint8_t)(2 + random_below(random, 3));
        const uint32_t sensors = random_below(random, 16) == 0 ? SLC_VELO_SENSORS : random_below(random, 40);
        offset[e] = batch.size;
        length[e] = support_velo_event(random, version, sensors, damage, events + batch.size, n_sensors);
        batch.size += (length[e] + (e + 1 < BATCH ? 7 : 0)) & ~(size_t)(e + 1 < BATCH ? 7 : 0);
    }
    /* The last word in front of the guard, or a few bytes away. */
    batch.bytes = guard_page_copy(&guard, events, batch.size + shift);
    batch.first_event = random_u64(random) >> 40;
    return batch;
}

/* So many sensors with that damage: all of it or none where damage is SUPPORT_VELO_DAMAGE. */
static void expect_random(uint64_t seed, unsigned only, uint64_t sensors)
{
    uint64_t random = seed, n = 0;
    for (uint64_t round = 0; n < sensors; round++) {
        const unsigned any = random_below(&random, SUPPORT_VELO_DAMAGE);
        const unsigned damage = only < SUPPORT_VELO_DAMAGE ? only
                                                           : any & random_below(&random, SUPPORT_VELO_DAMAGE);
        const slc_batch batch = random_batch(&random, damage, round % 5 == 4 ? 1 + (uint32_t)(round % 3) : 0,
                                             &n);
        expect_two_stages(&batch, round % 16 == 0);
        if (round % 500 == 0) {
            expect_flood_fill();
        }
    }
}

static void sound_sensors(void **state)
{
    (void)state;
    expect_random(11, 0, test_count(300000));
}

static void shuffled_sensors(void **state)
{
    (void)state;
    expect_random(12, SUPPORT_VELO_SHUFFLED, test_count(200000));
}

static void false_hints(void **state)
{
    (void)state;
    expect_random(13, SUPPORT_VELO_FALSE_HINTS, test_count(100000));
}

/* Each kind of damage alone, and any of them together. */
static void damaged_sensors(void **state)
{
    (void)state;
    for (unsigned damage = SUPPORT_VELO_REPEATED; damage < SUPPORT_VELO_DAMAGE; damage *= 2) {
        expect_random(20 + damage, damage, test_count(20000));
        expect_random(21 + damage, damage | SUPPORT_VELO_SHUFFLED, test_count(20000));
    }
    expect_random(31, SUPPORT_VELO_DAMAGE, test_count(200000));
}

/* One sensor whose every super-pixel is hit, as far as a bank can say: clusters whose sums are no exact
 * floats. */
static void full_banks(void **state)
{
    (void)state;
    static uint32_t payload[16381];
    const uint32_t patterns[] = {0xff, 0x0f, 0x99, 0x09, 0xf9};
    for (size_t k = 0; k < sizeof patterns / sizeof *patterns; k++) {
        slc_batch batch = {0};
        payload[0] = 16380;
        for (uint32_t i = 0; i < payload[0]; i++) {
            payload[1 + i] = i << 8 | patterns[k];
        }
        const size_t size = slc_lhcb_bank_write(events, sizeof events, SLC_LHCB_BANK_VP, 2, 207, payload,
                                                sizeof payload);
        assert_true(size > 0);
        assert_int_equal(slc_batch_append(&batch, events, size, 0), SLC_OK);
        expect_two_stages(&batch, true);
        expect_flood_fill();
        slc_batch_clear(&batch);
    }
}

/* One cluster of any size at any place, up to where its sums are no exact floats any more. */
static void large_clusters(void **state)
{
    (void)state;
    static uint32_t payload[16381];
    uint64_t random = 23;
    for (uint64_t round = 0; round < test_count(200); round++) {
        slc_batch batch = {0};
        const uint32_t n = 1 + random_below(&random, round % 2 == 0 ? 16380 : 300);
        const uint32_t first = random_below(&random, 384 * 64 - n + 1);
        payload[0] = n;
        for (uint32_t i = 0; i < n; i++) {
            payload[1 + i] = (first + i) << 8 | (random_below(&random, 4) == 0 ? 0x7f : 0xff);
        }
        const size_t size = slc_lhcb_bank_write(events, sizeof events, SLC_LHCB_BANK_VP, 2, 9, payload,
                                                4 + 4 * (size_t)n);
        assert_true(size > 0);
        assert_int_equal(slc_batch_append(&batch, events, size, 0), SLC_OK);
        expect_two_stages(&batch, true);
        slc_batch_clear(&batch);
    }
}

/* Large clusters over rows 0 to 254, whose mean is 127 but for one missing pixel of row 128: the centroid
 * lies 1 / n below row 127, which floats cannot tell from it. */
static void just_below_a_pixel(void **state)
{
    (void)state;
    static uint32_t payload[16381];
    for (uint32_t width = 1; width < 255; width += 11) {
        slc_batch batch = {0};
        payload[0] = 64 * width;
        for (uint32_t i = 0; i < payload[0]; i++) {
            payload[1 + i] = i << 8 | (i % 64 == 63 ? 0x77 : 0xff);
        }
        payload[1 + 32] &= ~UINT32_C(1);
        const size_t size = slc_lhcb_bank_write(events, sizeof events, SLC_LHCB_BANK_VP, 3, 9, payload,
                                                4 + 4 * (size_t)payload[0]);
        assert_true(size > 0);
        assert_int_equal(slc_batch_append(&batch, events, size, 0), SLC_OK);
        expect_two_stages(&batch, true);
        assert_int_equal(found.head.size, 1);
        assert_int_equal(found.channel[0] & 0xff, 126);
        slc_batch_clear(&batch);
    }
}

/* Every pair of patterns at every place around a super-pixel. */
static void every_pair_of_patterns(void **state)
{
    (void)state;
    const int step[8][2] = {{0, 1}, {1, 1}, {1, 0}, {1, -1}, {0, 2}, {2, 0}, {1, 2}, {1, -2}};
    static uint32_t payload[1 + 2 * 208];
    for (int d = 0; d < 8; d++) {
        for (uint32_t first = 1; first < 256; first++) {
            slc_batch batch = {0};
            size_t size = 0;
            for (uint32_t s = 0; s < 85; s++) {
                payload[0] = 6;
                for (uint32_t k = 0; k < 3; k++) {
                    const uint32_t column = 4 * k, row = 20 + 10 * k;
                    const uint32_t second = 1 + 3 * s + k;
                    payload[1 + 2 * k] = column << 14 | row << 8 | first;
                    payload[2 + 2 * k] = (column + (uint32_t)step[d][0]) << 14 |
                                         (uint32_t)((int)row + step[d][1]) << 8 | second;
                }
                size += slc_lhcb_bank_write(events + size, sizeof events - size, SLC_LHCB_BANK_VP, 3,
                                            (int16_t)s, payload, 28);
            }
            assert_int_equal(slc_batch_append(&batch, events, size, 0), SLC_OK);
            expect_two_stages(&batch, false);
            slc_batch_clear(&batch);
        }
    }
}

/* The chain gives the same result whether it keeps the super-pixels or not. */
static void same_chain(void **state)
{
    (void)state;
    uint64_t random = 17, n = 0;
    slc_velo_result results[2] = {{.n_pixels = 0}, {.n_pixels = 0}};
    for (unsigned damage = 0; damage < SUPPORT_VELO_DAMAGE; damage = 2 * damage + 1) {
        const slc_batch batch = random_batch(&random, damage, 0, &n);
        for (size_t k = 0; k < 2; k++) {
            slc_velo_chain *chain;
            slc_velo_config config;
            slc_velo_config_default(&config);
            config.keep_superpixels = k == 0;
            assert_int_equal(slc_velo_chain_open(&config, &geometry, &chain, NULL), SLC_OK);
            assert_int_equal(slc_velo_chain_reserve(chain, &batch, &results[k], NULL), SLC_OK);
            assert_int_equal(slc_velo_chain_run(chain, &batch, &results[k], NULL), SLC_OK);
            slc_velo_chain_close(chain);
        }
        assert_int_equal(results[0].superpixels.head.size, results[0].n_superpixels);
        assert_int_equal(results[1].n_superpixels, results[0].n_superpixels);
        assert_int_equal(results[1].n_isolated, results[0].n_isolated);
        assert_int_equal(results[1].n_pixels, results[0].n_pixels);
        expect_same_faults(&results[1].faults, &results[0].faults);
        assert_int_equal(results[1].superpixels.head.size, 0);
        assert_int_equal(results[1].superpixels.head.n_events, BATCH);
        const uint32_t *offset = results[0].superpixels.head.event_offset;
        for (uint32_t e = 0; e < BATCH; e++) { /* counted, whether they are listed or not */
            assert_int_equal(results[0].counts.superpixels[e], offset[e + 1] - offset[e]);
            assert_int_equal(results[1].counts.superpixels[e], offset[e + 1] - offset[e]);
        }
        assert_int_equal(results[1].counts.head.size, BATCH);
        assert_true(slc_velo_result_checksum(&results[0], 1) == slc_velo_result_checksum(&results[1], 1));
    }
    assert_true(n > 0);
    slc_velo_result_clear(&results[0]);
    slc_velo_result_clear(&results[1]);
}

static void says_when_there_is_no_room(void **state)
{
    (void)state;
    const uint32_t payload[] = {2, 5U << 14 | 1, 9U << 14 | 0x99};
    slc_batch batch = {0};
    slc_velo_hits none = {0}, small = {0};
    slc_velo_cluster_scratch no_scratch = {0};
    slc_faults faults = {0};
    const size_t size = slc_lhcb_bank_write(events, sizeof events, SLC_LHCB_BANK_VP, 2, 3, payload,
                                            sizeof payload);
    assert_int_equal(slc_batch_append(&batch, events, size, 0), SLC_OK);
    make_room(&batch, false);
    assert_int_equal(slc_velo_cluster_reserve_banks(&scratch, SLC_SIMD_AUTO), SLC_OK);
    assert_int_equal(slc_velo_cluster_run_banks(&geometry, &batch, &scratch, &none, NULL, &faults),
                     SLC_ERR_CAPACITY);
    assert_int_equal(slc_velo_cluster_run_banks(&geometry, &batch, &no_scratch, &found, NULL, &faults),
                     SLC_ERR_CAPACITY);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &small, 2, 1), SLC_OK);
    assert_int_equal(slc_velo_cluster_run_banks(&geometry, &batch, &scratch, &small, NULL, &faults),
                     SLC_ERR_CAPACITY);
    slc_columns_clear(&slc_velo_hits_schema, &small);
    assert_int_equal(slc_columns_reserve(&slc_velo_hits_schema, &small, 3, 1), SLC_OK);
    assert_int_equal(slc_velo_cluster_run_banks(&geometry, &batch, &scratch, &small, NULL, &faults), SLC_OK);
    assert_int_equal(small.head.size, 3);
    slc_columns_clear(&slc_velo_hits_schema, &small);
    slc_batch_clear(&batch);
}

static const char *data_path(size_t file)
{
    static char path[4096];
    static const char *const names[] = {"MiniBrunel_2018_MinBias_FTv4_DIGI.mdf",
                                        "MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf"};
    const char *folder = getenv("SLUICE_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/lhcb/%s", folder != NULL ? folder : "../shared/data", names[file]);
    return path;
}

/* LHCb's events, with words sorted and not. */
static void real_events(void **state)
{
    (void)state;
    uint64_t checksum[2] = {0};
    for (size_t f = 0; f < 2; f++) {
        const char *path = data_path(f);
        slc_io_source *source;
        slc_error error = {0};
        slc_faults faults = {0};
        slc_batch batch = {0};
        assert_int_equal(slc_io_open(path, NULL, &source, &error), SLC_OK);
        assert_int_equal(slc_io_read_batch(source, 100, (size_t)1 << 30, &batch, &faults, &error), SLC_OK);
        expect_two_stages(&batch, true);
        expect_flood_fill();
        assert_int_equal(found.head.size, 20085);
        for (uint32_t e = 0; e < found.head.n_events; e++) {
            checksum[f] = slc_columns_checksum(&slc_velo_hits_schema, &found, e, checksum[f]);
        }
        slc_io_close(source);
        slc_batch_clear(&batch);
    }
    assert_true(checksum[0] == checksum[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_patterns),
        cmocka_unit_test(sound_sensors),
        cmocka_unit_test(shuffled_sensors),
        cmocka_unit_test(false_hints),
        cmocka_unit_test(damaged_sensors),
        cmocka_unit_test(full_banks),
        cmocka_unit_test(large_clusters),
        cmocka_unit_test(just_below_a_pixel),
        cmocka_unit_test(same_chain),
        cmocka_unit_test(says_when_there_is_no_room),
    };
    const struct CMUnitTest on_data[] = {cmocka_unit_test(real_events)};
    const int failed = cmocka_run_group_tests(tests, set_up, tear_down);
    if (failed == 0 && access(data_path(0), R_OK) != 0) {
        (void)printf("SKIP: no %s\n", data_path(0));
        return 77;
    }
    return failed != 0 ? failed : cmocka_run_group_tests(on_data, set_up, tear_down);
}
