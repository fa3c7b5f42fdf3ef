/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the numbers that image files hold (NPY and TIFF), and what becomes of them. Types that
 * slc_image has stay as they are; the others become 32-bit floats. An integer that a float cannot hold
 * exactly is refused rather than changed; a double becomes the nearest float.
 */
#ifndef SLUICE_IO_IMAGE_NUMBER_H
#define SLUICE_IO_IMAGE_NUMBER_H

#include "io/image/io_image_source.h"

typedef enum slc_io_number {
    SLC_IO_NUMBER_NONE = 0, /* a type that is not read */
    SLC_IO_NUMBER_BOOL,     /* a byte that is 0 or not */
    SLC_IO_NUMBER_U8,
    SLC_IO_NUMBER_U16,
    SLC_IO_NUMBER_U32,
    SLC_IO_NUMBER_U64,
    SLC_IO_NUMBER_I8,
    SLC_IO_NUMBER_I16,
    SLC_IO_NUMBER_I32,
    SLC_IO_NUMBER_I64,
    SLC_IO_NUMBER_F16,
    SLC_IO_NUMBER_F32,
    SLC_IO_NUMBER_F64,
    SLC_IO_NUMBER_LABEL,    /* 64 bits that are only compared */
    SLC_IO_NUMBER_WHOLE_I8, /* a sign that is refused where it is there: labels whose values count */
    SLC_IO_NUMBER_WHOLE_I16,
    SLC_IO_NUMBER_WHOLE_I32,
    SLC_IO_NUMBER_WHOLE_I64
} slc_io_number;

/* The number of a kind ('b' bool, 'u', 'i', 'f') and a size in bytes, as NumPy names them. */
slc_io_number slc_io_number_of(char kind, uint64_t bytes);
/* Of labels, whose bits alone count: an integer becomes one without a sign. With `values` these count, too.
 */
slc_io_number slc_io_number_label(slc_io_number number, bool values);
/* What it becomes. */
slc_image_type slc_io_number_type(slc_io_number number);
/* Its conversion; `swap`: the other byte order than this machine's. */
slc_io_image_unit slc_io_number_unit(slc_io_number number, bool swap);
/* The same for colours of 3 or 4 samples of u8 or u16, which become grey. */
slc_io_image_unit slc_io_number_colour_unit(slc_io_number number, bool swap, size_t samples);
/* Whether this machine stores the lowest byte first. */
bool slc_io_number_little_endian(void);

#endif
