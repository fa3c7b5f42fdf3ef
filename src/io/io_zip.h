/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a zip archive of stored members, one after the other, with the sizes of zip64
 * throughout, and without times, so that the same members are the same bytes.
 */
#ifndef SLUICE_IO_ZIP_H
#define SLUICE_IO_ZIP_H

#include "io/io_output.h"

typedef struct slc_io_zip_member {
    char *name;
    uint64_t at, size; /* of its header; of its bytes */
    uint32_t crc;
} slc_io_zip_member;

/* Zero-initialise, but for the writer, whose file can be written at any place. */
typedef struct slc_io_zip {
    slc_io_writer *writer;
    slc_io_zip_member *list;
    size_t n, room;
    uint64_t at; /* bytes written */
} slc_io_zip;

/* A member of so many bytes, put in any pieces. */
slc_status slc_io_zip_begin(slc_io_zip *zip, const char *name, uint64_t size, slc_error *error);
slc_status slc_io_zip_put(slc_io_zip *zip, const void *bytes, size_t size, slc_error *error);
slc_status slc_io_zip_end(slc_io_zip *zip, slc_error *error);
/* The directory. */
slc_status slc_io_zip_finish(slc_io_zip *zip, slc_error *error);
void slc_io_zip_clear(slc_io_zip *zip);

#endif
