/* SPDX-License-Identifier: Apache-2.0
 * Sizes and contracts of the tables of conversion. */
#include "pet/pet_tables.h"
#include "pet/pet_scanner.h"
#include <sluice/pet_convert.h>

#include <math.h>

static size_t blocks(const slc_pet_geometry *g)
{
    return (size_t)slc_pet_module_count(g) * g->blocks_y * g->blocks_z;
}

size_t slc_pet_position_elements(const slc_pet_tables *tables)
{
    return blocks(&tables->geometry) * tables->position_side * tables->position_side;
}

size_t slc_pet_energy_elements(const slc_pet_tables *tables)
{
    return (size_t)slc_pet_crystals(&tables->geometry) * tables->energy_bins;
}

static slc_status check_position(const slc_pet_tables *t, slc_error *error)
{
    const slc_pet_geometry *g = &t->geometry;
    const uint32_t crystals = g->crystals_y * g->crystals_z, units = g->blocks_y * g->blocks_z;
    if (t->position == NULL) {
        if (g->crystals_y > 256 || g->crystals_z > 256 || crystals >= SLC_PET_NO_CRYSTAL) {
            return slc_fail(
                error, SLC_ERR_FORMAT,
                "tables: a frame cannot tell %u x %u crystals of a block without a position table",
                g->crystals_y, g->crystals_z);
        }
        return SLC_OK;
    }
    if (t->position_side == 0 || t->position_side > 256) {
        return slc_fail(error, SLC_ERR_FORMAT, "tables: flood maps of side %u, not from 1 to 256",
                        t->position_side);
    }
    const size_t side = t->position_side, n = slc_pet_position_elements(t);
    for (size_t i = 0; i < n; i++) {
        if (t->position[i] != SLC_PET_NO_CRYSTAL && t->position[i] >= crystals) {
            const size_t block = i / (side * side);
            return slc_fail(
                error, SLC_ERR_FORMAT,
                "tables: position of module %zu, unit %zu, x %zu, y %zu is crystal %u, and a block "
                "has %u",
                block / units, block % units, i % side, i / side % side, t->position[i], crystals);
        }
    }
    return SLC_OK;
}

/* Numbers that energies are multiplied with. */
static slc_status check_factors(const char *what, const float *factor, size_t n, size_t per_crystal,
                                slc_error *error)
{
    for (size_t i = 0; factor != NULL && i < n; i++) {
        if (!(factor[i] >= 0) || isinf(factor[i])) {
            return slc_fail(error, SLC_ERR_FORMAT, "tables: %s of crystal %zu, entry %zu, is %g", what,
                            i / per_crystal, i % per_crystal, (double)factor[i]);
        }
    }
    return SLC_OK;
}

slc_status slc_pet_tables_check(const slc_pet_tables *t, slc_error *error)
{
    slc_status status = slc_pet_geometry_check(&t->geometry, error);
    status = status == SLC_OK ? check_position(t, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const size_t crystals = slc_pet_crystals(&t->geometry);
    status = check_factors("gain", t->gain, crystals, 1, error);
    if (status == SLC_OK && t->energy != NULL) {
        if (t->energy_bins == 0 || !(t->energy_bin_kev > 0) || isinf(t->energy_bin_kev)) {
            return slc_fail(error, SLC_ERR_FORMAT, "tables: energy factors in %u bins of %g keV",
                            t->energy_bins, (double)t->energy_bin_kev);
        }
        status = check_factors("energy factor", t->energy, slc_pet_energy_elements(t), t->energy_bins, error);
    }
    return status;
}
