/* SPDX-License-Identifier: Apache-2.0
 *
 * The kernels of CMS's pixels on every target of this machine: random modules against a flood that is written
 * here, on columns that end where memory ends; and the standard input of the benchmark.
 */
#include "cms/cms_calibrate_core.h"
#include "cms/cms_calibrate_work.h"
#include "cms/cms_cluster_work.h"
#include "cms/cms_position_core.h"
#include "cms/cms_position_work.h"
#include "cms/cms_stages.h"
#include "support/check.h"
#include "support/check_case.h"
#include "support/random.h"

#include "base/block.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DIGIS = 700, ROWS = 40, COLUMNS = 130, MODULE = 1000, OTHER = 65534 };

typedef struct column_memory {
    slc_check_memory x, y, adc, module, cluster;
} column_memory;

/* Clusters of the flood: the number of each digi's, -1 where it is none; returns how many. */
static int32_t flood(const slc_cms_stretch *s, int32_t *number)
{
    static uint32_t queue[MOST_DIGIS];
    int32_t clusters = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        number[i] = -1;
    }
    for (uint32_t i = 0; i < s->n; i++) {
        if (number[i] >= 0 || s->module[i] != s->id || s->x[i] >= ROWS || s->y[i] >= COLUMNS) {
            continue;
        }
        uint32_t n = 0;
        queue[n++] = i;
        number[i] = clusters;
        for (uint32_t k = 0; k < n; k++) {
            for (uint32_t j = 0; j < s->n; j++) {
                if (number[j] < 0 && s->module[j] == s->id && s->x[j] < ROWS && s->y[j] < COLUMNS &&
                    abs(s->x[j] - s->x[queue[k]]) <= 1 && abs(s->y[j] - s->y[queue[k]]) <= 1) {
                    number[j] = clusters;
                    queue[n++] = j;
                }
            }
        }
        clusters++;
    }
    return clusters;
}

/* What the kernel says of cluster k, from the list alone. */
static void check_cluster(const slc_cms_stretch *s, const int32_t *number, int32_t k,
                          const slc_cms_clusters *c)
{
    uint64_t n = 0, charge = 0, edge[4] = {0};
    uint32_t first = UINT32_MAX;
    for (uint32_t i = 0; i < s->n; i++) {
        if (number[i] != k) {
            continue;
        }
        n++;
        first = first == UINT32_MAX ? s->first + i : first;
        charge += s->adc[i];
        edge[0] += s->x[i] == c->x_min[k] ? s->adc[i] : 0;
        edge[1] += s->x[i] == c->x_max[k] ? s->adc[i] : 0;
        edge[2] += s->y[i] == c->y_min[k] ? s->adc[i] : 0;
        edge[3] += s->y[i] == c->y_max[k] ? s->adc[i] : 0;
        if (s->x[i] < c->x_min[k] || s->x[i] > c->x_max[k] || s->y[i] < c->y_min[k] ||
            s->y[i] > c->y_max[k]) {
            slc_check_fail("cluster %d of %u digis: a digi outside of its box", k, s->n);
        }
    }
    if (c->n_pixels[k] != n || c->charge_e[k] != charge || c->first_digi[k] != first ||
        c->module[k] != s->id) {
        slc_check_fail("cluster %d of %u digis: %u pixels, %u electrons, first %u", k, s->n, c->n_pixels[k],
                       c->charge_e[k], c->first_digi[k]);
    }
    if (c->charge_x_min[k] != edge[0] || c->charge_x_max[k] != edge[1] || c->charge_y_min[k] != edge[2] ||
        c->charge_y_max[k] != edge[3]) {
        slc_check_fail("cluster %d of %u digis: charges of its edges", k, s->n);
    }
}

