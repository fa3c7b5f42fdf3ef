/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: the folder with the files of the parametrised transport. */
#ifndef SLUICE_IO_HLT1_TRANSPORT_H
#define SLUICE_IO_HLT1_TRANSPORT_H

#include "hlt1/hlt1_transport.h"

/* Reads the ten files of `folder` into a zero-initialised transport. What is missing or wrong is told with
 * its file and, in it, the line; *transport is empty then. */
slc_status slc_io_hlt1_transport_read(const char *folder, slc_hlt1_transport *transport, slc_error *error);

#endif
