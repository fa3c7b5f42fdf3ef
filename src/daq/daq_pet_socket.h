/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: one socket of an acquisition with its ring and its thread, which does nothing but ask
 * the system for datagrams (recvmmsg) and write heads of blocks before them.
 */
#ifndef SLUICE_DAQ_PET_SOCKET_H
#define SLUICE_DAQ_PET_SOCKET_H

#include "daq/daq_pet_ring.h"
#include "daq/daq_pet_stream.h"
#include <sluice/io_pet.h>

#include <pthread.h>

enum { SLC_DAQ_PET_CALL = 64, SLC_DAQ_PET_DATAGRAM = 65536 /* datagrams a call; the largest there is */ };

/* As pthread_create, with all signals left to the other threads. */
int slc_daq_pet_thread(pthread_t *thread, void *(*run)(void *), void *context);

typedef struct slc_daq_pet_socket slc_daq_pet_socket;

typedef struct slc_daq_pet_socket_config {
    int file;            /* bound; the socket's from then on, also where opening it fails */
    const char *address; /* in messages */
    uint16_t number;
    const slc_io_pet_payload *payload;
    uint16_t record; /* as in heads of blocks */
    size_t ring_bytes, socket_bytes;
    uint32_t length_bytes; /* of a stream, as in its configuration */
    bool length_big;
    void (*note)(void *context, const char *text); /* of a stream */
    void *context;
} slc_daq_pet_socket_config;
/* With all of its memory, without its thread. */
slc_status slc_daq_pet_socket_open(const slc_daq_pet_socket_config *config, slc_daq_pet_socket **socket,
                                   slc_error *error);
void slc_daq_pet_socket_close(slc_daq_pet_socket *socket); /* joined before; NULL is allowed */

/* Its thread, which takes as time the steady clock's (CLOCK_MONOTONIC) and clock_ns. */
slc_status slc_daq_pet_socket_start(slc_daq_pet_socket *socket, uint64_t clock_ns, slc_error *error);
/* It takes what has arrived until now, however long the writer makes it wait, and ends. Without waiting. */
void slc_daq_pet_socket_stop(slc_daq_pet_socket *socket);
/* It ends at once, with what is in the ring: nobody takes blocks any more. Without waiting. */
void slc_daq_pet_socket_give_up(slc_daq_pet_socket *socket);
/* Does its thread receive no more? It also ends by itself, where the system fails. */
bool slc_daq_pet_socket_has_ended(const slc_daq_pet_socket *socket);
/* Waits for its end. SLC_ERR_IO where the system failed. */
slc_status slc_daq_pet_socket_join(slc_daq_pet_socket *socket, slc_error *error);

slc_daq_pet_ring *slc_daq_pet_socket_ring(slc_daq_pet_socket *socket);
/* Of a stream; all 0 of others. */
slc_daq_pet_stream_counts slc_daq_pet_socket_stream(const slc_daq_pet_socket *socket);
/* Where it listens: a port of 0 is replaced. */
void slc_daq_pet_socket_address(const slc_daq_pet_socket *socket, char *text, size_t size);
/* Empty datagrams, which are in no block. Any thread may ask, at any time. */
uint64_t slc_daq_pet_socket_empty(slc_daq_pet_socket *socket);
/* Datagrams that the system dropped so far, in all and while the thread waited for room in the ring; behind
 * its end nothing counts. */
void slc_daq_pet_socket_drops(slc_daq_pet_socket *socket, uint64_t *all, uint64_t *ring);
/* A count that goes on where a counter of 32 bits, which is looked at often enough, begins again. One that
 * another thread has looked at earlier changes nothing. */
static inline uint64_t slc_daq_pet_socket_count(uint64_t before, uint32_t counter)
{
    const uint32_t more = counter - (uint32_t)before;
    return more <= INT32_MAX ? before + more : before;
}
/* Room in the system's queue, in its own measure, and in that of what was asked for. */
uint64_t slc_daq_pet_socket_room(const slc_daq_pet_socket *socket);
size_t slc_daq_pet_socket_granted(const slc_daq_pet_socket *socket);

#endif