/* Columns of n digis, the last of which is the last of its page. */
static slc_cms_stretch make_stretch(const column_memory *m, uint32_t n, uint32_t crowd, uint64_t *seed)
{
    uint16_t *x = (uint16_t *)(void *)m->x.end - n, *y = (uint16_t *)(void *)m->y.end - n;
    uint16_t *adc = (uint16_t *)(void *)m->adc.end - n, *module = (uint16_t *)(void *)m->module.end - n;
    for (uint32_t i = 0; i < n; i++) {
        x[i] = (uint16_t)random_below(seed, crowd < ROWS ? crowd : ROWS + 1);
        y[i] = (uint16_t)(random_below(seed, 2) != 0 ? COLUMNS - 1 - random_below(seed, crowd)
                                                     : random_below(seed, crowd));
        adc[i] = (uint16_t)random_below(seed, 65536);
        module[i] = random_below(seed, 40) == 0 ? OTHER : MODULE;
    }
    return (slc_cms_stretch){
        .module = module, .x = x, .y = y, .adc = adc, .first = 12345, .n = n, .id = MODULE};
}

static void check_stretch(const slc_cms_cluster_kernels *kernels, slc_cms_cluster_work *work,
                          slc_cms_clusters *clusters, const column_memory *m, const slc_cms_stretch *s)
{
    static int32_t expected[MOST_DIGIS];
    slc_cms_cluster_config config;
    slc_cms_cluster_config_default(&config);
    config.rows = ROWS;
    config.columns = COLUMNS;
    config.min_charge_e = 0;
    int32_t *cluster = (int32_t *)(void *)m->cluster.end - s->n;
    const int32_t n_clusters = flood(s, expected);
    slc_columns_reset(clusters);
    const slc_cms_stretch_result found = kernels->cluster(&config, work, s, cluster, clusters);
    uint32_t n_valid = 0;
    for (uint32_t i = 0; i < s->n; i++) {
        n_valid += expected[i] >= 0;
        if (cluster[i] != (expected[i] >= 0 ? expected[i] : SLC_CMS_NO_CLUSTER)) {
            slc_check_fail("digi %u of %u is in cluster %d, not %d", i, s->n, cluster[i], expected[i]);
            return;
        }
    }
    if (found.n_valid != n_valid || (int32_t)found.n_clusters != n_clusters ||
        clusters->head.size != found.n_clusters) {
        slc_check_fail("%u digis: %u valid ones, not %u; %u clusters, not %d", s->n, found.n_valid, n_valid,
                       found.n_clusters, n_clusters);
        return;
    }
    for (int32_t k = 0; k < n_clusters; k++) {
        check_cluster(s, expected, k, clusters);
    }
    slc_check_values(2 * (uint64_t)s->n + 1);
}

/* Stretches of an event against one look after the other. */
static void check_split(const slc_cms_split_kernels *kernels, const column_memory *m, uint32_t n,
                        uint64_t *seed)
{
    static slc_cms_split split;
    slc_cms_cluster_config config;
    slc_cms_cluster_config_default(&config);
    slc_cms_stretch s = make_stretch(m, n, COLUMNS / 2, seed);
    uint16_t *module = (uint16_t *)(void *)m->module.end - n;
    static uint16_t id[MOST_DIGIS];
    static uint32_t begin[MOST_DIGIS];
    uint32_t expected = 0, at = random_below(seed, 1000);
    bool grouped = true;
    for (uint32_t i = 0; i < n; i++) {
        at = random_below(seed, 8) == 0 ? at + 1 : at;
        at = random_below(seed, 2000) == 0 && at > 0 ? at - 1 : at;
        module[i] = random_below(seed, 10) == 0 ? OTHER : (uint16_t)at;
        if (module[i] == OTHER || (expected > 0 && id[expected - 1] == module[i])) {
            continue;
        }
        for (uint32_t k = 0; k < expected; k++) {
            grouped = grouped && id[k] != module[i];
        }
        id[expected] = module[i];
        begin[expected++] = i;
    }
    const slc_cms_digis digis = {
        .x = (uint16_t *)(uintptr_t)s.x, .y = (uint16_t *)(uintptr_t)s.y, .module = module};
    const bool found = kernels->split(&config, &digis, 0, n, &split);
    if (found != grouped || (grouped && (split.n != expected || split.begin[expected] != n ||
                                         memcmp(split.begin, begin, expected * sizeof *begin) != 0 ||
                                         memcmp(split.id, id, expected * sizeof *id) != 0))) {
        slc_check_fail("%u digis: %u stretches, not %u, or others", n, split.n, expected);
        return;
    }
    slc_check_values(n + 1);
}

