/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: "HOST:PORT" and "[HOST]:PORT" to sockets, for PET's acquisition and its sender, and for
 * pixels that come over the network.
 */
#ifndef SLUICE_IO_ADDRESS_H
#define SLUICE_IO_ADDRESS_H

#include <sluice/base.h>

/* So many sockets that are bound to the address, between which the system shares senders out where they are
 * several; no others are bound to it, but to a multicast group. Of "tcp:HOST:PORT" one that listens.
 * SLC_ERR_USAGE where the text is no address, SLC_ERR_IO where it cannot be had; both name it, and leave -1
 * in all of `files`. */
slc_status slc_io_address_listen(const char *address, uint32_t n, int *files, slc_error *error);
bool slc_io_address_is_stream(const char *address);
/* A socket that sends to it, by datagrams. */
slc_status slc_io_address_connect(const char *address, int *file, slc_error *error);
/* A stream to who listens there; asks meanwhile whether to give up (NULL: never). It does not block. */
slc_status slc_io_address_reach(const char *address, bool (*give_up)(void *context), void *context, int *file,
                                slc_error *error);
/* Where a socket is bound, as text that the two above understand. */
void slc_io_address_of(int file, char *text, size_t size);

#endif
