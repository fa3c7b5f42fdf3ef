/* SPDX-License-Identifier: Apache-2.0
 *
 * Acquisition of PET frames from the network, and the sender that plays them: UDP datagrams of frames, one
 * thread for each socket, rings of memory that are there from the beginning, a writer's thread, and (if
 * wanted) the chain of pet_chain.h on what arrives, in a thread of its own.
 */
#ifndef SLUICE_DAQ_PET_H
#define SLUICE_DAQ_PET_H

#include <sluice/io_pet.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SLC_DAQ_PET_SOCKETS = 64 };

struct slc_daq_pet_counts;

/* The end of an acquisition that another goes on with. */
typedef struct slc_daq_pet_resumed {
    const char *last; /* the last of its files */
    uint32_t file;    /* number of that */
    uint64_t series, datagrams;
    uint64_t last_ns;   /* when its last block was received; 0: it has none */
    uint64_t damaged;   /* places in what was read of it */
    uint32_t counters;  /* modules whose counters are known */
    uint64_t read_from; /* bytes of its files before the part that counters were read from; 0: from all */
} slc_daq_pet_resumed;

typedef struct slc_daq_pet_config {
    size_t size; /* of this struct; set by _config_default */
    /* "127.0.0.1:9000", "[::1]:9000"; port 0: any free one. A multicast group, "239.1.2.3:9000", is joined,
     * at the interface that is named, "239.1.2.3%eth0:9000" and "[ff15::1%eth0]:9000", or at the system's
     * choice. */
    const char *listen[SLC_DAQ_PET_SOCKETS];
    uint32_t n_listen;
    /* "tcp:127.0.0.1:9000": what connects there sends the same as messages of a stream, each with its length
     * in so many bytes before it (2 or 4; 0: records of the frames' size, without a header, one behind the
     * other). A message has 65535 bytes at most. */
    uint32_t stream_length_bytes;
    bool stream_length_big_endian;
    /* Sockets at each address, with a thread and a part of the ring each (SO_REUSEPORT): the system deals the
     * senders out to them by address and port, so that one sender's datagrams stay in order. 0: one. */
    uint32_t shards;
    const char *output;        /* raw file; NULL: none */
    slc_io_pet_raw_config raw; /* its payload is that of the datagrams, with or without a file */
    /* `output` is a file of an acquisition that has ended, however it did. This goes on with it: in the next
     * file, with the next datagram, and with the modules' counters, so that what was lost between is counted.
     * Its payload must be the same. */
    bool resume;
    /* 0: 256 MiB, at least 8 MiB for each socket; as large as the system allows, 64 MiB at most. */
    size_t ring_bytes, socket_bytes;
    double seconds;              /* 0: until stopped */
    uint64_t frames;             /* 0: any number */
    const slc_pet_config *chain; /* NULL: nothing is reconstructed live */
    const slc_pet_tables *tables;
    /* Called with `resume`, before anything is opened, with what it goes on with. May be NULL. */
    void (*resumes)(void *context, const struct slc_daq_pet_resumed *from);
    /* Called once for each address, with its number, itself (a port of 0 is replaced), and the room that
     * the system gave a socket of what was asked for, when all are open and before anything is received. May
     * be NULL. */
    void (*listening)(void *context, uint32_t number, const char *address, size_t room);
    bool keep_marks; /* batches have marks */
    /* Called in the chain's thread with each of its results; false ends the acquisition. What was received
     * before it has ended still comes. May be NULL. */
    bool (*live)(void *context, const slc_pet_batch *batch);
    /* Called in the caller's thread about once a second, until everything is written; false ends the
     * acquisition. May be NULL. */
    bool (*tell)(void *context, const struct slc_daq_pet_counts *counts);
    void *context;
    bool (*stop)(void *context); /* asked at least ten times a second; may be NULL */
    /* Called in the caller's thread with a line on a connection: that it is there, has ended, is broken. May
     * be NULL. */
    void (*note)(void *context, const char *text);
    /* Called in the writer's thread with frames as they come, those of repeated and foreign datagrams left
     * out; must be quick. May be NULL. */
    void (*sample)(void *context, const slc_pet_frame *frames, size_t n);
} slc_daq_pet_config;
SLC_API void slc_daq_pet_config_default(slc_daq_pet_config *config);

/* By the sequence counter, where payloads have one. */
typedef slc_io_pet_module slc_daq_pet_module;

