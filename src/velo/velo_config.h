/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the settings of the VELO's chain as a table, by which they are checked, read, written
 * and named in errors, so that a setting which is not in the table does not exist outside of C. What is in it
 * decides what is found; what is kept, told or on which instruction set it runs is not.
 */
#ifndef SLUICE_VELO_CONFIG_H
#define SLUICE_VELO_CONFIG_H

#include <sluice/velo_chain.h>

typedef enum slc_velo_setting_kind {
    SLC_VELO_SETTING_COUNT = 0, /* uint32_t */
    SLC_VELO_SETTING_NUMBER,    /* float, or several in a row */
    SLC_VELO_SETTING_CHOICE     /* an enum, from 0, by its words */
} slc_velo_setting_kind;

/* docs/formats/velo-config.md says what each is for. Those of one group stand together. */
typedef struct slc_velo_setting {
    const char *group; /* "track", "fit", "vertex", "gec"; "" for none */
    const char *key;   /* with its unit */
    size_t offset;     /* in slc_velo_config */
    double low, high;
    const char *const *words; /* of a choice, NULL after the last */
    slc_velo_setting_kind kind;
    uint32_t n; /* numbers in a row; 1 but for arrays */
} slc_velo_setting;

/* The i-th one, NULL after the last. */
const slc_velo_setting *slc_velo_setting_at(size_t i);

/* Value `at` of a setting: a count and the place of a choice's word as they are. */
double slc_velo_setting_get(const slc_velo_setting *setting, const slc_velo_config *config, uint32_t at);
/* Takes a value without looking at its limits, but that counts must be whole numbers of 32 bits. */
void slc_velo_setting_set(const slc_velo_setting *setting, slc_velo_config *config, uint32_t at,
                          double value);

/* All of them within their limits, and the histogram of vertices within its own: SLC_ERR_USAGE names the
 * first that is not ("fit.hit_sigma_mm is 0, must be from 1e-06 to 1000"). */
slc_status slc_velo_settings_check(const slc_velo_config *config, slc_error *error);

#endif
