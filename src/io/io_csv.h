/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: columns as lines of CSV, into memory, so that several threads can make blocks of lines
 * for one file. Numbers are as short as they can be and read back to the same bits (base/decimal.h).
 */
#ifndef SLUICE_IO_CSV_H
#define SLUICE_IO_CSV_H

#include <sluice/base.h>

typedef struct slc_io_csv_column {
    const void *data; /* NULL: nothing between the commas */
    slc_type type;
} slc_io_csv_column;

/* What lines are made of: values of the columns (at least one) with commas between, and what ends each. */
typedef struct slc_io_csv_lines {
    const slc_io_csv_column *columns;
    size_t n_columns;
    const char *tail;
    size_t tail_size;
} slc_io_csv_lines;

/* Bytes for n lines, some to spare, that _put may overwrite. */
size_t slc_io_csv_bound(const slc_io_csv_lines *lines, size_t n);
/* Lines of the first n rows; returns the place after the last byte. */
char *slc_io_csv_put(const slc_io_csv_lines *lines, size_t n, char *to);

/* The end of a line: a line feed, and before it a comma and the name, unless that is NULL; in quotes where it
 * must be (RFC 4180). */
size_t slc_io_csv_tail_bound(const char *name);
char *slc_io_csv_tail(const char *name, char *to);

#endif
