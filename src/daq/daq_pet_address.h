/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: "HOST:PORT" and "[HOST]:PORT" to sockets of UDP, for the acquisition and the sender.
 */
#ifndef SLUICE_DAQ_PET_ADDRESS_H
#define SLUICE_DAQ_PET_ADDRESS_H

#include <sluice/base.h>

/* So many sockets that are bound to the address, between which the system shares senders out where they are
 * several; no others are bound to it, but to a multicast group. Of "tcp:HOST:PORT" one that listens.
 * SLC_ERR_USAGE where the text is no address, SLC_ERR_IO where it cannot be had; both name it, and leave -1
 * in all of `files`. */
slc_status slc_daq_pet_listen(const char *address, uint32_t n, int *files, slc_error *error);
bool slc_daq_pet_is_stream(const char *address);
/* A socket that sends to it, by datagrams. */
slc_status slc_daq_pet_connect(const char *address, int *file, slc_error *error);
/* Where a socket is bound, as text that the two above understand. */
void slc_daq_pet_address_of(int file, char *text, size_t size);

#endif
