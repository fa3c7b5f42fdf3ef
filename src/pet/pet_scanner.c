/* SPDX-License-Identifier: Apache-2.0
 *
 * Scanners by name, and those that are told in words: "channels=10,blocks=1x4,crystals=8x8,radius=60mm,
 * pitch=1.6mm,depth=12mm", so that every command and caller that takes a name takes a new scanner, too.
 */
#include "pet/pet_scanner.h"
#include "pet/pet_layout.h"

#include <sluice/pet_types.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct scanner {
    const char *name;
    slc_pet_geometry geometry;
} scanners[] = {
    /* A small-animal ring of 20 modules, 2 x 2 blocks of 13 x 13 crystals each. */
    {"mouse20", {20, 1, 1, 2, 2, 13, 13, 75.0, 1.6, 13.0, NULL}},
    /* A total-body scanner of EXPLORER's size: 24 modules around, 8 units along the axis. */
    {"explorer", {24, 1, 8, 5, 3, 7, 14, 393.0, 2.85, 18.1, NULL}},
    /* The ring of the reference vectors: 312 x 40 crystals. */
    {"vectors", {24, 1, 1, 1, 2, 13, 20, 60.0, 2.0, 0.0, NULL}},
};
enum { SCANNERS = sizeof scanners / sizeof *scanners };

const char *slc_pet_scanner_name(size_t i)
{
    return i < SCANNERS ? scanners[i].name : NULL;
}

/* ---- words ------------------------------------------------------------------------------------- */

/* A whole number from 1 to 65536 that ends at *end. */
static bool whole(const char *text, uint32_t *value, const char **end)
{
    char *after = NULL;
    const unsigned long number = text[0] >= '0' && text[0] <= '9' ? strtoul(text, &after, 10) : 0;
    if (number < 1 || number > 65536) {
        return false;
    }
    *value = (uint32_t)number;
    *end = after;
    return true;
}

/* Millimetres, with or without "mm". */
static bool length(const char *text, double *mm, const char **end)
{
    char *after = NULL;
    *mm = strtod(text, &after);
    *end = after + (strncmp(after, "mm", 2) == 0 ? 2 : 0);
    return after != text && isfinite(*mm) && *mm >= 0;
}

/* Any length, or degrees: a number that may be below 0, with or without its unit. */
static bool number(const char *text, const char *unit, double *value, const char **end)
{
    char *after = NULL;
    *value = strtod(text, &after);
    if (strncmp(text, "0x", 2) == 0) { /* "0x1mm" is two numbers, and not one in hexadecimal */
        *value = 0;
        after = (char *)text + 1;
    }
    *end = after + (strncmp(after, unit, strlen(unit)) == 0 ? strlen(unit) : 0);
    return after != text && isfinite(*value) && fabs(*value) <= 1e6;
}

/* One of some words. */
static bool choice(const char *text, const char *const *names, int *value, const char **end)
{
    for (int i = 0; names[i] != NULL; i++) {
        if (strncmp(text, names[i], strlen(names[i])) == 0) {
            *value = i;
            *end = text + strlen(names[i]);
            return true;
        }
    }
    return false;
}

enum { CHANNELS, MODULES, MODULE_RINGS, BLOCKS, CRYSTALS, RADIUS, PITCH, DEPTH, SHAPE };
enum { FLAT = SHAPE, PITCH_Y, BLOCK_GAP, MODULE_GAP, TURN, DIRECTION, SHIFT, LAYERS, LAYER_GAP, WORDS };
static const char *const words[WORDS] = {
    "channels=", "modules=",   "module-rings=", "blocks=",  "crystals=",  "radius=",
    "pitch=",    "depth=",     "flat=",         "pitch-y=", "block-gap=", "module-gap=",
    "turn=",     "direction=", "shift=",        "layers=",  "layer-gap="};

/* What a ring's words are, and those of one that is no ideal one. */
typedef struct told {
    slc_pet_geometry geometry;
    slc_pet_shape shape;
} told;

