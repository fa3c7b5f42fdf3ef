/* SPDX-License-Identifier: Apache-2.0
 *
 * Inside the library: "HOST:PORT" and "[HOST]:PORT" to sockets of UDP, for the acquisition and the sender.
 */
#ifndef SLUICE_DAQ_PET_ADDRESS_H
#define SLUICE_DAQ_PET_ADDRESS_H

#include <sluice/base.h>

/* A socket that is bound to the address. SLC_ERR_USAGE where the text is no address, SLC_ERR_IO where it
 * cannot be had; both name it. */
slc_status slc_daq_pet_listen(const char *address, int *file, slc_error *error);
/* A socket that sends to it. */
slc_status slc_daq_pet_connect(const char *address, int *file, slc_error *error);
/* Where a socket is bound, as text that the two above understand. */
void slc_daq_pet_address_of(int file, char *text, size_t size);

#endif
