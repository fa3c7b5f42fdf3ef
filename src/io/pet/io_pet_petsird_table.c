/* SPDX-License-Identifier: Apache-2.0
 *
 * The scanner of a file of PETSIRD that is none of those known here: its elements as a table of crystals.
 * PETSIRD says neither which edge of a box is its depth nor which one lies along the axis: of a module type,
 * the depth is the edge that on the whole points to the z axis most, and the other that lies along z most is
 * the crystal's own z.
 */
#include "io/pet/io_pet_petsird.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ROWS = 1 << 21, EDGES = 3 };

/* A box by its edges: unit vectors and lengths. */
typedef struct box {
    double edge[EDGES][3], length[EDGES];
} box;

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The shortest of the vectors from the first corner that is at right angles to those before: corners are in
 * any order, and of the diagonals none that is at right angles to edges is shorter than the edges that are
 * left. */
static bool find_edge(const float *corner[8], box *b, size_t k)
{
    double best = 0;
    for (size_t i = 1; i < 8; i++) {
        double v[3];
        for (size_t j = 0; j < 3; j++) {
            v[j] = (double)corner[i][j] - (double)corner[0][j];
        }
        const double length = sqrt(dot(v, v));
        bool fits = length > 1e-3 && (best == 0 || length < best);
        for (size_t e = 0; e < k; e++) {
            fits = fits && fabs(dot(v, b->edge[e])) < 1e-2 * length;
        }
        for (size_t j = 0; fits && j < 3; j++) {
            b->edge[k][j] = v[j] / length;
        }
        best = fits ? length : best;
    }
    b->length[k] = best;
    return best > 0;
}

static bool box_of(const slc_yardl_value *module, box *b)
{
    const slc_yardl_value *elements = slc_yardl_get(slc_yardl_get(module, "object"), "detectingElements"),
                          *shape = slc_yardl_get(slc_yardl_get(elements, "object"), "shape"),
                          *corners = slc_yardl_get(shape, "corners");
    const float *corner[8];
    for (size_t i = 0; i < 8; i++) { /* there are eight, as their middle was found */
        corner[i] = slc_yardl_reals(slc_yardl_get(&corners->of.part[i], "c"), 3);
    }
    return find_edge(corner, b, 0) && find_edge(corner, b, 1) && find_edge(corner, b, 2);
}

static void turn(const float *m, double v[3])
{
    const double from[3] = {v[0], v[1], v[2]};
    for (size_t i = 0; m != NULL && i < 3; i++) {
        v[i] = (double)m[4 * i] * from[0] + (double)m[4 * i + 1] * from[1] + (double)m[4 * i + 2] * from[2];
    }
}

/* The edges of one element as they lie in the scanner. */
static void edges_of(const slc_yardl_value *module, const float *alignment, const box *b, uint32_t m,
                     uint32_t e, double edge[EDGES][3])
{
    const slc_yardl_value *elements = slc_yardl_get(slc_yardl_get(module, "object"), "detectingElements");
    const float *inner = slc_petsird_matrix_of(&slc_petsird_list_of(elements, "transforms")->of.part[e]),
                *outer = slc_petsird_matrix_of(&slc_petsird_list_of(module, "transforms")->of.part[m]);
    for (size_t k = 0; k < EDGES; k++) {
        memcpy(edge[k], b->edge[k], sizeof edge[k]);
        turn(inner, edge[k]);
        turn(outer, edge[k]);
        turn(alignment, edge[k]);
    }
}

/* Towards the z axis; 0 on it. */
static void inwards(const double *position, double to[3])
{
    const double r = hypot(position[0], position[1]);
    to[0] = r > 0 ? -position[0] / r : 0;
    to[1] = r > 0 ? -position[1] / r : 0;
    to[2] = 0;
}

