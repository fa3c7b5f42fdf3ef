/* SPDX-License-Identifier: Apache-2.0
 *
 * The scanner of a CASToR list: NAME.hscan and NAME.lut beside its header, where NAME is the scanner's name
 * or the header's own. A crystal is its row; which module and unit it is of says the description, if Sluice
 * wrote it. docs/formats/pet-castor.md.
 */
#include "io/pet/io_pet_castor.h"
#include "pet/pet_layout.h"
#include "pet/pet_scanner.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the description --------------------------------------------------------------------------- */

static const char words_key[] = "in words ";

bool slc_io_pet_castor_describe(const slc_pet_geometry *g, char *text, size_t size)
{
    const slc_pet_layout *l = g->layout;
    const bool rings = l == NULL || l->rings;
    bool in_order = true;
    char layers[64] = "";
    for (uint32_t i = 0; !rings && i < l->crystals && in_order; i++) {
        in_order = l->number[i] == i;
    }
    if (l != NULL && l->layers > 1) { /* they are of one size and depth */
        (void)snprintf(layers, sizeof layers, "; %u layers, told as one", l->layers);
    }
    int n = rings ? snprintf(text, size,
                             "rings %u, crystals of a ring %u; crystal = in ring + ring * crystals of a ring",
                             slc_pet_rings(g), slc_pet_crystals_per_ring(g))
                  : snprintf(text, size, "a table of crystals; crystal = row of the table%s", layers);
    if (in_order && n > 0 && (size_t)n < size) {
        n += snprintf(text + n, size - (size_t)n,
                      "; %schannels=%u,modules=%u,module-rings=%u,blocks=%ux%u,crystals=%ux%u,radius=%.9gmm,"
                      "pitch=%.9gmm,depth=%.9gmm",
                      words_key, g->channels, g->modules, g->module_rings, g->blocks_y, g->blocks_z,
                      g->crystals_y, g->crystals_z, g->radius_mm, g->pitch_z_mm, g->depth_mm);
    }
    return n > 0 && (size_t)n < size;
}

/* The ring of its words, if there are any and it has as many crystals. */
static bool read_words(const char *header, size_t crystals, slc_pet_geometry *ring, bool *table)
{
    char text[SLC_IO_PET_CASTOR_DESCRIPTION] = "";
    slc_error reason;
    (void)slc_io_pet_header_value(header, ':', "description", text, sizeof text);
    const char *words = strstr(text, words_key);
    if (words == NULL || slc_pet_scanner(words + strlen(words_key), ring, &reason) != SLC_OK) {
        return false;
    }
    const bool fits = ring->layout == NULL && slc_pet_crystals(ring) == crystals;
    slc_pet_geometry_clear(ring);
    *table = strncmp(text, "rings ", strlen("rings ")) != 0;
    return fits;
}

/* ---- the table --------------------------------------------------------------------------------- */

static bool unify(double v[3])
{
    const double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int k = 0; k < 3 && length > 0; k++) {
        v[k] /= length;
    }
    return length > 0;
}

/* Looks where its row points away from; its axis is across that, along the scanner's as far as it can be. */
static void take_row(const slc_io_pet_map *map, size_t i, slc_pet_crystal_row *r)
{
    for (int k = 0; k < 3; k++) {
        r->position_mm[k] = (double)map->position_mm[3 * i + (size_t)k];
        r->normal[k] = 0.0 - (double)map->orientation[3 * i + (size_t)k];
    }
    (void)unify(r->normal);
    const int e = fabs(r->normal[2]) < 0.9 ? 2 : 0;
    for (int k = 0; k < 3; k++) {
        r->axis[k] = (k == e ? 1 : 0) - r->normal[e] * r->normal[k];
    }
    (void)unify(r->axis);
}

/* Are crystals where those of the ring are, as far as 32 bits tell? */
static bool is_ring(const slc_pet_geometry *ring, const slc_pet_crystal_row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double position[3], normal[3];
        slc_pet_crystal_position(ring, (uint32_t)i, position, normal);
        for (int k = 0; k < 3; k++) {
            if (!(fabs(position[k] - rows[i].position_mm[k]) < 1e-3) ||
                !(fabs(normal[k] - rows[i].normal[k]) < 1e-3)) {
                return false;
            }
        }
    }
    return true;
}

/* Modules that nobody told: as few as there can be, all alike. */
static slc_status share_out(size_t n, slc_pet_geometry *parts, slc_error *error)
{
    uint32_t modules = 1;
    while (modules <= SLC_PET_MAX_MODULES && (n % modules != 0 || n / modules >= SLC_PET_NO_CRYSTAL)) {
        modules++;
    }
    if (modules > SLC_PET_MAX_MODULES) {
        return slc_fail(error, SLC_ERR_UNSUPPORTED, "%zu crystals are no equal parts of fewer than %d", n,
                        (int)SLC_PET_NO_CRYSTAL);
    }
    *parts = (slc_pet_geometry){modules, 1, 1, 1, 1, (uint32_t)(n / modules), 1, 1, 1, 0, NULL};
    return SLC_OK;
}

