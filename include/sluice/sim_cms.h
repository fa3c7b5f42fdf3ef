/* SPDX-License-Identifier: Apache-2.0
 *
 * sim_cms: seeded events of CMS's pixel detector, as raw fragments with truth, with the cabling and the gains
 * that belong to them.
 */
#ifndef SLUICE_SIM_CMS_H
#define SLUICE_SIM_CMS_H

#include <sluice/cms_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Tracks that make about as many digis in an event, 175 000, as the synthetic events have:
 * tests/cli/simulate_cms.sh. */
enum { SLC_SIM_CMS_CROWDED_TRACKS = 10500 };

typedef struct slc_sim_cms_config {
    size_t size; /* set by slc_sim_cms_config_default */
    uint64_t seed;
    float tracks;      /* mean number that cross the barrel's first layer in an event; default 1500 */
    float noise_digis; /* mean number in an event */
    float duplicates;  /* fraction of digis that are sent twice */
    float dead_columns, noisy_columns; /* fractions of columns, marked in the gains */
    float bad_rocs;                    /* fraction of chips that are marked bad in the cabling */
    float corrupt; /* fraction of words that are made wrong, or stand between the others: every error
                      code in turn */
    bool shuffled; /* links of a fragment in any order, so that modules are not contiguous */
    bool whole;    /* no event ends inside a fragment, as `corrupt` else makes some do: files of events
                      (io_cms.h) cannot hold such */
} slc_sim_cms_config;
SLC_API void slc_sim_cms_config_default(slc_sim_cms_config *config, size_t size);
#define slc_sim_cms_config_default(config) slc_sim_cms_config_default(config, sizeof *(config))

/* What is true of a batch. Digis are those that a right decoder finds, as it should order them (adc in
 * counts); tracks are crossings of modules, whose charge made them. */
typedef struct slc_sim_cms_crossings {
    slc_columns head;
    uint16_t *module;
    float *x_um, *y_um; /* in the module's plane, from its middle, half way through the silicon */
    float *charge_e;
    uint32_t *n_digis; /* above threshold; 0: not seen */
} slc_sim_cms_crossings;
SLC_API extern const slc_schema slc_sim_cms_crossings_schema;
typedef struct slc_sim_cms_truth {
    slc_cms_digis digis;
    slc_sim_cms_crossings crossings;
    slc_faults faults; /* that a right decoder records; of an event first those of its fragments */
} slc_sim_cms_truth;
SLC_API void slc_sim_cms_truth_clear(slc_sim_cms_truth *truth);

typedef struct slc_sim_cms slc_sim_cms;
SLC_API slc_status slc_sim_cms_open(const slc_sim_cms_config *config, slc_sim_cms **sim, slc_error *error);
SLC_API void slc_sim_cms_close(slc_sim_cms *sim);
SLC_API const slc_cms_cabling *slc_sim_cms_cabling(const slc_sim_cms *sim);
SLC_API const slc_cms_gains *slc_sim_cms_gains(const slc_sim_cms *sim);
/* Appends event number `event` of the seed to the batch and, unless NULL, to the truth. Event k is the same
 * whatever was generated before. */
SLC_API slc_status slc_sim_cms_event(slc_sim_cms *sim, uint64_t event, slc_batch *batch,
                                     slc_sim_cms_truth *truth, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
