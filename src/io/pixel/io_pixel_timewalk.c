/* SPDX-License-Identifier: Apache-2.0
 *
 * Times of arrival: a small charge passes the threshold later than a large one (timewalk), by c / (ToT - d)
 * or as a table says, and the columns of a Timepix3 have clocks of their own phase.
 * docs/formats/pixel-tables.md.
 */
#include "io/io_stream.h"
#include "io/pixel/io_pixel_tables.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BYTES = 64 << 20, PHASES = 16 };

/* ---- what is known ------------------------------------------------------------------------------ */

static slc_status wrong(const char *name, size_t line, const char *reason, slc_error *error)
{
    return slc_fail(error, SLC_ERR_FORMAT, "%s: line %zu: %s", name, line, reason);
}

/* Two numbers of a line, 0 of an empty one; else -1. */
static int take_line(const char *at, const char *end, double number[2])
{
    char line[128];
    const char *hash = memchr(at, '#', (size_t)(end - at));
    const size_t size = (size_t)((hash != NULL ? hash : end) - at);
    if (size >= sizeof line) {
        return -1;
    }
    memcpy(line, at, size);
    line[size] = 0;
    int n = 0;
    for (char *from = line + strspn(line, " \t\r"); *from != 0; from += strspn(from, " \t\r")) {
        char *rest = NULL;
        const double value = strtod(from, &rest);
        if (n == 2 || rest == from || (*rest != 0 && strchr(" \t\r,", *rest) == NULL) || !isfinite(value)) {
            return -1;
        }
        number[n++] = value;
        from = rest + (*rest == ',' && n == 1);
    }
    return n == 1 ? -1 : n;
}

static slc_status add_point(slc_pixel_timewalk *walk, const double number[2], size_t *capacity)
{
    if (walk->n == *capacity) {
        const size_t larger = 2 * *capacity + 64;
        slc_pixel_delay *points = realloc(walk->points, larger * sizeof *points);
        if (points == NULL) {
            return SLC_ERR_MEMORY;
        }
        walk->points = points;
        *capacity = larger;
    }
    walk->points[walk->n++] = (slc_pixel_delay){number[0], number[1]};
    return SLC_OK;
}

slc_status slc_io_pixels_timewalk_parse(const char *text, size_t size, const char *name,
                                        slc_io_pixels_tables *tables, slc_error *error)
{
    slc_pixel_timewalk *walk = &tables->timewalk;
    const char *at = text, *end = text + size;
    size_t capacity = 0;
    for (size_t line = 1; at < end; line++) {
        double number[2];
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        if (newline == NULL) {
            return wrong(name, line, "the last line has no end: the file is cut", error);
        }
        const int n = take_line(at, newline, number);
        if (n < 0 || (n == 2 && !(number[0] >= 0 && number[0] <= UINT32_MAX))) {
            return wrong(name, line, "a timewalk is a ToT and a delay in ns", error);
        }
        if (n == 2 && fabs(number[1]) > SLC_PIXEL_LONGEST_NS) {
            return wrong(name, line, "a delay is up to 1e6 ns", error);
        }
        if (n == 2 && walk->n > 0 && number[0] <= walk->points[walk->n - 1].tot) {
            return wrong(name, line, "ToT is to rise from line to line", error);
        }
        if (n == 2 && add_point(walk, number, &capacity) != SLC_OK) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a timewalk", name);
        }
        at = newline + 1;
    }
    walk->is_there = walk->n > 0;
    return walk->n > 0 ? SLC_OK : slc_fail(error, SLC_ERR_FORMAT, "%s: no line has a ToT and a delay", name);
}

/* "c=48.5,d=3": what is not of this form is a file. */
static bool take_fit(const char *text, slc_pixel_timewalk *walk)
{
    char *rest = NULL;
    if (strncmp(text, "c=", 2) != 0) {
        return false;
    }
    walk->c = strtod(text + 2, &rest);
    if (rest == text + 2 || strncmp(rest, ",d=", 3) != 0) {
        return false;
    }
    const char *second = rest + 3;
    walk->d = strtod(second, &rest);
    walk->is_fit = walk->is_there = rest != second && *rest == 0;
    return walk->is_fit;
}

