/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: what a module's sequence counter tells of its datagrams, and which of them are used. A
 * number that is ahead leaves a gap, and the gap is loss; a number from the gap that comes later takes it
 * back, since networks may change the order of datagrams. For each of the last 4096 numbers a print of what
 * came with it is kept: the same again is a copy, which is left out.
 *
 * A number from elsewhere, or one that has come with other content, is either somebody else's, or the module
 * was switched on again, or more was lost than the window holds. The next datagram tells: if it goes on where
 * the stray one was, the counter is there now, and both are used; if it goes on where the module was, the
 * stray one was foreign, and has moved nothing. Where a counter comes back to what it had left, all that came
 * meanwhile was foreign.
 */
#ifndef SLUICE_IO_PET_SEQUENCE_H
#define SLUICE_IO_PET_SEQUENCE_H

#include <sluice/io_pet.h>

enum { SLC_PET_SEQUENCE_WINDOW = 4096, SLC_PET_SEQUENCE_JUST_BEFORE = 64 };

typedef struct slc_io_pet_sequence {
    bool begun, has_stray, has_left;
    uint64_t first, next; /* first: since the counter began; next: that is expected */
    uint64_t line;        /* datagrams since it began */
    uint64_t stray;       /* the last number that was one */
    uint32_t stray_print;
    uint64_t left, left_lost, left_restarts; /* before the counter was elsewhere: expected, counted */
    uint32_t print[SLC_PET_SEQUENCE_WINDOW]; /* at number % window; 0: it has not come */
} slc_io_pet_sequence;

typedef enum slc_io_pet_use {
    SLC_PET_LEAVE_OUT,
    SLC_PET_TAKE,
    SLC_PET_HOLD,     /* leave it out, unless the next of the module says otherwise */
    SLC_PET_TAKE_BOTH /* the one that was held, and then this */
} slc_io_pet_use;

/* A datagram with this number has come; `bits` is the counter's width, `print` tells its content, and is not
 * 0. One that is malformed takes its number's place, but never moves the counter elsewhere. */
slc_io_pet_use slc_io_pet_sequence_add(slc_io_pet_sequence *sequence, uint64_t number, uint32_t print,
                                       bool malformed, uint32_t bits, slc_io_pet_module *module);
/* Something came with this number that does not tell its module. True: it was missing here, and is not any
 * more. */
bool slc_io_pet_sequence_fill(slc_io_pet_sequence *sequence, uint64_t number, uint32_t bits,
                              slc_io_pet_module *module);

/* ---- datagrams of all modules ------------------------------------------------------------------ */

/* What came of each module; and what is held. */
typedef struct slc_io_pet_watch slc_io_pet_watch;
/* NULL where there is no memory: 21 MB, of which what is not needed is not touched. */
slc_io_pet_watch *slc_io_pet_watch_open(void);
void slc_io_pet_watch_close(slc_io_pet_watch *watch); /* NULL is allowed */
/* What datagrams hold; NULL, as at first: frames of 16 bytes. Of a datagram of which no record tells its
 * module all is used, as nobody knows whose number it has. */
void slc_io_pet_watch_use_format(slc_io_pet_watch *watch, const slc_io_pet_format *format);
/* What comes now does not follow: nothing is missing between, and nothing is a copy. Counts stay. */
void slc_io_pet_watch_break(slc_io_pet_watch *watch);
/* What comes now follows, but is counted by itself: all counts are 0, what is missing until now has been
 * counted as lost, and nothing is held. Returns of how many modules the counter is known. */
uint32_t slc_io_pet_watch_count_anew(slc_io_pet_watch *watch);

/* What is to be used because of a datagram: frames that were held before it, then so many of its own, all or
 * none. Held ones stay there until the next datagram is taken. */
typedef struct slc_io_pet_taken {
    const uint8_t *held;
    uint64_t held_ns; /* when they were received */
    uint32_t n_held, n;
} slc_io_pet_taken;
slc_io_pet_taken slc_io_pet_watch_take(slc_io_pet_watch *watch, const slc_io_pet_payload *payload,
                                       const uint8_t *datagram, uint32_t size, uint64_t time_ns);
/* Of SLC_PET_MAX_MODULES modules. */
const slc_io_pet_module *slc_io_pet_watch_modules(const slc_io_pet_watch *watch);
/* Datagrams that are malformed, with those too short to have a module. */
uint64_t slc_io_pet_watch_malformed(const slc_io_pet_watch *watch);

#endif
