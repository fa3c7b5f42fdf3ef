/* SPDX-License-Identifier: Apache-2.0
 *
 * Stage 2: ADC counts to electrons. Phase 1: pedestal and gain of each column and block of 80 rows. Phase 2:
 * a charge per count with a second slope above a kink.
 */
#ifndef SLUICE_CMS_CALIBRATE_H
#define SLUICE_CMS_CALIBRATE_H

#include <sluice/cms_types.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    SLC_CMS_GAIN_BLOCKS = 2, /* of 80 rows */
    SLC_CMS_GAINS = SLC_CMS_COLUMNS * SLC_CMS_GAIN_BLOCKS
};

/* Of modules 0 … n_modules - 1: entry module · SLC_CMS_GAINS + column · 2 + row / 80. Gain = gain byte ·
 * gain_step + gain_low, pedestal likewise; two special pedestal bytes say that the column is dead or noisy.
 */
typedef struct slc_cms_gain {
    uint8_t gain, pedestal;
} slc_cms_gain;
typedef struct slc_cms_gains {
    uint32_t n_modules;
    float gain_low, gain_step, pedestal_low, pedestal_step;
    uint8_t dead, noisy; /* pedestal bytes; different */
    slc_cms_gain *gain;  /* n_modules · SLC_CMS_GAINS; owned */
} slc_cms_gains;
/* Room for so many modules, all bytes 0. Zero-initialise before. */
SLC_API slc_status slc_cms_gains_reserve(slc_cms_gains *gains, uint32_t modules);
SLC_API void slc_cms_gains_clear(slc_cms_gains *gains);

typedef enum slc_cms_phase { SLC_CMS_PHASE1 = 1, SLC_CMS_PHASE2 = 2 } slc_cms_phase;

typedef struct slc_cms_calibrate_config {
    slc_cms_phase phase;
    /* Phase 1: electrons = max(least_e, (adc - pedestal) · gain · factor + offset), truncated; layer 1 has a
     * factor and an offset of its own. Defaults 50, -670 in layer 1, 47, -60 elsewhere, 100. */
    float factor_layer1, offset_layer1_e, factor, offset_e;
    uint32_t least_e;
    /* Phase 2: below `kink` counts electrons = (adc + 1/2) · per_count_e; from there on, each count is worth
     * 2^slope of these, as the read-out has divided there: (kink + (adc - kink + 1/2) · 2^slope) ·
     * per_count_e; slope 0 goes on linearly. Defaults 600, 2, 8. */
    float per_count_e;
    uint32_t slope, kink;
} slc_cms_calibrate_config;
SLC_API void slc_cms_calibrate_config_default(slc_cms_calibrate_config *config, slc_cms_phase phase);

typedef struct slc_cms_calibrate_counts {
    uint64_t dead, noisy; /* digis of such columns */
    uint64_t beyond;      /* digis of modules that the gains do not have */
} slc_cms_calibrate_counts;

/* Replaces adc by electrons (saturating at 65535) in all digis. Digis of dead and noisy columns, and of
 * modules beyond the gains, get the module SLC_CMS_NO_MODULE and 0 electrons (they then stand between the
 * others). All arithmetic is in float, rounded after each operation, so that every target and the GPU give
 * the same bits. `gains` is not used in phase 2. Digis that are none already stay as they are. Coordinates
 * outside of a phase-1 module: as dead, and the fault SLC_FAULT_CMS_PIXEL (offset: the digi in its event). */
SLC_API slc_status slc_cms_calibrate_run(const slc_cms_calibrate_config *config, const slc_cms_gains *gains,
                                         uint64_t first_event, slc_cms_digis *digis,
                                         slc_cms_calibrate_counts *counts, slc_faults *faults);

#ifdef __cplusplus
}
#endif
#endif