/* ---- calibration and positions against the formulas, one row at a time ---------------------------- */

static void check_calibrate(const slc_cms_calibrate_kernels *kernels, uint64_t *seed)
{
    enum { BLOCK = SLC_CMS_CALIBRATE_BLOCK, GAINS = 3 * SLC_CMS_GAINS };
    static slc_cms_gain gain[GAINS];
    uint16_t module[BLOCK], x[BLOCK], y[BLOCK], adc[BLOCK], expected[BLOCK];
    const slc_cms_gains gains = {3, 1.0f, 0.013f, 9.0f, 0.21f, 255, 254, gain};
    const slc_cms_digis digis = {.head = {.size = BLOCK}, .adc = adc, .x = x, .y = y, .module = module};
    slc_cms_calibrate_config config;
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE1);
    config.factor_layer1 = 61.7f;
    for (uint32_t i = 0; i < GAINS; i++) {
        gain[i] = (slc_cms_gain){(uint8_t)random_below(seed, 256),
                                 (uint8_t)random_below(seed, random_below(seed, 60) == 0 ? 256 : 254)};
    }
    bool usual = true;
    for (uint32_t i = 0; i < BLOCK; i++) {
        module[i] = (uint16_t)random_below(seed, random_below(seed, 200) == 0 ? 4 : 3);
        x[i] = (uint16_t)random_below(seed, SLC_CMS_ROWS + (random_below(seed, 100) == 0));
        y[i] = (uint16_t)random_below(seed, SLC_CMS_COLUMNS + (random_below(seed, 100) == 0));
        adc[i] = expected[i] = (uint16_t)random_below(seed, 2048);
        usual = slc_cms_calibrate_phase1(&config, &gains, module[i], x[i], y[i], &expected[i]) ==
                    SLC_CMS_CALIBRATED_GOOD &&
                usual;
    }
    uint16_t before[BLOCK];
    memcpy(before, adc, sizeof before);
    if (kernels->phase1(&config, &gains, &digis, 0) != usual ||
        memcmp(adc, usual ? expected : before, sizeof adc) != 0) {
        slc_check_fail("a block in phase 1, %s", usual ? "usual" : "not usual");
    }
    config.kink = random_below(seed, 20);
    config.slope = random_below(seed, 6);
    memcpy(adc, before, sizeof adc);
    for (uint32_t i = 0; i < BLOCK; i++) {
        module[i] = random_below(seed, 10) == 0 ? SLC_CMS_NO_MODULE : module[i];
        adc[i] = i % 2 == 0 ? adc[i] % 30 : adc[i];
        expected[i] = module[i] == SLC_CMS_NO_MODULE ? adc[i] : slc_cms_electrons_phase2(&config, adc[i]);
    }
    kernels->phase2(&config, &digis);
    if (memcmp(adc, expected, sizeof adc) != 0) {
        slc_check_fail("phase 2, kink %u, slope %u", config.kink, config.slope);
    }
    slc_check_values(2 * (uint64_t)BLOCK);
}

