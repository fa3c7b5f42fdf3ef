/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: blocks of an output, encoded by several threads and placed by one, in the order in
 * which they were given. What a file becomes does not depend on the number of threads, as what a block holds
 * does not. One thread fills, gives and drains; blocks are placed in it, inside _give and _drain.
 */
#ifndef SLUICE_IO_ENCODE_H
#define SLUICE_IO_ENCODE_H

#include <sluice/base.h>

typedef struct slc_io_block slc_io_block;

/* Makes `encoded` of `bytes`, in any thread. *scratch is the thread's own, NULL at first. SLC_ERR_MEMORY is
 * the only failure. */
typedef slc_status (*slc_io_encode)(slc_io_block *block, void **scratch);

struct slc_io_block {
    uint8_t *bytes; /* the caller fills `size` of `room` */
    size_t size, room;
    uint8_t *encoded; /* slc_io_block_reserve; kept with the block */
    size_t encoded_size, encoded_room;
    void *owner; /* these four are the caller's */
    const void *how;
    uint64_t at;
    uint32_t flags;
    slc_io_encode encode; /* the rest is the encoders' */
    slc_status status;
    bool done, of_slab;
    slc_io_block *next;
};
/* Room for `encoded`; what was there is lost. */
slc_status slc_io_block_reserve(slc_io_block *block, size_t size);

typedef struct slc_io_encoders_config {
    uint32_t threads; /* beside the caller's, which helps where it would wait; 0: it does all */
    slc_status (*place)(void *context, slc_io_block *block, slc_error *error);
    void *context;
    void (*scratch_close)(void *scratch); /* NULL: there is none */
    const char *name;                     /* of the output, for errors */
} slc_io_encoders_config;

typedef struct slc_io_encoders slc_io_encoders;
slc_status slc_io_encoders_open(const slc_io_encoders_config *config, slc_io_encoders **encoders,
                                slc_error *error);
/* An empty block with this much room; NULL without memory. */
slc_io_block *slc_io_encoders_take(slc_io_encoders *encoders, size_t room);
/* To be encoded and placed; it is the encoders' from here on. `encode` may be NULL: `bytes` are placed as
 * they are. The first failure of an earlier block may be told here. */
slc_status slc_io_encoders_give(slc_io_encoders *encoders, slc_io_block *block, slc_io_encode encode,
                                slc_error *error);
/* A block that is not to be placed. NULL is allowed. */
void slc_io_encoders_return(slc_io_encoders *encoders, slc_io_block *block);
/* Until all that was given is placed. */
slc_status slc_io_encoders_drain(slc_io_encoders *encoders, slc_error *error);
/* Ends the threads and drops what was given and not placed: what blocks point to may go after it. NULL is
 * allowed, as to _close. */
void slc_io_encoders_stop(slc_io_encoders *encoders);
void slc_io_encoders_close(slc_io_encoders *encoders);

#endif
