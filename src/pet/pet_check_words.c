/* SPDX-License-Identifier: Apache-2.0
 *
 * What a check has found, by name. A scanner that is turned as a whole, or mirrored, gives a picture that is
 * as sharp: there only a source whose place is known tells, by the numbering that puts it there.
 */
#include "pet/pet_check_work.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *slc_pet_finding_name(slc_pet_finding_kind kind)
{
    static const char *const names[SLC_PET_FINDING_KINDS] = {
        "silent",    "weak",  "unpaired", "swapped",   "moved", "turned",   "all-turned",
        "direction", "start", "ends",     "elsewhere", "late",  "undecided"};
    return (unsigned)kind < SLC_PET_FINDING_KINDS ? names[kind] : "unknown";
}

static const char *const turn_names[SLC_PET_TURNS] = {
    "as it should be",
    "mirrored around the ring",
    "mirrored along the axis",
    "turned by 180 degrees",
    "mirrored about its diagonal",
    "turned by 90 degrees (its z runs against y)",
    "turned by 90 degrees (its y runs against z)",
    "mirrored about its other diagonal",
};

#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
static void
add(slc_pet_check *c, slc_pet_finding finding, const char *format, ...)
{
    if (c->n_findings < slc_pet_check_most(c)) {
        va_list arguments;
        va_start(arguments, format);
        (void)vsnprintf(finding.text, sizeof finding.text, format, arguments);
        va_end(arguments);
        c->finding[c->n_findings++] = finding;
    }
}

static slc_pet_finding of(slc_pet_finding_kind kind, uint32_t module)
{
    return (slc_pet_finding){.kind = kind, .module = (int32_t)module, .other = -1};
}

static slc_pet_finding of_all(slc_pet_finding_kind kind, double value, double odds)
{
    return (slc_pet_finding){.kind = kind, .module = -1, .other = -1, .value = value, .odds = odds};
}

/* ---- counts ------------------------------------------------------------------------------------ */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The median of those above 0. */
static double usual(const double *value, size_t n)
{
    double sorted[SLC_PET_MAX_MODULES];
    size_t some = 0;
    for (size_t i = 0; i < n; i++) {
        if (value[i] > 0) {
            sorted[some++] = value[i];
        }
    }
    qsort(sorted, some, sizeof *sorted, by_value);
    return some > 0 ? sorted[some / 2] : 0;
}

static double singles_of(const slc_pet_check *c, uint32_t module)
{
    double sum = 0;
    for (uint32_t u = 0; u < c->units; u++) {
        sum += (double)c->singles[(size_t)module * c->units + u];
    }
    return sum;
}

static double pairs_of(const slc_pet_check *c, uint32_t module)
{
    double sum = 0;
    for (uint32_t j = 0; j < c->modules; j++) {
        sum += j != module ? (double)c->prompt[(size_t)module * c->modules + j] : 0;
    }
    return sum;
}

static void name_units(slc_pet_check *c, uint32_t module, double unit_usual)
{
    for (uint32_t u = 0; u < c->units && unit_usual >= 20; u++) {
        if (c->singles[(size_t)module * c->units + u] == 0) {
            add(c, of(SLC_PET_FOUND_SILENT, module), "module %u: its unit %u sends nothing", module, u);
        }
    }
}

/* `n`: singles of each module, or pairs where no singles were given. */
static void name_silent(slc_pet_check *c, const double *n, const double *pairs)
{
    double share[SLC_PET_MAX_MODULES];
    for (uint32_t m = 0; m < c->modules; m++) {
        share[m] = c->has_singles && n[m] > 0 ? pairs[m] / n[m] : 0;
    }
    const double usually = usual(n, c->modules), usual_share = usual(share, c->modules);
    const char *what = c->has_singles ? "singles" : "pairs";
    for (uint32_t m = 0; m < c->modules && usually > 0; m++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): filled by its caller */
        if (n[m] <= 0) {
            add(c, of(SLC_PET_FOUND_SILENT, m),
                c->has_singles ? "module %u is silent: it sends nothing"
                               : "module %u is silent: no pair is of it",
                m);
        } else if (n[m] < 0.1 * usually) {
            slc_pet_finding weak = of(SLC_PET_FOUND_WEAK, m);
            weak.value = n[m] / usually;
            add(c, weak, "module %u is weak: %.0f %s, and %.0f are usual", m, n[m], what, usually);
        } else if (c->has_singles && n[m] * usual_share > 50 && share[m] < 0.1 * usual_share) {
            slc_pet_finding lone = of(SLC_PET_FOUND_UNPAIRED, m);
            lone.value = share[m] / usual_share;
            char window[48] = "the window";
            if (c->config.window_ps > 0) {
                (void)snprintf(window, sizeof window, "the window of %g ns", 1e-3 * c->config.window_ps);
            }
            add(c, lone,
                "module %u has singles, but %.0f pairs where %.0f belong to so many: its clock may be off by "
                "more than %s",
                m, pairs[m], n[m] * usual_share, window);
        }
        if (c->has_singles && n[m] > 0) {
            name_units(c, m, usually / c->units);
        }
    }
}

