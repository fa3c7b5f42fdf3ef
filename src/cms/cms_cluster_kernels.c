/* SPDX-License-Identifier: Apache-2.0
 * The tables of the clustering kernel, its working memory, what `auto` prefers, and its standard input:
 * modules with ten clusters of some twenty pixels each, as in CMS's clustering test.
 */
#include "cms/cms_cluster_work.h"
#include "cms/cms_stages.h"

#include "base/block.h"
#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_cms_cluster_kernels_##target,
static const slc_cms_cluster_kernels *const of_target[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF
#define SPLIT_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_cms_split_kernels_##target,
static const slc_cms_split_kernels *const split_of_target[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(SPLIT_OF)};
#undef SPLIT_OF

const slc_cms_split_kernels *slc_cms_split_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? split_of_target[target] : NULL;
}

const slc_cms_cluster_kernels *slc_cms_cluster_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? of_target[target] : NULL;
}

/* ---- memory --------------------------------------------------------------------------------------- */

void slc_cms_grid_of(uint32_t rows, uint32_t columns, slc_cms_grid *grid)
{
    const uint32_t row_words = columns / 64 + 1, words = row_words * (rows + 1);
    *grid = (slc_cms_grid){.rows = rows,
                           .columns = columns,
                           .row_words = row_words,
                           .words = words,
                           .places = 64 * words,
                           .reciprocal = ((UINT64_C(1) << 32) + row_words - 1) / row_words};
}

/* The next table. Of tables that are made for large events a module uses the beginnings, a few hundred bytes:
 * those of two tables in turn are to be apart in the sets of a cache, which repeat every 4096 bytes. */
static void *take_apart(const char *begin, char **at, size_t bytes)
{
    enum { SETS = 4096, APART = 576 };
    void *table = slc_block_take(at, bytes);
    const size_t here = (size_t)((const char *)table - begin) % SETS, next = (size_t)(*at - begin) % SETS;
    *at += (here + APART + SETS - next) % SETS;
    return table;
}

size_t slc_cms_cluster_work_carve(slc_cms_cluster_work *work, const slc_cms_grid *grid, size_t digis,
                                  char *at)
{
    enum { VECTOR = 256 };
    const size_t words = grid->words + (size_t)VECTOR, n = digis + 2 * (size_t)SLC_CMS_SPARE;
    char *const begin = at;
    work->grid = *grid;
    work->digis = digis;
    work->bits = (uint64_t *)slc_block_take(&at, (words + 8) * sizeof *work->bits) + 8;
    work->touched = slc_block_take(&at, words + VECTOR);
    work->flags = slc_block_take(&at, words / 8 + VECTOR);
    work->before = slc_block_take(&at, words * sizeof(uint32_t));
    work->n_runs = slc_block_take(&at, words * sizeof(uint32_t));
    work->used = slc_block_take(&at, words * sizeof(uint32_t));
    work->flag_bits = slc_block_take(&at, n / 8 + VECTOR);
    uint32_t **const tables[] = {&work->place,    &work->count,  &work->of_rank, &work->run_place,
                                 &work->run_rank, &work->parent, &work->label,   &work->roots,
                                 &work->others,   &work->linked, &work->first,   &work->starter};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++) {
        *tables[i] = take_apart(begin, &at, n * sizeof(uint32_t));
    }
    work->number = take_apart(begin, &at, n * sizeof *work->number);
    work->flag = take_apart(begin, &at, n + VECTOR);
    work->charge = take_apart(begin, &at, n * sizeof *work->charge);
    work->window = take_apart(begin, &at, n * sizeof *work->window);
    work->sums = take_apart(begin, &at, n * sizeof *work->sums);
    return (size_t)(at - begin);
}

/* ---- the standard input ---------------------------------------------------------------------------- */

enum { MODULES = 8, CLUSTERS = 10, DIGIS = MODULES * CLUSTERS * 20, ROOM = DIGIS + 256 };

typedef struct scratch {
    _Alignas(SLC_BLOCK_ALIGN) char block[256 * 1024];
    slc_cms_split split;
    slc_cms_cluster_work work;
    uint16_t x[ROOM], y[ROOM], adc[ROOM], module[ROOM];
    int32_t cluster[ROOM];
    uint16_t cluster_module[ROOM], n_pixels[ROOM], box[4][ROOM];
    uint32_t charge[5][ROOM], first_digi[ROOM];
    float position[4][ROOM];
    uint32_t n_clusters;
} scratch;

