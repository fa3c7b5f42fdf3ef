/* SPDX-License-Identifier: Apache-2.0
 * The VELO's geometry: the design values, and LHCb's binary file of them. */
#include "velo/velo_geometry.h"
#include "base/bytes.h"

#include <math.h>
#include <string.h>

enum { CHIP_COLUMNS = 256 };

const float slc_velo_design_module_z_mm[SLC_VELO_MODULES] = {
    -287.5f, -275.0f, -262.5f, -250.0f, -237.5f, -225.0f, -212.5f, -200.0f, -137.5f, -125.0f, -62.5f,
    -50.0f,  -37.5f,  -25.0f,  -12.5f,  0.0f,    12.5f,   25.0f,   37.5f,   50.0f,   62.5f,   75.0f,
    87.5f,   100.0f,  112.5f,  125.0f,  137.5f,  150.0f,  162.5f,  175.0f,  187.5f,  200.0f,  212.5f,
    225.0f,  237.5f,  250.0f,  262.5f,  275.0f,  312.5f,  325.0f,  387.5f,  400.0f,  487.5f,  500.0f,
    587.5f,  600.0f,  637.5f,  650.0f,  687.5f,  700.0f,  737.5f,  750.0f};

/* The four sensors of a module of the first half. Rotations are multiples of 45 degrees, given here as the
 * signs of ±sqrt(1/2); the other half is the first one turned by 180 degrees about the beam line. */
static const struct {
    signed char g0, g1, g3, g4, g8;
    float x_mm, y_mm, z_mm;
} design_sensors[4] = {
    {-1, 1, 1, 1, -1, 12.932983f, -40.0576f, -0.581f},
    {1, 1, -1, 1, 1, -26.339727f, -20.541452f, 0.581f},
    {-1, 1, -1, -1, 1, -9.956063f, 17.168552f, 0.581f},
    {1, 1, 1, -1, -1, -49.935883f, -3.0547013f, -0.581f},
};

/* Pixels at a border between chips are 2.5 times as wide, which moves their centres by 0.75 pitch. */
static float column_centre(uint32_t column)
{
    const double pitch = 0.055, chip_step = 14.245, shift = 0.04125;
    const uint32_t chip = column / CHIP_COLUMNS, in_chip = column % CHIP_COLUMNS;
    double x = chip * chip_step + (in_chip + 0.5) * pitch;
    if (in_chip == CHIP_COLUMNS - 1 && column != SLC_VELO_COLUMNS - 1) {
        x += shift;
    } else if (in_chip == 0 && column != 0) {
        x -= shift;
    }
    return (float)x;
}

void slc_velo_geometry_ideal(slc_velo_geometry *geometry)
{
    memcpy(geometry->module_z_mm, slc_velo_design_module_z_mm, sizeof slc_velo_design_module_z_mm);
    for (uint32_t c = 0; c < SLC_VELO_COLUMNS; c++) {
        geometry->local_x_mm[c] = column_centre(c);
    }
    for (uint32_t c = 0; c + 1 < SLC_VELO_COLUMNS; c++) {
        geometry->x_pitch_mm[c] = geometry->local_x_mm[c + 1] - geometry->local_x_mm[c];
    }
    geometry->x_pitch_mm[SLC_VELO_COLUMNS - 1] = SLC_VELO_PITCH_MM;
    const float r = sqrtf(0.5f);
    for (uint32_t s = 0; s < SLC_VELO_SENSORS; s++) {
        const float half = (s / 4) % 2 == 0 ? 1.0f : -1.0f;
        float *g = geometry->to_global[s];
        memset(g, 0, sizeof geometry->to_global[s]);
        g[0] = half * r * design_sensors[s % 4].g0;
        g[1] = half * r * design_sensors[s % 4].g1;
        g[3] = half * r * design_sensors[s % 4].g3;
        g[4] = half * r * design_sensors[s % 4].g4;
        g[8] = design_sensors[s % 4].g8;
        g[9] = half * design_sensors[s % 4].x_mm;
        g[10] = half * design_sensors[s % 4].y_mm;
        g[11] = geometry->module_z_mm[s / 4] + design_sensors[s % 4].z_mm;
    }
}

/* A table of the file: its count, which must be as expected, then its floats. */
typedef struct table {
    const char *name;
    uint64_t rows;
    uint64_t columns; /* 0: the file holds no second count */
    float *values;
} table;

static void list_tables(slc_velo_geometry *geometry, table tables[4])
{
    tables[0] = (table){"module_z", SLC_VELO_MODULES, 0, geometry->module_z_mm};
    tables[1] = (table){"local_x", SLC_VELO_COLUMNS, 0, geometry->local_x_mm};
    tables[2] = (table){"x_pitch", SLC_VELO_COLUMNS, 0, geometry->x_pitch_mm};
    tables[3] = (table){"ltg", SLC_VELO_SENSORS, 12, geometry->to_global[0]};
}

/* ---- values that can be ------------------------------------------------------------------------- */

/* The first value that cannot be: entry `at` of a table. */
typedef struct flaw {
    uint32_t table;
    size_t at;
    const char *why; /* NULL: there is none */
} flaw;

