/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: rows of text that are pixels. A layout says what the fields of a row are; it comes from
 * the line that names the columns.
 */
#ifndef SLUICE_IO_PIXEL_TEXT_H
#define SLUICE_IO_PIXEL_TEXT_H

#include "io/pixel/io_pixel_source.h"

typedef enum slc_io_pixel_role {
    SLC_IO_PIXEL_OTHER = 0, /* a column that is not read */
    SLC_IO_PIXEL_X,
    SLC_IO_PIXEL_Y,
    SLC_IO_PIXEL_Z,
    SLC_IO_PIXEL_CHARGE,
    SLC_IO_PIXEL_TIME,
    SLC_IO_PIXEL_FRAME,
    SLC_IO_PIXEL_MATRIX, /* t3pa: x and y in one */
    SLC_IO_PIXEL_FINE,   /* t3pa: sixteenths of a clock, to be taken off the time */
    SLC_IO_PIXEL_INDEX   /* t3pa: number of the row, which rows may lack */
} slc_io_pixel_role;

enum { SLC_IO_PIXEL_FIELDS = 64 };

typedef struct slc_io_pixel_layout {
    uint8_t separator;
    size_t n_fields;
    uint8_t role[SLC_IO_PIXEL_FIELDS]; /* slc_io_pixel_role of each */
    uint32_t width, height;            /* t3pa: of the sensor; 0: not t3pa */
    double tick_seconds;               /* of a time, where the header names a unit; else 0 */
    int time_shift;                    /* times are so many powers of ten as they are written, rounded */
    size_t named;                      /* columns that the line names, though they be too many */
} slc_io_pixel_layout;

typedef struct slc_io_pixel_row {
    uint16_t x, y, z;
    bool no_charge;  /* its field is empty or not a number: the charge is 0 */
    bool is_rounded; /* its time had more digits than there are ticks */
    uint32_t charge;
    int64_t time, frame;
} slc_io_pixel_row;

bool slc_io_pixel_has(const slc_io_pixel_layout *layout, slc_io_pixel_role role);

/* Whether the line names columns that make pixels; *layout is then filled. */
bool slc_io_pixel_parse_header(slc_io_pixel_layout *layout, const uint8_t *line, size_t size);

/* Counts the columns of that line that are not read, and names them. */
void slc_io_pixel_tell_unread(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size,
                              slc_io_pixels_counts *counts);

/* A whole number from 0 on, however it is written (3.0, 0.3e1). */
bool slc_io_pixel_parse_whole(const uint8_t *begin, const uint8_t *end, uint64_t *value);

/* What a name of a column means; *seconds is the unit of a time, 0 where it has none. */
slc_io_pixel_role slc_io_pixel_role_of(const uint8_t *begin, const uint8_t *end, double *seconds);

/* How many powers of ten a time with a fraction is read in more than in the unit (0: unknown) of its column
 * or the caller's tick, which goes first; 0: none, fractions are not read. And how long a tick then is. */
int slc_io_pixel_time_shift(const slc_io_pixels *file, double unit);
double slc_io_pixel_short_tick(slc_io_pixels *file, double unit);
/* Does the row have a time with a fraction? */
bool slc_io_pixel_has_fraction(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size);

/* t3pa rows may have fewer fields than are named: the number of the row is missing then, and, where that is
 * not enough, the last columns. `n` is what rows of this file have. */
void slc_io_pixel_fit_layout(slc_io_pixel_layout *layout, size_t n);
size_t slc_io_pixel_count_fields(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size);

/* Reads a row. Otherwise tells why not, and *field, from 1, is where. */
const char *slc_io_pixel_parse_row(const slc_io_pixel_layout *layout, const uint8_t *line, size_t size,
                                   slc_io_pixel_row *row, size_t *field);

#endif
