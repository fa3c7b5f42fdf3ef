/* SPDX-License-Identifier: Apache-2.0
 *
 * Cylinders in words, and voxels along a line: R. Siddon, "Fast calculation of the exact radiological path
 * for a three-dimensional CT array", Med. Phys. 12 (1985) 252. From voxel to voxel the next border is the
 * nearest of three, each at a multiple of its own step, so that no error adds up on the way.
 */
#include "pet/pet_line.h"

#include <stdlib.h>
#include <string.h>

/* ---- words ------------------------------------------------------------------------------------- */

slc_status slc_pet_cylinder_check(const slc_pet_cylinder *c, const char *what, slc_error *error)
{
    const double reach = fabs(c->x_mm) + fabs(c->y_mm) + fabs(c->z_mm);
    if (!(reach < 1e6 && c->radius_mm > 0 && c->radius_mm < 1e6 && c->inner_mm >= 0 &&
          c->inner_mm < c->radius_mm && c->length_mm >= 0 && c->length_mm < 1e6 && c->mu_per_cm >= 0 &&
          c->mu_per_cm <= 1000)) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "%s: a cylinder of radius %g mm (inner %g), length %g mm, attenuation %g / cm", what,
                        c->radius_mm, c->inner_mm, c->length_mm, c->mu_per_cm);
    }
    return SLC_OK;
}

slc_status slc_pet_cylinder_of(const char *text, slc_pet_cylinder *cylinder, slc_error *error)
{
    slc_pet_cylinder c = {.radius_mm = 0};
    const struct {
        const char *name, *unit;
        double *value;
    } words[] = {{"radius=", "mm", &c.radius_mm}, {"inner=", "mm", &c.inner_mm},
                 {"length=", "mm", &c.length_mm}, {"x=", "mm", &c.x_mm},
                 {"y=", "mm", &c.y_mm},           {"z=", "mm", &c.z_mm},
                 {"mu=", "/cm", &c.mu_per_cm}};
    enum { WORDS = sizeof words / sizeof *words };
    bool seen[WORDS] = {false};
    for (const char *at = text, *end = at; at != NULL; at = *end == ',' ? end + 1 : NULL) {
        size_t w = 0;
        while (w < WORDS && strncmp(at, words[w].name, strlen(words[w].name)) != 0) {
            w++;
        }
        bool good = w < WORDS && !seen[w];
        if (good) {
            char *after = NULL;
            const char *number = at + strlen(words[w].name);
            *words[w].value = strtod(number, &after);
            good = after != number && isfinite(*words[w].value);
            end = strncmp(after, words[w].unit, strlen(words[w].unit)) == 0 ? after + strlen(words[w].unit)
                                                                            : after;
            seen[w] = true;
        }
        if (!good || (*end != ',' && *end != '\0')) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "a cylinder cannot be told by \"%s\"; its words are radius=Rmm, inner=Rmm, "
                            "length=Lmm, x=Xmm, y=Ymm, z=Zmm, mu=M (1/cm)",
                            at);
        }
    }
    if (!seen[0]) {
        return slc_fail(error, SLC_ERR_USAGE, "a cylinder needs radius=, and \"%s\" has none", text);
    }
    const slc_status status = slc_pet_cylinder_check(&c, text, error);
    if (status == SLC_OK) {
        *cylinder = c;
    }
    return status;
}

/* ---- voxels ------------------------------------------------------------------------------------ */

/* A line along one axis of the image: border k is passed at t = first + k · step. */
typedef struct axis {
    double first, step;
    int64_t n, at, next, way; /* voxels; where the line is, the border that it comes to next, ±1 */
} axis;

/* Where the line is inside of the image along this axis; false: nowhere. */
static bool enter(axis *x, double a, double d, double corner, double voxel, uint32_t n, double *from,
                  double *to)
{
    x->n = n;
    if (fabs(d) <= 1e-12 * voxel) { /* as good as along the borders */
        const double place = floor((a - corner) / voxel);
        x->at = place >= 0 && place < n ? (int64_t)place : -1;
        x->next = x->way = 0;
        x->first = HUGE_VAL;
        x->step = 0;
        return x->at >= 0;
    }
    x->first = (corner - a) / d;
    x->step = voxel / d;
    const double other = x->first + x->step * n;
    const double low = x->first < other ? x->first : other, high = x->first < other ? other : x->first;
    *from = low > *from ? low : *from;
    *to = high < *to ? high : *to;
    return *from < *to;
}

/* The voxel at t = from, and the border behind it. */
static void begin(axis *x, double from)
{
    if (x->step == 0) {
        return;
    }
    double place = floor((from - x->first) / x->step);
    x->way = x->step > 0 ? 1 : -1;
    /* At a border, going down, the voxel is the one below. */
    if (x->way < 0 && x->first + place * x->step <= from) {
        place -= 1;
    }
    place = place < 0 ? 0 : place > (double)(x->n - 1) ? (double)(x->n - 1) : place;
    x->at = (int64_t)place;
    x->next = x->way > 0 ? x->at + 1 : x->at;
}

static double border(const axis *x)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): filled by its caller */
    return x->way == 0 ? HUGE_VAL : x->first + (double)x->next * x->step;
}

double slc_pet_line_image(const slc_pet_image *image, const double a[3], const double d[3])
{
    const uint32_t n[3] = {image->nx, image->ny, image->nz};
    axis of[3];
    double from = 0, to = 1, sum = 0;
    for (int k = 0; k < 3; k++) {
        const double corner = image->middle_mm[k] - 0.5 * n[k] * image->voxel_mm[k];
        if (!enter(&of[k], a[k], d[k], corner, image->voxel_mm[k], n[k], &from, &to)) {
            return 0;
        }
    }
    for (int k = 0; k < 3; k++) {
        begin(&of[k], from);
    }
    while (from < to) {
        int k = border(&of[1]) < border(&of[0]) ? 1 : 0;
        k = border(&of[2]) < border(&of[k]) ? 2 : k;
        const double at = border(&of[k]) < to ? border(&of[k]) : to;
        const size_t voxel = ((size_t)of[2].at * image->ny + (size_t)of[1].at) * image->nx + (size_t)of[0].at;
        if (at > from) {
            sum += (double)image->value[voxel] * (at - from);
            from = at;
        }
        of[k].at += of[k].way;
        of[k].next += of[k].way;
        if (of[k].way == 0 || of[k].at < 0 || of[k].at >= of[k].n) {
            break;
        }
    }
    return sum;
}
