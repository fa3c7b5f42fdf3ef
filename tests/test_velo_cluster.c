/* SPDX-License-Identifier: Apache-2.0
 * Clusters of super-pixels against flood fill of the pixels. */
#include "velo/velo_cluster.h"
#include "velo/velo_geometry.h"

#include "oracle/velo_cluster_oracle.h"
#include "support/random.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SP_COLUMNS = SLC_VELO_SUPERPIXEL_COLUMNS, SP_ROWS = SLC_VELO_SUPERPIXEL_ROWS };

static slc_velo_geometry geometry;
static slc_velo_superpixels input;
static slc_velo_hits hits;
static slc_velo_cluster_scratch scratch;
static slc_faults faults;
static uint64_t n_pixels;
static uint8_t patterns[SP_COLUMNS][SP_ROWS];
static oracle_cluster expected[768 * 256];

static int set_up(void **state)
{
    (void)state;
    slc_velo_geometry_ideal(&geometry);
    const size_t all = (size_t)SP_COLUMNS * SP_ROWS;
    return slc_velo_cluster_reserve(&scratch) != SLC_OK ||
           slc_columns_reserve(&slc_velo_superpixels_schema, &input, all, 1) != SLC_OK ||
           slc_columns_reserve(&slc_velo_hits_schema, &hits, slc_velo_cluster_bound(all), 1) != SLC_OK;
}

static int tear_down(void **state)
{
    (void)state;
    slc_columns_clear(&slc_velo_superpixels_schema, &input);
    slc_columns_clear(&slc_velo_hits_schema, &hits);
    slc_velo_cluster_clear(&scratch);
    return 0;
}

static bool is_hit(int column, int row)
{
    return column >= 0 && column < SP_COLUMNS && row >= 0 && row < SP_ROWS && patterns[column][row] != 0;
}

static bool has_neighbour(int column, int row)
{
    for (int c = column - 1; c <= column + 1; c++) {
        for (int r = row - 1; r <= row + 1; r++) {
            if ((c != column || r != row) && is_hit(c, r)) {
                return true;
            }
        }
    }
    return false;
}

/* The painted patterns as one sensor's sorted list; the hint is set where it is true. */
static void list_superpixels(uint32_t sensor)
{
    slc_columns_reset(&input);
    for (int c = 0; c < SP_COLUMNS; c++) {
        for (int r = 0; r < SP_ROWS; r++) {
            if (patterns[c][r] != 0) {
                const uint32_t hint = has_neighbour(c, r) ? 0 : 0x80000000U;
                input.word[input.head.size] = (uint32_t)c << 14 | (uint32_t)r << 8 | patterns[c][r] | hint;
                input.sensor[input.head.size++] = (uint8_t)sensor;
            }
        }
    }
    slc_columns_end_event(&input);
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(oracle_cluster));
}

/* Runs and compares with the oracle: channel, size and position of every cluster, as sets. */
static void expect_oracle(void)
{
    slc_faults_reset(&faults);
    assert_int_equal(slc_velo_cluster_run(&geometry, &input, 7, &scratch, &hits, &n_pixels, &faults), SLC_OK);
    const size_t n = oracle_velo_cluster(input.word, input.head.size, expected);
    assert_int_equal(hits.head.size, n);
    static uint32_t found[768 * 256][2], wanted[768 * 256][2];
    uint64_t pixels = 0;
    for (size_t i = 0; i < n; i++) {
        const uint32_t column = expected[i].sum_column / expected[i].n,
                       row = expected[i].sum_row / expected[i].n;
        wanted[i][0] = 2U << 28 | (uint32_t)input.sensor[0] << 18 | column / 256 << 16 | column % 256 << 8 |
                       row;
        wanted[i][1] = expected[i].n;
        found[i][0] = hits.channel[i];
        found[i][1] = hits.n_pixels[i];
        pixels += expected[i].n;
    }
    qsort(wanted, n, sizeof *wanted, compare);
    qsort(found, n, sizeof *found, compare);
    assert_memory_equal(found, wanted, n * sizeof *found);
    assert_int_equal(n_pixels, pixels);
}

static void clear_patterns(void)
{
    memset(patterns, 0, sizeof patterns);
}

static void every_single_pattern(void **state)
{
    (void)state;
    for (uint32_t p = 1; p < 256; p++) {
        clear_patterns();
        patterns[200][30] = (uint8_t)p;
        list_superpixels(12);
        expect_oracle();
        assert_int_equal(slc_faults_total(&faults), 0);
    }
}

/* Two super-pixels side by side in each of the four directions, all pairs of patterns. */
static void every_pair_of_patterns(void **state)
{
    (void)state;
    const int step[4][2] = {{0, 1}, {1, 1}, {1, 0}, {1, -1}};
    clear_patterns();
    for (int d = 0; d < 4; d++) {
        for (uint32_t pair = 0; pair < 65536; pair++) {
            if (pair % 256 == 0 || pair / 256 == 0) {
                continue;
            }
            const uint32_t first = 127U << 14 | 20U << 8 | pair % 256;
            const uint32_t second = (uint32_t)(127 + step[d][0]) << 14 | (uint32_t)(20 + step[d][1]) << 8 |
                                    pair / 256;
            slc_columns_reset(&input);
            input.word[0] = first;
            input.word[1] = second;
            input.sensor[0] = input.sensor[1] = 3;
            input.head.size = 2;
            slc_columns_end_event(&input);
            expect_oracle();
        }
    }
}

