/* SPDX-License-Identifier: Apache-2.0
 * What frames and spectra show of the scanner, against what was said of it: report_pet.h. */
#include "report/report_pet_doubts.h"
#include "pet/pet_calibrate_parts.h"
#include "pet/pet_scanner.h"
#include "pet/pet_stages.h"

#include <sluice/report_pet.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    EACH = 100,    /* frames of a module, unit or place, before one that is missing is told */
    IN_ROW = 1000, /* counts of a row of crystals */
    SEPARATE = 3,  /* places of a map for each crystal across */
    SHARE = 100,   /* a window that keeps less than one of so many is told */
    ENOUGH = 400,  /* energies, before where they gather is told */
    PEAK = 4       /* ... which is told if one of so many is within a tenth of it to either side */
};

/* ---- modules, units, places -------------------------------------------------------------------- */

static uint32_t highest_module(const slc_io_pet_seen *seen)
{
    uint32_t highest = 0;
    for (uint32_t m = 0; m < SLC_PET_MAX_MODULES; m++) {
        highest = (seen->module[m / 64] >> m % 64 & 1) != 0 ? m : highest;
    }
    return highest;
}

static uint32_t highest_unit(const slc_io_pet_seen *seen)
{
    uint32_t highest = 0;
    for (uint32_t u = 0; u < SLC_PET_MAX_UNITS; u++) {
        highest = (seen->units >> u & 1) != 0 ? u : highest;
    }
    return highest;
}

/* One kind of number: are there higher ones than were said, or none of the highest? */
static bool doubt_range(const slc_io_pet_seen *seen, const char *what, const char *has, uint32_t highest,
                        uint32_t said, char text[SLC_REPORT_PET_DOUBT])
{
    if (highest >= said) {
        (void)snprintf(text, SLC_REPORT_PET_DOUBT, "there are frames of %s up to %u; %s %u, from 0", what,
                       highest, has, said);
        return true;
    }
    if (highest + 1 < said && seen->frames >= (uint64_t)EACH * said) {
        (void)snprintf(text, SLC_REPORT_PET_DOUBT, "there are no frames of %s above %u; %s %u, from 0", what,
                       highest, has, said);
        return true;
    }
    return false;
}

static bool doubt_map(const slc_io_pet_seen *seen, const slc_pet_geometry *g, uint32_t side,
                      char text[SLC_REPORT_PET_DOUBT])
{
    const uint32_t x = seen->highest_x, y = seen->highest_y, wide = x > y ? x : y;
    if (wide >= side) {
        (void)snprintf(text, SLC_REPORT_PET_DOUBT, "there are places up to x = %u, y = %u; maps have %u x %u",
                       x, y, side, side);
    } else if (seen->frames >= EACH && wide < side / 2) {
        (void)snprintf(text, SLC_REPORT_PET_DOUBT,
                       "places go no further than x = %u, y = %u; maps have %u x %u", x, y, side, side);
    } else if (seen->frames >= EACH &&
               (x + 1 < SEPARATE * g->crystals_z || y + 1 < SEPARATE * g->crystals_y)) {
        (void)snprintf(
            text, SLC_REPORT_PET_DOUBT,
            "places up to x = %u, y = %u are no flood map of blocks of %u x %u crystals; if they are "
            "crystals, blocks have %u x %u",
            x, y, g->crystals_y, g->crystals_z, y + 1, x + 1);
    } else {
        return false;
    }
    return true;
}

bool slc_report_pet_scanner_doubt(const slc_io_pet_seen *seen, const slc_pet_geometry *g, uint32_t side,
                                  size_t i, char text[SLC_REPORT_PET_DOUBT])
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
static bool doubt_row(const slc_pet_calibrate *c, bool along_z, uint32_t row, char text[SLC_REPORT_PET_DOUBT])
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
            text, SLC_REPORT_PET_DOUBT,
            "crystals %c = %u of all blocks together have %.2f times the counts of those beside them, "
            "as if blocks had %s than %u x %u",
            along_z ? 'z' : 'y', row, counts / (few == (before < after) ? before : after),
            few ? "fewer" : "more", g->crystals_y, g->crystals_z);
    }
    return few || many;
}

bool slc_report_pet_rows_doubt(const slc_pet_calibrate *c, size_t i, char text[SLC_REPORT_PET_DOUBT])
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