static void check_position(const slc_cms_position_kernels *kernels, slc_cms_clusters *c, uint32_t n,
                           uint64_t *seed)
{
    slc_cms_position_config config;
    slc_cms_position_config_default(&config);
    const float away = (float)(random_below(seed, 2) != 0 ? 1 : -1);
    const slc_cms_plane plane = {.x0_um = slc_random_between(seed, -8000, 8000),
                                 .y0_um = slc_random_between(seed, -32000, 32000),
                                 .z0_um = away * slc_random_between(seed, 20000, 200000),
                                 .shift_x_um = slc_random_between(seed, -50, 50),
                                 .width_x_um = random_below(seed, 2) != 0 ? 0
                                                                          : slc_random_between(seed, 0, 120)};
    for (uint32_t i = 0; i < n; i++) {
        c->x_min[i] = (uint16_t)random_below(seed, 157);
        c->x_max[i] = (uint16_t)(c->x_min[i] + random_below(seed, 4));
        c->y_min[i] = (uint16_t)random_below(seed, 413);
        c->y_max[i] = (uint16_t)(c->y_min[i] + random_below(seed, 4));
        uint32_t *const charges[] = {c->charge_x_min, c->charge_x_max, c->charge_y_min, c->charge_y_max};
        for (size_t k = 0; k < 4; k++) {
            charges[k][i] = random_below(seed, 9) == 0   ? 0
                            : random_below(seed, 9) == 0 ? UINT32_MAX - i
                                                         : random_below(seed, 40000);
        }
    }
    static float found[4][MOST_DIGIS];
    float *const columns[] = {c->x_um, c->y_um, c->x_error_um, c->y_error_um};
    for (size_t k = 0; k < 4; k++) {
        columns[k][n] = 77;
    }
    kernels->locate(&config, &plane, c, 0, n);
    for (size_t k = 0; k < 4; k++) {
        memcpy(found[k], columns[k], n * sizeof(float));
        if (columns[k][n] != 77) {
            slc_check_fail("%u clusters: written behind the last one", n);
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        slc_cms_position_of(&config, &plane, c, i);
        for (size_t k = 0; k < 4; k++) {
            if (memcmp(&columns[k][i], &found[k][i], sizeof(float)) != 0) {
                slc_check_fail("cluster %u of %u: column %zu is %g, not %g", i, n, k, (double)found[k][i],
                               (double)columns[k][i]);
                return;
            }
        }
    }
    slc_check_values(4 * (uint64_t)n + 1);
}

static void check_target(slc_simd_target target, slc_cms_cluster_work *work, slc_cms_clusters *clusters,
                         const column_memory *m)
{
    const slc_cms_cluster_kernels *kernels = slc_cms_cluster_kernels_of(target);
    uint64_t seed = slc_check_seed();
    slc_check_doing("cms.cluster");
    for (uint32_t n = 0; n <= MOST_DIGIS; n += n < 200 ? 1 : 50) {
        for (uint32_t crowd = 4; crowd <= COLUMNS / 2; crowd = 2 * crowd + 1) {
            const slc_cms_stretch s = make_stretch(m, n, crowd, &seed);
            check_stretch(kernels, work, clusters, m, &s);
        }
        check_split(slc_cms_split_kernels_of(target), m, n, &seed);
    }
    slc_check_doing("cms.calibrate");
    for (uint32_t k = 0; k < 300; k++) {
        check_calibrate(slc_cms_calibrate_kernels_of(target), &seed);
    }
    slc_check_doing("cms.position");
    for (uint32_t n = 0; n <= 200; n++) {
        check_position(slc_cms_position_kernels_of(target), clusters, n, &seed);
    }
}

int main(int argc, char **argv)
{
    slc_check_begin(argc, argv);
    column_memory m;
    slc_check_memory *const all[] = {&m.x, &m.y, &m.adc, &m.module, &m.cluster};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        *all[i] = slc_check_map(4 * MOST_DIGIS);
    }
    slc_cms_grid grid;
    slc_cms_cluster_work work;
    slc_cms_clusters clusters = {0};
    char base[1];
    slc_cms_grid_of(ROWS, COLUMNS, &grid);
    const size_t bytes = slc_cms_cluster_work_carve(&work, &grid, MOST_DIGIS, base);
    char *block = calloc(1, bytes + SLC_BLOCK_ALIGN);
    if (block == NULL || slc_columns_reserve(&slc_cms_clusters_schema, &clusters, MOST_DIGIS, 1) != SLC_OK) {
        return EXIT_FAILURE;
    }
    (void)slc_cms_cluster_work_carve(&work, &grid, MOST_DIGIS, slc_block_begin(block));
    for (int t = 0; t < SLC_SIMD_TARGETS; t++) {
        if (slc_check_target((slc_simd_target)t)) {
            check_target((slc_simd_target)t, &work, &clusters, &m);
            slc_check_cases(slc_cms_calibrate_kernel_rows, (slc_simd_target)t);
            slc_check_cases(slc_cms_cluster_kernel_rows, (slc_simd_target)t);
            slc_check_cases(slc_cms_position_kernel_rows, (slc_simd_target)t);
            slc_check_passed("calibrate, split, cluster, position");
        }
    }
    free(block);
    slc_columns_clear(&slc_cms_clusters_schema, &clusters);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        slc_check_unmap(all[i]);
    }
    return slc_check_end();
}
