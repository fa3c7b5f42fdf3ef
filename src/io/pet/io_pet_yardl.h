/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: data in yardl's binary form, of which a schema (JSON) in front of the file tells every
 * type. Readers walk the data by it, so that files whose versions differ in fields that nobody asks for are
 * read alike. After the reference of microsoft/yardl (v0.6.7); docs/formats/pet-petsird.md.
 */
#ifndef SLUICE_IO_PET_YARDL_H
#define SLUICE_IO_PET_YARDL_H

#include "io/io_stream.h"

/* ---- types ------------------------------------------------------------------------------------- */

typedef enum slc_yardl_kind {
    SLC_YARDL_NULL = 0, /* of a union: nothing */
    SLC_YARDL_UINT,     /* varint */
    SLC_YARDL_INT,      /* zig-zag varint: enumerations, dates as well */
    SLC_YARDL_BOOL,
    SLC_YARDL_F32,
    SLC_YARDL_F64,
    SLC_YARDL_STRING,
    SLC_YARDL_UNION, /* number of the case, value; T? is one of null and T */
    SLC_YARDL_VECTOR,
    SLC_YARDL_FIXED,   /* `length` items, without a count */
    SLC_YARDL_ARRAY,   /* `length` sizes, items */
    SLC_YARDL_DYNAMIC, /* number of sizes, sizes, items */
    SLC_YARDL_RECORD,
    SLC_YARDL_STREAM /* counts and items, up to a count of 0 */
} slc_yardl_kind;

typedef struct slc_yardl_type {
    slc_yardl_kind kind;
    uint32_t bits;                            /* of UINT and INT: 32 at most, or 64 */
    uint64_t length;                          /* of FIXED; sizes of ARRAY */
    uint64_t least;                           /* bytes that a value has at least */
    size_t n_parts;                           /* fields, cases; 1 for items */
    const struct slc_yardl_type *const *part; /* cases may have NULL names */
    const char *const *name;
} slc_yardl_type;

typedef struct slc_yardl_schema {
    void *json;  /* names point into it */
    void *rooms; /* memory of the types */
    const char *protocol;
    size_t n_steps;
    const slc_yardl_type *const *step;
    const char *const *step_name;
} slc_yardl_schema;

/* Text of a schema. SLC_ERR_FORMAT where it is none, SLC_ERR_UNSUPPORTED for types that are not known, or
 * that go round in circles; *error has the reason alone. Items of no bytes are refused, so that a count can
 * promise no more than there is. */
slc_status slc_yardl_schema_parse(const char *text, size_t size, slc_yardl_schema *schema, slc_error *error);
void slc_yardl_schema_clear(slc_yardl_schema *schema);
/* A record's field; its number, n_parts where there is none, or the type is no record. */
size_t slc_yardl_field(const slc_yardl_type *record, const char *name);

/* ---- data -------------------------------------------------------------------------------------- */

/* Where reading is. Functions return false once something is wrong, and the reason stays. */
typedef struct slc_yardl_input {
    slc_io_stream *stream;
    const uint8_t *base, *at, *end; /* of what is visible */
    uint64_t room;                  /* bytes that values may still take */
    const char *const *passed;      /* names of fields that values leave out; ends with NULL */
    slc_status status;
    slc_error error;
} slc_yardl_input;

enum { SLC_YARDL_VARINT = 10 /* bytes at most */ };

static inline uint64_t slc_yardl_place(const slc_yardl_input *in)
{
    return in->stream->offset + (uint64_t)(in->at - in->base);
}
/* What is wrong at this place; false. The first one counts. */
__attribute__((format(printf, 3, 4))) bool slc_yardl_wrong(slc_yardl_input *in, slc_status status,
                                                           const char *format, ...);
/* Makes `want` bytes visible, fewer only where the stream ends. False for a read that failed. */
bool slc_yardl_fill(slc_yardl_input *in, size_t want);
/* Consumes on the stream what has been read. */
void slc_yardl_settle(slc_yardl_input *in);
bool slc_yardl_varint_at_end(slc_yardl_input *in, uint64_t most, uint64_t *value);

/* A number up to `most`. */
static inline bool slc_yardl_varint(slc_yardl_input *in, uint64_t most, uint64_t *value)
{
    if (__builtin_expect(in->end - in->at < SLC_YARDL_VARINT, 0)) {
        return slc_yardl_varint_at_end(in, most, value);
    }
    const uint8_t *at = in->at;
    uint64_t v = *at & 127U;
    unsigned bits = 7;
    while (*at++ >= 128 && bits < 70) {
        v |= (uint64_t)(*at & 127U) << (bits < 64 ? bits : 63) * (bits < 64);
        bits += 7;
    }
    /* The tenth byte has one bit. */
    if (__builtin_expect(at[-1] >= 128 || (bits == 70 && at[-1] > 1) || v > most, 0)) {
        return slc_yardl_varint_at_end(in, most, value);
    }
    in->at = at;
    *value = v;
    return true;
}
static inline bool slc_yardl_u32(slc_yardl_input *in, uint32_t *value)
{
    uint64_t v;
    const bool good = slc_yardl_varint(in, UINT32_MAX, &v);
    *value = good ? (uint32_t)v : 0;
    return good;
}

/* Passes over a value. *first is its count (strings, vectors, streams: of all items), or its case. */
bool slc_yardl_pass(slc_yardl_input *in, const slc_yardl_type *type, uint64_t *first);

/* A value in memory. Items of vectors and arrays are `part`s, but those of F32 are `real`s. */
typedef struct slc_yardl_value {
    const slc_yardl_type *type; /* NULL: it was passed over, `n` is its count or case */
    uint64_t n;                 /* items, fields, bytes of a string; a union's case; UINT */
    union {
        int64_t whole;
        double number;
        char *text;
        float *real;
        struct slc_yardl_value *part;
    } of;
} slc_yardl_value;
/* To be cleared in any case. */
bool slc_yardl_take(slc_yardl_input *in, const slc_yardl_type *type, slc_yardl_value *value);
void slc_yardl_value_clear(slc_yardl_value *value);
/* A field of a record; what is in an option; NULL where there is none. `value` may be NULL. */
const slc_yardl_value *slc_yardl_get(const slc_yardl_value *value, const char *name);
/* So many floats; NULL where the value is none of such. */
const float *slc_yardl_reals(const slc_yardl_value *value, uint64_t n);

#endif
