/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: frames of other layouts (docs/formats/pet-frame-format.md). A format is a list of kinds
 * of records, all of one size; the first that a record matches tells how its numbers are read. Singles become
 * frames of 16 bytes, what marks the time becomes marks.
 * io_pet_format.c        reads a format
 * io_pet_format_apply.c  reads records by it
 * io_pet_records.c       reads datagrams of them
 */
#ifndef SLUICE_IO_PET_FORMAT_H
#define SLUICE_IO_PET_FORMAT_H

#include <sluice/io_pet.h>

enum {
    SLC_PET_FORMAT_BYTES = 1 << 16, /* of its text, at most */
    SLC_PET_FORMAT_RECORD = 1024,   /* of a record, at most */
    SLC_PET_FORMAT_KINDS = 32,
    SLC_PET_FORMAT_TERMS = 256,
    SLC_PET_FORMAT_MATCHES = 128
};

/* What kind of record tells the frame. Those from SLC_PET_KIND_MARK on are kinds of marks, less that. */
typedef enum slc_pet_record_kind {
    SLC_PET_KIND_SINGLE,
    SLC_PET_KIND_SKIP,
    SLC_PET_KIND_MARK /* + slc_pet_mark_kind */
} slc_pet_record_kind;

/* Fields of a record, in the order in which they are looked at. The first ones are in frames. */
typedef enum slc_pet_format_field {
    SLC_PET_FIELD_MODULE,
    SLC_PET_FIELD_UNIT,
    SLC_PET_FIELD_X,
    SLC_PET_FIELD_Y,
    SLC_PET_FIELD_TIME,
    SLC_PET_FIELD_ENERGY,
    SLC_PET_FIELD_TEMPERATURE,
    SLC_PET_FIELD_VALUE,
    SLC_PET_FIELDS
} slc_pet_format_field;
_Static_assert((int)SLC_PET_FIELDS == (int)SLC_IO_PET_FORMAT_FIELDS, "each is counted");

typedef enum slc_pet_word_type { SLC_PET_UNSIGNED, SLC_PET_SIGNED, SLC_PET_FLOAT } slc_pet_word_type;

/* Bits of some bytes of a record, which are one number. */
typedef struct slc_pet_word {
    uint16_t byte;
    uint8_t bytes, shift, bits; /* shift: from the least significant bit of the number */
    bool big;
    uint8_t type; /* slc_pet_word_type */
} slc_pet_word;

/* (word + add) / divide % modulo · multiply, where modulo is not 0; divisions are rounded down. */
typedef struct slc_pet_term {
    slc_pet_word word; /* bytes 0: there is none, and the term is `add` */
    int64_t add, divide, modulo, multiply;
    double real; /* `multiply` of an energy or a value */
} slc_pet_term;

typedef struct slc_pet_match {
    slc_pet_word word;
    uint64_t value;
} slc_pet_match;

typedef struct slc_pet_sum {
    uint16_t first, n; /* terms; n 0: it is not told */
} slc_pet_sum;

typedef struct slc_pet_record {
    uint32_t kind;
    uint16_t first_match, n_matches;
    slc_pet_sum field[SLC_PET_FIELDS];
} slc_pet_record;

struct slc_io_pet_format {
    char *text; /* as it was read */
    size_t size;
    slc_io_pet_format_about about;
    uint32_t n_records, n_terms, n_matches;
    slc_pet_record record[SLC_PET_FORMAT_KINDS];
    slc_pet_term term[SLC_PET_FORMAT_TERMS];
    slc_pet_match match[SLC_PET_FORMAT_MATCHES];
};

/* A format that is in memory; `name` stands in messages. SLC_ERR_FORMAT names line, column and reason. */
slc_status slc_io_pet_format_read_memory(const char *text, size_t size, const char *name,
                                         slc_io_pet_format **format, slc_error *error);
/* Is it the same text? */
bool slc_io_pet_format_is(const slc_io_pet_format *format, const slc_io_pet_format *other);

/* What records were. */
typedef struct slc_pet_made {
    size_t frames; /* written */
    slc_io_pet_format_counts counts;
    uint32_t first_unknown, first_refused; /* numbers of records; n where there is none */
} slc_pet_made;
/* The name of a field: "module". */
const char *slc_pet_field_name(slc_pet_format_field field);
/* n records that lie one behind the other, as frames, of which there is room for n. Marks are appended
 * (NULL: only counted). SLC_ERR_MEMORY. */
slc_status slc_io_pet_format_apply(const slc_io_pet_format *format, const uint8_t *records, size_t n,
                                   slc_pet_frame *frames, slc_pet_marks *marks, slc_pet_made *made);
/* The module of the first single of n records, or, where they have none, of the first mark that tells one; -1
 * where nothing does. */
int slc_io_pet_format_module(const slc_io_pet_format *format, const uint8_t *records, size_t n);

/* ---- datagrams --------------------------------------------------------------------------------- */

typedef struct slc_io_pet_records {
    const slc_io_pet_format *format; /* NULL: frames of 16 bytes, and nothing below */
    slc_pet_marks *marks;            /* NULL: only counted */
    slc_io_pet_format_counts counts; /* of all so far */
    slc_pet_frame *frames[2];        /* room for those of a datagram each */
} slc_io_pet_records;
/* The first ones begin as {0}. SLC_ERR_MEMORY. */
slc_status slc_io_pet_records_open(slc_io_pet_records *records, const slc_io_pet_format *format,
                                   slc_pet_marks *marks);
void slc_io_pet_records_clear(slc_io_pet_records *records);
/* Where the first of some records stands: of a datagram its number, or its own. */
typedef struct slc_io_pet_records_place {
    uint64_t number, offset;
    bool counts_records;
} slc_io_pet_records_place;
/* n records as frames, into the caller's room or that of `records`. What is wrong with them is counted, and
 * noted in `faults` (may be NULL). SLC_ERR_MEMORY. */
slc_status slc_io_pet_records_make(slc_io_pet_records *records, const uint8_t *bytes, size_t n,
                                   slc_pet_frame *frames, slc_io_pet_records_place place, slc_faults *faults,
                                   size_t *n_frames);
void slc_io_pet_format_counts_add(slc_io_pet_format_counts *to, const slc_io_pet_format_counts *from);

/* NULL: frames of 16 bytes. */
static inline uint32_t slc_io_pet_record_bytes(const slc_io_pet_format *format)
{
    return format != NULL ? format->about.record_bytes : SLC_PET_FRAME_BYTES;
}

#endif
