/* SPDX-License-Identifier: Apache-2.0
 * What energies there are, to set beside a window that keeps none: pet_seen.h. */
#include "pet/pet_stages.h"

#include <sluice/pet_seen.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHARE = 100 }; /* a window that keeps less than one of so many is told */

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

slc_status slc_pet_energies_of(const float *energy_kev, size_t n, slc_pet_energies *energies,
                               slc_error *error)
{
    *energies = (slc_pet_energies){.n = 0};
    float *sorted = malloc((n + 1) * sizeof *sorted);
    size_t kept = 0;
    if (sorted == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the energies of %zu singles", n);
    }
    for (size_t i = 0; i < n; i++) {
        sorted[kept] = energy_kev[i];
        kept += isnan(energy_kev[i]) ? 0U : 1U;
    }
    qsort(sorted, kept, sizeof *sorted, by_value);
    if (kept > 0) {
        *energies = (slc_pet_energies){.n = kept,
                                       .least_kev = (double)sorted[0],
                                       .median_kev = (double)sorted[kept / 2],
                                       .most_kev = (double)sorted[kept - 1]};
    }
    free(sorted);
    return SLC_OK;
}

slc_status slc_pet_seen_energies(const slc_pet_seen *seen, const slc_pet_tables *tables,
                                 slc_pet_energies *energies, slc_error *error)
{
    slc_pet_convert_config config;
    slc_pet_convert *stage = NULL;
    slc_pet_singles singles = {.time_ps = NULL};
    *energies = (slc_pet_energies){.n = 0};
    slc_pet_convert_config_default(&config);
    slc_status status = slc_pet_convert_open(&config, tables, &stage, error);
    status = status == SLC_OK
                 ? slc_pet_convert_run(stage, seen->frame, NULL, seen->kept, false, &singles, NULL, error)
                 : status;
    status = status == SLC_OK ? slc_pet_energies_of(singles.energy_kev, singles.head.size, energies, error)
                              : status;
    slc_pet_convert_close(stage);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    return status;
}

bool slc_pet_energies_doubt(const slc_pet_energies *e, double low_kev, double high_kev, uint64_t inside,
                            uint64_t all, bool gains, char text[SLC_PET_DOUBT])
{
    if (all == 0 || inside >= all / SHARE + (all % SHARE != 0)) {
        return false;
    }
    int n = snprintf(text, SLC_PET_DOUBT, "%" PRIu64 " of %" PRIu64 " singles are from %g to below %g keV",
                     inside, all, low_kev, high_kev);
    if (e->n > 0) {
        n += snprintf(text + n, SLC_PET_DOUBT - (size_t)n,
                      "; the energies that there are: from %.4g to %.4g keV, median %.4g keV", e->least_kev,
                      e->most_kev, e->median_kev);
    }
    if (!gains) {
        (void)snprintf(text + n, SLC_PET_DOUBT - (size_t)n,
                       "; without a table of gains (--tables) a unit of a frame's energy is 1 keV");
    }
    return true;
}