slc_status slc_io_pixels_timewalk_read(const char *text, slc_io_pixels_tables *tables, slc_error *error)
{
    slc_pixel_timewalk *walk = &tables->timewalk;
    if (take_fit(text, walk)) {
        return fabs(walk->c) <= SLC_PIXEL_LONGEST_NS && fabs(walk->d) <= SLC_PIXEL_LONGEST_NS
                   ? SLC_OK
                   : slc_fail(error, SLC_ERR_USAGE, "a timewalk of '%.200s': c and d are numbers up to 1e6",
                              text);
    }
    void *bytes = NULL;
    size_t size = 0;
    slc_status status = slc_io_read_file(text, MOST_BYTES, &bytes, &size, error);
    if (status == SLC_OK) {
        status = slc_io_pixels_timewalk_parse(bytes, size, text, tables, error);
    }
    free(bytes);
    return status == SLC_ERR_IO && strncmp(text, "c=", 2) == 0
               ? slc_fail(error, SLC_ERR_USAGE, "'%.200s' is no timewalk of the form c=48.5,d=3, and no file",
                          text)
               : status;
}

/* ---- pixels ------------------------------------------------------------------------------------- */

static double between(const slc_pixel_timewalk *walk, double tot)
{
    const slc_pixel_delay *p = walk->points;
    size_t low = 0, high = walk->n - 1;
    if (tot <= p[0].tot || tot >= p[high].tot) {
        return tot <= p[0].tot ? p[0].ns : p[high].ns;
    }
    while (high - low > 1) {
        const size_t middle = (low + high) / 2;
        *(p[middle].tot <= tot ? &low : &high) = middle;
    }
    return p[low].ns + (p[high].ns - p[low].ns) * (tot - p[low].tot) / (p[high].tot - p[low].tot);
}

bool slc_pixel_delay_of(const slc_pixel_timewalk *walk, uint32_t tot, double *ns)
{
    if (walk->is_fit) {
        *ns = walk->c / (tot - walk->d);
        return tot > walk->d && fabs(*ns) <= SLC_PIXEL_LONGEST_NS;
    }
    *ns = between(walk, tot);
    return true;
}

static int64_t whole_ticks(const slc_pixel_timewalk *walk, uint32_t tot)
{
    double ns = 0;
    const bool known = slc_pixel_delay_of(walk, tot, &ns);
    const double ticks = floor(ns / walk->tick_ns + 0.5);
    return known && fabs(ticks) < 0x1p62 ? (int64_t)ticks : SLC_PIXEL_NO_DELAY;
}

void slc_io_pixels_timewalk_begin(slc_io_pixels_tables *tables, double tick_seconds)
{
    slc_pixel_timewalk *walk = &tables->timewalk;
    walk->tick_ns = 1e9 * tick_seconds;
    for (uint32_t tot = 0; walk->is_there && tot < SLC_PIXEL_USUAL_TOT; tot++) {
        walk->usual[tot] = whole_ticks(walk, tot);
    }
}

void slc_io_pixels_correct_time(const slc_io_pixels_tables *tables, uint32_t x, uint32_t tot, int64_t *time,
                                uint64_t *uncorrected)
{
    uint64_t moved = (uint64_t)*time; /* at the ends of time it wraps */
    if (tables->timewalk.is_there) {
        const slc_pixel_timewalk *walk = &tables->timewalk;
        const int64_t ticks = tot < SLC_PIXEL_USUAL_TOT ? walk->usual[tot] : whole_ticks(walk, tot);
        moved -= ticks == SLC_PIXEL_NO_DELAY ? 0 : (uint64_t)ticks;
        *uncorrected += ticks == SLC_PIXEL_NO_DELAY;
    }
    if (tables->has_phases) {
        moved += (x % SLC_PIXEL_TILE / 2 + PHASES - 1) % PHASES + 1;
    }
    *time = (int64_t)moved;
}
