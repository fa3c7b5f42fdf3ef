/* SPDX-License-Identifier: Apache-2.0
 *
 * What a configuration comes to; the table of good differences; and the policies on one window, with rows for
 * what pet_coincidence_core.h finds.
 */
#include "pet/pet_coincidence_rule.h"
#include "base/config.h"
#include "pet/pet_scanner.h"

#include <math.h>
#include <stdlib.h>

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

slc_pet_multiples slc_pet_multiples_of(slc_pet_policy policy)
{
    switch (policy) {
    case SLC_PET_KILL_ALL:
    case SLC_PET_OPENGATE_REMOVE_MULTIPLES:
    case SLC_PET_REJECT_HIGHER_MULTIPLES:
        return SLC_PET_MULTIPLES_REJECTED;
    case SLC_PET_TAKE_ALL_GOODS:
    case SLC_PET_OPENGATE_TAKE_ALL_GOODS:
    case SLC_PET_MULTIPLES_AS_ALL:
        return SLC_PET_MULTIPLES_ALL;
    case SLC_PET_MULTIPLES_AS_SEQUENTIAL:
        return SLC_PET_MULTIPLES_SEQUENTIAL;
    default:
        return SLC_PET_MULTIPLES_OTHER;
    }
}

static void pet_coincidence_config_default(slc_pet_coincidence_config *config)
{
    *config = (slc_pet_coincidence_config){.size = sizeof *config,
                                           .window_ns = 10,
                                           .closed = true,
                                           .high_kev = INFINITY,
                                           .exec = {.threads = 1, .target = SLC_SIMD_AUTO}};
}
SLC_CONFIG_DEFAULT(slc_pet_coincidence_config, pet_coincidence_config_default)

static slc_status check_config(const slc_pet_coincidence_config *c, slc_error *error)
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
    const slc_status status = check_config(config, error);
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

/* ---- good pairs ------------------------------------------------------------------------------------- */

static const double pi = 3.14159265358979323846;

static slc_status check_sectors(const slc_pet_good *good, slc_error *error)
{
    if (good->sectors == 0 || good->crystals_per_ring % good->sectors != 0) {
        return slc_fail(error, SLC_ERR_USAGE, "good.sectors: %u do not divide %u crystals of a ring",
                        good->sectors, good->crystals_per_ring);
    }
    if (good->min_sectors > good->sectors / 2) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "good.min_sectors: no two of %u sectors are %u apart around the ring", good->sectors,
                        good->min_sectors);
    }
    return SLC_OK;
}

static slc_status check_distance(const slc_pet_good *good, slc_error *error)
{
    const bool lengths = good->radius_mm > 0 && isfinite(good->radius_mm) && good->pitch_z_mm > 0 &&
                         isfinite(good->pitch_z_mm);
    if (!lengths) {
        return slc_fail(error, SLC_ERR_USAGE, "good: the ring's radius is %g mm and the rings' pitch %g mm",
                        good->radius_mm, good->pitch_z_mm);
    }
    if (!(good->min_mm >= 0) || !(good->max_axial_mm >= 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "good: distances of %g mm across and %g mm along the axis",
                        good->min_mm, good->max_axial_mm);
    }
    return SLC_OK;
}

static slc_status check_geometry(const slc_pet_good *good, slc_error *error)
{
    if (good->scanner == NULL) {
        return slc_fail(error, SLC_ERR_USAGE, "good pairs by geometry: the scanner must be known");
    }
    if (!(good->min_degrees >= 0 && good->min_degrees <= 180) || !(good->fov_mm >= 0) ||
        !(good->max_axial_mm >= 0)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "good: an angle of %g degrees, a field of view of %g mm, %g mm along the axis",
                        good->min_degrees, good->fov_mm, good->max_axial_mm);
    }
    const slc_status status = slc_pet_geometry_check(good->scanner, error);
    if (status == SLC_OK && good->min_modules > slc_pet_module_count(good->scanner) / 2) {
        return slc_fail(error, SLC_ERR_USAGE, "good.min_modules: no two of %u modules are %u apart",
                        slc_pet_module_count(good->scanner), good->min_modules);
    }
    return status;
}

static slc_status check_good(const slc_pet_good *good, slc_error *error)
{
    if (good->kind < 0 || good->kind >= SLC_PET_GOOD_KINDS) {
        return slc_fail(error, SLC_ERR_USAGE, "good: unknown kind %d", (int)good->kind);
    }
    if (good->kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL) {
        return SLC_OK;
    }
    if (good->kind == SLC_PET_GOOD_GEOMETRY) {
        return check_geometry(good, error);
    }
    if (good->crystals_per_ring == 0 || good->crystals_per_ring > 65536) {
        return slc_fail(error, SLC_ERR_USAGE, "good.crystals_per_ring: %u is not from 1 to 65536",
                        good->crystals_per_ring);
    }
    return good->kind == SLC_PET_GOOD_SECTORS ? check_sectors(good, error) : check_distance(good, error);
}

static void fill_table(const slc_pet_good *good, slc_pet_good_rule *rule, uint32_t classes)
{
    for (uint32_t d = 0; d < classes; d++) {
        if (good->kind == SLC_PET_GOOD_SECTORS) {
            rule->good[d] = (d < classes - d ? d : classes - d) >= good->min_sectors;
        } else {
            const double chord = 2 * good->radius_mm * sin(pi * d / classes);
            rule->good[d] = chord >= good->min_mm;
        }
    }
    rule->most_rings = UINT32_MAX;
    if (good->kind == SLC_PET_GOOD_DISTANCE && good->max_axial_mm / good->pitch_z_mm < (double)UINT32_MAX) {
        rule->most_rings = (uint32_t)floor(good->max_axial_mm / good->pitch_z_mm);
        /* What the quotient's rounding hides. */
        if ((rule->most_rings + 1.0) * good->pitch_z_mm <= good->max_axial_mm) {
            rule->most_rings++;
        } else if (rule->most_rings * good->pitch_z_mm > good->max_axial_mm) {
            rule->most_rings--;
        }
    }
}