/* ---- places ------------------------------------------------------------------------------------ */

static void name_module(slc_pet_check *c, uint32_t m)
{
    const slc_pet_places *p = &c->places;
    const uint32_t place = p->place[m];
    if (place != m && p->place[place] == m) {
        if (m < place) {
            slc_pet_finding swapped = of(SLC_PET_FOUND_SWAPPED, m);
            swapped.other = (int32_t)place;
            swapped.odds = p->odds[m] + p->odds[place];
            add(c, swapped, "modules %u and %u are swapped", m, place);
        }
    } else if (place != m) {
        slc_pet_finding moved = of(SLC_PET_FOUND_MOVED, m);
        moved.other = (int32_t)place;
        moved.odds = p->odds[m];
        add(c, moved, "module %u is in the place of module %u", m, place);
    }
    if (p->turn[m] != p->turn_of_all) {
        slc_pet_finding turned = of(SLC_PET_FOUND_TURNED, m);
        turned.odds = p->odds[m];
        add(c, turned, "module %u is %s", m, turn_names[p->turn[m]]);
    }
}

/* ---- the whole scanner ------------------------------------------------------------------------- */

/* A numbering: reflected or not, begun so many modules on, ends exchanged or not. */
typedef struct numbering {
    bool reflected, ends;
    uint32_t first;
    uint32_t errors; /* of how many things that go wrong one by one it is made */
    double off_mm;   /* from where the source is */
} numbering;

static double angle_of(const slc_pet_check *c, uint32_t module)
{
    double x = 0, y = 0;
    for (uint32_t i = 0; i < c->cells; i++) {
        x += c->position[(size_t)module * c->cells + i][0];
        y += c->position[(size_t)module * c->cells + i][1];
    }
    return atan2(y, x);
}

static double off_with(const slc_pet_check *c, const numbering *n)
{
    const double *found = c->places.source_mm, *is = c->config.source_mm;
    const double first = angle_of(c, 0), radius = hypot(found[0], found[1]);
    double angle = atan2(found[1], found[0]);
    angle = (n->reflected ? 2 * first - angle : angle) + angle_of(c, n->first) - first;
    return sqrt(pow(radius * cos(angle) - is[0], 2) + pow(radius * sin(angle) - is[1], 2) +
                pow((n->ends ? -found[2] : found[2]) - is[2], 2));
}

static uint32_t around_of(const slc_pet_check *c)
{
    return c->config.geometry.channels * c->config.geometry.modules;
}

/* The numbering with the fewest errors that puts the source where it is, the nearest of equals; *others:
 * those with as many. False: none does. */
static bool find_numbering(const slc_pet_check *c, double near_mm, numbering *best, uint32_t *others)
{
    const bool mirrored = (c->places.turn_of_all & SLC_PET_TURN_MIRROR_Y) != 0;
    bool found = false;
    *others = 0;
    for (uint32_t i = 0; i < 4 * around_of(c); i++) {
        numbering n = {.reflected = (i & 1) != 0, .ends = (i & 2) != 0, .first = i / 4};
        n.errors = (n.reflected || mirrored ? 1U : 0) + (n.ends ? 1U : 0) + (n.first != 0 ? 1U : 0);
        n.off_mm = off_with(c, &n);
        if (n.off_mm > near_mm) {
            continue;
        }
        const bool as_many = found && n.errors == best->errors;
        if (!found || n.errors < best->errors || (as_many && n.off_mm < best->off_mm)) {
            *others = as_many ? *others + 1 : 0;
            *best = n;
        } else {
            *others += as_many;
        }
        found = true;
    }
    return found;
}

static void name_direction(slc_pet_check *c, const numbering *n)
{
    const slc_pet_places *p = &c->places;
    const bool mirrored = (p->turn_of_all & SLC_PET_TURN_MIRROR_Y) != 0;
    if (n->reflected) {
        add(c, of_all(SLC_PET_FOUND_DIRECTION, 0, p->odds_of_all),
            mirrored ? "modules are numbered in the wrong direction around the ring"
                     : "modules, and the crystals in them, run in the wrong direction around the ring");
    }
    if (p->turn_of_all != 0 && !(mirrored && n->reflected)) {
        add(c, of_all(SLC_PET_FOUND_ALL_TURNED, 0, p->odds_of_all), "every module is %s",
            turn_names[p->turn_of_all]);
    }
}

