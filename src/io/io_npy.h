/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the header of an NPY file, which images and pixel lists have in common. What shapes and
 * types are good for something is the reader's business. docs/formats/npy.md; the format is NumPy's NEP 1.
 */
#ifndef SLUICE_IO_NPY_H
#define SLUICE_IO_NPY_H

#include "io/image/io_image_number.h"

enum { SLC_IO_NPY_MAGIC = 6, SLC_IO_NPY_DIMENSIONS = 32 };

/* A column of records. */
enum { SLC_IO_NPY_FIELDS = 64, SLC_IO_NPY_NAME = 64 };
typedef struct slc_io_npy_field {
    char name[SLC_IO_NPY_NAME];
    slc_io_number number; /* NONE: of a type that is not read, and passed over */
    bool swap;
    size_t offset;
} slc_io_npy_field;
typedef struct slc_io_npy_records {
    slc_io_npy_field field[SLC_IO_NPY_FIELDS];
    size_t n, size; /* fields; bytes of a record; 0: the array is of plain numbers */
} slc_io_npy_records;

typedef struct slc_io_npy_header {
    slc_io_number number;
    bool swap, fortran;
    uint64_t shape[SLC_IO_NPY_DIMENSIONS]; /* each at most 2^32 - 2 */
    size_t n_dimensions;
    uint64_t shape_at; /* byte offsets of the two in the file, for messages */
    uint64_t descr_at;
} slc_io_npy_header;

bool slc_io_npy_probe(const uint8_t *bytes, size_t size);
/* Reads the header at the stream's begin and consumes it. Messages are "name: byte 60: reason". */
slc_status slc_io_npy_read_header(slc_io_stream *stream, slc_io_npy_header *header, slc_error *error);
/* The same, where there may be records instead of numbers. */
slc_status slc_io_npy_read_records(slc_io_stream *stream, slc_io_npy_header *header,
                                   slc_io_npy_records *records, slc_error *error);

#endif
