/* SPDX-License-Identifier: Apache-2.0
 *
 * The calibration of one digi: what becomes of it, and its electrons. This is what it means; CUDA runs it as
 * it is, and cms_calibrate.simd.c does the same in vectors, bit for bit. Every operation on floating-point
 * numbers is rounded by itself (-ffp-contract=off, -fmad=false), in the order written here.
 */
#ifndef SLUICE_CMS_CALIBRATE_CORE_H
#define SLUICE_CMS_CALIBRATE_CORE_H

#include "cms/cms_core.h"
#include <sluice/cms_chain.h>

enum { SLC_CMS_MOST_SLOPE = 30 };

/* What becomes of a digi. All but the first two get SLC_CMS_NO_MODULE and 0 electrons; _DEAD and _NOISY are
 * counted, _OUTSIDE is the fault SLC_FAULT_CMS_PIXEL of its module. */
typedef enum slc_cms_calibrated {
    SLC_CMS_CALIBRATED_GOOD = 0,
    SLC_CMS_CALIBRATED_NONE,    /* had SLC_CMS_NO_MODULE before: stays as it is */
    SLC_CMS_CALIBRATED_BEYOND,  /* of a module beyond the gains */
    SLC_CMS_CALIBRATED_OUTSIDE, /* of no pixel of a phase-1 module */
    SLC_CMS_CALIBRATED_DEAD,
    SLC_CMS_CALIBRATED_NOISY
} slc_cms_calibrated;

/* Truncated and cut to 16 bits; what is no number is the least. */
SLC_CMS_CORE uint16_t slc_cms_electrons(float electrons, uint32_t least)
{
    const float low = (float)least;
    float v = electrons > low ? electrons : low;
    v = v < 65535.0f ? v : 65535.0f;
    return (uint16_t)(int32_t)v;
}

/* Phase 1: electrons of `adc` counts in a pixel with these bytes. */
SLC_CMS_CORE uint16_t slc_cms_electrons_phase1(const slc_cms_calibrate_config *config,
                                               const slc_cms_gains *scale, slc_cms_gain bytes, bool layer1,
                                               uint32_t adc)
{
    const float pedestal = (float)bytes.pedestal * scale->pedestal_step + scale->pedestal_low;
    const float gain = (float)bytes.gain * scale->gain_step + scale->gain_low;
    const float factor = layer1 ? config->factor_layer1 : config->factor;
    const float offset = layer1 ? config->offset_layer1_e : config->offset_e;
    return slc_cms_electrons(((float)(int32_t)adc - pedestal) * gain * factor + offset, config->least_e);
}

/* Phase 2: below the kink a line through half a count; from it on, counts are worth 2^slope as much. The
 * choice is made by masks, as compilers then make vectors of it. slope is at most SLC_CMS_MOST_SLOPE. */
SLC_CMS_CORE uint16_t slc_cms_electrons_phase2(const slc_cms_calibrate_config *config, uint32_t adc)
{
    const int32_t above = 0 - (int32_t)(adc >= config->kink);
    const int32_t from = (int32_t)config->kink & above;
    const int32_t step = 1 + ((((int32_t)1 << config->slope) - 1) & above);
    const float counts = (float)from + ((float)((int32_t)adc - from) + 0.5f) * (float)step;
    return slc_cms_electrons(counts * config->per_count_e, 0);
}

/* Where the bytes of a pixel are: `module` below the gains' number, x and y in a phase-1 module. */
SLC_CMS_CORE uint32_t slc_cms_gain_of(uint32_t module, uint32_t x, uint32_t y)
{
    return module * (uint32_t)SLC_CMS_GAINS + y * (uint32_t)SLC_CMS_GAIN_BLOCKS + (x >= 80u ? 1u : 0u);
}

/* Phase 1: what becomes of a digi, and its electrons in *adc where it is good. `gains` is read through
 * gains->gain, which is a pointer to the device's memory there. */
SLC_CMS_CORE slc_cms_calibrated slc_cms_calibrate_phase1(const slc_cms_calibrate_config *config,
                                                         const slc_cms_gains *gains, uint32_t module,
                                                         uint32_t x, uint32_t y, uint16_t *adc)
{
    if (module == (uint32_t)SLC_CMS_NO_MODULE) {
        return SLC_CMS_CALIBRATED_NONE;
    }
    if (module >= gains->n_modules) {
        return SLC_CMS_CALIBRATED_BEYOND;
    }
    if (x >= (uint32_t)SLC_CMS_ROWS || y >= (uint32_t)SLC_CMS_COLUMNS) {
        return SLC_CMS_CALIBRATED_OUTSIDE;
    }
    const slc_cms_gain bytes = gains->gain[slc_cms_gain_of(module, x, y)];
    if (bytes.pedestal == gains->dead) {
        return SLC_CMS_CALIBRATED_DEAD;
    }
    if (bytes.pedestal == gains->noisy) {
        return SLC_CMS_CALIBRATED_NOISY;
    }
    *adc = slc_cms_electrons_phase1(config, gains, bytes, module < (uint32_t)SLC_CMS_LAYER1_END, *adc);
    return SLC_CMS_CALIBRATED_GOOD;
}

#endif
