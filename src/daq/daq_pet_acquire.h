/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: the parts of an acquisition.
 * daq_pet_socket.c          a thread for each socket: datagrams into its ring, laid out as in the file
 * daq_pet_acquire_write.c   the writer's thread: blocks of all rings by time, counted, into the file
 * daq_pet_acquire_live.c    the chain's thread, with a queue of frames of its own
 * daq_pet_acquire.c         opens, waits, ends
 *
 *     socket ─► ring ─┐
 *     socket ─► ring ─┼─by time─► writer ─► file
 *     socket ─► ring ─┘             └─► queue of frames ─► chain ─► live()
 */
#ifndef SLUICE_DAQ_PET_ACQUIRE_H
#define SLUICE_DAQ_PET_ACQUIRE_H

#include "daq/daq_pet_socket.h"
#include "io/pet/io_pet_raw.h"
#include "io/pet/io_pet_sequence.h"
#include <sluice/daq_pet.h>

#include <pthread.h>

enum { SLC_DAQ_PET_NOTES = 64 };

typedef struct slc_daq_pet_live slc_daq_pet_live;

typedef struct slc_daq_pet_acquisition {
    const slc_daq_pet_config *config;
    slc_daq_pet_socket *socket[SLC_DAQ_PET_SOCKETS];
    uint32_t n;                 /* of these */
    slc_io_pet_raw_end end;     /* of the acquisition that this goes on with */
    slc_io_pet_raw_writer *raw; /* NULL: no file */
    slc_daq_pet_live *live;     /* NULL: no chain */
    double began, told;
    _Atomic uint64_t frames; /* received so far */
    atomic_bool received;    /* the sockets' threads have ended: what is in the rings is all */
    atomic_bool stop;        /* nothing more is wanted */
    atomic_bool written;     /* the writer's thread has ended */
    atomic_bool found;       /* the chain's thread has ended */

    _Atomic double queue_now;          /* how full the queue of frames is, 0 to 1 */
    pthread_mutex_t mutex;             /* over what follows */
    char note[SLC_DAQ_PET_NOTES][320]; /* that the caller has not been told */
    uint32_t n_notes;
    uint64_t notes_left_out;
    slc_daq_pet_counts counts;
    slc_pet_totals totals; /* of the chain */
    double ended;          /* when nothing more was received; 0 before */
    uint64_t skipped;      /* frames that its failure left over */
    slc_error live_error;  /* which is kept for the end where there is a file */
    slc_status status;     /* of the first failure */
    slc_error error;
} slc_daq_pet_acquisition;

/* The first failure is kept, and ends everything. */
void slc_daq_pet_fail(slc_daq_pet_acquisition *a, slc_status status, const slc_error *error);
/* What is known now. Any thread. */
void slc_daq_pet_counts_now(slc_daq_pet_acquisition *a, slc_daq_pet_counts *counts);

/* ---- the writer -------------------------------------------------------------------------------- */

typedef struct slc_daq_pet_writer slc_daq_pet_writer;
slc_status slc_daq_pet_writer_open(slc_daq_pet_acquisition *a, slc_daq_pet_writer **writer, slc_error *error);
void slc_daq_pet_writer_close(slc_daq_pet_writer *writer); /* its thread has ended */
/* The thread: until `received` is set and the rings are empty, or a failure. */
void *slc_daq_pet_writer_run(void *writer);
/* Behind its end and that of the sockets: what a failure has left in the rings is counted as unwritten. */
void slc_daq_pet_writer_count_rest(slc_daq_pet_writer *writer);

/* ---- the chain --------------------------------------------------------------------------------- */

slc_status slc_daq_pet_live_open(slc_daq_pet_acquisition *a, slc_daq_pet_live **live, slc_error *error);
void slc_daq_pet_live_close(slc_daq_pet_live *live); /* its thread has ended; NULL is allowed */
void *slc_daq_pet_live_run(void *live);
/* Frames into the queue, all or none, fewer than 2^20; waits for room only if it shall, and otherwise counts
 * what is left out: live_skipped, live_gaps. */
typedef struct slc_daq_pet_piece {
    const uint8_t *frames;
    size_t n;
    uint64_t time_ns; /* when they were received */
} slc_daq_pet_piece;
void slc_daq_pet_live_push(slc_daq_pet_live *live, const slc_daq_pet_piece *pieces, size_t n_pieces,
                           bool wait, slc_daq_pet_counts *counts);
/* Marks that stand before the frames that are pushed next; these rows are gone from `marks` then. Those that
 * there is no memory for are counted with the frames that the chain goes without. */
void slc_daq_pet_live_mark(slc_daq_pet_live *live, slc_pet_marks *marks, slc_daq_pet_counts *counts);
/* Nothing more comes. */
void slc_daq_pet_live_end(slc_daq_pet_live *live);

#endif
