/* SPDX-License-Identifier: Apache-2.0
 *
 * What every module shares: status codes and error texts, the record of faults in detector data, columns of
 * memory (structure of arrays) with a schema, and the batch of raw events that flows through a chain.
 *
 * Three kinds of trouble, three mechanisms. Bad detector data is normal life: a stage records a fault, drops
 * the smallest unit that is damaged and goes on. A call that failed returns a negative slc_status and leaves
 * one line of text in the caller's slc_error. A bug in the caller is an assertion.
 *
 * The caller owns all memory, the library borrows it. `_bound` gives sizes, `_reserve` allocates, `_run`
 * never does. Nothing here keeps global state: different threads may work on different objects at the same
 * time.
 */
#ifndef SLUICE_BASE_H
#define SLUICE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Marks what the shared library exports: everything that these headers declare, and nothing else. */
#if defined(__GNUC__)
#define SLC_API __attribute__((visibility("default")))
#else
#define SLC_API
#endif

/* ---- status ---------------------------------------------------------------------------------- */

/* Zero is success; SLC_END is the normal end of a stream; negatives are failures. */
typedef enum slc_status {
    SLC_OK = 0,
    SLC_END = 1,
    SLC_ERR_USAGE = -1,       /* an argument that the contract of the call excludes */
    SLC_ERR_MEMORY = -2,      /* no memory could be had */
    SLC_ERR_IO = -3,          /* the operating system failed to open, read or write */
    SLC_ERR_FORMAT = -4,      /* the bytes are not what the format says */
    SLC_ERR_UNSUPPORTED = -5, /* a legal input that this build cannot read */
    SLC_ERR_CAPACITY = -6,    /* an output is too small: reserve more */
    SLC_ERR_STRICT = -7       /* a fault in the data, under a strict configuration */
} slc_status;

/* A short constant word for a status, for messages and logs. */
SLC_API const char *slc_status_name(slc_status status);

/* The text of the last failure: one line, no newline, naming file, place and reason where there are such. The
 * caller holds it; functions that take an slc_error accept NULL. It is written on failure only. */
typedef struct slc_error {
    slc_status status;
    char text[508];
} slc_error;

/* Formats a failure into `error` (may be NULL) and returns `status`, so that `return slc_fail(...)` reads
 * well. */
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
SLC_API slc_status
slc_fail(slc_error *error, slc_status status, const char *format, ...);

/* Version of the library, "major.minor.patch", and the compiler that built it. */
SLC_API const char *slc_version(void);
SLC_API const char *slc_compiler(void);

/* ---- faults ---------------------------------------------------------------------------------- */

/* What is wrong with detector data: a number that the module which finds it gives it, three letters of its
 * own and a count from 1. SLC_FAULT_NONE is none. Modules declare their codes in their own headers and
 * register names and texts themselves. */
typedef uint32_t slc_fault_code;
#define SLC_FAULT_CODE(a, b, c, n)                                                                           \
    ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (uint32_t)(n))
enum { SLC_FAULT_NONE = 0 };

/* The word used in JSON output ("bank_magic") and a sentence for people; "unknown" and "unknown fault" of a
 * code that nobody has registered. */
SLC_API const char *slc_fault_name(slc_fault_code code);
SLC_API const char *slc_fault_text(slc_fault_code code);

/* Where it was found. `module` is the source that sent it, -1 where there is none; what it and `offset` mean
 * is told with the codes. */
typedef struct slc_fault {
    uint64_t event;  /* index of the event in its input, from 0 */
    uint64_t offset; /* byte offset */
    int32_t module;
    slc_fault_code code;
} slc_fault;
/* That in words: "event 7, SOURCE 12, byte 96 of the event", "frame 5, of module 3"; what `module` is called
 * without words of its own is the caller's `source`. */
SLC_API void slc_fault_place(const slc_fault *fault, const char *source, char *text, size_t size);

enum { SLC_FAULTS_KEPT = 64, SLC_FAULTS_KINDS = 40 };

/* Counts by code, and the first few faults in full, by event, in whatever order stages find them; those of an
 * event in the order in which they are added. Zero-initialise. Never allocates; never fails. */
typedef struct slc_faults {
    uint32_t n_kinds; /* different codes */
    uint32_t n_kept;
    struct {
        uint64_t n;
        slc_fault_code code;
    } kind[SLC_FAULTS_KINDS]; /* by rising code */
    uint64_t n_other;         /* of codes that were one too many: no module has that many */
    slc_fault kept[SLC_FAULTS_KEPT];
    /* How many slc_faults_add adds for each of the events first_event … + n_events - 1; NULL (after _reset,
     * too): nobody wants to know. */
    uint32_t *of_event;
    uint64_t first_event;
    uint32_t n_events;
} slc_faults;

