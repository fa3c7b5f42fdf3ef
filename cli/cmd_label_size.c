/* SPDX-License-Identifier: Apache-2.0
 * Lengths and areas in micrometres, in columns whose names say so. */
#include "cmd_label_size.h"
#include "cli_words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND (&slc_cmd_label)

/* What becomes of a column: pixels times both sides, along x or y, or along any direction, which needs square
 * pixels; a number without a unit that needs them, too. */
typedef enum kind { AREA, ALONG_X, ALONG_Y, ROUND, LENGTH, SQUARE } kind;

#define FROM(member, type, kind, name, unit)                                                                 \
    {                                                                                                        \
#member, offsetof(slc_image_components, member), type, kind, name, unit                              \
    }
static const struct {
    const char *from;
    size_t member;
    slc_type type;
    kind kind;
    const char *name, *unit;
} becomes[] = {
    FROM(area, SLC_TYPE_U64, AREA, "area_um2", "um2"),
    FROM(x, SLC_TYPE_F64, ALONG_X, "x_um", "um"),
    FROM(y, SLC_TYPE_F64, ALONG_Y, "y_um", "um"),
    FROM(weighted_x, SLC_TYPE_F64, ALONG_X, "weighted_x_um", "um"),
    FROM(weighted_y, SLC_TYPE_F64, ALONG_Y, "weighted_y_um", "um"),
    FROM(convex_area, SLC_TYPE_U64, AREA, "convex_area_um2", "um2"),
    FROM(diameter, SLC_TYPE_F64, ROUND, "diameter_um", "um"),
    FROM(perimeter, SLC_TYPE_U64, LENGTH, "perimeter_um", "um"),
    FROM(major, SLC_TYPE_F64, LENGTH, "major_um", "um"),
    FROM(minor, SLC_TYPE_F64, LENGTH, "minor_um", "um"),
    FROM(feret_max, SLC_TYPE_F64, LENGTH, "feret_max_um", "um"),
    FROM(feret_min, SLC_TYPE_F64, LENGTH, "feret_min_um", "um"),
    FROM(feret_outline, SLC_TYPE_F64, LENGTH, "feret_outline_um", "um"),
    FROM(crofton_2, SLC_TYPE_F64, LENGTH, "crofton_2_um", "um"),
    FROM(crofton_4, SLC_TYPE_F64, LENGTH, "crofton_4_um", "um"),
    {"orientation", 0, SLC_TYPE_F64, SQUARE, NULL, NULL},
    {"eccentricity", 0, SLC_TYPE_F64, SQUARE, NULL, NULL},
    {"roundness", 0, SLC_TYPE_F64, SQUARE, NULL, NULL},
    {"circularity", 0, SLC_TYPE_F64, SQUARE, NULL, NULL},
};
enum { BECOMES = sizeof becomes / sizeof *becomes, NAMED = SLC_LABEL_PHYSICAL };

/* A side for all, "0.65um", or `n` of them, "1.2,0.8mm", in the unit behind the last number. */
static bool take_sizes(const char *text, size_t n, double *sides)
{
    static const struct {
        const char *name;
        double um;
    } units[] = {{"nm", 1e-3}, {"um", 1},  {"\xc2\xb5m", 1}, {"mm", 1e3},
                 {"cm", 1e4},  {"m", 1e6}, {"in", 25400}};
    char *end = NULL;
    size_t told = 0;
    const char *from;
    do {
        from = told > 0 ? end + 1 : text;
        sides[told++] = strtod(from, &end);
    } while (told < n && end != from && *end == ',');
    const char *unit = end != from && (told == 1 || told == n) ? end : "";
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) == 0) {
            bool good = true;
            for (size_t k = 0; k < n; k++) {
                sides[k] = (k < told ? sides[k] * units[i].um : sides[0]);
                good = good && isfinite(sides[k]) && sides[k] > 0;
            }
            return good;
        }
    }
    return false;
}

