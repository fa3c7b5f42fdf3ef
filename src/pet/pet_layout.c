/* SPDX-License-Identifier: Apache-2.0
 *
 * Tables of crystals: what rows must be, and what follows from them. Nothing is believed of a table that its
 * rows do not show: each place of a frame has one crystal, each crystal is somewhere and looks somewhere.
 */
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LOCALS = SLC_PET_NO_CRYSTAL };
#define MOST_CRYSTALS (UINT32_C(1) << 31)

/* ---- vectors ----------------------------------------------------------------------------------- */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* How far b is from a along a direction. */
static double along(const double direction[3], const double a[3], const double b[3])
{
    const double way[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return dot(direction, way);
}

static double distance(const double a[3], const double b[3])
{
    const double way[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]};
    return sqrt(dot(way, way));
}

/* ---- rows -------------------------------------------------------------------------------------- */

static slc_status check_vector(const double v[3], const char *what, size_t row, slc_error *error)
{
    const double length = sqrt(dot(v, v));
    return fabs(length - 1) <= 1e-3 ? SLC_OK
                                    : slc_fail(error, SLC_ERR_FORMAT,
                                               "row %zu: the %s (%g, %g, %g) is %g long, and must be 1 long",
                                               row + 1, what, v[0], v[1], v[2], length);
}

static slc_status check_row(const slc_pet_crystal_row *r, size_t row, slc_error *error)
{
    static const double most_mm = 1e6;
    if (r->module >= SLC_PET_MAX_MODULES || r->unit >= SLC_PET_MAX_UNITS || r->crystal >= MOST_LOCALS) {
        return slc_fail(
            error, SLC_ERR_FORMAT,
            "row %zu: module %u, unit %u, crystal %u: a frame can tell of %d modules, %d units of "
            "one and %d crystals of a unit, all from 0",
            row + 1, r->module, r->unit, r->crystal, SLC_PET_MAX_MODULES, SLC_PET_MAX_UNITS, MOST_LOCALS);
    }
    if (r->layer > 255) {
        return slc_fail(error, SLC_ERR_FORMAT, "row %zu: layer %u, and there may be 256", row + 1, r->layer);
    }
    for (int k = 0; k < 3; k++) {
        if (!(fabs(r->position_mm[k]) <= most_mm)) {
            return slc_fail(error, SLC_ERR_FORMAT, "row %zu: a crystal at %c = %g mm", row + 1, "xyz"[k],
                            r -> position_mm[k]);
        }
    }
    slc_status status = check_vector(r->normal, "normal", row, error);
    status = status == SLC_OK ? check_vector(r->axis, "axis", row, error) : status;
    if (status == SLC_OK && fabs(dot(r->normal, r->axis)) > 0.5) {
        status = slc_fail(error, SLC_ERR_FORMAT,
                          "row %zu: the axis (%g, %g, %g) goes along the normal (%g, %g, %g), and not across",
                          row + 1, r->axis[0], r->axis[1], r->axis[2], r->normal[0], r->normal[1],
                          r->normal[2]);
    }
    return status;
}

/* What a row is found by: its place in frames, and then the row. */
static uint64_t key_of(const slc_pet_crystal_row *r, size_t row)
{
    return ((uint64_t)(r->module * SLC_PET_MAX_UNITS + r->unit) << 16 | r->crystal) << 32 | row;
}

static int by_key(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static slc_status no_memory(size_t n, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "no memory for a table of %zu crystals", n);
}

/* How many of each there are; all of them once. */
typedef struct shape {
    uint32_t modules, units, locals;
} shape;

