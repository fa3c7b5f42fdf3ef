/* SPDX-License-Identifier: Apache-2.0
 * What a configuration of coincidences comes to (pet_coincidence_settings.h). */
#include "pet/pet_coincidence_settings.h"
#include "pet/pet_coincidence_rule.h"

#include <math.h>

static const char *const names[SLC_PET_POLICIES] = {
    "killAll",
    "takeAllGoods",
    "takeWinnerOfGoods",
    "takeWinnerIfIsGood",
    "takeWinnerIfAllAreGoods",
    "killAllIfMultipleGoods",
    "keepIfAnyIsGood",
    "keepIfOnlyOneGood",
    "keepIfAllAreGoods",
    "keepAll",
    "opengate:RemoveMultiples",
    "opengate:TakeAllGoods",
    "opengate:TakeIfOnlyOneGood",
    "opengate:TakeWinnerOfGoods",
    "opengate:TakeWinnerIfIsGood",
    "opengate:TakeWinnerIfAllAreGoods",
    "rejectHigherMultiples",
    "multiplesAsAllCoincidences",
    "multiplesAsSequentialCoincidences",
};

const char *slc_pet_policy_name(slc_pet_policy policy)
{
    return policy >= 0 && policy < SLC_PET_POLICIES ? names[policy] : NULL;
}

void slc_pet_coincidence_config_default(slc_pet_coincidence_config *config)
{
    *config = (slc_pet_coincidence_config){.size = sizeof *config,
                                           .window_ns = 10,
                                           .closed = true,
                                           .high_kev = INFINITY,
                                           .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}

static slc_status check(const slc_pet_coincidence_config *c, slc_error *error)
{
    static const double most_ns = 1e15; /* eleven days, in picoseconds still below 2^63 */
    if (!(c->window_ns > 0) || c->window_ns > most_ns) {
        return slc_fail(error, SLC_ERR_USAGE, "window: %g ns is not above 0 and at most %g ns", c->window_ns,
                        most_ns);
    }
    if (!(c->offset_ns >= 0) || c->offset_ns > most_ns) {
        return slc_fail(error, SLC_ERR_USAGE, "offset: %g ns is not from 0 to %g ns", c->offset_ns, most_ns);
    }
    if (c->policy < 0 || c->policy >= SLC_PET_POLICIES) {
        return slc_fail(error, SLC_ERR_USAGE, "policy: unknown number %d", (int)c->policy);
    }
    if (slc_pet_policy_is_opengate(c->policy) && c->offset_ns > 0) {
        return slc_fail(error, SLC_ERR_USAGE, "policy: %s has no delayed windows", names[c->policy]);
    }
    if (isnan(c->low_kev) || isnan(c->high_kev) || c->low_kev >= c->high_kev) {
        return slc_fail(error, SLC_ERR_USAGE, "energies: no energy is from %g to below %g keV", c->low_kev,
                        c->high_kev);
    }
    if (c->exec.target != SLC_SIMD_AUTO && !slc_simd_runs(c->exec.target)) {
        return slc_fail(error, SLC_ERR_USAGE, "target: number %d does not run here", (int)c->exec.target);
    }
    return SLC_OK;
}

/* False where that is not a whole number of picoseconds. */
static bool picoseconds(double ns, uint64_t *ps)
{
    const double exact = ns * 1000, whole = round(exact);
    *ps = (uint64_t)whole;
    return fabs(exact - whole) <= 1e-9 * (1 + whole);
}

slc_status slc_pet_settings_of(const slc_pet_coincidence_config *config, slc_pet_settings *settings,
                               slc_error *error)
{
    const slc_status status = check(config, error);
    if (status != SLC_OK) {
        return status;
    }
    const bool opengate = slc_pet_policy_is_opengate(config->policy);
    const bool closed = config->closed || opengate;
    const double end = config->offset_ns + config->window_ns;
    uint64_t window_ps = 0;
    *settings = (slc_pet_settings){.terms = {.policy = config->policy,
                                             .all_open = config->all_open || opengate,
                                             .delayed = config->offset_ns > 0,
                                             .compat_gate9 = config->compat_gate9,
                                             .opengate = opengate},
                                   .selects = config->low_kev > 0 || config->high_kev < INFINITY,
                                   .low_ns = config->offset_ns,
                                   .high_ns = closed ? end : nextafter(end, 0)};
    settings->whole_ps = picoseconds(config->window_ns, &window_ps);
    settings->whole_ps &= picoseconds(config->offset_ns, &settings->low_ps);
    settings->high_ps = settings->low_ps + window_ps - (closed ? 0 : 1);
    return slc_pet_good_open(&config->good, &settings->terms.good, error);
}