/* The value of a word that says how the ring differs from the ideal one. */
static bool shape_of(int word, const char *text, slc_pet_shape *shape, const char **end)
{
    static const char *const flats[] = {"none", "block", "module", NULL};
    static const char *const directions[] = {"counterclockwise", "clockwise", NULL};
    int chosen = 0;
    bool good;
    switch (word) {
    case FLAT:
        good = choice(text, flats, &chosen, end);
        shape->flat = (slc_pet_flat)chosen;
        return good;
    case PITCH_Y:
        return length(text, &shape->pitch_y_mm, end);
    case BLOCK_GAP:
        return number(text, "x", &shape->block_gap_mm[0], end) && (*end)[-1] == 'x' &&
               length(*end, &shape->block_gap_mm[1], end) && shape->block_gap_mm[0] >= 0;
    case MODULE_GAP:
        return length(text, &shape->module_gap_mm, end);
    case TURN:
        good = number(text, "deg", &shape->turn_radians, end);
        shape->turn_radians *= 3.14159265358979323846 / 180;
        return good;
    case DIRECTION:
        good = choice(text, directions, &chosen, end);
        shape->clockwise = chosen != 0;
        return good;
    case LAYERS:
        return whole(text, &shape->layers, end);
    case LAYER_GAP:
        return length(text, &shape->layer_gap_mm, end);
    default:
        return number(text, "mm", &shape->shift_mm, end);
    }
}

/* The value of a word; *end gets what is behind it. */
static bool value_of(int word, const char *text, told *t, const char **end)
{
    slc_pet_geometry *g = &t->geometry;
    switch (word) {
    case CHANNELS:
        return whole(text, &g->channels, end);
    case MODULES:
        return whole(text, &g->modules, end);
    case MODULE_RINGS:
        return whole(text, &g->module_rings, end);
    case BLOCKS:
        return whole(text, &g->blocks_y, end) && **end == 'x' && whole(*end + 1, &g->blocks_z, end);
    case CRYSTALS:
        return whole(text, &g->crystals_y, end) && **end == 'x' && whole(*end + 1, &g->crystals_z, end);
    case RADIUS:
        return length(text, &g->radius_mm, end);
    case PITCH:
        return length(text, &g->pitch_z_mm, end);
    case DEPTH:
        return length(text, &g->depth_mm, end);
    default:
        return shape_of(word, text, &t->shape, end);
    }
}

static slc_status parse(const char *text, slc_pet_geometry *geometry, slc_error *error)
{
    told t = {.geometry = {.modules = 1, .module_rings = 1, .blocks_y = 1, .blocks_z = 1}};
    bool seen[WORDS] = {false}, ideal = true;
    const char *at = text;
    for (bool more = true; more;) {
        int word = 0;
        while (word < WORDS && strncmp(at, words[word], strlen(words[word])) != 0) {
            word++;
        }
        const char *end = at;
        const bool good = word < WORDS && !seen[word] && value_of(word, at + strlen(words[word]), &t, &end) &&
                          (*end == ',' || *end == '\0');
        if (!good) {
            return slc_fail(error, SLC_ERR_USAGE,
                            "a scanner cannot be told by \"%s\"; its words are channels=N, modules=N, "
                            "module-rings=N, blocks=YxZ, crystals=YxZ, radius=Rmm, pitch=Pmm, depth=Dmm; and "
                            "flat=block|module, pitch-y=Pmm, block-gap=YxZmm, module-gap=Gmm, turn=Adeg, "
                            "direction=clockwise, shift=Zmm, layers=N, layer-gap=Gmm",
                            at);
        }
        seen[word] = true;
        ideal = ideal && word < SHAPE;
        more = *end == ',';
        at = end + 1;
    }
    if (!seen[CHANNELS] || !seen[CRYSTALS] || !seen[RADIUS] || !seen[PITCH]) {
        return slc_fail(error, SLC_ERR_USAGE,
                        "a scanner needs channels=, crystals=, radius= and pitch=, and \"%s\" has not all",
                        text);
    }
    const slc_status status = ideal ? slc_pet_geometry_check(&t.geometry, error)
                                    : slc_pet_layout_make_shape(&t.geometry, &t.shape, error);
    if (status == SLC_OK) {
        *geometry = t.geometry;
    }
    return status;
}

