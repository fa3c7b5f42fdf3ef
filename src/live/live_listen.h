/* SPDX-License-Identifier: Apache-2.0
 * Inside the library: the one socket that a page is served at. */
#ifndef SLUICE_LIVE_LISTEN_H
#define SLUICE_LIVE_LISTEN_H

#include <sluice/live.h>

/* Listens at config->address, if that is allowed, and says where: "http://127.0.0.1:8080/". SLC_ERR_USAGE,
 * SLC_ERR_IO. */
slc_status slc_live_listen(const slc_live_config *config, int *file, char *url, size_t size,
                           slc_error *error);

#endif