/* Two rows of ten columns each, in an order of their own, somewhere along the module. */
static uint32_t put_cluster(scratch *s, uint32_t n, uint32_t module, uint32_t x, uint32_t y, uint64_t *seed)
{
    uint32_t column[10];
    for (uint32_t k = 0; k < 10; k++) {
        const uint32_t j = slc_random_below(seed, k + 1);
        column[k] = column[j];
        column[j] = k;
    }
    for (uint32_t k = 0; k < 20; k++, n++) {
        s->module[n] = (uint16_t)module;
        s->x[n] = (uint16_t)(x + k % 2);
        s->y[n] = (uint16_t)(y + column[k / 2] + 2 * (k % 2));
        s->adc[n] = (uint16_t)(slc_random_below(seed, 1000));
    }
    return n;
}

static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    slc_cms_grid grid;
    memset(s, 0, sizeof *s);
    slc_cms_grid_of(SLC_CMS_ROWS, SLC_CMS_COLUMNS, &grid);
    (void)slc_cms_cluster_work_carve(&s->work, &grid, DIGIS / MODULES, s->block);
    uint32_t n = 0;
    for (uint32_t m = 0; m < MODULES; m++) {
        for (uint32_t c = 0; c < CLUSTERS; c++) {
            n = put_cluster(s, n, 100 + 7 * m, 15 * c + slc_random_below(&seed, 10),
                            slc_random_below(&seed, 400), &seed);
        }
    }
}

static void run(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_cms_cluster_kernels *kernels = slc_cms_cluster_kernels_of(target);
    slc_cms_cluster_config config;
    slc_cms_cluster_config_default(&config);
    const slc_cms_digis digis = {.head = {.size = DIGIS}, .x = s->x, .y = s->y, .module = s->module};
    slc_cms_clusters to = {.head = {.capacity = ROOM},
                           .module = s->cluster_module,
                           .n_pixels = s->n_pixels,
                           .charge_e = s->charge[0],
                           .first_digi = s->first_digi,
                           .x_min = s->box[0],
                           .x_max = s->box[1],
                           .y_min = s->box[2],
                           .y_max = s->box[3],
                           .charge_x_min = s->charge[1],
                           .charge_x_max = s->charge[2],
                           .charge_y_min = s->charge[3],
                           .charge_y_max = s->charge[4],
                           .x_um = s->position[0],
                           .y_um = s->position[1],
                           .x_error_um = s->position[2],
                           .y_error_um = s->position[3]};
    (void)slc_cms_split_kernels_of(target)->split(&config, &digis, 0, DIGIS, &s->split);
    for (uint32_t k = 0; k < s->split.n; k++) {
        const uint32_t at = s->split.begin[k];
        const slc_cms_stretch stretch = {.module = s->module + at,
                                         .x = s->x + at,
                                         .y = s->y + at,
                                         .adc = s->adc + at,
                                         .first = at,
                                         .n = s->split.begin[k + 1] - at,
                                         .id = s->split.id[k]};
        (void)kernels->cluster(&config, &s->work, &stretch, s->cluster + at, &to);
    }
    s->n_clusters = (uint32_t)to.head.size;
}

static uint64_t digest(const void *memory)
{
    const scratch *s = memory;
    const size_t n = s->n_clusters;
    uint64_t d = slc_simd_digest(n, s->cluster, DIGIS * sizeof *s->cluster);
    d = slc_simd_digest(d, s->cluster_module, n * sizeof *s->cluster_module);
    d = slc_simd_digest(d, s->n_pixels, n * sizeof *s->n_pixels);
    d = slc_simd_digest(d, s->first_digi, n * sizeof *s->first_digi);
    for (size_t i = 0; i < 4; i++) {
        d = slc_simd_digest(d, s->box[i], n * sizeof *s->box[i]);
    }
    for (size_t i = 0; i < 5; i++) {
        d = slc_simd_digest(d, s->charge[i], n * sizeof *s->charge[i]);
    }
    return d;
}

/* Of a digi 8 bytes are read and 4 written, of a cluster 52 are written, for 20 digis. */
static const slc_simd_case modules = {DIGIS, 8 + 4 + 52.0 / 20, sizeof(scratch), prepare, run, digest};

const slc_simd_kernel slc_cms_cluster_kernel_rows[] = {
    /* Measured on an EPYC of the fifth generation, gcc 12: sluice bench --kernels --kernel cms.cluster */
    {.name = "cms.cluster",
     .preference = {{SLC_SIMD_AVX512ICL, 3.80},
                    {SLC_SIMD_AVX2, 3.89},
                    {SLC_SIMD_AVX512, 3.90},
                    {SLC_SIMD_AVX512VL256, 3.95},
                    {SLC_SIMD_AVX512VL128, 4.23},
                    {SLC_SIMD_SSE4, 4.52},
                    {SLC_SIMD_C, 8.58}},
     .bench = &modules},
    {.name = NULL},
};
