/* SPDX-License-Identifier: Apache-2.0
 * Complete files or none: temporary name, fsync, rename. */
#include "io/io_output.h"

#include "io/io_let_go.h"
#include "io/pet/io_pet_raw.h"

#include <sluice/io_pet.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
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

/* Creates the temporary file; one that is there already (a killed run with our number) may be replaced, but
 * what a link of that name points to may not. */
static FILE *create(const char *name)
{
    (void)unlink(name);
    const int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0666);
    FILE *stream = file >= 0 ? fdopen(file, "wb") : NULL;
    if (stream == NULL && file >= 0) {
        (void)close(file);
    }
    return stream;
}

/* What stands under the name now: a device or a pipe is written to, not replaced; a link keeps pointing to
 * the file that is replaced. */
static slc_status look_at(slc_io_output *output, const char *path, bool *direct, slc_error *error)
{
    struct stat there;
    *direct = false;
    if (stat(path, &there) != 0) {
        return SLC_OK;
    }
    if (S_ISDIR(there.st_mode)) {
        return slc_fail(error, SLC_ERR_IO, "%s: cannot create: it is a directory", path);
    }
    *direct = !S_ISREG(there.st_mode);
    char *target = !*direct && lstat(path, &there) == 0 && S_ISLNK(there.st_mode) ? realpath(path, NULL)
                                                                                  : NULL;
    if (target != NULL) {
        free(output->path);
        output->path = target;
    }
    return SLC_OK;
}

slc_status slc_io_output_reserve_name(slc_io_output *output, const char *path, slc_error *error)
{
    slc_status status = slc_io_output_open(output, path, error);
    if (status == SLC_OK && output->temporary == NULL) {
        status = slc_fail(error, SLC_ERR_IO, "%s: cannot create: not a regular file", path);
        slc_io_output_abandon(output);
    } else if (status == SLC_OK) {
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
    bool direct;
    slc_status status = look_at(output, path, &direct, error);
    if (status == SLC_OK) {
        output->temporary = direct ? NULL : temporary_name(output->path);
        output->stream = direct                      ? fopen(path, "wb")
                         : output->temporary != NULL ? create(output->temporary)
                                                     : NULL;
        if (output->stream == NULL) {
            status = slc_fail(error, SLC_ERR_IO, "%s: cannot create: %s", path, strerror(errno));
        }
    }
    if (status != SLC_OK) {
        forget(output);
    }
    return status;
}

slc_status slc_io_output_failed(const char *path, slc_error *error)
{
    return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
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

/* Looked for at the very end: an acquisition may have begun the file after the output was opened. What was
 * written stays under its temporary name, as it may be all there is of a measurement, too. */
static slc_status spare_raw_data(slc_io_output *output, slc_error *error)
{
    const slc_status status = slc_fail(
        error, SLC_ERR_IO,
        "%s: is raw data now, which cannot be made again: not replaced; what was written is in %s",
        output->path, output->temporary);
    forget(output);
    return status;
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
    if (wrong == 0 && output->temporary != NULL && slc_io_pet_raw_is(output->path)) {
        return spare_raw_data(output, error);
    }
    if (wrong == 0 && output->temporary != NULL) {
        const int older = slc_io_hold(output->path);
        wrong = rename(output->temporary, output->path) != 0 ? errno : 0;
        slc_io_let_go(older);
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

/* ---- writers ----------------------------------------------------------------------------------- */

slc_status slc_io_writer_open(size_t size, const char *path, bool by_name, void *writer, slc_error *error)
{
    slc_io_writer *made = calloc(1, size);
    slc_status status = SLC_ERR_MEMORY;
    if (made == NULL) {
        (void)slc_fail(error, status, "%s: no memory to write it", path);
    } else {
        status = by_name ? slc_io_output_reserve_name(&made->output, path, error)
                         : slc_io_output_open(&made->output, path, error);
    }
    if (status != SLC_OK) {
        free(made);
        made = NULL;
    }
    memcpy(writer, &made, sizeof made);
    return status;
}

slc_status slc_io_writer_put(void *writer, const void *bytes, size_t size, slc_error *error)
{
    const slc_io_output *output = &((const slc_io_writer *)writer)->output;
    return fwrite(bytes, 1, size, output->stream) == size ? SLC_OK
                                                          : slc_io_output_failed(output->path, error);
}

slc_status slc_io_finish(slc_io_writer *writer, slc_error *error)
{
    slc_status status = writer->end != NULL ? writer->end(writer, true, error) : SLC_OK;
    if (status == SLC_OK) {
        status = slc_io_output_commit(&writer->output, error);
    } else {
        slc_io_output_abandon(&writer->output);
    }
    free(writer);
    return status;
}

const char *slc_io_temporary(const slc_io_writer *writer)
{
    return writer->output.temporary;
}

void slc_io_abandon(slc_io_writer *writer)
{
    if (writer != NULL) {
        if (writer->end != NULL) {
            (void)writer->end(writer, false, NULL);
        }
        slc_io_output_abandon(&writer->output);
        free(writer);
    }
}
