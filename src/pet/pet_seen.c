/* SPDX-License-Identifier: Apache-2.0
 * What frames and spectra show of the scanner, against what was said of it: pet_seen.h. */
#include "pet/pet_calibrate_parts.h"
#include "pet/pet_scanner.h"

#include <sluice/pet_seen.h>

#include <stdio.h>

enum {
    MOST = 1 << 22 /* frames */,
    EACH = 100,
    IN_ROW = 1000 /* counts */,
    FIRST = 512, /* frames that are kept, and every so many after them: */
    EVERY = 128,
    SEPARATE = 3 /* places of a map for each crystal across */
};

void slc_pet_seen_add(slc_pet_seen *seen, const slc_pet_frame *frames, size_t n)
{
    const size_t left = (size_t)(MOST - seen->frames), take = n < left ? n : left;
    for (size_t i = 0; i < take; i++) {
        const slc_pet_frame *f = &frames[i];
        const uint64_t number = seen->frames + i;
        if ((number < FIRST || number % EVERY == 0) && seen->kept < SLC_PET_SEEN_FRAMES) {
            seen->frame[seen->kept++] = *f;
        }
        seen->module[f->module / 64] |= UINT64_C(1) << f->module % 64;
        seen->units |= 1U << (f->head_unit & 15);
        seen->highest_x = f->x > seen->highest_x ? f->x : seen->highest_x;
        seen->highest_y = f->y > seen->highest_y ? f->y : seen->highest_y;
    }
    seen->frames += take;
}

/* ---- modules, units, places -------------------------------------------------------------------- */

static uint32_t highest_module(const slc_pet_seen *seen)
{
    uint32_t highest = 0;
    for (uint32_t m = 0; m < SLC_PET_MAX_MODULES; m++) {
        highest = (seen->module[m / 64] >> m % 64 & 1) != 0 ? m : highest;
    }
    return highest;
}

static uint32_t highest_unit(const slc_pet_seen *seen)
{
    uint32_t highest = 0;
    for (uint32_t u = 0; u < SLC_PET_MAX_UNITS; u++) {
        highest = (seen->units >> u & 1) != 0 ? u : highest;
    }
    return highest;
}

/* One kind of number: are there higher ones than were said, or none of the highest? */
static bool doubt_range(const slc_pet_seen *seen, const char *what, const char *has, uint32_t highest,
                        uint32_t said, char text[SLC_PET_DOUBT])
{
    if (highest >= said) {
        (void)snprintf(text, SLC_PET_DOUBT, "there are frames of %s up to %u; %s %u, from 0", what, highest,
                       has, said);
        return true;
    }
    if (highest + 1 < said && seen->frames >= (uint64_t)EACH * said) {
        (void)snprintf(text, SLC_PET_DOUBT, "there are no frames of %s above %u; %s %u, from 0", what,
                       highest, has, said);
        return true;
    }
    return false;
}

static bool doubt_map(const slc_pet_seen *seen, const slc_pet_geometry *g, uint32_t side,
                      char text[SLC_PET_DOUBT])
{
    const uint32_t x = seen->highest_x, y = seen->highest_y, wide = x > y ? x : y;
    if (wide >= side) {
        (void)snprintf(text, SLC_PET_DOUBT, "there are places up to x = %u, y = %u; maps have %u x %u", x, y,
                       side, side);
    } else if (seen->frames >= EACH && wide < side / 2) {
        (void)snprintf(text, SLC_PET_DOUBT, "places go no further than x = %u, y = %u; maps have %u x %u", x,
                       y, side, side);
    } else if (seen->frames >= EACH &&
               (x + 1 < SEPARATE * g->crystals_z || y + 1 < SEPARATE * g->crystals_y)) {
        (void)snprintf(
            text, SLC_PET_DOUBT,
            "places up to x = %u, y = %u are no flood map of blocks of %u x %u crystals; if they are "
            "crystals, blocks have %u x %u",
            x, y, g->crystals_y, g->crystals_z, y + 1, x + 1);
    } else {
        return false;
    }
    return true;
}