static slc_status fill_places(const slc_pet_good *good, slc_pet_good_rule *rule, slc_error *error)
{
    const slc_pet_geometry *g = good->scanner;
    rule->geometry = true;
    rule->crystals = slc_pet_crystals(g);
    rule->modules = slc_pet_module_count(g);
    rule->min_modules = good->min_modules;
    rule->most_cosine = good->min_degrees > 0 ? cos(good->min_degrees * (pi / 180)) : 2;
    rule->fov2 = good->fov_mm > 0 ? good->fov_mm * good->fov_mm : 1e300; /* times 0 it is 0 */
    rule->most_axial = good->max_axial_mm > 0 ? good->max_axial_mm : INFINITY;
    rule->place = malloc(rule->crystals * sizeof *rule->place);
    if (rule->place == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the places of %u crystals", rule->crystals);
    }
    for (uint32_t i = 0; i < rule->crystals; i++) {
        double p[3], normal[3];
        uint32_t module, unit, local;
        slc_pet_crystal_position(g, i, p, normal);
        slc_pet_crystal_place(g, i, &module, &unit, &local);
        rule->place[i] = (slc_pet_good_place){(float)p[0], (float)p[1], (float)p[2], (float)hypot(p[0], p[1]),
                                              module};
    }
    return SLC_OK;
}

slc_status slc_pet_good_open(const slc_pet_good *good, slc_pet_good_rule *rule, slc_error *error)
{
    *rule = (slc_pet_good_rule){.different_crystal = good->kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL};
    const slc_status status = check_good(good, error);
    if (status != SLC_OK || rule->different_crystal) {
        return status;
    }
    if (good->kind == SLC_PET_GOOD_GEOMETRY) {
        return fill_places(good, rule, error);
    }
    const uint32_t classes = good->kind == SLC_PET_GOOD_SECTORS ? good->sectors : good->crystals_per_ring;
    rule->crystals_per_ring = good->crystals_per_ring;
    rule->per_class = good->crystals_per_ring / classes;
    rule->good = malloc(classes);
    if (rule->good == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a table of %u differences", classes);
    }
    fill_table(good, rule, classes);
    return SLC_OK;
}

void slc_pet_good_close(slc_pet_good_rule *rule)
{
    free(rule->good);
    free(rule->place);
    rule->good = NULL;
    rule->place = NULL;
}

/* ---- windows ---------------------------------------------------------------------------------------- */

slc_status slc_pet_rule_grow(slc_pet_groups *groups)
{
    const size_t most = UINT32_MAX;
    const size_t rows = groups->head.capacity < 1024 ? 2048 : 2 * groups->head.capacity;
    if (groups->head.capacity >= most) {
        return SLC_ERR_MEMORY;
    }
    return slc_columns_reserve(&slc_pet_groups_schema, groups, rows < most ? rows : most, 1) == SLC_OK
               ? SLC_OK
               : SLC_ERR_MEMORY;
}

static slc_status emit_goods(slc_pet_rule *rule, slc_pet_walk walk)
{
    size_t first = 0, second = 0;
    slc_status status = SLC_OK;
    while (status == SLC_OK && slc_pet_walk_next(&walk, &first, &second)) {
        if (slc_pet_takes(&rule->terms, first, second)) {
            status = slc_pet_rule_emit(rule, first, second, 2);
        }
    }
    return status;
}

/* Neighbours in time. */
static slc_status emit_neighbours(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    slc_status status = SLC_OK;
    for (size_t i = opener, k = a; k < b && status == SLC_OK; i = k++) {
        if (slc_pet_good_pair(&rule->terms, i, k)) {
            status = slc_pet_rule_emit(rule, i, k, 2);
        }
    }
    return status;
}

slc_status slc_pet_rule_window(slc_pet_rule *rule, size_t opener, size_t a, size_t b)
{
    const size_t n = 1 + b - a;
    if (n == 2) {
        return slc_pet_rule_pair(rule, opener, a);
    }
    rule->counts.windows++;
    rule->counts.multiplicity[n < SLC_PET_MULTIPLICITIES ? n : SLC_PET_MULTIPLICITIES - 1]++;
    if (n > UINT32_MAX) {
        return SLC_ERR_MEMORY;
    }
    const slc_pet_asked asked = slc_pet_ask(&rule->terms);
    slc_pet_look look;
    if (asked.look) {
        look = slc_pet_look_at(&rule->terms, asked, opener, a, b);
    } else {
        look = slc_pet_look_none();
    }
    const slc_pet_verdict verdict = slc_pet_judge(&rule->terms, &look, n);
    switch (verdict.kind) {
    case SLC_PET_VERDICT_PAIR:
        return slc_pet_rule_emit(rule, verdict.first, verdict.second, 2);
    case SLC_PET_VERDICT_GROUP:
        return slc_pet_rule_emit(rule, opener, a, (uint32_t)n);
    case SLC_PET_VERDICT_GOODS:
        return emit_goods(rule, slc_pet_walk_of(opener, a, b, verdict.opener_only));
    case SLC_PET_VERDICT_NEIGHBOURS:
        return emit_neighbours(rule, opener, a, verdict.opener_only ? a + 1 : b);
    default:
        return SLC_OK;
    }
}
