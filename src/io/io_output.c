/* SPDX-License-Identifier: Apache-2.0
 * Complete files or none: temporary name, fsync, rename. */
#include "io/io_output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void forget(slc_io_output *output)
{
    free(output->path);
    free(output->temporary);
    *output = (slc_io_output){0};
}

static char *temporary_name(const char *path)
{
    const size_t size = strlen(path) + 32;
    char *name = malloc(size);
    if (name != NULL) {
        (void)snprintf(name, size, "%s.tmp-%ld", path, (long)getpid());
    }
    return name;
}

slc_status slc_io_output_reserve_name(slc_io_output *output, const char *path, slc_error *error)
{
    const slc_status status = slc_io_output_open(output, path, error);
    if (status == SLC_OK && output->temporary != NULL) {
        (void)fclose(output->stream);
        output->stream = NULL;
    }
    return status;
}

slc_status slc_io_output_open(slc_io_output *output, const char *path, slc_error *error)
{
    *output = (slc_io_output){.path = strdup(path)};
    if (output->path == NULL) {
        return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for its name", path);
    }
    if (strcmp(path, "-") == 0) {
        output->stream = stdout;
        return SLC_OK;
    }
    output->temporary = temporary_name(path);
    output->stream = output->temporary != NULL ? fopen(output->temporary, "wb") : NULL;
    if (output->stream == NULL) {
        const slc_status status = slc_fail(error, SLC_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
        forget(output);
        return status;
    }
    return SLC_OK;
}

/* Pushes the bytes to the disk, so that a full one is noticed before the rename. */
static int finish_stream(FILE *stream)
{
    int wrong = ferror(stream) != 0 ? EIO : 0;
    if (fflush(stream) != 0) {
        wrong = errno;
    }
    if (stream != stdout) {
        if (wrong == 0 && fsync(fileno(stream)) != 0 && errno != EINVAL) {
            wrong = errno;
        }
        if (fclose(stream) != 0 && wrong == 0) {
            wrong = errno;
        }
    }
    return wrong;
}

static int sync_by_name(const char *name)
{
    const int file = open(name, O_RDONLY);
    if (file < 0) {
        return errno;
    }
    const int wrong = fsync(file) != 0 && errno != EINVAL ? errno : 0;
    (void)close(file);
    return wrong;
}

slc_status slc_io_output_commit(slc_io_output *output, slc_error *error)
{
    int wrong = 0;
    if (output->stream != NULL) {
        wrong = finish_stream(output->stream);
        output->stream = NULL;
    } else if (output->temporary != NULL) {
        wrong = sync_by_name(output->temporary);
    }
    if (wrong == 0 && output->temporary != NULL && rename(output->temporary, output->path) != 0) {
        wrong = errno;
    }
    if (wrong != 0) {
        const slc_status status = slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", output->path,
                                           strerror(wrong));
        slc_io_output_abandon(output);
        return status;
    }
    forget(output);
    return SLC_OK;
}

void slc_io_output_abandon(slc_io_output *output)
{
    if (output->stream != NULL && output->stream != stdout) {
        (void)fclose(output->stream);
    }
    if (output->temporary != NULL) {
        (void)unlink(output->temporary);
    }
    forget(output);
}