bool slc_pet_seen_doubt(const slc_pet_seen *seen, const slc_pet_geometry *g, uint32_t side, size_t i,
                        char text[SLC_PET_DOUBT])
{
    size_t found = 0;
    for (int check = 0; check < 4 && seen->frames > 0; check++) {
        bool doubt = false;
        if (check == 0) {
            doubt = doubt_range(seen, "modules", "the scanner has", highest_module(seen),
                                slc_pet_module_count(g), text);
        } else if (check == 1) {
            doubt = doubt_range(seen, "units", "modules have", highest_unit(seen), g->blocks_y * g->blocks_z,
                                text);
        } else if (side > 0) {
            doubt = check == 2 && doubt_map(seen, g, side, text);
        } else if (check == 2) {
            doubt = doubt_range(seen, "crystals y", "blocks have", seen->highest_y, g->crystals_y, text);
        } else {
            doubt = doubt_range(seen, "crystals z", "blocks have", seen->highest_x, g->crystals_z, text);
        }
        if (doubt && found++ == i) {
            return true;
        }
    }
    return false;
}

/* ---- rows of crystals -------------------------------------------------------------------------- */

/* Counts of the spectra of all crystals that are in a row of their block, of y or of z. */
static uint64_t counts_of_row(const slc_pet_calibrate *c, bool along_z, uint32_t row)
{
    const slc_pet_calibrate_config *config = slc_pet_calibrate_config_of(c);
    const slc_pet_geometry *g = &config->geometry;
    uint64_t counts = 0;
    for (uint32_t crystal = 0; crystal < slc_pet_crystals(g); crystal++) {
        uint32_t module, unit, local;
        slc_pet_crystal_place(g, crystal, &module, &unit, &local);
        const uint32_t *spectrum = slc_pet_calibrate_spectrum(c, crystal);
        if ((along_z ? local % g->crystals_z : local / g->crystals_z) == row && spectrum != NULL) {
            for (uint32_t b = 0; b < config->spectrum_bins; b++) {
                counts += spectrum[b];
            }
        }
    }
    return counts;
}

/* A grid of too few crystals gives two rows to one, mostly at an edge; one of too many splits one between
 * two. Along a block, counts change slowly whatever the source. */
static bool doubt_row(const slc_pet_calibrate *c, bool along_z, uint32_t row, char text[SLC_PET_DOUBT])
{
    const slc_pet_geometry *g = &slc_pet_calibrate_config_of(c)->geometry;
    const uint32_t rows = along_z ? g->crystals_z : g->crystals_y;
    const double counts = (double)counts_of_row(c, along_z, row);
    const double before = (double)counts_of_row(c, along_z, row > 0 ? row - 1 : 1);
    const double after = (double)counts_of_row(c, along_z, row + 1 < rows ? row + 1 : rows - 2);
    const bool few = counts < 0.5 * (before < after ? before : after);
    const bool many = counts > 1.35 * (before > after ? before : after);
    if (few || many) {
        (void)snprintf(
            text, SLC_PET_DOUBT,
            "crystals %c = %u of all blocks together have %.2f times the counts of those beside them, "
            "as if blocks had %s than %u x %u",
            along_z ? 'z' : 'y', row, counts / (few == (before < after) ? before : after),
            few ? "fewer" : "more", g->crystals_y, g->crystals_z);
    }
    return few || many;
}

bool slc_pet_calibrate_doubt(const slc_pet_calibrate *c, size_t i, char text[SLC_PET_DOUBT])
{
    const slc_pet_geometry *g = &slc_pet_calibrate_config_of(c)->geometry;
    size_t found = 0;
    for (int along_z = 0; along_z < 2; along_z++) {
        const uint32_t rows = along_z ? g->crystals_z : g->crystals_y;
        uint64_t all = 0;
        for (uint32_t row = 0; row < rows; row++) {
            all += counts_of_row(c, along_z, row);
        }
        for (uint32_t row = 0; row < rows && rows > 1 && all / rows >= IN_ROW; row++) {
            if (doubt_row(c, along_z, row, text) && found++ == i) {
                return true;
            }
        }
    }
    return false;
}
