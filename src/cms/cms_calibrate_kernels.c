/* SPDX-License-Identifier: Apache-2.0
 * The tables of the calibration's kernels, what `auto` prefers, and their standard input: digis of one layer,
 * some twenty near each other, with gains of every column.
 */
#include "cms/cms_calibrate_work.h"
#include "cms/cms_stages.h"

#include "base/splitmix.h"

#include <string.h>

#define TABLE_OF(target, TARGET) [SLC_SIMD_##TARGET] = &slc_cms_calibrate_kernels_##target,
static const slc_cms_calibrate_kernels *const tables[SLC_SIMD_TARGETS] = {SIMD_FOR_EACH(TABLE_OF)};
#undef TABLE_OF

const slc_cms_calibrate_kernels *slc_cms_calibrate_kernels_of(slc_simd_target target)
{
    return target >= 0 && target < SLC_SIMD_TARGETS ? tables[target] : NULL;
}

enum { MODULES = 8, BLOCKS = 50, DIGIS = BLOCKS * SLC_CMS_CALIBRATE_BLOCK };

typedef struct scratch {
    slc_cms_gain gain[MODULES * SLC_CMS_GAINS];
    uint16_t x[DIGIS], y[DIGIS], counts[DIGIS], module[DIGIS], adc[DIGIS], adc2[DIGIS];
    bool done[BLOCKS];
} scratch;

static void prepare(void *memory, uint64_t seed)
{
    scratch *s = memory;
    for (size_t i = 0; i < sizeof s->gain / sizeof *s->gain; i++) {
        s->gain[i].gain = (uint8_t)slc_random_below(&seed, 256);
        s->gain[i].pedestal = (uint8_t)slc_random_below(&seed, 254);
    }
    for (uint32_t i = 0; i < DIGIS; i++) {
        s->module[i] = (uint16_t)(i / (DIGIS / MODULES));
        s->x[i] = (uint16_t)(i % 20 == 0 ? slc_random_below(&seed, SLC_CMS_ROWS - 2)
                                         : s->x[i - i % 20] + i % 2);
        s->y[i] = (uint16_t)(i % 20 == 0 ? slc_random_below(&seed, SLC_CMS_COLUMNS - 10)
                                         : s->y[i - i % 20] + i / 2 % 10);
        s->counts[i] = (uint16_t)slc_random_below(&seed, 1024);
    }
}

static void run(void *memory, slc_simd_target target)
{
    scratch *s = memory;
    const slc_cms_calibrate_kernels *kernels = slc_cms_calibrate_kernels_of(target);
    slc_cms_calibrate_config config;
    const slc_cms_gains gains = {.n_modules = MODULES,
                                 .gain_low = 1.0f,
                                 .gain_step = 0.01f,
                                 .pedestal_low = 10.0f,
                                 .pedestal_step = 0.2f,
                                 .dead = 255,
                                 .noisy = 254,
                                 .gain = s->gain};
    const slc_cms_digis digis = {
        .head = {.size = DIGIS}, .adc = s->adc, .x = s->x, .y = s->y, .module = s->module};
    slc_cms_digis digis2 = digis;
    digis2.adc = s->adc2;
    memcpy(s->adc, s->counts, sizeof s->adc);
    memcpy(s->adc2, s->counts, sizeof s->adc2);
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE1);
    for (uint32_t b = 0; b < BLOCKS; b++) {
        s->done[b] = kernels->phase1(&config, &gains, &digis, (size_t)b * SLC_CMS_CALIBRATE_BLOCK);
    }
    slc_cms_calibrate_config_default(&config, SLC_CMS_PHASE2);
    kernels->phase2(&config, &digis2);
}

static uint64_t digest(const void *memory)
{
    const scratch *s = memory;
    const uint64_t d = slc_simd_digest(0, s->adc, sizeof s->adc);
    return slc_simd_digest(slc_simd_digest(d, s->adc2, sizeof s->adc2), s->done, sizeof s->done);
}

/* In phase 1 a digi's counts, module, row and column are read, and electrons written; in phase 2, of as many,
 * counts and modules. */
static const slc_simd_case both_phases = {2 * DIGIS, 8, sizeof(scratch), prepare, run, digest};

const slc_simd_kernel slc_cms_calibrate_kernel_rows[] = {
    /* Measured on an EPYC of the fifth generation, gcc 12: sluice bench --kernels --kernel cms.calibrate */
    {.name = "cms.calibrate",
     .preference = {{SLC_SIMD_AVX512ICL, 0.58},
                    {SLC_SIMD_AVX512, 0.60},
                    {SLC_SIMD_AVX512VL256, 0.68},
                    {SLC_SIMD_AVX2, 0.77},
                    {SLC_SIMD_AVX512VL128, 1.04},
                    {SLC_SIMD_SSE4, 1.09},
                    {SLC_SIMD_C, 1.22}},
     .bench = &both_phases},
    {.name = NULL},
};
