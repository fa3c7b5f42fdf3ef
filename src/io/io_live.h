/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: 64-bit words that come over the network, as an input that looks like a pipe. Words come
 * whole: what is left of one where a connection or a datagram ends is left out and counted.
 *
 *     tcp://HOST:PORT          connects; the input ends with the connection
 *     tcp-listen://ADDR:PORT   listens; connections come one after the other, and one that ends is no end
 *     udp://ADDR:PORT          receives datagrams
 */
#ifndef SLUICE_IO_LIVE_H
#define SLUICE_IO_LIVE_H

#include <sluice/io_pixel.h>

#include <sys/types.h>

typedef struct slc_io_live slc_io_live;

/* What was counted: the members of slc_io_pixels_counts. */
typedef struct slc_io_live_counts {
    uint64_t connections, datagrams, broken_bytes, dropped;
} slc_io_live_counts;

/* Is it a name of the three? */
bool slc_io_live_is(const char *path);
/* `how` (may be NULL) is kept. SLC_ERR_USAGE where the address is none, SLC_ERR_IO where it cannot be had. */
slc_status slc_io_live_open(const char *path, const slc_io_pixels_live *how, slc_io_live **live,
                            slc_error *error);
void slc_io_live_close(slc_io_live *live); /* NULL is allowed */

/* Waits for bytes until slc_clock_seconds is `deadline` (INFINITY: as long as it takes), and copies as many
 * as there are and fit. 0: the connection has ended, or, with *over, the input. -1: errno, EAGAIN for the
 * deadline. After the end of a connection the next is waited for only with `goes_on`, else it is 0 again. */
ssize_t slc_io_live_read(slc_io_live *live, uint8_t *to, size_t size, double deadline, bool goes_on,
                         bool *over);
/* A peer that sends what is not ours: a listener closes its connection, and waits for the next; of datagrams
 * this one is left out. False: of who has connected there is no other. `begins` is for who is told. */
bool slc_io_live_turn_away(slc_io_live *live, const char *begins);
slc_io_live_counts slc_io_live_count(slc_io_live *live);

#endif