/* The first that is there twice, or else that is not there. */
static slc_status tell_gap(const slc_pet_crystal_row *rows, const uint64_t *keys, size_t n, const shape *s,
                           slc_error *error)
{
    for (size_t i = 1; i < n; i++) {
        if (keys[i] >> 32 == keys[i - 1] >> 32) {
            const slc_pet_crystal_row *r = &rows[(uint32_t)keys[i]];
            return slc_fail(error, SLC_ERR_FORMAT,
                            "row %u: module %u, unit %u, crystal %u is in row %u already",
                            (uint32_t)keys[i] + 1, r->module, r->unit, r->crystal, (uint32_t)keys[i - 1] + 1);
        }
    }
    for (size_t i = 0;; i++) {
        const uint64_t block = i / s->locals, module = block / s->units, unit = block % s->units;
        const uint64_t wanted = (module * SLC_PET_MAX_UNITS + unit) << 16 | i % s->locals;
        if (i == n || keys[i] >> 32 != wanted) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "crystal %u of module %u, unit %u is missing: there are %u modules of %u units, "
                            "and units of %u crystals",
                            (uint32_t)(i % s->locals), (uint32_t)module, (uint32_t)unit, s->modules, s->units,
                            s->locals);
        }
    }
}

static slc_status find_shape(const slc_pet_crystal_row *rows, size_t n, shape *s, slc_error *error)
{
    *s = (shape){0};
    for (size_t i = 0; i < n; i++) {
        const slc_status status = check_row(&rows[i], i, error);
        if (status != SLC_OK) {
            return status;
        }
        s->modules = rows[i].module >= s->modules ? rows[i].module + 1 : s->modules;
        s->units = rows[i].unit >= s->units ? rows[i].unit + 1 : s->units;
        s->locals = rows[i].crystal >= s->locals ? rows[i].crystal + 1 : s->locals;
    }
    if (n == 0) {
        return slc_fail(error, SLC_ERR_FORMAT, "a table without a crystal");
    }
    if (n > MOST_CRYSTALS) {
        return slc_fail(error, SLC_ERR_FORMAT, "%zu crystals, and there may be 2^31", n);
    }
    uint64_t *keys = malloc(n * sizeof *keys);
    if (keys == NULL) {
        return no_memory(n, error);
    }
    bool sorted = true;
    for (size_t i = 0; i < n; i++) {
        keys[i] = key_of(&rows[i], i);
        sorted = sorted && (i == 0 || keys[i] > keys[i - 1]);
    }
    if (!sorted) {
        qsort(keys, n, sizeof *keys, by_key);
    }
    bool whole = (uint64_t)s->modules * s->units * s->locals == n;
    for (size_t i = 1; i < n && whole; i++) {
        whole = keys[i] >> 32 != keys[i - 1] >> 32;
    }
    const slc_status status = whole ? SLC_OK : tell_gap(rows, keys, n, s, error);
    free(keys);
    return status;
}

static int by_position(const void *a, const void *b)
{
    const slc_pet_crystal_row *x = *(const slc_pet_crystal_row *const *)a;
    const slc_pet_crystal_row *y = *(const slc_pet_crystal_row *const *)b;
    for (int k = 0; k < 3; k++) {
        if (x->position_mm[k] != y->position_mm[k]) {
            return x->position_mm[k] < y->position_mm[k] ? -1 : 1;
        }
    }
    return (x > y) - (x < y);
}

/* No two crystals are at one place. */
static slc_status check_places(const slc_pet_crystal_row *rows, size_t n, slc_error *error)
{
    const slc_pet_crystal_row **at = malloc(n * sizeof *at);
    slc_status status = SLC_OK;
    if (at == NULL) {
        return no_memory(n, error);
    }
    for (size_t i = 0; i < n; i++) {
        at[i] = &rows[i];
    }
    qsort(at, n, sizeof *at, by_position);
    for (size_t i = 1; i < n && status == SLC_OK; i++) {
        const double *p = at[i]->position_mm, *q = at[i - 1]->position_mm;
        if (p[0] == q[0] && p[1] == q[1] && p[2] == q[2]) {
            status = slc_fail(error, SLC_ERR_FORMAT,
                              "rows %zu and %zu are two crystals at one place, (%g, %g, %g) mm",
                              (size_t)(at[i - 1] - rows) + 1, (size_t)(at[i] - rows) + 1, p[0], p[1], p[2]);
        }
    }
    free(at);
    return status;
}

/* ---- where they look --------------------------------------------------------------------------- */