static void name_numbering(slc_pet_check *c, const numbering *n, uint32_t others)
{
    char ambiguous[64] = "";
    if (others > 0) {
        (void)snprintf(ambiguous, sizeof ambiguous, " (%u other numberings would put the source there)",
                       others);
    }
    name_direction(c, n);
    if (n->first != 0) {
        double degrees = (angle_of(c, n->first) - angle_of(c, 0)) * 180 / 3.14159265358979323846;
        degrees += degrees <= -180 ? 360 : degrees > 180 ? -360 : 0;
        slc_pet_finding start = of_all(SLC_PET_FOUND_START, degrees, 0);
        start.other = (int32_t)n->first;
        add(c, start, "the first module is %+.4g degrees on: module 0 is in the place of module %u%s",
            degrees, n->first, ambiguous);
    }
    if (n->ends) {
        add(c, of_all(SLC_PET_FOUND_ENDS, 0, 0), "the ends of the scanner are exchanged%s", ambiguous);
    }
}

static void name_whole(slc_pet_check *c)
{
    const slc_pet_places *p = &c->places;
    const double *is = c->config.source_mm, *found = p->source_mm;
    const double near_mm = fmax(3, 2 * c->config.geometry.pitch_z_mm);
    numbering best = {.first = 0};
    uint32_t others = 0;
    if (p->judged == 0) {
        return;
    }
    if (!c->config.has_source) {
        if ((p->turn_of_all & SLC_PET_TURN_MIRROR_Y) != 0) {
            add(c, of_all(SLC_PET_FOUND_ALL_TURNED, 0, p->odds_of_all),
                "every module is %s, or modules are numbered in the wrong direction: where the source is "
                "tells which",
                turn_names[p->turn_of_all]);
        } else {
            name_direction(c, &best);
        }
    } else if (find_numbering(c, near_mm, &best, &others)) {
        name_numbering(c, &best, others);
    } else {
        name_direction(c, &best);
        add(c, of_all(SLC_PET_FOUND_ELSEWHERE, 0, 0),
            "lines meet at (%.1f, %.1f, %.1f) mm, and the source is said to be at (%g, %g, %g) mm: no "
            "numbering of modules puts it there",
            found[0], found[1], found[2], is[0], is[1], is[2]);
    }
}

/* ---- times ------------------------------------------------------------------------------------- */

static void name_late(slc_pet_check *c)
{
    for (uint32_t m = 0; m < c->modules; m++) {
        const double off = c->offset_ps[m], error = c->error_ps[m];
        if (fabs(off) > fmax(c->config.late_ps, 5 * error)) {
            slc_pet_finding late = of(SLC_PET_FOUND_LATE, m);
            late.value = off;
            add(c, late, "module %u is %s by %.0f ps (+- %.0f)", m, off > 0 ? "late" : "early", fabs(off),
                error);
        }
    }
}

/* ---- what cannot be told ----------------------------------------------------------------------- */

static void name_undecided(slc_pet_check *c, const double *pairs)
{
    const slc_pet_places *p = &c->places;
    const uint32_t around = around_of(c);
    for (uint32_t t = 0; t < p->turns; t++) {
        if (p->undecided[t] > 0) {
            add(c, of_all(SLC_PET_FOUND_UNDECIDED, p->undecided[t], 0),
                "of %u modules it cannot be told whether they are %s: to this source it makes no difference",
                p->undecided[t], turn_names[t]);
        }
    }
    for (uint32_t m = 0; m < c->modules; m++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): filled by its caller */
        if (c->sampled[m] < SLC_PET_CHECK_LEAST && pairs[m] > 0) {
            add(c, of(SLC_PET_FOUND_UNDECIDED, m), "module %u has %.0f pairs: too few to tell its place", m,
                pairs[m]);
        }
    }
    if (p->judged == 0) {
        add(c, of_all(SLC_PET_FOUND_UNDECIDED, 0, 0), "no module has the %d pairs that its place needs",
            SLC_PET_CHECK_LEAST);
    } else if (!c->config.has_source) {
        add(c, of_all(SLC_PET_FOUND_UNDECIDED, 0, 0),
            "the first angle, the direction and the ends cannot be told: it is not known where the source "
            "is");
    } else if (hypot(p->source_mm[0], p->source_mm[1]) * sin(3.14159265358979323846 / around) <
               fmax(3, 2 * c->config.geometry.pitch_z_mm) / 2) {
        add(c, of_all(SLC_PET_FOUND_UNDECIDED, 0, 0),
            "the first angle can hardly be told: the source is too near to the axis");
    }
}

void slc_pet_check_name(slc_pet_check *c)
{
    double n[SLC_PET_MAX_MODULES], pairs[SLC_PET_MAX_MODULES];
    c->n_findings = 0;
    for (uint32_t m = 0; m < c->modules; m++) {
        pairs[m] = pairs_of(c, m);
        n[m] = c->has_singles ? singles_of(c, m) : pairs[m];
    }
    name_silent(c, n, pairs);
    for (uint32_t m = 0; m < c->modules; m++) {
        name_module(c, m);
    }
    name_whole(c);
    name_late(c);
    c->n_errors = c->n_findings;
    name_undecided(c, pairs);
}
