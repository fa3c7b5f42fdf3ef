/* SPDX-License-Identifier: Apache-2.0
 * The tables of the positions' kernel, what `auto` prefers, and its standard input: clusters of one to four
 * rows and columns, in modules of 26.
 */
#include "cms/cms_position_work.h"
#include "cms/cms_stages.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_cms_position_kernels_##target,
static const slc_cms_position_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_cms_position_kernels *slc_cms_position_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

enum { MODULE = 26, CLUSTERS = 40 * MODULE, ROOM = CLUSTERS + 64 };

typedef struct scratch {
    uint16_t box[4][ROOM]; /* x_min, x_max, y_min, y_max */
    uint32_t charge[4][ROOM];
    float position[4][ROOM];
} scratch;

static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    memset(s, 0, sizeof *s);
    for (uint32_t i = 0; i < CLUSTERS; i++) {
        s->box[0][i] = (uint16_t)slc_random_below(&seed, SLC_CMS_ROWS - 3);
        s->box[1][i] = (uint16_t)(s->box[0][i] + slc_random_below(&seed, 4));
        s->box[2][i] = (uint16_t)slc_random_below(&seed, SLC_CMS_COLUMNS - 3);
        s->box[3][i] = (uint16_t)(s->box[2][i] + slc_random_below(&seed, 4));
        for (size_t k = 0; k < 4; k++) {
            s->charge[k][i] = slc_random_below(&seed, 30000);
        }
    }
}

static void run(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    slc_cms_position_config config;
    slc_cms_position_config_default(&config);
    const slc_cms_clusters clusters = {.x_min = s->box[0],
                                       .x_max = s->box[1],
                                       .y_min = s->box[2],
                                       .y_max = s->box[3],
                                       .charge_x_min = s->charge[0],
                                       .charge_x_max = s->charge[1],
                                       .charge_y_min = s->charge[2],
                                       .charge_y_max = s->charge[3],
                                       .x_um = s->position[0],
                                       .y_um = s->position[1],
                                       .x_error_um = s->position[2],
                                       .y_error_um = s->position[3]};
    for (size_t at = 0; at < CLUSTERS; at += MODULE) {
        const slc_cms_plane plane = {.z0_um = 30000.0f + (float)at, .width_x_um = 50.0f, .y0_um = (float)at};
        slc_cms_position_kernels_of(target)->locate(&config, &plane, &clusters, at, MODULE);
    }
}

static uint64_t digest(const void *memory)
{
    const scratch *s = memory;
    uint64_t d = 0;
    for (size_t k = 0; k < 4; k++) {
        d = slc_simd_digest(d, s->position[k], CLUSTERS * sizeof(float));
    }
    return d;
}

/* Four sides and four charges are read, four floats written. */
static const slc_simd_case clusters_of_modules = {
    CLUSTERS, 4 * 2 + 4 * 4 + 4 * 4, sizeof(scratch), prepare, run, digest};

const slc_simd_kernel slc_cms_position_kernel_rows[] = {
    /* Measured on an EPYC of the fifth generation, gcc 12: sluice bench --kernels --kernel cms.position */
    {.name = "cms.position",
     .preference = {{SLC_SIMD_AVX512, 4.25},
                    {SLC_SIMD_AVX512ICL, 4.27},
                    {SLC_SIMD_AVX512VL256, 4.51},
                    {SLC_SIMD_AVX2, 4.75},
                    {SLC_SIMD_AVX512VL128, 5.33},
                    {SLC_SIMD_SSE4, 5.94},
                    {SLC_SIMD_C, 8.50}},
     .bench = &clusters_of_modules},
    {.name = NULL},
};