/* Does each of two have the other before it, by more than a thousandth of the way? */
static bool face(const slc_pet_crystal_row *a, const slc_pet_crystal_row *b)
{
    const double least = 1e-3 * distance(a->position_mm, b->position_mm);
    return along(a->normal, a->position_mm, b->position_mm) > least &&
           along(b->normal, b->position_mm, a->position_mm) > least;
}

static bool faces_any(const slc_pet_crystal_row *rows, size_t n, size_t row)
{
    for (size_t k = 0; k < n; k++) { /* from the opposite on, which is mostly enough */
        if (face(&rows[row], &rows[(row + n / 2 + k) % n])) {
            return true;
        }
    }
    return false;
}

/* Normals go towards the field of view; where that is show the crystals. One that has the middle of its layer
 * at its back, and faces none at all, is turned round. Of a single plane nothing can be told. */
static slc_status check_normals(const slc_pet_crystal_row *rows, size_t n, slc_error *error)
{
    double middle[256][3] = {{0}};
    size_t count[256] = {0}, turned = 0, first = n;
    for (size_t i = 0; i < n; i++) {
        count[rows[i].layer]++;
        for (int k = 0; k < 3; k++) {
            middle[rows[i].layer][k] += rows[i].position_mm[k];
        }
    }
    for (size_t l = 0; l < 256; l++) {
        for (int k = 0; k < 3 && count[l] > 0; k++) {
            middle[l][k] /= (double)count[l];
        }
    }
    for (size_t i = 0; i < n; i++) {
        const double *p = rows[i].position_mm, *m = middle[rows[i].layer];
        if (along(rows[i].normal, p, m) < -0.1 * distance(p, m)) {
            first = first == n && !faces_any(rows, n, i) ? i : first;
            turned++;
        }
    }
    if (first == n) {
        return SLC_OK;
    }
    const double *v = rows[first].normal;
    return slc_fail(error, SLC_ERR_FORMAT,
                    "row %zu: the normal (%g, %g, %g) points away from the other crystals, and must point "
                    "towards the field of view; so in %zu of %zu rows",
                    first + 1, v[0] + 0.0, v[1] + 0.0, v[2] + 0.0, turned, n);
}

/* ---- units ------------------------------------------------------------------------------------- */

/* The row of a crystal of a unit. */
static const slc_pet_crystal_row *at(const slc_pet_layout *l, size_t block, uint32_t locals, uint32_t local)
{
    return &l->row[l->number[block * locals + local]];
}

/* Places along the axis of a unit: how many crystals from the first on go one way along it. 1 where the
 * second is not along it at all. */
static uint32_t places_along(const slc_pet_layout *l, uint32_t locals)
{
    const slc_pet_crystal_row *first = at(l, 0, locals, 0);
    double before = 0, way = 0;
    for (uint32_t c = 1; c < locals; c++) {
        const slc_pet_crystal_row *r = at(l, 0, locals, c);
        const double s = along(first->axis, first->position_mm, r->position_mm), step = s - before;
        if (fabs(step) < 0.25 * distance(at(l, 0, locals, c - 1)->position_mm, r->position_mm) ||
            step * way < 0) {
            return c;
        }
        way = step;
        before = s;
    }
    return locals;
}

/* Are the crystals of a unit n along its axis, one row of them after the other? */
static bool is_grid(const slc_pet_layout *l, size_t block, uint32_t locals, uint32_t n)
{
    const slc_pet_crystal_row *first = at(l, block, locals, 0);
    const slc_pet_crystal_row *next = at(l, block, locals, locals > 1 ? 1 : 0);
    const double pitch = distance(first->position_mm, next->position_mm);
    double way = 0;
    for (uint32_t c = 1; c < locals; c++) {
        const double s = along(first->axis, first->position_mm, at(l, block, locals, c)->position_mm);
        const double begin = along(first->axis, first->position_mm,
                                   at(l, block, locals, c - c % n)->position_mm);
        const double before = along(first->axis, first->position_mm,
                                    at(l, block, locals, c - 1)->position_mm);
        if (fabs(begin) >
            0.75 * pitch) { /* rows begin side by side; layers may be shifted by half a crystal */
            return false;
        }
        if (c % n > 0) {
            way = way != 0 ? way : s - before;
            if ((s - before) * way <= 0) {
                return false;
            }
        }
    }
    return true;
}

