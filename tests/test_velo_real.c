/* SPDX-License-Identifier: Apache-2.0
 * LHCb's ten simulated events: every number of the reference description, from the sorted file, the unsorted
 * one, the compressed one, and after a round trip through the writer; every sensor against flood fill. */
#include <sluice/io.h>
#include <sluice/velo_chain.h>
#include <sluice/velo_check.h>

#include "oracle/velo_cluster_oracle.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { EVENTS = 10 };

static const char *const sorted = "MiniBrunel_2018_MinBias_FTv4_DIGI.mdf";
static const char *const unsorted = "MiniBrunel_2018_MinBias_FTv4_DIGI_retinacluster_v1.mdf";
static const char *const compressed = "upgrade_mc_minbias_scifi_v5.mdf";

static slc_velo_chain *chain;
static slc_velo_result result;
static slc_batch batch;
static slc_velo_truth truth;
static slc_faults faults;

static const char *data_path(const char *name)
{
    static char path[4096];
    const char *folder = getenv("SLUICE_TEST_DATA");
    (void)snprintf(path, sizeof path, "%s/lhcb/%s", folder != NULL ? folder : "../shared/data", name);
    return path;
}

static int set_up(void **state)
{
    (void)state;
    slc_velo_config config;
    slc_velo_config_default(&config);
    config.strict = true; /* the reference files are sound */
    config.keep_superpixels = true;
    static slc_velo_geometry geometry;
    slc_error error = {0};
    if (slc_io_read_velo_geometry(data_path("velo_geometry.bin"), &geometry, &error) != SLC_OK) {
        print_error("%s\n", error.text);
        return -1;
    }
    return slc_velo_chain_open(&config, &geometry, &chain, &error) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_velo_chain_close(chain);
    slc_velo_result_clear(&result);
    slc_velo_truth_clear(&truth);
    slc_batch_clear(&batch);
    return 0;
}

