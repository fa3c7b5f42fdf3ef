/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the readers of pixels: rows that tell their frame.
 */
#ifndef SLUICE_IO_PIXEL_FRAMES_H
#define SLUICE_IO_PIXEL_FRAMES_H

#include "io/pixel/io_pixel_text.h"

typedef struct slc_io_pixel_frames {
    slc_io_pixel_row ahead; /* a row that is read and not in a list yet */
    bool has_ahead;
    int64_t frame;    /* of the rows in `carry`, or at the list's end */
    slc_pixels carry; /* the begin of a frame that did not fit into the caller's list */
} slc_io_pixel_frames;

/* A row behind the others. There is room. */
void slc_io_pixel_append(slc_pixels *pixels, const slc_io_pixel_row *row);
/* The number of a frame that has ended. */
slc_status slc_io_pixel_number_frame(slc_io_pixels *file, int64_t number, slc_error *error);
/* As slc_io_pixels_format.read, with `next` for the next row: SLC_END after the last. */
slc_status slc_io_pixel_frames_read(slc_io_pixels *file, slc_io_pixel_frames *frames,
                                    slc_status (*next)(slc_io_pixels *file, slc_io_pixel_row *row,
                                                       slc_error *error),
                                    slc_pixels *pixels, size_t room, slc_error *error);
void slc_io_pixel_frames_clear(const slc_io_pixels *file, slc_io_pixel_frames *frames);

#endif
