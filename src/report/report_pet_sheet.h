/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: pictures of pixels with axes: panels of values in colours, their ticks and titles. A
 * pixel is a number of the palette: shades first, then the colours of lines, letters and paper.
 */
#ifndef SLUICE_REPORT_PET_SHEET_H
#define SLUICE_REPORT_PET_SHEET_H

#include "report/report_pet_pictures_text.h"

#include <sluice/base.h>

enum {
    SLC_REPORT_SHADES = 248,
    SLC_REPORT_LINE = SLC_REPORT_SHADES,
    SLC_REPORT_FAR_LINE,
    SLC_REPORT_CROSS,
    SLC_REPORT_PAPER,
    SLC_REPORT_INK,
    SLC_REPORT_FAINT,
    SLC_REPORT_WARNING
};
/* From black over violet and orange to pale yellow, ever brighter: prints in grey as well. */
void slc_report_palette(uint8_t palette[768]);

typedef struct slc_report_axis {
    double low, high;
    const char *label;
} slc_report_axis;

/* Values [row · columns + column] from 0 to 1, column 0 at x.low, row 0 at y.low, in a frame of pixels; y
 * goes upwards. Letters stand left of it, below and above (SLC_REPORT_MARGIN_…). */
typedef struct slc_report_panel {
    size_t left, top, width, height;
    slc_report_axis x, y;
    const char *title;
    const float *value;
    size_t columns, rows;
    bool smooth; /* between the middles of cells; otherwise cells are seen */
} slc_report_panel;
enum { SLC_REPORT_MARGIN_LEFT = 76, SLC_REPORT_MARGIN_BELOW = 56, SLC_REPORT_MARGIN_ABOVE = 26 };
void slc_report_panel_draw(const slc_report_canvas *canvas, const slc_report_panel *panel);
/* Lines at these places of the axes, with a gap where they cross; NaN: none. */
void slc_report_panel_cross(const slc_report_canvas *canvas, const slc_report_panel *panel, double x,
                            double y);
/* What shades mean: a bar from 0 to 1 with a text below; left, top, width and height as of a panel. */
void slc_report_scale_draw(const slc_report_canvas *canvas, size_t left, size_t top, size_t width,
                           const char *low, const char *high, const char *label);

/* A sheet of that size, all paper; NULL without memory. The caller frees canvas->pixels. */
bool slc_report_sheet_open(slc_report_canvas *canvas, size_t width, size_t height);
/* Writes it as PNG. */
slc_status slc_report_sheet_write(const slc_report_canvas *canvas, const char *path, slc_error *error);

#endif