/* ---- energies ---------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

slc_status slc_report_pet_energies_of(const float *energy_kev, size_t n, slc_report_pet_energies *energies,
                                      slc_error *error)
{
    *energies = (slc_report_pet_energies){.n = 0};
    float *sorted = malloc((n + 1) * sizeof *sorted);
    size_t kept = 0;
    if (sorted == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "no memory for the energies of %zu singles", n);
    }
    for (size_t i = 0; i < n; i++) {
        sorted[kept] = energy_kev[i];
        kept += isnan(energy_kev[i]) ? 0U : 1U;
    }
    qsort(sorted, kept, sizeof *sorted, by_value);
    if (kept > 0) {
        *energies = (slc_report_pet_energies){.n = kept,
                                              .least_kev = (double)sorted[0],
                                              .median_kev = (double)sorted[kept / 2],
                                              .most_kev = (double)sorted[kept - 1]};
    }
    free(sorted);
    return SLC_OK;
}

slc_status slc_report_pet_seen_energies(const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                                        slc_report_pet_energies *energies, slc_error *error)
{
    slc_pet_convert_config config;
    slc_pet_convert *stage = NULL;
    slc_pet_singles singles = {.time_ps = NULL};
    *energies = (slc_report_pet_energies){.n = 0};
    slc_pet_convert_config_default(&config);
    slc_status status = slc_pet_convert_open(&config, tables, &stage, error);
    status = status == SLC_OK
                 ? slc_pet_convert_run(stage, seen->frame, NULL, seen->kept, false, &singles, NULL, error)
                 : status;
    status = status == SLC_OK
                 ? slc_report_pet_energies_of(singles.energy_kev, singles.head.size, energies, error)
                 : status;
    slc_pet_convert_close(stage);
    slc_columns_clear(&slc_pet_singles_schema, &singles);
    return status;
}

/* Is next to nothing of all singles in the window? */
static bool is_little(uint64_t inside, uint64_t all)
{
    return all > 0 && inside < all / SHARE + (all % SHARE != 0);
}

static void tell_energies(const slc_report_pet_energies *e, double low_kev, double high_kev, uint64_t inside,
                          uint64_t all, bool gains, char text[SLC_REPORT_PET_DOUBT])
{
    int n = snprintf(text, SLC_REPORT_PET_DOUBT,
                     "%" PRIu64 " of %" PRIu64 " singles are from %g to below %g keV", inside, all, low_kev,
                     high_kev);
    if (e->n > 0) {
        n += snprintf(text + n, SLC_REPORT_PET_DOUBT - (size_t)n,
                      "; the energies that there are: from %.4g to %.4g keV, median %.4g keV", e->least_kev,
                      e->most_kev, e->median_kev);
    }
    if (!gains) {
        (void)snprintf(text + n, SLC_REPORT_PET_DOUBT - (size_t)n,
                       "; without a table of gains (--tables) a unit of a frame's energy is 1 keV");
    }
}

bool slc_report_pet_energies_doubt(const float *energy_kev, size_t n, double low_kev, double high_kev,
                                   uint64_t inside, char text[SLC_REPORT_PET_DOUBT])
{
    slc_report_pet_energies energies;
    const bool little = is_little(inside, n);
    if (little) {
        (void)slc_report_pet_energies_of(energy_kev, n, &energies, NULL); /* otherwise they are not told */
        tell_energies(&energies, low_kev, high_kev, inside, n, true, text);
    }
    return little;
}

/* Where a fifth of its width, in all, has most of these, which rise; 0: nowhere are there enough. */
static double gathers_at(const float *sorted, size_t n)
{
    size_t best = 0, best_first = 0;
    for (size_t first = 0, last = 0; first < n; first++) {
        while (last < n && sorted[last] <= 1.2F * sorted[first]) {
            last++;
        }
        if (sorted[first] > 0 && last - first > best) {
            best = last - first;
            best_first = first;
        }
    }
    return n >= ENOUGH && best >= n / PEAK ? (double)sorted[best_first + best / 2] : 0;
}

bool slc_report_pet_units_doubt(const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                                char text[SLC_REPORT_PET_DOUBT])
{
    const double peak_kev = 511, off = 0.2;
    float energies[SLC_IO_PET_SEEN_FRAMES];
    for (uint32_t i = 0; i < seen->kept; i++) {
        energies[i] = (float)(256 * seen->frame[i].energy[0] + seen->frame[i].energy[1]);
    }
    qsort(energies, seen->kept, sizeof *energies, by_value);
    const double peak = tables->gain == NULL ? gathers_at(energies, seen->kept) : 0;
    const bool other = peak > 0 && fabs(peak - peak_kev) > off * peak_kev;
    if (other) {
        (void)snprintf(text, SLC_REPORT_PET_DOUBT,
                       "energies of frames gather at %.4g, and not near 511 keV; without a table of gains "
                       "(--tables) a unit of them is taken for 1 keV",
                       peak);
    }
    return other;
}

bool slc_report_pet_frames_doubt(const slc_io_pet_seen *seen, const slc_pet_tables *tables,
                                 const slc_pet_convert_config *config, const slc_pet_convert_counts *c,
                                 char text[SLC_REPORT_PET_DOUBT])
{
    slc_report_pet_energies energies;
    const uint64_t all = c->singles + c->below + c->above;
    const bool little = is_little(c->singles, all);
    if (little) {
        (void)slc_report_pet_seen_energies(seen, tables, &energies, NULL);
        tell_energies(&energies, config->low_kev, config->high_kev, c->singles, all, tables->gain != NULL,
                      text);
    }
    return little;
}
