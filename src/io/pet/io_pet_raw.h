/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: how raw files of PET lie on disk and in the ring of an acquisition, which is laid out
 * as the file is, so that what was received goes to the file without a copy. docs/formats/pet-raw.md.
 *
 *     file head (64 bytes), then blocks: block head (48 bytes), datagrams of one size one behind the other,
 *     of which the last may be shorter
 */
#ifndef SLUICE_IO_PET_RAW_H
#define SLUICE_IO_PET_RAW_H

#include "base/bytes.h"
#include "io/pet/io_pet_format.h"
#include <sluice/io_pet.h>

enum {
    SLC_PET_RAW_HEAD = 64,
    SLC_PET_RAW_BLOCK = 48,        /* bytes of a block's head */
    SLC_PET_RAW_MOST = 1 << 20,    /* bytes of a block's datagrams, at most */
    SLC_PET_RAW_MOST_HEADER = 1024 /* bytes before the frames of a datagram, at most */
};

/* XXH64 (Y. Collet, xxHash fast digest algorithm, version 0.1.1) with seed 0. */
uint64_t slc_io_pet_raw_hash(const uint8_t *bytes, size_t size);

/* ---- the head of a block ----------------------------------------------------------------------- */

typedef struct slc_io_pet_block {
    uint64_t time_ns, first; /* first: number of its first datagram in the acquisition */
    uint32_t payload;        /* bytes of its datagrams */
    uint16_t datagram;       /* bytes of each but the last */
    uint16_t header_bytes, socket;
    uint16_t record; /* bytes of one of its frames, where they have a format; 0: they are 16 */
    uint64_t hash;   /* of its datagrams */
} slc_io_pet_block;

/* Writes all but the number and the hashes, which _put fills in. */
void slc_io_pet_block_begin(uint8_t *at, const slc_io_pet_block *block);
/* What stands there; the magic and the hash of the head are not looked at. */
static inline slc_io_pet_block slc_io_pet_block_of(const uint8_t *at)
{
    return (slc_io_pet_block){.header_bytes = slc_load_u16(at + 4),
                              .socket = slc_load_u16(at + 6),
                              .time_ns = slc_load_u64(at + 8),
                              .first = slc_load_u64(at + 16),
                              .payload = slc_load_u32(at + 24),
                              .datagram = slc_load_u16(at + 28),
                              .record = slc_load_u16(at + 30),
                              .hash = slc_load_u64(at + 32)};
}
/* `record` of blocks of such frames. */
static inline uint16_t slc_io_pet_block_record(const slc_io_pet_format *format)
{
    return format != NULL ? (uint16_t)format->about.record_bytes : 0;
}
/* Is it a head, undamaged? */
bool slc_io_pet_block_is_good(const uint8_t *at);

static inline uint32_t slc_io_pet_block_datagrams(const slc_io_pet_block *block)
{
    return (block->payload + block->datagram - 1U) / block->datagram;
}
uint64_t slc_io_pet_block_frames(const slc_io_pet_block *block);
/* When a datagram of a block that was taken at time_ns was received: its stamp. Where the system's clock was
 * set meanwhile, that may be any time: one that is not within a minute is not used. */
uint64_t slc_io_pet_received(const slc_io_pet_payload *payload, const uint8_t *datagram, uint32_t size,
                             uint64_t time_ns);

/* ---- the head of a file ------------------------------------------------------------------------ */

extern const uint8_t slc_io_pet_raw_magic[8], slc_io_pet_raw_index_magic[8], slc_io_pet_block_magic[4];
extern const uint8_t slc_io_pet_singles_magic[8]; /* of older versions */
/* Does this regular file end as files of singles do? */
bool slc_io_pet_singles_end(int file);
/* Singles in the caller's memory, for tests. */
slc_status slc_io_pet_singles_open_memory(const void *bytes, size_t size, slc_io_pet_singles_format format,
                                          slc_io_pet_singles **input, slc_error *error);
/* Is it a regular file that begins as raw files with a head do, damaged or not? */
bool slc_io_pet_raw_is(const char *path);
/* Does an HDF5 file say that it holds tables, of whatever version? */
bool slc_io_pet_is_tables(const char *path);
/* What a file is that begins so and is no frames: "an HDF5 file"; NULL: it may be frames. */
const char *slc_io_pet_raw_stranger(const uint8_t *bytes, size_t n);
/* Do these 8 bytes begin an HDF5 file? */
bool slc_io_pet_is_hdf5(const uint8_t *bytes);

typedef struct slc_io_pet_raw_head {
    slc_io_pet_payload payload;
    uint64_t series, started_ns;
    uint32_t file;
    uint32_t format_bytes; /* of the text that follows: its frames' format; 0: there is none */
    uint64_t format_hash;
} slc_io_pet_raw_head;
/* The name of an acquisition's first file, of that of number `file`, which the caller frees; NULL without
 * memory. */
