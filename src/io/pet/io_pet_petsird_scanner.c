/* SPDX-License-Identifier: Apache-2.0
 *
 * The header of PETSIRD, taken apart: where elements are, and which crystals of a known scanner that makes
 * them; bins of energy and of time of flight; efficiencies.
 */
#include "io/pet/io_pet_petsird.h"
#include "pet/pet_scanner.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAR     0.05 /* mm: an element and its crystal */
#define CELL     0.25 /* mm: of the grid in which crystals are looked for */
#define FARTHEST 1e6
enum { MOST_TYPES = 1024 };
#define NO_CRYSTAL    UINT32_MAX
#define MOST_ELEMENTS (UINT32_C(1) << 24)

static slc_status wrong(const slc_io_pet_list *in, slc_error *error, const char *what)
{
    return slc_fail(error, SLC_ERR_FORMAT, "%s: its header: %s", in->name, what);
}

static slc_status no_memory(const slc_io_pet_list *in, slc_error *error)
{
    return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory to read it", in->name);
}

/* ---- positions --------------------------------------------------------------------------------- */

const slc_yardl_value *slc_petsird_list_of(const slc_yardl_value *value, const char *name)
{
    const slc_yardl_value *list = slc_yardl_get(value, name);
    const bool is = list != NULL && list->type->kind == SLC_YARDL_VECTOR &&
                    list->type->part[0]->kind != SLC_YARDL_F32;
    return is ? list : NULL;
}

const float *slc_petsird_matrix_of(const slc_yardl_value *frame)
{
    return slc_yardl_reals(slc_yardl_get(frame, "matrix"), 12);
}

static void apply(const float *m, const double at[3], double to[3])
{
    for (size_t i = 0; i < 3; i++) {
        to[i] = (double)m[4 * i] * at[0] + (double)m[4 * i + 1] * at[1] + (double)m[4 * i + 2] * at[2] +
                (double)m[4 * i + 3];
    }
}

/* The middle of the box that elements of a module type are. */
static bool middle_of(const slc_yardl_value *elements, double middle[3])
{
    const slc_yardl_value *shape = slc_yardl_get(slc_yardl_get(elements, "object"), "shape"),
                          *corners = slc_yardl_get(shape, "corners");
    const bool eight = corners != NULL && corners->type->kind == SLC_YARDL_FIXED && corners->n == 8 &&
                       corners->type->part[0]->kind == SLC_YARDL_RECORD;
    middle[0] = middle[1] = middle[2] = 0;
    for (size_t i = 0; eight && i < 8; i++) {
        const float *c = slc_yardl_reals(slc_yardl_get(&corners->of.part[i], "c"), 3);
        if (c == NULL) {
            return false;
        }
        for (size_t k = 0; k < 3; k++) {
            middle[k] += (double)c[k] / 8;
        }
    }
    return eight;
}

/* Positions of one type's elements, module by module. False where a matrix is missing or no number. */
static bool place_type(const slc_yardl_value *module, const float *alignment, double *position)
{
    const slc_yardl_value *elements = slc_yardl_get(slc_yardl_get(module, "object"), "detectingElements"),
                          *in_module = slc_petsird_list_of(elements, "transforms"),
                          *in_scanner = slc_petsird_list_of(module, "transforms");
    double middle[3];
    if (!middle_of(elements, middle)) {
        return false;
    }
    for (uint64_t m = 0; m < in_scanner->n; m++) {
        const float *outer = slc_petsird_matrix_of(&in_scanner->of.part[m]);
        for (uint64_t e = 0; e < in_module->n; e++, position += 3) {
            const float *inner = slc_petsird_matrix_of(&in_module->of.part[e]);
            double at[3];
            if (inner == NULL || outer == NULL) {
                return false;
            }
            apply(inner, middle, at);
            apply(outer, at, position);
            if (alignment != NULL) {
                memcpy(at, position, sizeof at);
                apply(alignment, at, position);
            }
            if (!(fabs(position[0]) < FARTHEST && fabs(position[1]) < FARTHEST &&
                  fabs(position[2]) < FARTHEST)) {
                return false;
            }
        }
    }
    return true;
}

/* ---- crystals ---------------------------------------------------------------------------------- */

/* Crystals of a scanner by where they are: a hash of cells with chains. */
typedef struct finder {
    const slc_pet_geometry *geometry;
    uint32_t n, *head, *next, mask;
} finder;