static uint32_t find_grid(slc_pet_layout *l, const shape *s)
{
    const uint32_t n = places_along(l, s->locals);
    l->grid = s->locals % n == 0;
    for (size_t block = 0; block < (size_t)s->modules * s->units && l->grid; block++) {
        l->grid = is_grid(l, block, s->locals, n);
    }
    return l->grid ? n : s->locals;
}

/* ---- making ------------------------------------------------------------------------------------ */

static void unify(double v[3])
{
    const double length = sqrt(dot(v, v));
    for (int k = 0; k < 3 && fabs(length - 1) > 4 * DBL_EPSILON; k++) {
        v[k] /= length;
    }
}

static void free_layout(slc_pet_layout *l)
{
    if (l != NULL) {
        free((void *)l->row);
        free((void *)l->number);
        free(l);
    }
}

/* A copy of the rows, and their numbers by place. */
static slc_pet_layout *copy_rows(const slc_pet_crystal_row *rows, size_t n, const shape *s)
{
    slc_pet_layout *l = calloc(1, sizeof *l);
    slc_pet_crystal_row *row = malloc(n * sizeof *row);
    uint32_t *number = malloc(n * sizeof *number);
    if (l == NULL || row == NULL || number == NULL) {
        free(l);
        free(row);
        free(number);
        return NULL;
    }
    *l = (slc_pet_layout){.crystals = (uint32_t)n, .layers = 1, .row = row, .number = number};
    for (size_t i = 0; i < n; i++) {
        const slc_pet_crystal_row *r = &rows[i];
        row[i] = *r;
        unify(row[i].normal);
        unify(row[i].axis);
        number[((size_t)r->module * s->units + r->unit) * s->locals + r->crystal] = (uint32_t)i;
        l->layers = r->layer >= l->layers ? r->layer + 1 : l->layers;
    }
    return l;
}

static slc_status make(const slc_pet_crystal_row *rows, size_t n, shape *s, slc_pet_layout **out,
                       slc_error *error)
{
    slc_status status = find_shape(rows, n, s, error);
    status = status == SLC_OK ? check_places(rows, n, error) : status;
    status = status == SLC_OK ? check_normals(rows, n, error) : status;
    *out = status == SLC_OK ? copy_rows(rows, n, s) : NULL;
    return status == SLC_OK && *out == NULL ? no_memory(n, error) : status;
}

/* The least distance of crystals from the axis; of those that are on it, another length. */
static double least_radius(const slc_pet_layout *l)
{
    double least = INFINITY, most = 0;
    for (uint32_t i = 0; i < l->crystals; i++) {
        const double *p = l->row[i].position_mm, r = hypot(p[0], p[1]);
        least = r < least ? r : least;
        most = r > most ? r : most;
    }
    return least > 0 ? least : most > 0 ? most : 1;
}

