/* SPDX-License-Identifier: Apache-2.0
 * Coincidences on a GPU in a build without it: the stage cannot be opened, and says why. */
#include "pet/pet_coincidence_on.h"

static const char reason[] = "coincidences on a GPU: built without CUDA";

slc_status slc_pet_on_open(const slc_pet_coincidence_config *config, uint32_t device, slc_pet_on **on,
                           slc_error *error)
{
    (void)config;
    (void)device;
    *on = NULL;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

void slc_pet_on_close(slc_pet_on *on)
{
    (void)on;
}

slc_status slc_pet_on_run(slc_pet_on *on, const slc_pet_on_input *in, bool last, slc_pet_groups *groups,
                          slc_pet_coincidences *pairs, slc_error *error)
{
    (void)on;
    (void)in;
    (void)last;
    (void)groups;
    (void)pairs;
    return slc_fail(error, SLC_ERR_UNSUPPORTED, "%s", reason);
}

void slc_pet_on_counts_of(const slc_pet_on *on, slc_pet_coincidence_counts *counts)
{
    (void)on;
    *counts = (slc_pet_coincidence_counts){0};
}