static slc_status make(const slc_io_pet_map *map, const char *header, slc_pet_geometry *geometry,
                       bool *modules, slc_error *error)
{
    const size_t n = map->crystals;
    slc_pet_geometry ring;
    bool table = true;
    char word[64] = "";
    *modules = read_words(header, n, &ring, &table);
    slc_status status = *modules ? SLC_OK : share_out(n, &ring, error);
    if (status != SLC_OK) {
        return status;
    }
    slc_pet_crystal_row *rows = calloc(n, sizeof *rows);
    if (rows == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for %zu crystals", n);
    }
    for (size_t i = 0; i < n; i++) {
        if (table) {
            const size_t local = (size_t)ring.crystals_y * ring.crystals_z, unit = i / local;
            const uint32_t units = ring.blocks_y * ring.blocks_z;
            rows[i] = (slc_pet_crystal_row){.module = (uint32_t)(unit / units),
                                            .unit = (uint32_t)(unit % units),
                                            .crystal = (uint32_t)(i % local)};
        } else {
            slc_pet_crystal_place(&ring, (uint32_t)i, &rows[i].module, &rows[i].unit, &rows[i].crystal);
        }
        take_row(map, i, &rows[i]);
    }
    (void)slc_io_pet_header_value(header, ':', "crystals size depth", word, sizeof word);
    const double depth_mm = fmax(0, strtod(word, NULL)); /* of the first layer, if there are several */
    if (!table && is_ring(&ring, rows, n)) {
        *geometry = ring;
    } else if (!table) {
        status = slc_pet_layout_make_rings(rows, n, &ring, error);
        *geometry = ring;
    } else {
        status = slc_pet_layout_make(rows, n, depth_mm, geometry, error);
    }
    free(rows);
    return status;
}

slc_status slc_io_pet_castor_scanner(const char *hscan, slc_pet_geometry *geometry, bool *modules,
                                     slc_error *error)
{
    slc_io_pet_map map = {.crystals = 0};
    slc_error reason = {.status = SLC_OK};
    char *header = NULL;
    slc_status status = slc_io_pet_map_read(hscan, &map, error);
    status = status == SLC_OK ? slc_io_pet_header_read(hscan, &header, error) : status;
    if (status == SLC_OK) {
        status = make(&map, header, geometry, modules, &reason);
        status = status == SLC_OK ? SLC_OK : slc_fail(error, status, "%s: %.400s", hscan, reason.text);
    }
    slc_io_pet_map_clear(&map);
    free(header);
    return status;
}

/* ---- where it is ------------------------------------------------------------------------------- */

/* NAME.hscan beside the header, as a path that the caller frees. */
static char *hscan_of(const char *path, const char *name, size_t n)
{
    char file[1024];
    (void)snprintf(file, sizeof file, "%.*s.hscan", (int)n, name);
    return slc_io_pet_beside(path, file);
}

void slc_io_pet_castor_find_scanner(slc_io_pet_list *in, const char *path)
{
    slc_io_pet_list_about *about = &in->about;
    slc_error reason = {.status = SLC_OK};
    if (about->scanner[0] == '\0' || strchr(about->scanner, '=') != NULL) { /* words are no name */
        return;
    }
    slc_pet_geometry known = {.layout = NULL};
    if (slc_pet_scanner(about->scanner, &known, &reason) == SLC_OK) { /* the caller's to take */
        slc_pet_geometry_clear(&known);
        return;
    }
    const char *slash = strrchr(path, '/'), *own = slash != NULL ? slash + 1 : path;
    const bool named = strchr(about->scanner, '/') == NULL;
    char *hscan = named ? hscan_of(path, about->scanner, strlen(about->scanner)) : NULL;
    char *second = hscan_of(path, own,
                            slc_io_pet_ends_in(own, ".cdh") || slc_io_pet_ends_in(own, ".cdf")
                                ? strlen(own) - strlen(".cdh")
                                : strlen(own));
    if (hscan == NULL || (second != NULL && access(hscan, F_OK) != 0 && access(second, F_OK) == 0)) {
        char *other = hscan;
        hscan = second;
        second = other;
    }
    if (hscan != NULL && access(hscan, F_OK) != 0) {
        (void)snprintf(about->scanner_file, sizeof about->scanner_file, "there is no %.230s", hscan);
    } else if (hscan != NULL) {
        bool modules = false;
        about->has_geometry = slc_io_pet_castor_scanner(hscan, &about->geometry, &modules, &reason) == SLC_OK;
        about->no_modules = about->has_geometry && !modules;
        (void)snprintf(about->scanner_file, sizeof about->scanner_file, "%.250s",
                       about->has_geometry ? hscan : reason.text);
        in->crystals = about->has_geometry ? slc_pet_crystals(&about->geometry) : in->crystals;
    }
    free(hscan);
    free(second);
}