slc_status slc_pet_layout_make(const slc_pet_crystal_row *rows, size_t n, double depth_mm,
                               slc_pet_geometry *geometry, slc_error *error)
{
    shape s;
    slc_pet_layout *l = NULL;
    slc_status status = SLC_OK;
    if (!(depth_mm >= 0 && depth_mm <= 1e6)) {
        status = slc_fail(error, SLC_ERR_FORMAT, "crystals of a depth of %g mm", depth_mm);
    }
    status = status == SLC_OK ? make(rows, n, &s, &l, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const uint32_t places = find_grid(l, &s);
    const double radius = least_radius(l), front = radius - 0.5 * depth_mm;
    slc_pet_geometry g = {.channels = s.modules,
                          .modules = 1,
                          .module_rings = 1,
                          .blocks_y = s.units,
                          .blocks_z = 1,
                          .crystals_y = s.locals / places,
                          .crystals_z = places,
                          .radius_mm = front > 0 ? front : radius,
                          .depth_mm = depth_mm,
                          .layout = l};
    double across;
    slc_pet_spacing(&g, &across, &g.pitch_z_mm);
    g.pitch_z_mm = g.pitch_z_mm > 0 ? g.pitch_z_mm : across > 0 ? across : 1;
    status = slc_pet_geometry_check(&g, error);
    if (status != SLC_OK) {
        free_layout(l);
        return status;
    }
    *geometry = g;
    return SLC_OK;
}

slc_status slc_pet_layout_make_rings(const slc_pet_crystal_row *rows, size_t n, slc_pet_geometry *geometry,
                                     slc_error *error)
{
    shape s;
    slc_pet_layout *l = NULL;
    slc_pet_geometry ring = *geometry;
    ring.layout = NULL;
    slc_status status = slc_pet_geometry_check(&ring, error);
    status = status == SLC_OK ? make(rows, n, &s, &l, error) : status;
    bool same = status == SLC_OK && slc_pet_crystals(&ring) == n;
    for (uint32_t i = 0; i < n && same; i++) {
        uint32_t module, unit, local;
        slc_pet_crystal_place(&ring, i, &module, &unit, &local);
        same = rows[i].module == module && rows[i].unit == unit && rows[i].crystal == local;
    }
    if (status == SLC_OK && !same) {
        status = slc_fail(error, SLC_ERR_FORMAT, "crystals are not numbered as those of rings of %u",
                          slc_pet_crystals_per_ring(&ring));
    }
    if (status != SLC_OK) {
        free_layout(l);
        return status;
    }
    l->grid = l->rings = true;
    geometry->layout = l;
    return SLC_OK;
}

void slc_pet_geometry_clear(slc_pet_geometry *geometry)
{
    free_layout((slc_pet_layout *)geometry->layout);
    geometry->layout = NULL;
}

/* ---- what it says ------------------------------------------------------------------------------ */

slc_pet_crystal_row slc_pet_row_of(const slc_pet_geometry *g, uint32_t crystal)
{
    if (g->layout != NULL) {
        return g->layout->row[crystal];
    }
    slc_pet_crystal_row r = {.axis = {0, 0, 1}};
    slc_pet_crystal_place(g, crystal, &r.module, &r.unit, &r.crystal);
    slc_pet_crystal_position(g, crystal, r.position_mm, r.normal);
    return r;
}

bool slc_pet_numbers_repeat(const slc_pet_geometry *g)
{
    if (g->layout == NULL) {
        return true;
    }
    const size_t locals = (size_t)g->crystals_y * g->crystals_z;
    const uint32_t *number = g->layout->number;
    for (size_t i = 0; i < g->layout->crystals; i++) {
        const uint32_t first = number[i - i % locals];
        if (number[i] < first || number[i] - first != number[i % locals] - number[0]) {
            return false;
        }
    }
    return true;
}

/* From the first crystal to the nearest other of its unit; 0: there is none. */
static double nearest(const slc_pet_geometry *g)
{
    const slc_pet_layout *l = g->layout;
    const uint32_t locals = g->crystals_y * g->crystals_z;
    double least = INFINITY;
    for (uint32_t c = 1; c < locals; c++) {
        const double d = distance(l->row[l->number[0]].position_mm, l->row[l->number[c]].position_mm);
        least = d < least ? d : least;
    }
    return isfinite(least) ? least : 0;
}

void slc_pet_spacing(const slc_pet_geometry *g, double *across_mm, double *along_mm)
{
    const uint32_t n = g->crystals_z, rows = g->crystals_y;
    *across_mm = *along_mm = 0;
    if (g->layout == NULL) {
        *along_mm = g->pitch_z_mm;
        *across_mm = 6.283185307179586 * g->radius_mm / slc_pet_crystals_per_ring(g);
        return;
    }
    if (!g->layout->grid) {
        *across_mm = *along_mm = nearest(g);
        return;
    }
    const slc_pet_crystal_row *first = &g->layout->row[g->layout->number[0]];
    if (n > 1) {
        *along_mm = distance(first->position_mm, g->layout->row[g->layout->number[n - 1]].position_mm) /
                    (n - 1);
    }
    if (rows > 1) {
        *across_mm = distance(first->position_mm, g->layout->row[g->layout->number[n]].position_mm);
    }
}