typedef struct slc_daq_pet_counts {
    /* Received; bytes of datagrams. Where there is a file, these are in it; what was received and is not, as
     * the file could not be written on, is unwritten: datagrams and their frames, as far as they came out of
     * the sockets. */
    uint64_t datagrams, frames, bytes;
    uint64_t unwritten, unwritten_frames;
    /* Datagrams that the system dropped: all that came to the sockets until the end either were received or
     * are in these two numbers. ring_drops are those that fell while a socket's thread waited for room in its
     * ring, because the writer was slow; kernel_drops the others, for want of room in the sockets. */
    uint64_t kernel_drops, ring_drops;
    /* The modules' sums; malformed also datagrams too short to have a module, each of which counts once: if
     * it has a number that is missing, that is not lost. */
    uint64_t lost, malformed, repeated, foreign;
    /* An estimate: frames of the lost datagrams, and of those that were dropped beyond them (nothing told of
     * them, for want of a counter or of a datagram after them), by the average of what came. */
    uint64_t lost_frames;
    /* Of streams: connections that were made, those that ended inside a message, and the bytes of such
     * messages, which are in no datagram. */
    uint64_t connections, broken, broken_bytes;
    uint64_t notes_left_out; /* lines that were too many at once */
    uint64_t empty;          /* of those: without a byte, so that they are not in the file */
    uint64_t left_out; /* frames of repeated and foreign datagrams: in the file, and not for the chain */
    /* Frames that are in the file, but that the chain was too slow for, or that came after its failure. */
    uint64_t live_skipped;
    uint64_t live_gaps; /* how often it was too slow; each time it goes on when half of its queue is empty */
    slc_io_pet_format_counts records; /* where frames have a format (raw.format) */
    uint64_t written_bytes, files;
    uint64_t socket_bytes;     /* room of each socket, as the system gave it */
    double seconds, ring_fill; /* of receiving; the fullest a ring has been, 0 to 1 */
    bool ending, written;      /* nothing more is received; all that was is in the file */
    slc_pet_totals chain;      /* of the live chain, after the last result */
    slc_daq_pet_module module[SLC_PET_MAX_MODULES]; /* by BDM of a datagram's first frame */
    double ring_now, queue_now; /* how full the fullest ring and the chain's queue are now, 0 to 1 */
} slc_daq_pet_counts;

/* Until the time is over, at least so many frames are there, or a callback says so. What has arrived at the
 * sockets by then is received. Everything that was received is written when it returns, and has gone through
 * the chain, in the order of the file; where there is a file, a chain that is too slow goes without some
 * blocks, so that the file gets them, and one that fails goes without the rest: its error is returned at the
 * end. SLC_ERR_IO names the address or the file; *counts is filled in any case. The caller's thread waits
 * meanwhile. */
SLC_API slc_status slc_daq_pet_acquire(const slc_daq_pet_config *config, slc_daq_pet_counts *counts,
                                       slc_error *error);

typedef struct slc_daq_pet_send_config {
    size_t size; /* of this struct; set by _config_default */
    const char *to[SLC_DAQ_PET_SOCKETS];
    uint32_t n_to;    /* module m goes to address m mod n_to */
    double frames_hz; /* 0: as fast as it goes */
    uint32_t
        frames_per_datagram; /* 1 to 4000; a datagram holds frames of one module that follow each other */
    bool sequence;           /* 8 bytes, little-endian, before the frames, counted by module */
    uint64_t repeat;         /* send all so many times; 0: once */
    uint64_t repeat_ticks;   /* added to the frames' times in each repetition */
    bool single; /* one datagram after the other (sendmmsg), not many as one piece (UDP_SEGMENT) */
    bool (*stop)(void *context); /* asked at least ten times a second; may be NULL */
    void *context;
} slc_daq_pet_send_config;
/* 92 frames a datagram, as fast as it goes, once. */
SLC_API void slc_daq_pet_send_config_default(slc_daq_pet_send_config *config);
/* Sends frames; *sent and *datagrams count them. SLC_ERR_IO if nobody listens on this machine. */
SLC_API slc_status slc_daq_pet_send_frames(const slc_daq_pet_send_config *config, const slc_pet_frame *frames,
                                           size_t n, uint64_t *sent, uint64_t *datagrams, slc_error *error);

#ifdef __cplusplus
}
#endif
#endif
