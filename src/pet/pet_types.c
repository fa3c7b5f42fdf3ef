/* SPDX-License-Identifier: Apache-2.0
 * Where crystals are, the ring's arithmetic, and the schemas of PET's collections. */
#include "base/faults.h"
#include "pet/pet_scanner.h"
#include <sluice/pet_types.h>

#include "base/columns.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* ---- the scanner ---------------------------------------------------------------------------------- */

slc_status slc_pet_geometry_check(const slc_pet_geometry *g, slc_error *error)
{
    const uint32_t numbers[] = {g->channels, g->modules,    g->module_rings, g->blocks_y,
                                g->blocks_z, g->crystals_y, g->crystals_z};
    static const char *const names[] = {"channels", "modules",    "module_rings", "blocks_y",
                                        "blocks_z", "crystals_y", "crystals_z"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        if (numbers[i] == 0 || numbers[i] > 65536) {
            return slc_fail(error, SLC_ERR_USAGE, "geometry: %s is %u, not from 1 to 65536", names[i],
                            numbers[i]);
        }
    }
    const uint64_t modules = (uint64_t)g->channels * g->modules * g->module_rings;
    if (modules > SLC_PET_MAX_MODULES) {
        return slc_fail(error, SLC_ERR_USAGE, "geometry: %llu modules, and a frame can tell of %d",
                        (unsigned long long)modules, SLC_PET_MAX_MODULES);
    }
    if ((uint64_t)g->blocks_y * g->blocks_z > SLC_PET_MAX_UNITS) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "geometry: %u x %u blocks of a module, and a frame can tell of %d", g->blocks_y,
                        g->blocks_z, SLC_PET_MAX_UNITS);
    }
    const uint64_t ring = (uint64_t)g->channels * g->modules * g->blocks_y * g->crystals_y;
    const uint64_t rings = (uint64_t)g->module_rings * g->blocks_z * g->crystals_z;
    const slc_pet_layout *layout = g->layout;
    if (layout != NULL && ring * rings != layout->crystals) {
        return slc_fail(error, SLC_ERR_USAGE, "geometry: numbers of %llu crystals, and a table of %u",
                        (unsigned long long)(ring * rings), layout->crystals);
    }
    if (((layout == NULL || layout->rings) && ring > 65536) || ring * rings > UINT32_C(1) << 31) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "geometry: %llu rings of %llu crystals; a ring may have 65536, and all 2^31",
                        (unsigned long long)rings, (unsigned long long)ring);
    }
    if (!(g->radius_mm > 0) || !(g->pitch_z_mm > 0) || !(g->depth_mm >= 0) || !isfinite(g->radius_mm) ||
        !isfinite(g->pitch_z_mm) || !isfinite(g->depth_mm)) {
        return slc_fail(error, SLC_ERR_USAGE, "geometry: radius %g mm, pitch %g mm, depth %g mm",
                        g->radius_mm, g->pitch_z_mm, g->depth_mm);
    }
    return SLC_OK;
}

uint32_t slc_pet_module_count(const slc_pet_geometry *g)
{
    return g->channels * g->modules * g->module_rings;
}

uint32_t slc_pet_crystals_per_ring(const slc_pet_geometry *g)
{
    return g->channels * g->modules * g->blocks_y * g->crystals_y;
}

uint32_t slc_pet_rings(const slc_pet_geometry *g)
{
    return g->module_rings * g->blocks_z * g->crystals_z;
}

uint32_t slc_pet_crystals(const slc_pet_geometry *g)
{
    return slc_pet_crystals_per_ring(g) * slc_pet_rings(g);
}

uint32_t slc_pet_crystal(const slc_pet_geometry *g, uint32_t module, uint32_t unit, uint32_t local)
{
    if (g->layout != NULL) {
        const size_t units = (size_t)g->blocks_y * g->blocks_z,
                     locals = (size_t)g->crystals_y * g->crystals_z;
        return g->layout->number[(module * units + unit) * locals + local];
    }
    const uint32_t around = g->channels * g->modules;
    const uint32_t in_ring = (module % around * g->blocks_y + unit / g->blocks_z) * g->crystals_y +
                             local / g->crystals_z;
    const uint32_t ring = (module / around * g->blocks_z + unit % g->blocks_z) * g->crystals_z +
                          local % g->crystals_z;
    return in_ring + ring * slc_pet_crystals_per_ring(g);
}

void slc_pet_crystal_place(const slc_pet_geometry *g, uint32_t crystal, uint32_t *module, uint32_t *unit,
                           uint32_t *local)
{
    if (g->layout != NULL) {
        const slc_pet_crystal_row *r = &g->layout->row[crystal];
        *module = r->module;
        *unit = r->unit;
        *local = r->crystal;
        return;
    }
    const uint32_t per_ring = slc_pet_crystals_per_ring(g), around = g->channels * g->modules;
    const uint32_t in_ring = crystal % per_ring, ring = crystal / per_ring;
    const uint32_t block_y = in_ring / g->crystals_y, block_z = ring / g->crystals_z;
    *module = block_y / g->blocks_y + block_z / g->blocks_z * around;
    *unit = block_y % g->blocks_y * g->blocks_z + block_z % g->blocks_z;
    *local = in_ring % g->crystals_y * g->crystals_z + ring % g->crystals_z;
}

