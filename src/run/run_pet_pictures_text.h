/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: short captions in pictures of pixels, in letters of 5 x 7.
 */
#ifndef SLUICE_RUN_PET_PICTURES_TEXT_H
#define SLUICE_RUN_PET_PICTURES_TEXT_H

#include <stddef.h>
#include <stdint.h>

/* A picture of bytes that is drawn into; what is outside is left out. */
typedef struct slc_run_canvas {
    uint8_t *pixels;
    size_t width, height;
} slc_run_canvas;

enum { SLC_RUN_TEXT_WIDTH = 6, SLC_RUN_TEXT_HEIGHT = 7 };

void slc_run_canvas_box(const slc_run_canvas *canvas, size_t x, size_t y, size_t width, size_t height,
                        uint8_t colour);
/* Small letters, digits and a few signs; others are blanks. Each pixel of a letter is scale x scale. */
void slc_run_canvas_text(const slc_run_canvas *canvas, size_t x, size_t y, size_t scale, uint8_t colour,
                         const char *text);

#endif
