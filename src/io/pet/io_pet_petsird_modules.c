/* SPDX-License-Identifier: Apache-2.0
 *
 * A scanner's crystals as PETSIRD tells them: modules that are replicas of a few kinds, whose elements are
 * replicas of one box. Everything comes from where each crystal is, which way it looks, and of which module
 * it is.
 */
#include "io/pet/io_pet_petsird.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EQUAL 1e-4 /* mm, and of unit vectors: modules of one kind */

/* ---- frames ------------------------------------------------------------------------------------ */

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* Axes of a frame: x as given, z as near to `axis` as it can be, y = z × x. A crystal that looks along the
 * axis has another z. */
static void frame_of(const double x[3], const double axis[3], const double origin[3], slc_petsird_frame *f)
{
    double z[3], along = dot(x, axis);
    for (size_t k = 0; k < 3; k++) {
        z[k] = axis[k] - along * x[k];
    }
    if (dot(z, z) < 1e-6) {
        const double other[3] = {fabs(x[0]) < 0.5, fabs(x[0]) >= 0.5, 0};
        along = dot(x, other);
        for (size_t k = 0; k < 3; k++) {
            z[k] = other[k] - along * x[k];
        }
    }
    const double length = sqrt(dot(z, z));
    for (size_t k = 0; k < 3; k++) {
        z[k] /= length;
    }
    const double y[3] = {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]};
    for (size_t k = 0; k < 3; k++) {
        f->m[4 * k] = x[k];
        f->m[4 * k + 1] = y[k];
        f->m[4 * k + 2] = z[k];
        f->m[4 * k + 3] = origin[k];
    }
}

/* a⁻¹ · b: b as a sees it. */
static slc_petsird_frame seen_from(const slc_petsird_frame *a, const slc_petsird_frame *b)
{
    slc_petsird_frame to;
    for (size_t i = 0; i < 3; i++) {
        for (size_t j = 0; j < 4; j++) {
            double sum = 0;
            for (size_t k = 0; k < 3; k++) {
                sum += a->m[4 * k + i] * (b->m[4 * k + j] - (j == 3 ? a->m[4 * k + 3] : 0));
            }
            to.m[4 * i + j] = sum;
        }
    }
    return to;
}

static const slc_petsird_frame identity = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}};

static void crystal_frame(const slc_pet_geometry *geometry, uint32_t crystal, slc_petsird_frame *frame)
{
    const slc_pet_crystal_row r = slc_pet_row_of(geometry, crystal);
    const double outwards[3] = {-r.normal[0], -r.normal[1], -r.normal[2]};
    frame_of(outwards, r.axis, r.position_mm, frame);
}

/* Of a module: in the middle of its crystals, x the mean of theirs, z as near to that of the first as it can
 * be; one that looks everywhere, as a whole ring does, is not turned. */
static slc_petsird_frame module_frame(const slc_petsird_frame *crystal, size_t n)
{
    double x[3] = {0}, origin[3] = {0};
    slc_petsird_frame frame = identity;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 3; k++) {
            x[k] += crystal[i].m[4 * k] / (double)n;
            origin[k] += crystal[i].m[4 * k + 3] / (double)n;
        }
    }
    const double length = sqrt(dot(x, x));
    if (length < 0.01) {
        for (size_t k = 0; k < 3; k++) {
            frame.m[4 * k + 3] = origin[k];
        }
        return frame;
    }
    for (size_t k = 0; k < 3; k++) {
        x[k] /= length;
    }
    const double axis[3] = {crystal[0].m[2], crystal[0].m[6], crystal[0].m[10]};
    frame_of(x, axis, origin, &frame);
    return frame;
}

/* ---- crystals by modules ----------------------------------------------------------------------- */

typedef struct placed {
    uint64_t order; /* unit and place in it, below the module */
    uint32_t module, crystal;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *p = a, *q = b;
    return p->module != q->module ? (p->module < q->module ? -1 : 1)
                                  : (p->order > q->order) - (p->order < q->order);
}

static void list_crystals(const slc_pet_geometry *geometry, uint32_t n, placed *list)
{
    for (uint32_t c = 0; c < n; c++) {
        uint32_t module, unit, local;
        slc_pet_crystal_place(geometry, c, &module, &unit, &local);
        list[c] = (placed){(uint64_t)unit << 32 | local, module, c};
    }
    qsort(list, n, sizeof *list, by_place);
}

/* Crystals of one module from `from` on. */
static uint32_t module_size(const placed *list, uint32_t n, uint32_t from)
{
    uint32_t size = 0;
    while (from + size < n && list[from + size].module == list[from].module) {
        size++;
    }
    return size;
}

static bool is_equal(const slc_petsird_frame *a, const slc_petsird_frame *b, size_t n)
{
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < 12; k++) {
            largest = fmax(largest, fabs(a[i].m[k] - b[i].m[k]));
        }
    }
    return largest <= EQUAL;
}

/* ---- kinds ------------------------------------------------------------------------------------- */

/* A module on its way: its crystals in the list, its frame, its kind. */
typedef struct member {
    uint32_t from, size, kind;
    slc_petsird_frame frame;
} member;

/* Which kind each module is of. Elements of a kind's first module stand in `seen` where its crystals stand in
 * the list. False where there are too many kinds. */