SLC_API void slc_faults_reset(slc_faults *faults);
SLC_API void slc_faults_add(slc_faults *faults, slc_fault_code code, uint64_t event, int32_t module,
                            uint64_t offset);
/* The same of `n` faults whose place is not known. */
SLC_API void slc_faults_count(slc_faults *faults, slc_fault_code code, uint64_t n);
SLC_API void slc_faults_merge(slc_faults *into, const slc_faults *from);
/* How many there are of a code; of all. */
SLC_API uint64_t slc_faults_of(const slc_faults *faults, slc_fault_code code);
SLC_API uint64_t slc_faults_total(const slc_faults *faults);

/* ---- columns --------------------------------------------------------------------------------- */

typedef enum slc_type {
    SLC_TYPE_U8 = 0,
    SLC_TYPE_I8,
    SLC_TYPE_U16,
    SLC_TYPE_I16,
    SLC_TYPE_U32,
    SLC_TYPE_I32,
    SLC_TYPE_U64,
    SLC_TYPE_I64,
    SLC_TYPE_F32,
    SLC_TYPE_F64
} slc_type;

/* The head of every collection. A collection is a readable struct whose first member is `slc_columns head`
 * and whose other members are pointers to the columns. Rows of event e are event_offset[e] .. event_offset[e
 * + 1]. */
typedef struct slc_columns {
    size_t size;       /* rows in use */
    size_t capacity;   /* rows that fit */
    uint32_t n_events; /* events in use */
    uint32_t event_capacity;
    uint32_t *event_offset; /* n_events + 1 entries, event_offset[0] = 0 */
    void *block;            /* the one allocation behind all columns */
    size_t block_size;      /* bytes */
} slc_columns;

typedef struct slc_column {
    const char *name;
    const char *unit; /* "mm", "1" for a pure number, "index" … */
    size_t member;    /* offset of the column's pointer inside the collection */
    slc_type type;
} slc_column;

typedef struct slc_schema {
    const char *name;
    const slc_column *columns;
    size_t n_columns;
} slc_schema;

/* Columns begin on multiples of this many bytes (a GPU's memory transaction), and a spare vector follows
 * each. */
enum { SLC_COLUMN_ALIGN = 128 };

/* Makes room for `rows` rows and `events` events, keeping what is there; never shrinks. A zero-initialised
 * collection is empty. Fails with SLC_ERR_MEMORY (the collection is then as before) or SLC_ERR_USAGE beyond
 * 2^32 - 1 rows. */
SLC_API slc_status slc_columns_reserve(const slc_schema *schema, void *collection, size_t rows,
                                       uint32_t events);

/* Forgets rows and events, keeps the memory. */
SLC_API void slc_columns_reset(void *collection);

/* Gives the memory back; the collection is empty afterwards. */
SLC_API void slc_columns_clear(const slc_schema *schema, void *collection);

/* Ends the current event: its rows are those appended since the last call. There must be room for the event.
 */
SLC_API void slc_columns_end_event(void *collection);

/* Checksums of results (docs/formats/checksum.md): Σ H(n) · SLC_CHECKSUM_FACTOR^n modulo 2^64 over the
 * numbers n of the events from 0, where H, of an event, is a sum over its columns. So parts of a run can be
 * added up: what begins after n events is multiplied by SLC_CHECKSUM_FACTOR^n. Numbers count by their bits:
 * -0.0 is not 0.0, and NaNs differ by their payload.
 *
 * This is seed · SLC_CHECKSUM_FACTOR + H of one event's rows, for chaining events in order from
 * SLC_CHECKSUM_START; the collection has the name that its schema has. */
#define SLC_CHECKSUM_FACTOR 0x9e3779b97f4a7c15ULL
#define SLC_CHECKSUM_START  0ULL
SLC_API uint64_t slc_columns_checksum(const slc_schema *schema, const void *collection, uint32_t event,
                                      uint64_t seed);

/* ---- columns: parts, filters, layouts -------------------------------------------------------- */

/* Appends rows first_row … first_row + rows - 1 of `from` to the current event of `into`, a collection of the
 * same type, which may be `from` itself. SLC_ERR_USAGE if `from` has no such rows, SLC_ERR_CAPACITY where
 * they do not fit into `into`; nothing is changed then. */
SLC_API slc_status slc_columns_append(const slc_schema *schema, const void *from, size_t first_row,
                                      size_t rows, void *into);

/* Appends whole events: rows and offsets. `into` may hold no rows beyond its last event (SLC_ERR_USAGE). */
SLC_API slc_status slc_columns_append_events(const slc_schema *schema, const void *from, uint32_t first_event,
                                             uint32_t n_events, void *into);

