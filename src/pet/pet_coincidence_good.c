/* SPDX-License-Identifier: Apache-2.0
 * The table of good differences (pet_coincidence_good.h). */
#include "pet/pet_coincidence_good.h"

#include <math.h>
#include <stdlib.h>

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

static slc_status check(const slc_pet_good *good, slc_error *error)
{
    if (good->kind < 0 || good->kind >= SLC_PET_GOOD_KINDS) {
        return slc_fail(error, SLC_ERR_USAGE, "good: unknown kind %d", (int)good->kind);
    }
    if (good->kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL) {
        return SLC_OK;
    }
    if (good->crystals_per_ring == 0 || good->crystals_per_ring > 65536) {
        return slc_fail(error, SLC_ERR_USAGE, "good.crystals_per_ring: %u is not from 1 to 65536",
                        good->crystals_per_ring);
    }
    return good->kind == SLC_PET_GOOD_SECTORS ? check_sectors(good, error) : check_distance(good, error);
}

static void fill(const slc_pet_good *good, slc_pet_good_rule *rule, uint32_t classes)
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

slc_status slc_pet_good_open(const slc_pet_good *good, slc_pet_good_rule *rule, slc_error *error)
{
    *rule = (slc_pet_good_rule){.different_crystal = good->kind == SLC_PET_GOOD_DIFFERENT_CRYSTAL};
    const slc_status status = check(good, error);
    if (status != SLC_OK || rule->different_crystal) {
        return status;
    }
    const uint32_t classes = good->kind == SLC_PET_GOOD_SECTORS ? good->sectors : good->crystals_per_ring;
    rule->crystals_per_ring = good->crystals_per_ring;
    rule->per_class = good->crystals_per_ring / classes;
    rule->good = malloc(classes);
    if (rule->good == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for a table of %u differences", classes);
    }
    fill(good, rule, classes);
    return SLC_OK;
}

void slc_pet_good_close(slc_pet_good_rule *rule)
{
    free(rule->good);
    rule->good = NULL;
}
