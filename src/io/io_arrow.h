/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: Arrow's columns as a file or a stream. io_arrow.c cuts rows into record batches,
 * io_arrow_format.c tells in flatbuffers what they are, io_arrow_body.c encodes and writes their bytes,
 * io_arrow_about.c keeps attributes.
 * docs/formats/results-arrow.md.
 */
#ifndef SLUICE_IO_ARROW_H
#define SLUICE_IO_ARROW_H

#include "io/io_flatbuffer.h"
#include "io/io_results.h"

/* ---- metadata ---------------------------------------------------------------------------------- */

/* Of the file, or of one of its groups. */
typedef struct slc_io_arrow_attribute {
    char *group, *name, *value; /* group NULL: the file's */
} slc_io_arrow_attribute;

typedef struct slc_io_arrow_attributes {
    slc_io_arrow_attribute *list;
    size_t n, room;
    size_t written; /* the first of them are in the schema that was written */
} slc_io_arrow_attributes;

/* Copies of the texts; false without memory. */
bool slc_io_arrow_attribute_put(slc_io_arrow_attributes *all, const char *group, const char *name,
                                const char *value);
void slc_io_arrow_attributes_clear(slc_io_arrow_attributes *all);
/* Texts as an array of JSON: bytes that are no UTF-8 are \udc80 to \udcff, as Python has them. The caller
 * frees it; NULL without memory. */
char *slc_io_arrow_json(size_t n, const char *const *texts);

/* Arrow's structs FieldNode (length, null_count) and Buffer (offset, length). */
typedef struct slc_io_arrow_pair {
    int64_t a, b;
} slc_io_arrow_pair;

/* Arrow's struct Block: where in the file a record batch is. */
typedef struct slc_io_arrow_place {
    int64_t offset;
    int32_t metadata, zero;
    int64_t body;
} slc_io_arrow_place;

enum { SLC_IO_ARROW_STORED = -1, SLC_IO_ARROW_LZ4 = 0, SLC_IO_ARROW_ZSTD = 1 };

/* What a message tells of a record batch. */
typedef struct slc_io_arrow_batch {
    int64_t rows, body; /* bytes of it */
    const slc_io_arrow_pair *nodes, *buffers;
    size_t n_nodes, n_buffers;
    int codec;
    const slc_io_arrow_attributes *late; /* goes with it: those that the schema did not have; NULL: none */
} slc_io_arrow_batch;

/* These three make a whole flatbuffer, valid until the next one; NULL without memory. Rows are those of the
 * one group there is, or events. */
const uint8_t *slc_io_arrow_schema_message(slc_io_flat *flat, const slc_io_results *results,
                                           const slc_io_arrow_attributes *attributes, size_t *size);
const uint8_t *slc_io_arrow_batch_message(slc_io_flat *flat, const slc_io_arrow_batch *batch, size_t *size);
const uint8_t *slc_io_arrow_footer(slc_io_flat *flat, const slc_io_results *results,
                                   const slc_io_arrow_attributes *attributes,
                                   const slc_io_arrow_place *batches, size_t n, size_t *size);

/* ---- bytes ------------------------------------------------------------------------------------- */

typedef struct slc_io_arrow_buffer {
    const void *bytes;
    size_t size;
    int64_t before; /* compressed batches: what comes before it */
    uint8_t *encoded;
    size_t encoded_size, encoded_room;
} slc_io_arrow_buffer;

/* The buffers of a record batch. Zero-initialise. */
typedef struct slc_io_arrow_body {
    slc_io_arrow_buffer *buffers;
    slc_io_arrow_pair *nodes, *pairs; /* pairs: of the buffers, once they are laid out */
    size_t n_buffers, n_nodes, room, nodes_room;
    int codec;
    bool failed; /* no memory for them */
} slc_io_arrow_body;

enum { SLC_IO_ARROW_ALIGN = 64 };

void slc_io_arrow_node(slc_io_arrow_body *body, size_t rows);
void slc_io_arrow_buffer_add(slc_io_arrow_body *body, const void *bytes, size_t size);
/* For encoders whose blocks are buffers. */
slc_status slc_io_arrow_place_block(void *context, slc_io_block *block, slc_error *error);
void slc_io_arrow_scratch_close(void *scratch);
/* Compresses them, if they are to be, and tells where each one is to lie; *size is that of all. The only
 * failure is SLC_ERR_MEMORY. */
slc_status slc_io_arrow_body_lay(slc_io_arrow_body *body, slc_io_encoders *encoders, int64_t *size);
/* Writes `head` and the body to a file; false with errno. */
bool slc_io_arrow_body_write(const slc_io_arrow_body *body, int file, const void *head, size_t size);
void slc_io_arrow_body_clear(slc_io_arrow_body *body);

#endif