static uint32_t cell_of(const finder *f, int64_t x, int64_t y, int64_t z)
{
    uint64_t h = (uint64_t)x * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)y * UINT64_C(0xc2b2ae3d27d4eb4f) ^
                 (uint64_t)z * UINT64_C(0x165667b19e3779f9);
    h ^= h >> 29;
    h *= UINT64_C(0xbf58476d1ce4e5b9);
    return (uint32_t)(h >> 32) & f->mask;
}

static bool finder_make(finder *f, const slc_pet_geometry *geometry)
{
    const uint32_t n = slc_pet_crystals(geometry);
    uint32_t cells = 16;
    while (cells < n) {
        cells *= 2;
    }
    *f = (finder){.geometry = geometry, .n = n, .mask = cells - 1};
    f->head = malloc((size_t)cells * sizeof *f->head);
    f->next = malloc((size_t)n * sizeof *f->next);
    if (f->head == NULL || f->next == NULL) {
        return false;
    }
    memset(f->head, 0xff, (size_t)cells * sizeof *f->head);
    for (uint32_t c = 0; c < n; c++) {
        double p[3], direction[3];
        slc_pet_crystal_position(geometry, c, p, direction);
        const uint32_t cell = cell_of(f, (int64_t)floor(p[0] / CELL), (int64_t)floor(p[1] / CELL),
                                      (int64_t)floor(p[2] / CELL));
        f->next[c] = f->head[cell];
        f->head[cell] = c;
    }
    return true;
}

static void finder_clear(finder *f)
{
    free(f->head);
    free(f->next);
}

/* The nearest crystal within NEAR, the lowest number of several; NO_CRYSTAL where there is none. */
static uint32_t find(const finder *f, const double at[3])
{
    uint32_t best = NO_CRYSTAL;
    double nearest = NEAR * NEAR;
    int64_t low[3], high[3];
    for (size_t k = 0; k < 3; k++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): filled by its caller */
        low[k] = (int64_t)floor((at[k] - NEAR) / CELL);
        high[k] = (int64_t)floor((at[k] + NEAR) / CELL);
    }
    for (int64_t x = low[0]; x <= high[0]; x++) {
        for (int64_t y = low[1]; y <= high[1]; y++) {
            for (int64_t z = low[2]; z <= high[2]; z++) {
                for (uint32_t c = f->head[cell_of(f, x, y, z)]; c != NO_CRYSTAL; c = f->next[c]) {
                    double p[3], direction[3], far = 0;
                    slc_pet_crystal_position(f->geometry, c, p, direction);
                    for (size_t k = 0; k < 3; k++) {
                        far += (p[k] - at[k]) * (p[k] - at[k]);
                    }
                    if (far < nearest || (far == nearest && c < best)) {
                        nearest = far;
                        best = c;
                    }
                }
            }
        }
    }
    return best;
}

/* Numbers of all elements in this scanner. *odd is the first element that is no crystal, or one that another
 * element is already; n where all are. False without memory. */
static bool number_elements(const slc_pet_geometry *geometry, const double *position, uint32_t n,
                            uint32_t *crystal, uint32_t *odd)
{
    finder f;
    const bool made = finder_make(&f, geometry);
    uint8_t *taken = calloc(slc_pet_crystals(geometry), 1);
    *odd = 0;
    for (uint32_t i = 0; made && taken != NULL && i < n; i++, ++*odd) {
        crystal[i] = find(&f, position + 3 * (size_t)i);
        if (crystal[i] == NO_CRYSTAL || taken[crystal[i]] != 0) {
            break;
        }
        taken[crystal[i]] = 1;
    }
    finder_clear(&f);
    free(taken);
    return made && taken != NULL;
}

/* Is it the ring that its name tells? Then its numbers are taken. */
static bool is_named(slc_io_pet_list *in, const char *name, const double *position, slc_petsird_header *h)
{
    slc_pet_geometry g = {.channels = 0};
    slc_error unknown;
    uint32_t odd = 0;
    const bool is = slc_pet_scanner(name, &g, &unknown) == SLC_OK && g.layout == NULL &&
                    slc_pet_crystals(&g) == h->n_elements &&
                    number_elements(&g, position, h->n_elements, h->crystal, &odd) && odd == h->n_elements;
    slc_pet_geometry_clear(&g); /* nothing, of rings */
    in->about.geometry = is ? g : in->about.geometry;
    in->about.has_geometry = is;
    return is;
}

/* By the scanner that was given, or the one that the header names; else elements are numbered as they come,
 * and the scanner is a table of them. */
