/* SPDX-License-Identifier: Apache-2.0
 *
 * The table of crystals in an HDF5 file of pairs: group "crystals", a row a crystal, beside the pairs' own,
 * so that nobody needs the scanner's file to read the pairs. Files that go on (--rotate-size) have it in the
 * first one; the others have the group without rows.
 */
#include "io/pet/io_pet_columns_table.h"
#include "base/columns.h"
#include "io/io_hdf5_file.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PLACES = 4, VALUES = 9 };

typedef struct table {
    slc_columns head;
    uint32_t *module, *unit, *crystal, *layer;
    double *x_mm, *y_mm, *z_mm, *normal_x, *normal_y, *normal_z, *axis_x, *axis_y, *axis_z;
} table;
static const slc_column columns[] = {
    SOA_COLUMN(table, module, "index"), SOA_COLUMN(table, unit, "index"), SOA_COLUMN(table, crystal, "index"),
    SOA_COLUMN(table, layer, "index"),  SOA_COLUMN(table, x_mm, "mm"),    SOA_COLUMN(table, y_mm, "mm"),
    SOA_COLUMN(table, z_mm, "mm"),      SOA_COLUMN(table, normal_x, "1"), SOA_COLUMN(table, normal_y, "1"),
    SOA_COLUMN(table, normal_z, "1"),   SOA_COLUMN(table, axis_x, "1"),   SOA_COLUMN(table, axis_y, "1"),
    SOA_COLUMN(table, axis_z, "1"),
};
static const slc_schema schema = {.name = "crystals", .columns = columns, .n_columns = PLACES + VALUES};
static const table nothing;

/* ---- writing ----------------------------------------------------------------------------------- */

slc_io_group slc_io_pet_table_group(const void *collection)
{
    return (slc_io_group){schema.name, &schema, collection != NULL ? collection : &nothing,
                          SLC_IO_ROWS_WHOLE};
}

slc_status slc_io_pet_table_make(const slc_pet_geometry *g, void **collection, slc_error *error)
{
    const slc_pet_layout *l = g->layout;
    table *t = calloc(1, sizeof *t);
    *collection = t;
    if (t == NULL || slc_columns_reserve(&schema, t, l->crystals, 1) != SLC_OK) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the table of %u crystals", l->crystals);
    }
    for (size_t i = 0; i < l->crystals; i++) {
        const slc_pet_crystal_row *r = &l->row[i];
        const uint32_t places[PLACES] = {r->module, r->unit, r->crystal, r->layer};
        double values[VALUES];
        memcpy(values, r->position_mm, sizeof r->position_mm);
        memcpy(values + 3, r->normal, sizeof r->normal);
        memcpy(values + 6, r->axis, sizeof r->axis);
        for (size_t k = 0; k < PLACES; k++) {
            ((uint32_t *)*slc_column_pointer(t, &columns[k]))[i] = places[k];
        }
        for (size_t k = 0; k < VALUES; k++) {
            ((double *)*slc_column_pointer(t, &columns[PLACES + k]))[i] = values[k];
        }
    }
    t->head.size = l->crystals;
    return SLC_OK;
}

void slc_io_pet_table_free(void *collection)
{
    if (collection != NULL) {
        slc_columns_clear(&schema, collection);
        free(collection);
    }
}

/* ---- reading ----------------------------------------------------------------------------------- */

/* `n` numbers of a column; false where it is not there, of another kind or size, or damaged. */
static bool read_column(hid_t file, const slc_column *column, size_t n, void *to)
{
    char name[64];
    uint64_t stored = 0;
    (void)snprintf(name, sizeof name, "%s/%s", schema.name, column->name);
    const hid_t dataset = H5Lexists(file, name, H5P_DEFAULT) > 0 ? H5Dopen2(file, name, H5P_DEFAULT)
                                                                 : H5I_INVALID_HID;
    const hid_t space = dataset >= 0 ? H5Dget_space(dataset) : H5I_INVALID_HID;
    const hid_t type = dataset >= 0 ? H5Dget_type(dataset) : H5I_INVALID_HID;
    const H5T_class_t class = column->type == SLC_TYPE_F64 ? H5T_FLOAT : H5T_INTEGER;
    const bool good = space >= 0 && type >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                      H5Sget_simple_extent_npoints(space) == (hssize_t)n && H5Tget_class(type) == class &&
                      slc_io_hdf5_can_hold(dataset, n, &stored) &&
                      slc_io_hdf5_read_rows(dataset, column->type, 0, n, to);
    (void)slc_io_hdf5_close(type);
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(dataset);
    return good;
}