int slc_label_size_choose(slc_label_job *job)
{
    const char *text = job->options->pixel_size;
    if (text == NULL) {
        return SLC_CLI_GO_ON;
    }
    if (job->options->stats == NULL) {
        return slc_cli_wrong(COMMAND, "--pixel-size needs --stats, where lengths and areas go");
    }
    double sides[3] = {0};
    if (strcmp(text, "auto") != 0 && !take_sizes(text, job->options->volume ? 3 : 2, sides)) {
        return slc_cli_wrong(COMMAND,
                             "--pixel-size takes auto, or X or %s with a unit (nm, um, mm, cm, m, in), as "
                             "0.65um, not '%s'",
                             job->options->volume ? "X,Y,Z" : "X,Y", text);
    }
    job->pixel_x_um = sides[0];
    job->pixel_y_um = sides[1];
    job->pixel_z_um = sides[2];
    return SLC_CLI_GO_ON;
}

void slc_label_size_columns(slc_column *columns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < NAMED; k++) {
            if (strcmp(columns[i].name, becomes[k].from) == 0) {
                columns[i] = (slc_column){becomes[k].name, becomes[k].unit,
                                          offsetof(slc_label_rows, physical) + k * sizeof(double *),
                                          SLC_TYPE_F64};
                break;
            }
        }
    }
}

size_t slc_label_size_own(const slc_schema *written, slc_column columns[SLC_LABEL_PHYSICAL])
{
    size_t n = 0;
    for (size_t i = 0; i < written->n_columns; i++) {
        if (written->columns[i].member >= offsetof(slc_label_rows, physical)) {
            columns[n++] = written->columns[i];
        }
    }
    return n;
}

/* Is a column written whose numbers hold for square pixels alone? Its name, or NULL. */
static const char *needs_squares(const slc_label_job *job)
{
    for (size_t i = 0; i < job->written.n_columns; i++) {
        for (size_t k = 0; k < BECOMES; k++) {
            const char *name = becomes[k].name != NULL ? becomes[k].name : becomes[k].from;
            if (becomes[k].kind >= LENGTH && strcmp(job->written.columns[i].name, name) == 0) {
                return becomes[k].from;
            }
        }
    }
    return NULL;
}

static void fill(size_t k, const slc_label_page *page, const slc_label_rows *rows)
{
    const double x = page->pixel_x_um, y = page->pixel_y_um;
    const double factor = becomes[k].kind == AREA      ? x * y
                          : becomes[k].kind == ALONG_Y ? y
                          : becomes[k].kind == ROUND   ? sqrt(x * y)
                                                       : x;
    const void *from;
    memcpy(&from, (const char *)&rows->columns + becomes[k].member, sizeof from);
    for (size_t i = 0; i < rows->columns.head.size; i++) {
        const double number = becomes[k].type == SLC_TYPE_U64 ? (double)((const uint64_t *)from)[i]
                                                              : ((const double *)from)[i];
        rows->physical[k][i] = number * factor;
    }
}

bool slc_label_size_rows(slc_label_job *job, const slc_label_page *page, const slc_label_rows *rows)
{
    const char *path = job->inputs[page->input - 1];
    if (job->options->pixel_size == NULL || rows->columns.head.size == 0) {
        return true;
    }
    if (!(page->pixel_x_um > 0)) {
        slc_cli_say("label",
                    "%s: page %u: the file does not say how large a pixel is: --pixel-size X does, as 0.65um",
                    path, (unsigned)page->page);
        return false;
    }
    /* Files round. */
    const bool square = fabs(page->pixel_x_um - page->pixel_y_um) <= 1e-6 * page->pixel_x_um;
    const char *word = square ? NULL : needs_squares(job);
    if (word != NULL) {
        slc_cli_say("label", "%s: page %u: pixels of %g um by %g um are not square, as '%s' needs them to be",
                    path, (unsigned)page->page, page->pixel_x_um, page->pixel_y_um, word);
        return false;
    }
    for (size_t k = 0; k < NAMED; k++) {
        if (rows->physical[k] != NULL) {
            fill(k, page, rows);
        }
    }
    return true;
}
