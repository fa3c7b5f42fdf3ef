/* SPDX-License-Identifier: Apache-2.0
 * Panels of values in colours, with axes. */
#include "report/report_pet_sheet.h"

#include "io/image/io_image_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTER = 2, TICK = 5 };
#define LETTER_WIDTH  ((size_t)LETTER * SLC_REPORT_TEXT_WIDTH)
#define LETTER_HEIGHT ((size_t)LETTER * SLC_REPORT_TEXT_HEIGHT)

void slc_report_palette(uint8_t palette[768])
{
    static const double stop[][3] = {{4, 3, 12},     {50, 10, 94},   {130, 30, 110}, {204, 60, 72},
                                     {245, 130, 24}, {250, 205, 75}, {252, 250, 190}};
    enum { STOPS = sizeof stop / sizeof *stop, SHADES = SLC_REPORT_SHADES };
    static const uint8_t others[][3] = {
        [SLC_REPORT_LINE - SHADES] = {96, 214, 255},  [SLC_REPORT_FAR_LINE - SHADES] = {38, 74, 92},
        [SLC_REPORT_CROSS - SHADES] = {255, 70, 70},  [SLC_REPORT_PAPER - SHADES] = {255, 255, 255},
        [SLC_REPORT_INK - SHADES] = {30, 30, 34},     [SLC_REPORT_FAINT - SHADES] = {120, 120, 128},
        [SLC_REPORT_WARNING - SHADES] = {214, 32, 32}};
    memset(palette, 0, 768);
    for (int i = 0; i < SHADES; i++) {
        const double at = (double)i * (STOPS - 1) / (SHADES - 1);
        const int low = at < STOPS - 2 ? (int)at : STOPS - 2;
        for (int c = 0; c < 3; c++) {
            const double colour = stop[low][c] + (at - low) * (stop[low + 1][c] - stop[low][c]);
            palette[3 * i + c] = (uint8_t)(colour + 0.5);
        }
    }
    memcpy(palette + (size_t)3 * SHADES, others, sizeof others);
}

/* ---- values ------------------------------------------------------------------------------------ */

static uint8_t shade(double share)
{
    return (uint8_t)(fmin(fmax(share, 0), 1) * (SLC_REPORT_SHADES - 1) + 0.5);
}

/* Place `at` of n cells, as two neighbours and the share of the second. */
static double between(double at, size_t n, bool smooth, size_t *low, size_t *high)
{
    const double last = (double)(n - 1), middle = fmin(fmax(at - 0.5, 0), last);
    *low = smooth ? (size_t)middle : (size_t)fmin(at, last);
    *high = smooth && *low + 1 < n ? *low + 1 : *low;
    return smooth ? middle - (double)*low : 0;
}

static void draw_values(const slc_report_canvas *canvas, const slc_report_panel *p)
{
    for (size_t j = 0; j < p->height; j++) {
        size_t below, above, left, right;
        const double up = ((double)(p->height - 1 - j) + 0.5) / (double)p->height * (double)p->rows;
        const double v = between(up, p->rows, p->smooth, &below, &above);
        for (size_t i = 0; i < p->width; i++) {
            const double across = ((double)i + 0.5) / (double)p->width * (double)p->columns;
            const double u = between(across, p->columns, p->smooth, &left, &right);
            const float *first = p->value + below * p->columns, *second = p->value + above * p->columns;
            const double share = (1 - v) * ((1 - u) * (double)first[left] + u * (double)first[right]) +
                                 v * ((1 - u) * (double)second[left] + u * (double)second[right]);
            slc_report_canvas_box(canvas, p->left + i, p->top + j, 1, 1, shade(share));
        }
    }
}

/* ---- axes -------------------------------------------------------------------------------------- */

static size_t width_of(const char *text)
{
    return strlen(text) * LETTER_WIDTH;
}

/* A round step such that there are about `most` of them. */
static double step_of(const slc_report_axis *axis, double most)
{
    const double least = (axis->high - axis->low) / fmax(most, 1);
    const double ten = pow(10, floor(log10(least)));
    return ten * (least <= ten ? 1 : least <= 2 * ten ? 2 : least <= 5 * ten ? 5 : 10);
}

static size_t centred(size_t middle, size_t width)
{
    return middle > width / 2 ? middle - width / 2 : 0;
}

