/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: a builder of flatbuffers (Arrow's metadata), as far as they are needed: tables,
 * strings, vectors of either and of structs. It grows from the end to the front, so that what is referred to
 * is built before what refers to it. A place is the distance of an object from the end.
 */
#ifndef SLUICE_IO_FLATBUFFER_H
#define SLUICE_IO_FLATBUFFER_H

#include <sluice/base.h>

enum { SLC_IO_FLAT_FIELDS = 8 };

/* Zero-initialise. */
typedef struct slc_io_flat {
    uint8_t *bytes;
    size_t room, used;
    size_t begin; /* of the table at hand */
    uint32_t field[SLC_IO_FLAT_FIELDS];
    bool failed; /* without memory: all that follows does nothing */
} slc_io_flat;

typedef uint32_t slc_io_place; /* 0: none */

void slc_io_flat_reset(slc_io_flat *flat);
void slc_io_flat_clear(slc_io_flat *flat);

slc_io_place slc_io_flat_string(slc_io_flat *flat, const char *text);
slc_io_place slc_io_flat_vector(slc_io_flat *flat, const slc_io_place *items, size_t n);
/* Structs of whole 8 bytes, in the byte order of the file. */
slc_io_place slc_io_flat_structs(slc_io_flat *flat, const void *structs, size_t size, size_t n);

/* A table: begin, fields in any order, end. What the fields refer to was built before the begin. */
void slc_io_flat_table(slc_io_flat *flat);
void slc_io_flat_number(slc_io_flat *flat, unsigned field, size_t size, uint64_t value);
void slc_io_flat_object(slc_io_flat *flat, unsigned field, slc_io_place object); /* none: no field */
slc_io_place slc_io_flat_table_end(slc_io_flat *flat);

/* The whole buffer, a multiple of 8 bytes, valid until the next call. NULL without memory. */
const uint8_t *slc_io_flat_finish(slc_io_flat *flat, slc_io_place root, size_t *size);

#endif
