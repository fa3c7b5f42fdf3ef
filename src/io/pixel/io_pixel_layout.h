/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the readers of pixels: chips of a readout to their places.
 */
#ifndef SLUICE_IO_PIXEL_LAYOUT_H
#define SLUICE_IO_PIXEL_LAYOUT_H

#include <sluice/io_pixel.h>

enum { SLC_PIXEL_CHIP_SIDE = 256 };

/* A list of chips; `name` stands in messages. */
slc_status slc_io_pixels_layout_parse(const char *text, size_t size, const char *name,
                                      slc_io_pixels_layout *layout, slc_error *error);
/* Pixels from `first` on, with columns x, y, charge and time, chip k from x = 256 k: those of chips that are
 * asked for, where the layout has them. How many were left out. */
size_t slc_io_pixels_layout_run(const slc_io_pixels_options *options, slc_pixels *pixels, size_t first);

#endif