static void draw_axes(const slc_report_canvas *c, const slc_report_panel *p)
{
    char text[32];
    const double across = step_of(&p->x, (double)p->width / 64), up = step_of(&p->y, (double)p->height / 40);
    const size_t bottom = p->top + p->height;
    for (double k = ceil(p->x.low / across - 1e-9); k * across <= p->x.high + 1e-9 * across; k++) {
        const double share = (k * across - p->x.low) / (p->x.high - p->x.low);
        const size_t at = p->left + (size_t)(share * (double)(p->width - 1) + 0.5);
        (void)snprintf(text, sizeof text, "%.6g", k * across + 0.0);
        slc_report_canvas_box(c, at, bottom, 1, TICK, SLC_REPORT_INK);
        slc_report_canvas_text(c, centred(at, width_of(text)), bottom + TICK + 3, LETTER, SLC_REPORT_INK,
                               text);
    }
    for (double k = ceil(p->y.low / up - 1e-9); k * up <= p->y.high + 1e-9 * up; k++) {
        const double share = (k * up - p->y.low) / (p->y.high - p->y.low);
        const size_t at = bottom - 1 - (size_t)(share * (double)(p->height - 1) + 0.5);
        (void)snprintf(text, sizeof text, "%.6g", k * up + 0.0);
        slc_report_canvas_box(c, p->left - TICK, at, TICK, 1, SLC_REPORT_INK);
        slc_report_canvas_text(c, p->left - TICK - 3 - width_of(text), centred(at, LETTER_HEIGHT), LETTER,
                               SLC_REPORT_INK, text);
    }
    slc_report_canvas_text(c, centred(p->left + p->width / 2, width_of(p->x.label)),
                           bottom + TICK + LETTER_HEIGHT + 10, LETTER, SLC_REPORT_INK, p->x.label);
    slc_report_canvas_upwards(c, p->left - SLC_REPORT_MARGIN_LEFT + 2,
                              p->top + p->height / 2 + width_of(p->y.label) / 2, LETTER, SLC_REPORT_INK,
                              p->y.label);
}

void slc_report_panel_draw(const slc_report_canvas *c, const slc_report_panel *p)
{
    slc_report_canvas_box(c, p->left - 1, p->top - 1, p->width + 2, p->height + 2, SLC_REPORT_INK);
    draw_values(c, p);
    draw_axes(c, p);
    slc_report_canvas_text(c, p->left, p->top - LETTER_HEIGHT - 8, LETTER, SLC_REPORT_INK, p->title);
}

void slc_report_panel_cross(const slc_report_canvas *c, const slc_report_panel *p, double x, double y)
{
    enum { GAP = 12 };
    const double across = (x - p->x.low) / (p->x.high - p->x.low) * (double)p->width;
    const double up = (y - p->y.low) / (p->y.high - p->y.low) * (double)p->height;
    for (size_t i = 0; i < p->width && up >= 0 && up < (double)p->height; i++) {
        if (fabs((double)i - across) > GAP && i / 4 % 2 == 0) {
            slc_report_canvas_box(c, p->left + i, p->top + p->height - 1 - (size_t)up, 1, 1, SLC_REPORT_LINE);
        }
    }
    for (size_t j = 0; j < p->height && across >= 0 && across < (double)p->width; j++) {
        if (fabs((double)(p->height - 1 - j) - up) > GAP && j / 4 % 2 == 0) {
            slc_report_canvas_box(c, p->left + (size_t)across, p->top + j, 1, 1, SLC_REPORT_LINE);
        }
    }
}

void slc_report_scale_draw(const slc_report_canvas *c, size_t left, size_t top, size_t width, const char *low,
                           const char *high, const char *label)
{
    enum { HEIGHT = 14 };
    slc_report_canvas_box(c, left - 1, top - 1, width + 2, HEIGHT + 2, SLC_REPORT_INK);
    for (size_t i = 0; i < width; i++) {
        slc_report_canvas_box(c, left + i, top, 1, HEIGHT, shade((double)i / (double)(width - 1)));
    }
    slc_report_canvas_text(c, left, top + HEIGHT + 6, LETTER, SLC_REPORT_INK, low);
    slc_report_canvas_text(c, left + width - width_of(high), top + HEIGHT + 6, LETTER, SLC_REPORT_INK, high);
    slc_report_canvas_text(c, left + width + 16, top, LETTER, SLC_REPORT_INK, label);
}

/* ---- sheets ------------------------------------------------------------------------------------ */

bool slc_report_sheet_open(slc_report_canvas *canvas, size_t width, size_t height)
{
    *canvas = (slc_report_canvas){.width = width, .height = height, .pixels = malloc(width * height)};
    if (canvas->pixels != NULL) {
        memset(canvas->pixels, SLC_REPORT_PAPER, width * height);
    }
    return canvas->pixels != NULL;
}

slc_status slc_report_sheet_write(const slc_report_canvas *canvas, const char *path, slc_error *error)
{
    uint8_t palette[768];
    slc_report_palette(palette);
    const slc_image image = {.pixels = canvas->pixels,
                             .width = canvas->width,
                             .height = canvas->height,
                             .stride = (ptrdiff_t)canvas->width,
                             .type = SLC_IMAGE_U8};
    return slc_io_image_write_palette(path, &image, palette, error);
}
