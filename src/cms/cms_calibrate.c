/* SPDX-License-Identifier: Apache-2.0
 * ADC counts to electrons by the formulas of cms_calibrate_core.h, which the GPU shares: blocks of usual
 * digis by the kernels of cms_calibrate.simd.c, and all others here, one by one. And the memory of the gains.
 */
#include "base/block.h"
#include "cms/cms_calibrate_core.h"
#include "cms/cms_calibrate_work.h"
#include "cms/cms_stages.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

slc_status slc_cms_gains_reserve(slc_cms_gains *gains, uint32_t modules)
{
    slc_cms_gain *gain = slc_block_zeros(((size_t)modules + 1) * SLC_CMS_GAINS * sizeof *gain);
    if (gain == NULL) {
        return SLC_ERR_MEMORY;
    }
    free(gains->gain);
    gains->gain = gain;
    gains->n_modules = modules;
    return SLC_OK;
}

void slc_cms_gains_clear(slc_cms_gains *gains)
{
    free(gains->gain);
    memset(gains, 0, sizeof *gains);
}

void slc_cms_calibrate_config_default(slc_cms_calibrate_config *config, slc_cms_phase phase)
{
    *config = (slc_cms_calibrate_config){
        .phase = phase,
        .factor_layer1 = 50.0f,
        .offset_layer1_e = -670.0f,
        .factor = 47.0f,
        .offset_e = -60.0f,
        .least_e = 100,
        .per_count_e = 600.0f,
        .slope = 2,
        .kink = 8,
    };
}

/* What does not change from digi to digi. */
typedef struct job {
    const slc_cms_calibrate_config *config;
    const slc_cms_gains *gains;
    const slc_cms_calibrate_kernels *kernels;
    uint64_t event;
    slc_cms_digis *digis;
    size_t begin; /* of the event */
    slc_cms_calibrate_counts *counts;
    slc_faults *faults;
} job;

static void drop(slc_cms_digis *digis, size_t row)
{
    digis->module[row] = SLC_CMS_NO_MODULE;
    digis->adc[row] = 0;
}

/* Any digis, one by one. */
static void calibrate_rows(const job *j, size_t begin, size_t end)
{
    slc_cms_digis *digis = j->digis;
    for (size_t i = begin; i < end; i++) {
        const uint16_t module = digis->module[i];
        const slc_cms_calibrated became = slc_cms_calibrate_phase1(j->config, j->gains, module, digis->x[i],
                                                                   digis->y[i], &digis->adc[i]);
        if (became <= SLC_CMS_CALIBRATED_NONE) {
            continue;
        }
        j->counts->dead += became == SLC_CMS_CALIBRATED_DEAD;
        j->counts->noisy += became == SLC_CMS_CALIBRATED_NOISY;
        j->counts->beyond += became == SLC_CMS_CALIBRATED_BEYOND;
        if (became == SLC_CMS_CALIBRATED_OUTSIDE) {
            slc_faults_add(j->faults, SLC_FAULT_CMS_PIXEL, j->event, module, i - j->begin);
        }
        drop(digis, i);
    }
}

static void calibrate_event(const job *j, size_t end)
{
    enum { BLOCK = SLC_CMS_CALIBRATE_BLOCK };
    size_t at = j->begin;
    for (; at + BLOCK <= end; at += BLOCK) {
        if (!j->kernels->phase1(j->config, j->gains, j->digis, at)) {
            calibrate_rows(j, at, at + BLOCK);
        }
    }
    calibrate_rows(j, at, end);
}

/* There is no handle that could keep the choice, and asking the processor anew takes microseconds where it is
 * a virtual one. Every thread would write the same. */
static const slc_cms_calibrate_kernels *preferred_kernels(void)
{
    static _Atomic(const slc_cms_calibrate_kernels *) preferred;
    const slc_cms_calibrate_kernels *kernels = atomic_load_explicit(&preferred, memory_order_relaxed);
    if (kernels == NULL) {
        kernels = slc_cms_calibrate_kernels_of(
            slc_simd_kernel_choice(&slc_cms_calibrate_kernel_rows[0], SLC_SIMD_AUTO));
        atomic_store_explicit(&preferred, kernels, memory_order_relaxed);
    }
    return kernels;
}

slc_status slc_cms_calibrate_run(const slc_cms_calibrate_config *config, const slc_cms_gains *gains,
                                 uint64_t first_event, slc_cms_digis *digis, slc_cms_calibrate_counts *counts,
                                 slc_faults *faults)
{
    const slc_cms_calibrate_kernels *kernels = preferred_kernels();
    *counts = (slc_cms_calibrate_counts){0};
    if (config->phase == SLC_CMS_PHASE2) {
        if (config->slope > SLC_CMS_MOST_SLOPE) {
            return SLC_ERR_USAGE;
        }
        kernels->phase2(config, digis);
        return SLC_OK;
    }
    if (config->phase != SLC_CMS_PHASE1 || gains == NULL || gains->gain == NULL ||
        gains->dead == gains->noisy) {
        return SLC_ERR_USAGE;
    }
    job j = {.config = config,
             .gains = gains,
             .kernels = kernels,
             .digis = digis,
             .counts = counts,
             .faults = faults};
    for (uint32_t e = 0; e < digis->head.n_events; e++) {
        j.event = first_event + e;
        j.begin = digis->head.event_offset[e];
        calibrate_event(&j, digis->head.event_offset[e + 1]);
    }
    return SLC_OK;
}