void slc_pet_crystal_position(const slc_pet_geometry *g, uint32_t crystal, double position[3],
                              double direction[3])
{
    if (g->layout != NULL) {
        const slc_pet_crystal_row *r = &g->layout->row[crystal];
        memcpy(position, r->position_mm, sizeof r->position_mm);
        memcpy(direction, r->normal, sizeof r->normal);
        return;
    }
    const uint32_t per_ring = slc_pet_crystals_per_ring(g);
    const double angle = 2 * pi * (crystal % per_ring) / per_ring, radius = g->radius_mm + 0.5 * g->depth_mm;
    direction[0] = -cos(angle);
    direction[1] = -sin(angle);
    direction[2] = 0;
    position[0] = -radius * direction[0];
    position[1] = -radius * direction[1];
    const uint32_t ring = crystal / per_ring;
    position[2] = (ring - 0.5 * (slc_pet_rings(g) - 1.0)) * g->pitch_z_mm;
}

/* ---- collections ------------------------------------------------------------------------------- */

static const slc_column singles[] = {
    SOA_COLUMN(slc_pet_singles, time_ps, "ps"),
    SOA_COLUMN(slc_pet_singles, crystal, "index"),
    SOA_COLUMN(slc_pet_singles, energy_kev, "keV"),
};
SOA_SCHEMA(slc_pet_singles, slc_pet_singles_schema, "singles", singles);

static const slc_column singles_f64[] = {
    SOA_COLUMN(slc_pet_singles_f64, time_ns, "ns"),
    SOA_COLUMN(slc_pet_singles_f64, crystal, "index"),
    SOA_COLUMN(slc_pet_singles_f64, energy_kev, "keV"),
};
SOA_SCHEMA(slc_pet_singles_f64, slc_pet_singles_f64_schema, "singles", singles_f64);

static const slc_column groups[] = {
    SOA_COLUMN(slc_pet_groups, first, "index"),
    SOA_COLUMN(slc_pet_groups, second, "index"),
    SOA_COLUMN(slc_pet_groups, size, "1"),
};
SOA_SCHEMA(slc_pet_groups, slc_pet_groups_schema, "groups", groups);

static const slc_column coincidences[] = {
    SOA_COLUMN(slc_pet_coincidences, time_ps, "ps"),
    SOA_COLUMN(slc_pet_coincidences, dt_ps, "ps"),
    SOA_COLUMN(slc_pet_coincidences, crystal1, "index"),
    SOA_COLUMN(slc_pet_coincidences, crystal2, "index"),
    SOA_COLUMN(slc_pet_coincidences, energy1_kev, "keV"),
    SOA_COLUMN(slc_pet_coincidences, energy2_kev, "keV"),
    SOA_COLUMN(slc_pet_coincidences, delayed, "1"),
};
SOA_SCHEMA(slc_pet_coincidences, slc_pet_coincidences_schema, "coincidences", coincidences);

static const slc_column marks[] = {
    SOA_COLUMN(slc_pet_marks, time_ps, "ps"),
    SOA_COLUMN(slc_pet_marks, value, "1"),
    SOA_COLUMN(slc_pet_marks, kind, "1"),
    SOA_COLUMN(slc_pet_marks, module, "index"),
};
SOA_SCHEMA(slc_pet_marks, slc_pet_marks_schema, "marks", marks);

const char *slc_pet_mark_name(uint32_t kind)
{
    static const char *const names[SLC_PET_MARKS] = {"other", "sync", "trigger", "gate", "bed"};
    return kind < SLC_PET_MARKS ? names[kind] : NULL;
}

/* ---- faults ------------------------------------------------------------------------------------ */

static const slc_fault_kind fault_kinds[] = {
    {SLC_FAULT_PET_MODULE, "pet_module", "a frame of no module of the scanner; dropped",
     "frame %e, of module %m"},
    {SLC_FAULT_PET_UNIT, "pet_unit", "a frame of a unit that its module does not have; dropped",
     "frame %e, of module %m"},
    {SLC_FAULT_PET_POSITION, "pet_position", "a frame from outside of its block; dropped",
     "frame %e, of module %m"},
    {SLC_FAULT_PET_CLOCK, "pet_clock", "a frame of a time that no other agrees with; dropped",
     "frame %e, of module %m"},
    {SLC_FAULT_PET_BLOCK, "pet_block", "a damaged block of a raw file; skipped up to the next good one",
     "byte %o, datagram %e"},
    {SLC_FAULT_PET_DATAGRAM, "pet_datagram",
     "a datagram that is no whole number of frames; its tail was dropped", "byte %o, datagram %e"},
    {SLC_FAULT_PET_RECORD, "pet_record", "a record that matches none of its format; left out",
     "byte %o, datagram or record %e"},
    {SLC_FAULT_PET_RANGE, "pet_range", "a record with a number that a frame has no room for; left out",
     "byte %o, datagram or record %e"},
    {SLC_FAULT_PET_CUT, "pet_cut", "bytes at the end that are no whole frame; left out", "byte %o, frame %e"},
};
SLC_FAULTS_REGISTER(fault_kinds)
