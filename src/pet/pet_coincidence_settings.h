/* SPDX-License-Identifier: Apache-2.0
 *
 * What a configuration of coincidences comes to, for the stages on the processor and on a GPU: the rule, and
 * limits for both types of times. Singles that are from low to high behind their opener are in its window: a
 * window that is open at its end has a high that is one step less.
 */
#ifndef SLUICE_PET_COINCIDENCE_SETTINGS_H
#define SLUICE_PET_COINCIDENCE_SETTINGS_H

#include "pet/pet_coincidence_core.h"

typedef struct slc_pet_settings {
    slc_pet_terms terms; /* without singles */
    uint64_t low_ps, high_ps;
    double low_ns, high_ns;
    bool whole_ps; /* window and offset are whole picoseconds */
    bool selects;  /* there is an energy window */
} slc_pet_settings;

/* SLC_ERR_USAGE for a configuration that cannot be; the text names the field. Afterwards
 * slc_pet_good_close(&settings->terms.good). */
slc_status slc_pet_settings_of(const slc_pet_coincidence_config *config, slc_pet_settings *settings,
                               slc_error *error);

#endif
