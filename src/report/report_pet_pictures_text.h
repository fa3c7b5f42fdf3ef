/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: short captions in pictures of pixels, in letters of 5 x 7.
 */
#ifndef SLUICE_REPORT_PET_PICTURES_TEXT_H
#define SLUICE_REPORT_PET_PICTURES_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A picture of bytes that is drawn into; what is outside is left out. */
typedef struct slc_report_canvas {
    uint8_t *pixels;
    size_t width, height;
} slc_report_canvas;

enum { SLC_REPORT_TEXT_WIDTH = 6, SLC_REPORT_TEXT_HEIGHT = 7 };

void slc_report_canvas_box(const slc_report_canvas *canvas, size_t x, size_t y, size_t width, size_t height,
                           uint8_t colour);
/* Small letters, most large ones, digits and a few signs; others are blanks. Each pixel of a letter is scale
 * x scale. */
void slc_report_canvas_text(const slc_report_canvas *canvas, size_t x, size_t y, size_t scale, uint8_t colour,
                            const char *text);
/* The same, read from below; y is the lower end. */
void slc_report_canvas_upwards(const slc_report_canvas *canvas, size_t x, size_t y, size_t scale,
                               uint8_t colour, const char *text);

#endif
