/* SPDX-License-Identifier: Apache-2.0
 * Text outputs: a stream for the caller, complete under its final name or not there at all. */
#include "io/io_output.h"

#include <sluice/io.h>

#include <stdlib.h>

struct slc_io_text_writer {
    slc_io_output output;
};

slc_status slc_io_text_create(const char *path, slc_io_text_writer **writer, slc_error *error)
{
    *writer = malloc(sizeof **writer);
    if (*writer == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its writer", path);
    }
    const slc_status status = slc_io_output_open(&(*writer)->output, path, error);
    if (status != SLC_OK) {
        free(*writer);
        *writer = NULL;
    }
    return status;
}

void *slc_io_text_stream(slc_io_text_writer *writer)
{
    return writer->output.stream;
}

slc_status slc_io_text_finish(slc_io_text_writer *writer, slc_error *error)
{
    const slc_status status = slc_io_output_commit(&writer->output, error);
    free(writer);
    return status;
}

void slc_io_text_abandon(slc_io_text_writer *writer)
{
    if (writer != NULL) {
        slc_io_output_abandon(&writer->output);
        free(writer);
    }
}