static bool find_kinds(const placed *list, uint32_t n, slc_petsird_frame *seen, member *modules,
                       uint32_t *n_modules, uint32_t *n_kinds)
{
    uint32_t first[SLC_PETSIRD_KINDS];
    *n_kinds = *n_modules = 0;
    for (uint32_t from = 0; from < n; from += modules[*n_modules - 1].size) {
        member *m = &modules[(*n_modules)++];
        *m = (member){.from = from, .size = module_size(list, n, from)};
        m->frame = module_frame(seen + from, m->size);
        for (uint32_t i = from; i < from + m->size; i++) {
            seen[i] = seen_from(&m->frame, &seen[i]);
        }
        while (m->kind < *n_kinds && !(modules[first[m->kind]].size == m->size &&
                                       is_equal(seen + modules[first[m->kind]].from, seen + from, m->size))) {
            m->kind++;
        }
        if (m->kind == SLC_PETSIRD_KINDS) {
            return false;
        }
        if (m->kind == *n_kinds) {
            first[(*n_kinds)++] = *n_modules - 1;
        }
    }
    return true;
}

/* Puts modules to their kinds, and crystals to their places. */
static void put_kinds(const placed *list, const slc_petsird_frame *seen, const member *modules,
                      uint32_t n_modules, slc_petsird_frame *frames, slc_petsird_scanner *s)
{
    uint32_t at = 0, filled = 0;
    for (uint32_t k = 0; k < s->n_kinds; k++) {
        slc_petsird_kind *kind = &s->kind[k];
        *kind = (slc_petsird_kind){.module = frames + at};
        for (uint32_t m = 0; m < n_modules; m++) {
            if (modules[m].kind != k) {
                continue;
            }
            if (kind->n_modules == 0) {
                kind->n_elements = modules[m].size;
                kind->element = seen + modules[m].from;
            }
            for (uint32_t i = 0; i < modules[m].size; i++) {
                const uint32_t crystal = list[modules[m].from + i].crystal;
                s->place[crystal] = i + kind->n_elements * kind->n_modules;
                s->place[s->n_crystals + crystal] = k;
                s->crystal[filled++] = crystal;
            }
            frames[at++] = modules[m].frame;
            kind->n_modules++;
        }
    }
}

/* All crystals as elements of one module, which is the scanner. */
static void put_whole(const slc_pet_geometry *geometry, placed *list, slc_petsird_frame *seen, member *one)
{
    const uint32_t n = slc_pet_crystals(geometry);
    for (uint32_t i = 0; i < n; i++) {
        crystal_frame(geometry, list[i].crystal, &seen[i]);
    }
    *one = (member){.from = 0, .size = n, .frame = identity};
}

slc_status slc_petsird_scanner_make(const slc_pet_geometry *g, slc_petsird_scanner *s, slc_error *error)
{
    const uint32_t n = slc_pet_crystals(g);
    uint32_t n_modules = 0;
    placed *list = malloc(n * sizeof *list);
    member *modules = malloc(n * sizeof *modules);
    slc_petsird_frame *seen = malloc(n * sizeof *seen), *frames = NULL;
    *s = (slc_petsird_scanner){.n_crystals = n, .rooms = {seen}};
    s->place = malloc(2 * (size_t)n * sizeof *s->place);
    s->crystal = malloc(n * sizeof *s->crystal);
    bool good = list != NULL && modules != NULL && seen != NULL && s->place != NULL && s->crystal != NULL;
    if (good) {
        s->size_mm[0] = g->depth_mm;
        slc_pet_spacing(g, &s->size_mm[1], &s->size_mm[2]);
        s->size_mm[1] = s->size_mm[1] > 0 ? s->size_mm[1]
                                          : g->pitch_z_mm; /* of one crystal nothing is known */
        s->size_mm[2] = s->size_mm[2] > 0 ? s->size_mm[2] : g->pitch_z_mm;
        list_crystals(g, n, list);
        for (uint32_t i = 0; i < n; i++) {
            crystal_frame(g, list[i].crystal, &seen[i]);
        }
        if (!find_kinds(list, n, seen, modules, &n_modules, &s->n_kinds)) {
            put_whole(g, list, seen, modules);
            n_modules = s->n_kinds = 1;
        }
        frames = s->rooms[1] = malloc(n_modules * sizeof *frames);
        good = frames != NULL;
    }
    if (good) {
        put_kinds(list, seen, modules, n_modules, frames, s);
    }
    free(list);
    free(modules);
    if (!good) {
        slc_petsird_scanner_clear(s);
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %u crystals", n);
    }
    return SLC_OK;
}

void slc_petsird_scanner_clear(slc_petsird_scanner *scanner)
{
    free(scanner->rooms[0]);
    free(scanner->rooms[1]);
    free(scanner->place);
    free(scanner->crystal);
    *scanner = (slc_petsird_scanner){.n_kinds = 0};
}

/* ---- a name ------------------------------------------------------------------------------------ */

/* With as many digits as bring it back. */
static void put_length(char *text, size_t size, double mm)
{
    (void)snprintf(text, size, "%.9g", mm);
    if (strtod(text, NULL) != mm) {
        (void)snprintf(text, size, "%.17g", mm);
    }
}

void slc_petsird_words(const slc_pet_geometry *g, char *words, size_t size)
{
    char radius[32], pitch[32], depth[32];
    if (g->layout != NULL) {
        (void)snprintf(words, size, "a table of %u crystals", slc_pet_crystals(g));
        return;
    }
    put_length(radius, sizeof radius, g->radius_mm);
    put_length(pitch, sizeof pitch, g->pitch_z_mm);
    put_length(depth, sizeof depth, g->depth_mm);
    (void)snprintf(words, size,
                   "channels=%u,modules=%u,module-rings=%u,blocks=%ux%u,crystals=%ux%u,radius=%smm,"
                   "pitch=%smm,depth=%smm",
                   g->channels, g->modules, g->module_rings, g->blocks_y, g->blocks_z, g->crystals_y,
                   g->crystals_z, radius, pitch, depth);
}