static slc_status number_crystals(slc_io_pet_list *in, const char *name, const double *position,
                                  slc_petsird_header *h, bool *known, slc_error *error)
{
    uint32_t odd = 0;
    assert(position != NULL);
    const bool named = is_named(in, name, position, h);
    *known = named || in->has_geometry;
    if (in->has_geometry) {
        if (!number_elements(&in->geometry, position, h->n_elements, h->crystal, &odd)) {
            return no_memory(in, error);
        }
        if (odd < h->n_elements) {
            const double *p = position + 3 * (size_t)odd;
            return slc_fail(error, SLC_ERR_FORMAT,
                            "%s: element %u of it is at (%.3f, %.3f, %.3f) mm, where the scanner that is "
                            "given has no crystal%s",
                            in->name, odd, p[0], p[1], p[2], h->crystal[odd] != NO_CRYSTAL ? " more" : "");
        }
        return SLC_OK;
    }
    for (uint32_t i = 0; !named && i < h->n_elements; i++) {
        h->crystal[i] = i;
    }
    in->crystals = h->n_elements;
    return SLC_OK;
}

/* ---- types ------------------------------------------------------------------------------------- */

static slc_status count_elements(const slc_io_pet_list *in, const slc_yardl_value *modules,
                                 slc_petsird_header *h, slc_error *error)
{
    uint64_t all = 0;
    for (uint32_t t = 0; t < h->n_types; t++) {
        const slc_yardl_value *module = &modules->of.part[t],
                              *elements = slc_yardl_get(slc_yardl_get(module, "object"), "detectingElements"),
                              *a = slc_petsird_list_of(elements, "transforms"),
                              *b = slc_petsird_list_of(module, "transforms");
        if (a == NULL || b == NULL) {
            return wrong(in, error, "a module type is no box with transformations");
        }
        if (a->n == 0 || b->n == 0 || a->n > MOST_ELEMENTS || b->n > MOST_ELEMENTS ||
            (all += a->n * b->n) > MOST_ELEMENTS) {
            return wrong(in, error, "a module type has no elements, or more than 2^24");
        }
        h->type[t].elements = (uint32_t)a->n;
        h->type[t].modules = (uint32_t)b->n;
        h->type[t].first = (uint32_t)(all - a->n * b->n);
    }
    h->n_elements = (uint32_t)all;
    return SLC_OK;
}

static slc_status take_geometry(slc_io_pet_list *in, const slc_yardl_value *scanner, const char *name,
                                slc_petsird_header *h, slc_error *error)
{
    const slc_yardl_value *geometry = slc_yardl_get(scanner, "scannerGeometry"),
                          *modules = slc_petsird_list_of(geometry, "replicatedModules"),
                          *aligned = slc_yardl_get(scanner, "gantryAlignment");
    const float *alignment = aligned != NULL ? slc_petsird_matrix_of(aligned) : NULL;
    if (modules == NULL || modules->n == 0 || modules->n > MOST_TYPES) {
        return wrong(in, error, "it has no list of 1 to 1024 module types");
    }
    h->n_types = (uint32_t)modules->n;
    h->type = calloc(h->n_types, sizeof *h->type);
    slc_status status = h->type != NULL ? count_elements(in, modules, h, error) : no_memory(in, error);
    if (status != SLC_OK) {
        return status;
    }
    double *position = malloc(3 * (size_t)h->n_elements * sizeof *position);
    bool known = true;
    h->crystal = malloc((size_t)h->n_elements * sizeof *h->crystal);
    status = position != NULL && h->crystal != NULL ? SLC_OK : no_memory(in, error);
    for (uint32_t t = 0; t < h->n_types && status == SLC_OK; t++) {
        assert(position != NULL && h->type != NULL);
        if ((aligned != NULL && alignment == NULL) ||
            !place_type(&modules->of.part[t], alignment, position + 3 * (size_t)h->type[t].first)) {
            status = wrong(in, error, "where elements are is no box with 8 corners, or no number");
        }
    }
    status = status == SLC_OK && position != NULL ? number_crystals(in, name, position, h, &known, error)
                                                  : status;
    if (status == SLC_OK && !known) {
        h->no_table = !slc_petsird_table_make(modules, alignment, position, h);
        in->about.has_geometry = !h->no_table;
        in->about.geometry = h->table;
    }
    free(position);
    return status;
}

/* ---- bins -------------------------------------------------------------------------------------- */

