/* SPDX-License-Identifier: Apache-2.0
 *
 * What the tests of inputs share: finding the reference data, tiny events made here byte by byte, and one
 * function that sends an input through the whole pipeline and says what came of it.
 */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <sluice/sluice.h>

/* ---- data ------------------------------------------------------------------------------------ */

/* Path of a file below SLUICE_TEST_DATA, in a static buffer. */
const char *support_data(const char *relative);
/* 0, or 77 with a printed line where the file is absent: what main() returns then. */
int support_skip_without(const char *relative);

/* ---- random numbers -------------------------------------------------------------------------- */

/* splitmix64: a seeded sequence that is the same everywhere. */
uint64_t support_random(uint64_t *state);

/* ---- bytes ----------------------------------------------------------------------------------- */

typedef struct support_bytes {
    uint8_t *at;
    size_t size, capacity;
} support_bytes;
void support_append(support_bytes *to, const void *bytes, size_t size);
void support_clear(support_bytes *bytes);
/* The whole file; fails the test where it cannot be read. */
support_bytes support_read(const char *path);
/* A new temporary file with this content; the name is static. */
const char *support_temporary(const void *bytes, size_t size);
uint64_t support_hash(const void *bytes, size_t size);

/* ---- tiny events ----------------------------------------------------------------------------- */

enum { SUPPORT_TRACK_HITS = 6 };

/* Raw banks of tiny event number `index`: ODIN, six VP banks with one super-pixel each (a track along z),
 * truth banks with the particle that made it and one vertex. */
support_bytes support_event(uint32_t index);
/* An MDF record around a payload, header by hand: versions 1 to 3, `compression` as in the header, with
 * checksum. */
void support_record(support_bytes *to, unsigned version, uint8_t compression, const void *payload,
                    size_t size);
/* A whole file of tiny events, plain or in 'ZL' blocks. */
support_bytes support_file(uint32_t n_events, bool compressed);
/* 'ZL' blocks of at most `block` bytes each. */
support_bytes support_blocks(const void *bytes, size_t size, size_t block);
/* A JSON event of three hits a module in the first n modules, with one particle for each of the three. */
support_bytes support_json(uint32_t index, unsigned n_modules);

/* ---- pipeline -------------------------------------------------------------------------------- */

enum { SUPPORT_EVENTS = 64 };

typedef struct support_outcome {
    slc_status open_status, read_status; /* read_status: SLC_END where all was read */
    slc_error error;
    slc_io_totals totals;
    slc_faults faults;                   /* of reading, decoding and truth */
    uint64_t event_hash[SUPPORT_EVENTS]; /* of the first events: raw bytes, or hits and truth */
    uint64_t tracks, particles, superpixels;
    char damage[512]; /* empty where there is none */
} support_outcome;

/* Reads the input to its end, in batches of three events, through decoding, truth and the whole chain. */
support_outcome support_run(const void *bytes, size_t size, const char *name, const slc_io_config *config);
/* The same through a file or "-". */
support_outcome support_run_file(const char *path, const slc_io_config *config);
/* Reads events alone. */
support_outcome support_read_only(const void *bytes, size_t size, const char *name,
                                  const slc_io_config *config);

/* Asserts that the first n events of both are the same. */
void support_assert_same_events(const support_outcome *a, const support_outcome *b, uint64_t n);
/* Asserts one line "name: byte <offset>: …<reason>…". */
void support_assert_message(const char *text, const char *name, uint64_t offset, const char *reason);

#endif
