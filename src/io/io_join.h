/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the parts of a run that slc_io_join puts together, open for reading.
 */
#ifndef SLUICE_IO_JOIN_H
#define SLUICE_IO_JOIN_H

#include <sluice/io.h>

#include <hdf5.h>

typedef struct slc_io_part_texts {
    size_t n;
    char **text; /* by HDF5 */
} slc_io_part_texts;

/* A file of results that says which part of which run it is. */
typedef struct slc_io_part_file {
    const char *path;
    size_t index; /* of the path among those that were given */
    hid_t file;
    uint32_t part, parts;
    char *version, *options, *command;
    char *source; /* its place, as a joined file names it */
    slc_io_part_texts inputs, sizes, whole;
    bool has_checksum;
    uint64_t checksum;
    bool has_left_out;
    double left_out; /* pixels that a mask left out */
    uint64_t events; /* known when a group was joined */
} slc_io_part_file;

/* Opens the file and reads what it says of itself. SLC_ERR_FORMAT, with its name, if it is no part, or an
 * unfinished one. */
slc_status slc_io_part_open(const char *path, slc_io_part_file *part, slc_error *error);
void slc_io_part_close(slc_io_part_file *part);
/* Sorts them by their numbers; SLC_ERR_USAGE, with names, unless they are all parts of one run, each once. */
slc_status slc_io_parts_sort(slc_io_part_file *parts, size_t n, slc_error *error);

/* Sets their places relative to `out`. False if there is no memory. */
bool slc_io_parts_name(slc_io_part_file *parts, size_t n, const char *out);

/* Copies an attribute. */
bool slc_io_copy_attribute(hid_t from, hid_t to, const char *name);
/* All but those named in `but`, which ends with NULL. */
bool slc_io_copy_attributes(hid_t from, hid_t to, const char *const *but);

#endif