/* May the collections, of any types, be read side by side, row r with row r? They must have the same events
 * with the same numbers of rows. On false, *why (may be NULL) says what differs. */
SLC_API bool slc_columns_zip(const void *a, const void *b, const char **why);

/* Rows as records: the columns' values in the order of the schema, one after the other without padding, in
 * the byte order of the machine. A C struct has this layout if its members are those of the schema in its
 * order and none needs padding (sizeof equals slc_columns_row_size). Bytes of a row: */
SLC_API size_t slc_columns_row_size(const slc_schema *schema);
/* All rows, not the events, into `capacity` bytes (SLC_ERR_CAPACITY if they are too few); and so many rows
 * appended to the current event of the collection. */
SLC_API slc_status slc_columns_to_rows(const slc_schema *schema, const void *collection, void *rows,
                                       size_t capacity);
SLC_API slc_status slc_columns_from_rows(const slc_schema *schema, const void *rows, size_t n_rows,
                                         void *collection);

/* ---- batch ----------------------------------------------------------------------------------- */

/* What the record of an event says of it, as far as its format has such a thing. */
typedef struct slc_record {
    uint64_t number;            /* of the record in its stream, from 0; a damaged one keeps its number */
    uint32_t run, orbit, bunch; /* of the record's header */
    uint32_t known;             /* 1 where the header tells these three, else 0 */
    size_t kept_at,
        kept_size;    /* of it in batch->kept: the header, or all if it came compressed; size 0: not
                         asked for (slc_io_config.keep_records), or in a file that can be read again */
    uint32_t missing; /* sources of a packet that the event lost to damage */
} slc_record;

/* Many events' raw bytes. Bytes of event e are bytes[offset[e]] .. + length[e]; each event begins on a
 * multiple of 8 bytes. `file_offset` is where the event's record began in its stream. Events of a scattered
 * batch came in packets of many: their bytes are references to what lies elsewhere in `bytes`, which
 * slc_lhcb_bank_next follows, and those of a packet have the same file_offset. */
typedef struct slc_batch {
    uint8_t *bytes;
    size_t size, capacity;
    uint32_t n_events, event_capacity;
    size_t *offset;
    size_t *length;
    uint64_t *file_offset;
    slc_record *record;
    uint8_t *kept; /* what the events' bytes do not hold of their records */
    size_t kept_used, kept_capacity;
    uint64_t first_event; /* index in the run of the batch's event 0 */
    uint64_t sequence;    /* number of the batch in its stream, from 0 */
    bool scattered;
} slc_batch;

/* Makes room for so many bytes and events in all, keeping what is there. Zero-initialise before first use. */
SLC_API slc_status slc_batch_reserve(slc_batch *batch, size_t bytes, uint32_t events);
/* Appends one event (copied); grows the batch as needed. Its record gets the number first_event + its index,
 * and tells nothing else. */
SLC_API slc_status slc_batch_append(slc_batch *batch, const void *bytes, size_t size, uint64_t file_offset);
SLC_API void slc_batch_reset(slc_batch *batch);
SLC_API void slc_batch_clear(slc_batch *batch);

/* ---- histogram ------------------------------------------------------------------------------- */

enum { SLC_HISTOGRAM_BINS = 120 };

/* Equal bins over [low, high); values outside count as under or over. Moments are of the values inside. NaN
 * is ignored. */
typedef struct slc_histogram {
    double low, high;
    uint32_t n_bins; /* at most SLC_HISTOGRAM_BINS */
    uint64_t under, over, inside;
    double sum, sum_squares;
    uint64_t bin[SLC_HISTOGRAM_BINS];
} slc_histogram;
SLC_API void slc_histogram_init(slc_histogram *histogram, double low, double high, uint32_t n_bins);
SLC_API void slc_histogram_add(slc_histogram *histogram, double value);
SLC_API double slc_histogram_mean(const slc_histogram *histogram);
SLC_API double slc_histogram_rms(const slc_histogram *histogram); /* standard deviation about the mean */
/* Below it lies the fraction q of all entries (under and over included), linear inside a bin; 0 when empty.
 */
SLC_API double slc_histogram_quantile(const slc_histogram *histogram, double q);
/* Half the interval that holds the central 68.27 % of all entries: the width of a Gaussian, little moved by
 * tails. 0 when empty. */
SLC_API double slc_histogram_half_width(const slc_histogram *histogram);

/* ---- clock ----------------------------------------------------------------------------------- */

/* Seconds of a monotonic clock; differences are meaningful, values are not. */
SLC_API double slc_clock_seconds(void);

#ifdef __cplusplus
}
#endif
#endif
