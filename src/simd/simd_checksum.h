/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the checksum of results, docs/formats/checksum.md. An event's hash is a sum over its columns, the
 * checksum a sum over events, each times a power of SLC_CHECKSUM_FACTOR: whoever has a part of the events or of the
 * columns adds up what he has. It is in this folder because it has to keep up with the memory, which no plain C does.
 */
#ifndef SLUICE_SIMD_CHECKSUM_H
#define SLUICE_SIMD_CHECKSUM_H

#include "simd/simd_kernel.h"
#include "simd_targets.h"

/* Room for the state of XXH3, whose header the kernels alone see. */
typedef struct slc_checksum_state {
    _Alignas(64) uint8_t bytes[576];
} slc_checksum_state;

typedef struct slc_checksum_kernels {
    const char *target;
    uint64_t (*hash)(const void *bytes, size_t size);
    /* The same of bytes that come in pieces. */
    void (*begin)(slc_checksum_state *state);
    void (*add)(slc_checksum_state *state, const void *bytes, size_t size);
    uint64_t (*end)(const slc_checksum_state *state);
} slc_checksum_kernels;

#define SLC_CHECKSUM_DECLARE(target, TARGET) extern const slc_checksum_kernels slc_checksum_kernels_##target;
SIMD_FOR_EACH(SLC_CHECKSUM_DECLARE)
#undef SLC_CHECKSUM_DECLARE

/* The table of a target that is compiled in; NULL for another. */
const slc_checksum_kernels *slc_checksum_kernels_of(slc_simd_target target);
extern const slc_simd_kernel slc_checksum_kernel_rows[];

/* ---- events ------------------------------------------------------------------------------------ */

/* A collection of a result, by the name that it has in files. */
typedef struct slc_checksum_part {
    const char *name;
    const slc_schema *schema;
    const void *collection;
} slc_checksum_part;

/* What the events of some collections add to the checksum of a result, if so many events are before them. */
uint64_t slc_checksum_events(const slc_checksum_part *parts, size_t n_parts, uint64_t before);
/* The same of one of them, as if it were the only one. */
uint64_t slc_checksum_event(const slc_checksum_part *parts, size_t n_parts, uint32_t event);

/* By which the hash of a column, by the name of its collection in files and its own, counts. */
uint64_t slc_checksum_factor(const char *name, const char *column);

/* SLC_CHECKSUM_FACTOR^n: what is summed up as if nothing were before it is multiplied by it if n events are. */
uint64_t slc_checksum_power(uint64_t n);

/* ---- an event that comes in pieces ------------------------------------------------------------- */

enum { SLC_CHECKSUM_COLUMNS = 32 };

typedef struct slc_checksum_pieces {
    slc_checksum_state state[SLC_CHECKSUM_COLUMNS];
} slc_checksum_pieces;

/* Rows first … first + n - 1 of each collection with the same columns, at most SLC_CHECKSUM_COLUMNS; then the hash of
 * the event that they are. */
void slc_checksum_pieces_begin(slc_checksum_pieces *pieces);
void slc_checksum_pieces_add(slc_checksum_pieces *pieces, const slc_schema *schema, const void *collection,
                             size_t first, size_t n);
uint64_t slc_checksum_pieces_end(const slc_checksum_pieces *pieces, const char *name, const slc_schema *schema);

#endif