static const char *why_not_axis(const float *g)
{
    static const char *const text = "is of axes that are not of length 1 and at right angles";
    const float tolerance = 0.1f; /* misalignment is far smaller, and what is degenerate far beyond */
    for (int i = 0; i < 9; i += 3) {
        for (int k = i; k < 9; k += 3) {
            const float product = g[i] * g[k] + g[i + 1] * g[k + 1] + g[i + 2] * g[k + 2];
            if (!(fabsf(product - (i == k ? 1.0f : 0.0f)) <= tolerance)) {
                return text;
            }
        }
    }
    return NULL;
}

/* What is wrong with a finite value beside the one before it. */
static const char *why_not(uint32_t which, const float *values, size_t at)
{
    enum { MODULE_Z, LOCAL_X, X_PITCH, TO_GLOBAL };
    switch (which) {
    case MODULE_Z:
    case LOCAL_X:
        return at > 0 && !(values[at] > values[at - 1]) ? "is not above the one before it" : NULL;
    case X_PITCH:
        return values[at] > 0 ? NULL : "is not above 0";
    case TO_GLOBAL:
    default:
        return at % 12 == 0 ? why_not_axis(values + at) : NULL;
    }
}

static size_t count_of(const table *t)
{
    return (size_t)(t->rows * (t->columns > 0 ? t->columns : 1));
}

static flaw find_flaw(slc_velo_geometry *geometry)
{
    const float most_mm = 1e4f;
    table tables[4];
    list_tables(geometry, tables);
    for (uint32_t t = 0; t < 4; t++) {
        const float *values = tables[t].values;
        for (size_t i = 0; i < count_of(&tables[t]); i++) {
            if (!(fabsf(values[i]) <= most_mm)) {
                return (flaw){t, i, isfinite(values[i]) ? "is beyond 10 m" : "is not a finite number"};
            }
        }
        for (size_t i = 0; i < count_of(&tables[t]); i++) {
            const char *why = why_not(t, values, i);
            if (why != NULL) {
                return (flaw){t, i, why};
            }
        }
    }
    return (flaw){0, 0, NULL};
}

slc_status slc_velo_geometry_check(const slc_velo_geometry *geometry, slc_error *error)
{
    table tables[4];
    slc_velo_geometry copy = *geometry;
    const flaw found = find_flaw(&copy);
    if (found.why == NULL) {
        return SLC_OK;
    }
    list_tables(&copy, tables);
    const table *t = &tables[found.table];
    return slc_fail(error, SLC_ERR_FORMAT, "VELO geometry: %s[%zu] = %g %s", t->name, found.at,
                    (double)t->values[found.at], found.why);
}

slc_status slc_velo_geometry_parse(const void *bytes, size_t size, slc_velo_geometry *geometry,
                                   slc_error *error)
{
    const uint8_t *at = bytes;
    size_t first[4]; /* byte of each table's first value */
    if (size != SLC_VELO_GEOMETRY_BYTES) {
        return slc_fail(error, SLC_ERR_FORMAT, "VELO geometry: %zu bytes, must be %d", size,
                        SLC_VELO_GEOMETRY_BYTES);
    }
    slc_velo_geometry read;
    table tables[4];
    list_tables(&read, tables);
    for (size_t t = 0; t < 4; t++) {
        const uint64_t expected[2] = {tables[t].rows, tables[t].columns};
        for (size_t k = 0; k < (tables[t].columns > 0 ? 2U : 1U); k++, at += 8) {
            if (slc_load_u64(at) != expected[k]) {
                return slc_fail(error, SLC_ERR_FORMAT,
                                "VELO geometry: byte %td: count of %s is %llu, must be %llu",
                                at - (const uint8_t *)bytes, tables[t].name,
                                (unsigned long long)slc_load_u64(at), (unsigned long long)expected[k]);
            }
        }
        first[t] = (size_t)(at - (const uint8_t *)bytes);
        for (size_t i = 0; i < count_of(&tables[t]); i++, at += 4) {
            tables[t].values[i] = slc_load_f32(at);
        }
    }
    const flaw found = find_flaw(&read);
    if (found.why != NULL) {
        const table *t = &tables[found.table];
        return slc_fail(error, SLC_ERR_FORMAT, "VELO geometry: byte %zu: %s[%zu] = %g %s",
                        first[found.table] + 4 * found.at, t->name, found.at, (double)t->values[found.at],
                        found.why);
    }
    *geometry = read;
    return SLC_OK;
}

void slc_velo_geometry_store(const slc_velo_geometry *geometry, void *bytes)
{
    uint8_t *at = bytes;
    slc_velo_geometry copy = *geometry;
    table tables[4];
    list_tables(&copy, tables);
    for (size_t t = 0; t < 4; t++) {
        slc_store_u64(at, tables[t].rows);
        at += 8;
        uint64_t n = tables[t].rows;
        if (tables[t].columns > 0) {
            slc_store_u64(at, tables[t].columns);
            at += 8;
            n *= tables[t].columns;
        }
        for (uint64_t i = 0; i < n; i++, at += 4) {
            slc_store_f32(at, tables[t].values[i]);
        }
    }
}