/* Which edge of a type's box is its depth, and which lies along the axis. */
static void find_roles(const slc_yardl_value *module, const float *alignment, const box *b,
                       const slc_petsird_type *type, const double *position, size_t *depth, size_t *along)
{
    double to_axis[EDGES] = {0}, along_z[EDGES] = {0};
    for (uint32_t m = 0; m < type->modules; m++) {
        for (uint32_t e = 0; e < type->elements; e++, position += 3) {
            double edge[EDGES][3], in[3];
            edges_of(module, alignment, b, m, e, edge);
            inwards(position, in);
            for (size_t k = 0; k < EDGES; k++) {
                to_axis[k] += fabs(dot(edge[k], in));
                along_z[k] += fabs(edge[k][2]);
            }
        }
    }
    *depth = to_axis[1] > to_axis[0] ? 1 : 0;
    *depth = to_axis[2] > to_axis[*depth] ? 2 : *depth;
    const size_t a = (*depth + 1) % EDGES, c = (*depth + 2) % EDGES;
    *along = along_z[a] >= along_z[c] ? a : c;
}

/* Rows of one type: their places in the scanner, the depth inwards, z upwards. */
static bool fill_rows(const slc_yardl_value *module, const float *alignment, const slc_petsird_type *type,
                      const double *position, slc_pet_crystal_row *row, double *depth_mm)
{
    box b;
    size_t depth, along;
    if (!box_of(module, &b)) {
        return false;
    }
    find_roles(module, alignment, &b, type, position, &depth, &along);
    *depth_mm = b.length[depth];
    for (uint32_t m = 0; m < type->modules; m++) {
        for (uint32_t e = 0; e < type->elements; e++, position += 3, row++) {
            double edge[EDGES][3], in[3];
            edges_of(module, alignment, &b, m, e, edge);
            inwards(position, in);
            const double inward = dot(edge[depth], in) < 0 ? -1 : 1, upward = edge[along][2] < 0 ? -1 : 1;
            *row = (slc_pet_crystal_row){.layer = 0};
            for (size_t k = 0; k < 3; k++) {
                row->position_mm[k] = position[k];
                row->normal[k] = inward * edge[depth][k];
                row->axis[k] = upward * edge[along][k];
            }
        }
    }
    return true;
}

/* Modules as a scanner has them: 256 at most, of 16 units at most, all alike; else one of all crystals. */
static void number_modules(const slc_petsird_header *h, slc_pet_crystal_row *row)
{
    uint32_t modules = 0, units = 1;
    bool alike = true;
    for (uint32_t t = 0; t < h->n_types; t++) {
        modules += h->type[t].modules;
        alike = alike && h->type[t].elements == h->type[0].elements;
    }
    while (units <= SLC_PET_MAX_UNITS && (modules % units != 0 || modules / units > SLC_PET_MAX_MODULES)) {
        units++;
    }
    alike = alike && units <= SLC_PET_MAX_UNITS;
    for (uint32_t i = 0; i < h->n_elements; i++) {
        const uint32_t m = alike ? i / h->type[0].elements : 0;
        row[i].module = m / units;
        row[i].unit = alike ? m % units : 0;
        row[i].crystal = alike ? i % h->type[0].elements : i;
    }
}

bool slc_petsird_table_make(const slc_yardl_value *modules, const float *alignment, const double *position,
                            slc_petsird_header *h)
{
    slc_error reason = {.status = SLC_OK};
    slc_pet_crystal_row *row = h->n_elements <= MOST_ROWS ? malloc(h->n_elements * sizeof *row) : NULL;
    double depth_mm = 0;
    bool good = row != NULL;
    for (uint32_t t = 0; t < h->n_types && good; t++) {
        const size_t first = h->type[t].first;
        double depth;
        good = fill_rows(&modules->of.part[t], alignment, &h->type[t], position + 3 * first, row + first,
                         &depth);
        depth_mm = t == 0 && good ? depth : depth_mm;
    }
    if (good) {
        number_modules(h, row);
        good = slc_pet_layout_make(row, h->n_elements, depth_mm, &h->table, &reason) == SLC_OK;
    }
    free(row);
    return good;
}
