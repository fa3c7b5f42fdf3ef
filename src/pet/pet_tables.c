/* SPDX-License-Identifier: Apache-2.0
 * Sizes and contracts of the tables of conversion, and a frame that converts to a given single. */
#include "pet/pet_tables.h"
#include "base/bytes.h"
#include "pet/pet_scanner.h"
#include <sluice/pet_convert.h>

#include <math.h>
#include <string.h>

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

/* The first place of a flood map that is this crystal's. */
static bool find_place(const slc_pet_tables *t, uint32_t module, uint32_t unit, uint32_t local, uint8_t *x,
                       uint8_t *y)
{
    const slc_pet_geometry *g = &t->geometry;
    if (t->position == NULL) {
        *x = (uint8_t)(local % g->crystals_z);
        *y = (uint8_t)(local / g->crystals_z);
        return true;
    }
    const size_t side = t->position_side, block = (size_t)module * g->blocks_y * g->blocks_z + unit;
    const uint16_t *map = t->position + block * side * side;
    for (size_t i = 0; i < side * side; i++) {
        if (map[i] == local) {
            *x = (uint8_t)(i % side);
            *y = (uint8_t)(i / side);
            return true;
        }
    }
    return false;
}

/* The number of a frame's energy, from 0 to 65535, that is converted to the nearest energy. */
static uint16_t energy_number(const slc_pet_tables *t, uint32_t crystal, double energy_kev)
{
    const double gain = t->gain != NULL ? (double)t->gain[crystal] : 1;
    double raw = gain > 0 ? energy_kev / gain : 0;
    if (t->energy !=
        NULL) { /* what the factor of that energy makes of it; factors change little from bin to bin */
        const double bin = energy_kev / (double)t->energy_bin_kev;
        const size_t last = t->energy_bins - 1U, at = bin < (double)last ? (size_t)(bin > 0 ? bin : 0) : last;
        const double factor = (double)t->energy[(size_t)crystal * t->energy_bins + at];
        raw = factor > 0 ? raw / factor : raw;
    }
    raw = round(raw);
    return !(raw > 0) ? 0 : raw >= 65535 ? 65535 : (uint16_t)raw;
}

/* The counter's number at a time. A counter that turns has one for every time; one of 64 bits has none for
 * times below 0, but where a tick is 1 ps, and for those beyond its range. */
static bool ticks_for(const slc_pet_convert_config *c, uint64_t ps, uint64_t *ticks)
{
    const uint64_t numerator = c->tick_numerator, denominator = c->tick_denominator;
    uint64_t whole = ps / numerator;
    if (ps > INT64_MAX && !(numerator == 1 && denominator == 1)) {
        if (c->tick_bits == 64) {
            return false;
        }
        whole = ~(~ps / numerator); /* rounded down */
    } else if (c->tick_bits == 64 && whole > (UINT64_MAX - denominator) / denominator) {
        return numerator == 1 && denominator == 1 && (*ticks = ps, true);
    }
    const uint64_t rest = ps - whole * numerator;
    *ticks = whole * denominator + rest * denominator / numerator;
    *ticks &= c->tick_bits < 64 ? (UINT64_C(1) << c->tick_bits) - 1 : UINT64_MAX;
    return true;
}

bool slc_pet_frame_make(const slc_pet_tables *tables, const slc_pet_convert_config *config, uint32_t crystal,
                        int64_t time_ps, double energy_kev, slc_pet_frame *frame)
{
    uint32_t module, unit, local;
    memset(frame, 0, sizeof *frame);
    if (crystal >= slc_pet_crystals(&tables->geometry)) {
        return false;
    }
    slc_pet_crystal_place(&tables->geometry, crystal, &module, &unit, &local);
    if (!find_place(tables, module, unit, local, &frame->x, &frame->y)) {
        return false;
    }
    const int64_t offset = tables->time_offset_ps != NULL ? tables->time_offset_ps[crystal] : 0;
    uint64_t ticks;
    if (!ticks_for(config, (uint64_t)time_ps - (uint64_t)offset, &ticks)) {
        return false;
    }
    frame->head_unit = (uint8_t)(0xa0 | unit);
    frame->module = (uint8_t)module;
    slc_store_big_u64(frame->time, ticks);
    const uint16_t energy = energy_number(tables, crystal, energy_kev);
    frame->energy[0] = (uint8_t)(energy >> 8);
    frame->energy[1] = (uint8_t)energy;
    frame->temperature = 25;
    return true;
}