static slc_status fill(hid_t file, const char *path, slc_pet_crystal_row *rows, double *room, size_t n,
                       slc_error *error)
{
    for (size_t k = 0; k < PLACES + VALUES; k++) {
        if (!read_column(file, &columns[k], n, room)) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: column '%s/%s' is not there, or not of %zu numbers, or damaged", path,
                            schema.name, columns[k].name, n);
        }
        for (size_t i = 0; i < n; i++) {
            slc_pet_crystal_row *r = &rows[i];
            uint32_t *const places[PLACES] = {&r->module, &r->unit, &r->crystal, &r->layer};
            double *const values[VALUES / 3] = {r->position_mm, r->normal, r->axis};
            if (k < PLACES) {
                *places[k] = ((const uint32_t *)(const void *)room)[i];
            } else {
                values[(k - PLACES) / 3][(k - PLACES) % 3] = room[i];
            }
        }
    }
    return SLC_OK;
}

/* Has it any rows? A file that goes on another has none. */
static bool has_rows(hid_t file)
{
    const bool there = H5Lexists(file, schema.name, H5P_DEFAULT) > 0 &&
                       H5Lexists(file, "crystals/module", H5P_DEFAULT) > 0;
    const hid_t dataset = there ? H5Dopen2(file, "crystals/module", H5P_DEFAULT) : H5I_INVALID_HID;
    const hid_t space = dataset >= 0 ? H5Dget_space(dataset) : H5I_INVALID_HID;
    const bool any = space >= 0 && H5Sget_simple_extent_npoints(space) > 0;
    (void)slc_io_hdf5_close(space);
    (void)slc_io_hdf5_close(dataset);
    return any;
}

static bool same_numbers(const slc_pet_geometry *a, const slc_pet_geometry *b)
{
    return slc_pet_module_count(a) == slc_pet_module_count(b) &&
           a->blocks_y * a->blocks_z == b->blocks_y * b->blocks_z && a->crystals_y == b->crystals_y &&
           a->crystals_z == b->crystals_z;
}

slc_status slc_io_pet_table_read(hid_t file, const char *path, bool rings, slc_pet_geometry *g, bool *there,
                                 slc_error *error)
{
    slc_error reason = {.status = SLC_OK};
    slc_pet_geometry made = *g;
    const size_t n = slc_pet_crystals(g);
    *there = has_rows(file);
    if (!*there) {
        return SLC_OK;
    }
    slc_pet_crystal_row *rows = calloc(n, sizeof *rows);
    double *room = malloc(n * sizeof *room);
    slc_status status = rows == NULL || room == NULL
                            ? slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its crystals", path)
                            : fill(file, path, rows, room, n, error);
    if (status == SLC_OK) {
        status = rings ? slc_pet_layout_make_rings(rows, n, &made, &reason)
                       : slc_pet_layout_make(rows, n, g->depth_mm, &made, &reason);
        if (status != SLC_OK) {
            status = slc_fail(error, status, "%s: crystals: %.400s", path, reason.text);
        } else if (!same_numbers(g, &made)) {
            slc_pet_geometry_clear(&made);
            status = slc_fail(
                error, SLC_ERR_FORMAT,
                "%s: the attributes tell of other modules, units or crystals of a unit than the "
                "table of crystals",
                path);
        } else {
            *g = made;
        }
    }
    free(rows);
    free(room);
    return status;
}