/* Edges of n bins; NULL where there are none, or they do not rise. */
static const float *edges_of(const slc_yardl_value *bins, uint32_t *n)
{
    const slc_yardl_value *edges = slc_yardl_get(bins, "edges");
    const bool some = edges != NULL && edges->n >= 2 && edges->n <= UINT32_C(1) << 24;
    const float *e = some ? slc_yardl_reals(edges, edges->n) : NULL;
    *n = some ? (uint32_t)(edges->n - 1) : 0;
    for (uint32_t i = 0; e != NULL && i < *n; i++) {
        if (!(e[i] < e[i + 1])) {
            return NULL;
        }
    }
    return e;
}

static slc_status take_energies(slc_io_pet_list *in, const slc_yardl_value *scanner, slc_petsird_header *h,
                                slc_error *error)
{
    const slc_yardl_value *all = slc_petsird_list_of(scanner, "eventEnergyBinEdges");
    for (uint32_t t = 0; t < h->n_types; t++) {
        slc_petsird_type *type = &h->type[t];
        const float *e = all != NULL && t < all->n ? edges_of(&all->of.part[t], &type->energy_bins) : NULL;
        if (e == NULL) {
            return wrong(in, error, "a module type has no energy bins that rise");
        }
        if ((uint64_t)type->energy_bins * type->elements * type->modules > UINT32_MAX) {
            return wrong(in, error, "a module type has more than 2^32 detection bins");
        }
        type->energy_kev = calloc(type->energy_bins, sizeof *type->energy_kev);
        if (type->energy_kev == NULL) {
            return no_memory(in, error);
        }
        for (uint32_t i = 0; type->energy_bins > 1 && i < type->energy_bins; i++) {
            type->energy_kev[i] = (float)(((double)e[i] + (double)e[i + 1]) / 2);
        }
        if (t == 0) {
            const double high = (double)e[type->energy_bins];
            in->about.energy_bins = type->energy_bins;
            in->about.low_kev = (double)e[0];
            in->about.high_kev = high < SLC_PETSIRD_ANY_KEV ? high : 0;
        }
    }
    return SLC_OK;
}

/* Numbers that were stored as floats of mm: to a thousandth of a picosecond. */
static double ps_of(double mm)
{
    return rint(mm / SLC_PETSIRD_MM_PER_PS * 1000) / 1000;
}

static bool take_tof_bins(const float *e, uint32_t n, slc_petsird_tof *tof)
{
    tof->bins = n;
    tof->dt_ps = calloc(n, sizeof *tof->dt_ps);
    for (uint32_t i = 0; tof->dt_ps != NULL && n > 1 && i < n; i++) {
        const double ps = -((double)e[i] + (double)e[i + 1]) / 2 / SLC_PETSIRD_MM_PER_PS;
        tof->dt_ps[i] = fabs(ps) < SLC_IO_PET_MOST_TOF ? llrint(ps) : INT64_MIN;
    }
    return tof->dt_ps != NULL;
}

static slc_status take_tof(slc_io_pet_list *in, const slc_yardl_value *scanner, slc_petsird_header *h,
                           slc_error *error)
{
    const slc_yardl_value *rows = slc_petsird_list_of(scanner, "tofBinEdges"),
                          *all = slc_petsird_list_of(scanner, "tofResolution");
    h->tof = calloc((size_t)h->n_types * (h->n_types + 1) / 2, sizeof *h->tof);
    if (h->tof == NULL) {
        return no_memory(in, error);
    }
    for (uint32_t t1 = 0, at = 0; t1 < h->n_types; t1++) {
        const slc_yardl_value *row = rows != NULL && t1 < rows->n ? &rows->of.part[t1] : NULL;
        for (uint32_t t2 = 0; t2 <= t1; t2++, at++) {
            uint32_t n = 0;
            const bool there = row != NULL && row->type->kind == SLC_YARDL_VECTOR && t2 < row->n &&
                               row->type->part[0]->kind == SLC_YARDL_RECORD;
            const float *e = there ? edges_of(&row->of.part[t2], &n) : NULL;
            if (e == NULL) {
                return wrong(in, error, "a pair of module types has no bins of time of flight that rise");
            }
            if (!take_tof_bins(e, n, &h->tof[at])) {
                return no_memory(in, error);
            }
            in->about.window_ps = at == 0 && isfinite((double)e[n]) && e[n] > 0 ? ps_of((double)e[n])
                                                                                : in->about.window_ps;
        }
    }
    const slc_yardl_value *first = all != NULL && all->n > 0 ? &all->of.part[0] : NULL;
    const float *resolution = first != NULL && first->n > 0 ? slc_yardl_reals(first, first->n) : NULL;
    if (resolution != NULL && h->tof[0].bins > 1 && isfinite((double)*resolution) && *resolution > 0) {
        in->about.tof = true;
        in->about.tof_resolution_ps = ps_of((double)*resolution);
    }
    return SLC_OK;
}

