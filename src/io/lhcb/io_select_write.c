/* SPDX-License-Identifier: Apache-2.0
 *
 * Accepted events, written as they came. A batch holds the banks of an event and not its record: header,
 * trigger words and compression are fetched from the input again, which costs one read an accepted event and
 * nothing for all others. What cannot be read again has been kept by the reader (slc_io_config.keep_records).
 */
#include "io/io_output.h"
#include "lhcb/lhcb_packet.h"
#include "lhcb/lhcb_record.h"
#include <sluice/io.h>
#include <sluice/io_lhcb.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct select_writer {
    slc_io_writer writer; /* without an output: that is of `mdf` */
    slc_io_writer *mdf;
    char *input;    /* the file at hand, NULL before the first */
    int descriptor; /* -1 where it cannot be read again */
    uint8_t *record;
    size_t capacity;
} select_writer;

static void leave_input(select_writer *writer)
{
    if (writer->descriptor >= 0) {
        (void)close(writer->descriptor);
    }
    free(writer->input);
    writer->input = NULL;
    writer->descriptor = -1;
}

static slc_status enter_input(select_writer *writer, const char *input, slc_error *error)
{
    if (writer->input != NULL && strcmp(writer->input, input) == 0) {
        return SLC_OK;
    }
    leave_input(writer);
    struct stat what;
    if (strcmp(input, "-") != 0 && stat(input, &what) == 0 && S_ISREG(what.st_mode)) {
        writer->descriptor = open(input, O_RDONLY | O_CLOEXEC);
        if (writer->descriptor < 0) {
            return slc_fail(error, SLC_ERR_IO, "%s: cannot open it again: %s", input, strerror(errno));
        }
    }
    writer->input = strdup(input);
    return writer->input != NULL ? SLC_OK : slc_fail(error, SLC_ERR_MEMORY, "%s: no memory", input);
}

static slc_status read_at(const select_writer *writer, uint64_t offset, uint8_t *bytes, size_t size,
                          slc_error *error)
{
    for (size_t done = 0; done < size;) {
        const ssize_t n = pread(writer->descriptor, bytes + done, size - done, (off_t)(offset + done));
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return slc_fail(error, SLC_ERR_IO, "%s: cannot read it again: %s", writer->input,
                            strerror(errno));
        }
        if (n == 0) {
            return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %llu: the file became shorter", writer->input,
                            (unsigned long long)(offset + done));
        }
        done += (size_t)n;
    }
    return SLC_OK;
}

static slc_status reserve(select_writer *writer, size_t size, slc_error *error)
{
    if (size > writer->capacity) {
        uint8_t *larger = realloc(writer->record, size);
        if (larger == NULL) {
            return slc_fail(error, SLC_ERR_MEMORY, "%s: no memory for a record of %zu bytes", writer->input,
                            size);
        }
        writer->record = larger;
        writer->capacity = size;
    }
    return SLC_OK;
}

static slc_status copy_record(select_writer *writer, uint64_t offset, slc_error *error)
{
    slc_mdf_header header;
    uint8_t first[SLC_MDF_FIXED];
    slc_status status = read_at(writer, offset, first, sizeof first, error);
    if (status != SLC_OK) {
        return status;
    }
    /* The fixed part tells the size; whether the rest is good has been found out by who read the event. */
    const slc_mdf_verdict verdict = slc_mdf_header_read(first, sizeof first, UINT32_MAX, &header);
    if (verdict != SLC_MDF_GOOD && verdict != SLC_MDF_SHORT) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: byte %llu: no record is here any longer", writer->input,
                        (unsigned long long)offset);
    }
    status = reserve(writer, header.record_size, error);
    if (status == SLC_OK) {
        status = read_at(writer, offset, writer->record, header.record_size, error);
    }
    return status == SLC_OK ? slc_io_writer_put(writer->mdf, writer->record, header.record_size, error)
                            : status;
}

/* The reader has kept all of the record, or its header, which what the batch has follows. */
static slc_status put_kept(select_writer *writer, const slc_batch *batch, uint32_t event, slc_error *error)
{
    const slc_record *record = &batch->record[event];
    slc_mdf_header header = {.record_size = 0};
    (void)slc_mdf_header_read(batch->kept + record->kept_at, record->kept_size, UINT32_MAX, &header);
    const size_t size = record->kept_size + batch->length[event];
    if (header.record_size == record->kept_size) {
        return slc_io_writer_put(writer->mdf, batch->kept + record->kept_at, record->kept_size, error);
    }
    if (reserve(writer, size, error) != SLC_OK) {
        return SLC_ERR_MEMORY;
    }
    memcpy(writer->record, batch->kept + record->kept_at, record->kept_size);
    if (batch->length[event] > 0) {
        memcpy(writer->record + record->kept_size, batch->bytes + batch->offset[event], batch->length[event]);
    }
    return slc_io_writer_put(writer->mdf, writer->record, size, error);
}

/* Of a packet there is no record to copy: the banks are put one after the other, in a new one. */
static slc_status write_scattered(select_writer *writer, const slc_batch *batch, uint32_t event,
                                  slc_error *error)
{
    const size_t size = slc_packet_event_size(batch, event);
    const slc_status status = reserve(writer, size + 1, error);
    if (status != SLC_OK) {
        return status;
    }
    if (slc_packet_event_gather(batch, event, writer->record, size) != size) {
        return slc_fail(error, SLC_ERR_FORMAT, "%s: event %llu: a fragment is larger than a raw bank can be",
                        writer->input, (unsigned long long)(batch->first_event + event));
    }
    return slc_io_mdf_write(writer->mdf, writer->record, size, error);
}

slc_status slc_io_select_write(slc_io_writer *to, const char *input, const slc_batch *batch, uint32_t event,
                               slc_error *error)
{
    select_writer *writer = (select_writer *)to;
    const slc_status status = enter_input(writer, input, error);
    if (status != SLC_OK) {
        return status;
    }
    if (batch->scattered) {
        return write_scattered(writer, batch, event, error);
    }
    return batch->record[event].kept_size > 0 ? put_kept(writer, batch, event, error)
           : writer->descriptor >= 0          ? copy_record(writer, batch->file_offset[event], error)
                                     : slc_io_mdf_write(writer->mdf, batch->bytes + batch->offset[event],
                                                        batch->length[event], error);
}

static slc_status end(slc_io_writer *to, bool commit, slc_error *error)
{
    select_writer *writer = (select_writer *)to;
    slc_status status = SLC_OK;
    if (commit) {
        status = slc_io_finish(writer->mdf, error);
    } else {
        slc_io_abandon(writer->mdf);
    }
    leave_input(writer);
    free(writer->record);
    return status;
}

slc_status slc_io_select_create(const char *path, slc_io_writer **writer, slc_error *error)
{
    select_writer *made = calloc(1, sizeof *made);
    slc_status status = SLC_ERR_MEMORY;
    if (made == NULL) {
        (void)slc_fail(error, status, "%s: no memory to write it", path);
    } else {
        *made = (select_writer){.writer = {.end = end}, .descriptor = -1};
        status = slc_io_mdf_create(path, NULL, &made->mdf, error);
    }
    if (status != SLC_OK) {
        free(made);
        made = NULL;
    }
    *writer = (slc_io_writer *)made;
    return status;
}