/* Where the tables end and where chips meet. */
static void borders_and_corners(void **state)
{
    (void)state;
    const int columns[] = {0, 127, 128, 255, 256, 383}, rows[] = {0, 31, 63};
    uint64_t seed = 9;
    for (int round = 0; round < 200; round++) {
        clear_patterns();
        for (size_t i = 0; i < 6; i++) {
            for (size_t k = 0; k < 3; k++) {
                patterns[columns[i]][rows[k]] = (uint8_t)random_u64(&seed);
            }
        }
        list_superpixels(207);
        expect_oracle();
    }
}

static void random_images(void **state)
{
    (void)state;
    uint64_t seed = 1;
    for (int percent = 0; percent <= 100; percent += 5) {
        clear_patterns();
        for (int c = 0; c < SP_COLUMNS; c++) {
            for (int r = 0; r < SP_ROWS; r++) {
                for (uint32_t k = 0; k < 8; k++) {
                    patterns[c][r] |= (uint8_t)((random_below(&seed, 100) < (uint32_t)percent) << k);
                }
            }
        }
        list_superpixels((uint32_t)percent);
        expect_oracle();
        assert_int_equal(slc_faults_total(&faults), 0);
    }
}

/* Long thin components, whose equivalence trees are the deepest. */
static void combs(void **state)
{
    (void)state;
    for (int flip = 0; flip < 2; flip++) {
        clear_patterns();
        for (int c = 0; c < SP_COLUMNS; c += 2) {
            for (int r = 0; r < SP_ROWS; r++) {
                patterns[c][r] = 0x0f;
            }
            const int bridge = flip ? SP_ROWS - 1 : 0;
            patterns[c][bridge] = patterns[c + 1][bridge] = 0xff;
        }
        list_superpixels(0);
        expect_oracle();
        assert_int_equal(hits.head.size, 1);
    }
}

/* A hint that lies changes nothing but the faults. */
static void hints_never_change_hits(void **state)
{
    (void)state;
    uint64_t seed = 77;
    clear_patterns();
    for (int i = 0; i < 3000; i++) {
        patterns[random_below(&seed, SP_COLUMNS)][random_below(&seed, SP_ROWS)] = (uint8_t)random_u64(&seed);
    }
    list_superpixels(100);
    expect_oracle();
    assert_int_equal(slc_faults_total(&faults), 0);
    const uint64_t honest = slc_columns_checksum(&slc_velo_hits_schema, &hits, 0, 1);
    for (int round = 0; round < 20; round++) {
        uint64_t lies = 0;
        for (size_t i = 0; i < input.head.size; i++) {
            const uint32_t hint = (uint32_t)(random_u64(&seed) & 1) << 31;
            input.word[i] = (input.word[i] & 0x7fffffffU) | hint;
            lies += hint != 0 &&
                    has_neighbour((int)(input.word[i] >> 14 & 0x1ff), (int)(input.word[i] >> 8 & 0x3f));
        }
        expect_oracle();
        assert_true(slc_columns_checksum(&slc_velo_hits_schema, &hits, 0, 1) == honest);
        assert_true(lies > 0);
        assert_int_equal(slc_faults_of(&faults, SLC_FAULT_SUPERPIXEL_HINT), lies);
        assert_int_equal(faults.kept[0].module, 100);
        assert_int_equal(faults.kept[0].event, 7);
    }
}

/* Centroid between pixels: two pixels across a chip border, and three in a row. */
static void centroids(void **state)
{
    (void)state;
    clear_patterns();
    patterns[127][10] = 0x20; /* column 255, row 41 */
    patterns[128][10] = 0x02; /* column 256, row 41 */
    list_superpixels(1);
    expect_oracle();
    assert_int_equal(hits.head.size, 1);
    assert_int_equal(hits.channel[0], 2U << 28 | 1U << 18 | 0U << 16 | 255U << 8 | 41U);
    float x, y, z;
    slc_velo_geometry_position(&geometry, 1, 255, 0.5f, 41, 0, &x, &y, &z);
    assert_true(hits.x_mm[0] == x && hits.y_mm[0] == y && hits.z_mm[0] == z);
    assert_int_equal(hits.module[0], 0);
}

static void says_when_there_is_no_room(void **state)
{
    (void)state;
    slc_velo_hits none = {0};
    slc_velo_cluster_scratch no_scratch = {0};
    assert_int_equal(slc_velo_cluster_run(&geometry, &input, 0, &scratch, &none, NULL, &faults),
                     SLC_ERR_CAPACITY);
    assert_int_equal(slc_velo_cluster_run(&geometry, &input, 0, &no_scratch, &hits, NULL, &faults),
                     SLC_ERR_CAPACITY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_single_pattern),
        cmocka_unit_test(every_pair_of_patterns),
        cmocka_unit_test(borders_and_corners),
        cmocka_unit_test(random_images),
        cmocka_unit_test(combs),
        cmocka_unit_test(hints_never_change_hits),
        cmocka_unit_test(centroids),
        cmocka_unit_test(says_when_there_is_no_room),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