char *slc_io_pet_raw_first_name(const char *path, uint32_t file);
void slc_io_pet_raw_head_store(uint8_t at[SLC_PET_RAW_HEAD], const slc_io_pet_raw_head *head);
/* SLC_ERR_FORMAT where it is damaged, SLC_ERR_UNSUPPORTED where it is of another version. */
slc_status slc_io_pet_raw_head_load(const uint8_t at[SLC_PET_RAW_HEAD], slc_io_pet_raw_head *head);
/* The same of a file; false where it is no regular file with an undamaged head of this version. */
bool slc_io_pet_raw_head_of(const char *path, slc_io_pet_raw_head *head);

/* ---- reading ----------------------------------------------------------------------------------- */

/* What the sequence counters of the datagrams that were read tell, for SLC_PET_MAX_MODULES modules; NULL
 * where the file tells of none. It is the reader's, and changes with each call that reads. */
const slc_io_pet_module *slc_io_pet_raw_modules(const slc_io_pet_raw *raw);
/* The frames that so many of a module's datagrams have on the average. */
double slc_io_pet_module_frames(const slc_io_pet_module *module, uint64_t datagrams);
/* `raw` has just been opened, and is the file that follows `before` in its acquisition, which was read to its
 * end: what that knows of counters goes over to it, with its counts. Where datagrams between the two are
 * missing, by their numbers in the acquisition, counters begin anew. False, and nothing is done, where the
 * two are not of one acquisition. `before` is to be closed. */
bool slc_io_pet_raw_go_on(slc_io_pet_raw *raw, slc_io_pet_raw *before);

/* ---- the end of an acquisition ----------------------------------------------------------------- */

typedef struct slc_io_pet_watch slc_io_pet_watch;
/* What another that goes on with it must know. */
typedef struct slc_io_pet_raw_end {
    char *first, *last;       /* the name that its files' numbers go into; that of the last one */
    slc_io_pet_raw_head head; /* of that */
    uint64_t datagrams;       /* so many came */
    uint64_t last_ns, damaged, read_from;
    slc_io_pet_watch *watch;   /* its counters, with counts of 0; NULL: datagrams have none */
    slc_io_pet_format *format; /* of its frames; NULL: none */
} slc_io_pet_raw_end;
/* Of the acquisition that this file is of. Reads its last GiB, for the counters, and tells in read_from how
 * much is before that. SLC_ERR_FORMAT where a file is none, or has no undamaged head; SLC_ERR_IO, too, where
 * it is still written. `end` is to be cleared in any case. */
slc_status slc_io_pet_raw_end_of(const char *path, slc_io_pet_raw_end *end, slc_error *error);
void slc_io_pet_raw_end_clear(slc_io_pet_raw_end *end);

/* ---- writing ----------------------------------------------------------------------------------- */

/* As slc_io_pet_raw_create, of the files behind the end of an acquisition; config.replace is not looked at.
 */
slc_status slc_io_pet_raw_create_behind(const slc_io_pet_raw_end *end, const slc_io_pet_raw_config *config,
                                        slc_io_pet_raw_writer **writer, slc_error *error);
/* Appends blocks that lie in memory as they shall in the file, but for their numbers and hashes, which are
 * filled in. Blocks that lie one behind the other go out as one piece. *written: so many are in the file, all
 * or, where it fails, the first; of the last of these only the datagrams that are in the file may be left in
 * memory, too: its head tells. */
slc_status slc_io_pet_raw_put(slc_io_pet_raw_writer *writer, uint8_t *const *blocks, size_t n,
                              size_t *written, slc_error *error);

/* SLC_ERR_USAGE where the counter is not in the header. */
slc_status slc_io_pet_payload_check(const slc_io_pet_payload *payload, slc_error *error);
/* A raw file over memory that the caller keeps; `name` stands in messages. */
slc_status slc_io_pet_raw_open_memory(const void *bytes, size_t size, const char *name, slc_io_pet_raw **raw,
                                      slc_error *error);
/* Of a regular file that has just been opened what begins from this byte on. False: it cannot be jumped to.
 */
bool slc_io_pet_raw_begin_at(slc_io_pet_raw *raw, uint64_t place);
/* The watch over its counters, which is the caller's from now on; NULL where it has none. The reader is only
 * to be closed. */
slc_io_pet_watch *slc_io_pet_raw_take_watch(slc_io_pet_raw *raw);
/* The same of the format that its head tells. */
slc_io_pet_format *slc_io_pet_raw_take_format(slc_io_pet_raw *raw);
/* Of a regular file that has just been opened what begins from byte 16 · from on and before byte 16 · until
 * (0: its end). SLC_ERR_USAGE of one whose datagrams have counters, as these are followed. */
slc_status slc_io_pet_raw_part(slc_io_pet_raw *raw, uint64_t from, uint64_t until, slc_error *error);
/* Bytes and files that were written so far. */
void slc_io_pet_raw_written(const slc_io_pet_raw_writer *writer, uint64_t *bytes, uint64_t *files);

#endif
