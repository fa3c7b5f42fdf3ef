/* SPDX-License-Identifier: Apache-2.0
 *
 * Rings that are not ideal, made of words (pet_scanner.c): blocks or modules that are flat, gaps, a first
 * angle, the other way round, a shift. Crystals keep the numbers of the ideal ring, and so sinograms, sectors
 * and files that count around a ring are theirs as well: the crystals' middles are about the ideal ones. With
 * several layers they are numbered as a table's.
 */
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_LAYERS = 256 };
static const double turn = 6.283185307179586;

/* Crystals that lie in a plane around the axis, and how wide they are with their gaps. */
static uint32_t in_plane(const slc_pet_geometry *g, const slc_pet_shape *shape)
{
    return shape->flat == SLC_PET_FLAT_BLOCKS    ? g->crystals_y
           : shape->flat == SLC_PET_FLAT_MODULES ? g->crystals_y * g->blocks_y
                                                 : 1;
}

static double width_of(const slc_pet_geometry *g, const slc_pet_shape *shape)
{
    const double gaps = shape->flat == SLC_PET_FLAT_MODULES ? (g->blocks_y - 1) * shape->block_gap_mm[0] : 0;
    return in_plane(g, shape) * shape->pitch_y_mm + gaps;
}

static slc_status check(const slc_pet_geometry *g, const slc_pet_shape *shape, slc_error *error)
{
    const uint32_t n = in_plane(g, shape), planes = slc_pet_crystals_per_ring(g) / n;
    if ((shape->flat != SLC_PET_FLAT_NONE) != (shape->pitch_y_mm > 0)) {
        return slc_fail(error, SLC_ERR_USAGE, "a scanner: flat= and pitch-y= belong together");
    }
    if (shape->flat != SLC_PET_FLAT_MODULES && shape->block_gap_mm[0] > 0) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a scanner: block-gap=%.6gx%.6gmm: gaps around the ring are told with flat=module; "
                        "else the radius leaves them, and block-gap=0x%.6gmm is what can be told",
                        shape->block_gap_mm[0], shape->block_gap_mm[1], shape->block_gap_mm[1]);
    }
    if (shape->layers <= 1 && shape->layer_gap_mm > 0) {
        return slc_fail(error, SLC_ERR_USAGE, "a scanner: layer-gap= is of several layers=");
    }
    if (shape->layers > MOST_LAYERS || (shape->layers > 1 && !(g->depth_mm > 0))) {
        return slc_fail(error, SLC_ERR_USAGE, "a scanner: %u layers of %.6g mm: %s", shape->layers,
                        g->depth_mm,
                        g->depth_mm > 0 ? "there may be 256" : "how deep each is, depth=, is to be told");
    }
    if (shape->flat == SLC_PET_FLAT_NONE) {
        return SLC_OK;
    }
    if (planes < 3) {
        return slc_fail(error, SLC_ERR_USAGE, "a scanner: %u flat sides are no ring: 3 or more are needed",
                        planes);
    }
    const double room = 2 * g->radius_mm * tan(0.5 * turn / planes), width = width_of(g, shape);
    return width <= room * (1 + 1e-9)
               ? SLC_OK
               : slc_fail(
                     error, SLC_ERR_USAGE,
                     "a scanner: %u flat sides of %.6g mm do not fit around a radius of %.6g mm, which has "
                     "room for %.6g mm each",
                     planes, width, g->radius_mm, room);
}

/* Along the axis, from the first ring. */
static double along_of(const slc_pet_geometry *g, const slc_pet_shape *shape, uint32_t ring)
{
    const uint32_t block = ring / g->crystals_z, module = block / g->blocks_z;
    return ring * g->pitch_z_mm + (block - module) * shape->block_gap_mm[1] + module * shape->module_gap_mm;
}

static slc_pet_crystal_row row_of(const slc_pet_geometry *g, const slc_pet_shape *shape, uint32_t crystal)
{
    const uint32_t per_ring = slc_pet_crystals_per_ring(g), n = in_plane(g, shape), k = crystal % per_ring;
    /* NOLINTNEXTLINE(bugprone-integer-division): whole groups */
    const double place = shape->flat != SLC_PET_FLAT_NONE ? k / n * n + 0.5 * (n - 1.0) : k;
    const double angle = (shape->clockwise ? -1 : 1) * turn * place / per_ring + shape->turn_radians;
    const double radius = g->radius_mm + 0.5 * g->depth_mm, c = cos(angle), s = sin(angle);
    double across = k % n * shape->pitch_y_mm - 0.5 * (width_of(g, shape) - shape->pitch_y_mm);
    /* NOLINTNEXTLINE(bugprone-integer-division): whole groups */
    across += shape->flat == SLC_PET_FLAT_MODULES ? k % n / g->crystals_y * shape->block_gap_mm[0] : 0;
    across *= shape->clockwise ? -1 : 1;
    const double middle = 0.5 * along_of(g, shape, slc_pet_rings(g) - 1);
    slc_pet_crystal_row r = {
        .position_mm = {radius * c, radius * s,
                        along_of(g, shape, crystal / per_ring) - middle + shape->shift_mm},
        .normal = {-c, -s, 0},
        .axis = {0, 0, 1}};
    if (shape->flat != SLC_PET_FLAT_NONE) {
        r.position_mm[0] -= across * s;
        r.position_mm[1] += across * c;
    }
    slc_pet_crystal_place(g, crystal, &r.module, &r.unit, &r.crystal);
    return r;
}

/* Several layers are in no rings, as a ring has one: crystals are numbered by module, unit and place in the
 * unit, where the rows of the second layer follow the last one of the first. Each layer is the ring's,
 * farther out. */
static slc_status make_layers(slc_pet_geometry *g, const slc_pet_shape *shape, slc_error *error)
{
    const uint32_t locals = g->crystals_y * g->crystals_z, units = g->blocks_y * g->blocks_z;
    const uint64_t n = (uint64_t)slc_pet_crystals(g) * shape->layers;
    slc_pet_crystal_row *rows = n < UINT64_C(1) << 31 ? calloc((size_t)n, sizeof *rows) : NULL;
    if (rows == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %llu crystals", (unsigned long long)n);
    }
    for (size_t i = 0; i < n; i++) {
        const uint32_t local = (uint32_t)(i % locals), layer = (uint32_t)(i / locals % shape->layers);
        const uint32_t block = (uint32_t)(i / locals / shape->layers);
        slc_pet_crystal_row r = row_of(g, shape, slc_pet_crystal(g, block / units, block % units, local));
        for (int k = 0; k < 3; k++) {
            r.position_mm[k] -= layer * (g->depth_mm + shape->layer_gap_mm) * r.normal[k];
        }
        r.crystal += layer * locals;
        r.layer = layer;
        rows[i] = r;
    }
    const slc_status status = slc_pet_layout_make(rows, (size_t)n, g->depth_mm, g, error);
    free(rows);
    return status;
}

slc_status slc_pet_layout_make_shape(slc_pet_geometry *g, const slc_pet_shape *shape, slc_error *error)
{
    slc_status status = slc_pet_geometry_check(g, error);
    status = status == SLC_OK ? check(g, shape, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    if (shape->layers > 1) {
        return make_layers(g, shape, error);
    }
    const uint32_t n = slc_pet_crystals(g);
    slc_pet_crystal_row *rows = calloc(n, sizeof *rows);
    if (rows == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u crystals", n);
    }
    for (uint32_t i = 0; i < n; i++) {
        rows[i] = row_of(g, shape, i);
    }
    status = slc_pet_layout_make_rings(rows, n, g, error);
    free(rows);
    return status;
}
