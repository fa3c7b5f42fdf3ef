/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: columns of finished results, whatever wrote them (HDF5, Arrow), as numbers by name.
 *
 *     slc_io_reading_open(path, &reading, &error);
 *     for (size_t i = 0; i < reading->n_columns; i++) ... slc_io_reading_rows(reading, i, at, n, values,
 * &error); slc_io_reading_close(reading);
 */
#ifndef SLUICE_IO_RESULTS_READ_H
#define SLUICE_IO_RESULTS_READ_H

#include <sluice/base.h>

enum { SLC_IO_READING_NAME = 64, SLC_IO_READING_COLUMNS = 1024, SLC_IO_READING_DEPTH = 8 };

typedef struct slc_io_reading_column {
    char group[SLC_IO_READING_NAME], name[SLC_IO_READING_NAME], unit[SLC_IO_READING_NAME];
    bool whole;      /* numbers without a fraction */
    uint64_t rows;   /* a group's are as many */
    uint64_t events; /* of its group; 0: it has none */
} slc_io_reading_column;

typedef struct slc_io_reading_text {
    char name[SLC_IO_READING_NAME], *value;
} slc_io_reading_text;

typedef struct slc_io_reading slc_io_reading;
struct slc_io_reading {
    const char *format; /* "HDF5", "Arrow" */
    slc_io_reading_column *columns;
    size_t n_columns, room;
    slc_io_reading_text *texts; /* attributes of the file; numbers as text */
    size_t n_texts, texts_room;
    uint64_t left_out; /* columns that are no rows of numbers */
    /* The format's. */
    void *of;
    slc_status (*rows)(slc_io_reading *reading, size_t column, uint64_t at, size_t n, double *values,
                       slc_error *error);
    void (*close)(void *of);
};

/* SLC_ERR_FORMAT for a file that is neither, has no column, or whose parts are not where they should be. */
slc_status slc_io_reading_open(const char *path, slc_io_reading **reading, slc_error *error);
void slc_io_reading_close(slc_io_reading *reading); /* NULL is allowed */
void slc_io_reading_clear(slc_io_reading *reading); /* what it has, not itself */
/* Rows at … at + n - 1, which are in the column. */
slc_status slc_io_reading_rows(slc_io_reading *reading, size_t column, uint64_t at, size_t n, double *values,
                               slc_error *error);

/* For the formats. NULL and false without memory, or for one too many. */
slc_io_reading_column *slc_io_reading_add(slc_io_reading *reading);
bool slc_io_reading_add_text(slc_io_reading *reading, const char *name, const char *value, size_t size);
slc_status slc_io_reading_hdf5(const char *path, slc_io_reading *reading, slc_error *error);
slc_status slc_io_reading_arrow(const char *path, slc_io_reading *reading, slc_error *error);
/* The same of bytes in memory, which stay the caller's; of zeroed `reading`, which is closed in any case. */
slc_status slc_io_reading_arrow_bytes(const char *name, const void *bytes, size_t size,
                                      slc_io_reading *reading, slc_error *error);

#endif