/* ---- the rest ---------------------------------------------------------------------------------- */

static slc_pet_multiples multiples_of(const slc_yardl_value *policy)
{
    static const slc_pet_multiples table[] = {SLC_PET_MULTIPLES_NO_PAIRS, SLC_PET_MULTIPLES_REJECTED,
                                              SLC_PET_MULTIPLES_ALL, SLC_PET_MULTIPLES_SEQUENTIAL};
    const bool known = policy != NULL && policy->type->kind == SLC_YARDL_INT && policy->of.whole >= 0 &&
                       policy->of.whole <= 3;
    return known ? table[policy->of.whole] : SLC_PET_MULTIPLES_OTHER;
}

/* By crystal, where all is told and something is not 1; of several energy bins the mean. */
static slc_status take_efficiencies(slc_io_pet_list *in, const slc_yardl_value *scanner,
                                    slc_petsird_header *h, slc_error *error)
{
    const slc_yardl_value *all = slc_petsird_list_of(slc_yardl_get(scanner, "detectionEfficiencies"),
                                                     "detectionBinEfficiencies");
    const uint32_t crystals = in->has_geometry ? slc_pet_crystals(&in->geometry) : h->n_elements;
    bool any = false;
    if (all == NULL || all->n == 0) {
        return SLC_OK;
    }
    float *factor = malloc((size_t)crystals * sizeof *factor);
    h->efficiency = factor;
    for (uint32_t c = 0; factor != NULL && c < crystals; c++) {
        factor[c] = 1;
    }
    for (uint32_t t = 0; factor != NULL && t < h->n_types; t++) {
        const slc_petsird_type *type = &h->type[t];
        const uint32_t n = type->elements * type->modules;
        const float *e = t < all->n ? slc_yardl_reals(&all->of.part[t], (uint64_t)n * type->energy_bins)
                                    : NULL;
        for (uint32_t i = 0; e != NULL && i < n; i++) {
            double sum = 0;
            for (uint32_t k = 0; k < type->energy_bins; k++) {
                sum += (double)*e++;
            }
            factor[h->crystal[type->first + i]] = (float)(sum / type->energy_bins);
            any = any || sum != type->energy_bins;
        }
        if (e == NULL) {
            return wrong(in, error, "its efficiencies are not one for each detection bin");
        }
    }
    in->about.efficiency = any ? factor : NULL;
    in->about.crystals = any ? crystals : 0;
    return factor != NULL ? SLC_OK : no_memory(in, error);
}

slc_status slc_petsird_header_take(slc_io_pet_list *in, const slc_yardl_value *value,
                                   slc_petsird_header *header, slc_error *error)
{
    const slc_yardl_value *scanner = slc_yardl_get(value, "scanner"),
                          *name = slc_yardl_get(scanner, "modelName");
    const char *text = name != NULL && name->type->kind == SLC_YARDL_STRING ? name->of.text : "";
    slc_status status = take_geometry(in, scanner, text, header, error);
    status = status == SLC_OK ? take_energies(in, scanner, header, error) : status;
    status = status == SLC_OK ? take_tof(in, scanner, header, error) : status;
    status = status == SLC_OK ? take_efficiencies(in, scanner, header, error) : status;
    in->about.prompt_multiples = multiples_of(slc_yardl_get(scanner, "promptEventPolicy"));
    in->about.delayed_multiples = multiples_of(slc_yardl_get(scanner, "delayedEventPolicy"));
    if (!in->about.has_geometry || strchr(text, '=') == NULL) { /* words are no name */
        (void)snprintf(in->about.scanner, sizeof in->about.scanner, "%s", text);
    }
    return status;
}

void slc_petsird_header_clear(slc_petsird_header *header)
{
    const size_t n = header->n_types;
    for (size_t t = 0; header->type != NULL && t < n; t++) {
        free(header->type[t].energy_kev);
    }
    for (size_t i = 0; header->tof != NULL && i < n * (n + 1) / 2; i++) {
        free(header->tof[i].dt_ps);
    }
    free(header->type);
    free(header->tof);
    free(header->crystal);
    free(header->efficiency);
    slc_pet_geometry_clear(&header->table);
    *header = (slc_petsird_header){.n_types = 0};
}
