/* SPDX-License-Identifier: Apache-2.0
 * What a check of the cabling has seen: how many pairs any two modules have, and their times by module. */
#include "report/report_pet_sheet.h"

#include <sluice/report_pet.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GAP = 24, TITLE = 40, LINE_HEIGHT = 22, LINES = 24 /* findings that are told */, LEAST_SIDE = 400 };

static float largest(const float *value, size_t n)
{
    float most = 0;
    for (size_t i = 0; i < n; i++) {
        most = fmaxf(most, value[i]);
    }
    return most > 0 ? most : 1;
}

/* Pairs by module and module, as the root of their share of the most. */
static float fill_matrix(const slc_pet_checked *c, float *value)
{
    const size_t n = (size_t)c->modules * c->modules;
    for (size_t i = 0; i < n; i++) {
        value[i] = (float)c->prompt[i];
    }
    const float most = largest(value, n);
    for (size_t i = 0; i < n; i++) {
        value[i] = sqrtf(value[i] / most);
    }
    return most;
}

/* By module, its pairs' times with all others: its own less theirs, and each row by its own most. */
static void fill_times(const slc_pet_checked *c, uint32_t bins, float *value)
{
    memset(value, 0, (size_t)c->modules * bins * sizeof *value);
    for (size_t m = 0; m < c->modules; m++) {
        float *row = value + m * bins;
        for (size_t j = 0; j < c->modules; j++) {
            for (size_t b = 0; b < bins; b++) {
                row[b] += (float)c->times[(j * c->modules + m) * bins + b];
            }
        }
        const float most = largest(row, bins);
        for (size_t b = 0; b < bins; b++) {
            row[b] /= most;
        }
    }
}

/* Draws a text in lines of so many letters, or counts them only (canvas NULL); how many there are. */
static size_t draw_text(const slc_report_canvas *canvas, size_t top, size_t letters, uint8_t colour,
                        const char *text)
{
    size_t lines = 0;
    while (*text != '\0') {
        char line[SLC_PET_FINDING_TEXT];
        size_t n = strlen(text);
        if (n > letters) {
            for (n = letters; n > 0 && text[n] != ' '; n--) {
            }
            n = n > 0 ? n : letters;
        }
        (void)snprintf(line, sizeof line, "%.*s", (int)n, text);
        if (canvas != NULL) {
            slc_report_canvas_text(canvas, (size_t)GAP * (lines > 0 ? 2 : 1), top + lines * LINE_HEIGHT, 2,
                                   colour, line);
        }
        text += n;
        text += *text == ' ';
        lines++;
    }
    return lines;
}

/* The same of the findings. */
static size_t draw_findings(const slc_report_canvas *canvas, const slc_pet_checked *c, size_t top,
                            size_t width)
{
    const size_t letters = (width - (size_t)3 * GAP) / (2U * SLC_REPORT_TEXT_WIDTH);
    char text[64];
    size_t lines = 0;
    if (c->n_errors == 0) {
        lines += draw_text(canvas, top, letters, SLC_REPORT_INK, "no error was found");
    }
    for (size_t i = 0; i < c->n_findings && i < LINES; i++) {
        const bool more = i + 1 == LINES && c->n_findings > LINES;
        (void)snprintf(text, sizeof text, "and %zu more", c->n_findings - i);
        lines += draw_text(canvas, top + lines * LINE_HEIGHT, letters,
                           i < c->n_errors ? SLC_REPORT_WARNING : SLC_REPORT_FAINT,
                           more ? text : c->finding[i].text);
    }
    return lines;
}

static void draw(const slc_report_canvas *canvas, const slc_pet_checked *c, double range_ps, uint32_t bins,
                 size_t side, float *value)
{
    char text[160];
    const double modules = c->modules, range_ns = range_ps * 1e-3;
    (void)snprintf(text, sizeof text, "check of %u modules: %llu pairs, %llu delayed", c->modules,
                   (unsigned long long)c->pairs, (unsigned long long)c->delayeds);
    slc_report_canvas_text(canvas, GAP, 14, 2, SLC_REPORT_INK, text);
    slc_report_panel panel = {.left = GAP + SLC_REPORT_MARGIN_LEFT,
                              .top = TITLE + SLC_REPORT_MARGIN_ABOVE,
                              .width = side,
                              .height = side,
                              .x = {-0.5, modules - 0.5, "module"},
                              .y = {-0.5, modules - 0.5, "module"},
                              .title = "pairs of modules",
                              .value = value,
                              .columns = c->modules,
                              .rows = c->modules};
    const float most = fill_matrix(c, value);
    slc_report_panel_draw(canvas, &panel);
    (void)snprintf(text, sizeof text, "%.0f", (double)most);
    slc_report_scale_draw(canvas, panel.left, panel.top + side + SLC_REPORT_MARGIN_BELOW + 6, side / 2, "0",
                          text, "pairs (root)");
    panel.left += side + GAP + SLC_REPORT_MARGIN_LEFT;
    panel.x = (slc_report_axis){-range_ns, range_ns, "time after the other (ns)"};
    panel.title = "times by module";
    panel.columns = bins;
    fill_times(c, bins, value);
    slc_report_panel_draw(canvas, &panel);
    slc_report_panel_cross(canvas, &panel, 0, NAN);
    (void)draw_findings(canvas, c, panel.top + side + SLC_REPORT_MARGIN_BELOW + 56, canvas->width);
}

slc_status slc_report_pet_check_png(const char *path, const slc_pet_checked *c, double range_ps,
                                    uint32_t bins, slc_error *error)
{
    /* Whole pixels a module. */
    const size_t each = c->modules < LEAST_SIDE ? (LEAST_SIDE + c->modules - 1) / c->modules : 1;
    const size_t side = each * c->modules, wide = c->modules > bins ? c->modules : bins;
    slc_report_canvas canvas = {.pixels = NULL};
    float *value = malloc((size_t)c->modules * wide * sizeof *value);
    slc_status status = SLC_OK;
    const size_t width = 3 * GAP + 2 * (side + SLC_REPORT_MARGIN_LEFT);
    const size_t lines = draw_findings(NULL, c, 0, width);
    const size_t height = TITLE + SLC_REPORT_MARGIN_ABOVE + side + SLC_REPORT_MARGIN_BELOW + 56 +
                          (lines + 1) * LINE_HEIGHT + GAP;
    if (value == NULL || !slc_report_sheet_open(&canvas, width, height)) {
        status = slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for the picture", path);
    } else {
        draw(&canvas, c, range_ps, bins, side, value);
        status = slc_report_sheet_write(&canvas, path, error);
    }
    free(value);
    free(canvas.pixels);
    return status;
}