/* Reads all ten events into the batch. */
static void read_events(const char *path)
{
    slc_io_source *source;
    slc_error error = {0};
    if (slc_io_open(path, NULL, &source, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
    assert_int_equal(slc_io_read_batch(source, 100, (size_t)1 << 30, &batch, &faults, &error), SLC_OK);
    assert_int_equal(batch.n_events, EVENTS);
    assert_int_equal(slc_faults_total(&faults), 0);
    assert_null(slc_io_damage(source));
    slc_io_close(source);
}

static void reconstruct(const char *path)
{
    read_events(path);
    slc_error error = {0};
    assert_int_equal(slc_velo_chain_reserve(chain, &batch, &result, NULL), SLC_OK);
    if (slc_velo_chain_run(chain, &batch, &result, &error) != SLC_OK) {
        fail_msg("%s", error.text);
    }
}

static void expect_reference_counts(void)
{
    const uint32_t clusters[EVENTS] = {3681, 933, 1547, 1550, 2268, 718, 876, 2293, 2781, 3438};
    assert_int_equal(result.superpixels.head.size, 27389);
    assert_int_equal(result.n_isolated, 14389);
    assert_int_equal(result.n_pixels, 40276);
    assert_int_equal(result.hits.head.size, 20085);
    for (uint32_t e = 0; e < EVENTS; e++) {
        assert_int_equal(result.hits.head.event_offset[e + 1] - result.hits.head.event_offset[e],
                         clusters[e]);
    }
}

static uint64_t checksum(void)
{
    return slc_velo_result_checksum(&result, 0);
}

static void three_files_one_answer(void **state)
{
    (void)state;
    reconstruct(data_path(sorted));
    expect_reference_counts();
    const uint64_t reference = checksum();
    reconstruct(data_path(unsorted));
    expect_reference_counts();
    assert_true(checksum() == reference);
    reconstruct(data_path(compressed));
    expect_reference_counts();
    assert_true(checksum() == reference);
}

static void every_truth_id_is_a_cluster(void **state)
{
    (void)state;
    reconstruct(data_path(sorted));
    slc_error error = {0};
    assert_int_equal(slc_velo_truth_read(&batch, &truth, &faults, &error), SLC_OK);
    slc_velo_check check;
    slc_velo_check_config config;
    slc_velo_check_config_default(&config);
    slc_velo_check_init(&check, &config);
    slc_velo_matches matches = {0};
    assert_int_equal(slc_velo_check_run(&check, &result, &truth, &matches, NULL), SLC_OK);
    assert_int_equal(check.mc_hits, 20474);
    assert_int_equal(check.mc_hits_found, 20474);
    assert_int_equal(check.events, EVENTS);
    slc_columns_clear(&slc_velo_matches_schema, &matches);
    slc_velo_check_clear(&check);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 2 * sizeof(uint32_t));
}

static void every_sensor_equals_flood_fill(void **state)
{
    (void)state;
    reconstruct(data_path(sorted));
    static oracle_cluster clusters[768 * 256];
    static uint32_t wanted[4096][2], found[4096][2];
    const slc_velo_superpixels *sp = &result.superpixels;
    size_t first_hit = 0, n_sensors = 0;
    for (size_t i = 0, next; i < sp->head.size; i = next, n_sensors++) {
        for (next = i + 1; next < sp->head.size && sp->sensor[next] == sp->sensor[i];) {
            next++;
        }
        const size_t n = oracle_velo_cluster(sp->word + i, next - i, clusters);
        for (size_t k = 0; k < n; k++) {
            const uint32_t column = clusters[k].sum_column / clusters[k].n,
                           row = clusters[k].sum_row / clusters[k].n;
            wanted[k][0] = 2U << 28 | (uint32_t)sp->sensor[i] << 18 | column << 8 | row;
            wanted[k][1] = clusters[k].n;
            found[k][0] = result.hits.channel[first_hit + k];
            found[k][1] = result.hits.n_pixels[first_hit + k];
        }
        qsort(wanted, n, sizeof *wanted, compare);
        qsort(found, n, sizeof *found, compare);
        assert_memory_equal(found, wanted, n * sizeof *found);
        first_hit += n;
    }
    assert_int_equal(first_hit, result.hits.head.size);
    assert_true(n_sensors > 1000);
}

static void round_trip_through_the_writer(void **state)
{
    (void)state;
    reconstruct(data_path(unsorted));
    const uint64_t reference = checksum();
    for (int compress = 0; compress < 2; compress++) {
        char path[] = "/tmp/sluice-round-trip-XXXXXX";
        const int file = mkstemp(path);
        assert_true(file >= 0);
        (void)close(file);
        read_events(data_path(unsorted));
        slc_io_writer *writer;
        slc_error error = {0};
        const slc_io_mdf_config config = {.compress = compress != 0, .run_number = 7};
        assert_int_equal(slc_io_mdf_create(path, &config, &writer, &error), SLC_OK);
        for (uint32_t e = 0; e < batch.n_events; e++) {
            assert_int_equal(slc_io_mdf_write(writer, batch.bytes + batch.offset[e], batch.length[e], &error),
                             SLC_OK);
        }
        assert_int_equal(slc_io_finish(writer, &error), SLC_OK);
        reconstruct(path);
        (void)unlink(path);
        expect_reference_counts();
        assert_true(checksum() == reference);
    }
}

/* What batches of one event add equals the checksum of one batch of ten. */
static void batches_do_not_matter(void **state)
{
    (void)state;
    reconstruct(data_path(sorted));
    const uint64_t reference = checksum();
    uint64_t sum = 0, n = 0;
    slc_io_source *source;
    slc_error error = {0};
    assert_int_equal(slc_io_open(data_path(sorted), NULL, &source, &error), SLC_OK);
    while (slc_io_read_batch(source, 1, 1, &batch, &faults, &error) == SLC_OK) {
        assert_int_equal(batch.n_events, 1);
        assert_int_equal(slc_velo_chain_reserve(chain, &batch, &result, NULL), SLC_OK);
        assert_int_equal(slc_velo_chain_run(chain, &batch, &result, &error), SLC_OK);
        sum += slc_velo_result_checksum(&result, n++);
    }
    slc_io_close(source);
    assert_int_equal(n, 10);
    assert_true(sum == reference);
}

int main(void)
{
    if (access(data_path(sorted), R_OK) != 0) {
        (void)printf("SKIP: no %s\n", data_path(sorted));
        return 77;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_files_one_answer),         cmocka_unit_test(every_truth_id_is_a_cluster),
        cmocka_unit_test(every_sensor_equals_flood_fill), cmocka_unit_test(round_trip_through_the_writer),
        cmocka_unit_test(batches_do_not_matter),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
