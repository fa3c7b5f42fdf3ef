/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: results in a series of files, each of them complete: NAME, NAME.0001.h5, NAME.0002.h5 …
 * The writer stays the same; what a form keeps is ended and begun anew, attributes and groups are repeated.
 */
#ifndef SLUICE_IO_SERIES_H
#define SLUICE_IO_SERIES_H

#include "io/io_results.h"

/* Attributes of the root, or of a group: one of text, number, integer, names. */
typedef enum slc_io_series_kind {
    SLC_IO_SERIES_TEXT = 0,
    SLC_IO_SERIES_NUMBER,
    SLC_IO_SERIES_INTEGER,
    SLC_IO_SERIES_NAMES
} slc_io_series_kind;
typedef struct slc_io_series_attribute {
    slc_io_series_kind kind;
    const char *group, *name;
    double number;
    int64_t integer;
    size_t n;
    const char *const *texts; /* n; of a text, one */
} slc_io_series_attribute;

/* After the first file was opened: results->series, if the configuration asks for one, and what the file says
 * of itself. */
slc_status slc_io_series_open(slc_io_results *results, const slc_io_results_config *config, const char *path,
                              slc_error *error);
void slc_io_series_close(slc_io_series *series); /* NULL is allowed */

/* Keeps an attribute for the files to come. */
slc_status slc_io_series_keep(slc_io_results *results, const slc_io_series_attribute *attribute,
                              slc_error *error);
/* Counts what was put. */
void slc_io_series_count(slc_io_results *results, const slc_io_results_part *parts, size_t n);
/* Before rows are put: begins another file if it is due. */
slc_status slc_io_series_turn(slc_io_results *results, slc_error *error);
/* Before the last file is completed: how many there are. */
slc_status slc_io_series_finish(slc_io_results *results, slc_error *error);
/* A file could not be completed, or the next not be begun: there is none at hand. */
bool slc_io_series_is_over(const slc_io_series *series);

#endif
