/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: datagrams that come as a stream (TCP). Modules, or what collects for them, connect, and
 * send messages: each a length and so many bytes, or, where nothing says a length, records one behind the
 * other. What breaks off inside a message is left out and counted; whoever it was may connect again.
 */
#ifndef SLUICE_DAQ_PET_STREAM_H
#define SLUICE_DAQ_PET_STREAM_H

#include <sluice/base.h>

typedef struct slc_daq_pet_stream_config {
    int file;              /* listens; the caller's */
    uint32_t length_bytes; /* 2 or 4; 0: records of so many bytes, one behind the other: */
    uint32_t record;
    bool big;
    /* A message; false: it is not wanted any more. */
    bool (*take)(void *context, const uint8_t *bytes, size_t size);
    /* A line on a connection. */
    void (*note)(void *context, const char *text);
    void *context, *note_context;
} slc_daq_pet_stream_config;

typedef struct slc_daq_pet_stream_counts {
    uint64_t connections, broken, broken_bytes; /* broken: inside a message */
} slc_daq_pet_stream_counts;

enum { SLC_DAQ_PET_CONNECTIONS = 64, SLC_DAQ_PET_MESSAGE = 65535 /* bytes, at most */ };

typedef struct slc_daq_pet_stream slc_daq_pet_stream;
/* SLC_ERR_MEMORY. */
slc_status slc_daq_pet_stream_open(const slc_daq_pet_stream_config *config, slc_daq_pet_stream **stream);
void slc_daq_pet_stream_close(slc_daq_pet_stream *stream); /* NULL is allowed */
/* Takes what comes, waiting for it so long at most. False: `take` said so, or the system failed (errno). */
bool slc_daq_pet_stream_turn(slc_daq_pet_stream *stream, int wait_ms);
/* Takes what has come until now, and no more; what is left of a message is counted. */
void slc_daq_pet_stream_end(slc_daq_pet_stream *stream);
slc_daq_pet_stream_counts slc_daq_pet_stream_counts_of(const slc_daq_pet_stream *stream);

#endif