slc_status slc_pet_scanner(const char *name, slc_pet_geometry *geometry, slc_error *error)
{
    if (strchr(name, '=') != NULL) {
        return parse(name, geometry, error);
    }
    for (size_t i = 0; i < SCANNERS; i++) {
        if (strcmp(scanners[i].name, name) == 0) {
            *geometry = scanners[i].geometry;
            return SLC_OK;
        }
    }
    return slc_fail(error, SLC_ERR_USAGE,
                    "no scanner is named \"%s\"; there are %s, %s and %s; one of "
                    "your own is told in words, channels=...",
                    name, scanners[0].name, scanners[1].name, scanners[2].name);
}

/* ---- tables ------------------------------------------------------------------------------------ */

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
        if (g->layout != NULL && !g->layout->grid) {
            return slc_fail(error, SLC_ERR_FORMAT,
                            "tables: crystals of a unit are not numbered y · n + x, with n along its axis: "
                            "without a position table a frame cannot tell them");
        }
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

static slc_status check_geometric(const slc_pet_tables *t, slc_error *error)
{
    const slc_pet_geometric *g = &t->geometric;
    if (g->radial == NULL && g->axial == NULL) {
        return SLC_OK;
    }
    if (g->radial == NULL || g->axial == NULL || t->efficiency == NULL) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "tables: of radial and axial factors and efficiencies there are %s",
                        t->efficiency != NULL ? "not both factors" : "no efficiencies");
    }
    if (g->n_radial == 0 || g->n_axial == 0 || !(g->radial_mm > 0 && g->radial_mm < 1e6) ||
        !(g->axial_mm > 0 && g->axial_mm < 1e6)) {
        return slc_fail(error, SLC_ERR_FORMAT, "tables: %u radial factors of %g mm, %u axial ones of %g mm",
                        g->n_radial, g->radial_mm, g->n_axial, g->axial_mm);
    }
    for (uint32_t i = 0; i < g->n_radial + g->n_axial; i++) {
        const bool radial = i < g->n_radial;
        const double factor = radial ? (double)g->radial[i] : (double)g->axial[i - g->n_radial];
        if (!(factor > 0) || isinf(factor)) {
            return slc_fail(error, SLC_ERR_FORMAT, "tables: %s factor %u is %g", radial ? "radial" : "axial",
                            radial ? i : i - g->n_radial, factor);
        }
    }
    return SLC_OK;
}

void slc_pet_energies_of(double energy_fwhm, double kev[2])
{
    enum { PEAK_KEV = 511 };
    const double away = 1.5 * energy_fwhm * PEAK_KEV;
    kev[0] = fmax(floor(PEAK_KEV - away + 0.5), 0);
    kev[1] = floor(PEAK_KEV + away + 0.5);
}

/* What was measured, or 0. */
static slc_status check_widths(const slc_pet_tables *t, slc_error *error)
{
    if (!(t->energy_fwhm >= 0 && t->energy_fwhm < 1)) {
        return slc_fail(error, SLC_ERR_FORMAT, "tables: a resolution of energies of %g of 511 keV",
                        t->energy_fwhm);
    }
    if (!(t->time_fwhm_ps >= 0 && t->time_fwhm_ps < 1e6)) {
        return slc_fail(error, SLC_ERR_FORMAT, "tables: a resolution of times of %g ps", t->time_fwhm_ps);
    }
    return SLC_OK;
}

slc_status slc_pet_tables_check(const slc_pet_tables *t, slc_error *error)
{
    slc_status status = slc_pet_geometry_check(&t->geometry, error);
    status = status == SLC_OK ? check_position(t, error) : status;
    status = status == SLC_OK ? check_widths(t, error) : status;
    if (status != SLC_OK) {
        return status;
    }
    const size_t crystals = slc_pet_crystals(&t->geometry);
    status = check_factors("gain", t->gain, crystals, 1, error);
    status = status == SLC_OK ? check_factors("efficiency", t->efficiency, crystals, 1, error) : status;
    status = status == SLC_OK ? check_geometric(t, error) : status;
    if (status == SLC_OK && t->energy != NULL) {
        if (t->energy_bins == 0 || !(t->energy_bin_kev > 0) || isinf(t->energy_bin_kev)) {
            return slc_fail(error, SLC_ERR_FORMAT, "tables: energy factors in %u bins of %g keV",
                            t->energy_bins, (double)t->energy_bin_kev);
        }
        status = check_factors("energy factor", t->energy, slc_pet_energy_elements(t), t->energy_bins, error);
    }
    return status;
}
