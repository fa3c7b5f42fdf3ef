/* SPDX-License-Identifier: Apache-2.0
 * From files to a transport: hlt1_transport_read.c reads what they hold. */
#include "io/lhcb/io_hlt1_transport.h"
#include "io/io_stream.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_BYTES = 16 << 20, MAX_PATH = 4096 };

slc_status slc_io_hlt1_transport_read(const char *folder, slc_hlt1_transport *transport, slc_error *error)
{
    slc_status status = SLC_OK;
    for (slc_hlt1_transport_file f = 0; f < SLC_HLT1_FILES && status == SLC_OK; f++) {
        char path[MAX_PATH];
        void *bytes = NULL;
        size_t size = 0;
        const int n = snprintf(path, sizeof path, "%s/%s", folder, slc_hlt1_transport_file_name(f));
        status = n > 0 && (size_t)n < sizeof path
                     ? SLC_OK
                     : slc_fail(error, SLC_ERR_USAGE, "%.80s…: name too long", folder);
        status = status == SLC_OK ? slc_io_read_file(path, MAX_BYTES, &bytes, &size, error) : status;
        status = status == SLC_OK ? slc_hlt1_transport_read(transport, f, bytes, size, path, error) : status;
        free(bytes);
    }
    if (status != SLC_OK) {
        slc_hlt1_transport_clear(transport);
    }
    return status;
}
