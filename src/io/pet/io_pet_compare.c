/* SPDX-License-Identifier: Apache-2.0
 * The scanner that a list says, beside the one that is given to read it with. */
#include "io/pet/io_pet_list.h"
#include "pet/pet_scanner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOVED_MM 0.01 /* more than numbers of six digits are off */

slc_status slc_io_pet_list_compare(const slc_io_pet_list *in, uint32_t rings, uint32_t crystals_per_ring,
                                   slc_error *error)
{
    if (!in->has_geometry) {
        return SLC_OK;
    }
    const uint32_t given_rings = slc_pet_rings(&in->geometry),
                   given_crystals = slc_pet_crystals_per_ring(&in->geometry);
    if (rings != 0 && rings != given_rings) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: it is of a scanner of %u rings; the one that is given has %u", in->name, rings,
                        given_rings);
    }
    if (crystals_per_ring != 0 && crystals_per_ring != given_crystals) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: it is of a scanner of %u crystals in a ring; the one that is given has %u",
                        in->name, crystals_per_ring, given_crystals);
    }
    return SLC_OK;
}

/* Where crystal c of the file's scanner is. */
static void place_of(const slc_pet_geometry *own, const slc_io_pet_map *map, uint32_t c, double at[3])
{
    double direction[3];
    if (own != NULL) {
        slc_pet_crystal_position(own, c, at, direction);
        return;
    }
    for (size_t k = 0; k < 3; k++) {
        at[k] = (double)map->position_mm[3 * (size_t)c + k];
    }
}

/* By one of the two; `name` is that of the file that tells. */
static slc_status compare(slc_io_pet_list *in, const slc_pet_geometry *own, const slc_io_pet_map *map,
                          const char *name, slc_error *error)
{
    const uint32_t given = slc_pet_crystals(&in->geometry),
                   there = own != NULL ? slc_pet_crystals(own) : (uint32_t)map->crystals;
    if (there != given) {
        return slc_fail(error, SLC_ERR_FORMAT,
                        "%s: it is of a scanner of %u crystals%s%s; the one that is given has %u", in->name,
                        there, own == NULL ? " by " : "", own == NULL ? name : "", given);
    }
    double one[3], two[3], direction[3], first[3] = {0}, its[3] = {0};
    uint32_t n = 0, at = 0;
    for (uint32_t c = 0; c < given; c++) {
        slc_pet_crystal_position(&in->geometry, c, one, direction);
        place_of(own, map, c, two);
        const double x = one[0] - two[0], y = one[1] - two[1], z = one[2] - two[2];
        if (!(x * x + y * y + z * z > MOVED_MM * MOVED_MM)) {
            continue;
        }
        if (n++ == 0) {
            at = c;
            memcpy(first, one, sizeof first);
            memcpy(its, two, sizeof its);
        }
    }
    if (n > 0) {
        (void)snprintf(
            in->about.moved, sizeof in->about.moved,
            "%u of %u crystals are elsewhere in the scanner that is given, which is taken: crystal "
            "%u is at (%.3f, %.3f, %.3f) mm there, and by the file at (%.3f, %.3f, %.3f) mm",
            n, given, at, first[0], first[1], first[2], its[0], its[1], its[2]);
    }
    return SLC_OK;
}

slc_status slc_io_pet_list_compare_scanner(slc_io_pet_list *in, const slc_pet_geometry *own, slc_error *error)
{
    return in->has_geometry ? compare(in, own, NULL, in->name, error) : SLC_OK;
}

slc_status slc_io_pet_list_compare_beside(slc_io_pet_list *in, const char *path, const char *extension,
                                          const char *end, slc_error *error)
{
    const size_t kept = strlen(path) - strlen(extension);
    char *name = in->has_geometry && slc_io_pet_ends_in(path, extension) ? malloc(kept + strlen(end) + 1)
                                                                         : NULL;
    slc_io_pet_map map;
    slc_error unread;
    slc_status status = SLC_OK;
    if (name == NULL) {
        return SLC_OK;
    }
    memcpy(name, path, kept);
    memcpy(name + kept, end, strlen(end) + 1);
    if (access(name, R_OK) == 0 && slc_io_pet_map_read(name, &map, &unread) == SLC_OK) {
        status = compare(in, NULL, &map, name, error);
        slc_io_pet_map_clear(&map);
    }
    free(name);
    return status;
}
