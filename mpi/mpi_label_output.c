/* SPDX-License-Identifier: Apache-2.0
 * The label file of `sluice-mpi label`, an NPY file that every process opens by its temporary name. */
#include "mpi_label.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t size_of(const slc_mpi_output *output)
{
    return output->mask ? sizeof(uint8_t) : sizeof(uint32_t);
}

/* Process 0 has made room for the page; where it begins, and the file's name. */
static slc_status find_room(slc_mpi_output *output, const slc_mpi_strip *strip, const slc_io_writer *writer,
                            const char *path, slc_error *error)
{
    struct stat about;
    char name[4096] = "";
    slc_status status = SLC_OK;
    const char *temporary = strip->world.rank == 0 ? slc_io_temporary(writer) : NULL;
    if (strip->world.rank == 0) {
        const uint64_t bytes = (uint64_t)strip->image.width * strip->height * size_of(output);
        if (temporary == NULL || strlen(temporary) >= sizeof name || stat(temporary, &about) != 0) {
            status = slc_fail(error, SLC_ERR_IO, "%s: cannot be written by several", path);
        } else {
            (void)strncpy(name, temporary, sizeof name - 1);
            output->begin = (uint64_t)about.st_size - bytes;
        }
    }
    status = slc_mpi_agree(&strip->world, status, error);
    if (status == SLC_OK) {
        (void)MPI_Bcast(&output->begin, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD);
        (void)MPI_Bcast(name, sizeof name, MPI_BYTE, 0, MPI_COMM_WORLD);
        if (output->file < 0) {
            output->file = open(name, O_WRONLY | O_CLOEXEC);
        }
        if (output->file < 0) {
            status = slc_fail(error, SLC_ERR_IO, "%s: cannot write: rank %d: %s", path, strip->world.rank,
                              strerror(errno));
        }
        status = slc_mpi_agree(&strip->world, status, error);
    }
    return status;
}

static slc_status put_bytes(const slc_mpi_output *output, const void *bytes, size_t n, uint64_t at,
                            const char *path, slc_error *error)
{
    for (size_t done = 0; done < n;) {
        const ssize_t got = pwrite(output->file, (const char *)bytes + done, n - done, (off_t)(at + done));
        if (got < 0 && errno != EINTR) {
            return slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path, strerror(errno));
        }
        done += got > 0 ? (size_t)got : 0;
    }
    return SLC_OK;
}

/* Processes of one machine write into one file one after the other, as systems have it: so it is done in
 * pieces, and while one writes its piece, another gives labels of its next one their numbers. */
static slc_status put_rows(const slc_mpi_output *output, const slc_mpi_strip *strip, const char *path,
                           slc_error *error)
{
    enum { PIECE = 1 << 18 };
    const size_t width = strip->image.width, n = width * strip->image.height, size = size_of(output);
    const uint64_t at = output->begin + strip->first_row[strip->world.rank] * width * size;
    uint8_t *mask = output->mask ? malloc(PIECE) : NULL;
    slc_status status = output->mask && mask == NULL
                            ? slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a piece of it", path)
                            : SLC_OK;
    for (size_t i = 0; i < n && status == SLC_OK; i += PIECE) {
        const size_t end = n - i < PIECE ? n : i + PIECE;
        for (size_t k = i; k < end; k++) {
            const uint32_t label = strip->labels[k] != 0 ? strip->map[strip->labels[k]] : 0;
            if (mask != NULL) {
                mask[k - i] = label != 0 ? UINT8_MAX : 0;
            } else {
                strip->labels[k] = label;
            }
        }
        status = put_bytes(output, mask != NULL ? (const void *)mask : strip->labels + i, (end - i) * size,
                           at + i * size, path, error);
    }
    free(mask);
    return status;
}

slc_status slc_mpi_output_write(slc_mpi_output *output, const slc_mpi_strip *strip,
                                const slc_io_writer *writer, const char *path, slc_error *error)
{
    slc_status status = find_room(output, strip, writer, path, error);
    if (status == SLC_OK && !strip->fault) { /* a page without labels is as empty as its room */
        status = slc_mpi_agree(&strip->world, put_rows(output, strip, path, error), error);
    }
    return status;
}

/* Bytes that a process has written are on the disk before process 0 gives the file its name. */
slc_status slc_mpi_output_close(slc_mpi_output *output, const char *path, slc_error *error)
{
    int wrong = 0;
    if (output->file >= 0) {
        wrong = fsync(output->file) != 0 && errno != EINVAL ? errno : 0;
        wrong = close(output->file) != 0 && wrong == 0 ? errno : wrong;
        output->file = -1;
    }
    return wrong == 0 ? SLC_OK : slc_fail(error, SLC_ERR_IO, "%s: cannot write: %s", path, strerror(wrong));
}
